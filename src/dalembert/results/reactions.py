"""Forces and torques of joints and drivers from the multipliers of their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dalembert.arrays import Array, InShort
from dalembert.compilation.flatten import TRACED
from dalembert.compilation.pack import reference_length
from dalembert.compilation.pack_codes import alone
from dalembert.compilation.pack_motions import motion_values
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import ModelError
from dalembert.lagrangian.laws import LAWS
from dalembert.model.elements import MOST_ROWS, Primitive
from dalembert.model.validation import Hinted, nearest, shown
from dalembert.remarks.row_words import undetermined_parts


@dataclass(frozen=True, eq=False, repr=False)
class Reaction(InShort, Hinted):
    """Force and torque of a joint or driver on a body, mostly its second, world axes; the force acts at `point`.

    unique : False when redundant constraints leave it, or a part of it, undetermined; the value is then one of many that give
        the motion
    point : (nt, 3) where the force acts, world [m]: the joint point of the second body, the contact of a rolling one (which
        moves through the body), the body's centre of mass for a constraint that a user wrote or of more than two bodies
    undetermined : of what is not unique, which parts in words, such as "force along x"; () for all of it
    """

    force: Array
    torque: Array
    unique: bool
    point: Array
    undetermined: tuple[str, ...] = ()

    _meant = dict.fromkeys(
        ("magnitude", "norm", "size", "peak", "max", "value"),
        'solution.signal("A.f") is the size of the force, "A.t" of the torque, da.largest(solution, "A.f") the largest',
    )


def resultant(states: Trajectory, name: str, lam: Array, body: str | None = None) -> Reaction:
    """Force and torque of the multipliers (nt, rows) of a joint or driver on one of its bodies, at given states."""
    force, torque = np.zeros((len(states.t), 3)), np.zeros((len(states.t), 3))
    first, second, p_j, primitives, bodies = _element(states, name)
    on = second if body is None else body
    if on not in bodies:
        raise ModelError(f"{name!r} does not act on {shown(on)}; {nearest(on, bodies)}")
    if on != second and len(bodies) == 2 and not _by_centres(primitives[0]):
        other = resultant(states, name, lam)
        return replace(other, force=-other.force, torque=-other.torque)
    at = 0
    for primitive in primitives:
        rows = lam[:, at : at + len(primitive.labels)]
        at += len(primitive.labels)
        if primitive.kind == "C":
            force += rows
        elif primitive.kind in ("O", "D"):
            force += rows * _direction(states, primitive, first, second)
        elif primitive.kind in TRACED:
            wrench = np.einsum("tk,tki->ti", rows, _rows_on(states, name, primitive, bodies, on))
            force += wrench[:, :3]
            if _by_centres(primitive):  # contacts act at a point, where they have no torque
                torque += np.einsum("tij,tj->ti", states.rotation(on), wrench[:, 3:])
        else:
            d_i, d_j = _direction(states, primitive, first, second), states.rotation(second) @ primitive.a_j
            torque += rows * np.cross(d_j, d_i)
    point = states.position(on) if _by_centres(primitives[0]) else _point(states, first, second, p_j, primitives[0])
    unique = name not in states.mechanism.not_unique
    return Reaction(force, torque, unique, point, undetermined_parts(states.mechanism, name))


def _by_centres(primitive: Primitive) -> bool:
    """Whether its wrenches are told about the centres of mass, for want of a point where they act."""
    return primitive.kind in TRACED and primitive.law not in LAWS


def _point(states: Trajectory, first: str, second: str, p_j: Array, primitive: Primitive) -> Array:
    """(nt, 3) where the force on the second body acts, as the laws of `lagrangian.laws` say."""
    shape = primitive.law.partition(" ")[0]
    centre, R = states.point(second, p_j), states.rotation(second)
    n = states.rotation(first) @ primitive.n_i
    if shape == "sphere":
        return centre - primitive.offset * n
    if shape == "disc":
        axis = R @ primitive.a_j
        down = np.sum(n * axis, axis=1, keepdims=True) * axis - n
        return np.asarray(centre + primitive.offset * down / np.linalg.norm(down, axis=1, keepdims=True))
    if shape == "ellipsoid":
        m = np.einsum("tji,tj->ti", R, n)
        stretched = primitive.a_j**2 * m
        return np.asarray(
            centre - np.einsum("tij,tj->ti", R, stretched / np.sqrt(np.sum(m * stretched, axis=1, keepdims=True)))
        )
    return centre


def _element(states: Trajectory, name: str) -> tuple[str, str, Array, tuple[Primitive, ...], tuple[str, ...]]:
    """First and second body, the point on the second, primitives, all bodies."""
    model = states.mechanism.model
    joint = next((joint for joint in model.joints if joint.name == name), None)
    if joint is not None:
        return joint.first, joint.second, joint.p_j, joint.primitives, joint.bodies
    driver = next(d for d in model.drivers if d.name == name)
    return driver.first, driver.second, driver.primitive.p_j, (driver.primitive,), (driver.first, driver.second)


def _direction(states: Trajectory, primitive: Primitive, first: str, second: str) -> Array:
    """World direction that a row's multiplier acts along (forces) or turns against (torques)."""
    if primitive.kind == "D":
        e = states.point(second, primitive.p_j) - states.point(first, primitive.p_i)
        return e / reference_length(primitive)
    if primitive.kind == "A":
        angle = primitive.offset + motion_values(primitive.motion, states.t)
        side = np.cross(primitive.n_i, primitive.a_i)
        a = -np.sin(angle)[:, None] * primitive.a_i + np.cos(angle)[:, None] * side
        return np.asarray(np.einsum("tij,tj->ti", states.rotation(first), a))
    return states.rotation(first) @ primitive.a_i


