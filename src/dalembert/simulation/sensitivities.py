"""Sensitivities of a run: its steps once more on numbers with derivatives by parameters, told in the model's coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.results.sensitivities import Sensitivities, total_derivative
from dalembert.run.events import Event
from dalembert.run.tangents import Trail, tangents
from dalembert.simulation.parametrised import Parametrised, table_tangents
from dalembert.simulation.saltation import Saltation, check_events

# of the check: times, part by which states and parameters change, tolerances by which runs may differ
_TIMES, _MOVED, _CHANGED, _NOISE, _ASIDE = 9, 1e-4, 1e-3, 100.0, 1e-2
Acted = tuple[Sequence[Event], Sequence[float]]


def with_sensitivities(
    solution: Any, trails: Sequence[Trail], acted: Sequence[Acted], model: Parametrised, simulate: Callable[..., Any]
) -> None:
    """`solution.sensitivities` <- derivatives of its states by parameters.

    acted : events that acted behind each piece but the last, with the largest value of each;  simulate : makes the runs that
        check them
    """
    pieces, formulation, trail = solution.pieces or (solution,), solution.formulation, trails[0]
    if len(trails) > 1:
        check_events(pieces, trails, [events for events, _ in acted])
    of_tables = table_tangents(model, formulation, trail.run, trail.x[0])
    dx, parts = of_tables.dx, []
    for k, (piece, trail) in enumerate(zip(pieces, trails, strict=True)):
        later = piece.t > trail.t[0]
        S, end = tangents(trail, solution.integrator, piece.t[later], dx, of_tables.dF)
        S = S if later.all() else np.concatenate([dx[None], S])
        parts.append(S[solution.kept[k]] if solution.pieces else S)
        if k + 1 < len(trails):
            (event,), (largest,) = acted[k]
            dx = Saltation(event, largest, piece, formulation).behind(trail, trails[k + 1], end, of_tables.neighbours)
    S = np.concatenate(parts)
    solution.sensitivities = Sensitivities(model.values, model.names, S, of_tables.neighbours)
    solution.sensitivities.states = _as_told(solution, trails[0], S, solution.sensitivities)
    solution.sensitivities.check = cache(partial(_compared, solution, model, simulate))


def _compared(solution: Any, model: Parametrised, simulate: Callable[..., Any]) -> tuple[float, float]:
    """Runs on both sides, all parameters changed at once, each so far that it moves the states as much as the others.

    What states change by against what sensitivities say, of the largest change of coordinates, or of velocities.
    """
    found, mechanism, n = solution.sensitivities, solution.mechanism, solution.mechanism.nq + solution.mechanism.nu
    away = [piece.begin_time for piece in solution.pieces[1:]]  # where states jump, and runs beside jump a little earlier
    aside = np.all([np.abs(solution.t - t) > _ASIDE * (solution.end_time - solution.begin_time) for t in away], axis=0)
    rows = np.flatnonzero(np.broadcast_to(aside, solution.t.shape))
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, _TIMES).round().astype(int))]
    x, S = solution.x[rows, :n], found.states[rows, :n]
    values = np.array([float(model.values[name]) for name in found.names])
    size = np.max(np.abs(S), axis=(0, 1)) / (1.0 + np.abs(x).max(initial=0.0))
    change = _MOVED / np.where(size > 0.0, size, _MOVED)
    change *= min(1.0, _CHANGED / float(np.max(change / np.where(values == 0.0, 1.0, np.abs(values)))))
    ends = []
    for sign in (1.0, -1.0):
        beside = model.at(**dict(zip(found.names, (values + sign * change).tolist(), strict=True)))
        run = simulate(
            beside,
            solution.end_time,
            t_start=solution.begin_time,
            formulation=solution.formulation,
            integrator=solution.integrator,
            save_at=np.unique(np.append(solution.t[rows], solution.end_time)),
            progress=False,
        )
        ends.append([mechanism.with_signs_of(a, b)[:n] for a, b in zip(solution.x[rows], run.x[: len(rows)], strict=True)])
    measured, told = 0.5 * (np.array(ends[0]) - np.array(ends[1])), S @ change
    worst, method = 0.0, solution.integrator
    noise = (_NOISE * max(method.rtol, method.atol) if method.adaptive else 1e-12) * (1.0 + np.abs(x).max(initial=0.0))
    for part in (slice(None, mechanism.nq), slice(mechanism.nq, None)):
        scale = max(np.abs(told[:, part]).max(initial=0.0), np.abs(measured[:, part]).max(initial=0.0))
        apart = np.abs(measured[:, part] - told[:, part]).max(initial=0.0) - noise
        worst = max(worst, float(apart / (scale or 1.0)))
    return worst, float(np.max(change / np.where(values == 0.0, 1.0, np.abs(values))))


def _as_told(solution: Any, trail: Trail, S: Array, found: Sensitivities) -> Array:
    """(nt, nx, p) derivatives of the mechanism's states from those of the run's."""
    if trail.run.tree is None:
        return S[:, : len(solution.mechanism.x_0)]
    x = np.array([trail.run.from_absolute(row, t) for t, row in zip(solution.t, solution.x, strict=True)])
    columns = []
    for k, name in enumerate(found.names):
        runs = {id(m): solution.formulation.prepare(m) for _, *both in found.neighbours[name].pairs for m in both}
        runs[id(solution.mechanism)] = trail.run
        told = partial(_absolute, runs)
        columns.append(total_derivative(told, np.asarray, solution.mechanism, x, S[:, :, k], found.neighbours[name]))
    return np.stack(columns, axis=2)


def _absolute(runs: dict[int, Any], mechanism: Any, x: Array) -> Array:
    """States of a mechanism from those of its run."""
    return np.asarray(runs[id(mechanism)].to_absolute(x))
