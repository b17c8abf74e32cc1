"""One integration in compiled chunks: what simulate drives and dense output reuses."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.formulations.run import Run
from dalembert.integrators.integrator import Integrator
from dalembert.kernels.base import tables as T
from dalembert.run.watched import Watched

Array = npt.NDArray[np.float64]

LOOKS = 2000  # looks at a user's functions of time in a run, at least: a force that acts longer than two of them is seen


@dataclass(frozen=True)
class StageWork:
    """Implicit steps solved, by Newton's method of these, iterations in all and at most, Jacobian matrices."""

    solves: int
    newton: int
    iterations: int
    most: int
    jacobians: int


class Advance:
    """The state of an integration between chunks.

    t, x : where it stands;  accepted, rejected : steps so far;  saved() : states stored since the last call
    kernel : the compiled time loop;  fresh : what it keeps between chunks, as at the start
    save_at : increasing times to save at, or None to save every accepted step
    watched : takes steps beside the times of save_at, None for none
    """

    watched: Watched | None = None
    cpu_time: float = 0.0  # spent in the compiled loop [s]

    def __init__(self, run: Run, integrator: Integrator, t_0: float, x_0: Array, t_end: float, save_at: Array | None) -> None:
        from dalembert.kernels.time import stepping as rk

        tableau = self._tableau = integrator.tableau
        self.run, self.integrator, self.t_end = run, integrator, t_end
        self.kernel = integrator.compiled_loop()
        self.x, self.x_old = x_0.copy(), x_0.copy()
        n = len(x_0)
        self._work = integrator.workspace(run)
        self._save_at = np.zeros(0) if save_at is None else np.ascontiguousarray(save_at, dtype=float)
        solver, stage_tolerance = integrator.stage_settings
        self._settings_i = np.zeros(rk.N_SETTINGS_I, dtype=np.int64)
        self._settings_i[rk.R_STAGES] = tableau.stages
        self._settings_i[rk.R_ERROR] = integrator.error_law
        self._settings_i[rk.R_EXTRA] = tableau.extra
        self._settings_i[rk.R_ORDER] = tableau.error_order
        self._settings_i[rk.R_NQU] = max(run.size, 1)  # welded bodies have no coordinates: then the external work is watched
        self._settings_i[rk.R_EVERY] = int(save_at is None)
        self._settings_i[rk.R_VISIT] = rk.VISIT_RATE | (0, rk.VISIT_PROJECT, rk.VISIT_PROJECT | rk.VISIT_KEEP)[run.stages]
        self._settings_i[rk.R_CONTROL] = int(integrator.adaptive)
        self._settings_i[rk.R_SOLVER] = solver
        span = t_end - t_0
        self._settings_f = np.array(
            [
                integrator.rtol,
                integrator.atol,
                integrator.safety,
                integrator.factor_min,
                integrator.factor_max,
                min(integrator.max_step, span),
                1e-14 * max(abs(t_0), abs(t_end)),
                stage_tolerance,
                integrator.step or 0.0,
                t_0,
                t_end / LOOKS if run.callbacks.of_time else np.inf,
            ]
        )
        self._state_i = np.zeros(rk.N_STATE_I, dtype=np.int64)
        self._state_f = np.zeros(rk.N_STATE_F)
        self._state_f[rk.C_H_SMALLEST] = np.inf
        self._state_f[rk.C_T] = t_0
        self._state_f[rk.C_FACMAX] = integrator.factor_max
        self._rk: Any = rk
        self._out_t, self._out_x = np.zeros(0), np.zeros((0, n))
        self._state_f[rk.C_H] = integrator.step or integrator.first_step or 0.0
        self.fresh = self._state_i.copy(), self._state_f.copy()
        if self._state_f[rk.C_H] == 0.0:
            order, spare, view = tableau.error_order, np.zeros((3, n)), run.view
            arguments = t_0, self.x, spare, max(run.size, 1), order, span, self._settings_f, view
            h = self.call(rk.first_step, *arguments, failed=1e-6)
            self._state_f[rk.C_H] = min(h, integrator.max_step)

    @property
    def settings(self) -> tuple[npt.NDArray[np.int64], Array]:
        """What the time loop is told, whole numbers and real ones."""
        return self._settings_i, self._settings_f

    def at(self, run: Run, x: Array, state_i: npt.NDArray[np.int64], state_f: Array) -> Advance:
        """The same integration of another run, as it stands."""
        other = copy(self)
        other.run, other.x, other._state_i, other._state_f = run, x, state_i, state_f
        return other

    @property
    def t(self) -> float:
        return float(self._state_f[self._rk.C_T])

    @property
    def state(self) -> Array:
        """Where it stands, as a state of the mechanism."""
        return np.array(self.run.to_absolute(self.x[None])[0])

    @property
    def step_size(self) -> float:
        """The last accepted step [s]."""
        return float(self._state_f[self._rk.C_H_DONE])

    @property
    def step_range(self) -> tuple[float, float]:
        """Smallest and largest accepted step [s]; the last one, cut to end on time, does not count as smallest."""
        largest = float(self._state_f[self._rk.C_H_LARGEST])
        return min(float(self._state_f[self._rk.C_H_SMALLEST]), largest), largest

    @property
    def t_old(self) -> float:
        """Where the last accepted step began."""
        return float(self._state_f[self._rk.C_T_OLD])

    def keep_interpolant(self, kept: bool) -> None:
        """Whether every step leaves its dense output for `inside`."""
        self._settings_i[self._rk.R_DENSE] = int(kept)

    def inside(self, t: float) -> Array:
        """The run's state at a time within the last step, by its dense output, as it is saved but not projected."""
        dense, top = self._work[1], 2 + len(self._tableau.d)
        theta = (t - self.t_old) / float(self._state_f[self._rk.C_H_DONE])
        x = np.zeros_like(self.x)
        for k in range(top, -1, -1):
            x = (x + dense[k]) * (theta if k % 2 == 0 else 1.0 - theta)
        return np.asarray(self.x_old + x)

    @property
    def accepted(self) -> int:
        return int(self._state_i[self._rk.D_ACCEPTED])

    @property
    def rejected(self) -> int:
        return int(self._state_i[self._rk.D_REJECTED])

    @property
    def refused(self) -> int:
        """Rejected steps whose cause was not the error estimate but a failed projection or a non-finite value."""
        return int(self._state_i[self._rk.D_FAILED_PROJECTIONS])

    @property
    def rounded(self) -> tuple[int, float]:
        """Steps whose error estimate was rounding of the rates; the largest, in tolerances."""
        return int(self._state_i[self._rk.D_ROUNDED]), float(self._state_f[self._rk.C_ROUNDED])

    @property
    def contraction(self) -> float:
        """Factor by which the last iteration on implicit stages changed their error."""
        return float(self._state_f[self._rk.C_CONTRACTION])

    @property
    def stage_work(self) -> StageWork:
        """What solving the implicit stages took."""
        rk, count = self._rk, self._state_i
        return StageWork(
            int(count[rk.D_SOLVES]),
            int(count[rk.D_NEWTON]),
            int(count[rk.D_ITERATIONS]),
            int(count[rk.D_ITERATIONS_MAX]),
            int(count[rk.D_JACOBIANS]),
        )

    def call(self, kernel: Any, *arguments: Any, failed: float = T.CALLBACK_FAILED) -> Any:
        """What a kernel returns. Kernels raise nothing, so what they let through comes from a compiled user function."""
        try:
            return kernel(*arguments)
        except Exception as problem:
            name = self.run.callbacks.unfinished(self.run.I, self.run.W)
            if name is None:
                raise
            self.run.callbacks.error = (name, problem)
            return failed

    def steps(self, count: int, t_limit: float | None = None) -> int:
        """Up to `count` accepted steps, not beyond t_limit; status (TOO_MANY_STEPS: count reached)."""
        run, tableau = self.run, self._tableau
        waiting = int(self._state_i[self._rk.D_SAVED])
        room = waiting + count if self._settings_i[self._rk.R_EVERY] else len(self._save_at)
        if self.watched is not None:
            room += waiting + self.watched.room(count)
            self._settings_i[self._rk.R_WATCH] = self.watched.stride
        if len(self._out_t) < room:
            t, x = np.zeros(room), np.zeros((room, len(self.x)))
            t[:waiting], x[:waiting] = self._out_t[:waiting], self._out_x[:waiting]
            self._out_t, self._out_x = t, x
        begin = time.process_time()
        status: int = self.call(
            self.kernel, self.t_end if t_limit is None else t_limit,
            self.x, self.x_old, *self._work,
            tableau.a, tableau.c, tableau.e, tableau.d,
            *self.settings, self._state_i, self._state_f,
            self._save_at, self._out_t, self._out_x, count, run.view,
        )  # fmt: skip
        self.cpu_time += time.process_time() - begin
        return status

    def saved(self) -> tuple[Array, Array]:
        """Times and states of the run saved since the last call."""
        k = int(self._state_i[self._rk.D_SAVED])
        self._state_i[self._rk.D_SAVED] = 0
        t, x = self._out_t[:k].copy(), self._out_x[:k].copy()
        if self.watched is None:
            return t, x
        asked = np.isin(t, self._save_at)
        self.watched.add(t[~asked], x[~asked])
        return t[asked], x[asked]
