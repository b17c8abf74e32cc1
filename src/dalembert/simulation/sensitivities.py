"""Sensitivities of a run: derivatives of its states by parameters, which ride along with it, in the model's coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.formulations import Formulation
from dalembert.formulations.run import Run
from dalembert.integrators.integrator import Integrator
from dalembert.results.sensitivities import Sensitivities, total_derivative, typical
from dalembert.run.events import Event
from dalembert.run.tangents import Carrier, carrier_of, check_covered
from dalembert.simulation.parametrised import Parametrised, TableTangents, table_tangents
from dalembert.simulation.saltation import Saltation, check_events
from dalembert.simulation.start import Start
from dalembert.simulation.tree_tangents import as_run

# of the check: times, part by which states and parameters change, tolerances by which runs may differ
_TIMES, _MOVED, _CHANGED, _NOISE, _ASIDE = 9, 1e-4, 1e-3, 100.0, 1e-2
# so much less may states change for the sake of a parameter with little influence; noise of what they change by; finest rtol
_LESS, _SEEN, _FINEST = 1e-3, 1e-3, 1e-12


@dataclass(eq=False)
class Carried:
    """Derivatives along the pieces of a run. acted : events that acted behind the last one, with the largest value of each"""

    model: Parametrised
    formulation: Formulation
    integrator: Integrator
    acted: tuple[Sequence[Event], Sequence[float]] = ((), ())
    _runs: list[Carrier] = field(default_factory=list)
    _parts: list[Array] = field(default_factory=list)  # at saved times
    _end: Array = field(default_factory=lambda: np.zeros((0, 0)))
    _tables: TableTangents | None = None

    def along(self, start: Start, pieces: Sequence[Any]) -> Run:
        """The run of the next piece with derivatives."""
        check_covered(self.integrator, self.formulation)
        run = self.formulation.prepare(start.mechanism)
        x_0 = run.from_absolute(start.mechanism.x_0, start.t)
        if self._tables is None:
            self._tables = table_tangents(self.model, self.formulation, run, x_0)
            dx = self._tables.dx
        else:
            events, largest = self.acted
            check_events(events, start.phase, self._runs[0].plain, run)
            act = Saltation(events[0], largest[0], pieces[-1], self.formulation)
            dx = act.behind(self._runs[-1].plain, run, x_0, self._end, self._tables.neighbours)
        self._runs.append(carrier_of(run, dx, self._tables.dF, self._tables.dW))
        return self._runs[-1]

    def ended(self, saved: Array, last: Array) -> None:
        """A piece has these derivatives at its saved times and at its end."""
        self._parts.append(saved)
        self._end = last

    def of(self, solution: Any, simulate: Callable[..., Any]) -> Sensitivities:
        """Derivatives of a solution's states; simulate : makes the runs that check them."""
        assert self._tables is not None
        kept = solution.kept if solution.pieces else [slice(None)]
        S, model = np.concatenate([part[use] for part, use in zip(self._parts, kept, strict=True)]), self.model
        found = Sensitivities(model.values, model.names, S, self._tables.neighbours)
        found.states = _as_told(solution, self._runs[0].plain, S, found)
        if len(solution.t):
            found.check = cache(partial(_compared, solution, model, simulate))
        last = (solution.pieces or [solution])[-1]
        if last.status == "event" and len(solution.t) and solution.t[-1] == last.ending.t:
            found.end = cache(partial(self._moving_end, last))
        return found

    def _moving_end(self, last: Any) -> tuple[Array, Array]:
        """(nx,) rates of the states told, and (p,) derivatives of the time, where an event stopped the run."""
        (events, largest), run = self.acted, self._runs[-1].plain
        assert self._tables is not None
        act = Saltation(events[0], largest[0], last, self.formulation)
        f, moved = act.moves(run, self._end, self._tables.neighbours)
        x, s = last.ending.state, 1e-6 * (1.0 + np.abs(last.ending.state).max()) / max(np.abs(f).max(), 1e-300)
        after, before = run.to_absolute(np.array([x + s * f, x - s * f]))
        return (after - before) / (2.0 * s), moved


