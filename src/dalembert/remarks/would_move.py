"""Which slide, turned by a right angle, or which joint with the ground, on the body that is there, lets a mechanism in a plane
move that is over-constrained as it is written, all of it as its drivers say. One sentence for each.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.assembly import assembled_from, assembly_tables
from dalembert.compilation.compile import compile
from dalembert.compilation.wrong_axes import shown_axis
from dalembert.errors import DalembertError
from dalembert.model.elements import GROUND, Body, Joint
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.model.plane import InPlane
from dalembert.remarks.points_off_bodies import drawn_as

MANY = 20  # joints above which none is tried


def would_move(model: Model, t_0: float) -> Iterator[str]:
    if model.plane is None or not model.drivers or len(model.joints) > MANY:
        return
    n, driven = InPlane(model.plane).normal, {driver.joint for driver in model.drivers}
    joints = [joint for joint in model.joints if joint.type in ("revolute", "prismatic") and joint.name not in driven]
    for joint in (joint for joint in joints if joint.type == "prismatic"):
        axis = np.cross(n, _axis(model, joint))
        axis = axis * np.sign(axis[int(np.argmax(np.abs(axis)))])
        if _moves(model, t_0, joint, joint.bodies, axis):
            yield f"with the axis {shown_axis(axis, model.plane)} of {joint.name!r} it would move"
    for joint in (joint for joint in joints if GROUND in joint.bodies):
        point = world_point(model.body(joint.first), joint.p_i)
        for body in (body for body in model.bodies if body.name not in joint.bodies and _is_at(body, point)):
            bodies = tuple(body.name if name == GROUND else name for name in joint.bodies)
            if _moves(model, t_0, joint, bodies, _axis(model, joint)):
                yield f"with {body.name!r} in place of the ground in {joint.name!r} it would move"


def _is_at(body: Body, point: Array) -> bool:
    """Whether it is drawn at a point of the world."""
    drawn = drawn_as(body.shape)
    return drawn is not None and drawn.off(body.matrix.T @ (point - body.position)) <= drawn.limit


def _axis(model: Model, joint: Joint) -> Array:
    return np.asarray(model.body(joint.first).matrix @ joint.E_i[:, 2])


def _moves(model: Model, t_0: float, joint: Joint, bodies: tuple[str, ...], axis: Array) -> bool:
    """Whether it has a start with one joint changed, and its drivers move all of it."""
    other, point = model.copy(), world_point(model.body(joint.first), joint.p_i)
    del other._elements[joint.name]
    try:
        verb = getattr(other, f"add_{joint.type}")
        verb(joint.name, *bodies, point=point, axis=axis, coordinate=joint.coordinate, rate=joint.rate)
        assembled_from(*assembly_tables(other, t_0))
        return compile(other).degrees_of_freedom == 0
    except DalembertError:
        return False
