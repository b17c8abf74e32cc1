"""The result of `compare`: a table for a person, plain data for a program, a figure, a self-contained page."""

from __future__ import annotations

import html
import itertools
import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalembert.errors import StoreError
from dalembert.model.validation import number
from dalembert.results.html_parts import as_svg, folded, page, page_table, table
from dalembert.results.plain import duration, without_nan
from dalembert.results.report.table import as_text, plain_table, print_notes

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console
    from rich.table import Table

NO_MEANING = "has no meaning"  # in what `pairs.check_pair` says
NOT_RUN = "not run: the time budget was used up"
_WIDTH = 118
_TEXTS = ("formulation", "integrator", "setting")
_NUMBERS = ("error", "energy error", "drift", "steps", "evaluations", "CPU time")
_COLUMNS = (*((name, "left") for name in _TEXTS), *((name, "right") for name in _NUMBERS))
_BEST = "best"  # a star: nothing is both faster and more exact
_REACHED = ("for an error of", "fastest of the runs is", "CPU time")
_SPARED = ("evaluations", "drift", "energy error", "steps")  # on narrow terminals, in this order


@dataclass(frozen=True)
class Reference:
    """run : the tight run that errors are measured against;  check : the run that checks it;  accuracy : their distance

    size : the length that errors in position are divided by [m]
    """

    run: str
    check: str
    accuracy: float
    size: float = 1.0


@dataclass(frozen=True)
class Measurement:
    """One run. setting and value : "rtol" (= atol) or "h" [s];  problem : why there are no figures, else empty

    error : distance from the reference, see `compare`;  resolved : False where it is smaller than the reference's accuracy
    energy_error : largest |E - E(0)| / E_ref;  position_drift, velocity_drift : largest constraint residual [SI]
    time : median CPU time of the time loop [s];  timed : of how many runs
    """

    formulation: str
    integrator: str
    setting: str
    value: float
    error: float = math.nan
    resolved: bool = False
    energy_error: float = math.nan
    position_drift: float = math.nan
    velocity_drift: float = math.nan
    steps: int = 0
    rejected: int = 0
    rate_evaluations: int = 0
    time: float = math.nan
    timed: int = 0
    problem: str = ""

    @property
    def shown_setting(self) -> str:
        return f"rtol {self.value:.0e}" if self.setting == "rtol" else f"h {self.value:g} s"

    @property
    def described(self) -> str:
        """In words."""
        return f"{self.formulation} with {self.integrator}, {self.shown_setting}"

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        head = (self.formulation, self.integrator, self.shown_setting)
        if self.problem:
            return (*head, "not run" if self.problem == NOT_RUN else "failed", *[""] * 5)
        error = f"{self.error:.1e}" if self.resolved else f"({self.error:.1e})"
        return (
            *head,
            error,
            f"{self.energy_error:.1e}",
            f"{self.position_drift:.1e}",
            str(self.steps),
            str(self.rate_evaluations),
            duration(self.time),
        )


