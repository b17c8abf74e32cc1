"""What joins bodies, as pages and pictures draw it: springs, cables, rods and couplings as lines, cams by their profile;
joints, bushings, motors and the springs of joints as small parts of a body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeGuard

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.trajectory import Trajectory
from dalembert.model.cables import CABLE, cable_points
from dalembert.model.couplings import LAW as COUPLING
from dalembert.model.elements import GROUND, Force, Joint, Primitive
from dalembert.model.forces.on_joints import JointSpringDamper
from dalembert.model.forces.springs import SpringDamper
from dalembert.model.frames import rotation_matrix
from dalembert.model.joints import direction_of, type_of
from dalembert.model.mesh import Mesh
from dalembert.model.model import Model
from dalembert.model.motions import Table
from dalembert.model.rotation import matrix_to_quaternion
from dalembert.viewer.belts import belt_of
from dalembert.viewer.framing import upward
from dalembert.viewer.glyphs import RAIL, RAILS, glyph, rail_ends
from dalembert.viewer.layers import Layered, pin_gap
from dalembert.viewer.parts import Part, along_z, extruded, given_parts
from dalembert.viewer.slides import Forms, telescope

Place = tuple[str, Array]

_RUBBER, _STEEL, _HOUSING = "#3d434d", RAIL, "#5d6673"
COLOURS = {  # of lines
    **{"spring": "#8a94a3", "cable": "#a0714f", "coupling": "#c9a227", "link": "#59616d", "rod": RAIL},
    **{"pot": _HOUSING, "piston": RAIL},
}
SPRING = 0.016, 0.0032  # radius of a spring and of its wire, over the size of the mechanism, as in web/actor.js
_THIN, _THICK = 0.0035, {"rod": 0.0055, "pot": 0.0115}  # radius of lines that are no springs, over the size of the mechanism
_POT = 0.55  # length of a dashpot's pot, over the longest of the dashpot; it is at least half as long
_SMALL = 0.01  # radius of a bushing's pin or of an eye, over the size of the mechanism
_AROUND = 128  # corners of a cam's profile


@dataclass(frozen=True, eq=False)
class Line:
    """From a point of a body to one of another; tag : "force 3" or "joint 0", whose it is;  kind : key of COLOURS
    reach : it ends as far from its start, if not before [m]
    """

    tag: str
    kind: str
    start: Place
    end: Place
    reach: float = np.inf

    @property
    def radius(self) -> float:
        """Over the size of the mechanism."""
        return _THICK.get(self.kind, _THIN)


@dataclass(frozen=True, eq=False)
class Fitting:
    """A part that an element has on a body, in the body's axes."""

    tag: str
    body: str
    part: Part


def lines_of(motion: Trajectory) -> Iterator[Line]:
    """Springs and dampers, interactions, rods, cables part by part, couplings from joint to joint."""
    model = motion.mechanism.model
    for k, force in enumerate(model.forces):
        if isinstance(force, SpringDamper):
            first, second = force.places()
            yield from _strut(f"force {k}", force, motion, first, second)
        elif force.glyph in COLOURS:
            yield from (Line(f"force {k}", force.glyph, *ends) for ends in pairwise(force.places()))
    for k, joint in enumerate(model.joints):
        if joint.type == "distance":
            yield Line(f"joint {k}", "rod", (joint.first, joint.p_i), (joint.second, joint.p_j))
        elif joint.type == CABLE and joint.primitives:
            yield from (Line(f"joint {k}", "cable", *ends) for ends in pairwise(cable_points(joint)))
        elif joint.type == COUPLING and belt_of(model, joint) is None:
            places = [_place(model.joint(name), component) for name, component in joint.coupled]
            yield from (Line(f"joint {k}", "coupling", *ends) for ends in pairwise(places) if ends[0][1] is not ends[1][1])


def _strut(tag: str, force: SpringDamper | JointSpringDamper, motion: Trajectory, start: Place, end: Place) -> Iterator[Line]:
    """A coil if it springs, a dashpot if it damps: a pot from its start, out of which a piston's rod comes, in the coil."""
    damps = force.damping != 0.0
    if force.stiffness or not damps or getattr(force, "force", None) is not None:
        yield Line(tag, "spring", start, end)
    if damps:
        length = np.linalg.norm(motion.point(*end) - motion.point(*start), axis=1)
        most = float(length.max())
        yield Line(tag, "pot", start, end, float(np.clip(0.9 * length.min(), 0.5 * _POT * most, _POT * most)))
        yield Line(tag, "piston", start, end)


