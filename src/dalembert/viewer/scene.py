"""A solution as data for the page: what to draw, where it is at each instant, what to plot, what to trust.

Everything is plain JSON; long arrays are base64 text of little-endian numbers. Bodies count from 0, the ground is -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.row_words import undetermined_parts
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import SimulationError
from dalembert.model.elements import GROUND, Body, Joint
from dalembert.model.joints import type_of
from dalembert.model.model import Model
from dalembert.model.rotation import matrix_to_quaternion
from dalembert.results.plain import INCOMPLETE
from dalembert.results.report import make_report
from dalembert.results.sampling import filled, needed, sampled, selected, thinned, usable, usual_speed
from dalembert.results.solution import BodyResult
from dalembert.viewer.channels import groups, loads, reactions, step_sizes, turning, twists
from dalembert.viewer.fittings import (
    COLOURS,
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
)
from dalembert.viewer.frames import Rates, packed, poses, rates_of
from dalembert.viewer.framing import Framing, broad_side, framing, plane_normal, upward
from dalembert.viewer.ground import floor_of, mounts, rail_legs, rolling_parts, stands
from dalembert.viewer.parts import Part, Picture, Pin, picture_of

_THINNEST, _THICKEST = 0.008, 0.03  # radius of a joint's glyph, over the size of the mechanism
MOST_TRAILS = 12
_FAR = 4.0  # ways longer than this, over the size of the mechanism, are followed by the camera
_SIGNS = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T  # of the corners of a box


def scene_of(solution: BodyResult) -> dict[str, Any]:
    """All that the page needs to show a run."""
    states = usable(solution)
    if not len(states):
        raise SimulationError("the solution holds no states that can be drawn; there is nothing to view")
    model = solution.mechanism.model
    rates = rates_for(solution)
    motion = _part_of(solution, states[thinned(solution.t[states], 200.0 / max(float(np.ptp(solution.t)), 1e-12))])
    stage = stage_of(motion)
    look, paint = stage.look, colours(len(model.bodies) + len(model.markers))
    weightless = solution.settings.get("without_mass", ())
    return {
        "title": model.name or "model",
        "file": "" if solution.path is None else solution.path.resolve().name,
        "method": _method(solution),
        "status": solution.status,
        "scale": stage.scale,
        "follow": stage.follow,
        "camera": {
            "target": _numbers(look.target),
            "direction": _numbers(look.direction),
            "extent": _numbers(look.extent),
            "radius": look.radius,
        },
        "up": _numbers(look.up),
        "normal": _numbers(look.normal),
        "floor": look.floor,
        "ground": [_part(part) for part in stage.ground],
        "bodies": [
            {
                "name": body.name,
                "mass": 0.0 if body.name in weightless else body.mass,
                "colour": colour,
                **({} if body.name in weightless else _inertia(body)),
                "parts": [_part(part) for part in stage.pictures[body.name].parts if not part.fixed],
            }
            for body, colour in zip(model.bodies, paint, strict=False)
        ]
        # a marker is shown as a small body, so that it has a path, a name and a curve as bodies do
        + [
            {"name": marker.name, "marker": True, "colour": colour, "parts": [_part(marker_part(stage.scale))]}
            for marker, colour in zip(model.markers, paint[len(model.bodies) :], strict=True)
        ],
        "joints": [_joint(motion, joint) for joint in model.joints],
        "turning": turning(model),
        "drivers": [{"name": driver.name, "joint": driver.joint or ""} for driver in model.drivers],
        "forces": [{"name": force.name, "noun": force.noun} for force in model.forces],
        "loads": [
            {"tag": load.tag, "kind": load.kind, "what": load.what, "body": _index(motion, load.body)}
            | {"point": _numbers(load.point)}
            | ({"value": _numbers(load.values[0])} if load.kind == "gravity" else {})
            for load in loads(selected(solution, states[:1]))
        ],
        "trails": trail_bodies(model),
        "lines": [_line(motion, line, stage.scale) for line in stage.lines],
        "fittings": [{"tag": f.tag, "body": _index(motion, f.body), "part": _part(f.part)} for f in stage.fittings],
        "speed": usual_speed(_span(solution)),
        "plots": _first_plots(motion, stage.scale),
        "report": report_of(solution),
        **frames_of(solution, rates),
    }


def _method(solution: BodyResult) -> str:
    settings = solution.settings
    if settings.get("kinematics"):
        return str(settings.get("mode", "kinematics"))
    return " · ".join(str(settings[part]["type"]) for part in ("formulation", "integrator"))


def _span(solution: BodyResult) -> float:
    """How long the run is, or will be while it is still going on [s]."""
    asked = float(solution.settings.get("t_end", 0.0)) if solution.status == INCOMPLETE else 0.0
    return max(asked, float(np.ptp(solution.t)))


def rates_for(solution: BodyResult) -> Rates:
    """Frames per second for the whole run, also while it is still going on."""
    model, span = solution.mechanism.model, _span(solution)
    arrows = len(model.joints) + len(turning(model)) + 2 * len(model.drivers) + 3 * len(model.forces)
    coordinates = sum(len(joint.coordinates) for joint in model.joints) + len(model.forces)
    return rates_of(span, 13 * (len(model.bodies) + len(model.markers)) + 3 * arrows + 2 * coordinates + 6)


def frames_of(solution: BodyResult, rates: Rates, after: float = -np.inf) -> dict[str, Any]:
    """What changes with time, at instants later than `after`: poses, channels, reactions."""
    states = usable(solution)
    clock = needed(_part_of(solution, states), rates.usual, rates.most)
    kept = thinned(clock, 2.0)
    states, clock = states[kept], clock[kept]
    # the last known state is the beginning of the next piece, the first one gives the energy at the start
    begin = max(int(np.searchsorted(solution.t[states], after, side="right")) - 1, 0)
    times = filled(solution.t[states[begin:]], clock[begin:])
    part = sampled(selected(solution, np.union1d(states[:1], states[begin:])), np.union1d(solution.t[states[:1]], times))
    new, times = part.t > after, times[times > after]
    pushes = [load.values[new] for load in loads(part) if load.kind != "gravity"]
    ends, sizes = step_sizes(solution)
    return {
        "times": packed(times, "<f8"),
        "poses": packed(poses(part, times)),
        "channel_times": packed(part.t[new], "<f8"),
        "groups": [
            {**group, "series": [{"name": name, "values": packed(values[new])} for name, values in group["series"]]}
            for group in groups(part)
        ],
        "reactions": packed(reactions(part, "force", range(len(solution.mechanism.model.joints)))[new]),
        "twists": packed(twists(part)[new]),
        "load_values": packed(np.stack(pushes, axis=1) if pushes else ()),
        "step_ends": packed(ends[ends > after], "<f8"),
        "step_sizes": packed(sizes[ends > after]),
        "torques": packed(reactions(part, "torque", turning(solution.mechanism.model))[new]),
    }


@dataclass(frozen=True, eq=False)
class Stage:
    """What bodies look like, what joins them, what stands still around them, the size of the mechanism [m], and where to look
    from.

    follow : the motion goes far, the camera goes with its middle, see `middle_of`
    """

    pictures: dict[str, Picture]
    fittings: tuple[Fitting, ...]
    lines: tuple[Line, ...]
    ground: tuple[Part, ...]
    scale: float
    look: Framing
    follow: bool


def middle_of(motion: Trajectory, normal: Array) -> Array:
    """(nt, 3) way of the bodies' middle along the floor since the start."""
    middle = np.mean([motion.position(body) for body in motion.mechanism.body_names], axis=0)
    way = middle - middle[0]
    return np.asarray(way - np.outer(way @ normal, normal))


