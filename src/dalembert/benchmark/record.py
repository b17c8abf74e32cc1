"""What a run of the suite gives: a table for a person, plain data for a program, files written whole or not at all."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalembert.arrays import Array
from dalembert.benchmark.problem import Problem
from dalembert.errors import StoreError
from dalembert.results.html_parts import as_svg
from dalembert.results.plain import duration, without_nan
from dalembert.results.report.table import as_text, plain_table, print_notes

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PASSED, FAILED, CANNOT = "passed", "failed", "cannot"
_WIDTH = 132
_WIDE_ONLY = ("allowed", "steps", "compile")  # columns that a narrow terminal does without
_NUMBERS = ("error", "allowed", "drift", "energy", "steps", "CPU", "compile")
COLUMNS = tuple(
    (name, "right" if name in _NUMBERS else "left") for name in ("problem", "formulation", "integrator", *_NUMBERS, "verdict")
)


@dataclass(frozen=True)
class Outcome:
    """Against one set of expected values: largest relative error, what is allowed, the quantity with it."""

    origin: str
    error: float
    bound: float
    quantity: str

    @property
    def passed(self) -> bool:
        return self.error <= self.bound


@dataclass(frozen=True, eq=False)
class Curves:
    """For the drawing: motion, error against the first expected values, energy error and drift over time."""

    t: Array
    motion: Array
    t_error: Array
    error: Array
    energy: Array
    drift: Array


@dataclass(frozen=True)
class Run:
    """One problem by one formulation. settings : integrator with its tolerance or step, coordinates;  note : why those
    t_end : methods of low order may end before the problem does [s]

    verdict : "passed", "failed" or "cannot", with a reason;  by : "values", or "order" for methods of order 1 and 2
    position_drift : largest constraint residual [m or rad];  energy_error : largest |E - E(0)| / E_ref
    cpu_time : of the run [s], the shortest of three where it is below 0.3 s;  compile_time : CPU time before it, spent on
    compilation, assembly and a first step [s]
    """

    problem: str
    formulation: str
    settings: str
    note: str = ""
    t_end: float = math.nan
    verdict: str = FAILED
    reason: str = ""
    by: str = "values"
    outcomes: tuple[Outcome, ...] = ()
    order: float = math.nan
    order_wanted: int = 0
    position_drift: float = math.nan
    velocity_drift: float = math.nan
    energy_error: float = math.nan
    steps: int = 0
    rate_evaluations: int = 0
    cpu_time: float = math.nan
    compile_time: float = math.nan
    curves: Curves | None = field(default=None, compare=False, repr=False)

    @property
    def worst(self) -> Outcome | None:
        """The expected values that were not met, if any, else the worst of those that are known best."""
        if missed := [o for o in self.outcomes if not o.passed]:
            return missed[0]
        return min(self.outcomes, key=lambda o: (o.bound, -o.error), default=None)

    @property
    def error(self) -> float:
        return self.worst.error if self.worst else math.nan

    @property
    def bound(self) -> float:
        return self.worst.bound if self.worst else math.nan

    @property
    def shown_verdict(self) -> str:
        if self.verdict != CANNOT and self.by == "order":
            return f"{self.verdict}, order {self.order:.2f}"
        return self.verdict

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        if self.verdict == CANNOT or not self.outcomes:
            return (self.problem, self.formulation, self.settings, *[""] * 7, self.shown_verdict)
        return (
            self.problem,
            self.formulation,
            self.settings,
            f"{self.error:.1e}",
            f"{self.bound:.0e}" if self.by == "values" else "",
            f"{self.position_drift:.1e}",
            f"{self.energy_error:.1e}",
            str(self.steps),
            duration(self.cpu_time),
            duration(self.compile_time),
            self.shown_verdict,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        skipped = ("curves", "outcomes", "problem")
        data = {key: value for key, value in self.__dict__.items() if key not in skipped}
        return {
            **without_nan({**data, "error": self.error, "bound": self.bound}),
            "outcomes": [outcome.__dict__ for outcome in self.outcomes],
        }


@dataclass(frozen=True, eq=False)
class ProblemResult:
    """All runs of one problem. required : how many formulations must meet the values;  evidence : on published values"""

    problem: Problem
    runs: tuple[Run, ...]
    required: int
    evidence: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def met(self) -> int:
        """Number of formulations that meet the values."""
        return sum(run.verdict == PASSED and run.by == "values" for run in self.runs)

    @property
    def passed(self) -> bool:
        """Enough formulations meet the values, and none failed."""
        return self.met >= self.required and not any(run.verdict == FAILED for run in self.runs)

    @cached_property
    def picture(self) -> str:
        """Its drawing as SVG, "" without runs; drawn once, however often the page is written."""
        from dalembert.benchmark.plot import draw_problem

        return as_svg(draw_problem(self)) if any(run.curves for run in self.runs) else ""

    @property
    def verdict(self) -> str:
        if self.interrupted:
            return "interrupted"
        return PASSED if self.passed else FAILED

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        p = self.problem
        expected = [
            {"origin": e.origin, "accuracy": e.accuracy, "times": len(e.t), "quantities": list(e.values)} for e in p.expected
        ]
        return {
            "name": p.name,
            "title": p.title,
            "model": p.call,
            "t_end": p.t_end,
            "source": list(p.source),
            "found_in": list(p.found_in),
            "holonomic": p.holonomic,
            "expected": expected,
            "required": self.required,
            "met": self.met,
            "verdict": self.verdict,
            "evidence": list(self.evidence),
            "runs": [run.to_dict() for run in self.runs],
        }


@dataclass(frozen=True, eq=False)
class SuiteResult:
    """What `run_suite` found. `print(result)`, `.passed`, `.to_dict()`, `.save("x.json" | "x.html")`."""

    problems: tuple[ProblemResult, ...]
    versions: dict[str, str]
    interrupted: bool = False
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Every problem that was run passed."""
        return not self.interrupted and all(result.passed for result in self.problems)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; what is not a number is null."""
        return {
            **{label: getattr(self, label) for label in ("passed", "interrupted", "seconds", "cpu_seconds")},
            "versions": dict(self.versions),
            "problems": [result.to_dict() for result in self.problems],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the data (.json) or a self-contained page with plots (.html), whole or not at all."""
        from dalembert.benchmark.page import to_html
        from dalembert.files import written_whole

        target = Path(path)
        check_report_path(target)
        if target.suffix == ".json":
            text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        else:
            text = to_html(self)
        with written_whole(target) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def notes(self) -> list[str]:
        """What a reader of the table has to know: evidence, reasons, totals."""
        lines = []
        for result in self.problems:
            name = result.problem.name
            lines += [f"{name}: {text}" for text in result.evidence]
            lines += [f"{name}, {run.formulation}: {run.verdict}: {run.reason}" for run in result.runs if run.verdict == FAILED]
            if result.met < result.required and not result.interrupted:
                lines.append(f"{name}: {result.met} formulations meet the values, {result.required} are wanted")
        for reason, where in self._refusals().items():
            lines.append(f"cannot: {', '.join(where)}: {reason}")
        done = sum(result.passed for result in self.problems)
        lines.append(
            f"{done} of {len(self.problems)} problems passed in {self.seconds:.1f} s ({self.cpu_seconds:.1f} s of CPU)"
        )
        return lines + (["interrupted: the last problem and those after it are not complete"] if self.interrupted else [])

    def _refusals(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for result in self.problems:
            for run in result.runs:
                if run.verdict == CANNOT:
                    found.setdefault(f"{run.formulation}: {run.reason}", []).append(result.problem.name)
        return found

    def __str__(self) -> str:
        return as_text(self.print, _WIDTH)

    def __repr__(self) -> str:
        return f"<SuiteResult: {len(self.problems)} problems, {'passed' if self.passed else 'not passed'}>"

    def print(self, console: Console | None = None) -> None:
        """Print table and notes to a rich console, default: standard output."""
        from rich.console import Console

        target = console or Console()
        target.print(self._table(narrow=target.width < _WIDTH))
        print_notes(target, self.notes())

    def _table(self, narrow: bool) -> Table:
        from rich.text import Text

        title = "published problems: largest relative error and what is allowed, drift in m or rad, relative energy error"
        table = plain_table(title, padding=(0, 1, 0, 0))
        kept = [k for k, (heading, _) in enumerate(COLUMNS) if not (narrow and heading in _WIDE_ONLY)]
        for heading, side in (COLUMNS[k] for k in kept):
            table.add_column(heading, justify=side, no_wrap=True)  # type: ignore[arg-type]
        colours = {PASSED: "green", FAILED: "bold red", CANNOT: "dim"}
        for result in self.problems:
            for k, run in enumerate(result.runs):
                name, *rest, verdict = (run.cells()[column] for column in kept)
                table.add_row("" if k else name, *rest, Text(verdict, style=colours[run.verdict]))
        return table


def check_report_path(path: Path) -> None:
    """Raise a StoreError unless a report can be written there."""
    from dalembert.files import check_parent

    if path.suffix not in (".json", ".html"):
        raise StoreError(f"{path}: {path.suffix or 'no suffix'!r} is no format of a report; give .json or .html")
    if path.is_dir():
        raise StoreError(f"{path}: is a folder; give the path of a file")
    check_parent(path)
