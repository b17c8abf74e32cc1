"""The verbs of `Model` that add forces, torques, spring-dampers and motors."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError
from dalembert.model.elements import (
    Body,
    Joint,
    JointMotor,
    JointSpringDamper,
    PointForce,
    SpringDamper,
    Torque,
    UserFunction,
)
from dalembert.model.frames import locate, world_point
from dalembert.model.joint_verbs import ORIGINS, BodyRef, Pair
from dalembert.model.joints import angle_of, component_name, direction_of, refuse_coordinate
from dalembert.model.motions import Motion, MotionLike, as_motion
from dalembert.model.store import ElementStore
from dalembert.model.validation import Array, choice, number, shown, user_function, vector

JointRef = Joint | str
Frame = Literal["world", "body"]
Law = Literal["coordinate", "rotation-vector", "euler-321"]

_ROTATION_LAW_JOINTS = ("spherical", "universal")


class ForceVerbs(ElementStore):
    """Applied forces. Bodies and joints are given by handle or name; SI units."""

    def add_force(
        self,
        name: str,
        body: BodyRef,
        force: npt.ArrayLike | UserFunction,
        *,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        frame: Frame = "world",
        factor: MotionLike | None = None,
    ) -> PointForce:
        """A force [N] at a body-fixed point [m], constant in world or body axes, times `factor(t)` if given.

        force : three numbers, or a function f(t) or f(t, r, v, R, w) returning three numbers, with r, v the point's
        world position and velocity, R (3, 3) the rotation body -> world, w the world angular velocity
        """
        owner = self._new_name("force", name)
        target = self._moving_body(owner, body)
        self._check_frame(owner, target, frame)
        value = self._load(owner, "force", force, factor)
        p = vector(owner, "point", point)
        if target.kind == "point" and p.any():
            raise ModelError(f"{owner}: point is {shown(p)} on point mass {target.name!r}; give (0, 0, 0)")
        return self._add(PointForce(name, target.name, value, p, frame, self._factor(owner, factor)))

    def add_torque(
        self,
        name: str,
        body: BodyRef,
        torque: npt.ArrayLike | UserFunction,
        *,
        frame: Frame = "body",
        factor: MotionLike | None = None,
    ) -> Torque:
        """A torque [N m] on a body, constant in body or world axes, times `factor(t)` if given.

        torque : three numbers, or a function f(t) or f(t, r, v, R, w) as in `add_force`, r and v of the centre of mass
        """
        owner = self._new_name("torque", name)
        target = self._moving_body(owner, body)
        if target.kind == "point":
            raise ModelError(f"{owner}: point mass {target.name!r} cannot turn; use add_body, or add_force")
        self._check_frame(owner, target, frame)
        value = self._load(owner, "torque", torque, factor)
        return self._add(Torque(name, target.name, value, frame, self._factor(owner, factor)))

    def add_spring_damper(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        stiffness: float,
        damping: float = 0.0,
        length: float | None = None,
        points: Pair = ORIGINS,
    ) -> SpringDamper:
        """Tension stiffness (|d| - length) + damping d|d|/dt between two body-fixed points, d = x_second - x_first.

        stiffness [N/m], damping [N s/m], length [m] when slack; default: the distance in the model pose
        """
        owner = self._new_name("spring-damper", name)
        i, j = self._two_bodies(owner, first, second)
        p_i, p_j = locate(owner, i, j, None, points)
        if length is None:
            length = float(np.linalg.norm(world_point(j, p_j) - world_point(i, p_i)))
        slack = number(owner, "length", length, least=0.0)
        return self._add(SpringDamper(name, i.name, j.name, p_i, p_j, *_gains(owner, stiffness, damping), slack))

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
        """A spring-damper in a joint: units N m/rad and N m s/rad on rotations, N/m and N s/m on translations.

        law : "coordinate": -stiffness (s - reference) - damping s' on joint coordinate `component`;
              "rotation-vector" or "euler-321": on the relative rotation of a spherical or universal joint;
              default: the first where a single coordinate makes sense, "rotation-vector" for spherical and universal
        """
        owner = self._new_name("joint spring-damper", name)
        on = self._joint(owner, joint)
        rotation_law = on.type in _ROTATION_LAW_JOINTS
        chosen: Law = law if law is not None else ("rotation-vector" if rotation_law else "coordinate")
        choice(owner, "law", chosen, ("coordinate", "rotation-vector", "euler-321"))
        at = number(owner, "reference", reference)
        if chosen == "coordinate":
            self._check_coordinate(owner, on, component)
        elif not rotation_law or not on.coordinates:
            raise ModelError(
                f"{owner}: law {chosen!r} on {on.type} joint {on.name!r}; it needs a spherical or universal joint of "
                'two rigid bodies; for one angle or translation use law="coordinate"'
            )
        elif at != 0.0 or component != 0:
            raise ModelError(f'{owner}: reference and component mean nothing in law {chosen!r}; use law="coordinate"')
        gains = _gains(owner, stiffness, damping)
        return self._add(JointSpringDamper(name, on.name, *gains, chosen, component, at))

    def add_motor(self, name: str, joint: JointRef, effort: float | MotionLike, *, component: int = 0) -> JointMotor:
        """A prescribed torque [N m] or force [N] along a joint coordinate: + on the second body, - on the first."""
        owner = self._new_name("motor", name)
        on = self._joint(owner, joint)
        self._check_coordinate(owner, on, component)
        return self._add(JointMotor(name, on.name, as_motion(owner, "effort", effort), component))

    @staticmethod
    def _check_coordinate(owner: str, joint: Joint, component: int) -> None:
        """An angle or a translation, along which a single effort can act."""
        coordinate = component_name(owner, joint, component)
        if angle_of(joint, component) is None and direction_of(joint, component) is None:
            raise refuse_coordinate(owner, joint, coordinate)

    @staticmethod
    def _check_frame(owner: str, body: Body, frame: str) -> None:
        choice(owner, "frame", frame, ("world", "body"))
        if frame == "body" and body.kind == "point":
            raise ModelError(f'{owner}: point mass {body.name!r} has no axes of its own; use frame="world"')

    @staticmethod
    def _load(owner: str, label: str, value: npt.ArrayLike | UserFunction, factor: object) -> Array | UserFunction:
        """A constant vector or a user function, and no factor(t) that would be ignored."""
        if factor is not None and not isinstance(factor, Motion) and not callable(factor):
            raise ModelError(f"{owner}: factor is {shown(factor)}; give a motion such as Harmonic, or leave it out")
        if not callable(value):
            return vector(owner, label, value)
        user_function(owner, value)
        if factor is not None:
            raise ModelError(f"{owner}: factor goes with a constant {label}; put it into the function instead")
        return value

    @staticmethod
    def _factor(owner: str, factor: MotionLike | None) -> Motion | None:
        return None if factor is None else as_motion(owner, "factor", factor)


def _gains(owner: str, stiffness: float, damping: float) -> tuple[float, float]:
    return number(owner, "stiffness", stiffness, least=0.0), number(owner, "damping", damping, least=0.0)
