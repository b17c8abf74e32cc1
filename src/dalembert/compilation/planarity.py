"""Is a model planar, and in which plane? The `planar` coordinate kind moves every body in one plane [JetMultibody, 4.3]."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.cables import cables
from dalembert.model.elements import Body, Joint
from dalembert.model.joints import type_of
from dalembert.model.model import Model
from dalembert.model.plane import InPlane
from dalembert.model.rotation import cross
from dalembert.model.validation import size_of

SLACK = 1e-9
_MANY = 100  # axes of which most say what the plane is: the first may be the one that is wrong
_ONE = np.eye(3)


@dataclass(frozen=True, eq=False)
class Plane:
    """Unit vectors e1, e2 in the plane and its normal, right-handed, world axes."""

    e1: Array
    e2: Array
    normal: Array


def find_plane(model: Model, bodies: tuple[Body, ...]) -> Plane:
    """The plane in which the assembled bodies move, or an error that names what leaves it."""
    normal = _normal(model, bodies)
    e1 = np.eye(3)[np.argmin(np.abs(normal))]
    e1 = e1 - normal * (normal @ e1)
    if abs(abs(normal[2]) - 1.0) < 1e-12:
        e1 = np.array([1.0, 0.0, 0.0])
    e1 = e1 / np.linalg.norm(e1)
    plane = Plane(e1, cross(normal, e1), normal)
    _check(model, bodies, plane)
    return plane


def _normal(model: Model, bodies: tuple[Body, ...]) -> Array:
    """That of the plane that is told, else what shows it; of the two the one whose largest component is positive."""
    normal = _shown(model, bodies) if model.plane is None else InPlane(model.plane).normal
    largest = int(np.argmax(np.abs(normal)))
    return np.asarray(normal if normal[largest] > 0 else -normal, dtype=float)


def _shown(model: Model, bodies: tuple[Body, ...]) -> Array:
    """The normal by hinges and spins, or across gravity, slides and velocities."""
    rotation, least = {body.name: body.matrix for body in bodies}, SLACK * _speeds(model, bodies)[1]
    axes = [rotation.get(joint.first, _ONE) @ joint.E_i[:, 2] for joint in model.joints if _turns_in_plane(joint)]
    axes += [body.angular_velocity for body in bodies if np.linalg.norm(body.angular_velocity) > least]
    if axes:
        units = [axis / np.linalg.norm(axis) for axis in axes[:_MANY]]
        return np.asarray(units[int(np.argmax(np.sum(np.abs(np.array(units) @ np.array(units).T) > 1.0 - SLACK, axis=1)))])
    centre = np.mean([body.position for body in bodies], axis=0)
    flat = [model.gravity, *(body.velocity for body in bodies)]
    flat += [rotation.get(joint.first, _ONE) @ joint.E_i[:, 2] for joint in model.joints if _slides_in_plane(joint)]
    if _on_one_line(flat):
        flat += [body.position - centre for body in bodies]
    if _on_one_line(flat):  # a single pendulum: only its joint shows where it swings
        flat += [point - centre for point in _joint_points(model, bodies)]
    _, _, directions = np.linalg.svd(np.array(flat) + 0.0)
    if not _on_one_line(flat):
        return np.asarray(directions[2])
    normal = np.array([0.0, 0.0, 1.0])  # everything on one line: any plane through it; prefer x-y
    if abs(directions[0] @ normal) > 1.0 - SLACK:
        return np.array([0.0, 1.0, 0.0])
    normal = normal - directions[0] * (directions[0] @ normal)
    return np.asarray(normal / np.linalg.norm(normal))


def _speeds(model: Model, bodies: tuple[Body, ...]) -> tuple[float, float]:
    """The largest speed and spin; centres may rest on their axes, or all move without turning, but for rounding."""
    spin = max(float(np.linalg.norm(body.angular_velocity)) for body in bodies)
    points = (p for joint in model.joints for p in (joint.p_i, joint.p_j))
    arm = max(map(size_of, points), default=0.0) if spin > 0.0 else 0.0
    speed = max(float(np.linalg.norm(body.velocity)) for body in bodies)
    return speed + spin * arm, spin + (speed / arm if arm else 0.0)


def _slides_in_plane(joint: Joint) -> bool:
    """Whether its axis is where it slides, which has to be in the plane."""
    return type_of(joint).conditions == 5 and "translation" in joint.coordinates


def _turns_in_plane(joint: Joint) -> bool:
    """Whether it lets its bodies turn about its axis alone, and move across that alone."""
    return "angle" in joint.coordinates and "translation" not in joint.coordinates


def _on_one_line(vectors: list[Array]) -> bool:
    values = np.linalg.svd(np.array(vectors) + 0.0, compute_uv=False)
    return len(values) > 1 and bool(values[1] <= SLACK * values[0])


def _joint_points(model: Model, bodies: tuple[Body, ...]) -> list[Array]:
    """Both points of every joint in the pose of the assembled bodies, world axes [m]."""
    pose = {body.name: (body.position, body.matrix) for body in bodies}
    ground = (np.zeros(3), _ONE)
    points: list[Array] = []
    for joint in model.joints:
        for name, p in ((joint.first, joint.p_i), (joint.second, joint.p_j)):
            r, R = pose.get(name, ground)
            points.append(r + R @ p)
    return points


def _check(model: Model, bodies: tuple[Body, ...], plane: Plane) -> None:
    n = plane.normal

    def refuse(what: str) -> ModelError:
        shown = ", ".join(f"{v + 0.0:.4g}" for v in n)
        return ModelError(f"{what} leaves the plane with normal ({shown}); use coordinates='absolute'")

    speed, spin = _speeds(model, bodies)
    if abs(n @ model.gravity) > SLACK * np.linalg.norm(model.gravity):
        raise refuse("gravity")
    for body in bodies:
        if abs(n @ body.velocity) > SLACK * speed:
            raise refuse(f"body {body.name!r}: velocity")
        if np.linalg.norm(cross(n, body.angular_velocity)) > SLACK * spin:
            raise refuse(f"body {body.name!r}: angular velocity")
    rotation = {body.name: body.matrix for body in bodies}
    told = None if model.plane is None else InPlane(model.plane)
    for joint in model.joints:
        axis = rotation.get(joint.first, _ONE) @ joint.E_i[:, 2]
        if _turns_in_plane(joint) and np.linalg.norm(cross(n, axis)) > SLACK:
            raise refuse(f"joint {joint.name!r}: its axis is not the normal, so that what it lets move")
        if _slides_in_plane(joint) and abs(n @ axis) > SLACK:
            if told and abs(n @ told.normal) > 1.0 - SLACK:
                got, fits = (", ".join(f"{v + 0.0:.4g}" for v in vector) for vector in (axis, told.axes[0]))
                raise ModelError(
                    f"joint {joint.name!r}: its axis is ({got}), across the plane {told.name} of the model; give one in the"
                    f" plane, such as ({fits}) or, in its axes, (1, 0)"
                )
            raise refuse(f"joint {joint.name!r}: its slide")


def check_held(model: Model, bodies: tuple[Body, ...], plane: Plane, held: npt.NDArray[np.bool_]) -> None:
    """Refuse what would push a body out of the plane when its joints do not keep it there.

    held : (nb,) whether the joints bar every motion of a body out of the plane (a hinge does, a ball joint does not)
    """
    n = plane.normal
    loose = {body.name: body for body, kept in zip(bodies, held, strict=True) if not kept}
    if not loose:
        return
    rotation = {body.name: body.matrix for body in bodies}
    position = {body.name: body.position for body in bodies}
    for body in loose.values():
        n_B = rotation[body.name].T @ n
        J_n = body.inertia @ n_B
        if body.kind == "rigid" and np.linalg.norm(cross(n_B, J_n)) > SLACK * np.linalg.norm(J_n):
            raise _loose(f"the normal is no principal axis of body {body.name!r}", body.name)

    def arm(name: str, p: Array) -> Array:
        return np.asarray(rotation.get(name, _ONE) @ p)

    def in_plane(vector: Array) -> bool:
        return abs(float(n @ vector)) <= slack

    links: list[tuple[str, tuple[tuple[str, Array], ...], Joint | None]]
    links = [(repr(j.name), ((j.first, j.p_i), (j.second, j.p_j)), j) for j in model.joints if type_of(j).has_point]
    links += [(f"{f.noun} {f.name!r}", f.places(), None) for f in model.forces if len(f.places()) < 3]
    links += [(f"cable {name!r}", ends, None) for name, ps in cables(model.joints, model.forces) for ends in pairwise(ps)]
    lengths = [float(np.linalg.norm(point)) for _, places, _ in links for _, point in places]
    slack = SLACK * max(lengths, default=0.0) + 1e-13 * max(float(np.abs(r).max()) for r in position.values())
    for label, places, joint in links:
        arms = {name: arm(name, point) for name, point in places}
        for name in loose.keys() & arms.keys():
            if not in_plane(arms[name]):
                raise _loose(f"{label} acts beside the plane of the centre of mass", name)
            ends = [position.get(end, np.zeros(3)) + arms[end] for end, _ in places]
            along = joint is None or type_of(joint).count("D") > 0
            if along and not in_plane(ends[-1] - ends[0]):
                raise _loose(f"{label} is not parallel to the plane", name)


def _loose(what: str, name: str) -> ModelError:
    return ModelError(f"{what}, and the joints do not keep body {name!r} in the plane; use coordinates='absolute'")
