"""What stands still: the floor, the stands of joints on the ground, and the forms on which bodies roll over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.trajectory import Trajectory
from dalembert.model.elements import GROUND, Joint
from dalembert.model.joints import type_of
from dalembert.model.model import Model
from dalembert.model.rotation import matrix_to_quaternion
from dalembert.viewer.fittings import lines_of, tagged_places, travel_of
from dalembert.viewer.framing import upward
from dalembert.viewer.glyphs import RAILS, rail_ends
from dalembert.viewer.layers import passes
from dalembert.viewer.parts import Part, Picture, along_z, between

Setting = tuple[Array, float, Array]  # normal and height of the floor, direction to the camera
Mount = tuple[str, Part, Part, Array]  # whose, cone, the plate that carries it, axis of the hinge at its tip or 0
Support = tuple[str, Part]  # whose: "joint 0" or "force 3"

COLOUR, _LINE = "#8b9099", "#3d434d"
_THIN = 0.01  # where a spring is held, over the size of the mechanism
_SIDES = 16  # directions in which to look for room beside the motion
_LOOKS = 48  # points of a leg, and instants, at which a body may be in its way
_ARMS = 5  # lengths that are tried
_SHAFTS = 0.5 * np.arange(1, 9)  # of a hinge to its mount, over the radius of the plate, that are tried
_ASIDE = 0.6  # of an arm, over what leads behind
_NARROW, _LEAST = 0.35, 0.1  # of an arm beside the motion, most of that and least, over its height
_MOST_ARMS = 8  # more stands than this go straight down, one behind the other


def rolling_parts(model: Model) -> dict[str, list[Part]]:
    """The sphere, disc or ellipsoid on which each body rolls, in body axes."""
    found: dict[str, list[Part]] = {}
    for joint in model.joints:
        form = type_of(joint).form
        if form:
            contact = joint.primitives[0]
            radius, at = contact.offset, contact.p_j
            if form == "sphere":
                part = Part("sphere", (radius,), at)
            elif form == "disc":
                part = Part("cylinder", (radius, 0.06 * radius), at, along_z(contact.a_j))
            else:
                part = Part("ellipsoid", tuple(float(length) for length in contact.a_j), at)
            found.setdefault(joint.second, []).append(part)
    return found


def floor_of(
    motion: Trajectory, pictures: Mapping[str, Picture], points: Array, margin: float, clear: float
) -> tuple[Array, float]:
    """Normal and height of the floor: the plane that bodies roll on, else a level one below everything.

    points : (n, 3) that shall be above it;  margin, clear : how far, and how far what moves [m]
    """
    up = upward(motion.mechanism.model.gravity)
    for joint in motion.mechanism.model.joints:
        normal = joint.E_i[:, 2]
        if type_of(joint).form and joint.first == GROUND and normal @ up > 0.2:
            return normal, float(joint.p_i @ normal)
    lowest = [float((points @ up).min())]
    for body, picture in pictures.items():
        r, R = motion.position(body), motion.rotation(body)
        for part in picture.parts:
            if part.fixed:
                lowest.append(float(part.at @ up - part.reach(part.matrix.T @ up)))
            else:
                heights = (r + R @ part.at) @ up - part.reach(np.einsum("tji,j->ti", R, up) @ part.matrix)
                lowest.append(float(heights.min()) + margin - clear)
    return up, min(lowest) - margin


def mount_of(motion: Trajectory, joint: Joint) -> Array | None:
    """Where the ground's symbol points: up to what stands on the ground, down to what hangs from it."""
    row = type_of(joint)
    if GROUND not in (joint.first, joint.second) or row.slides or row.touches or not row.has_point:
        return None
    moving = joint.second if joint.first == GROUND else joint.first
    up = upward(motion.mechanism.model.gravity)
    return np.asarray(-up if _is_below(motion.position(moving) - _place(joint), up) else up)


def _is_below(arm: Array, up: Array) -> bool:
    """Whether what is at the end of an arm hangs from its start, for most of the time."""
    return float(np.mean(arm @ up)) < -0.3 * float(np.linalg.norm(arm, axis=1).max())


def _place(joint: Joint) -> Array:
    return joint.p_i if joint.first == GROUND else joint.p_j


def mounts(motion: Trajectory, radii: Mapping[str, float], fixed: Sequence[Part], scale: float) -> list[Mount]:
    """The textbook's triangles, cones whose tips are at joints and springs.

    fixed : what is there already; a joint inside needs no mount
    """
    model, up = motion.mechanism.model, upward(motion.mechanism.model.gravity)
    tips = [(f"joint {k}", joint, mount_of(motion, joint)) for k, joint in enumerate(model.joints)]
    ends = [(tag, radii[j.name], _place(j), tip, _axis(j)) for tag, j, tip in tips if tip is not None]
    hung = _hung(motion, up)
    held = [(tag, point) for tag, body, point in tagged_places(model) if body == GROUND]
    ends += [(tag, _THIN * scale, at, -up if tuple(at.tolist()) in hung else up, np.zeros(3)) for tag, at in held]
    found = []
    for tag, r, at, tip, axis in ends:
        if all(part.gap(at) > 0 for part in fixed):
            cone = Part("cone", (1.9 * r, 3.4 * r), at - 1.7 * r * tip, along_z(tip), colour=COLOUR)
            plate = Part("cylinder", (2.6 * r, 0.5 * r), at - 3.6 * r * tip, along_z(tip), colour=COLOUR)
            found.append((tag, cone, plate, axis))
    return found


