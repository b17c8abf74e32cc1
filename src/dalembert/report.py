"""The trust report of a run: what was checked, against which limit, and everything that a reader should know beside it.

    report = solution.report()
    print(report)                   # a table
    report.passed                   # True when no line says FAIL
    report.to_dict()                # the same for a program

A line with a limit passes or FAILs; a line without one is a note. Limits follow what the run was asked for, but no
asking makes a drift above `LOOSEST_DRIFT` or an energy error above `LOOSEST_ENERGY` pass.
"""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dalembert.errors import DalembertError
from dalembert.invariants import Invariant, Monitored, as_list, kept_invariants
from dalembert.io.record import encode
from dalembert.io.store import INCOMPLETE

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dalembert.solution import Drift, Result

__all__ = ["Line", "Report", "make_report"]

Array = npt.NDArray[np.float64]
Verdict = Literal["pass", "FAIL", "note"]

STRICTEST = 1e-10
LOOSEST_DRIFT = 1e-6
LOOSEST_ENERGY = 1e-2
UNIT_LENGTH = 1e-12
_ENDED_WELL = ("complete", "event")
_WIDTH = 110
_COLOURS = {"pass": "green", "FAIL": "bold red", "note": "dim"}


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
        return {"title": self.title, "passed": self.passed, "lines": lines}

    def __str__(self) -> str:
        from rich.console import Console

        text = io.StringIO()
        self.print(Console(file=text, width=_WIDTH, color_system=None, legacy_windows=False))
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

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
        table = Table(box=plain, title=self.title, title_justify="left", title_style="bold", pad_edge=False)
        for heading in ("check", "value", "limit", "verdict"):
            table.add_column(heading, overflow="fold")
        for line in self.lines:
            verdict = Text(line.verdict, style=_COLOURS[line.verdict])
            table.add_row(Text(line.name), Text(line.value), Text(line.limit or ""), verdict)
        return table


def make_report(solution: Result, invariants: Monitored | Sequence[Monitored] = ()) -> Report:
    """Check a solution and gather what its reader should know; invariants : what else should have stayed constant."""
    name = solution.mechanism.model.name or "model"
    lines = (*_checks(solution), *_conserved(solution, as_list(invariants)), *_mechanism_notes(solution), *_run_notes(solution))
    return Report(f"trust report of {name!r}", lines)


def _checks(solution: Result) -> Iterator[Line]:
    yield _status(solution)
    options = solution.settings["formulation"]["options"]
    asked = {"position": options.get("tolerance", 0.0), "velocity": options.get("velocity_tolerance", 0.0)}
    yield _guarded("position drift", lambda name: _drift(solution, name, "position", "m or rad", asked["position"]))
    yield _guarded("velocity drift", lambda name: _drift(solution, name, "velocity", "m/s or rad/s", asked["velocity"]))
    if (length := solution.unit_length_error) is not None:
        yield _limited("unit length error", f"{length:.3g}", length, UNIT_LENGTH)
    yield _guarded("energy balance", lambda name: _energy(solution, name))


def _guarded(name: str, check: Callable[[str], Line]) -> Line:
    """A check that cannot be made has not passed."""
    try:
        return check(name)
    except DalembertError as problem:
        return Line(name, f"cannot be checked: {problem}", None, "FAIL")


def _limited(name: str, shown: str, value: float, limit: float) -> Line:
    """NaN does not pass."""
    return Line(name, shown, f"{limit:.3g}", "pass" if value <= limit else "FAIL", value)


def _status(solution: Result) -> Line:
    span = f"{len(solution.t)} states to t = {solution.t[-1]:.6g} s" if len(solution.t) else "no states saved"
    shown = f"{solution.status}: {solution.message or span}"
    if solution.message:
        shown += f" ({span})"
    return Line("status", shown, None, "pass" if solution.status in _ENDED_WELL else "FAIL", solution.status)


