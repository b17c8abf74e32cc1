"""States of one mechanism in the coordinates of another one with the same bodies.

In a plane, places and angles of bodies count from the pose in which a mechanism was assembled (`rotation at beta = 0`), which a
driver or a joint's `coordinate=` changes: the same numbers are other poses there.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import measured
from dalembert.compilation.trajectory import Trajectory
from dalembert.model.rotation import cross


def told_by(mechanism: Mechanism, other: Mechanism, x: Array) -> Array:
    """(nt, nx) states of the other one, both in a plane or both in space; angles of joints that it has not are measured."""
    first = mechanism.nq + mechanism.nu + 1
    found = np.zeros((len(x), len(mechanism.x_0)))
    found[:, :first] = x[:, :first]
    _move_in_plane(mechanism, other, x, found)
    if other.angles == mechanism.angles:
        found[:, first:] = x[:, first : len(mechanism.x_0)]
        return found
    counted = mechanism.x_0[first:]
    for state, theirs in zip(found, x, strict=True):
        state[first:] = counted
        state[first:] = counted = measured(mechanism, state)  # nearest to those before
        for k, key in enumerate(mechanism.angles):
            if key in other.angles:
                state[first + k] = theirs[first + other.angles.index(key)]
    return found


def _move_in_plane(mechanism: Mechanism, other: Mechanism, x: Array, found: Array) -> None:
    mine, theirs = mechanism.plane, other.plane
    if mine is None or theirs is None:
        return
    states, nq = Trajectory(other, np.zeros(len(x)), x), mechanism.nq
    side = float(np.sign(mine.normal @ theirs.normal))
    for b, (name, (_, q, u)) in enumerate(zip(mechanism.body_names, mechanism.body_columns, strict=True), start=1):
        origin, R, _ = mechanism.start_in_plane(b)
        turned = other.start_in_plane(b)[1] @ R.T  # about the normal
        angle = np.arctan2(cross(mine.e1, turned @ mine.e1) @ mine.normal, mine.e1 @ turned @ mine.e1)
        r, v = states.position(name) - origin, states.velocity(name)
        found[:, q : q + 3] = np.column_stack([r @ mine.e1, r @ mine.e2, side * x[:, q + 2] + angle])
        found[:, nq + u : nq + u + 3] = np.column_stack([v @ mine.e1, v @ mine.e2, side * x[:, nq + u + 2]])
