"""The checks of a run: status, drift, unit length, energy and other invariants, each against a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from dalembert.errors import DalembertError
from dalembert.invariants import Invariant, Monitored, kept_invariants
from dalembert.report.table import Line, limited

if TYPE_CHECKING:
    from dalembert.solution import Drift, Result

Array = npt.NDArray[np.float64]

STRICTEST = 1e-10
LOOSEST_DRIFT = 1e-6
LOOSEST_ENERGY = 1e-2
UNIT_LENGTH = 1e-12
_ENDED_WELL = ("complete", "event")


def checks(solution: Result) -> Iterator[Line]:
    yield _status(solution)
    options = solution.settings["formulation"]["options"]
    asked = {"position": options.get("tolerance", 0.0), "velocity": options.get("velocity_tolerance", 0.0)}
    yield _guarded("position drift", lambda name: _drift(solution, name, "position", "m or rad", asked["position"]))
    yield _guarded("velocity drift", lambda name: _drift(solution, name, "velocity", "m/s or rad/s", asked["velocity"]))
    if (length := solution.unit_length_error) is not None:
        yield limited("unit length error", f"{length:.3g}", length, UNIT_LENGTH)
    yield _guarded("energy balance", lambda name: _energy(solution, name))


def _guarded(name: str, check: Callable[[str], Line]) -> Line:
    """A check that cannot be made has not passed."""
    try:
        return check(name)
    except DalembertError as problem:
        return Line(name, f"cannot be checked: {problem}", None, "FAIL")


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
        return limited(name, "nothing to drift" if not elements else "no states saved", 0.0, limit)
    peaks = {element: float(values(drift.by_joint(element)).max()) for element in elements}
    worst = max(peaks, key=lambda element: np.inf if np.isnan(peaks[element]) else peaks[element])
    at = solution.t[int(np.argmax(values(drift.by_joint(worst))))]
    shown = f"{peaks[worst]:.3g} {units}, worst at {worst!r}, t = {at:.4g} s"
    if solution.settings["formulation"]["type"] == "Soft" and np.isfinite(peaks[worst]):
        return Line(name, f"{shown}: joints give way, as asked for", data=peaks[worst])
    return limited(name, shown, peaks[worst], limit)


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
        return limited(name, f"{shown}, kept by projection", error, STRICTEST)
    if options.get("step") is not None:
        return limited(name, f"{shown}, fixed step", error, LOOSEST_ENERGY)
    return limited(name, shown, error, max(STRICTEST, min(1e4 * options["rtol"], LOOSEST_ENERGY)))


def conserved(solution: Result, invariants: Sequence[Monitored]) -> Iterator[Line]:
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
