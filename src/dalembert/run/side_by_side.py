"""Runs side by side: several of them as one run of several times the size, in the lanes of vector registers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.formulations.run import Run
from dalembert.integrators.integrator import Integrator
from dalembert.kernels.base import tables as T

ENOUGH = 64  # runs, for which the lanes' own kernel is worth compiling
SAFETY = 5 / 6  # of the integrator's own, for groups: a step that is rejected in one run is lost to all


@dataclass(frozen=True, eq=False)
class Group(Run):
    """COUNT runs of one structure as one run; component i of run k is component COUNT i + k of the state."""

    @property
    def lanes(self) -> int:
        from dalembert.kernels.base.lanes import COUNT

        return COUNT

    @property
    def size(self) -> int:
        return super().size * self.lanes

    @property
    def state_size(self) -> int:
        return super().state_size * self.lanes

    def gather(self, x: Array) -> Array:
        """(groups, lanes * n) from the first (groups * lanes, n); what is left over belongs to no group."""
        groups, n = len(x) // self.lanes, x.shape[1]
        return x[: groups * self.lanes].reshape(groups, self.lanes, n).swapaxes(1, 2).reshape(groups, -1)

    def lane(self, x: Array, k: int) -> Array:
        """(groups, ..., n) of run k in each group, a view of (groups, ..., lanes * n)"""
        return x.reshape(*x.shape[:-1], -1, self.lanes)[..., k]


def tables(F: Array, W: Array) -> tuple[Array, Array]:
    """(groups, ..) constants and workspaces, see kernels/coordinates/tree_lanes.py, from (groups, COUNT, ..) of their runs."""
    own_F, own_W = (
        np.hstack([of_runs.reshape(len(F), -1), np.swapaxes(of_runs, 1, 2).reshape(len(F), -1)]) for of_runs in (F, W)
    )
    return own_F, own_W


def group_of(run: Run, F: Array, integrator: Integrator, count: int) -> Group | None:
    """What runs such as `run` side by side, None where that does not pay or cannot be done: trees, also with cut joints, and
    bodies of even masses, without invariants, user functions, motions and redundant rows; explicit Runge-Kutta steps; forces
    that break at the same times in all.

    F : (1, ..) constants of all runs, or a row for each
    """
    from dalembert.kernels.base.compiler import JIT
    from dalembert.kernels.base.slots import as_system, no_correction
    from dalembert.kernels.formulations.jet import jet
    from dalembert.kernels.formulations.moving_frame import moving_frame

    if not JIT or count < ENOUGH or integrator.loop != "runge_kutta":
        return None
    bodies = run.system is jet and run.project is jet and run.I[T.REFINE] == 0
    if not (bodies or run.system is moving_frame) or run.correct is not no_correction or run.mechanism.functions:
        return None
    if run.I[T.NMOTION] + run.I[T.NTRACED] + run.I[T.NCHOICE] > 0:
        return None
    from dalembert.kernels.base.lanes import COUNT
    from dalembert.kernels.coordinates.tree_lanes import closed_lanes, tree_lanes

    stops = F[:, run.I[T.STOP_F] :][:, : run.I[T.NSTOP] + 2 * run.I[T.NAGAIN]]
    if (stops != stops[0]).any():
        return None
    from dalembert.kernels.formulations.jet_lanes import jet_lanes

    system = as_system(jet_lanes if bodies else closed_lanes if run.I[T.M] > 0 else tree_lanes)
    values: dict[str, Any] = {field.name: getattr(run, field.name) for field in fields(Run)}
    (own_F,), (own_W,) = tables(*(np.tile(table, (1, COUNT, 1)) for table in (run.F, run.W)))
    return Group(**values | {"I": run.I.copy(), "F": own_F, "W": own_W, "system": system, "project": system})
