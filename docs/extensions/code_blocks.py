"""The Python blocks of a page, run one after the other as a reader would, and what they print, shown below them.

A page runs once for as long as it, the package and this file stay as they are, and so does an example: tests run them all,
and the site that is built after them or beside them finds what they printed and drew.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import runpy
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^(?P<indent> *)```python\n(?P<code>.*?)^(?P=indent)```\n", re.DOTALL | re.MULTILINE)
_DOCS = Path(__file__).resolve().parents[1]
_RAN = _DOCS / "_build" / "ran"
_LONGEST = 60  # lines of output that are shown


def python_blocks(text: str) -> list[tuple[int, str]]:
    """(line, code) of every Python block of a Markdown text."""
    return [(text.count("\n", 0, match.start()) + 1, match["code"]) for match in _BLOCK.finditer(text)]


def run_blocks(page: Path, printed: list[str] | None = None) -> dict[str, Any]:
    """Run a page's blocks in one name space, in the current folder; errors name the page and its line.

    printed : takes what each block prints
    """
    names: dict[str, Any] = {"__name__": "page"}
    for line, code in python_blocks(page.read_text(encoding="utf-8")):
        with contextlib.redirect_stdout(io.StringIO()) if printed is not None else contextlib.nullcontext() as out:
            exec(compile("\n" * line + code, str(page), "exec", dont_inherit=True), names)
        if printed is not None and out is not None:
            printed.append(out.getvalue())
    return names


def ran(page: Path) -> tuple[Path, list[str]]:
    """The folder in which a page's blocks or an example ran, with what they wrote, and what each of the blocks printed."""
    name = page.relative_to(_DOCS.parent).with_suffix("").as_posix().replace("/", "-")
    key = hashlib.sha256(page.read_bytes() + _package()).hexdigest()
    folder = _RAN / f"{name}-{key[:16]}"
    if not folder.exists():
        for old in _RAN.glob(f"{name}-{'?' * 16}"):
            shutil.rmtree(old, ignore_errors=True)
        _RAN.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_RAN) as made:
            printed: list[str] = []
            with contextlib.chdir(made):
                names = runpy.run_path(str(page), run_name="__main__") if page.suffix == ".py" else run_blocks(page, printed)
            assert "da" in names, f"{page}: its code does not import dalembert as da"
            Path(made, "printed.json").write_text(json.dumps(printed), encoding="utf-8")
            with contextlib.suppress(OSError):  # another process was there before
                Path(made).rename(folder)
    return folder, json.loads((folder / "printed.json").read_text(encoding="utf-8"))


@cache
def _package() -> bytes:
    """What the output of a page depends on beside its text."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for file in sorted((_DOCS.parent / "src" / "dalembert").rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.digest()


def with_output(text: str, printed: list[str]) -> str:
    """The text of a page with what each block printed below it."""
    outputs = iter(printed)

    def shown(match: re.Match[str]) -> str:
        indent, lines = match["indent"], next(outputs).rstrip().splitlines()
        if not lines:
            return match[0]
        if len(lines) > _LONGEST:
            lines = [*lines[: _LONGEST - 1], "..."]
        quoted = "".join(
            f"{indent}{line}".rstrip() + "\n" for line in ("````{code-block} text", ":class: output", "", *lines, "````")
        )
        return f"{match[0]}\n{quoted}"

    return _BLOCK.sub(shown, text)


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""

    def read(app: Any, name: str, source: list[str]) -> None:
        page = _DOCS / f"{name}.md"
        if page.exists() and python_blocks(source[0]):
            source[0] = with_output(source[0], ran(page)[1])

    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
