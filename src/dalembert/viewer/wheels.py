"""Wheels of gears, belts and racks. A model knows these as couplings, whose factors are radii or numbers of teeth; for the eye
they are discs with the radii of the pitch circles, where bodies have no shape of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.model.couplings import LAW as COUPLING
from dalembert.model.elements import GROUND, Joint
from dalembert.model.joints import direction_of
from dalembert.model.model import Model
from dalembert.viewer.parts import Part, along_z

_PARALLEL = 1.0 - 1e-9  # cosine
_ROUND = 1e-6  # off its axis, a wheel is as far at most [m]
_WIDE = 0.3  # of a wheel, over its radius
_RIM = 0.08  # of one with teeth inside


@dataclass(frozen=True, eq=False)
class Wheel:
    """A body that turns on a carrier, by a hinge.

    centre, axis : (3,) of the carrier, beside the wheel's centre of mass [m];  own, along : the same in the wheel's axes
    way : 1 where it turns about the axis as the coordinate grows, or -1;  factor : of the coordinate in the coupling
    """

    name: str
    centre: Array
    axis: Array
    own: Array
    along: Array
    way: float
    factor: float


def wheels_of(model: Model, joint: Joint) -> tuple[str, list[Wheel]] | None:
    """(carrier, wheels) of a linear coupling of two coordinates of joints that share one body, one wheel where the other is of
    what slides; None where the centre of mass of what turns is off the axis of its hinge."""
    if joint.type != COUPLING or len(joint.coupled) != 2 or joint.primitives[0].function is not None:
        return None
    pairs = [(model.joint(name), component) for name, component in joint.coupled]
    shared = set(pairs[0][0].bodies) & set(pairs[1][0].bodies)
    if len(shared) != 1:
        return None
    (carrier,) = shared
    found = []
    for (hinge, component), factor in zip(pairs, joint.primitives[0].numbers[::10], strict=True):
        if direction_of(hinge, component) is None:
            ends = [(hinge.p_i, hinge.E_i[:, 2]), (hinge.p_j, hinge.E_j[:, 2])]
            (p, z), (own, along) = ends if hinge.first == carrier else ends[::-1]
            name = next(body for body in hinge.bodies if body != carrier)
            deep, way = float(own @ along), 1.0 if hinge.first == carrier else -1.0
            if hinge.type != "revolute" or np.linalg.norm(own - deep * along) > _ROUND * (1.0 + np.linalg.norm(own)):
                return None
            found.append(Wheel(name, p - deep * z, z, own - deep * along, along, way, factor))
    return carrier, found


def kind_of(model: Model, joint: Joint) -> str:
    """What a joint is called; couplings by what has such rows."""
    if joint.type != COUPLING or joint.primitives[0].function is not None:
        return joint.type.replace("_", " ")
    mesh = wheels_of(model, joint)
    turns = [direction_of(model.joint(name), component) is None for name, component in joint.coupled]
    if len(turns) == 2 and not all(turns):
        alone = len({name for name, _ in joint.coupled}) == 1
        return "screw" if alone else "rack" if mesh is not None and len(mesh[1]) == 1 else "coupling"
    if len(turns) == 3 and all(turns) and abs(sum(abs(c) for c in joint.primitives[0].numbers[::10]) - 2.0) < 1e-9:
        return "differential"
    return "coupling" if mesh is None or len(mesh[1]) != 2 else "belt" if _is_belt(*mesh[1]) else "gear"


def bodies_of(model: Model, joint: Joint) -> list[str]:
    """The bodies that it joins; of couplings those that it moves, without what all of them turn or slide on."""
    if joint.type != COUPLING:
        return list(joint.bodies)
    joined = [model.joint(name).bodies for name, _ in joint.coupled]
    shared = set.intersection(*map(set, joined)) if len(joined) > 1 else set()
    moved = list(dict.fromkeys(body for bodies in joined for body in bodies if body not in shared | {GROUND}))
    return moved if len(moved) > 1 else list(joint.bodies)


def wheel_forms(model: Model) -> dict[str, list[Part]]:
    """What bodies without a shape look like that are wheels, in their axes: in mesh with two, the larger one."""
    found: dict[str, list[Part]] = {}
    for joint in model.joints:
        mesh = wheels_of(model, joint)
        for wheel, radius, inside in _sized(mesh[1], joint) if mesh else ():
            known = found.get(wheel.name)
            if model.body(wheel.name).shape is None and (known is None or known[0].size[0] < radius):
                size = (radius * (1.0 + _RIM), _RIM * radius) if inside else (radius, _WIDE * radius)
                found[wheel.name] = [Part("ring" if inside else "cylinder", size, wheel.own, along_z(wheel.along))]
    return found


def _sized(wheels: list[Wheel], joint: Joint) -> list[tuple[Wheel, float, bool]]:
    """Wheels with the radii of their pitch circles, and whether they have their teeth inside."""
    if len(wheels) == 1:  # of a rack
        slide = next(c for c in joint.primitives[0].numbers[::10] if c != wheels[0].factor)
        return [(wheels[0], abs(wheels[0].factor / slide), False)]
    if len(wheels) != 2 or abs(wheels[0].axis @ wheels[1].axis) < _PARALLEL:
        return []
    if _is_belt(*wheels):
        return [(wheel, abs(wheel.factor), False) for wheel in wheels]
    teeth = [abs(wheel.factor) for wheel in wheels]
    inner = not _against(*wheels)
    whole = abs(teeth[0] - teeth[1]) if inner else sum(teeth)
    distance = _distance(*wheels)
    if whole < 1e-9 * max(teeth) or not distance > 0.0:
        return []
    return [(wheel, distance * z / whole, inner and z == max(teeth)) for wheel, z in zip(wheels, teeth, strict=True)]


def _is_belt(first: Wheel, second: Wheel) -> bool:
    """Whether wheels turn the same way and do not reach each other, their factors taken as radii."""
    parallel = abs(float(first.axis @ second.axis)) > _PARALLEL
    return parallel and not _against(first, second) and abs(first.factor) + abs(second.factor) < _distance(first, second)


def _against(first: Wheel, second: Wheel) -> bool:
    """Whether one turns against the other: c_1 s_1 + c_2 s_2 is constant."""
    return first.factor * second.factor * first.way * second.way * float(first.axis @ second.axis) > 0.0


def _distance(first: Wheel, second: Wheel) -> float:
    gap = second.centre - first.centre
    return float(np.linalg.norm(gap - (gap @ first.axis) * first.axis))
