"""Build the documentation site: `python docs/build.py [folder]`. Needs the extra "docs".

Pictures and output are made first: those of the examples, of the gallery, and of the pages with code. Then Sphinx builds
with warnings as errors, and every link inside the site is followed.
"""

from __future__ import annotations

import shutil
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PICTURES = HERE / "_build" / "pictures"
LIVE = HERE / "_build" / "live"
sys.path[:0] = [str(HERE / "extensions"), str(ROOT / "src")]


def main(folder: Path) -> int:
    """Build into a folder; the exit code."""
    start = time.process_time()
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    draw_examples()
    draw_gallery()
    draw_elements()
    run_pages()
    print(f"pictures: {len(list(PICTURES.iterdir()))}, {time.process_time() - start:.0f} s of CPU")
    from sphinx.cmd.build import main as sphinx

    shutil.rmtree(folder, ignore_errors=True)
    trees = str(HERE / "_build" / "trees")
    shutil.copytree(LIVE, folder / "gallery" / "live")
    code = sphinx(["-q", "-E", "-W", "--keep-going", "-b", "html", "-d", trees, str(HERE), str(folder)])
    broken = broken_links(folder)
    for line in broken:
        print(f"broken link: {line}", file=sys.stderr)
    print(f"{folder / 'index.html'}: {time.process_time() - start:.0f} s of CPU")
    return code or int(bool(broken))


def draw_examples() -> None:
    """The figures of examples/*.py, each of which checks its own physics on the way."""
    from code_blocks import ran

    for file in sorted((ROOT / "examples").glob("*.py")):
        for picture in ran(file)[0].glob("*.png"):
            shutil.copy(picture, PICTURES)


def draw_gallery() -> None:
    """A page of every mechanism of the gallery, with a picture of it at the end of a run, its report, and the viewer."""
    from gallery_page import draw

    for folder in (LIVE, HERE / "gallery"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    draw(HERE / "gallery", PICTURES, LIVE)


def draw_elements() -> None:
    """Coordinates of joints with their frames, and what is added to a model, a picture each."""
    import element_drawings
    import joint_drawings

    joint_drawings.draw(PICTURES / "joints.png")
    element_drawings.draw(PICTURES)


def run_pages() -> None:
    """Run the code of all pages, for their pictures and for what it prints, unless that is known already."""
    from code_blocks import python_blocks, ran

    import dalembert.cli  # noqa: F401, so that options are listed without the methods that pages register

    for page in sorted(HERE.rglob("*.md")):
        if python_blocks(page.read_text(encoding="utf-8")):
            folder, _ = ran(page)
            for picture in (*folder.glob("*.png"), *folder.glob("*.gif")):
                shutil.copy(picture, PICTURES)


class Page(HTMLParser):
    """What a page points at, and what can be pointed at in it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the parser."""
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            if name in ("href", "src") and value:
                self.targets.add(value)


def broken_links(folder: Path) -> list[str]:
    """Links and pictures of the site that lead nowhere inside it."""
    pages = {file.resolve(): Page(file) for file in folder.rglob("*.html") if "_static" not in file.parts}
    broken = []
    for file, page in pages.items():
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            place = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            known = place.is_file() and (not parts.fragment or place not in pages or parts.fragment in pages[place].anchors)
            if not known:
                broken.append(f"{file.relative_to(folder.resolve())} -> {target}")
    return broken


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "_build" / "html"))
