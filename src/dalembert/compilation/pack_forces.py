"""Force elements of a model as flat records for the packed tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dalembert.compilation.flatten import FlatModel
from dalembert.kernels.base import tables as T
from dalembert.model.elements import Joint, JointMotor, JointSpringDamper, PointForce, SpringDamper, Torque
from dalembert.model.joints import angle_of, direction_of
from dalembert.model.motions import Motion, Table

Array = npt.NDArray[np.float64]


def _zero() -> Array:
    return np.zeros(3)


@dataclass(frozen=True, eq=False)
class ForceRecord:
    """One row of the force tables: columns as in kernels/base/tables.py, FORCE_I and FORCE_F."""

    kind: int
    i: int
    j: int = 0
    motion: Motion | None = None
    angle: int = -1
    call: int = -1
    frame: int = 0
    p_i: Array = field(default_factory=_zero)
    p_j: Array = field(default_factory=_zero)
    vector: Array = field(default_factory=_zero)
    stiffness: float = 0.0
    damping: float = 0.0
    length: float = 0.0
    numbers: tuple[float, ...] = ()
    members: int = 0
    curve: Table | None = None
    damper: Table | None = None
    E_i: Array = field(default_factory=lambda: np.eye(3))
    E_j: Array = field(default_factory=lambda: np.eye(3))


def call_size(I: Sequence[int]) -> int:
    """How much of W the functions of force elements need at most."""
    table = np.reshape(I[I[T.FORCE_I] :][: T.FORCE_I_W * I[T.NFORCE]], (-1, T.FORCE_I_W))
    return max((24 + 3 * int(row[T.F_MEMBERS]) + int(row[T.F_COUNT]) for row in table if row[T.F_CALL] >= 0), default=0)


def force_records(flat: FlatModel) -> tuple[list[ForceRecord], tuple[PointForce | Torque, ...]]:
    """Every force element, and those whose value is a user function, in the order of their callback numbers."""
    joints = {joint.name: joint for joint in flat.model.joints}
    records: list[ForceRecord] = []
    functions: list[PointForce | Torque] = []
    for force in flat.forces:
        match force:
            case PointForce() | Torque():
                records.append(_on_body(flat, force, len(functions)))
                if records[-1].call >= 0:
                    functions.append(force)
            case SpringDamper():
                i, j = flat.index[force.first], flat.index[force.second]
                gains = (force.stiffness, force.damping, force.length)
                records.append(_spring(T.SPRING, i, j, gains, p_i=force.p_i, p_j=force.p_j))
            case JointSpringDamper(law="coordinate"):
                gains = (force.stiffness, force.damping, force.reference)
                kinds = (T.JOINT_ANGLE, T.JOINT_SLIDE)
                records.append(_on_coordinate(flat, joints[force.joint], force.component, kinds, gains, None))
            case JointSpringDamper():
                joint = joints[force.joint]
                kind = T.JOINT_ROTATION_VECTOR if force.law == "rotation-vector" else T.JOINT_EULER_321
                i, j = flat.index[joint.first], flat.index[joint.second]
                stiffness, damping = force.stiffness, force.damping
                records.append(ForceRecord(kind, i, j, stiffness=stiffness, damping=damping, E_i=joint.E_i, E_j=joint.E_j))
            case JointMotor():
                kinds = (T.MOTOR_ANGLE, T.MOTOR_SLIDE)
                joint = joints[force.joint]
                records.append(_on_coordinate(flat, joint, force.component, kinds, (0.0, 0.0, 0.0), force.effort))
    return records, tuple(functions)


def _on_body(flat: FlatModel, force: PointForce | Torque, call: int) -> ForceRecord:
    """A force at a point or a torque: constant times a motion, or a user function."""
    if isinstance(force, PointForce):
        vector, point, kinds = force.force, force.point, (T.POINT_FORCE, T.USER_FORCE)
    else:
        vector, point, kinds = force.torque, _zero(), (T.TORQUE, T.USER_TORQUE)
    frame, i = int(force.frame == "body"), flat.index[force.body]
    if callable(vector):
        return ForceRecord(kinds[1], i, call=call, frame=frame, p_i=point)
    return ForceRecord(kinds[0], i, motion=force.factor, frame=frame, p_i=point, vector=vector)


def _spring(
    kind: int, i: int, j: int, gains: tuple[float, float, float], *, p_i: Array, p_j: Array, vector: Array | None = None,
    motion: Motion | None = None,
) -> ForceRecord:  # fmt: skip
    return ForceRecord(
        kind, i, j, motion=motion, p_i=p_i, p_j=p_j, vector=_zero() if vector is None else vector,
        stiffness=gains[0], damping=gains[1], length=gains[2],
    )  # fmt: skip


def _on_coordinate(
    flat: FlatModel,
    joint: Joint,
    component: int,
    kinds: tuple[int, int],
    gains: tuple[float, float, float],
    motion: Motion | None,
) -> ForceRecord:
    """Along one joint coordinate: kinds[0] for an angle, kinds[1] for a translation."""
    angle, direction = angle_of(joint, component), direction_of(joint, component)
    if angle is not None:
        counter = [(item.joint, item.component) for item in flat.angles].index((joint.name, component))
        i, j = flat.index[angle.first], flat.index[angle.second]
        stiffness, damping, length = gains
        return ForceRecord(
            kinds[0], i, j, motion=motion, angle=counter, vector=angle.n_i,
            stiffness=stiffness, damping=damping, length=length,
        )  # fmt: skip
    assert direction is not None
    i, j = flat.index[joint.first], flat.index[joint.second]
    return _spring(kinds[1], i, j, gains, p_i=joint.p_i, p_j=joint.p_j, vector=direction, motion=motion)
