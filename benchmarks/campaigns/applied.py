"""Forces for the oracle: loads on the two ends of each element, in world axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.campaigns.joint_rows import View, dot, matvec, stacked
from benchmarks.campaigns.prescribed import values_at

Load = tuple[str, Any, Any, Any]  # body, force, point it acts at, free torque
ZERO = np.zeros((3, 1))


@dataclass
class Element:
    first: str
    second: str
    loads: Callable[[View, View, float], list[Load]]


def forces_of(models: list[Any]) -> list[Element]:
    return [element(models, [m.forces[k] for m in models]) for k in range(len(models[0].forces))]


def element(models: list[Any], same: list[Any]) -> Element:
    match type(same[0]).__name__:
        case "PointForce":
            return point_force(same)
        case "Torque":
            return torque(same)
        case "SpringDamper":
            return spring_damper(same)
    joints = [next(j for j in m.joints if j.name == f.joint) for m, f in zip(models, same, strict=True)]
    law = getattr(same[0], "law", "coordinate")
    return coordinate(same, joints) if law == "coordinate" else rotation_spring(same, joints, law)


def _vector(same: list[Any], constant: Any, p: Any, body: View, t: float) -> Any:
    """A constant times its factor, or a user's function, in world axes."""
    if callable(constant):
        given = constant
        try:
            vector = given(t, body.point(p), body.velocity(p), body.R, body.w)
        except TypeError:
            vector = given(t)
        vector = np.array([np.broadcast_to(x, body.r.shape[1:]) for x in vector])
    else:
        vector = constant
        if same[0].factor is not None:
            vector = vector * values_at([f.factor for f in same], t)[0]
    return vector if same[0].frame == "world" else matvec(body.R, vector)


def _constant(same: list[Any], label: str) -> Any:
    given = getattr(same[0], label)
    return given if callable(given) else stacked(same, label)


def point_force(same: list[Any]) -> Element:
    p, name, force = stacked(same, "point"), same[0].body, _constant(same, "force")
    return Element(name, name, lambda a, b, t: [(name, _vector(same, force, p, a, t), a.point(p), ZERO)])


def torque(same: list[Any]) -> Element:
    name, centre, given = same[0].body, np.zeros((3, len(same))), _constant(same, "torque")
    return Element(name, name, lambda a, b, t: [(name, ZERO, a.r, _vector(same, given, centre, a, t))])


def spring_damper(same: list[Any]) -> Element:
    first, second = same[0].first, same[0].second
    p, q = stacked(same, "p_i"), stacked(same, "p_j")
    k, c, length = (stacked(same, name) for name in ("stiffness", "damping", "length"))

    def loads(a: View, b: View, t: float) -> list[Load]:
        x, y = a.point(p), b.point(q)
        s = np.sqrt(dot(y - x, y - x))
        n = (y - x) / s
        pull = (k * (s - length) + c * dot(n, b.velocity(q) - a.velocity(p))) * n
        return [(first, pull, x, ZERO), (second, -pull, y, ZERO)]

    return Element(first, second, loads)


def coordinate(same: list[Any], joints: list[Any]) -> Element:
    """A motor, or a spring-damper, on one angle or translation."""
    joint, first, second = joints[0], joints[0].first, joints[0].second
    name = joint.coordinates[same[0].component]
    p, q, E, D = (stacked(joints, x) for x in ("p_i", "p_j", "E_i", "E_j"))
    motor = hasattr(same[0], "effort")
    if not motor:
        k, c, rest = (stacked(same, x) for x in ("stiffness", "damping", "reference"))

    def effort(s: Any, rate: Any, t: float) -> Any:
        return values_at([f.effort for f in same], t)[0] if motor else -k * (s - rest) - c * rate

    def slide(a: View, b: View, t: float) -> list[Load]:
        axis = E[:, {"x": 0, "y": 1, "translation": 2}[name]]
        n, d = a.direction(axis), b.point(q) - a.point(p)
        rate = dot(n, b.velocity(q) - a.velocity(p)) + dot(a.turning(axis), d)
        force = effort(dot(n, d), rate, t) * n
        return [(second, force, b.point(q), ZERO), (first, -force, b.point(q), ZERO)]

    def turn(a: View, b: View, t: float) -> list[Load]:
        Q = relative(a, b, E, D)
        if name == "angle":
            axis, s = a.direction(E[:, 2]), np.arctan2(Q[1, 0], Q[0, 0])
        elif name == "angle_first":  # Q = Rx(alpha) Ry(beta)
            axis, s = a.direction(E[:, 0]), np.arctan2(Q[2, 1], Q[1, 1])
        else:
            axis, s = b.direction(D[:, 1]), np.arctan2(Q[0, 2], Q[0, 0])
        moment = effort(s, dot(axis, b.w - a.w), t) * axis
        return [(second, ZERO, b.r, moment), (first, ZERO, a.r, -moment)]

    return Element(first, second, turn if name.startswith("angle") else slide)


def relative(a: View, b: View, E: Any, D: Any) -> Any:
    """(3, 3, B) rotation from the joint's frame on the second body to that on the first."""
    return np.einsum("kib,klb,ljb->ijb", np.einsum("ijb,jkb->ikb", a.R, E), b.R, D)


def rotation_spring(same: list[Any], joints: list[Any], law: str) -> Element:
    first, second = joints[0].first, joints[0].second
    E, D = stacked(joints, "E_i"), stacked(joints, "E_j")
    k, c = stacked(same, "stiffness"), stacked(same, "damping")

    def loads(a: View, b: View, t: float) -> list[Load]:
        Q = relative(a, b, E, D)
        if law == "euler-321":  # Q = Rz(psi) Ry(theta) Rx(phi)
            angles = np.array([np.arctan2(Q[2, 1], Q[2, 2]), -np.arcsin(Q[2, 0]), np.arctan2(Q[1, 0], Q[0, 0])])
        else:
            axis = np.array([Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1]]) / 2  # sin(angle) n
            sine = np.sqrt(dot(axis, axis))
            turn = np.arctan2(sine, (Q[0, 0] + Q[1, 1] + Q[2, 2] - 1) / 2)
            angles = axis * np.where(sine > 1e-6, turn / np.maximum(sine, 1e-300), 1 + sine**2 / 6)
        moment = -k * a.direction(matvec(E, angles)) - c * (b.w - a.w)
        return [(second, ZERO, b.r, moment), (first, ZERO, a.r, -moment)]

    return Element(first, second, loads)
