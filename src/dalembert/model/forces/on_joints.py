"""What acts along the coordinates of a joint: springs, dampers, motors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.calls import Call, Parameter, Parameters, UserFunction, parameters_of
from dalembert.model.elements import Force, ForceRecord, Glyph, Joint, Joints, States, spring_energy, turned_far
from dalembert.model.forces.curves import beyond, gain, most, split, table_energy
from dalembert.model.joint_verbs import JointRef
from dalembert.model.joints import angle_of, check_coordinate, direction_of, type_of
from dalembert.model.motions import Motion, MotionLike, Table, as_motion
from dalembert.model.rotation import matrix_to_quaternion
from dalembert.model.store import ElementStore
from dalembert.model.validation import argument_count, choice, nearest, number, shown

JointRefs = Sequence[JointRef | tuple[JointRef, int]]
Law = Literal["coordinate", "rotation-vector", "euler-321"]


class _OnJoint(Force):
    """What both elements have."""

    joint: str
    component: int

    def ends(self, joints: Joints) -> tuple[str, ...]:
        return joints[self.joint].first, joints[self.joint].second

    def sides(self, joints: Joints) -> tuple[tuple[str, Array], ...]:
        joint = joints[self.joint]
        return (joint.first, joint.p_i), (joint.second, joint.p_j)

    @property
    def coordinates(self) -> int:
        return 1

    def check(self, owner: str, joints: Joints) -> None:
        there = len(joints[self.joint].coordinates)
        if not 0 <= self.component < there:
            raise ModelError(
                f"{owner}: component {shown(self.component)}; expected one of the {there} coordinates of the joint; "
                "give the data of Model.to_dict() unchanged"
            )


@dataclass(frozen=True, eq=False, repr=False)
class JointSpringDamper(_OnJoint):
    """Spring-damper on a joint.

    law "coordinate": on one joint coordinate (angle or translation): -stiffness (s - reference) - damping s', or tables of
        s - reference and of s' in their places
    law "rotation-vector", "euler-321": on the relative rotation of a joint with two or three rotations
    component : index into the joint's coordinates (law "coordinate" only)
    """

    joint: str
    stiffness: float | Table
    damping: float | Table
    law: Law
    component: int = 0
    reference: float = 0.0
    verb: ClassVar[str] = "joint_spring_damper"
    noun: ClassVar[str] = "joint spring-damper"
    glyph: ClassVar[Glyph] = "coil"

    @property
    def works(self) -> bool:
        return self.damping != 0.0 or self.law == "euler-321"

    @property
    def coordinates(self) -> int:
        return int(self.law == "coordinate")

    def check(self, owner: str, joints: Joints) -> None:
        if self.law == "coordinate":
            super().check(owner, joints)
        elif label := next((key for key in ("stiffness", "damping") if isinstance(getattr(self, key), Table)), None):
            raise ModelError(
                f'{owner}: {label} is a Table, law {self.law!r} takes a number; use law="coordinate" with a component'
            )

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        joint, (k, curve), (c, damper) = joints[self.joint], split(self.stiffness), split(self.damping)
        if self.law == "coordinate":
            bare = on_coordinate(joint, self.component, "JOINT", (k, c, self.reference))
            return (replace(bare, curve=curve, origin=self.reference, damper=damper),)
        kind = "JOINT_ROTATION_VECTOR" if self.law == "rotation-vector" else "JOINT_EULER_321"
        return (ForceRecord(kind, joint.first, joint.second, gains=(k, c, 0.0), E_i=joint.E_i, E_j=joint.E_j),)

    def stored(self, states: States, joints: Joints, reach: float) -> tuple[Array, Array]:
        joint, (k, curve) = joints[self.joint], split(self.stiffness)
        if self.law == "coordinate":
            s = self._along(states.coordinate)
            if angle_of(joint, self.component) is not None:
                reach = 1.0 + float(np.max(np.abs(s), initial=0.0))
            s = s - self.reference
            return spring_energy(k, s, reach) if curve is None else table_energy(curve, s, 0.0, reach)
        if self.law == "rotation-vector":
            return spring_energy(k, self._turn(states, joint), np.pi)
        return super().stored(states, joints, reach)

    def energy_scale(self, size: float) -> float:
        return most(self.stiffness) if isinstance(self.stiffness, Table) else self.stiffness

    def remark(self, states: States, joints: Joints) -> str:
        joint = joints[self.joint]
        if self.law == "rotation-vector":
            return "" if self.stiffness == 0.0 else turned_far(self._turn(states, joint))
        unit = "m" if angle_of(joint, self.component) is None else "rad"
        return beyond(
            (self.stiffness, lambda: self._along(states.coordinate) - self.reference, f"coordinate [{unit}]"),
            (self.damping, lambda: self._along(states.coordinate_rate), f"rate [{unit}/s]"),
        )

    def _along(self, of: Callable[[object], Array]) -> Array:
        """(nt,) Of the joint's coordinates, or of their rates, the one that it acts along."""
        values = of(self.joint)
        return values[:, self.component] if values.ndim > 1 else values

    def _turn(self, states: States, joint: Joint) -> Array:
        """(nt,) Angle between the joint's frames, up to half a turn."""
        R_i, R_j = states.rotation(joint.first) @ joint.E_i, states.rotation(joint.second) @ joint.E_j
        theta = matrix_to_quaternion(np.swapaxes(R_i, 1, 2) @ R_j)
        return np.asarray(2.0 * np.arctan2(np.linalg.norm(theta[:, 1:], axis=1), theta[:, 0]))


