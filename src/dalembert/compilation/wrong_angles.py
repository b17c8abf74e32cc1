"""Angles that may be in degrees where radians are asked for. One sentence for each.

Degrees are round numbers, and as radians many turns: 45 rad are seven. Of rotations it does not matter how they were given,
because no other angle is a round number of radians, whole turns left out; nor one of hundredths, to more digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from dalembert.arrays import Array
from dalembert.model.elements import GROUND, Body, Joint
from dalembert.model.forces.on_joints import JointSpringDamper
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Harmonic, Motion, Polynomial, SmoothStep, Sum, Table, leaves

TURN = 2.0 * np.pi
LEAST, MOST = 15.0, 360.0  # degrees; smaller and larger numbers may well be radians that are meant
SAME = 1e-9  # angles that are the same but for rounding [rad]
STEPS = ((5.0, LEAST, SAME), (0.01, TURN, 1e-12))  # of rotations: multiples of what, from which on, how exactly they are met


def in_degrees(model: Model) -> Iterator[str]:
    """Angles at the start, of drivers, and of springs when slack, that are many turns and round numbers of degrees."""
    for body, angle in zip(model.bodies, _turned(model.bodies), strict=True):
        if angle > 0.0:
            yield f"body {body.name!r} is turned by {angle:g} rad: {_write(angle)}"
    for joint in model.joints:
        for k, value in enumerate(joint.coordinate):
            if value is not None and _turns(joint, k) and _round([value], 5.0):
                yield f"joint {joint.name!r} starts at {value:g} rad: {_write(value)}"
    for driver in model.drivers:
        if driver.primitive.kind == "A" and (values := _values(driver.primitive.motion)):
            largest = max(values, key=abs)
            yield f"driver {driver.name!r} goes to {largest:g} rad: {_write(largest)}"
        for leaf in leaves(driver.primitive.motion):
            if isinstance(leaf, Harmonic) and _round([leaf.phase], 1.0, TURN):
                yield f"driver {driver.name!r} has a phase of {leaf.phase:g} rad: {_write(leaf.phase)}"
    for force in model.forces:
        if isinstance(force, JointSpringDamper) and force.law == "coordinate":
            value = force.reference
            joint = model.joint(force.joint)
            if _turns(joint, force.component) and _round([value], 5.0) and not _is_drum(joint):
                yield f"{force.noun} {force.name!r} is slack at {value:g} rad: {_write(value)}"


def _write(angle: float) -> str:
    return f"{angle:g} degrees are radians({angle:g}), in Python np.radians({angle:g})"


def _turns(joint: Joint, component: int) -> bool:
    return joint.coordinates[component].startswith(("angle", "rotation"))


def _is_drum(joint: Joint) -> bool:
    """Whether a body turns about its own centre, as one that is wound up; what is beside the axis is an arm."""
    ends = ((joint.first, joint.p_i, joint.E_i), (joint.second, joint.p_j, joint.E_j))
    return any(name != GROUND and np.linalg.norm(np.cross(p, E[:, 2])) < SAME for name, p, E in ends)


def _round(values: list[float], of: float, least: float = LEAST) -> bool:
    """Whether numbers are multiples of so many degrees, and one of them at least so large."""
    return all(value % of == 0.0 for value in values) and least <= max(map(abs, values)) <= MOST


@cache
def _residues(step: float) -> tuple[Array, Array]:
    """Multiples of a number up to `MOST`, and what is left of them without whole turns, which is in order."""
    given = np.append(np.round(np.arange(-MOST, MOST + 0.5 * step, step) / step) * step, 0.0)
    left = np.append(np.mod(given[:-1], TURN), TURN)
    order = np.argsort(left)
    return given[order], left[order]


def _turned(bodies: Sequence[Body]) -> Array:
    """(n,) largest angle of each rotation, about its own axis or as roll, pitch and yaw, if all are round numbers; or 0."""
    theta = np.array([body.rotation for body in bodies]).reshape(-1, 4)
    w, x, y, z = theta.T
    angle = 2.0 * np.arctan2(np.linalg.norm(theta[:, 1:], axis=1), w)
    tilt = np.array([2 * (y * z + w * x), w * w - x * x - y * y + z * z])  # of the last row of R
    roll, yaw = np.arctan2(*tilt), np.arctan2(2 * (x * y + w * z), w * w + x * x - y * y - z * z)
    pitch = np.arctan2(2 * (w * y - x * z), np.hypot(*tilt))
    ways = np.array([[angle, 0 * w, 0 * w], [roll, pitch, yaw], [roll + np.pi, np.pi - pitch, yaw + np.pi]])
    at = np.mod(ways, TURN)
    found = np.zeros(len(bodies))
    for step, least, same in STEPS:
        given, left = _residues(step)
        k = np.minimum(np.searchsorted(left, at - same), len(given) - 1)
        largest = np.where(np.abs(left[k] - at) < same, np.abs(given[k]), np.inf).max(axis=1)
        largest = np.where((largest >= least) & (largest <= MOST), largest, 0.0).max(axis=0)
        found = np.where(found > 0.0, found, largest)
    return found


def _values(motion: Motion | None) -> list[float]:
    """Angles of a motion or of a part of its sum that may be degrees; shafts may well be turned by 50 or 100 rad."""
    values, of, least = [0.0], 15.0, LEAST
    match motion:
        case Sum(parts):
            return next((found for found in map(_values, parts) if found), [])
        case Constant(value):
            values, of = [value], 5.0
        case Harmonic(amplitude=amplitude):
            values, of, least = [amplitude], 1.0, TURN  # nothing swings by turns
        case Polynomial(coefficients):
            values = [coefficients[0]]
        case SmoothStep(start=start, stop=stop):
            values = [start, stop]
        case Table(values=given):
            values = list(given)
    return values if _round(values, of, least) else []
