"""How the state behind an event that acts depends on parameters, at a fixed time.

The event is where g(t, x, p) = 0, and its action takes x- to x+ = A(t, x-, p). With S- = dx-/dp at a fixed time, rates f-, f+
before and behind it, and g' = g_t + g_x f- [HiskensPai2000]:

    dt/dp = -(g_p + g_x S-) / g',      S+ = d/dp A(t(p), x-(t(p), p), p) - f+ dt/dp

Derivatives of g and A are extrapolated differences along these directions, between models built for p +- h. Where g' vanishes,
the motion only touches the surface of the event: then there is no derivative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.phases import Phase, consistent
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations import REFERENCE, Formulation
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T
from dalembert.results.sensitivities import LEVELS, Neighbours, extrapolated
from dalembert.run.actions import apply
from dalembert.run.events import Event
from dalembert.simulation.seen import Sight
from dalembert.simulation.solution import solution_of

_GRAZES = 1e-3  # speed of an event's function at its root, of its largest value over the time of the piece
_NEAR = 1e-3  # how far along the motion differences go, of what the state is


@dataclass(eq=False)
class Saltation:
    """An event that acted between two pieces of a run. largest : |g| in the run so far"""

    event: Event
    largest: float
    piece: Any
    formulation: Formulation

    def moves(self, before: Run, S: Array, neighbours: Mapping[str, Neighbours]) -> tuple[Array, Array]:
        """(n,) rates before it, and (p,) derivatives of its time, from those of the state there."""
        t, x = self.piece.ending.t, self.piece.ending.state
        f = _rate(before, t, x)
        s = _NEAR * (1.0 + np.abs(x).max()) / max(np.abs(f).max(), 1e-300)
        ahead = [(self._g(before, t + r * s, x + r * s * f), self._g(before, t - r * s, x - r * s * f)) for r in LEVELS]
        g_t = float(extrapolated([np.array((a - b) / (2.0 * r * s)) for (a, b), r in zip(ahead, LEVELS, strict=True)])[0])
        lasted = t - self.piece.begin_time
        if not abs(g_t) > _GRAZES * self.largest / lasted:
            raise SimulationError(
                f"event {self.event.name!r} at t = {t:.6g} s grazes: its function changes by {g_t:.2g} per second where it is"
                " zero, so how the run goes on is no smooth function of parameters; there are no sensitivities behind it",
                time=t,
            )
        later = []
        for k, beside in enumerate(neighbours.values()):
            runs = [(h, self.formulation.prepare(a), self.formulation.prepare(b)) for h, a, b in beside.pairs]
            g_p = extrapolated(
                [np.array((self._g(a, t, x + h * S[:, k]) - self._g(b, t, x - h * S[:, k])) / (2.0 * h)) for h, a, b in runs]
            )[0]
            later.append(-float(g_p) / g_t)
        return f, np.array(later)

    def behind(self, before: Run, after: Run, start: Array, S: Array, neighbours: Mapping[str, Neighbours]) -> Array:
        """(n, p) derivatives of the state that the run behind starts from, from those at the end of the one before."""
        t, x = self.piece.ending.t, self.piece.ending.state
        f, moved = self.moves(before, S, neighbours)
        f_after, columns = _rate(after, t, start), []
        for k, (later, beside) in enumerate(zip(moved.tolist(), neighbours.values(), strict=True)):
            runs = [(h, self.formulation.prepare(a), self.formulation.prepare(b)) for h, a, b in beside.pairs]
            dx = S[:, k] + f * later
            ends = [(h, self._jump(a, t + h * later, x + h * dx), self._jump(b, t - h * later, x - h * dx)) for h, a, b in runs]
            total = extrapolated([(above - below) / (2.0 * h) for h, above, below in ends])[0]
            columns.append(total - f_after * later)
        return np.array(columns).T

    def _seen(self, run: Run, t: float, x: Array) -> Any:
        piece = self.piece
        made = partial(solution_of, settings=piece.settings, formulation=self.formulation, integrator=piece.integrator)
        return Sight(run, made, run.mechanism.model, Phase())(t, x)

    def _g(self, run: Run, t: float, x: Array) -> float:
        return self.event.value(self._seen(run, t, x))

    def _jump(self, run: Run, t: float, x: Array) -> Array:
        """The run's state behind the action."""
        owner, mechanism = f"event {self.event.name!r}", run.mechanism
        actions, told = self.event.actions(self._seen(run, t, x)), np.array(run.to_absolute(x[None])[0])
        before = sum(mechanism.energies(told, t))
        _, told = apply(owner, actions, Phase(), mechanism, t, told)
        told = consistent(mechanism, t, told, owner)
        told[mechanism.nq + mechanism.nu] += sum(mechanism.energies(told, t)) - before
        return np.asarray(run.from_absolute(told, t))


def check_events(events: Sequence[Event], phase: Phase, first: Run, run: Run) -> None:
    """Refuse what has no derivatives behind events. phase, run : behind them;  first : of the first piece"""
    if len(events) != 1:
        raise ModelError("sensitivities: two events act at the same time; what follows is no smooth function of parameters")
    if phase != Phase():
        raise ModelError(
            "sensitivities: an event that locks, frees or closes joints is not covered; let it stop the run, or change"
            " velocities only"
        )
    if first.tree is not None or len(run.F) != len(first.F) or not np.array_equal(run.F, first.F):
        name = REFERENCE.__name__
        raise ModelError(f"sensitivities: with events that act they go with {name}; give formulation={name}()")


def _rate(run: Run, t: float, x: Array) -> Array:
    f = np.zeros_like(x)
    if run.rate(t, x.copy(), f) != T.OK:
        raise SimulationError(f"the rates at t = {t:.6g} s cannot be evaluated", time=t)
    return f