def _drift(solution: Result, name: str, level: Literal["position", "velocity"], units: str, asked: float) -> Line:
    def values(drift: Drift) -> Array:
        return drift.position if level == "position" else drift.velocity

    drift = solution.drift
    limit = max(STRICTEST, min(10 * asked, LOOSEST_DRIFT))
    state = solution.q if level == "position" else solution.u
    limit = max(limit, 1e-15 * float(np.abs(state[np.isfinite(state)]).max(initial=0.0)))  # rounding of large coordinates
    elements = dict.fromkeys(row.element for row in solution.mechanism.rows)
    if not elements or not len(solution.t):
        return _limited(name, "nothing to drift" if not elements else "no states saved", 0.0, limit)
    peaks = {element: float(values(drift.by_joint(element)).max()) for element in elements}
    worst = max(peaks, key=lambda element: np.inf if np.isnan(peaks[element]) else peaks[element])
    at = solution.t[int(np.argmax(values(drift.by_joint(worst))))]
    shown = f"{peaks[worst]:.3g} {units}, worst at {worst!r}, t = {at:.4g} s"
    if solution.settings["formulation"]["type"] == "Soft" and np.isfinite(peaks[worst]):
        return Line(name, f"{shown}: joints give way, as asked for", data=peaks[worst])
    return _limited(name, shown, peaks[worst], limit)


def _energy(solution: Result, name: str) -> Line:
    """Largest |T + U - W_ext - E_0|, relative to the energy in motion."""
    energy = solution.energy
    if not len(solution.t):
        return Line(name, "no states saved")
    errors = np.abs(energy.total - _energy_at_start(solution))
    k = int(np.argmax(errors))
    error = float(errors[k]) / energy.scale
    shown = f"{error:.3g} of {energy.scale:.3g} J, worst at t = {solution.t[k]:.4g} s"
    kept = solution.settings["formulation"]["options"].get("invariants") == "energy"
    return _constant(solution, name, shown, error, kept)


def _constant(solution: Result, name: str, shown: str, error: float, kept: bool) -> Line:
    """A relative change, against what projection or the integrator's tolerance promise."""
    options = solution.settings["integrator"]["options"]
    if kept:
        return _limited(name, f"{shown}, kept by projection", error, STRICTEST)
    if options.get("step") is not None:
        return _limited(name, f"{shown}, fixed step", error, LOOSEST_ENERGY)
    return _limited(name, shown, error, max(STRICTEST, min(1e4 * options["rtol"], LOOSEST_ENERGY)))


def _conserved(solution: Result, invariants: Sequence[Monitored]) -> Iterator[Line]:
    """The invariants that the formulation kept, then those that the reader asks for."""
    for kept in kept_invariants(solution):
        yield _invariant(solution, kept, True)
    for what in invariants:
        yield _invariant(solution, solution.invariant(what), False)


def _invariant(solution: Result, invariant: Invariant, kept: bool) -> Line:
    if not len(solution.t):
        return Line(invariant.name, "no states saved")
    deviation = invariant.deviation
    k = int(np.argmax(deviation))
    since = f" since t = {solution.t[0]:.4g} s" if solution.t[0] > 0 else ""
    shown = f"{deviation[k]:.3g} of {invariant.scale:.3g} {invariant.unit}".rstrip() + since
    return _constant(solution, invariant.name, f"{shown}, worst at t = {solution.t[k]:.4g} s", float(deviation[k]), kept)


def _energy_at_start(solution: Result) -> float:
    """T + U at t = 0, also when the first saved state is later."""
    if solution.t[0] == 0.0:
        return float(solution.energy.total[0])
    return float(sum(solution.mechanism.energies(solution.mechanism.x_0)))


