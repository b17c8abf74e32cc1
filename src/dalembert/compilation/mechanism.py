"""The frozen result of compiling a model: packed tables, names of rows, a consistent initial state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled, Coordinates, Row
from dalembert.compilation.planarity import Plane
from dalembert.compilation.rank import arm_length, locking_joints
from dalembert.compilation.rows import new_workspace
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records
from dalembert.model.assembly import Assembly
from dalembert.model.model import Model

if TYPE_CHECKING:
    from dalembert.compilation.trajectory import State, Trajectory


Mask = npt.NDArray[np.bool_]


def uneven(masses: Array, rigid: Mask, J: Array, arm: Array, pulled: Mask) -> Mask:
    """(runs,) whether masses, moments of inertia, radii of gyration and arms of joints differ so much that it costs multipliers
    digits, or what they hold is weight in a mechanism too small to accelerate by as much.

    masses : (runs, bodies);  rigid : (bodies,);  J : (runs, rigid bodies, 3) moments;  arm : (runs,) longest;  pulled : whether
        there is gravity
    """
    found: Mask = (arm < 1e-2) & pulled
    for spread in (masses, J.reshape(len(J), -1)):
        found |= spread.max(axis=1, initial=0.0) > 1e3 * spread.min(axis=1, initial=np.inf)
    weight = masses[:, rigid] * arm[:, None] ** 2
    even = (1e-5 * J.max(axis=2, initial=0.0) < weight) & (weight < 1e5 * J.min(axis=2, initial=np.inf))
    return np.asarray(found | ~even.all(axis=1))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Mechanism(Compiled):
    """A compiled model.

    row_source, bend_source, turn_source : code of the rows of traced constraints: alone, with d(G u + g_t)/dq, with how they
        turn along the motion; "" for none
    angles : joints and components that the state counts;  undetermined : rows whose reactions redundancy leaves so
    assembly : what it found and changed; the rest as in `Compiled`
    """

    model: Model
    coordinates: Coordinates
    plane: Plane | None
    angles: tuple[tuple[str, int], ...]
    row_source: str
    bend_source: str
    turn_source: str
    assembly: Assembly
    undetermined: tuple[Row, ...] = ()

    @property
    def nb(self) -> int:
        """Number of movable bodies."""
        return int(self.I[T.NB])

    @property
    def rank(self) -> int:
        return self.m - len(self.redundant)

    @property
    def degrees_of_freedom(self) -> int:
        """Velocities minus independent constraints; idle angles of planar point masses do not count."""
        idle = sum(body.kind == "point" for body in self.model.structure.bodies) if self.coordinates == "planar" else 0
        return self.nu - idle - self.rank

    @property
    def body_names(self) -> tuple[str, ...]:
        return tuple(body.name for body in self.model.structure.bodies)

    @cached_property
    def prescribes_lengths(self) -> bool:
        primitives = records(self.I, self.I, T.PRIM_I)
        return bool(((primitives["kind"] == T.D) & (primitives["motion"] > 0)).any())

    @cached_property
    def uneven(self) -> bool:
        """Whether it costs multipliers digits; see `uneven`."""
        bodies = self.model.bodies
        rigid = np.array([body.kind == "rigid" for body in bodies], dtype=bool)
        J = np.array([np.linalg.eigvalsh(body.inertia) for body in bodies if body.kind == "rigid"]).reshape(1, -1, 3)
        masses, arm = np.array([[body.mass for body in bodies]]), np.array([arm_length(self)])
        return bool(uneven(masses, rigid, J, arm, np.array([np.any(self.model.gravity)]))[0])

    @property
    def acceleration_size(self) -> int:
        return 6 * self.nb

    def position_rows(self, element: str) -> list[int]:
        return [row.index for row in self.rows if row.element == element and not row.nonholonomic]

    def velocity_rows(self, element: str) -> list[int]:
        return [k for k in self.rows_of(element) if k < self.m]

    @property
    def as_told(self) -> Mechanism:
        return replace(self, coordinates="absolute") if self.coordinates == "tree" else self

    def workspace(self, *, dense: bool = False) -> Array:
        return new_workspace(self.I, dense=dense)

    def energies(self, x: Array, t: float = 0.0) -> tuple[float, float]:
        from dalembert.kernels.coordinates.one_state import energies

        T_, U_ = energies(x.tolist(), self.I.tolist(), self.F.tolist(), self.workspace().tolist())
        return float(T_), float(U_)

    def locking(self, t: float, x: Array) -> tuple[float, list[str]]:
        return locking_joints(self, self.rows, self.rank, t, x)

    def with_signs_of(self, near: Array, x: Array) -> Array:
        x = x.copy()
        for q in self.quaternion_columns:
            if near[q : q + 4] @ x[q : q + 4] < 0:
                x[q : q + 4] *= -1.0
        return x

    def turning_speed(self, x: Array) -> float:
        spins = [x[:, self.nq + u + 3 : self.nq + u + 6] for kind, _, u in self.body_columns if kind == T.RIGID]
        spins += [x[:, self.nq + u + 2 : self.nq + u + 3] for kind, _, u in self.body_columns if kind == T.PLANAR]
        return max((float(np.linalg.norm(w, axis=1).max()) for w in spins), default=0.0)

    def state(self, t: float, x: Array) -> State:
        from dalembert.compilation.trajectory import State

        return State(self, t, x)

    def trajectory(self, t: Array, x: Array) -> Trajectory:
        from dalembert.compilation.trajectory import Trajectory

        return Trajectory(self, t, x)

    @property
    def body_columns(self) -> list[tuple[int, int, int]]:
        """Kind, first coordinate in q and first velocity in u of every movable body."""
        found: list[tuple[int, int, int]] = records(self.I, self.I, T.BODY_I)[1:].tolist()
        return found

    def start_in_plane(self, b: int) -> tuple[Array, Array, Array]:
        """Of body b, counted from 1, in a plane: where x = y = 0, rotation at angle 0, normal in body axes."""
        record = records(self.I, self.F, T.BODY_F)[b]
        return record["origin"], record["R_0"], record["normal"]

    @property
    def quaternion_columns(self) -> list[int]:
        """Where the Euler parameters of the bodies begin in q."""
        return [q + 3 for kind, q, _ in self.body_columns if kind == T.RIGID]