def _counted(states: Trajectory, owner: str) -> list[Array]:
    """The counted angles that an element reads, (nt,) each."""
    mechanism = states.mechanism
    coupled = next((joint.coupled for joint in mechanism.model.joints if joint.name == owner), ())
    first = mechanism.nq + mechanism.nu + 1
    return [states.x[:, first + mechanism.angles.index(key)] for key in coupled if key in mechanism.angles]


def _rows_on(states: Trajectory, owner: str, primitive: Primitive, bodies: tuple[str, ...], on: str) -> Array:
    """(nt, rows, 6) rows of a traced constraint on one of its bodies, (force in world axes, torque in body axes) directions."""
    from dalembert.kernels.base import tables as T
    from dalembert.kernels.base.layout import width
    from dalembert.kernels.base.views import System
    from dalembert.kernels.mechanics.traced_rows import traced_rows
    from dalembert.lagrangian import body_rows

    source, _, _, (number,) = body_rows.row_source([(f"constraint {owner!r}", bodies, primitive)])
    code = body_rows.plain(source) if source else None
    turns = _counted(states, owner)
    I, F, size = alone(primitive, len(bodies), len(turns), number)
    poses = np.concatenate([_pose(states, body) for body in bodies], axis=1)
    counted = (
        np.column_stack([part for turn in turns for part in (turn, 0.0 * turn)]) if turns else np.zeros((len(states.t), 0))
    )
    at, rows = I[T.W_A] + 6 * MOST_ROWS * bodies.index(on), len(primitive.labels)
    out = np.zeros((len(states.t), rows, 6))
    for k, t in enumerate(states.t.tolist()):
        W = [0.0] * size
        W[width(T.W_BODY) : width(T.W_BODY) + poses.shape[1]] = poses[k].tolist()
        W[I[T.W_ANGLE] : I[T.W_ANGLE] + counted.shape[1]] = counted[k].tolist()
        traced_rows(T.MOTIONS, t, System(I, F, W, code))
        out[k] = np.reshape(W[at : at + 6 * rows], (-1, 6))
    return out


def _pose(states: Trajectory, body: str) -> Array:
    """(nt, 18) pose and twist as the kernels have them."""
    w_B = states.angular_velocity(body, frame="body")
    return np.concatenate([states.position(body), states.rotation(body).reshape(-1, 9), states.velocity(body), w_B], axis=1)