def rail_springs(motion: Trajectory, joints: Sequence[Joint], radii: Mapping[str, float], scale: float) -> Iterator[Line]:
    """Springs and dampers on coordinates along a rail, from an end of it to what slides, beside one that does not turn;
    arguments as of `fittings_of`."""
    seen = {joint.name: joint for joint in joints}
    for k, force in enumerate(motion.mechanism.model.forces):
        if _is_along_rail(force, motion) and (solid := _solid(force)) is not None:
            joint = seen[force.joint]
            low, high = rail_ends(radii[joint.name], travel_of(motion, joint))
            start = joint.p_i + (high if _is_crowded(motion, joint) else low) * joint.E_i[:, 2]
            beside = (0.45 * radii[joint.name] + 1.3 * SPRING[0] * scale) * _above(motion, joint)
            ends = (joint.first, start + joint.E_i @ beside), (joint.second, joint.p_j + joint.E_j @ beside)
            yield from _strut(f"force {k}", solid, motion, *ends)


def _solid(force: JointSpringDamper) -> JointSpringDamper | None:
    """What is drawn of it: a table may tell of friction, a cut or a stop, which are no parts of a machine."""
    stiffness, damping = (0.0 if isinstance(gain, Table) else gain for gain in (force.stiffness, force.damping))
    told = isinstance(force.stiffness, Table) or isinstance(force.damping, Table)
    return replace(force, stiffness=stiffness, damping=damping) if stiffness or damping or not told else None


def _is_crowded(motion: Trajectory, joint: Joint) -> bool:
    """Whether another joint is on the guide before all that slides there, in the way of a spring, and none behind it."""
    values = motion.coordinate(joint.name).reshape(len(motion.t), -1)[:, 0]
    low, high, room = float(values.min()), float(values.max()), float(np.ptp(values))
    ends = [end for other in motion.mechanism.model.joints if other.name != joint.name for end in _ends(other)]
    ways = [point - joint.p_i for body, point in ends if body == joint.first]
    along = [float(way @ joint.E_i[:, 2]) for way in ways]
    near = [s for s, way in zip(along, ways, strict=True) if np.linalg.norm(way - s * joint.E_i[:, 2]) < 0.5 * room]
    return any(low - room < s < low for s in near) and not any(high < s < high + room for s in near)


def _ends(joint: Joint) -> list[Place]:
    return [(joint.first, joint.p_i), (joint.second, joint.p_j)] if type_of(joint).has_point else []


def _above(motion: Trajectory, joint: Joint) -> Array:
    """(3,) across the axis, the direction of a joint's frames that points up most at the start; 0 of one that turns."""
    if joint.type != "prismatic":
        return np.zeros(3)
    up = upward(motion.mechanism.model.gravity) @ (motion.rotation(joint.first)[0] @ joint.E_i)
    up[2] = 0.0
    k = int(np.abs(up).argmax())  # of an upright rail any
    return np.asarray(np.eye(3)[k] * (-1.0 if up[k] < 0.0 else 1.0))


def _is_along_rail(force: Force, motion: Trajectory) -> TypeGuard[JointSpringDamper]:
    if not isinstance(force, JointSpringDamper) or force.law != "coordinate":
        return False
    joint = motion.mechanism.model.joint(force.joint)
    return joint.type in RAILS and joint.coordinates[force.component] == "translation"


def _place(joint: Joint, component: int) -> Place:
    """Where a coupled coordinate is seen: on the axis, or at what slides."""
    return (joint.first, joint.p_i) if direction_of(joint, component) is None else (joint.second, joint.p_j)


def held_places(model: Model) -> list[Place]:
    """(body, point) where springs, cables, bushings and the like are held."""
    return [(body, point) for _, body, point in tagged_places(model)]


def tagged_places(model: Model) -> Iterator[tuple[str, str, Array]]:
    """The same, and before it whose they are."""
    yield from ((f"force {k}", *place) for k, force in enumerate(model.forces) if force.glyph for place in force.places())
    for k, joint in enumerate(model.joints):
        if joint.type == CABLE and joint.primitives:
            yield from ((f"joint {k}", *place) for place in cable_points(joint))


def anchors_of(motion: Trajectory, joints: Sequence[Joint]) -> dict[str, list[Array]]:
    """Points of joints and springs on each body, in body axes."""
    model = motion.mechanism.model
    found: dict[str, list[Array]] = {body.name: [] for body in model.bodies}
    formless = [body.name for body in model.bodies if body.shape is None]
    ends: list[tuple[str, Array]] = []
    for joint in joints:
        if type_of(joint).has_point:
            # the rail of a sliding joint passes its first body, the point on it is only where counting starts; one without a
            # shape is what holds the rail
            slid = travel_of(motion, joint) if joint.first in formless else None
            room = np.array([-0.1, 0.1]) * np.ptp(slid or 0.0)
            rail = () if slid is None else tuple(joint.p_i + s * joint.E_i[:, 2] for s in slid + room)
            ends += [(joint.first, point) for point in (rail if type_of(joint).slides else (joint.p_i,))]
            ends.append((joint.second, joint.p_j))
    for body, point in ends + held_places(model):
        if body != GROUND:
            found[body].append(point)
    return found


