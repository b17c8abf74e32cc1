"""The Python blocks of a page, run one after the other as a reader would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^(?P<indent> *)```python\n(?P<code>.*?)^(?P=indent)```", re.DOTALL | re.MULTILINE)


def python_blocks(text: str) -> list[tuple[int, str]]:
    """(line, code) of every Python block of a Markdown text."""
    return [(text.count("\n", 0, match.start()) + 1, match["code"]) for match in _BLOCK.finditer(text)]


def run_blocks(page: Path) -> dict[str, Any]:
    """Run a page's blocks in one name space, in the current folder; errors name the page and its line."""
    names: dict[str, Any] = {"__name__": "page"}
    for line, code in python_blocks(page.read_text(encoding="utf-8")):
        exec(compile("\n" * line + code, str(page), "exec", dont_inherit=True), names)
    return names
