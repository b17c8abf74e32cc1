"""Jellett's and Routh's integrals of a sphere that rolls on a fixed plane [Cushman1998].

    s = c - R n,      jellett = -(I w) . s / R,      routh = (w . e) sqrt(I_1 I_3 + m s . I s)

s : from the centre of mass to the contact, c : to the sphere's centre, n : normal of the plane, w : angular velocity, all in
body axes;  e : axis of symmetry of the inertia I, along c;  I_3 : moment about it, I_1 : about any axis across

(I w) . s is constant under any force at the contact: (I w)' = s x F in space, s' = w x c, and c . (I w x w) = 0 by symmetry.
Where c = 0 it needs no symmetry (Chaplygin's ball). Routh's needs rolling, and gravity along n. No other force or joint may act
on the sphere: whether one does is the user's to know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.elements import GROUND, Body, Joint
from dalembert.results.invariants import Invariant

if TYPE_CHECKING:
    from dalembert.results.solution import BodyResult


_ROUNDING = 1e-12  # of the largest moment of inertia, of the radius


def jellett(solution: BodyResult, joint: object) -> Invariant:
    """Jellett's integral (nt,) [N m s] of a sphere, by the name of its rolling joint."""
    rolling, body, s, w = _sphere(solution, joint)
    radius = rolling.primitives[0].offset
    if np.linalg.norm(rolling.p_j) > _ROUNDING * radius:
        _check_symmetry("jellett", rolling, body.inertia, _axis(rolling, body.inertia))
    momentum = w @ body.inertia
    values = -np.sum(momentum * s, axis=1) / radius
    scale = np.max(np.linalg.norm(momentum, axis=1) * np.linalg.norm(s, axis=1), initial=0.0) / radius
    return Invariant(f"Jellett's integral of {rolling.name!r}", values, float(scale), "N m s")


def routh(solution: BodyResult, joint: object) -> Invariant:
    """Routh's integral (nt,) [N m s] of a sphere, by the name of its rolling joint."""
    rolling, body, s, w = _sphere(solution, joint)
    axis = _axis(rolling, body.inertia)
    I_1, I_3 = _check_symmetry("routh", rolling, body.inertia, axis)
    root = np.sqrt(I_1 * I_3 + body.mass * np.sum(s @ body.inertia * s, axis=1))
    scale = np.max(np.linalg.norm(w, axis=1) * root, initial=0.0)
    return Invariant(f"Routh's integral of {rolling.name!r}", w @ axis * root, float(scale), "N m s")


def _sphere(solution: BodyResult, joint: object) -> tuple[Joint, Body, Array, Array]:
    """The joint, the body, s and w (nt, 3)."""
    rolling = solution.mechanism.model.joint(solution._joint(joint).name)
    if rolling.type != "rolling_sphere":
        raise ModelError(
            f"{rolling.type} joint {rolling.name!r} is no rolling sphere; Jellett's and Routh's integrals need one"
        )
    if rolling.first != GROUND:
        raise ModelError(f"joint {rolling.name!r}: its plane moves with {rolling.first!r}; the integral needs a plane at rest")
    up = np.swapaxes(solution.rotation(rolling.second), 1, 2) @ rolling.E_i[:, 2]
    s = rolling.p_j - rolling.primitives[0].offset * up
    return rolling, solution.mechanism.model.body(rolling.second), s, solution.angular_velocity(rolling.second, frame="body")


def _axis(rolling: Joint, inertia: Array) -> Array:
    """(3,) unit vector along c; where the centres coincide, that of the moment which differs from the two others."""
    distance = float(np.linalg.norm(rolling.p_j))
    if distance > _ROUNDING * rolling.primitives[0].offset:
        return np.asarray(rolling.p_j / distance)
    moments, axes = np.linalg.eigh(inertia)
    if moments[2] - moments[0] <= _ROUNDING * moments[2]:
        return np.array([0.0, 0.0, 1.0])
    axis = axes[:, 2] if moments[1] - moments[0] < moments[2] - moments[1] else axes[:, 0]
    return np.asarray(axis * np.sign(axis[np.argmax(np.abs(axis))]))


def _check_symmetry(name: str, rolling: Joint, inertia: Array, axis: Array) -> tuple[float, float]:
    """(I_1, I_3), or an error where the inertia is not symmetric about the axis."""
    I_3 = float(axis @ inertia @ axis)
    I_1 = (float(np.trace(inertia)) - I_3) / 2
    rest = inertia - I_1 * np.eye(3) - (I_3 - I_1) * np.outer(axis, axis)
    if np.abs(rest).max() > _ROUNDING * np.abs(inertia).max():
        raise ModelError(
            f"{name} of {rolling.name!r}: the inertia of {rolling.second!r} is not symmetric about the line from its centre of"
            " mass to the sphere's centre, so this is no integral of its motion"
        )
    return I_1, I_3
