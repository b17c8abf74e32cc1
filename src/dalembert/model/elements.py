"""What a model is made of: bodies, primitives, joints, drivers, forces, as frozen data.

Names are strings, numbers SI. `Model` creates and validates these objects; `compile` reads them. No mathematics here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from dalembert.model.motions import Motion

Array = npt.NDArray[np.float64]

GROUND = "ground"


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body, a point mass, or the ground.

    inertia : (3, 3) about the centre of mass in body axes [kg m^2], zeros for a point mass
    position : (3,) centre of mass, world [m];  rotation : (4,) unit quaternion body -> world, scalar first
    velocity, angular_velocity : (3,) world axes [m/s], [rad/s]
    fixed : assembly leaves its pose and velocities alone (the body still moves in the simulation)
    given : whether the user gave (velocity, angular_velocity); assembly changes those first that were not given
    """

    name: str
    kind: Literal["rigid", "point", "ground"]
    mass: float
    inertia: Array
    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    fixed: bool = False
    shape: dict[str, object] | None = None
    given: tuple[bool, bool] = (True, True)


@dataclass(frozen=True, eq=False)
class Primitive:
    """One constraint primitive between bodies i = first and j = second [JetMultibody, 5.3].

        C   g = x_j - x_i                             3 rows, world axes
        SO  g = (R_i a_i) . (R_j a_j)                 1 row
        O   g = (R_i a_i) . (x_j - x_i) - offset - f(t)
        D   g = (|x_j - x_i|^2 - l^2) / (2 l),  l = offset + f(t)
        A   g = sin(angle - offset - f(t)),  angle of a_j about n_i, counted from a_i      (angle drivers)
        U   a residual g of positions, V one of velocities (A u + b, nonholonomic): `law` names one of `laws.LAWS`,
            "" a user's function of both bodies; their derivatives are traced

    p_i, p_j : (3,) body-fixed points [m];  a_i, a_j, n_i : (3,) body-fixed unit vectors
    labels : one per row, for reports ("x", "y", "z", "SO(x, z)", ...)
    """

    kind: Literal["C", "SO", "O", "D", "A", "U", "V"]
    labels: tuple[str, ...]
    p_i: Array = field(default_factory=lambda: np.zeros(3))
    p_j: Array = field(default_factory=lambda: np.zeros(3))
    a_i: Array = field(default_factory=lambda: np.zeros(3))
    a_j: Array = field(default_factory=lambda: np.zeros(3))
    n_i: Array = field(default_factory=lambda: np.zeros(3))
    offset: float = 0.0
    motion: Motion | None = None
    law: str = ""
    function: UserFunction | None = None


@dataclass(frozen=True, eq=False)
class Joint:
    """A named set of primitives between two bodies, with a frame fixed in each.

    p_i, p_j : (3,) the joint point in each body [m]
    E_i, E_j : (3, 3) columns = joint frame axes in body axes; equal in the world when all coordinates are zero
    coordinates : names of the joint coordinates, in order, see `joints.COORDINATES`
    coordinate, rate : initial values that assembly must meet, one entry per coordinate, None = free
    """

    name: str
    type: str
    first: str
    second: str
    p_i: Array
    p_j: Array
    E_i: Array
    E_j: Array
    primitives: tuple[Primitive, ...]
    coordinates: tuple[str, ...] = ()
    coordinate: tuple[float | None, ...] = ()
    rate: tuple[float | None, ...] = ()


@dataclass(frozen=True, eq=False)
class Driver:
    """A prescribed joint coordinate or point motion: one rheonomic primitive, kind "O", "A" or "D" with its motion.

    joint : the driven joint's name, or None for a point driver
    """

    name: str
    joint: str | None
    first: str
    second: str
    primitive: Primitive


UserFunction = Callable[..., object]


@dataclass(frozen=True, eq=False)
class PointForce:
    """A force at a body-fixed point: `force * factor(t)`, or a user function.

    force : (3,) [N] in `frame` axes, or a function `f(t)` or `f(t, r, v, R, w)` returning three numbers, where
    r, v = world position and velocity of the point, R = (3, 3) body -> world, w = world angular velocity
    """

    name: str
    body: str
    force: Array | UserFunction
    point: Array
    frame: Literal["world", "body"]
    factor: Motion | None = None


@dataclass(frozen=True, eq=False)
class Torque:
    """A torque on a body: `torque * factor(t)` [N m] in `frame` axes, or a user function as in `PointForce`."""

    name: str
    body: str
    torque: Array | UserFunction
    frame: Literal["world", "body"]
    factor: Motion | None = None


@dataclass(frozen=True, eq=False)
class SpringDamper:
    """Point-to-point spring-damper: tension `stiffness (|d| - length) + damping d|d|/dt`."""

    name: str
    first: str
    second: str
    p_i: Array
    p_j: Array
    stiffness: float
    damping: float
    length: float


@dataclass(frozen=True, eq=False)
class JointSpringDamper:
    """Spring-damper on a joint.

    law "coordinate": on one joint coordinate (angle or translation): -stiffness (s - reference) - damping s'
    law "rotation-vector", "euler-321": on the relative rotation of a joint with two or three rotations
    component : index into the joint's coordinates (law "coordinate" only)
    """

    name: str
    joint: str
    stiffness: float
    damping: float
    law: Literal["coordinate", "rotation-vector", "euler-321"]
    component: int = 0
    reference: float = 0.0


@dataclass(frozen=True, eq=False)
class JointMotor:
    """A prescribed torque (angle coordinate) or force (translation coordinate) along one joint coordinate."""

    name: str
    joint: str
    effort: Motion
    component: int = 0


Force = PointForce | Torque | SpringDamper | JointSpringDamper | JointMotor
