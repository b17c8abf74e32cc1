"""What a report is made of: lines, and the table that a person reads."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from dalembert.results.plain import encode

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Verdict = Literal["pass", "FAIL", "WARN", "note"]

_WIDTH = 110
_COLOURS = {"pass": "green", "FAIL": "bold red", "WARN": "bold yellow", "note": "dim"}


def as_text(show: Callable[[Console], None], width: int) -> str:
    """What is printed to a console of this width, without colours."""
    from rich.console import Console

    text = io.StringIO()
    show(Console(file=text, width=width, color_system=None, legacy_windows=False, force_jupyter=False))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


@dataclass(frozen=True)
class Line:
    """name, value and limit as shown, verdict; data : the value for a program (numbers, text, lists, dicts)."""

    name: str
    value: str
    limit: str | None = None
    verdict: Verdict = "note"
    data: Any = None


@dataclass(frozen=True)
class Report:
    """The lines of a report, checks first."""

    title: str
    lines: tuple[Line, ...]

    @property
    def passed(self) -> bool:
        """True when no line says FAIL."""
        return not self.failures

    @property
    def verdict(self) -> str:
        """ "FAIL", "WARN", "pass", or "no inconsistency found": every check passes, but nothing estimates the error."""
        for word in ("FAIL", "WARN"):
            if any(line.verdict == word for line in self.lines):
                return word
        estimated = any(line.name == "error estimate" and line.verdict == "pass" for line in self.lines)
        return "pass" if estimated else "no inconsistency found"

    @property
    def failures(self) -> tuple[Line, ...]:
        """The lines that say FAIL."""
        return tuple(line for line in self.lines if line.verdict == "FAIL")

    def __getitem__(self, name: str) -> Line:
        """A line by its name."""
        for line in self.lines:
            if line.name == name:
                return line
        raise KeyError(f"the report has no line {name!r}; it has {', '.join(line.name for line in self.lines)}")

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON types."""
        lines = [encode(asdict(line), line.name) for line in self.lines]
        return {"title": self.title, "passed": self.passed, "verdict": self.verdict, "lines": lines}

    def __str__(self) -> str:
        return as_text(self.print, _WIDTH)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def print(self, console: Console | None = None) -> None:
        """Print the table to a rich console, default: standard output."""
        from rich.console import Console

        (console or Console()).print(self._table())

    def _table(self) -> Table:
        from rich.box import Box
        from rich.table import Table
        from rich.text import Text

        # plain ASCII, so that any terminal, log or pipe takes it
        plain = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
        table = Table(box=plain, title=Text(self.title), title_justify="left", title_style="bold", pad_edge=False)
        for heading in ("check", "value", "limit", "verdict"):
            table.add_column(heading, overflow="fold")
        for line in self.lines:
            verdict = Text(line.verdict, style=_COLOURS[line.verdict])
            table.add_row(Text(line.name), Text(line.value), Text(line.limit or ""), verdict)
        return table


def limited(name: str, shown: str, value: float, limit: float) -> Line:
    """A line with a limit; NaN does not pass."""
    return Line(name, shown, f"{limit:.3g}", "pass" if value <= limit else "FAIL", value)


def listed(name: str, items: Sequence[str], meaning: str) -> Line:
    """A note on several elements."""
    return Line(name, f"{', '.join(items)}: {meaning}", data=list(items))