def _mechanism_notes(solution: Result) -> Iterator[Line]:
    mechanism = solution.mechanism
    counts = {
        "degrees_of_freedom": mechanism.degrees_of_freedom,
        "rank": mechanism.rank,
        "rows": len(mechanism.rows),
        "redundant": len(mechanism.redundant),
        "out_of_plane": len(mechanism.out_of_plane),
    }
    shown = f"{counts['degrees_of_freedom']} (rank {counts['rank']} of {counts['rows']} constraint rows"
    shown += f", {counts['out_of_plane']} of them out of the plane)" if mechanism.out_of_plane else ")"
    yield Line("degrees of freedom", shown, data=counts)
    if mechanism.redundant:
        rows = [f"{row.element}.{row.label}" for row in mechanism.redundant]
        yield _listed("redundant rows", rows, "the others imply them: the motion is not affected")
    if mechanism.not_unique:
        yield _listed("reactions not unique", mechanism.not_unique, "redundancy leaves them undetermined")
    if dependent := solution.statistics.dependent_rows:
        text = f"{dependent} row(s) became dependent during the run: a singular configuration was met"
        yield Line("dependent rows", text, data=dependent)
    if mechanism.moved:
        yield _listed("assembly moved", mechanism.moved, "the initial data did not fit")
    if mechanism.completed:
        names = list(mechanism.completed)
        yield Line("completed", f"velocities of {', '.join(names)}, from what was given", data=names)
    for warning in mechanism.warnings:
        yield Line("warning", warning, data=warning)
    if slow := solution.settings.get("plain_python"):
        yield _listed("plain Python", slow, "could not be compiled: slow, but no less exact")


def _listed(name: str, items: Sequence[str], meaning: str) -> Line:
    return Line(name, f"{', '.join(items)}: {meaning}", data=list(items))


def _run_notes(solution: Result) -> Iterator[Line]:
    s = solution.statistics
    for warning in solution.warnings:
        yield Line("warning", warning, data=warning)
    if solution.events:
        shown = ", ".join(f"{name!r} at t = {t:.6g} s" for name, t in solution.events)
        yield Line("events", shown, data=[list(event) for event in solution.events])
    if s.accepted:
        steps = f"{s.accepted} accepted, {s.rejected} rejected ({s.refused} refused)"
        yield Line("steps", f"{steps}; size {s.smallest_step:.3g} to {s.largest_step:.3g} s", data=_counters(solution))
        newton = f"Newton {s.newton_average:.3g} on average, {s.newton_maximum} at most"
        yield Line("work", f"{s.rate_evaluations} rate evaluations, {s.projections} projections, {newton}")
        if s.stage_solver:
            iterations = f"{s.stage_iterations_average:.3g} iterations on average, {s.stage_iterations_maximum} at most"
            newton = f"Newton in {s.stage_newton_steps} steps with {s.stage_jacobians} Jacobian matrices"
            shown = f"{s.stage_solver}; {iterations}" + (f"; {newton}" if s.stage_newton_steps else "")
            yield Line("implicit stages", shown, data=s.stage_solver)
        if s.basis_restarts:
            yield Line(
                "tangent basis", f"could not be continued and was found afresh {s.basis_restarts} times", data=s.basis_restarts
            )
    else:
        yield Line("steps", "not known: the run left no statistics" if solution.status == INCOMPLETE else "none")
    if s.time:
        parts = ", ".join(f"{part} {_duration(seconds)}" for part, seconds in s.time.items())
        yield Line("wall time", parts, data=dict(s.time))
    settings = solution.settings
    for part in ("formulation", "integrator"):
        options = ", ".join(f"{key}={value!r}" for key, value in settings[part]["options"].items())
        yield Line(part, f"{settings[part]['type']}({options})", data=settings[part])
    yield Line("coordinates", settings["coordinates"], data=settings["coordinates"])
    versions = ", ".join(f"{name} {version}" for name, version in solution.versions.items())
    yield Line("versions", versions, data=dict(solution.versions))
    model_hash = solution.mechanism.model.hash
    yield Line("model hash", model_hash, data=model_hash)
    cited = ", ".join(solution.citations) or "nothing"
    yield Line("to cite", f"{cited} (dalembert.cite(solution) prints them)", data=list(solution.citations))


def _counters(solution: Result) -> dict[str, Any]:
    counters = asdict(solution.statistics)
    del counters["time"]
    return counters


def _duration(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