def stage_of(motion: Trajectory, direction: Array | None = None) -> Stage:
    """direction : to the camera, unit; default: well chosen"""
    model = motion.mechanism.model
    anchors = anchors_of(motion)
    paths = [motion.point(body, point) for body, points in anchors.items() for point in (np.zeros(3), *points)]
    points = np.concatenate([*paths, np.reshape(_ground_points(motion), (-1, 3))])
    scale, rolling = _size(motion, points), rolling_parts(model) | cam_forms(model)
    pins = _pins(model)
    pictures = {
        body.name: picture_of(body, anchors[body.name], scale, rolling.get(body.name, ()), pins[body.name])
        for body in model.bodies
    }
    joints = [met(model, joint) for joint in model.joints]
    radii = {joint.name: _joint_radius(anchors, joint, pictures, scale) for joint in joints}
    drawn = {name: picture.parts for name, picture in pictures.items()}
    joints = [seen_where(joint, drawn, radii[joint.name], scale) for joint in joints]
    fixed = [part for picture in pictures.values() for part in picture.parts if part.fixed]
    mounted = mounts(motion, radii, fixed, scale)
    plates = [plate for _, plate, _ in mounted]
    up = upward(model.gravity)
    low = _boxes(plates)
    normal, floor = floor_of(motion, pictures, np.concatenate([points, low]), 0.002 * scale)
    way, held = middle_of(motion, normal), bool(plates or fixed)
    follow = not held and float(np.ptp(way, axis=0).max()) > _FAR * scale
    if follow:
        points = np.concatenate(paths) - np.tile(way, (len(paths), 1))
    around = _corners(motion, pictures, np.concatenate(paths) if held else points, way if follow else 0.0 * way)
    seen = np.concatenate([around, points, low])
    direction = broad_side(seen, up, plane_normal(motion)) if direction is None else direction
    legs = [*stands(motion, pictures, mounted, around, (normal, floor, direction))]
    legs += rail_legs(motion, pictures, joints, radii, (normal, floor, direction))
    seen = np.concatenate([seen, _boxes(legs)])
    look = framing(seen, up, 0.002 * scale, direction, normal, floor)
    paint = dict(zip(motion.mechanism.body_names, colours(len(model.bodies) + len(model.markers)), strict=False))
    fittings = tuple(fittings_of(motion, joints, radii, scale, paint))
    lines = (*lines_of(model), *rail_springs(motion, joints, radii, scale))
    return Stage(pictures, fittings, lines, (*legs, *fixed), scale, look, follow)


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


