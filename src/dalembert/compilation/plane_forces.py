"""What planar coordinates leave out: forces of users that leave the plane, and reactions across it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dalembert.compilation.trajectory import Trajectory, apply
from dalembert.errors import ModelError
from dalembert.model.elements import PointForce, Torque
from dalembert.model.serialise import MissingFunction
from dalembert.model.validation import argument_count

if TYPE_CHECKING:
    from dalembert.compilation.mechanism import Mechanism

Array = npt.NDArray[np.float64]

_SLACK = 1e-9  # as in planarity.py


def leaving_plane(states: Trajectory) -> Iterator[tuple[str, Array]]:
    """Name of each force or torque given as a function, and (nt,) what of it leaves the plane [N] or [N m]."""
    plane = states.mechanism.plane
    assert plane is not None
    n = plane.normal
    for force in states.mechanism.functions:
        values = _values(states, force)
        along = values @ n
        out = np.abs(along) if isinstance(force, PointForce) else np.linalg.norm(values - along[:, None] * n, axis=1)
        yield force.name, np.where(out > _SLACK * (1.0 + np.linalg.norm(values, axis=1)), out, 0.0)


def _values(states: Trajectory, force: PointForce | Torque) -> Array:
    """(nt, 3) values of a user's function, world axes."""
    point: Any = force.point if isinstance(force, PointForce) else np.zeros(3)
    function: Any = force.force if isinstance(force, PointForce) else force.torque
    if isinstance(function, MissingFunction):
        return np.zeros((len(states.t), 3))
    R = states.rotation(force.body)
    if argument_count(function) == 1:
        values = np.array([function(float(t)) for t in states.t], dtype=float)
    else:
        r, v, w = states.point(force.body, point), states.point_velocity(force.body, point), states.angular_velocity(force.body)
        rows = zip(states.t, r, v, R, w, strict=True)
        values = np.array([function(float(t), *(np.ascontiguousarray(a) for a in row)) for t, *row in rows], dtype=float)
    return apply(R, values) if force.frame == "body" else values


def check_functions(mechanism: Mechanism) -> None:
    """Refuse a function that leaves the plane at the start, as constants are refused."""
    if mechanism.plane is None or not mechanism.functions:
        return
    start = Trajectory(mechanism, np.zeros(1), mechanism.x_0[None])
    for name, out in leaving_plane(start):
        if out[0] > 0:
            shown = ", ".join(f"{v:.4g}" for v in mechanism.plane.normal)
            raise ModelError(f"{name!r} leaves the plane with normal ({shown}) at t = 0; use coordinates='absolute'")
