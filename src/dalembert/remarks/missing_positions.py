"""Bodies far from all that they are joined to: their position may have been left out, or mistyped. One sentence for each.

Bobs may well be far from their pivot, alone or with what drives them beside it, and bodies that are drawn small in the middle
of what they hold. Doubted is, at the origin, what joins two bodies or one and the ground, all at one place, which is not where
it is drawn; elsewhere, what slides in the ground, so that it does not swing, and is farther from its pins than all the rest of
the mechanism is large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.wrong_axes import shown_axis
from dalembert.model.elements import GROUND, Body
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.remarks.pins import PINS
from dalembert.remarks.points_off_bodies import drawn_as, joint_points

FAR = 2.0  # from the surface of a body to the nearest of its joints, over its size
TOGETHER = 0.5  # how far its joints are from each other, over the distance of the nearest from its centre


def positions_left_out(model: Model) -> Iterator[str]:
    for body in model.bodies:
        own = [joint for joint in model.joints if body.name in (joint.first, joint.second) and not joint.members]
        partners = {name for joint in own for name in (joint.first, joint.second) if name != body.name}
        pins = tuple(joint for joint in own if joint.type in PINS)
        if len(partners) < 2 or not pins:
            continue
        points, size = np.array([*joint_points(tuple(own), body.name)]), _size(body.shape)
        near, spread = np.linalg.norm(points, axis=1).min(), np.linalg.norm(np.ptp(points, axis=0))
        at = shown_axis(world_point(body, points[0]))
        if not body.position.any() and _is_far(near, size) and spread < TOGETHER * near:
            words = f"body {body.name!r} is at the origin and its joints {near:.3g} m away, near {at}"
            yield f"{words}, while it is {size:.3g} m large: its position may have been left out"
        elif body.position.any() and any(joint.type == "prismatic" and GROUND in joint.bodies for joint in own):
            near = min(float(np.linalg.norm(p)) for p in joint_points(pins, body.name))
            if _is_far(near, size) and near > (rest := _extent(model, body)):
                words = f"body {body.name!r} is {near:.3g} m away from its pin {pins[0].name!r}"
                yield f"{words}, while it is {size:.3g} m large and all the rest {rest:.3g} m: see its position"


def _is_far(near: float, size: float) -> bool:
    return size > 0.0 and near - 0.5 * size > FAR * size


def _extent(model: Model, body: Body) -> float:
    """How far other bodies and all joints are from each other [m]."""
    points: list[Array] = [other.position for other in model.bodies if other is not body]
    for joint in (joint for joint in model.joints if not joint.coupled and not joint.members):
        name, p = (joint.second, joint.p_j) if joint.first == body.name else (joint.first, joint.p_i)
        points.append(world_point(model.body(name), p))
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0)))


def _size(shape: Mapping[str, Any] | None) -> float:
    """Of a box, a cylinder or a sphere about the centre of its body, 0 for others."""
    if shape is not None and shape["type"] == "sphere" and not {"position", "rotation", "fixed"} & shape.keys():
        return 2.0 * float(shape["radius"])
    drawn = drawn_as(shape)
    return 0.0 if drawn is None else drawn.size
