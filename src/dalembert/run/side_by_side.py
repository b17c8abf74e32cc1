"""Runs of a tree side by side: several of them as one run of several times the size, in the lanes of vector registers."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.formulations.run import Run
from dalembert.integrators.integrator import Integrator
from dalembert.kernels.base import tables as T

ENOUGH = 64  # runs, for which the lanes' own kernel is worth compiling


@dataclass(frozen=True, eq=False)
class Group(Run):
    """`lanes` runs of one model as one run; component i of run k is component lanes * i + k of the state."""

    lanes: int = 1

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


def group_of(run: Run, integrator: Integrator, count: int) -> Group | None:
    """What runs `run` side by side, None where that does not pay or cannot be done: trees without cut joints, invariants and
    user functions, explicit Runge-Kutta steps."""
    from dalembert.kernels.base.compiler import JIT
    from dalembert.kernels.base.slots import as_system, no_correction
    from dalembert.kernels.formulations.moving_frame import moving_frame

    if not JIT or count < ENOUGH or integrator.loop != "runge_kutta":
        return None
    if run.system is not moving_frame or run.correct is not no_correction or run.I[T.M] > 0 or run.mechanism.functions:
        return None
    from dalembert.kernels.base.lanes import COUNT
    from dalembert.kernels.coordinates.tree_lanes import tree_lanes

    system = as_system(tree_lanes)
    values: dict[str, Any] = {field.name: getattr(run, field.name) for field in fields(Run)}
    W = np.concatenate([run.W, np.repeat(run.W, COUNT)])
    return Group(**values | {"I": run.I.copy(), "W": W, "system": system, "project": system, "lanes": COUNT})


def shared_steps(integrator: Integrator, lanes: int) -> Integrator:
    """The integrator for groups: the mean square of all errors at 1 / lanes of the tolerance keeps every run within it."""
    return replace(integrator, rtol=integrator.rtol / lanes**0.5, atol=integrator.atol / lanes**0.5)