def _axis(joint: Joint) -> Array:
    return float(joint.type == "revolute") * (joint.E_i if joint.first == GROUND else joint.E_j)[:, 2]


def _hung(motion: Trajectory, up: Array) -> set[tuple[float, ...]]:
    """Points of the ground from which springs and cables hang down."""
    found = set()
    for line in lines_of(motion):
        for (body, point), (other, end) in ((line.start, line.end), (line.end, line.start)):
            if body == GROUND != other and _is_below(motion.point(other, end) - point, up):
                found.add(tuple(point.tolist()))
    return found


def rail_legs(
    motion: Trajectory, pictures: Mapping[str, Picture], joints: Sequence[Joint], radii: Mapping[str, float], setting: Setting
) -> Iterator[Support]:
    """What the rails of the ground stand on: a leg below each end, for one that is upright below its lower end; where another
    body would pass through it, at the end of an arm to behind, as far as a short one helps."""
    normal, floor, direction = setting
    back = _back(normal, direction)
    for k, joint in enumerate(joints):
        if joint.type in RAILS and joint.first == GROUND:
            tag = f"joint {k}"
            others = {name: picture for name, picture in pictures.items() if name != joint.second}
            r, axis = radii[joint.name], joint.E_i[:, 2]
            ends = [joint.p_i + end * axis for end in rail_ends(r, travel_of(motion, joint))]
            if abs(axis @ normal) > 0.7:
                ends = [min(ends, key=lambda end: float(end @ normal))]
            ends = [end for end in ends if end @ normal - floor > 2.0 * r]
            feet = [end - (end @ normal - floor) * normal for end in ends]
            lines = [np.linspace(end - r * normal, foot, _LOOKS) for end, foot in zip(ends, feet, strict=True)]
            ways = (k * 2.4 * r * back for k in range(_ARMS))
            arm = next((way for way in ways if not any(_struck(motion, others, line + way) for line in lines)), 0.0 * back)
            for end, foot in zip(ends, feet, strict=True):
                if arm.any():
                    yield tag, _coloured(between(end, end + arm, 0.4 * r))
                yield tag, _coloured(between(end + arm, foot + arm + 0.4 * r * normal, 0.4 * r))
                yield tag, Part("cylinder", (1.6 * r, 0.5 * r), foot + arm + 0.25 * r * normal, along_z(normal), colour=COLOUR)


def ground_line(points: Array, normal: Array, floor: float, sheet: tuple[Array, float], thick: float) -> Part:
    """The floor as a slab before the sheet behind a mechanism in a plane, as wide and deep as all points (n, 3) of it; seen
    through, it throws no shadow."""
    out, behind = sheet
    along = np.cross(normal, out) / np.linalg.norm(np.cross(normal, out))
    frame = np.column_stack([along, np.cross(normal, along), normal])
    low, high = (points @ frame).min(axis=0), (points @ frame).max(axis=0)
    edge = 0.04 * (high[0] - low[0])
    size = (float(high[0] - low[0] + 2.0 * edge), float((points @ out).max() - behind), thick)
    middle = 0.5 * (low + high) @ frame.T
    at = (
        middle + (0.5 * ((points @ out).max() + behind) - middle @ out) * out + (floor - 0.5 * thick - middle @ normal) * normal
    )
    return Part("box", size, at, matrix_to_quaternion(frame), colour=_LINE, clear=True)


