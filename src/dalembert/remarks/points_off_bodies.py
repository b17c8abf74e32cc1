"""Points of forces and markers that lie off their body, and would lie on it in other axes: one sentence for each.

A body is where it is drawn, and as far around its centre as its joints are. Points may be off it, on arms that are not drawn;
but hardly where the same numbers, as world coordinates in place of body axes or the other way round, are on it, nor far beside
a bar, where forces are loads at its ends or along it; ends of springs may be as far off it as it is long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model.elements import GROUND, Body, Joint
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.remarks.pins import AT, OFF, THIN

OUTSIDE, ON = 2.0, 1.1  # distances of a point from its body's centre, over that of the farthest joint
WIDE = 0.25  # how far it is off what is drawn and no bar, over its size: much may lie in it by chance
BESIDE = 0.2  # how far a force is beside a bar that may have been meant to act on it, over its length
KEYS = {"at": "point", "between": "points", "point": "points"}  # arguments of verbs: in world coordinates; in body axes


def points_in_other_axes(model: Model) -> Iterator[str]:
    """Those of markers, and those that force elements push or pull at."""
    given = [(f"marker {marker.name!r}", marker.verb, marker.body, marker.point) for marker in model.markers]
    given += [(f"{force.noun} {force.name!r}", force.verb, body, p) for force in model.forces for body, p in force.places()]
    for owner, verb, name, p in given:
        reach = max((float(np.linalg.norm(at)) for at in joint_points(model.joints, name)), default=0.0)
        far = BESIDE if verb == "force" else 1.0
        where, of_world = ("", False) if name == GROUND else _misread(model.body(name), reach, p)
        known = signature(getattr(Model, f"add_{verb}")).parameters if where else ()
        key = next((key for key in KEYS if key in known), "")  # cables have none
        if where and of_world:
            fix = f"give {key}=" if key else "give it in axes of the body"
            yield f"{owner} is {where}: its point may be one of the world, then {fix}"
        elif where and key:
            yield f"{owner} is {where}: its point may be one in axes of the body, then do not give {key}= but {KEYS[key]}="
        elif verb != "marker" and not where and name != GROUND and (off := _beside(model.body(name), reach, p, far)):
            yield f"{owner} is {off:.3g} m off body {name!r} as it is drawn: was its point meant to be on the bar?"


def markers_off_bodies(model: Model) -> Iterator[str]:
    """Markers far beside the bar that their body is drawn as: a note, as points of couplers are there."""
    for marker in model.markers:
        if marker.body == GROUND or any(text.startswith(f"marker {marker.name!r} ") for text in points_in_other_axes(model)):
            continue
        body = model.body(marker.body)
        reach = max((float(np.linalg.norm(at)) for at in joint_points(model.joints, body.name)), default=0.0)
        if off := _beside(body, reach, marker.point, BESIDE):
            is_off = f"marker {marker.name!r} is {off:.3g} m off body {body.name!r} as it is drawn"
            yield f"{is_off}; at= is in the world, point= in axes of the body"


def _misread(body: Body, reach: float, p: Array) -> tuple[str, bool]:
    """Where a point off its body is, and whether it would be on it as one of the world, else in its axes; "" if in neither.

    reach : distance of the farthest joint from the centre
    """
    far, drawn = float(np.linalg.norm(p)), drawn_as(body.shape)
    for of_world, q in ((True, body.matrix.T @ (p - body.position)), (False, world_point(body, p))):
        if drawn is not None and far > ON * reach and drawn.off(p) > drawn.limit and drawn.off(q) <= AT * drawn.size:
            return f"{drawn.off(p):.3g} m off body {body.name!r} as it is drawn", of_world
        if 0.0 < OUTSIDE * reach < far and np.linalg.norm(q) <= ON * reach:
            return f"{far:.3g} m from the centre of {body.name!r}, whose joints are within {reach:.3g} m", of_world
    return "", False


def _beside(body: Body, reach: float, p: Array, far: float) -> float:
    """How far a point is off a bar, where that is so far, over its length, and no joint is as far from the centre; else 0."""
    drawn = drawn_as(body.shape)
    if drawn is None or not drawn.thin or np.linalg.norm(p) <= ON * reach or drawn.off(p) <= far * drawn.size:
        return 0.0
    return drawn.off(p)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A box or a round bar about the centre of its body: half its lengths along body axes; axis of a round one, or -1."""

    half: Array
    axis: int

    @property
    def size(self) -> float:
        return 2.0 * float(self.half.max())

    @property
    def limit(self) -> float:
        """How far a point is off it that may have been meant to be on it."""
        return (OFF if self.thin else WIDE) * self.size

    @property
    def thin(self) -> bool:
        """Whether it is drawn like a link."""
        return float(np.sort(self.half)[1]) <= THIN * self.size

    def off(self, p: Array) -> float:
        """Distance of a point, 0 inside."""
        beyond = np.abs(p) - self.half
        if self.axis >= 0:
            across = np.delete(p, self.axis)
            beyond = np.array([beyond[self.axis], np.linalg.norm(across) - np.delete(self.half, self.axis)[0]])
        return float(np.linalg.norm(np.maximum(beyond, 0.0)))


def drawn_as(shape: Mapping[str, Any] | None) -> Drawn | None:
    if shape is None or {"position", "rotation", "fixed"} & shape.keys():
        return None
    match shape:
        case {"type": "box", "size": size}:
            return Drawn(0.5 * np.asarray(size, dtype=float), -1)
        case {"type": "rod" | "cylinder", "length": length}:
            half = np.full(3, float(shape.get("radius", 0.0)))
            axis = "xyz".index(str(shape.get("axis", "z")))
            half[axis] = 0.5 * length
            return Drawn(half, axis)
    return None


def joint_points(joints: tuple[Joint, ...], body: str) -> Iterator[Array]:
    for joint in joints:
        if joint.first == body:
            yield joint.p_i
        if joint.second == body:
            yield joint.p_j
