"""States of one mechanism in the coordinates of another one with the same bodies.

In a plane, places and angles of bodies count from the pose in which a mechanism was assembled (`rotation at beta = 0`), which a
driver or a joint's `coordinate=` changes: the same numbers are other poses there. From space into a plane goes what is in it.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import measured
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T

_BESIDE = 1e-6  # of places and velocities, or 1 [m, m/s, rad/s]: how far a body may be beside a plane that it is in


def told_by(mechanism: Mechanism, other: Mechanism, x: Array) -> Array:
    """(nt, nx) states of the other one; angles of joints that it has not are measured."""
    first, theirs = mechanism.nq + mechanism.nu, other.nq + other.nu
    states, found = Trajectory(other, np.zeros(len(x)), x), np.zeros((len(x), len(mechanism.x_0)))
    if mechanism.plane is not None:
        _in_plane(mechanism, states, found)
    elif other.plane is not None:
        _in_space(mechanism, states, found)
    else:
        found[:, :first] = x[:, :first]
    found[:, first] = x[:, theirs]  # external work
    first, theirs = first + 1, theirs + 1
    if other.angles == mechanism.angles:
        found[:, first:] = x[:, theirs : len(other.x_0)]
        return found
    counted = mechanism.x_0[first:]
    for state, known in zip(found, x, strict=True):
        state[first:] = counted
        state[first:] = counted = measured(mechanism, state)  # nearest to those before
        for k, key in enumerate(mechanism.angles):
            if key in other.angles:
                state[first + k] = known[theirs + other.angles.index(key)]
    return found


def _in_plane(mechanism: Mechanism, states: Trajectory, found: Array) -> None:
    plane, nq, other = mechanism.plane, mechanism.nq, states.mechanism
    assert plane is not None
    side = None if other.plane is None else float(np.sign(plane.normal @ other.plane.normal))
    for b, (name, (_, q, u)) in enumerate(zip(mechanism.body_names, mechanism.body_columns, strict=True), start=1):
        origin, R_0, _ = mechanism.start_in_plane(b)
        r, v, w = states.position(name) - origin, states.velocity(name), states.angular_velocity(name)
        # angles about the normal; those that count turns go on counting
        start = states.rotation(name) if side is None else other.start_in_plane(b)[1]
        turned = start @ R_0.T @ plane.e1
        angle = np.arctan2(turned @ plane.e2, turned @ plane.e1)
        if side is not None:
            angle = side * states.x[:, other.body_columns[b - 1][1] + 2] + angle
        found[:, q : q + 3] = np.column_stack([r @ plane.e1, r @ plane.e2, angle])
        found[:, nq + u : nq + u + 3] = np.column_stack([v @ plane.e1, v @ plane.e2, w @ plane.normal])
    _refuse_beside(mechanism, states, found)


def _in_space(mechanism: Mechanism, states: Trajectory, found: Array) -> None:
    for name, (kind, q, u) in zip(mechanism.body_names, mechanism.body_columns, strict=True):
        u += mechanism.nq
        found[:, q : q + 3], found[:, u : u + 3] = states.position(name), states.velocity(name)
        if kind == T.RIGID:
            found[:, q + 3 : q + 7], found[:, u + 3 : u + 6] = states.quaternion(name), states.angular_velocity(name, "body")


def _refuse_beside(mechanism: Mechanism, states: Trajectory, found: Array) -> None:
    """The poses and velocities in the plane must be those that were given."""
    made = Trajectory(mechanism, states.t, found)
    for name in mechanism.body_names:
        for what in ("position", "rotation", "velocity", "angular_velocity"):
            there, here = getattr(states, what)(name), getattr(made, what)(name)
            if np.abs(there - here).max(initial=0.0) > _BESIDE * max(1.0, np.abs(there).max(initial=0.0)):
                raise ModelError(
                    f"body {name!r} is beside the plane in the state that was given: its {what.replace('_', ' ')} would be"
                    " another in planar coordinates; take coordinates='absolute'"
                )
