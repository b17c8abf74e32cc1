"""Loads on one body: a force at a point, a torque; constant, times a motion, or a function of the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError
from dalembert.model.elements import Body, Force, ForceRecord, Joints, States, UserFunction
from dalembert.model.frames import own_point
from dalembert.model.joint_verbs import BodyRef
from dalembert.model.motions import Motion, MotionLike, as_motion
from dalembert.model.store import ElementStore
from dalembert.model.validation import Array, argument_count, choice, shown, user_function, vector

Frame = Literal["world", "body"]

_SLACK = 1e-9  # of what leaves the plane, as in compilation/planarity.py


class _Load(Force):
    """What both loads have; kinds : constant and function of the user in kernels/mechanics/forces.py."""

    kinds: ClassVar[tuple[str, str]]
    body: str
    frame: Frame
    factor: Motion | None

    @property
    def value(self) -> Array | UserFunction:
        """The vector or function, in `frame` axes."""
        raise NotImplementedError

    @property
    def at(self) -> Array:
        """Where it acts, in body axes [m]."""
        return np.zeros(3)

    def ends(self, joints: Joints) -> tuple[str, ...]:
        return (self.body,)

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        constant, of_user = self.kinds
        if callable(self.value):
            return (ForceRecord(of_user, self.body, frame=self.frame, p_i=self.at),)
        return (ForceRecord(constant, self.body, motion=self.factor, frame=self.frame, p_i=self.at, vector=self.value),)

    @property
    def function(self) -> UserFunction | None:
        return self.value if callable(self.value) else None

    @property
    def motions(self) -> tuple[Motion | None, ...]:
        return (self.factor,)

    def given(self, states: States) -> tuple[Array, ...]:
        """r, v of its point, R and w of its body."""
        r, v = states.point(self.body, self.at), states.point_velocity(self.body, self.at)
        return r, v, states.rotation(self.body), states.angular_velocity(self.body)

    def world(self, states: States) -> Array:
        """(nt, 3) its value in world axes, without the factor."""
        if not callable(self.value):
            values = np.tile(self.value, (len(states.t), 1))
        elif argument_count(self.value) == 1:
            values = np.array([self.value(float(t)) for t in states.t], dtype=float)
        else:
            rows = zip(states.t, *self.given(states), strict=True)
            values = np.array([self.value(float(t), *map(np.ascontiguousarray, row)) for t, *row in rows], dtype=float)
        return values if self.frame == "world" else np.asarray(np.einsum("tij,tj->ti", states.rotation(self.body), values))

    def leaving(self, states: States, normal: Array) -> Array:
        values = self.world(states)
        out = self.across(values, (values @ normal)[:, None] * normal)
        return np.where(out > _SLACK * (1.0 + np.linalg.norm(values, axis=1)), out, 0.0)

    def across(self, values: Array, along: Array) -> Array:
        """(nt,) what moves a body out of the plane; along : the part of the values along its normal."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class PointForce(_Load):
    """A force at a body-fixed point: `force * factor(t)`, or a user function.

    force : (3,) [N] in `frame` axes, or a function `f(t)` or `f(t, r, v, R, w)` returning three numbers, where
    r, v = world position and velocity of the point, R = (3, 3) body -> world, w = world angular velocity
    """

    body: str
    force: Array | UserFunction
    point: Array
    frame: Frame
    factor: Motion | None = None
    verb: ClassVar[str] = "force"
    noun: ClassVar[str] = "force"
    kinds: ClassVar[tuple[str, str]] = ("POINT_FORCE", "USER_FORCE")

    @property
    def value(self) -> Array | UserFunction:
        return self.force

    @property
    def at(self) -> Array:
        return self.point

    def places(self) -> tuple[tuple[str, Array], ...]:
        return ((self.body, self.point),)

    def across(self, values: Array, along: Array) -> Array:
        return np.asarray(np.linalg.norm(along, axis=1))


@dataclass(frozen=True, eq=False)
class Torque(_Load):
    """A torque on a body: `torque * factor(t)` [N m] in `frame` axes, or a user function as in `PointForce`."""

    body: str
    torque: Array | UserFunction
    frame: Frame
    factor: Motion | None = None
    verb: ClassVar[str] = "torque"
    noun: ClassVar[str] = "torque"
    kinds: ClassVar[tuple[str, str]] = ("TORQUE", "USER_TORQUE")

    @property
    def value(self) -> Array | UserFunction:
        return self.torque

    def across(self, values: Array, along: Array) -> Array:
        return np.asarray(np.linalg.norm(values - along, axis=1))


class LoadVerbs(ElementStore):
    """Loads on bodies, which are given by handle or name; SI units."""

    def add_force(
        self,
        name: str,
        body: BodyRef,
        force: npt.ArrayLike | UserFunction,
        *,
        point: npt.ArrayLike | None = None,
        at: npt.ArrayLike | None = None,
        frame: Frame = "world",
        factor: MotionLike | None = None,
    ) -> PointForce:
        """A force at a body-fixed point, constant in world or body axes, times `factor(t)` if given.

        force : three numbers [N], or a function f(t) or f(t, r, v, R, w) returning three numbers, with r, v the point's
            world position and velocity, R (3, 3) the rotation body -> world, w the world angular velocity
        point : where it acts, body axes [m], default the centre of mass;  at : instead, world coordinates of the model pose [m]
        frame : axes of the force, "world" or "body";  factor : function of time
        """
        owner = self._new_name(PointForce.noun, name)
        target = self._moving_body(owner, body)
        _check_frame(owner, target, frame)
        value = _load(owner, "force", force, factor)
        p = own_point(owner, target, point, at)
        return self._add(PointForce(name, target.name, value, p, frame, _factor(owner, factor)))

    def add_torque(
        self,
        name: str,
        body: BodyRef,
        torque: npt.ArrayLike | UserFunction,
        *,
        frame: Frame = "world",
        factor: MotionLike | None = None,
    ) -> Torque:
        """A torque on a body, constant in world or body axes, times `factor(t)` if given.

        torque : three numbers [N m], or a function f(t) or f(t, r, v, R, w) as in `add_force`, r and v of the centre of mass
        frame : axes of the torque, "world" or "body";  factor : function of time
        """
        owner = self._new_name(Torque.noun, name)
        target = self._moving_body(owner, body)
        if target.kind == "point":
            raise ModelError(f"{owner}: point mass {target.name!r} cannot turn; use add_body, or add_force")
        _check_frame(owner, target, frame)
        value = _load(owner, "torque", torque, factor)
        return self._add(Torque(name, target.name, value, frame, _factor(owner, factor)))


def _check_frame(owner: str, body: Body, frame: str) -> None:
    choice(owner, "frame", frame, ("world", "body"))
    if frame == "body" and body.kind == "point":
        raise ModelError(f'{owner}: point mass {body.name!r} has no axes of its own; use frame="world"')


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


def _factor(owner: str, factor: MotionLike | None) -> Motion | None:
    return None if factor is None else as_motion(owner, "factor", factor)
