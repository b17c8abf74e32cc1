"""A solution as data for the page: what to draw, where it is at each instant, what to plot, what to trust.

Everything is plain JSON; long arrays are base64 text of little-endian numbers. Bodies count from 0, the ground is -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import SimulationError
from dalembert.model.elements import GROUND, Body, Joint
from dalembert.model.rotation import matrix_to_quaternion
from dalembert.remarks.row_words import undetermined_parts
from dalembert.results.plain import INCOMPLETE
from dalembert.results.report import make_report
from dalembert.results.sampling import filled, needed, sampled, selected, thinned, usable, usual_speed
from dalembert.results.signal_names import turning_bodies
from dalembert.results.solution import BodyResult
from dalembert.viewer.arrows import arrows_of, longest_of, look_at
from dalembert.viewer.channels import groups, loads, reactions, step_sizes, turning, twists, vectors
from dalembert.viewer.first_plots import first_plots
from dalembert.viewer.fittings import COLOURS, Line
from dalembert.viewer.frames import Rates, packed, poses, rates_of
from dalembert.viewer.parts import Part
from dalembert.viewer.peaks import peaks
from dalembert.viewer.stage import colours, marker_parts, outline_of, stage_of
from dalembert.viewer.trails import trails_of
from dalembert.viewer.wheels import bodies_of, kind_of


def scenes_of(solutions: Sequence[BodyResult]) -> list[dict[str, Any]]:
    """Of runs to compare: each at the instants of all, so that differences are those of the runs."""
    scenes = [_scene(solution) for solution in solutions]
    shown = [_times(solution)[1] for solution in solutions]
    names = [{name for plot in scene["plots"] for name in plot} for scene in scenes]
    found = [peaks(*each) for each in zip(solutions, shown, names, strict=True)]
    times = np.unique(np.concatenate([*shown, *(instants for instants, _ in found)]))
    return [
        {**scene, "exact": exact, **frames_of(solution, also=times)}
        for solution, scene, (_, exact) in zip(solutions, scenes, found, strict=True)
    ]


def scene_of(solution: BodyResult) -> dict[str, Any]:
    """All that the page needs to show a run."""
    return scenes_of([solution])[0]


def _scene(solution: BodyResult) -> dict[str, Any]:
    """What does not change over time."""
    states = usable(solution)
    if not len(states):
        raise SimulationError("the solution holds no states that can be drawn; there is nothing to view")
    model = solution.mechanism.model
    motion = outline_of(solution)
    stage = stage_of(motion)
    look = look_at(stage, motion, arrows_of(motion, stage.scale, stage.look.radius)[0])
    paint = colours(len(model.bodies) + len(model.markers))
    weightless = solution.settings.get("without_mass", ())
    acting = [*loads(selected(solution, states[:1]))]
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
            "parallel": look.parallel,
        },
        "up": _numbers(look.up),
        "normal": _numbers(look.normal),
        "floor": look.floor,
        "sheet": {"normal": _numbers(look.ground[0]), "height": look.ground[1]},
        "ground": [_part(part) | ({"tag": tag} if tag else {}) for part, tag in zip(stage.ground, stage.holds, strict=True)],
        "bodies": [
            {
                "name": body.name,
                "mass": 0.0 if body.name in weightless else body.mass,
                "colour": colour,
                "layer": _numbers(stage.layers.offset(body.name)),
                **({} if body.name in weightless else _inertia(body)),
                "parts": [_part(part) for part in stage.pictures[body.name].parts if not part.fixed],
            }
            for body, colour in zip(model.bodies, paint, strict=False)
        ]
        # a marker is shown as a small body, so that it has a path, a name and a curve as bodies do
        + [
            {"name": marker.name, "marker": True, "colour": colour, "layer": _numbers(stage.layers.offset(marker.body))}
            | {"parts": [_part(part) for part in marker_parts(stage.scale)]}
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
            for load in acting
        ],
        "vectors": [
            {**plot, "unit": solution.per(plot["unit"])}
            for plot in vectors(model, [load for load in acting if load.kind != "gravity"])
        ],
        "trails": [b for b, _ in trails_of(model)],
        "trail_points": [_numbers(point) for _, point in trails_of(model)],
        "lines": [_line(motion, line, stage.scale) for line in stage.lines],
        "fittings": [{"tag": f.tag, "body": _index(motion, f.body), "part": _part(f.part)} for f in stage.fittings],
        "longest": longest_of(stage.scale, stage.look.radius),
        "speed": usual_speed(_span(solution)),
        "over": list(solution.along),
        "plots": first_plots(motion, stage.scale) if len(solution.t) > 1 or solution.status == INCOMPLETE else [],
        "report": report_of(solution),
    }


def _method(solution: BodyResult) -> str:
    settings = solution.settings
    if pose := settings.get("pose"):
        return str(pose["what"])
    if settings.get("kinematics"):
        return str(settings.get("mode", "kinematics"))
    return " · ".join(str(settings[part]["type"]) for part in ("formulation", "integrator"))


def _span(solution: BodyResult) -> float:
    """How long the run is, or will be while it is still going on [s]."""
    asked = float(solution.settings.get("t_end", 0.0)) if solution.status == INCOMPLETE else 0.0
    return max(asked, float(np.ptp(solution.t)))


def _rates(solution: BodyResult) -> Rates:
    """Frames per second for the whole run, also while it is still going on."""
    model, span = solution.mechanism.model, _span(solution)
    arrows = len(model.joints) + len(turning(model)) + 2 * len(model.drivers) + 3 * len(model.forces)
    coordinates = sum(len(joint.coordinates) for joint in model.joints) + len(model.forces)
    coordinates += len(turning_bodies(model))
    return rates_of(span, 13 * (len(model.bodies) + len(model.markers)) + 3 * arrows + 2 * coordinates + 6)


def _times(solution: BodyResult, after: float = -np.inf) -> tuple[npt.NDArray[np.intp], Array]:
    """States that are shown, and instants, from the last state before `after` on."""
    rates, states = _rates(solution), usable(solution)
    clock = needed(_part_of(solution, states), rates.usual, rates.most)
    kept = thinned(clock, 2.0)
    states, clock = states[kept], clock[kept]
    begin = max(int(np.searchsorted(solution.t[states], after, side="right")) - 1, 0)
    return states[begin:], filled(solution.t[states[begin:]], clock[begin:])


def frames_of(solution: BodyResult, after: float = -np.inf, also: Array | None = None) -> dict[str, Any]:
    """What changes with time, at instants later than `after`: poses, channels, reactions; also : further times"""
    states, times = _times(solution, after)
    if also is not None:
        times = np.union1d(times, also[(also >= times[0]) & (also <= times[-1])])
    first = usable(solution)[:1]  # gives the energy at the start
    part = sampled(selected(solution, np.union1d(first, states)), np.union1d(solution.t[first], times))
    new, times = part.t > after, times[times > after]
    pushes = [load.values[new] for load in loads(part) if load.kind != "gravity"]
    ends, sizes = step_sizes(solution)
    return {
        "times": packed(times, "<f8"),
        "poses": packed(poses(part, times)),
        "channel_times": packed(part.t[new], "<f8"),
        "groups": [
            {**group, "unit": solution.per(group["unit"])}
            | {"series": [{"name": n, "signal": signal, "values": packed(v[new])} for n, v, signal in group["series"]]}
            for group in groups(part)
        ],
        "reactions": packed(reactions(part, "force", range(len(solution.mechanism.model.joints)))[new]),
        "twists": packed(twists(part)[new]),
        "load_values": packed(np.stack(pushes, axis=1) if pushes else ()),
        "step_ends": packed(ends[ends > after], "<f8"),
        "step_sizes": packed(sizes[ends > after]),
        "torques": packed(reactions(part, "torque", turning(solution.mechanism.model))[new]),
    }


def _part_of(solution: BodyResult, states: npt.NDArray[np.intp]) -> Trajectory:
    return Trajectory(solution.mechanism, solution.t[states], solution.x[states])


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
        "kind": kind_of(motion.mechanism.model, joint),
        "joins": bodies_of(motion.mechanism.model, joint),
        "first": _index(motion, joint.first),
        "second": _index(motion, joint.second),
        "p_j": _numbers(joint.p_j),
        "unique": joint.name not in motion.mechanism.not_unique,
        "undetermined": undetermined_parts(motion.mechanism, joint.name),
    }


def _line(motion: Trajectory, line: Line, scale: float) -> dict[str, Any]:
    (first, p_i), (second, p_j) = line.start, line.end
    ends = {"first": _index(motion, first), "second": _index(motion, second), "p_i": _numbers(p_i), "p_j": _numbers(p_j)}
    record = {"tag": line.tag, "kind": line.kind, "colour": COLOURS[line.kind], "radius": line.radius * scale, **ends}
    return record | ({"reach": line.reach} if np.isfinite(line.reach) else {})


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
