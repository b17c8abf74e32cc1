"""The checks of a run: status, drift, unit length, energy and other invariants, each against a limit.

They run over `solution.steps`: every saved state and, where times were chosen, accepted steps beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, SimulationError
from dalembert.formulations import REFERENCE
from dalembert.formulations.invariants import invariant_functions
from dalembert.kernels.base import tables as T
from dalembert.results.invariants import Invariant, Monitored, kept_invariants
from dalembert.results.quantities import ROUNDING, Energy
from dalembert.results.report.scales import STRICTEST, drift_limits, moving_parts, passed_on
from dalembert.results.report.table import Line, limited

if TYPE_CHECKING:
    from dalembert.results.solution import Result

Level = Literal["position", "velocity"]

LOOSEST_ENERGY = 1e-2
UNIT_LENGTH = 1e-12
ENDED_WELL = ("complete", "event")
_UNITS: dict[Level, str] = {"position": "m or rad", "velocity": "m/s or rad/s"}


def checks(solution: Result) -> Iterator[Line]:
    yield status(solution)
    steps: Result = solution.steps
    unanswered = _unanswered(solution)
    for level in _UNITS:
        yield unanswered(f"{level} drift") or guarded(f"{level} drift", lambda name, level=level: _drift(steps, name, level))  # type: ignore[misc]
    if (length := steps.unit_length_error) is not None:
        yield unanswered("unit length error") or limited("unit length error", f"{length:.3g}", length, UNIT_LENGTH)
    if not solution.settings.get("kinematics"):  # whose work is what the motion takes
        yield unanswered("energy balance") or guarded("energy balance", lambda name: _energy(steps, name))


def _unanswered(solution: Result) -> Callable[[str], Line | None]:
    """Of a run that left nothing behind its start, the line that says so; it is no pass."""
    t = solution.steps.t
    moved = len(t) and (t[-1] > solution.begin_time or solution.settings.get("kinematics"))
    if solution.status in ENDED_WELL and not moved:
        return lambda name: Line(name, "cannot be checked: no state after the start was saved", None, "FAIL")
    if not len(t):
        return lambda name: Line(name, "no states saved")
    return lambda name: None


def guarded(name: str, check: Callable[[str], Line]) -> Line:
    """A check that cannot be made has not passed."""
    try:
        return check(name)
    except DalembertError as problem:
        return Line(name, f"cannot be checked: {problem}", None, "FAIL")


def status(solution: Result) -> Line:
    span = solution.reached(solution.t) if len(solution.t) else "no states saved"
    if pose := solution.settings.get("pose"):
        span = str(pose["what"])
    watched = len(solution.steps.t)
    if watched > len(solution.t):
        span += f"; {watched} states checked"
    again = solution.message.startswith(f"{solution.status} ")  # "interrupted by the user at ..."
    shown = solution.message if again else f"{solution.status}: {solution.message or span}"
    if solution.message:
        shown += f" ({span})"
    return Line("status", shown, None, "pass" if solution.status in ENDED_WELL else "FAIL", solution.status)


def _drift(solution: Result, name: str, level: Level) -> Line:
    mechanism, evaluated = solution.mechanism, solution.evaluated
    residuals, rows = (
        (evaluated.g, mechanism.position_rows) if level == "position" else (evaluated.g_dot, mechanism.velocity_rows)
    )
    limit = drift_limits(solution, level)
    worst, line = -1.0, limited(name, "nothing to drift", 0.0, STRICTEST)
    for element in dict.fromkeys(row.element for row in mechanism.rows):
        for row in rows(element):
            series, allowed = np.abs(residuals[:, row]), limit(element, row)
            k = int(np.argmax(series))
            share = float(series[k]) / allowed
            if not share <= worst:
                worst = np.inf if np.isnan(share) else share
                shown = f"{series[k]:.3g} {_UNITS[level]}, worst at {element!r}, {solution.instant(solution.t[k], 4)}"
                line = limited(name, shown, float(series[k]), allowed)
    if solution.formulation_type.compliant and np.isfinite(worst) and worst >= 0:
        return Line(name, f"{line.value}: joints give way, as asked for", data=line.data)
    return line


@dataclass(frozen=True)
class _Balance:
    """Energies that should balance by themselves; terms : sizes of what was added up;  part : "" for everything."""

    energy: Energy
    at_start: float
    terms: float
    elements: tuple[str, ...]
    part: str = ""


def _balances(solution: Result) -> Iterator[_Balance]:
    """One for each connected part that nothing works on, one for all the others: only their work together is known."""
    parts = moving_parts(solution)
    residual = float(np.max(solution.drift.position, initial=0.0))
    if len(parts) < 2:
        if parts and parts[0].at_rest(residual):
            return
        energy = solution.energy
        terms = np.abs(energy.kinetic) + np.abs(energy.potential) + np.abs(energy.external_work)
        largest = max(float(np.max(terms)), *(part.energy[1] for part in parts), 0.0)
        elements = tuple(dict.fromkeys(row.element for row in solution.mechanism.rows))
        yield _Balance(energy, _energy_at_start(solution), largest, elements)
        return
    starts = moving_parts(solution, at_start=True)
    work = np.zeros(len(solution.t))
    groups = [[k] for k, part in enumerate(parts) if not part.part.worked_on]
    groups += [together] if (together := [k for k, part in enumerate(parts) if part.part.worked_on]) else []
    for group in groups:
        if all(parts[k].at_rest(residual) for k in group):
            continue
        at_start = sum(float(starts[k].energy[0].total[0]) for k in group)
        if parts[group[0]].part.worked_on:
            work = solution.energy.external_work
            at_start -= _work_at_start(solution)
        kinetic, potential = (sum(getattr(parts[k].energy[0], name) for k in group) for name in ("kinetic", "potential"))
        sizes = sum(parts[k].energy[1] for k in group) + float(np.max(np.abs(work)))
        named = ", ".join(parts[k].part.name for k in group[:2]) + (", ..." if len(group) > 2 else "")
        elements = tuple(name for k in group for name in parts[k].part.elements)
        yield _Balance(Energy(kinetic, potential, work), at_start, sizes, elements, f", of {named}")


def _energy(solution: Result, name: str) -> Line:
    """Largest |T + U - W_ext - E_0| of a part, relative to the energy that moves in it, or to rounding where that is more."""
    kept = solution.settings["formulation"]["options"].get("invariants") == "energy"
    limit, how = _allowed(solution, kept)
    worst = Line(name, f"nothing moves{how}", f"{limit:.3g}", "pass", 0.0)
    for balance in _balances(solution):
        line = _balanced(solution, balance.energy, balance, limit, how)
        if line.verdict == "FAIL" and len(balance.elements):  # what joints hold by their residuals is no error in time
            e, held = balance.energy, _held(solution, balance.elements)
            # where all is prescribed and nothing gives way, the motion has no error of its own: judged by the work passed on
            moves = solution.mechanism.degrees_of_freedom or solution.formulation_type.compliant
            through = 0.0 if moves else passed_on(solution)
            kept = Energy(e.kinetic, e.potential - held, e.external_work)
            least = _balanced(solution, kept, balance, limit, how, through)
            line = least if least.verdict == "pass" else line
        if not line.data < worst.data:
            worst = replace(line, name=name)
    return worst


def _balanced(solution: Result, energy: Energy, balance: _Balance, limit: float, how: str, through: float = 0.0) -> Line:
    """through : work that elements do on each other [J], where an error is measured by that"""
    scale = max(energy.exchanged, through, ROUNDING * balance.terms / limit) or 1.0
    errors = np.abs(energy.total - balance.at_start)
    k = int(np.argmax(errors))
    error = float(errors[k]) / scale
    shown = f"{error:.3g} of {scale:.3g} J, worst at t = {solution.t[k]:.4g} s{balance.part}{how}"
    return limited("", shown, error, limit)


def _held(solution: Result, elements: tuple[str, ...]) -> Array:
    """(nt,) energy that goes into the residuals of joints, lam . g to first order: the drift lines judge those."""
    held = np.zeros(len(solution.t))
    lam, g = solution.evaluated.lam, solution.evaluated.g
    if not solution.formulation_type.compliant:
        for element in elements:
            for k in (row for row in solution.mechanism.position_rows(element) if row < lam.shape[1]):
                held += lam[:, k] * g[:, k]
    return held


def _allowed(solution: Result, kept: bool) -> tuple[float, str]:
    """Largest relative change that projection or the integrator's tolerance promise, and what it follows from."""
    options = solution.settings["integrator"]["options"]
    if kept:
        return STRICTEST, ", kept by projection"
    if options.get("step") is not None:
        return LOOSEST_ENERGY, ", fixed step"
    return max(STRICTEST, min(1e4 * options["rtol"], LOOSEST_ENERGY)), ""


