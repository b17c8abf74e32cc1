"""What is shown of a motion, for pages and pictures alike: how bodies look, what joins them, what stands around, the camera."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.trajectory import Trajectory
from dalembert.model.elements import GROUND, Joint
from dalembert.model.joints import type_of
from dalembert.model.model import Model
from dalembert.results.sampling import selected, thinned, usable
from dalembert.results.solution import BodyResult
from dalembert.viewer.fittings import (
    Fitting,
    Line,
    anchors_of,
    cam_forms,
    fittings_of,
    held_places,
    lines_of,
    met,
    rail_springs,
    seen_where,
    travel_of,
)
from dalembert.viewer.framing import UPRIGHT, Framing, broad_side, framing, plane_normal, to_viewer, upward
from dalembert.viewer.glyphs import RAILS
from dalembert.viewer.ground import floor_of, ground_line, mounts, rail_legs, rolling_parts, stands
from dalembert.viewer.layers import Layered, Layers, layers_of, seated
from dalembert.viewer.parts import LINK, STEM, Part, Picture, Pin, between, picture_of
from dalembert.viewer.pegs import brought_to_front
from dalembert.viewer.slides import Forms, guided
from dalembert.viewer.wheels import wheel_forms

_THINNEST, _THICKEST = 0.008, 0.03  # radius of a joint's glyph, over the size of the mechanism
_DOT = 0.011  # radius of a marker, over the size of the mechanism
_SHORT = 0.15  # largest radius of a joint's glyph, and of bars at it that have none of their own, over the way to the next one
_THINNER = 0.5  # such bars are at most as much thinner than elsewhere
_SAME = 0.01  # joints as near to each other, over the size of the mechanism, are in one place to the eye
_FAR = 4.0  # ways longer than this, over the size of the mechanism, are followed by the camera
_STRAIGHT, _LEVEL = 1.0 - 1e-6, 0.9  # cosines: looking straight at a plane, not from above
_BEHIND, _LINE = 0.01, 0.008  # of a plane mechanism: its sheet behind it, thickness of the floor, over its size
_RESTS, _ABOVE = 0.002, 0.04  # over the size of the mechanism: what rests on the floor, what swings over it
_SIGNS = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T  # of the corners of a box


@dataclass(frozen=True, eq=False)
class Stage:
    """What bodies look like, what joins them, what stands still around them, the size of the mechanism [m], and where to look
    from.

    holds : of each part of the ground, whose it is: "joint 0", "force 3", "" of none
    follow : the motion goes far, the camera goes with its middle, see `middle_of`
    layers : how far from its place each body is drawn
    """

    pictures: dict[str, Picture]
    layers: Layers
    fittings: tuple[Fitting, ...]
    lines: tuple[Line, ...]
    ground: tuple[Part, ...]
    holds: tuple[str, ...]
    scale: float
    look: Framing
    follow: bool


def outline_of(solution: BodyResult) -> BodyResult:
    """Some states of a run, by which pages and pictures choose what to show and from where."""
    states = usable(solution)
    run: BodyResult = selected(solution, states[thinned(solution.t[states], 200.0 / max(float(np.ptp(solution.t)), 1e-12))])
    return run


def middle_of(motion: Trajectory, normal: Array) -> Array:
    """(nt, 3) way of the bodies' middle along the floor since the start."""
    middle = np.mean([motion.position(body) for body in motion.mechanism.body_names], axis=0)
    way = middle - middle[0]
    return np.asarray(way - np.outer(way @ normal, normal))