def _compared(solution: Any, model: Parametrised, simulate: Callable[..., Any]) -> tuple[float, float]:
    """Runs on both sides, all parameters changed at once, each so far that it moves the states as much as the others do, but
    for those with next to no influence; tighter ones, where tolerances would hide what states change by.

    What states change by against what sensitivities say, of the largest change of coordinates, or of velocities.
    """
    found, mechanism, n = solution.sensitivities, solution.mechanism, solution.mechanism.nq + solution.mechanism.nu
    away = [piece.begin_time for piece in solution.pieces[1:]]  # where states jump, and runs beside jump a little earlier
    aside = np.all([np.abs(solution.t - t) > _ASIDE * (solution.end_time - solution.begin_time) for t in away], axis=0)
    rows = np.flatnonzero(np.broadcast_to(aside, solution.t.shape))
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, _TIMES).round().astype(int))]
    sizes = typical(mechanism, solution.x)[rows, :n]  # states are told by them from here on
    S, least = found.states[rows, :n] / sizes[:, :, None], min(1.0, float(sizes.min(initial=1.0)))
    values = np.array([float(model.values[name]) for name in found.names])
    size = np.max(np.abs(S), axis=(0, 1))
    wanted, most = _MOVED / np.where(size > 0.0, size, _MOVED), _CHANGED * np.where(values == 0.0, 1.0, np.abs(values))
    change = np.minimum(np.clip(np.min(most / wanted), _LESS, 1.0) * wanted, most)
    told, method = S @ change, solution.integrator
    noise, own = 1e-12, 0.0
    if method.adaptive:
        own, seen = max(method.rtol, method.atol / least), _SEEN / _NOISE * float(np.abs(told).max(initial=0.0))
        if seen < own:
            fine = max(seen, _FINEST)
            method = replace(method, rtol=fine, atol=fine * least)
        noise = _NOISE * max(method.rtol, method.atol / least)
    ends = []
    for sign in (1.0, -1.0):
        beside = model.at(**dict(zip(found.names, (values + sign * change).tolist(), strict=True)))
        run = simulate(
            beside,
            solution.end_time,
            t_start=solution.begin_time,
            formulation=solution.formulation,
            integrator=method,
            save_at=np.unique(np.append(solution.t[rows], solution.end_time)),
            progress=False,
        )
        ends.append([mechanism.with_signs_of(a, b)[:n] for a, b in zip(solution.x[rows], run.x[: len(rows)], strict=True)])
    measured, worst = 0.5 * (np.array(ends[0]) - np.array(ends[1])) / sizes, 0.0
    for part in (slice(None, mechanism.nq), slice(mechanism.nq, None)):
        size = max(np.abs(told[:, part]).max(initial=0.0), np.abs(measured[:, part]).max(initial=0.0))
        apart = np.abs(measured[:, part] - told[:, part]).max(initial=0.0) - noise
        worst = max(worst, float(apart / (size or 1.0)) - _NOISE * own)
    return worst, float(np.max(change / np.where(values == 0.0, 1.0, np.abs(values))))


def _as_told(solution: Any, run: Run, S: Array, found: Sensitivities) -> Array:
    """(nt, nx, p) derivatives of the mechanism's states from those of the run's."""
    if run.tree is None:
        return S[:, : len(solution.mechanism.x_0)]
    x = as_run(
        run.tree, np.array([run.from_absolute(row, t) for t, row in zip(solution.t, solution.x, strict=True)]), solution.x
    )
    columns = []
    for k, name in enumerate(found.names):
        runs = {id(m): solution.formulation.prepare(m) for _, *both in found.neighbours[name].pairs for m in both}
        runs[id(solution.mechanism)] = run
        told = partial(_absolute, runs)
        neighbours, sizes = found.neighbours[name], 1.0 + np.abs(x)
        columns.append(total_derivative(told, np.asarray, solution.mechanism, x, S[:, :, k], neighbours, sizes))
    return np.stack(columns, axis=2)


def _absolute(runs: dict[int, Any], mechanism: Any, x: Array) -> Array:
    """States of a mechanism from those of its run."""
    return np.asarray(runs[id(mechanism)].to_absolute(x))
