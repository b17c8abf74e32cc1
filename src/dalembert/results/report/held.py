"""Text whose lines do not break between a number and its unit, within `t = 0.2 s`, (0, 1, 0) or a short name in quotes."""

from __future__ import annotations

import re
from typing import Any

from rich.containers import Lines
from rich.text import Text

_GLUE = "\ue000"  # a blank that is none for who breaks lines
_UNITS = "s|ms|m|mm|J|N|rad|deg|Hz|kg|W|m/s|rad/s|1/s"
_VECTORS = r"(?<=\d,) (?=[-\d][^ ()]*(?: [^ ()]*)?\))"
_TOGETHER = re.compile(rf" (?==)|(?<==) (?=[-+\d])|(?<=\d) (?=(?:{_UNITS})\b(?!/))|(?<='\w) (?=\w{{1,12}}')|{_VECTORS}")


class _Held(Text):
    def wrap(self, *args: Any, **options: Any) -> Lines:
        """Broken as ever, then every held blank is one again."""
        lines = super().wrap(*args, **options)
        for line in lines:
            line.plain = line.plain.replace(_GLUE, " ")
        return lines


def held(text: str, style: str = "") -> Text:
    """For a cell or a paragraph."""
    return _Held(_TOGETHER.sub(_GLUE, text), style=style)
