"""Loads on one body: a force at a point, a torque; constant, times a motion, or a function of the user."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.calls import Call, Parameter, Parameters, UserFunction, parameters_of
from dalembert.model.elements import Body, Force, ForceRecord, Joints, States
from dalembert.model.frames import own_point
from dalembert.model.joint_verbs import BodyRef
from dalembert.model.motions import Motion, MotionLike, as_motion
from dalembert.model.store import ElementStore
from dalembert.model.validation import argument_count, choice, shown, vector

Frame = Literal["world", "body"]

_FORMS = {1: "f(t)", 5: "f(t, r, v, R, w) of position and velocity of the point, rotation, angular velocity (world axes)"}
_SLACK = 1e-9  # of what leaves the plane, as in compilation/planarity.py


class _Load(Force):
    """What both loads have; kinds : constant and function of the user in kernels/mechanics/forces.py."""

    kinds: ClassVar[tuple[str, str]]
    body: str
    frame: Frame
    factor: Motion | None
    parameters: tuple[Parameter, ...]

    @property
    def value(self) -> Array | UserFunction:
        """The vector or function, in `frame` axes: the field that is called like the verb."""
        found: Array | UserFunction = getattr(self, self.verb)
        return found

    @property
    def at(self) -> Array:
        """Where it acts, in body axes [m]."""
        return np.zeros(3)

    def ends(self, joints: Joints) -> tuple[str, ...]:
        return (self.body,)

    def sides(self, joints: Joints) -> tuple[tuple[str, Array], ...]:
        return ((self.body, self.at),)

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        constant, of_user = self.kinds
        if (call := self.call) is not None:
            return (ForceRecord(of_user, self.body, frame=self.frame, p_i=self.at, numbers=call.numbers),)
        return (
            ForceRecord(constant, self.body, motion=self.factor, frame=self.frame, p_i=self.at, vector=np.asarray(self.value)),
        )

    @cached_property
    def call(self) -> Call | None:
        if not callable(self.value):
            return None
        of_time = argument_count(self.value) == 1 + len(self.parameters)
        return Call(self.value, ((3,), (3,), (3, 3), (3,)), (3,), self.parameters, of_time)

    @property
    def motions(self) -> tuple[Motion | None, ...]:
        return (self.factor,)

    def _world(self, states: States, normal: Array) -> Array:
        """(nt, 3) its value in world axes, without the factor; of a model in a plane."""
        if (call := self.call) is None:
            values = np.tile(np.asarray(self.value), (len(states.t), 1))
        else:
            r, v = states.point(self.body, self.at), states.velocity(self.body, self.at)
            rows = zip(states.t, r, v, states.rotation(self.body), states.angular_velocity(self.body), strict=True)
            given = (call(float(t), *map(np.ascontiguousarray, row)) for t, *row in rows)
            owner, more = f"{self.noun} {self.name!r}", self._components(normal)
            values = np.array([call.checked(owner, value, more) for value in given], dtype=float)
        return values if self.frame == "world" else np.asarray(np.einsum("tij,tj->ti", states.rotation(self.body), values))

    def leaving(self, states: States, normal: Array) -> Array:
        values = self._world(states, normal)
        out = self.across(values, (values @ normal)[:, None] * normal)
        return np.where(out > _SLACK * (1.0 + np.linalg.norm(values, axis=1)), out, 0.0)

    def _components(self, normal: Array) -> str:
        """What a function returns in a plane, in words."""
        stays = self.across(np.eye(3), np.outer(normal, normal)) < _SLACK
        parts = [f"{self.verb[0]}{axis}" if fits else "0" for axis, fits in zip("xyz", stays, strict=True)]
        example = f": ({', '.join(parts)})" if stays.any() else ""
        return f" in a plane too{example}, along x, y, z of the {self.frame}; r and v have three as well"

    @abstractmethod
    def across(self, values: Array, along: Array) -> Array:
        """(nt,) what moves a body out of the plane; along : the part of the values along its normal."""


@dataclass(frozen=True, eq=False, repr=False)
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
    parameters: tuple[Parameter, ...] = ()
    verb: ClassVar[str] = "force"
    kinds: ClassVar[tuple[str, str]] = ("POINT_FORCE", "USER_FORCE")

    @property
    def at(self) -> Array:
        return self.point

    def places(self) -> tuple[tuple[str, Array], ...]:
        return ((self.body, self.point),)

    def across(self, values: Array, along: Array) -> Array:
        return np.asarray(np.linalg.norm(along, axis=1))


@dataclass(frozen=True, eq=False, repr=False)
class Torque(_Load):
    """A torque on a body: `torque * factor(t)` [N m] in `frame` axes, or a user function as in `PointForce`."""

    body: str
    torque: Array | UserFunction
    frame: Frame
    factor: Motion | None = None
    parameters: tuple[Parameter, ...] = ()
    verb: ClassVar[str] = "torque"
    kinds: ClassVar[tuple[str, str]] = ("TORQUE", "USER_TORQUE")

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
        parameters: Parameters | None = None,
    ) -> PointForce:
        """A force at a body-fixed point, constant in world or body axes, times `factor(t)` if given.

        force : three numbers [N], or a function f(t) or f(t, r, v, R, w) returning three numbers, with r, v the point's
            world position and velocity (three numbers in a plane, too), R (3, 3) the rotation body -> world, w the world
            angular velocity
        point : where it acts, body axes [m], default the centre of mass;  at : instead, world coordinates of the model pose [m]
        frame : axes of the force, "world" or "body";  factor : function of time
        parameters : numbers or arrays by name, given to the function as keyword arguments; may change without compiling anew
        """
        owner = self._new_name(PointForce.noun, name)
        target = self._moving_body(owner, body)
        _check_frame(owner, target, frame)
        value, given = _load(owner, "force", force, factor, parameters)
        p = own_point(owner, target, point, at)
        return self._add(PointForce(name, target.name, value, p, frame, _factor(owner, factor), given))

    def add_torque(
        self,
        name: str,
        body: BodyRef,
        torque: npt.ArrayLike | UserFunction,
        *,
        frame: Frame = "world",
        factor: MotionLike | None = None,
        parameters: Parameters | None = None,
    ) -> Torque:
        """A torque on a body, constant in world or body axes, times `factor(t)` if given.

        torque : three numbers [N m], or a function f(t) or f(t, r, v, R, w) as in `add_force`, r and v of the centre of mass
        frame : axes of the torque, "world" or "body";  factor : function of time
        parameters : as in `add_force`
        """
        owner = self._new_name(Torque.noun, name)
        target = self._moving_body(owner, body)
        if target.kind == "point":
            raise ModelError(f"{owner}: point mass {target.name!r} cannot turn; use add_body, or add_force")
        _check_frame(owner, target, frame)
        value, given = _load(owner, "torque", torque, factor, parameters)
        return self._add(Torque(name, target.name, value, frame, _factor(owner, factor), given))


def _check_frame(owner: str, body: Body, frame: str) -> None:
    choice(owner, "frame", frame, ("world", "body"))
    if frame == "body" and body.kind == "point":
        raise ModelError(f'{owner}: point mass {body.name!r} has no axes of its own; use frame="world"')


def _load(
    owner: str, label: str, value: npt.ArrayLike | UserFunction, factor: object, parameters: object
) -> tuple[Array | UserFunction, tuple[Parameter, ...]]:
    """A constant vector or a user function with its parameters, and no factor(t) that would be ignored."""
    if factor is not None and not isinstance(factor, Motion) and not callable(factor):
        raise ModelError(f"{owner}: factor is {shown(factor)}; give a motion such as Harmonic, or leave it out")
    if not callable(value):
        if parameters is not None:
            raise ModelError(f"{owner}: parameters go with a function; {label} is {shown(value)}")
        return vector(owner, label, value), ()
    given = parameters_of(owner, value, _FORMS, parameters)
    if factor is not None:
        raise ModelError(f"{owner}: factor goes with a constant {label}; put it into the function instead")
    return value, given


def _factor(owner: str, factor: MotionLike | None) -> Motion | None:
    return None if factor is None else as_motion(owner, "factor", factor)