def stands(
    motion: Trajectory,
    pictures: Mapping[str, Picture],
    mounted: Sequence[Mount],
    points: Array,
    setting: Setting,
    guides: Sequence[tuple[str, Part]] = (),
    upright: bool = False,
) -> Iterator[Support]:
    """Mounts, and the posts that hold those above the floor; strokes of a ceiling where a post would be seen before or behind
    a guide or, below what hangs, a body that moves. Where something moves below one, or hangs from it, that of a hinge
    is a bearing behind it at the end of a shaft, if a short one helps; else the post is at the end of an arm that leads behind
    the motion.

    points : (n, 3) of the whole motion;  guides : rails and bodies on them;  upright : its plane, seen along its normal
    """
    normal, floor, direction = setting
    back = _back(normal, direction)
    deepest, middle, aside = float((points @ back).max()), points.mean(axis=0), np.cross(back, normal)
    moving = [(name, part) for name, picture in pictures.items() for part in picture.parts if not part.fixed]
    passing = [*guides, *moving] if upright else guides
    known: list[Array] = []
    for tag, cone, plate, axis in mounted:
        radius, thick = plate.size
        low, reach = plate.at @ normal - floor < 2.0 * thick, 0.0
        height = float(plate.at @ normal - floor)
        post = Part("box", (radius, radius, height), plate.at - 0.5 * height * normal, along_z(normal))
        hangs = (plate.at - cone.at) @ normal > 0.0
        if not low and passes(motion, passing if hangs else guides, post, direction):
            yield from ((tag, part) for part in (cone, plate, *_hatch(cone, plate, aside)))
            continue
        if not low and len(mounted) <= _MOST_ARMS and not _clear_below(plate, normal, points):
            reach = float(deepest + 1.5 * radius - plate.at @ back)
            tip = cone.at + cone.half[2] * cone.matrix[:, 2]
            ways = np.outer(
                [*_SHAFTS, *-_SHAFTS], radius * (axis if axis @ back > 0.0 else -axis)
            )  # rather away from the camera
            line = np.linspace(tip, tip - (tip @ normal - floor) * normal, _LOOKS)
            below = np.concatenate([line + s * radius * axis for s in (-1.0, -0.5, 0.0, 0.5, 1.0)])
            level = axis.any() and abs(axis @ normal) < 0.5
            way = next((way for way in ways if level and not _struck(motion, pictures, below + way)), None)
            if way is not None:
                yield from ((tag, part) for part in _shaft(tip, way, radius))
                cone, plate = (_upright(part, tip, normal, tip + way) for part in (cone, plate))
                reach = 0.0
        yield from ((tag, cone), (tag, plate))
        if low or any(np.linalg.norm(plate.at - at) < radius for at in known):
            continue
        known.append(plate.at)
        # not straight away from the camera, where an arm would seem a spike on its post
        arm = reach * (back + _ASIDE * np.copysign(1.0, (plate.at - middle) @ aside) * aside)
        left, right = -float(((points - plate.at) @ aside).min()), float(((points - plate.at) @ aside).max())
        if reach > 0.0 and min(left, right) < _NARROW * height:
            arm = (-1.0 if left < right else 1.0) * max(min(left, right) + 2.0 * radius, _LEAST * height) * aside
        behind = plate.at + arm
        foot = behind - (behind @ normal - floor) * normal
        if arm.any():
            yield tag, _coloured(between(plate.at, behind, 0.22 * radius))
        yield tag, _coloured(between(behind, foot + 0.22 * radius * normal, 0.22 * radius))
        yield tag, Part("cylinder", (radius, thick), foot + 0.5 * thick * normal, along_z(normal), colour=COLOUR)


def _hatch(cone: Part, plate: Part, aside: Array) -> Iterator[Part]:
    """The strokes of what is held by a wall or a ceiling, beyond its plate."""
    radius, thick = plate.size
    out = plate.matrix[:, 2] * np.copysign(1.0, (plate.at - cone.at) @ plate.matrix[:, 2])
    for k in np.linspace(-0.8, 0.8, 5):
        start = plate.at + 0.5 * thick * out + k * radius * aside
        yield _coloured(between(start, start + 0.35 * radius * (out - aside), 0.07 * radius))


def _shaft(start: Array, way: Array, radius: float) -> Iterator[Part]:
    """What turns with a hinge, and the bearing in which it ends; radius : of the plate of its mount"""
    along = way / np.linalg.norm(way)
    yield _coloured(between(start, start + way + 0.5 * radius * along, 0.22 * radius))
    yield Part("cylinder", (0.46 * radius, 0.75 * radius), start + way, along_z(along), colour=COLOUR)


def _upright(part: Part, tip: Array, normal: Array, place: Array) -> Part:
    """A part of a mount, whatever that hangs from, as far below a place as it is from its tip."""
    return replace(part, at=place - float(np.linalg.norm(part.at - tip)) * normal, turn=along_z(normal))


def _back(normal: Array, direction: Array) -> Array:
    """Away from the camera, along the floor."""
    back = -(direction - (direction @ normal) * normal)
    return np.asarray(back / max(float(np.linalg.norm(back)), 1e-300))


def _struck(motion: Trajectory, pictures: Mapping[str, Picture], line: Array) -> bool:
    """Whether a body passes through points of a line, (n, 3), as far as some instants tell."""
    some = np.unique(np.linspace(0, len(motion.t) - 1, _LOOKS).astype(int))
    for body, picture in pictures.items():
        r, R = motion.position(body)[some], motion.rotation(body)[some]
        seen = np.einsum("tji,tnj->tni", R, line - r[:, None])
        if any(np.any(np.all(np.abs((seen - p.at) @ p.matrix) < p.half, axis=2)) for p in picture.parts if not p.fixed):
            return True
    return False


def _clear_below(plate: Part, normal: Array, points: Array) -> bool:
    """Whether all that is lower than a plate stays to one side of it."""
    below = points[(points - plate.at) @ normal < 0.0] - plate.at
    side = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    side /= np.linalg.norm(side)
    turns = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
    sides = np.outer(np.cos(turns), side) + np.outer(np.sin(turns), np.cross(normal, side))
    return not len(below) or float((below @ sides.T).min(axis=0).max()) > 1.5 * float(plate.size[0])


def _coloured(part: Part) -> Part:
    return Part(part.kind, part.size, part.at, part.turn, colour=COLOUR)