def conserved(solution: Result, invariants: Sequence[Monitored]) -> Iterator[Line]:
    """The invariants that the formulation kept, then those that the reader asks for."""
    for kept in kept_invariants(solution):
        yield _invariant(solution, kept, True)
    for what in invariants:
        yield _invariant(solution, solution.invariant(what), False)


def _invariant(solution: Result, invariant: Invariant, kept: bool) -> Line:
    if not len(solution.t):
        return Line(invariant.name, "cannot be checked: no states saved", None, "FAIL")
    deviation = invariant.deviation
    k = int(np.argmax(deviation))
    limit, how = _allowed(solution, kept)
    since = f" since {solution.instant(solution.t[0], 4)}" if solution.t[0] > solution.begin_time else ""
    shown = f"{deviation[k]:.3g} of {invariant.scale:.3g} {invariant.unit}".rstrip() + since
    return limited(invariant.name, f"{shown}, worst at {solution.instant(solution.t[k], 4)}{how}", float(deviation[k]), limit)


def _energy_at_start(solution: Result) -> float:
    """T + U - W at the start, also when the first saved state is later."""
    mechanism = solution.mechanism
    if solution.t[0] == mechanism.t_0:
        return float(solution.energy.total[0])
    return float(sum(mechanism.energies(mechanism.x_0, mechanism.t_0)) - _work_at_start(solution))


