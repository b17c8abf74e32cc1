"""What a report is made of: lines in three blocks, and the ways a person reads them: text, a terminal, HTML.

checks      what was judged, against which limit: value, limit, and a bar of one cell for each factor of ten up to the limit
careful     what limits the use of results that are right: reactions that are not unique, bodies that were moved, ...
details     settings, versions, counters: all that is needed to repeat the run, shown where asked for
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from dalembert.remarks.doubts import MODEL, look_at
from dalembert.results.html_parts import BAD, CARE, GOOD, PLAIN, TABLE, badge, folded, row
from dalembert.results.plain import encode

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Verdict = Literal["pass", "FAIL", "WARN", "note"]
Block = Literal["checks", "careful", "details"]

WIDTH = 100
BAR = 10
_COLOURS = {"pass": "green", "FAIL": "bold red", "WARN": "bold yellow", "note": "dim"}
_BADGES = {"pass": GOOD, "FAIL": BAD, "WARN": CARE}


def as_text(show: Callable[[Console], None], width: int) -> str:
    """What is printed to a console of this width, without colours."""
    from rich.console import Console

    text = io.StringIO()
    show(Console(file=text, width=width, color_system=None, legacy_windows=False, force_jupyter=False))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def print_notes(console: Console, notes: Sequence[str]) -> None:
    """Below a table, each with a dash from which its further lines hang."""
    for note in notes:
        text = textwrap.fill(f"- {note}", console.width, subsequent_indent="  ", break_on_hyphens=False)
        console.print(text, markup=False, highlight=False)


def plain_table(title: str, **options: Any) -> Table:
    """A rich table of plain characters, with a line below its headings alone."""
    from rich.box import Box
    from rich.table import Table
    from rich.text import Text

    plain = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
    return Table(box=plain, title=Text(title), title_justify="left", title_style="bold", pad_edge=False, **options)


@dataclass(frozen=True)
class Line:
    """name, value and limit as shown, verdict; data : the value for a program (numbers, text, lists, dicts).

    share : value over limit, where there are both;  block : where it is shown;  advice : what to do where it does not pass
    """

    name: str
    value: str
    limit: str | None = None
    verdict: Verdict = "note"
    data: Any = None
    share: float | None = None
    block: Block = "checks"
    advice: str = ""

    @property
    def cells(self) -> int | None:
        """How much of the bar is full: one of BAR cells for each whole factor of ten, all of them at the limit and beyond."""
        if self.share is None:
            return None
        if not self.share < 1:  # NaN, too
            return BAR
        return max(0, min(BAR, BAR + math.floor(math.log10(self.share)))) if self.share > 0 else 0


@dataclass(frozen=True)
class Report:
    """The lines of a report, checks first; verbose : whether details are shown."""

    title: str
    lines: tuple[Line, ...]
    verbose: bool = False

    @property
    def passed(self) -> bool:
        """True when no line says FAIL."""
        return not self.failures

    @property
    def verdict(self) -> str:
        """ "FAIL", "WARN", "pass", or "no inconsistency found": every check passes, but nothing estimates the error."""
        return _verdict(self.lines)

    @property
    def headline(self) -> str:
        """The verdict in words: "trusted", "not trusted: energy balance", "trusted, but look at the model: ...", ..."""
        doubtful = [line.value for line in self.lines if line.name == MODEL]
        words = _in_words([line for line in self.lines if line.name != MODEL])
        return f"{words}{', but' if words == 'trusted' else ';'} {look_at(doubtful)}" if doubtful else words

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
        """The report as plain JSON types, details included."""
        lines = [encode(asdict(line), line.name) for line in self.lines]
        head = {"title": self.title, "headline": self.headline, "passed": self.passed, "verdict": self.verdict}
        return {**head, "lines": lines}

    def __repr__(self) -> str:
        return f"<{self.title}: {self.headline}>"

    def __str__(self) -> str:
        return as_text(self.print, WIDTH)

    def _blocks(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Headings and pairs of name and text, after the checks."""
        yield "careful", [(line.name, line.value) for line in self.lines if line.block == "careful"]
        yield "what to do", [(line.name, line.advice) for line in self.lines if line.advice]
        yield "details", [(line.name, line.value) for line in self.lines if line.block == "details"]

    def print(self, console: Console | None = None) -> None:
        """Print it to a rich console, default: standard output; at most WIDTH columns."""
        from rich.console import Console
        from rich.text import Text

        from dalembert.results.report.held import held

        console = console or Console()
        width = min(console.width, WIDTH)
        console.print(Text(self.headline, style=_COLOURS.get(self.verdict, "bold")), width=width)
        console.print(Text(self.title, style="dim"), width=width)
        console.print()
        names = max((len(line.name) for line in self.lines), default=0)
        lines = [line for line in self.lines if line.block == "checks"]
        judged = max((k for k, line in enumerate(lines, 1) if line.verdict != "note"), default=0)
        console.print(self._checks(width, names, lines[:judged]), width=width)
        if notes := lines[judged:]:
            console.print(self._checks(width, names, notes, alone=True), width=width)
        for heading, rows in self._blocks():
            if heading == "details" and rows and not self.verbose:
                how = ", ".join(line.name for line in self.lines if line.block == "details")
                console.print(Text(f"\nnot shown: {how} (--verbose, report(verbose=True))", style="dim"), width=width)
            elif rows:
                console.print(Text(f"\n{heading}", style="bold"), width=width)
                table = _plain(width)
                table.add_column(overflow="fold", min_width=min(names, width // 3))
                table.add_column(overflow="fold")
                for name, text in rows:
                    table.add_row(Text(name), held(text))
                console.print(table, width=width)

    def _checks(self, width: int, names: int, lines: Sequence[Line], *, alone: bool = False) -> Table:
        """alone : notes without bars and limits, so that what they say has their place"""
        from rich.text import Text

        from dalembert.results.report.held import held

        table = _plain(width)
        barred = width >= 72 and not alone
        table.add_column("check", overflow="fold", min_width=min(names, width // 3))
        table.add_column("", width=4)
        table.add_column("value", overflow="fold")
        if barred:
            table.add_column("powers of 10", width=BAR + 2)
        if not alone:
            table.add_column("limit", overflow="fold")
        table.show_header = not alone
        for line in lines:
            style = _COLOURS[line.verdict]
            cells = line.cells
            bar = "" if cells is None else f"[{'=' * cells:.<{BAR}}]" if line.share is not None and line.share <= 1 else _OVER
            row = [Text(line.name), Text(line.verdict, style=style), held(line.value)]
            row += [Text(bar, style=style)] * barred + [Text(line.limit or "")] * (not alone)
            table.add_row(*row)
        return table

    def _repr_html_(self) -> str:
        """The same for a notebook: bars are drawn, details are folded."""
        head = badge(self.headline, _BADGES.get(self.verdict, PLAIN))
        rows = "".join(_html_check(line) for line in self.lines if line.block == "checks")
        parts = [f'{head} <span style="opacity:.7">{escape(self.title)}</span>{TABLE}{rows}</table>']
        for heading, pairs in self._blocks():
            if pairs:
                body = "".join(row(escape(name), escape(text), whole=(0,)) for name, text in pairs)
                parts.append(folded(heading, f"{TABLE}{body}</table>", shown=self.verbose or heading != "details"))
        return f"<div>{''.join(parts)}</div>"


def _verdict(lines: Sequence[Line]) -> str:
    for word in ("FAIL", "WARN"):
        if any(line.verdict == word for line in lines):
            return word
    estimates = ("error estimate", "trajectory error")
    estimated = any(line.name in estimates and line.verdict == "pass" for line in lines)
    return "pass" if estimated else "no inconsistency found"


def _in_words(lines: Sequence[Line]) -> str:
    verdict = _verdict(lines)
    if verdict in ("FAIL", "WARN"):
        names = ", ".join(dict.fromkeys(line.name for line in lines if line.verdict == verdict))
        return f"{'not trusted' if verdict == 'FAIL' else 'trusted with care'}: {names}"
    return "trusted" if verdict == "pass" else "no inconsistency found, but nothing estimates the error"


_OVER = f"[{'=' * (BAR - 1)}>]"
_BEYOND = f'<div style="margin-left:{8 * BAR}px;width:6px;height:8px;border-right:2px solid"></div>'


def _html_check(line: Line) -> str:
    colour = _BADGES.get(line.verdict, PLAIN)
    bar = ""
    if line.cells is not None and line.share is not None:
        inner = (
            f'<div style="width:{8 * line.cells}px;height:8px;background:{colour}">{"" if line.share <= 1 else _BEYOND}</div>'
        )
        outer = f"width:{8 * BAR}px;height:8px;margin-top:5px;background:rgba(128,128,128,.25)"
        bar = (
            f'<div style="{outer}" title="{line.share:.2g} of the limit; each tenth of the bar is a power of ten">{inner}</div>'
        )
    limit = f"limit {escape(line.limit)}" if line.limit else ""
    verdict = f'<b style="color:{colour};filter:brightness(1.2)">{line.verdict}</b>'
    return row(escape(line.name), verdict, escape(line.value), bar, limit, whole=(0, 4))


def _plain(width: int) -> Table:
    """Columns without lines, in plain ASCII, so that any terminal, log or pipe takes it."""
    from rich.table import Table

    return Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0), width=None if width >= 72 else width)


def limited(name: str, shown: str, value: float, limit: float) -> Line:
    """A line with a limit; NaN does not pass."""
    share = value / limit if limit > 0 else (math.inf if value else 0.0)
    return Line(name, shown, f"{limit:.3g}", "pass" if value <= limit else "FAIL", value, float(share))


def listed(name: str, items: Sequence[str], meaning: str, block: Block = "careful") -> Line:
    """A note on several elements."""
    return Line(name, f"{', '.join(items)}: {meaning}", data=list(items), block=block)