def _size(motion: Trajectory, points: Array) -> float:
    """The longest edge of the box around the first pose, or of the bodies themselves where that is a point [m]."""
    model = motion.mechanism.model
    anchors = anchors_of(motion)
    first = [motion.point(body, p)[0] for body, points in anchors.items() for p in (np.zeros(3), *points)]
    size = float(np.ptp(np.array([*first, *_ground_points(motion)]), axis=0).max()) if first else 0.0
    bodies = max((float(np.sqrt(6 * np.trace(body.inertia) / body.mass)) for body in model.bodies), default=0.0)
    return max(size, bodies) or float(np.ptp(points, axis=0).max()) or 1.0


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


def _part_of(solution: BodyResult, states: npt.NDArray[np.intp]) -> Trajectory:
    return Trajectory(solution.mechanism, solution.t[states], solution.x[states])


def colours(n: int) -> list[str]:
    """The house palette for a few bodies; a ramp, also safe for colour-blind readers, where there are many alike."""
    from dalembert.plot.style import COLOURS

    if n <= len(COLOURS):
        return list(COLOURS[:n])
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["cividis"](0.12 + 0.83 * k / (n - 1))) for k in range(n)]


def trail_bodies(model: Model) -> list[int]:
    """Which bodies leave trails: all of a few; of many, those at the ends of the tree, on which nothing else hangs; and all
    markers, which come behind the bodies."""
    names = [body.name for body in model.bodies]
    firsts = {joint.first for joint in model.joints} if len(names) > MOST_TRAILS else set()
    ends = [b for b, name in enumerate(names) if name not in firsts][:MOST_TRAILS]
    return ends + list(range(len(names), len(names) + len(model.markers)))


def marker_part(scale: float) -> Part:
    """How a marker is drawn in a mechanism of this size [m]."""
    return Part("sphere", (_THINNEST * scale,), np.zeros(3))


def _part(part: Part) -> dict[str, Any]:
    record: dict[str, Any] = {"kind": part.kind, "size": list(part.size), "at": _numbers(part.at), "turn": _turn(part.turn)}
    record |= {} if part.colour is None else {"colour": part.colour}
    record |= {"clear": True} if part.clear else {}
    return record if part.mesh is None else record | {"triangles": packed(part.mesh.triangles)}


