"""What a model is made of: bodies, primitives, joints, drivers, as frozen data, and what every force element has.

Names are strings, numbers SI. `Model` creates and validates these objects; `compile` reads them. `model/forces` has the forces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.model.calls import Call, UserFunction
from dalembert.model.motions import Motion, Table
from dalembert.model.rotation import quaternion_to_matrix
from dalembert.model.validation import frozen

GROUND = "ground"
MOST_ROWS = 3  # of one primitive, as the tables of the kernels have places for
_ZERO = frozen((0.0, 0.0, 0.0))
_ONE = frozen(np.eye(3))


def _zero() -> Array:
    return _ZERO


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body, a point mass, or the ground.

    mass : [kg], 0 for a body of kinematics alone, which has no inertia either
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

    @cached_property
    def matrix(self) -> Array:
        """(3, 3) body -> world."""
        return frozen(quaternion_to_matrix(self.rotation))

    def __repr__(self) -> str:
        place = ", ".join(f"{x:g}" for x in self.position)
        return "<ground>" if self.kind == "ground" else f"<{self.kind} body {self.name!r}: {self.mass:g} kg at ({place}) m>"


@dataclass(frozen=True, eq=False)
class Marker:
    """A named point of a body, in body axes [m]: results tell where it is, viewers and plots draw its path."""

    name: str
    body: str
    point: Array
    verb: ClassVar[str] = "marker"

    def __repr__(self) -> str:
        return f"<marker {self.name!r} on {self.body!r}>"


@dataclass(frozen=True, eq=False)
class Primitive:
    """One constraint primitive between bodies i = first and j = second [JetMultibody, 5.3].

        C   g = x_j - x_i                             3 rows, world axes
        SO  g = (R_i a_i) . (R_j a_j)                 1 row
        O   g = (R_i a_i) . (x_j - x_i) - offset - f(t)
        D   g = (|x_j - x_i|^2 - l^2) / (2 l_0),  l = offset + f(t),  l_0 = l at t = 0
        A   g = angle - offset - f(t) within half a turn,  angle of a_j about n_i, counted from a_i      (angle drivers)
        U   a residual g of positions, V one of velocities (A u + b, nonholonomic): `law` names one of `laws.LAWS`,
            "" a user's function of both bodies; their derivatives are traced

    p_i, p_j : (3,) body-fixed points [m];  a_i, a_j, n_i : (3,) body-fixed unit vectors
    labels : one per row, for reports ("x", "y", "z", "SO(x, z)", ...)
    parts, numbers : of a law of any number of bodies: what it consists of and its numbers, see
        compilation/pack_codes.py
    """

    kind: Literal["C", "SO", "O", "D", "A", "U", "V"]
    labels: tuple[str, ...]
    p_i: Array = field(default_factory=_zero)
    p_j: Array = field(default_factory=_zero)
    a_i: Array = field(default_factory=_zero)
    a_j: Array = field(default_factory=_zero)
    n_i: Array = field(default_factory=_zero)
    offset: float = 0.0
    motion: Motion | None = None
    law: str = ""
    function: UserFunction | None = None
    parts: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Joint:
    """A named set of primitives between two bodies, with a frame fixed in each, or between all of `members`.

    p_i, p_j : (3,) the joint point in each body [m]
    E_i, E_j : (3, 3) columns = joint frame axes in body axes; equal in the world when all coordinates are zero
    coordinates : names of the joint coordinates, in order, see `joints.COORDINATES`
    coordinate, rate : initial values that assembly must meet, one entry per coordinate, None = free
    members : all bodies of what connects other than two; first and second are its first and last then
    coupled : joint and component of every coordinate that it couples, one for each of its primitives' parts
    meshed : its offset is that of the model pose, as of wheels that are drawn in mesh; for `replace`, files hold the number
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
    members: tuple[str, ...] = ()
    coupled: tuple[tuple[str, int], ...] = ()
    meshed: bool = False

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of all bodies that it connects."""
        return self.members or (self.first, self.second)

    def __repr__(self) -> str:
        return f"<{self.type} {self.name!r}: {' - '.join(self.bodies)}>"


@dataclass(frozen=True, eq=False)
class Driver:
    """A prescribed joint coordinate or point motion: one rheonomic primitive, kind "O" or "A" with its motion.

    joint : the driven joint's name, or None for a point driver
    """

    name: str
    joint: str | None
    first: str
    second: str
    primitive: Primitive

    def __repr__(self) -> str:
        return f"<driver {self.name!r} of {self.joint or f'{self.first} - {self.second}'}: {self.primitive.motion!r}>"


class States(Protocol):
    """A series of states as elements see it: arrays over time, world axes (`compilation/trajectory.py` is one)."""

    t: Array

    def rotation(self, body: object) -> Array: ...
    def angular_velocity(self, body: object) -> Array: ...
    def point(self, body: object, point: npt.ArrayLike) -> Array: ...
    def velocity(self, body: object, point: npt.ArrayLike) -> Array: ...
    def coordinate(self, joint: object) -> Array: ...
    def coordinate_rate(self, joint: object) -> Array: ...


Glyph = Literal["", "spring", "cable", "link", "bushing", "motor", "coil"]


@dataclass(frozen=True, eq=False)
class ForceRecord:
    """What the kernels see of a force element, one for each coordinate that it acts on: numbers, names of bodies and joints.

    kind : name of a constant of kernels/mechanics/forces.py or laws.py;  angle : joint and component of a counted angle
    frame : axes of `vector`, or of what the user's function returns
    gains : k, c, l: stiffness, damping, coordinate when slack
    numbers : what a user function is given after the state, or what else a kernel reads
    curve, damper : tables of the coordinate, counted from `origin`, and of its rate
    """

    kind: str
    first: str
    second: str = GROUND
    motion: Motion | None = None
    angle: tuple[str, int] | None = None
    frame: Literal["world", "body"] = "world"
    p_i: Array = field(default_factory=_zero)
    p_j: Array = field(default_factory=_zero)
    vector: Array = field(default_factory=_zero)
    gains: tuple[float, float, float] = (0.0, 0.0, 0.0)
    numbers: tuple[float, ...] = ()
    curve: Table | None = None
    origin: float = 0.0
    damper: Table | None = None
    E_i: Array = field(default_factory=lambda: _ONE)
    E_j: Array = field(default_factory=lambda: _ONE)


Joints = Mapping[str, Joint]
FORCES: dict[str, type[Force]] = {}  # every class of `model/forces` by its name


@dataclass(frozen=True, eq=False, repr=False)
class Force(ABC):
    """What acts on bodies besides joints: the base of the elements in `model/forces`, and all that is asked of one elsewhere.

    verb : of the model, without `add_`;  noun : what messages call it, else the verb;  joints : those of the model by name
    glyph : what it is drawn as, see viewer/fittings.py
    """

    name: str
    verb: ClassVar[str]
    noun: ClassVar[str]
    glyph: ClassVar[Glyph] = ""

    def __init_subclass__(cls) -> None:
        if "verb" in vars(cls):
            FORCES[cls.__name__] = cls
            cls.noun = vars(cls).get("noun", cls.verb)

    def __repr__(self) -> str:
        return f"<{self.noun} {self.name!r}>"

    @abstractmethod
    def ends(self, joints: Joints) -> tuple[str, ...]:
        """Bodies it acts on."""

    @abstractmethod
    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        """What the kernels are given: one for each coordinate that it acts on."""

    def places(self) -> tuple[tuple[str, Array], ...]:
        """Bodies and points on them that it pushes or pulls at, beside those of a joint."""
        return ()

    @property
    def works(self) -> bool:
        """Whether it changes T + U."""
        return True

    def sides(self, joints: Joints) -> tuple[tuple[str, Array], ...]:
        """Bodies it acts on, and points there about which `solution.effort` tells its torque; by default the centre of mass."""
        return self.places() or tuple((body, np.zeros(3)) for body in self.ends(joints))

    @property
    def coordinates(self) -> int:
        """Number of coordinates (lengths, joint coordinates) along which it acts."""
        return 0

    @property
    def call(self) -> Call | None:
        """How its value is asked of a user's function, if it is one."""
        return None

    @property
    def function(self) -> UserFunction | None:
        """The user's function, if its value is one."""
        return None if self.call is None else self.call.function

    def told(self) -> dict[str, Any]:
        """Arguments of its verb that are no attributes of the same name."""
        given = () if self.call is None else self.call.parameters
        return {"parameters": {p.name: p.value for p in given} or None}

    def remark(self, states: States, joints: Joints) -> str:
        """What the reader of a report should know of it in a run, "" for nothing."""
        return ""

    @property
    def motions(self) -> tuple[Motion | None, ...]:
        """Functions of time that it follows."""
        return ()

    def check(self, owner: str, joints: Joints) -> None:  # noqa: B027 - most have nothing to refuse
        """Refuse stored data that the verb could not have made."""

    def stored(self, states: States, joints: Joints, reach: float) -> tuple[Array, Array]:
        """(nt,) energy stored in it [J], and (nt,) sum of the sizes of what was added up, which rounding is relative to.

        reach : largest coordinate of a point [m]
        """
        return np.zeros(len(states.t)), np.zeros(len(states.t))

    def energy_scale(self, size: float) -> float:
        """What it may store over a mechanism of a size [m]: an energy [J]."""
        return 0.0

    def undirected(self, states: States, slack: float) -> bool:
        """Whether its force has no direction at the first state: ends nearer to each other than slack times its length."""
        return False

    def leaving(self, states: States, normal: Array) -> Array:
        """(nt,) what of a load leaves the plane with this normal [N] or [N m]."""
        return np.zeros(len(states.t))


@dataclass(frozen=True, eq=False, repr=False)
class BetweenPoints(Force):
    """What acts between a point of one body and a point of another, each in the axes of its body [m]."""

    first: str
    second: str
    p_i: Array
    p_j: Array

    def ends(self, joints: Joints) -> tuple[str, ...]:
        return self.first, self.second

    def places(self) -> tuple[tuple[str, Array], ...]:
        return (self.first, self.p_i), (self.second, self.p_j)


def spring_energy(stiffness: float, deflection: Array, reach: float) -> tuple[Array, Array]:
    """What `Force.stored` asks of a linear spring: U = k s^2 / 2; s is a difference of numbers of size `reach`."""
    U = 0.5 * stiffness * deflection**2
    return U, U + stiffness * np.abs(deflection) * reach


def turned_far(turn: Array) -> str:
    """What `Force.remark` says of an element that acts by a rotation vector; turn : (nt,) its length."""
    most = float(np.max(turn, initial=0.0))
    return f"turned by up to {np.degrees(most):.0f} degrees; at 180 its torque turns over" if most >= 0.75 * np.pi else ""