@dataclass(frozen=True)
class Excluded:
    """A formulation, or a pair of formulation and integrator, that cannot run the model, and why."""

    formulation: str
    integrator: str
    reason: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` measured. `print(comparison)`, `.plot()`, `.save("x.png" | "x.html" | "x.json")`, `.to_dict()`."""

    name: str
    t_end: float
    reference: Reference
    measurements: tuple[Measurement, ...]
    excluded: tuple[Excluded, ...]
    settings: dict[str, Any]
    versions: dict[str, str]
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """(formulation, integrator) of all runs, formulations together."""
        found = dict.fromkeys((m.formulation, m.integrator) for m in self.measurements)
        order = list(dict.fromkeys(formulation for formulation, _ in found))
        return tuple(sorted(found, key=lambda pair: order.index(pair[0])))

    def of(self, formulation: str, integrator: str) -> tuple[Measurement, ...]:
        """The runs of a pair, from loose to tight, without those that failed."""
        return tuple(
            m for m in self.measurements if (m.formulation, m.integrator) == (formulation, integrator) and not m.problem
        )

    @property
    def pareto(self) -> tuple[Measurement, ...]:
        """The runs that no other run beats in both error and CPU time, from fast to exact; below the accuracy of the reference
        one error is as good as another."""
        front: list[Measurement] = []
        for run in sorted((m for m in self.measurements if not m.problem), key=lambda m: (m.time, m.error)):
            if not front or (front[-1].resolved and run.error < front[-1].error):
                front.append(run)
        return tuple(front)

    def fastest(self, error: float) -> Measurement | None:
        """The run that reaches an error in the least CPU time, None where none does; `advice` says it in words."""
        number("fastest", "error", error, above=0.0)
        reached = [m for m in self.measurements if not m.problem and m.error <= error]
        return min(reached, key=lambda m: m.time, default=None)

    def advice(self, error: float) -> str:
        """Which setting reaches a wanted error fastest, in one sentence."""
        best = self.fastest(error)
        if best is None:
            done = [m for m in self.measurements if not m.problem]
            nearest = min(done, key=lambda m: m.error, default=None)
            closest = f"; {nearest.described} comes nearest, with {nearest.error:.1e}" if nearest else ""
            return f"no run reaches an error of {error:g}{closest}: compare tighter tolerances, or shorter steps"
        unsure = (
            "" if error >= self.reference.accuracy else f", as far as the reference ({self.reference.accuracy:.1e}) can tell"
        )
        others = list(dict.fromkeys(e.formulation for e in self.excluded if "coordinates" in e.reason))
        told = f"; not compared in these coordinates: {', '.join(others)}" if others else ""
        time = best.cells()[-1]
        return f"an error of {error:g} is reached fastest by {best.described}: {best.error:.1e} in {time}{unsure}{told}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; what is not a number is null."""
        return {key: without_nan(value) for key, value in asdict(self).items()}

    def plot(self) -> Figure:
        """Errors against CPU time, a panel for each formulation, and the runs that no other beats."""
        from dalembert.comparison.work_precision import draw_comparison

        return draw_comparison(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a picture, a self-contained page (.html) or the data (.json), whole or not at all."""
        from dalembert.files import written_whole
        from dalembert.plot import save_figure

        target = Path(path)
        if target.suffix not in (".html", ".json"):
            save_figure(self.plot(), target)
            return
        if target.is_dir():
            raise StoreError(f"{target}: is a folder; give the path of a file")
        text = self.to_html() if target.suffix == ".html" else json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        with written_whole(target) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def notes(self) -> list[str]:
        """What a reader of the table has to know."""
        r = self.reference
        lines = [
            f"error: largest distance from the reference over time and bodies, |r - r_ref| / {r.size:.3g} m or angle in rad",
            f"reference: {r.run}; checked by {r.check}: they differ by {r.accuracy:.1e}",
            "errors in brackets are smaller than that: the method is at least as good as the reference can tell",
            f"CPU time: of the time loop alone, median of {self.settings['repeats']} runs in turns, kernels compiled before",
        ]
        if r.accuracy > 1e-3:
            lines.append(
                "WARNING: the reference is not known better than that; is the motion chaotic (compare a shorter time), or does"
                " a force act more briefly than steps are long (give max_step)?"
            )
        broken = [m for m in self.measurements if m.problem not in ("", NOT_RUN)]
        lines += [f"{m.formulation}, {m.integrator}, {m.shown_setting} broke down: {m.problem}" for m in broken]
        if missing := sum(m.problem == NOT_RUN for m in self.measurements):
            lines.append(f"{missing} of {len(self.measurements)} runs were not made: give a larger budget, or compare less")
        meaningless = [e for e in self.excluded if NO_MEANING in e.reason]
        others = [e for e in self.excluded if e not in meaningless]
        lines += [f"{e.formulation} with {e.integrator}: {e.reason}" for e in others]
        if any("coordinates" in e.reason for e in others):
            lines.append('coordinates="absolute" (--coordinates absolute) compares all formulations')
        if meaningless:
            lines.append(f"left out, for they have no meaning: {_grouped(meaningless)}")
        return lines + (["interrupted: not all runs were made"] if self.interrupted else [])

    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table, pair by pair, from loose to tight."""
        chosen = [m for pair in self.pairs for m in self.measurements if (m.formulation, m.integrator) == pair]
        return [m.cells() for m in chosen]

    def __str__(self) -> str:
        return as_text(self.print, _WIDTH)

    def __repr__(self) -> str:
        return f"<Comparison of {self.name!r}: {len(self.measurements)} runs of {len(self.pairs)} pairs>"

    def _repr_html_(self) -> str:
        """For a notebook: the table, with a star at what nothing else beats, and the notes."""
        listed = "".join(f"<li>{html.escape(line)}</li>" for line in self.notes())
        title = html.escape(f"comparison of {self.name!r}, t = 0 to {self.t_end:g} s")
        picture = as_svg(self.plot()).replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
        runs = table((_BEST, *_TEXTS, *_NUMBERS), self._starred(), most=200)
        notes = folded("notes", f"<ul>{listed}</ul>")
        return f"<div><b>{title}</b><div>{picture}</div>{table(_REACHED, self._reached())}{folded('runs', runs)}{notes}</div>"

    def _starred(self) -> list[tuple[str, ...]]:
        """The rows, with a star at what nothing else beats."""
        best = {(m.formulation, m.integrator, m.shown_setting) for m in self.pareto}
        return [("*" if cells[:3] in best else "", *cells) for cells in self.rows()]

    def _reached(self) -> list[tuple[str, str, str]]:
        """What reaches errors fastest, for every hundredth that any run reaches."""
        found = ((error, self.fastest(error)) for error in (1e-2, 1e-4, 1e-6, 1e-8, 1e-10))
        return [(f"{error:g}", best.described, best.cells()[-1]) for error, best in found if best]

    def print(self, console: Console | None = None) -> None:
        """Print table and notes to a rich console, default: standard output."""
        from rich.console import Console

        target = console or Console()
        table, left_out = self._table(target)
        target.print(table)
        wider = [f"a wider terminal also shows: {', '.join(left_out)}"] if left_out else []
        print_notes(target, wider + self.notes())

    def _table(self, console: Console) -> tuple[Table, tuple[str, ...]]:
        """The widest table that the console takes without cutting a number, and the columns that it goes without."""
        from rich.measure import Measurement

        for count in range(len(_SPARED) + 1):
            for stacked in (False, True):
                table = self._with(_SPARED[:count], stacked)
                if Measurement.get(console, console.options.update(max_width=10_000), table).maximum <= console.width:
                    return table, _SPARED[:count]
        return table, _SPARED

    def _with(self, left_out: tuple[str, ...], stacked: bool) -> Table:
        """stacked : the integrator below its formulation"""
        from rich.text import Text

        table = plain_table(f"comparison of {self.name!r}, t = 0 to {self.t_end:g} s")
        names = ["formulation", "integrator"]
        kept = [k for k, (heading, _) in enumerate(_COLUMNS) if heading not in (*names, *left_out)]
        for heading in ["\n".join(names)] if stacked else names:
            table.add_column(heading, overflow="fold")
        for heading, side in (_COLUMNS[k] for k in kept):
            table.add_column(heading, justify=side, no_wrap=True)  # type: ignore[arg-type]
        for pair, runs in itertools.groupby(self.rows(), key=lambda cells: cells[:2]):
            rows = list(runs)
            heads = [pair] if not stacked else [pair[:1], pair[1:]] if len(rows) > 1 else [("\n".join(pair),)]
            for head, cells in itertools.zip_longest(heads, rows, fillvalue=("",) * (1 if stacked else 2)):
                table.add_row(*map(Text, head), *(cells[k] for k in kept))
        return table

    def to_html(self) -> str:
        """A page with figure, table, settings and data; no other file, no network."""
        notes = "\n".join(f"<li>{html.escape(line)}</li>" for line in self.notes())
        facts = {
            "model": self.name,
            "time span": f"0 to {self.t_end:g} s",
            **{key.replace("_", " "): value for key, value in self.settings.items()},
            **self.versions,
            "whole comparison": f"{self.seconds:.1f} s",
        }
        settings = "\n".join(f"<tr><td>{html.escape(k)}</td><td>{html.escape(str(v))}</td></tr>" for k, v in facts.items())
        title = f"comparison of {self.name}"
        body = f"""<h1>{html.escape(title)}</h1>
{as_svg(self.plot())}
<h2>Runs</h2>
{page_table([(name, "left") for name in _REACHED], [("", cells) for cells in self._reached()])}
{page_table([(_BEST, "left"), *_COLUMNS], [("", cells) for cells in self._starred()])}
<ul>
{notes}
</ul>
<h2>Settings</h2>
<div class="scroll"><table>
{settings}
</table></div>"""
        return page(title, body, "comparison", self.to_dict())


def _grouped(pairs: list[Excluded]) -> str:
    """Formulations that go without the same integrators together."""
    without: dict[str, list[str]] = {}
    for pair in pairs:
        without.setdefault(pair.formulation, []).append(pair.integrator)
    alike: dict[str, list[str]] = {}
    for formulation, integrators in without.items():
        alike.setdefault(", ".join(integrators), []).append(formulation)
    return "; ".join(f"{', '.join(formulations)} with {integrators}" for integrators, formulations in alike.items())
