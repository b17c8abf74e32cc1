"""What acts along the coordinates of a joint: springs, dampers, motors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dalembert.errors import ModelError
from dalembert.model.elements import Force, ForceRecord, Joint, Joints, States, spring_energy
from dalembert.model.forces.springs import gains
from dalembert.model.joint_verbs import JointRef
from dalembert.model.joints import angle_of, component_name, direction_of, refuse_coordinate, type_of
from dalembert.model.motions import Motion, MotionLike, as_motion
from dalembert.model.rotation import matrix_to_quaternion
from dalembert.model.store import ElementStore
from dalembert.model.validation import Array, choice, number, shown

Law = Literal["coordinate", "rotation-vector", "euler-321"]


class _OnJoint(Force):
    """What both elements have."""

    joint: str
    component: int

    def ends(self, joints: Joints) -> tuple[str, ...]:
        return joints[self.joint].first, joints[self.joint].second

    def check(self, owner: str, joints: Joints) -> None:
        there = len(joints[self.joint].coordinates)
        if not 0 <= self.component < there:
            raise ModelError(
                f"{owner}: component {shown(self.component)}; expected one of the {there} coordinates of the joint; "
                "give the data of Model.to_dict() unchanged"
            )


@dataclass(frozen=True, eq=False)
class JointSpringDamper(_OnJoint):
    """Spring-damper on a joint.

    law "coordinate": on one joint coordinate (angle or translation): -stiffness (s - reference) - damping s'
    law "rotation-vector", "euler-321": on the relative rotation of a joint with two or three rotations
    component : index into the joint's coordinates (law "coordinate" only)
    """

    joint: str
    stiffness: float
    damping: float
    law: Law
    component: int = 0
    reference: float = 0.0
    verb: ClassVar[str] = "joint_spring_damper"
    noun: ClassVar[str] = "joint spring-damper"

    @property
    def works(self) -> bool:
        return self.damping != 0.0 or self.law == "euler-321"

    def check(self, owner: str, joints: Joints) -> None:
        if self.law == "coordinate":
            super().check(owner, joints)

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        joint = joints[self.joint]
        if self.law == "coordinate":
            return (on_coordinate(joint, self.component, "JOINT", (self.stiffness, self.damping, self.reference)),)
        kind = "JOINT_ROTATION_VECTOR" if self.law == "rotation-vector" else "JOINT_EULER_321"
        gains = self.stiffness, self.damping, 0.0
        return (ForceRecord(kind, joint.first, joint.second, gains=gains, E_i=joint.E_i, E_j=joint.E_j),)

    def stored(self, states: States, joints: Joints, reach: float) -> tuple[Array, Array]:
        joint = joints[self.joint]
        if self.law == "coordinate":
            s = states.coordinate(self.joint)
            s = s[:, self.component] if s.ndim > 1 else s
            if angle_of(joint, self.component) is not None:
                reach = 1.0 + float(np.max(np.abs(s), initial=0.0))
            return spring_energy(self.stiffness, s - self.reference, reach)
        if self.law == "rotation-vector":
            R_i, R_j = states.rotation(joint.first) @ joint.E_i, states.rotation(joint.second) @ joint.E_j
            theta = matrix_to_quaternion(np.swapaxes(R_i, 1, 2) @ R_j)
            turn = 2.0 * np.arctan2(np.linalg.norm(theta[:, 1:], axis=1), theta[:, 0])
            return spring_energy(self.stiffness, turn, np.pi)
        return super().stored(states, joints, reach)

    def energy_scale(self, size: float) -> float:
        return self.stiffness


@dataclass(frozen=True, eq=False)
class JointMotor(_OnJoint):
    """A prescribed torque (angle coordinate) or force (translation coordinate) along one joint coordinate."""

    joint: str
    effort: Motion
    component: int = 0
    verb: ClassVar[str] = "motor"
    noun: ClassVar[str] = "motor"

    @property
    def motions(self) -> tuple[Motion | None, ...]:
        return (self.effort,)

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        return (on_coordinate(joints[self.joint], self.component, "MOTOR", motion=self.effort),)


class JointForceVerbs(ElementStore):
    """Elements on joints, which are given by handle or name; SI units."""

    def add_joint_spring_damper(
        self,
        name: str,
        joint: JointRef,
        *,
        stiffness: float = 0.0,
        damping: float = 0.0,
        law: Law | None = None,
        reference: float = 0.0,
        component: int = 0,
    ) -> JointSpringDamper:
        """A spring-damper in a joint.

        stiffness : [N m/rad], on a translation [N/m];  damping : [N m s/rad], on a translation [N s/m]
        reference : coordinate without effort [rad or m];  component : which of `joint.coordinates`, counted from 0
        law : "coordinate": -stiffness (s - reference) - damping s' on joint coordinate `component`;
              "rotation-vector" or "euler-321": on the relative rotation of a spherical or universal joint;
              default: the first where a single coordinate makes sense, "rotation-vector" for spherical and universal
        """
        owner = self._new_name(JointSpringDamper.noun, name)
        on = self._joint(owner, joint)
        rotation_law = type_of(on).rotations > 1
        chosen: Law = law if law is not None else ("rotation-vector" if rotation_law else "coordinate")
        choice(owner, "law", chosen, ("coordinate", "rotation-vector", "euler-321"))
        at = number(owner, "reference", reference)
        if chosen == "coordinate":
            _check_coordinate(owner, on, component)
        elif not rotation_law or not on.coordinates:
            raise ModelError(
                f"{owner}: law {chosen!r} on {on.type} joint {on.name!r}; it needs a spherical or universal joint of "
                'two rigid bodies; for one angle or translation use law="coordinate"'
            )
        elif at != 0.0 or component != 0:
            raise ModelError(f'{owner}: reference and component mean nothing in law {chosen!r}; use law="coordinate"')
        both = gains(owner, stiffness, damping)
        return self._add(JointSpringDamper(name, on.name, *both, chosen, component, at))

    def add_motor(self, name: str, joint: JointRef, effort: float | MotionLike, *, component: int = 0) -> JointMotor:
        """A prescribed torque or force along a joint coordinate: + on the second body, - on the first.

        effort : [N m], along a translation [N];  component : which of `joint.coordinates`, counted from 0
        """
        owner = self._new_name(JointMotor.noun, name)
        on = self._joint(owner, joint)
        _check_coordinate(owner, on, component)
        return self._add(JointMotor(name, on.name, as_motion(owner, "effort", effort), component))


def _check_coordinate(owner: str, joint: Joint, component: int) -> None:
    """An angle or a translation, along which a single effort can act."""
    coordinate = component_name(owner, joint, component)
    if angle_of(joint, component) is None and direction_of(joint, component) is None:
        raise refuse_coordinate(owner, joint, coordinate)


def on_coordinate(
    joint: Joint,
    component: int,
    kind: str,
    gains: tuple[float, float, float] = (0.0, 0.0, 0.0),
    motion: Motion | None = None,
) -> ForceRecord:
    """Along one joint coordinate, an angle (kind "..._ANGLE" of the kernels) or a translation ("..._SLIDE")."""
    angle, direction = angle_of(joint, component), direction_of(joint, component)
    if angle is not None:
        counter = (joint.name, component)
        return ForceRecord(f"{kind}_ANGLE", angle.first, angle.second, motion, counter, vector=angle.n_i, gains=gains)
    assert direction is not None
    ends = joint.first, joint.second
    return ForceRecord(f"{kind}_SLIDE", *ends, motion, p_i=joint.p_i, p_j=joint.p_j, vector=direction, gains=gains)