def _inertia(body: Body) -> dict[str, Any]:
    """Principal moments [kg m^2] and their axes in the body, and the half axes of the homogeneous ellipsoid that has them [m].

    a_1^2 = 5 (I_2 + I_3 - I_1) / (2 m)
    """
    moments, axes = np.linalg.eigh(body.inertia)
    axes = axes * np.array([1.0, 1.0, np.sign(np.linalg.det(axes))])
    half = np.sqrt(np.maximum(2.5 * (moments.sum() - 2.0 * moments) / (body.mass or np.inf), 0.0))
    return {"moments": _numbers(moments), "axes": _turn(matrix_to_quaternion(axes)), "half_axes": _numbers(half)}


def _joint(motion: Trajectory, joint: Joint) -> dict[str, Any]:
    return {
        "name": joint.name,
        "type": joint.type,
        "first": _index(motion, joint.first),
        "second": _index(motion, joint.second),
        "p_j": _numbers(joint.p_j),
        "unique": joint.name not in motion.mechanism.not_unique,
        "undetermined": undetermined_parts(motion.mechanism, joint.name),
    }


def _joint_radius(anchors: dict[str, list[Array]], joint: Joint, pictures: dict[str, Picture], scale: float) -> float:
    """Of the joint's glyph: a little thicker than the bodies that it joins [m]."""
    thick = [
        thickness
        for body, point in ((joint.first, joint.p_i), (joint.second, joint.p_j))
        for anchor, thickness in zip(anchors.get(body, ()), pictures[body].thickness if body != GROUND else (), strict=True)
        if np.array_equal(anchor, point)
    ]
    return float(np.clip(1.3 * max(thick, default=0.0), _THINNEST * scale, _THICKEST * scale))


def _line(motion: Trajectory, line: Line, scale: float) -> dict[str, Any]:
    (first, p_i), (second, p_j) = line.start, line.end
    ends = {"first": _index(motion, first), "second": _index(motion, second), "p_i": _numbers(p_i), "p_j": _numbers(p_j)}
    return {"tag": line.tag, "kind": line.kind, "colour": COLOURS[line.kind], "radius": line.radius * scale, **ends}


def _first_plots(motion: Trajectory, scale: float) -> list[str]:
    """What a page plots until its reader chooses: something that moves, what its driver does or how fast it is, energy."""
    model = motion.mechanism.model
    driven = {driver.joint for driver in model.drivers}
    # those with one coordinate, of a driven mechanism the output: not driven itself, on the ground
    order = {j.name: (len(j.coordinates) > 1, j.name in driven, bool(driven) and GROUND not in j.bodies) for j in model.joints}
    moving = (
        (f"coordinate of {joint.name}", f"rate of {joint.name}")
        for joint in sorted(model.joints, key=lambda joint: order[joint.name])
        if joint.coordinates and float(np.ptp(motion.coordinate(joint.name), axis=0).max()) > 1e-6 * scale
    )
    paths = {body.name: float(np.ptp(motion.position(body.name), axis=0).max()) for body in model.bodies}
    most = max(paths, key=lambda name: paths[name])
    moved, fast = next(moving, (f"position of {most}", f"velocity of {most}"))
    acts = driven and all(body.mass for body in model.bodies)
    return [moved, f"effort of {model.drivers[0].name}" if acts else fast, "energy"]


def report_of(solution: BodyResult) -> dict[str, Any]:
    """The trust report without its data for programs."""
    report = make_report(solution)
    shown = ("name", "value", "limit", "verdict", "block", "cells", "advice")
    lines = [{key: getattr(line, key) for key in shown} for line in report.lines]
    return {"title": report.title, "headline": report.headline, "verdict": report.verdict, "lines": lines}


def _index(motion: Trajectory, body: str) -> int:
    return -1 if body == GROUND else motion.mechanism.body_names.index(body)


def _numbers(values: Array) -> list[float]:
    return [float(value) for value in values]


def _turn(quaternion: Array) -> list[float]:
    """Scalar last, as the page has them."""
    return _numbers(np.roll(quaternion, -1))