def seen_where(joint: Joint, parts: Mapping[str, Sequence[Part]], radius: float, scale: float) -> Joint:
    """The same joint where its bodies are: a hinge may be anywhere along its axis.

    parts : of bodies by name;  scale : size of the mechanism [m]
    """
    first, second = ([part for part in parts.get(name, ()) if not part.fixed] for name in (joint.first, joint.second))
    if joint.type != "revolute" or not first or not second:
        return joint

    def gap(s: float) -> float:
        ends = (first, joint.p_i + s * joint.E_i[:, 2]), (second, joint.p_j + s * joint.E_j[:, 2])
        return max(min(part.gap(at) for part in own) for own, at in ends)

    if gap(0.0) < 4.0 * radius:
        return joint
    s = min(np.linspace(-scale, scale, 201).tolist(), key=lambda s: (round(gap(s) / radius), abs(s)))
    return replace(joint, p_i=joint.p_i + s * joint.E_i[:, 2], p_j=joint.p_j + s * joint.E_j[:, 2])


def met(model: Model, joint: Joint) -> Joint:
    """The same joint; a weld whose point is the default, the centre of mass of its second body, and away from the first is
    where an end or a face of one is at the other, if there is such a place."""
    free = joint.type == "fixed" and not joint.p_j.any()
    bodies = [model.body(name) for name in joint.bodies if free and name != GROUND]
    forms = [given_parts(body.name, body.shape, 0.0) for body in bodies if body.shape is not None]
    if len(forms) < 2:
        return joint
    first, second = ([part for part in form if not part.fixed] for form in forms)
    turn, near = joint.E_j @ joint.E_i.T, 0.05 * max(float(part.half.max()) for part in (*first, *second))
    ends = [np.concatenate([p.at + s * p.half[:, None] * p.matrix.T for p in own for s in (-1, 1)]) for own in (first, second)]
    for p_i in (joint.p_i, *(joint.p_i + (ends[1] - joint.p_j) @ turn), *ends[0]):
        p_j = joint.p_j + turn @ (p_i - joint.p_i)
        if max(min(part.gap(at) for part in parts) for parts, at in ((first, p_i), (second, p_j))) < near:
            return replace(joint, p_i=p_i, p_j=p_j)
    return joint


def fittings_of(
    motion: Layered,
    joints: Sequence[Joint],
    radii: Mapping[str, float],
    scale: float,
    paint: Mapping[str, str],
    forms: Forms,
) -> Iterator[Fitting]:
    """Solids of joints and forces; joints : `seen_where`;  radii : of their glyphs [m];  scale : size of the mechanism [m]
    paint : colours of bodies, of which their rails are darker;  forms : parts of bodies by name
    """
    model, r = motion.mechanism.model, _SMALL * scale
    eye = Part("sphere", (0.8 * r,), colour=_STEEL)
    for k, force in enumerate(model.forces):
        tag, places = f"force {k}", force.places()
        if force.glyph == "bushing":
            for (body, point), frame, size, colour in zip(
                places, getattr(force, "frames", ()), ((2.6 * r, 2.2 * r), (1.1 * r, 3.6 * r)), (_RUBBER, _STEEL), strict=True
            ):
                yield Fitting(tag, body, Part("cylinder", size, point, matrix_to_quaternion(frame), colour=colour))
        elif force.glyph == "cable":
            yield from (Fitting(tag, body, replace(eye, at=point)) for body, point in places[1:-1])
        elif isinstance(force, JointSpringDamper) and _solid(force) is None:
            continue
        elif force.glyph in ("motor", "coil") and not _is_along_rail(force, motion):
            for name in dict.fromkeys(getattr(force, "joints", None) or (str(getattr(force, "joint", "")),)):
                joint = model.joint(name)
                yield Fitting(tag, joint.first, _on_axis(force.glyph, joint, radii[name], pin_gap(motion, joint)))
    for k, joint in enumerate(joints):
        travel = travel_of(motion, joint)
        for body, part in [*telescope(joint, forms, travel)] or glyph(joint, radii[joint.name], travel, pin_gap(motion, joint)):
            own = joint.type in RAILS and body == joint.first != GROUND
            colour = _darker(paint[body]) if own else part.colour or paint[body]
            yield Fitting(f"joint {k}", body, replace(part, colour=colour))
        if (belt := belt_of(model, joint)) is not None:
            carrier, wheel, part = belt
            turn = motion.rotation(carrier)[0].T
            way = turn @ (motion.layers.offset(wheel) - motion.layers.offset(carrier))
            yield Fitting(f"joint {k}", carrier, replace(part, at=part.at + way))
        elif joint.type == CABLE and joint.primitives:
            yield from (Fitting(f"joint {k}", body, replace(eye, at=point)) for body, point in cable_points(joint)[1:-1])
        elif joint.type.startswith("cam_") and joint.primitives:
            yield from (Fitting(f"joint {k}", *cam) for cam in _cam(model, joint) if cam[0] not in cam_forms(model))