def stage_of(run: Trajectory, direction: Array | None = None) -> Stage:
    """direction : to the camera, unit; default: well chosen"""
    model = run.mechanism.model
    rolling = rolling_parts(model) | wheel_forms(model) | cam_forms(model)
    up, across = upward(model.gravity), plane_normal(run)
    joints = _seen_slides(run, rolling)
    anchors = anchors_of(run, joints)
    scale = _size(run, anchors)
    pins, ways = _pins(model), _ways(joints, scale)
    sizes = _sizes(model, ways, scale)
    mass = sum(body.mass for body in model.bodies) or 1.0
    pictures = {
        b.name: picture_of(b, anchors[b.name], sizes[b.name], rolling.get(b.name, ()), pins[b.name], b.mass / mass)
        for b in model.bodies
    }
    radii = {joint.name: _joint_radius(anchors, joint, pictures, ways, scale) for joint in joints}
    drawn = {name: picture.parts for name, picture in pictures.items()}
    joints = [seen_where(joint, drawn, radii[joint.name], scale) for joint in joints]
    layers = Layers() if across is None else layers_of(run, joints, _moving(drawn), to_viewer(across, up), scale)
    motion = Layered(run, layers)
    pictures |= _with_markers(model, pictures, scale)
    seats = [seated(motion, joint, _moving(drawn), radii[joint.name], travel_of(run, joint)) for joint in joints]
    joints = [joint for joint, _ in seats]
    paths = [motion.point(body, point) for body, points in anchors.items() for point in (np.zeros(3), *points)]
    paths += [motion.position(marker.name) for marker in model.markers if marker.body != GROUND]
    points = np.concatenate([*paths, np.reshape(_ground_points(motion), (-1, 3))])
    fixed = [part for picture in pictures.values() for part in picture.parts if part.fixed]
    mounted = mounts(motion, radii, fixed, scale)
    plates = [plate for _, _, plate, _ in mounted]
    paint = dict(zip(motion.mechanism.body_names, colours(len(model.bodies) + len(model.markers)), strict=False))
    fittings = (
        *fittings_of(motion, joints, radii, scale, paint, drawn),
        *(Fitting(f"joint {k}", joints[k].second, part) for k, (_, necks) in enumerate(seats) for part in necks),
    )
    low = _boxes([*plates, *(fitting.part for fitting in fittings if fitting.body == GROUND)])
    held = bool(plates or fixed)
    clear = (_ABOVE if held else _RESTS) * scale
    normal, floor = floor_of(motion, pictures, np.concatenate([points, low]), _RESTS * scale, clear)
    way = middle_of(motion, normal)
    follow = not held and float(np.ptp(way, axis=0).max()) > _FAR * scale
    if follow:
        points = np.concatenate(paths) - np.tile(way, (len(paths), 1))
    around = _corners(motion, pictures, np.concatenate(paths) if held else points, way if follow else 0.0 * way)
    seen = np.concatenate([around, points, low])
    direction = broad_side(seen, up, across) if direction is None else direction
    straight = across is not None and abs(direction @ across) > _STRAIGHT and abs(direction @ normal) < _LEVEL
    guides = [*_guides(joints, fittings, drawn)] if straight else []
    upright = bool(straight and abs(direction @ normal) < UPRIGHT)
    supports = [*stands(motion, pictures, mounted, around, (normal, floor, direction), guides, upright)]
    supports += rail_legs(motion, pictures, joints, radii, (normal, floor, direction))
    legs = [part for _, part in supports]
    seen = np.concatenate([seen, _boxes(legs)])
    sheet = None
    if upright:
        sheet = direction, float((seen @ direction).min()) - _BEHIND * scale
        legs.append(ground_line(np.concatenate([seen, *paths]), normal, floor, sheet, _LINE * scale))
        seen = np.concatenate([seen, _boxes(legs[-1:])])
    look = replace(framing(seen, up, 0.002 * scale, direction, normal, floor), parallel=across is not None, sheet=sheet)
    lines, pegs = brought_to_front(motion, lines_of(motion), _moving(drawn), scale)
    lines = (*lines, *rail_springs(motion, joints, radii, scale))
    ground = (*legs, *fixed)
    holds = tuple(supports[k][0] if k < len(supports) else "" for k in range(len(ground)))
    return Stage(pictures, layers, (*fittings, *pegs), lines, ground, holds, scale, look, follow)


def _with_markers(model: Model, pictures: Mapping[str, Picture], scale: float) -> Iterator[tuple[str, Picture]]:
    """Bodies with stems to markers beside them."""
    for body in model.bodies:
        picture, thin = pictures[body.name], 0.5 * STEM * scale
        points = [marker.point for marker in model.markers if marker.body == body.name]
        beside = [point for point in points if min(part.gap(point) for part in picture.parts) > 4.0 * thin]
        stems = tuple(between(np.zeros(3), point, thin) for point in beside)
        yield body.name, replace(picture, parts=(*picture.parts, *stems))


def _guides(joints: Sequence[Joint], fittings: Sequence[Fitting], drawn: Forms) -> Iterator[tuple[str, Part]]:
    """Rails of the ground and what slides on them."""
    rails = {f"joint {k}": joint for k, joint in enumerate(joints) if joint.type in RAILS and joint.first == GROUND}
    yield from ((GROUND, fitting.part) for fitting in fittings if fitting.tag in rails and fitting.body == GROUND)
    for joint in rails.values():
        yield from ((joint.second, part) for part in drawn[joint.second] if not part.fixed)


def _moving(drawn: Forms) -> dict[str, tuple[Part, ...]]:
    """The parts of bodies that move with them."""
    found = {name: tuple(part for part in parts if not part.fixed) for name, parts in drawn.items()}
    return {name: parts for name, parts in found.items() if parts}


def _boxes(parts: Sequence[Part]) -> Array:
    """(n, 3) corners of the boxes around parts of the ground."""
    return np.reshape([part.at + (_SIGNS * part.half) @ part.matrix.T for part in parts], (-1, 3))


def _corners(motion: Trajectory, pictures: dict[str, Picture], points: Array, way: Array) -> Array:
    """The points, and where the boxes around all parts have their corners, over time, as seen by who goes along the way."""
    found = [points]
    for body, picture in pictures.items():
        r, R = motion.position(body) - way, motion.rotation(body)
        for part in picture.parts:
            corners = part.at + (_SIGNS * part.half) @ part.matrix.T
            found.append(corners if part.fixed else (r[:, None] + np.einsum("tij,kj->tki", R, corners)).reshape(-1, 3))
    return np.concatenate(found)