def _work_at_start(solution: Result) -> float:
    """What the run before has done where this one goes on, else 0."""
    return float(solution.mechanism.x_0[solution.mechanism.nq + solution.mechanism.nu])


CANCELS = 1e-5  # differences of a smooth function are exact to about 1e-9
_SAMPLES = 6
_STEP = 1e-5


def enforced(solution: Result) -> Iterator[Line]:
    """One line for each function that was kept."""
    for function in invariant_functions(getattr(solution.formulation, "invariants", None)):
        if len(solution.steps.t):
            name = getattr(function, "__name__", "function")
            yield guarded(f"rate of {name}", lambda line, function=function: _rate(solution.steps, line, function))  # type: ignore[misc]


def _rate(steps: Result, line: str, function: Callable[..., Any]) -> Line:
    """max |f_t + f_x x'| / max (|f_t| + sum |f_x_i x'_i|): terms that do not cancel are a change that projection hides."""
    mechanism, n = steps.mechanism, steps.mechanism.nq + steps.mechanism.nu
    chosen = np.unique(np.linspace(0, len(steps.t) - 1, _SAMPLES).round().astype(int))
    rates, sizes = np.zeros(len(chosen)), np.zeros(len(chosen))
    for row, k in enumerate(chosen):
        t, x = float(steps.t[k]), steps.x[k]
        moves = np.concatenate([[1.0], _derivative(mechanism, t, x)[:n]])
        delta = _STEP * np.maximum(1.0, np.abs(np.concatenate([[t], x[:n]])))
        times, states = np.full(2 * (n + 1), t), np.tile(x, (2 * (n + 1), 1))
        for i in range(n + 1):
            for sign, at in ((1.0, 2 * i), (-1.0, 2 * i + 1)):
                if i == 0:
                    times[at] += sign * delta[0]
                else:
                    states[at, i - 1] += sign * delta[i]
        values = type(steps)(mechanism, times, states, settings=steps.settings).kept_values(function)
        terms = moves * (values[0::2] - values[1::2]) / (2 * delta)
        rates[row], sizes[row] = abs(float(np.sum(terms))), float(np.sum(np.abs(terms)))
    k = int(np.argmax(rates))
    share = float(rates[k] / (np.max(sizes) or 1.0))
    shown = f"{rates[k]:.3g} 1/s at t = {steps.t[chosen[k]]:.4g} s, {share:.2g} of its terms"
    return limited(
        line, shown + (": it is not conserved, projection bends the motion" if share > CANCELS else ""), share, CANCELS
    )


def _derivative(mechanism: Any, t: float, x: Array) -> Array:
    """x' of the equations of motion."""
    run = REFERENCE().prepare(mechanism.as_told)
    dx, state = np.zeros(run.state_size), x.copy()
    if run.rate(t, state, dx) != T.OK:
        raise SimulationError(f"accelerations could not be found at t = {t:.6g} s")
    return dx
