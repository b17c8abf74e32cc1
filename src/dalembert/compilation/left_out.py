"""Bodies at the origin, far from all that they are joined to: their position may have been left out. One sentence for each.

Bobs may well be far from their pivot, alone, and bodies that are drawn small in the middle of what they hold. Doubted is what
joins two bodies or one and the ground, all at one place, which is not where it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dalembert.compilation.pins import PINS
from dalembert.compilation.points import drawn_as, joint_points
from dalembert.compilation.wrong_axes import shown_axis
from dalembert.model.frames import world_point
from dalembert.model.model import Model

FAR = 2.0  # from the surface of a body to the nearest of its joints, over its size
TOGETHER = 0.5  # how far its joints are from each other, over the distance of the nearest from its centre


def positions_left_out(model: Model) -> Iterator[str]:
    for body in model.bodies:
        own = [joint for joint in model.joints if body.name in (joint.first, joint.second) and not joint.members]
        partners = {name for joint in own for name in (joint.first, joint.second) if name != body.name}
        if body.position.any() or len(partners) < 2 or not any(joint.type in PINS for joint in own):
            continue
        points, size = np.array([*joint_points(tuple(own), body.name)]), _size(body.shape)
        near, spread = np.linalg.norm(points, axis=1).min(), np.linalg.norm(np.ptp(points, axis=0))
        if size > 0.0 and near - 0.5 * size > FAR * size and spread < TOGETHER * near:
            at = shown_axis(world_point(body, points[0]))
            words = f"body {body.name!r} is at the origin and its joints {near:.3g} m away, near {at}"
            yield f"{words}, while it is {size:.3g} m large: its position may have been left out"


def _size(shape: Mapping[str, Any] | None) -> float:
    """Of a box, a cylinder or a sphere about the centre of its body, 0 for others."""
    if shape is not None and shape["type"] == "sphere" and not {"position", "rotation", "fixed"} & shape.keys():
        return 2.0 * float(shape["radius"])
    drawn = drawn_as(shape)
    return 0.0 if drawn is None else drawn.size