@dataclass(frozen=True, eq=False, repr=False)
class JointMotor(_OnJoint):
    """A torque (angle coordinate) or force (translation coordinate) along one joint coordinate.

    effort : a motion, or a function `effort(t, s, s_dot)` of the coordinate and its rate
    """

    joint: str
    effort: Motion | UserFunction
    component: int = 0
    parameters: tuple[Parameter, ...] = ()
    verb: ClassVar[str] = "motor"
    glyph: ClassVar[Glyph] = "motor"

    @property
    def motions(self) -> tuple[Motion | None, ...]:
        return (self.effort,) if isinstance(self.effort, Motion) else ()

    @property
    def call(self) -> Call | None:
        return None if isinstance(self.effort, Motion) else Call(self.effort, ((), ()), (), self.parameters)

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        joint = joints[self.joint]
        if isinstance(self.effort, Motion):
            return (on_coordinate(joint, self.component, "MOTOR", motion=self.effort),)
        return law_records([on_coordinate(joint, self.component, "LAW")], self.call)


@dataclass(frozen=True, eq=False, repr=False)
class JointLaw(Force):
    """Efforts along several joint coordinates by one function `law(t, s, s_dot)` of all of them and their rates, as arrays."""

    joints: tuple[str, ...]
    components: tuple[int, ...]
    law: UserFunction
    parameters: tuple[Parameter, ...] = ()
    verb: ClassVar[str] = "joint_law"
    noun: ClassVar[str] = "joint law"
    glyph: ClassVar[Glyph] = "motor"

    def ends(self, joints: Joints) -> tuple[str, ...]:
        return tuple(dict.fromkeys(end for name in self.joints for end in (joints[name].first, joints[name].second)))

    @property
    def coordinates(self) -> int:
        return len(self.joints)

    @property
    def call(self) -> Call:
        n = len(self.joints)
        return Call(self.law, ((n,), (n,)), (n,), self.parameters)

    def told(self) -> dict[str, Any]:
        return {**super().told(), "joints": list(zip(self.joints, self.components, strict=True))}

    def check(self, owner: str, joints: Joints) -> None:
        if len(self.joints) != len(self.components) or not self.joints:
            raise ModelError(f"{owner}: {len(self.joints)} joints, {len(self.components)} components; give one of each")
        for name, component in zip(self.joints, self.components, strict=True):
            if name not in joints:
                raise ModelError(f"{owner}: there is no joint {shown(name)}; {nearest(name, joints)}")
            check_coordinate(owner, joints[name], component)

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        pairs = zip(self.joints, self.components, strict=True)
        return law_records([on_coordinate(joints[name], component, "LAW") for name, component in pairs], self.call)


