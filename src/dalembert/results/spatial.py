"""Reactions across the plane of a run in planar coordinates: its states once more in absolute ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.compilation.compile import compile
from dalembert.compilation.trajectory import Trajectory
from dalembert.formulations import REFERENCE

if TYPE_CHECKING:
    from dalembert.compilation.mechanism import Mechanism
    from dalembert.results.solution import BodyResult


def spatial_twin(solution: BodyResult) -> BodyResult:
    """The same states in absolute coordinates, where rows across the plane have multipliers too."""

    mechanism: Mechanism = compile(solution.mechanism.model, "absolute")
    nt = len(solution.t)
    q, u = np.zeros((nt, mechanism.nq)), np.zeros((nt, mechanism.nu))
    made = Trajectory(mechanism, solution.t, np.concatenate([q, u], axis=1))
    for body in mechanism.model.bodies:
        _, at, vel = made._columns(made._body(body.name))
        q[:, at : at + 3], u[:, vel : vel + 3] = solution.position(body.name), solution.velocity(body.name)
        if body.kind == "rigid":
            q[:, at + 3 : at + 7] = solution.quaternion(body.name)
            u[:, vel + 3 : vel + 6] = solution.angular_velocity(body.name, "body")
    rest = solution.x[:, solution.mechanism.nq + solution.mechanism.nu :]  # external work and joint angles
    x = np.ascontiguousarray(np.concatenate([q, u, rest], axis=1))
    settings = {**solution.settings, "formulation": {"type": REFERENCE.__name__, "options": {}}}
    return type(solution)(mechanism, solution.t, x, settings=settings)
