"""The gallery: a picture of every mechanism, made by simulating it, and a page with the viewer, its report and its code."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np
from gallery_code import ROOT, call_of, code_of, file_of
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import dalembert as da
from dalembert.errors import ViewerError
from dalembert.gallery import GALLERY, Entry
from dalembert.viewer.bundle import read_bundle
from dalembert.viewer.scene import scene_of

_SIZE = (480, 360)
_TRAIL = 1.2  # s
_LONGEST = {"bicycle": 0.5, "rolling_disc": 1.0}  # s; what rolls away is small in a picture of the whole way
_MAY_BREAK = "\u200b"  # a long name is broken behind an underscore

# The viewer as `Solution.export_html` writes it, but all pages share one script; inside another page it opens without plots.
_LIVE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="viewer.css">
</head>
<body>
<script id="scenes" type="application/json">{scenes}</script>
<script>
if (self !== top) {{
  document.body.className = "bare";
  const open = () => (window.viewer ? viewer.command("panel") : requestAnimationFrame(open));
  open();
}}
</script>
<script src="viewer.js"></script>
</body>
</html>
"""


def draw(pages: Path, pictures: Path, live: Path) -> None:
    """For every mechanism NAME.md into pages, gallery_NAME.png into pictures, and NAME.html with the viewer into live; a page
    of every file of theirs into pages/code."""
    from dalembert.plot.style import house_style, new_figure, save_figure
    from dalembert.viewer.animation import Film

    try:
        bundle = read_bundle()
        (live / "viewer.js").write_text(bundle.script, encoding="utf-8")
        (live / "viewer.css").write_text(bundle.style, encoding="utf-8")
    except ViewerError as problem:
        bundle = None
        print(f"pages of the gallery show pictures: {problem}")
    for entry in GALLERY.values():
        model = entry.build()
        end = min(entry.t_end, _LONGEST.get(entry.name, 3.0))
        solution = da.simulate(model, end, progress=False)
        target = pictures / f"gallery_{entry.name}.png"
        moving = isinstance(solution, da.Solution) and bundle is not None
        if not isinstance(solution, da.Solution):
            with house_style():
                figure = new_figure(4.8, 3.6)
                solution.plot.trajectories(ax=figure.add_subplot())
                save_figure(figure, target)
        else:
            film = Film(solution, _SIZE)
            times = np.linspace(film.start, film.end, 120)
            next(film.pictures(times, _TRAIL * end / 2, only=[len(times) - 1])).save(target)
        if moving:
            scenes = json.dumps([scene_of(solution)], allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
            page = _LIVE.format(title=html.escape(model.name or entry.name), scenes=scenes)
            (live / f"{entry.name}.html").write_text(page, encoding="utf-8")
        (pages / f"{entry.name}.md").write_text(_page(entry, end, str(solution.report()), moving), encoding="utf-8")
    (pages / "code").mkdir()
    for file in {file_of(entry) for entry in GALLERY.values()}:
        text = f"---\norphan: true\n---\n\n# {file}\n\n{_code((ROOT / file).read_text(encoding='utf-8'))}"
        (pages / "code" / f"{Path(file).stem}.md").write_text(text, encoding="utf-8")


def _code(text: str) -> str:
    return f"````{{code-block}} python\n:class: source\n\n{text}````\n"


def _page(entry: Entry, end: float, report: str, moving: bool) -> str:
    """What the site says of a mechanism."""
    file = file_of(entry)
    source = f"Source: [{entry.source}]" if entry.source else "Source: this library's own."
    shown = (
        f'```{{raw}} html\n<iframe class="live" src="live/{entry.name}.html" title="{entry.name}, in the viewer"></iframe>\n'
        f'<p><a href="live/{entry.name}.html">the viewer on a page of its own</a></p>\n```'
        if moving
        else f"![{entry.description}](../_build/pictures/gallery_{entry.name}.png)"
    )
    return "\n".join(
        [
            f"# {entry.name}\n\n{entry.description[0].upper()}{entry.description[1:]}. {source}\n\n{shown}\n",
            f"```sh\ndalembert run {entry.name} --t-end {end:g}\n```\n",
            f'`dalembert.gallery.build("{entry.name}")` is the model: `{call_of(entry)}`.\n',
            f"## Its trust report after {end:g} s\n\n```{{code-block}} text\n:class: output\n\n{report.rstrip()}\n```\n",
            f"## Its code\n\nFrom [{file}](code/{Path(file).stem}.md), all that it needs:\n\n{_code(code_of(entry))}",
        ]
    )


class GalleryCards(SphinxDirective):
    """Cards of all mechanisms."""

    def run(self) -> list[Any]:
        """Called by docutils."""
        lines = ["::::{grid} 1 2 3 3", ":gutter: 3", ":class-container: gallery", ""]
        for entry in GALLERY.values():
            page = Path(self.env.srcdir, "gallery", f"{entry.name}.md").read_text(encoding="utf-8")
            lines += _card(entry, "moving" if "<iframe" in page else "picture")
        return self.parse_text_to_nodes("\n".join([*lines, "::::"]))


def _card(entry: Entry, shown: str) -> list[str]:
    source = f" [{entry.source}]" if entry.source else ""
    return [
        f":::{{grid-item-card}} {entry.name.replace('_', '_' + _MAY_BREAK)}",
        f":img-top: _build/pictures/gallery_{entry.name}.png",
        f":img-alt: {entry.description}",
        "",
        f"{entry.description}{source}",
        "",
        f"[{shown}, report, code](gallery/{entry.name}.md)",
        ":::",
        "",
    ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("gallery-cards", GalleryCards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
