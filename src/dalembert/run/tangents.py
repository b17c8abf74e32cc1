"""How the states of a run depend on parameters: its steps once more on numbers with derivatives (kernels/time/tangents.py)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations.derivatives import tables_for
from dalembert.formulations.run import Run
from dalembert.integrators.explicit_rk import ExplicitRungeKutta
from dalembert.integrators.integrator import Integrator
from dalembert.kernels.base import tables as T
from dalembert.run.ending import Ending

_ROUNDING = 1e-14  # of constraints, after which Newton's method would only move the last digits


@dataclass(frozen=True, eq=False)
class Trail:
    """Steps that a run accepted: (N,) times and (N, n) states of the run, the first included."""

    run: Run
    t: Array
    x: Array

    @classmethod
    def of(cls, run: Run, parts: Sequence[tuple[Array, Array]], ending: Ending) -> Trail:
        """Up to where it ended, which an event may have put within a step."""
        t, x = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        before = t < ending.t
        return cls(run, np.append(t[before], ending.t), np.vstack([x[before], ending.state]))


def check_covered(run: Run, integrator: Integrator, formulation: object) -> None:
    """Refuse what has no derivatives."""
    if not isinstance(integrator, ExplicitRungeKutta):
        raise ModelError(
            f"sensitivities with {type(integrator).__name__}: they go with explicit Runge-Kutta methods (DOP853, DormandPrince,"
            " RungeKutta4, Midpoint, Euler) and with Jet, MovingFrame or Minimal"
        )
    name = type(formulation).__name__
    if name not in ("Jet", "MovingFrame", "Minimal"):
        raise ModelError(f"sensitivities with {name}: they go with Jet, MovingFrame or Minimal")


def tangents(trail: Trail, integrator: Integrator, save_t: Array, dx: Array, dF: Array) -> tuple[Array, Array]:
    """Derivatives (len(save_t), n, p) of the states at some times after the start, and (n, p) at the end of the steps.

    dx : (n, p) of the first state;  dF : (len(F), p) of the table
    """
    from dalembert.kernels.base.compiler import JIT

    dt = _moving_ends(trail, dF)
    made = (_Compiled if JIT else _Plain)(trail.run, integrator)
    parts = []
    for first in range(0, dx.shape[1], made.count):
        some = slice(first, first + made.count)
        parts.append(made.replay(trail, save_t, dx[:, some], dF[:, some], dt[:, some]))
    found = np.concatenate(parts, axis=2)
    if not np.isfinite(found).all():
        raise SimulationError("the run has no derivative by all parameters: a root or a norm vanishes in it")
    return found[:-1], found[-1]


def _moving_ends(trail: Trail, dF: Array) -> Array:
    """(N, p) derivatives of the times of the steps: those that end at a breakpoint of a motion go with it, so that no step
    looks across one. Start and end stay."""
    I, F, dt = trail.run.I, trail.run.F, np.zeros((len(trail.t), dF.shape[1]))
    first, count = I[T.STOP_F], I[T.NSTOP]
    for k in range(first, first + count):
        dt[trail.t == F[k]] = dF[k]
    for k in range(first + count, first + count + 2 * I[T.NAGAIN], 2):  # those of periodic motions
        turn = np.round((trail.t - F[k]) / F[k + 1])
        there = trail.t == F[k] + F[k + 1] * turn
        dt[there] = dF[k] + turn[there, None] * dF[k + 1]
    dt[[0, -1]] = 0.0
    return dt


class _Replay(ABC):
    """What both ways share. count : parameters at a time;  kernel : see kernels/time/tangents.py"""

    count: int
    kernel: Any

    def __init__(self, run: Run, integrator: Integrator) -> None:
        from dalembert.kernels.time.stepping import VISIT_KEEP, VISIT_PROJECT, VISIT_RATE

        self.run, tableau = run, integrator.tableau
        self.tableau = (tableau.a, tableau.c, tableau.d)
        at_stages = VISIT_RATE | (0, VISIT_PROJECT, VISIT_PROJECT | VISIT_KEEP)[run.stages]
        self.what = np.array([tableau.stages, tableau.extra, at_stages])
        self.rows = 1 + len(tableau.c) + len(tableau.d) + 4

    @abstractmethod
    def duals(self, values: Array, changes: Array | None = None) -> Any:
        """(n,) numbers with (n, p) derivatives, as kernels take them."""

    @abstractmethod
    def system(self, F: Any, W: Any) -> Any:
        """Tables and workspace, as kernels take them."""

    @abstractmethod
    def tangents_of(self, out: Any, p: int) -> Array:
        """(n, p) derivatives of numbers."""

    def replay(self, trail: Trail, save_t: Array, dx: Array, dF: Array, dt: Array) -> Array:
        """(len(save_t) + 1, n, p)"""
        n, p, status = self.run.state_size, dx.shape[1], T.NEWTON_FAILED
        sizes = np.split(trail.x[:, : self.run.size], [int(self.run.I[T.NQ])], axis=1)
        for tight in (True, False):  # Newton's method once more at every step, where it can
            if status == T.NEWTON_FAILED:
                F = self.run.F.copy()
                if tight:
                    F[T.TOL_POSITION], F[T.TOL_VELOCITY] = (
                        _ROUNDING * max(1.0, np.abs(part).max(initial=0.0)) for part in sizes
                    )
                out = self.duals(np.zeros((len(save_t) + 1) * n))
                status = self.kernel(
                    self.what,
                    np.ascontiguousarray(trail.x),
                    self.duals(trail.t, dt),
                    np.ascontiguousarray(save_t, dtype=float),
                    self.duals(trail.x[0], dx),
                    self.duals(np.zeros(self.rows * n)),
                    out,
                    *self.tableau,
                    self.system(self.duals(F, dF), self.duals(self.run.W)),
                )
        if status != T.OK:
            raise SimulationError(f"the steps of the run could not be repeated for its sensitivities (status {status})")
        return self.tangents_of(out, p).reshape(len(save_t) + 1, n, p)


class _Compiled(_Replay):
    """By compiled kernels."""

    def __init__(self, run: Run, integrator: Integrator) -> None:
        from numba import types

        from dalembert.kernels.base.compiler import bind
        from dalembert.kernels.base.dual_types import COUNT, DUAL, SIZE
        from dalembert.kernels.base.view_types import SYSTEM, system_type
        from dalembert.kernels.time.tangents import replay

        super().__init__(run, integrator)
        self.count, self._size = COUNT, SIZE
        self._I, self._alive = tables_for(run, system_type(DUAL, DUAL))
        v, m = types.float64[::1], types.float64[:, ::1]
        self.kernel = bind(replay, types.int64(types.int64[::1], m, v, v, v, v, v, m, v, m, SYSTEM))

    def duals(self, values: Array, changes: Array | None = None) -> Any:
        made = np.zeros((len(values), self._size))
        made[:, 0] = values
        if changes is not None:
            made[:, 1 : 1 + changes.shape[1]] = changes
        return made.ravel()

    def system(self, F: Array, W: Array) -> Any:
        from dalembert.kernels.base.views import System

        return System(self._I, F, W)

    def tangents_of(self, out: Array, p: int) -> Array:
        return out.reshape(-1, self._size)[:, 1 : 1 + p]


class _Plain(_Replay):
    """The same in plain Python, all parameters at once."""

    count = 1 << 30

    def __init__(self, run: Run, integrator: Integrator) -> None:
        from dalembert.kernels.time.tangents import replay

        super().__init__(run, integrator)
        self._callback = run.callbacks.compiled_for(None)
        self.kernel = np.errstate(all="ignore")(replay)

    def duals(self, values: Array, changes: Array | None = None) -> Any:
        from dalembert.kernels.base.dual import Dual

        made = np.empty(len(values), dtype=object)
        for i, value in enumerate(np.asarray(values)):
            made[i] = Dual(value, changes[i]) if changes is not None and changes[i].any() else value
        return made

    def system(self, F: Any, W: Any) -> Any:
        from dalembert.kernels.base.views import System

        return System(self.run.I, F, W, self._callback)

    def tangents_of(self, out: Any, p: int) -> Array:
        from dalembert.kernels.base.dual import Dual

        return np.array([v.tangents if isinstance(v, Dual) else np.zeros(p) for v in out])