def _seen_slides(motion: Trajectory, rolling: dict[str, list[Part]]) -> list[Joint]:
    """The joints, those that slide where their bodies are without them."""
    model = motion.mechanism.model
    joints = [met(model, joint) for joint in model.joints]
    anchors = anchors_of(motion, [joint for joint in joints if joint.type not in ("prismatic", "cylindrical")])
    scale = _size(motion, anchors)
    forms = _moving({b.name: picture_of(b, anchors[b.name], scale, rolling.get(b.name, ())).parts for b in model.bodies})
    whole = [body.name for body in model.bodies if (body.shape or {}).get("type") == "compound"]
    near = 4.0 * _THINNEST * scale
    return [guided(joint, forms, joint.second in whole, travel_of(motion, joint), near) for joint in joints]


def _size(motion: Trajectory, anchors: dict[str, list[Array]]) -> float:
    """The longest edge of the box around the first pose, or of the bodies themselves where that is a point [m]."""
    model = motion.mechanism.model
    places = [(body, p) for body, points in anchors.items() for p in (np.zeros(3), *points)]
    first = [motion.point(body, p)[0] for body, p in places]
    size = float(np.ptp(np.array([*first, *_ground_points(motion)]), axis=0).max()) if first else 0.0
    bodies = max((float(np.sqrt(6 * np.trace(body.inertia) / body.mass)) for body in model.bodies), default=0.0)
    return max(size, bodies) or max((float(np.ptp(motion.point(*at), axis=0).max()) for at in places), default=0.0) or 1.0


def _pins(model: Model) -> dict[str, list[Pin]]:
    """The hinges on each body, in body axes."""
    found: dict[str, list[Pin]] = {name: [] for name in (GROUND, *(body.name for body in model.bodies))}
    for joint in model.joints:
        if joint.type == "revolute":
            found[joint.first].append((joint.p_i, joint.E_i[:, 2], False))
            found[joint.second].append((joint.p_j, joint.E_j[:, 2], joint.first != GROUND))
    return found


def _ground_points(motion: Trajectory) -> list[Array]:
    model = motion.mechanism.model
    joints = [j for j in model.joints if type_of(j).has_point and not type_of(j).slides]
    ends = [(j.first, j.p_i) for j in joints] + [(j.second, j.p_j) for j in joints]
    return [point for body, point in ends + held_places(model) if body == GROUND]


def colours(n: int) -> list[str]:
    """The house palette for a few bodies; a ramp, also safe for colour-blind readers, where there are many alike."""
    from dalembert.plot.style import COLOURS

    if n <= len(COLOURS):
        return list(COLOURS[:n])
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["cividis"](0.12 + 0.83 * k / (n - 1))) for k in range(n)]


def marker_parts(scale: float) -> tuple[Part, Part]:
    """A marker in a mechanism of this size [m], drawn over all else: a white rim, and over that a dot of its colour."""
    return Part("sphere", (1.4 * _DOT * scale,), colour="#ffffff"), Part("sphere", (_DOT * scale,))


def _ways(joints: Sequence[Joint], scale: float) -> dict[str, float]:
    """The least way between two joints of each body [m]; what slides is in no one place."""
    points: defaultdict[str, list[Array]] = defaultdict(list)
    for joint in joints:
        if type_of(joint).has_point and not type_of(joint).slides:
            points[joint.first].append(joint.p_i)
            points[joint.second].append(joint.p_j)
    ways = {body: np.linalg.norm(np.array(at)[:, None] - at, axis=2) for body, at in points.items()}
    return {body: float(way[way > _SAME * scale].min(initial=np.inf)) for body, way in ways.items()}


def _sizes(model: Model, ways: Mapping[str, float], scale: float) -> dict[str, float]:
    """Of the mechanism [m]; smaller for bodies with joints near each other, and those joined to them, which may hide them."""
    least = {body.name: ways.get(body.name, np.inf) for body in model.bodies}
    for joint in model.joints:
        for body, other in permutations(joint.bodies, 2):
            if GROUND not in (body, other):
                least[body] = min(least[body], ways.get(other, np.inf))
    return {body: float(np.clip(_SHORT / LINK * way, _THINNER * scale, scale)) for body, way in least.items()}


def _joint_radius(
    anchors: dict[str, list[Array]], joint: Joint, pictures: dict[str, Picture], ways: Mapping[str, float], scale: float
) -> float:
    """Of the joint's glyph: a little thicker than the bodies that it joins, thinner than its way to the next one [m]."""
    ends = ((joint.first, joint.p_i), (joint.second, joint.p_j))
    thick = [
        thickness
        for body, point in ends
        for anchor, thickness in zip(anchors.get(body, ()), pictures[body].thickness if body != GROUND else (), strict=True)
        if np.array_equal(anchor, point)
    ]
    way = np.inf if type_of(joint).slides else min(ways.get(body, np.inf) for body, _ in ends)
    most = min(_THICKEST * scale, _SHORT * way)
    return float(np.clip(1.3 * max(thick, default=0.0), min(_THINNEST * scale, most), most))