class JointForceVerbs(ElementStore):
    """Elements on joints, which are given by handle or name; SI units."""

    def add_joint_spring_damper(
        self,
        name: str,
        joint: JointRef,
        *,
        stiffness: float | Table = 0.0,
        damping: float | Table = 0.0,
        law: Law | None = None,
        reference: float = 0.0,
        component: int = 0,
    ) -> JointSpringDamper:
        """A spring-damper in a joint.

        stiffness : [N m/rad], on a translation [N/m], or a `Table` of s - reference and of efforts against it [N m], [N]
        damping : [N m s/rad], on a translation [N s/m], or a `Table` of rates [rad/s], [m/s] and of efforts against them:
            friction, a load on the forward stroke alone
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
            check_coordinate(owner, on, component)
        elif not rotation_law or not on.coordinates:
            raise ModelError(
                f"{owner}: law {chosen!r} on {on.type} joint {on.name!r}; it needs a spherical or universal joint of "
                'two rigid bodies; for one angle or translation use law="coordinate"'
            )
        elif at != 0.0 or component != 0:
            raise ModelError(f'{owner}: reference and component mean nothing in law {chosen!r}; use law="coordinate"')
        both = gain(owner, "stiffness", stiffness), gain(owner, "damping", damping)
        made = JointSpringDamper(name, on.name, *both, chosen, component, at)
        made.check(owner, {on.name: on})
        return self._add(made)

    def add_motor(
        self,
        name: str,
        joint: JointRef,
        effort: float | MotionLike | UserFunction,
        *,
        component: int = 0,
        parameters: Parameters | None = None,
    ) -> JointMotor:
        """A torque or force along a joint coordinate: + on the second body, - on the first.

        effort : [N m], along a translation [N]: a number or a motion, or a function effort(t, s, s_dot) of the coordinate [rad]
            or [m], angles counted over full turns, and its rate, that returns a number
        component : which of `joint.coordinates`, counted from 0
        parameters : numbers or arrays by name, given to the function as keyword arguments; may change without compiling anew
        """
        owner = self._new_name(JointMotor.noun, name)
        on = self._joint(owner, joint)
        check_coordinate(owner, on, component)
        if not callable(effort) or (parameters is None and argument_count(effort) == 1):
            if parameters is not None:
                raise ModelError(f"{owner}: parameters go with a function; effort is {shown(effort)}")
            return self._add(JointMotor(name, on.name, as_motion(owner, "effort", effort), component))
        given = parameters_of(owner, effort, {3: "effort(t, s, s_dot)"}, parameters)
        return self._add(JointMotor(name, on.name, effort, component, given))

    def add_joint_law(
        self,
        name: str,
        joints: JointRefs,
        law: UserFunction,
        *,
        parameters: Parameters | None = None,
    ) -> JointLaw:
        """Torques [N m] or forces [N] along several joint coordinates by one function, as in `add_motor`: a controller.

        joints : of each its first coordinate, or (joint, component)
        law : law(t, s, s_dot) of the coordinates [rad] or [m] and their rates, arrays in the order of `joints`, that returns
            as many efforts, of one joint a number or an array of one
        parameters : numbers or arrays by name, given to the law as keyword arguments; may change without compiling anew
        """
        owner = self._new_name(JointLaw.noun, name)
        if isinstance(joints, str | Joint) or not isinstance(joints, Sequence) or not joints:
            raise ModelError(f"{owner}: joints is {shown(joints)}; give a list of joints, or of (joint, component)")
        pairs = []
        for entry in joints:
            joint, component = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, 0)
            on = self._joint(owner, joint)
            check_coordinate(owner, on, component)
            pairs.append((on.name, int(component)))
        if len(set(pairs)) < len(pairs):
            twice = next(pair for pair in pairs if pairs.count(pair) > 1)
            raise ModelError(f"{owner}: coordinate {twice[1]} of joint {twice[0]!r} is there twice; give each once")
        given = parameters_of(owner, law, {3: "law(t, s, s_dot)"}, parameters)
        names, components = zip(*pairs, strict=True)
        return self._add(JointLaw(name, names, components, law, given))


def law_records(records: Sequence[ForceRecord], call: Call | None) -> tuple[ForceRecord, ...]:
    """Those of the coordinates that a user's function acts along; the first one has its parameters."""
    assert call is not None
    return (replace(records[0], numbers=call.numbers), *records[1:])


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