def _darker(colour: str) -> str:
    return "#" + "".join(f"{int(0.7 * level):02x}" for level in bytes.fromhex(colour[1:]))


def cam_forms(model: Model) -> dict[str, list[Part]]:
    """The form of bodies that are cams and have no shape of their own."""
    cams = [joint for joint in model.joints if joint.type.startswith("cam_") and joint.primitives]
    return {joint.first: [next(_cam(model, joint))[1]] for joint in cams if model.body(joint.first).shape is None}


def travel_of(motion: Trajectory, joint: Joint) -> tuple[float, float] | None:
    """Least and largest coordinate of a joint that slides along its axis, with room for a spring [m]."""
    if joint.coordinates[:1] != ("translation",):
        return None
    values = motion.coordinate(joint.name).reshape(len(motion.t), -1)[:, 0]
    forces = (force for force in motion.mechanism.model.forces if _is_along_rail(force, motion))
    room = float(np.ptp(values)) * any(force.joint == joint.name and _solid(force) for force in forces)
    above = _is_crowded(motion, joint)
    return float(values.min()) - room * (not above), float(values.max()) + room * above


def _on_axis(glyph: str, joint: Joint, r: float, gap: float) -> Part:
    """A motor's housing beside the joint, or a flat coil around it, of one that turns in all ways about itself.

    gap : between the bodies along the axis [m]
    """
    motor, frame = glyph == "motor", matrix_to_quaternion(joint.E_i)
    if not motor and len(joint.coordinates) != 1:
        return Part("ring", (1.15 * r, 0.3 * r), joint.p_i, frame, colour=_STEEL)
    along = max(gap, 0.0) + 4.2 * r if motor else min(gap, 0.0) - 2.9 * r
    size, colour = ((1.9 * r, 3.4 * r), _HOUSING) if motor else ((2.2 * r, 0.5 * r), _STEEL)
    return Part("cylinder", size, joint.p_i + along * joint.E_i[:, 2], frame, colour=colour)


def _cam(model: Model, joint: Joint) -> Iterator[tuple[str, Part]]:
    """The disc of a cam, with the plate or the centre of the roller that touches it."""
    row = joint.primitives[0]
    radius, slope = profile(row)
    flat = bool(row.a_j.any())
    psi = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    out, side = np.stack([np.cos(psi), np.sin(psi)], axis=1), np.stack([-np.sin(psi), np.cos(psi)], axis=1)
    rim = radius[:, None] * out + (slope[:, None] * side if flat else 0.0)  # a flat touches where its support function says
    thick = 0.25 * float(radius.min())
    frame = np.column_stack([row.a_i, np.cross(row.n_i, row.a_i), row.n_i])
    yield joint.first, Part("mesh", (1.0,), row.p_i, matrix_to_quaternion(frame), Mesh(extruded(rim, thick)), colour=_STEEL)
    if not flat:
        yield joint.second, Part("cylinder", (0.5 * thick, 1.2 * thick), row.p_j, _axis_on(model, joint), colour=_HOUSING)
        return
    n = rotation_matrix(model.body(joint.second)).T @ rotation_matrix(model.body(joint.first)) @ row.n_i
    plate = np.column_stack([np.cross(n, row.a_j), n, row.a_j])
    size = (2.2 * float(np.abs(slope).max()) + thick, 1.2 * thick, 0.3 * thick)
    at = row.p_j + 0.5 * size[2] * row.a_j
    yield joint.second, Part("box", size, at, matrix_to_quaternion(plate), colour=_HOUSING)


def _axis_on(model: Model, joint: Joint) -> Array:
    """The quaternion of the cam's axis in the axes of its follower."""
    follower, n = model.body(joint.second), rotation_matrix(model.body(joint.first)) @ joint.primitives[0].n_i
    return along_z(n if follower.kind == "point" else rotation_matrix(follower).T @ n)


def profile(row: Primitive) -> tuple[Array, Array]:
    """f and f' of a cam at equal steps of a turn."""
    from scipy.interpolate import CubicSpline

    angles = 2.0 * np.pi * np.arange(_AROUND + 1) / _AROUND
    given: Any = row.function
    values = row.numbers or tuple(float(given(psi)) for psi in angles[:-1])
    curve = CubicSpline(np.linspace(0.0, 2.0 * np.pi, len(values) + 1), [*values, values[0]], bc_type="periodic")
    return np.asarray(curve(angles[:-1])), np.asarray(curve(angles[:-1], 1))
