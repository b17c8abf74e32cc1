"""The frozen result of compiling a model: packed tables, names of rows, a consistent initial state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dalembert.compilation.pack import Coordinates, IntArray, Packed, Row
from dalembert.compilation.planarity import Plane
from dalembert.kernels.base import tables as T
from dalembert.model.elements import PointForce, Torque
from dalembert.model.model import Model

if TYPE_CHECKING:
    from dalembert.results.solution import Result, Solution
    from dalembert.results.trajectory import Series, State, Trajectory

Array = npt.NDArray[np.float64]


class Compiled(ABC):
    """What every compiled model has, of bodies or of a Lagrangian: tables, named rows, an initial state, ways to read states.

    model : what it was made from, with name, hash and to_dict();  coordinates : what its state holds
    I, F, rows, redundant, not_unique, x_0, moved, completed, warnings : see `Mechanism`
    """

    element_word: ClassVar[str] = "joint"  # what has constraint rows

    model: Any
    coordinates: Any
    I: IntArray
    F: Array
    rows: tuple[Row, ...]
    redundant: tuple[Row, ...]
    out_of_plane: tuple[Row, ...]
    not_unique: tuple[str, ...]
    functions: tuple[Any, ...]
    body_names: Any
    x_0: Array
    moved: tuple[str, ...]
    completed: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def nq(self) -> int:
        """Number of coordinates q."""
        return int(self.I[T.NQ])

    @property
    def nu(self) -> int:
        """Number of velocities u."""
        return int(self.I[T.NU])

    @property
    def m(self) -> int:
        """Number of constraint rows in the solve."""
        return int(self.I[T.M])

    @property
    @abstractmethod
    def rank(self) -> int:
        """Rank of the constraint Jacobian in general position."""

    @property
    @abstractmethod
    def degrees_of_freedom(self) -> int:
        """Velocities minus independent constraints."""

    @property
    @abstractmethod
    def acceleration_size(self) -> int:
        """Number of accelerations in `Evaluated`."""

    def row_names(self) -> list[str]:
        """Names of the rows in the order of the multipliers, "element.label"."""
        names = [""] * self.m
        for row in self.rows:
            if row.index < self.m:
                names[row.index] = f"{row.element}.{row.label}"
        return names

    def rows_of(self, element: str) -> list[int]:
        """Kernel row numbers of a joint, driver or constraint (numbers >= m vanish in the plane)."""
        return [row.index for row in self.rows if row.element == element]

    @abstractmethod
    def position_rows(self, element: str) -> list[int]:
        """Rows of an element in the residual g."""

    @abstractmethod
    def velocity_rows(self, element: str) -> list[int]:
        """Rows of an element in g'."""

    def element_of_row(self, index: int) -> str:
        """The element that a kernel row belongs to."""
        return next((row.element for row in self.rows if row.index == index), "?")

    @abstractmethod
    def workspace(self, *, dense: bool = False) -> Array:
        """A new workspace for one thread."""

    @abstractmethod
    def energies(self, x: Array) -> tuple[float, float]:
        """Kinetic and potential energy of a state at t = 0."""

    @abstractmethod
    def locking(self, t: float, x: Array) -> tuple[float, list[str]]:
        """(condition number, elements whose rows are almost dependent at this state)."""

    def with_signs_of(self, near: Array, x: Array) -> Array:
        """The same state, its quaternions with the signs that are nearer to those of another."""
        return x

    def turning_speed(self, x: Array) -> float:
        """The largest speed at which something turns at (nt, nx) states [rad/s]; of a Lagrangian system, of any coordinate."""
        return float(np.max(np.abs(x[:, self.nq : self.nq + self.nu]), initial=0.0))

    @abstractmethod
    def state(self, t: float, x: Array) -> Series:
        """One state with its named outputs."""

    @abstractmethod
    def trajectory(self, t: Array, x: Array) -> Series:
        """States over time with their named outputs."""

    @abstractmethod
    def solution(self, t: Array, x: Array, **record: Any) -> Result:
        """States of a run with what belongs to them."""


@dataclass(frozen=True, eq=False)
class Mechanism(Compiled):
    """A compiled model.

    model : the model it was made from (never changed);  coordinates : how poses are stored in the state
    row_source, bend_source, turn_source : code of the rows of traced constraints: alone, with d(G u + g_t)/dq, with how they
        turn along the motion; "" for none
    I, F : packed tables (read-only);  rows : every scalar constraint by element and label, in the order of the model
    redundant : rows that the others imply, as many as are idle in the solve
    not_unique : elements whose reactions the redundancy leaves undetermined
    out_of_plane : rows that vanish identically in the plane (`planar` only)
    x_0 : consistent initial state at t = 0: q, u, external work, joint angles
    moved : what assembly had to change in the given initial data, one text per body
    completed : bodies of which assembly found velocities that were not given
    warnings : what the reader of a report should know (singular start, a body that starts elsewhere than it was placed, ...)
    """

    model: Model
    coordinates: Coordinates
    plane: Plane | None
    I: IntArray
    F: Array
    rows: tuple[Row, ...]
    redundant: tuple[Row, ...]
    out_of_plane: tuple[Row, ...]
    not_unique: tuple[str, ...]
    angles: tuple[tuple[str, int], ...]
    functions: tuple[PointForce | Torque, ...]
    row_source: str
    bend_source: str
    turn_source: str
    x_0: Array
    moved: tuple[str, ...]
    completed: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def nb(self) -> int:
        """Number of movable bodies."""
        return int(self.I[T.NB])

    @property
    def rank(self) -> int:
        """Rank of the constraint Jacobian in general position."""
        return self.m - len(self.redundant)

    @property
    def degrees_of_freedom(self) -> int:
        """Velocities minus independent constraints; idle angles of planar point masses do not count."""
        idle = sum(body.kind == "point" for body in self.model.bodies) if self.coordinates == "planar" else 0
        return self.nu - idle - self.rank

    @property
    def body_names(self) -> tuple[str, ...]:
        return tuple(body.name for body in self.model.bodies)

    @property
    def uneven(self) -> bool:
        """Whether masses, or moments of inertia, differ so much that it costs multipliers digits."""
        masses = [body.mass for body in self.model.bodies]
        moments = [float(m) for body in self.model.bodies if body.kind == "rigid" for m in np.linalg.eigvalsh(body.inertia)]
        return any(values and max(values) > 1e3 * min(values) for values in (masses, moments))

    @property
    def acceleration_size(self) -> int:
        return 6 * self.nb

    def position_rows(self, element: str) -> list[int]:
        return [row.index for row in self.rows if row.element == element and not row.nonholonomic]

    def velocity_rows(self, element: str) -> list[int]:
        return [k for k in self.rows_of(element) if k < self.m]

    def workspace(self, *, dense: bool = False) -> Array:
        """A new workspace for one thread."""
        return new_workspace(self.I, dense=dense)

    def energies(self, x: Array) -> tuple[float, float]:
        from dalembert.kernels.coordinates.one_state import energies

        T_, U_ = energies(x.tolist(), self.I.tolist(), self.F.tolist(), self.workspace().tolist())
        return float(T_), float(U_)

    def locking(self, t: float, x: Array) -> tuple[float, list[str]]:
        from dalembert.run.diagnosis import locking_joints

        return locking_joints(self, t, x)

    def with_signs_of(self, near: Array, x: Array) -> Array:
        x = x.copy()
        for kind, q, _ in self.I[self.I[T.BODY_I] :][: T.BODY_I_W * (self.nb + 1)].reshape(-1, T.BODY_I_W)[1:]:
            if kind == T.RIGID and near[q + 3 : q + 7] @ x[q + 3 : q + 7] < 0:
                x[q + 3 : q + 7] *= -1.0
        return x

    def turning_speed(self, x: Array) -> float:
        table = self.I[self.I[T.BODY_I] :][: T.BODY_I_W * (self.nb + 1)].reshape(-1, T.BODY_I_W)[1:]
        spins = [x[:, self.nq + u + 3 : self.nq + u + 6] for kind, _, u in table if kind == T.RIGID]
        spins += [x[:, self.nq + u + 2 : self.nq + u + 3] for kind, _, u in table if kind == T.PLANAR]
        return max((float(np.linalg.norm(w, axis=1).max()) for w in spins), default=0.0)

    def state(self, t: float, x: Array) -> State:
        from dalembert.results.trajectory import State

        return State(self, t, x)

    def trajectory(self, t: Array, x: Array) -> Trajectory:
        from dalembert.results.trajectory import Trajectory

        return Trajectory(self, t, x)

    @property
    def quaternion_columns(self) -> list[int]:
        """Where the Euler parameters of the bodies begin in q."""
        table = self.I[self.I[T.BODY_I] :][: T.BODY_I_W * (self.nb + 1)].reshape(-1, T.BODY_I_W)
        return [int(row[T.B_Q]) + 3 for row in table[1:] if row[T.B_KIND] == T.RIGID]

    def solution(self, t: Array, x: Array, **record: Any) -> Solution:
        from dalembert.results.solution import Solution

        return Solution(self, t, x, **record)


def new_workspace(I: IntArray, *, dense: bool = False) -> Array:
    """Zeros, with the ground at rest in the origin and every rotation the identity."""
    W = np.zeros(int(I[T.W_SIZE] if dense else I[T.W_DENSE]))
    poses = W[I[T.W_BODY] :][: T.STATE_W * (I[T.NB] + 1)].reshape(-1, T.STATE_W)
    poses[:, T.S_ROT : T.S_ROT + 9] = np.eye(3).ravel()
    return W


@cache
def plain_rows(source: str) -> Any:
    """The code of traced rows as plain Python, None for none."""
    if not source:
        return None
    from dalembert.lagrangian.body_rows import plain

    return plain(source)


def dense_rows(packed: Packed | Mechanism, t: float, x: Array) -> tuple[Array, Array, Array, Array]:
    """Dense G (m_all, 6 nb) in (v, w_B) of the bodies, g, g_t and zeta at one state: the reference path.

    Rows are pulled back to what each body can do; dropped rows are zero in G.
    """
    from dalembert.kernels.coordinates.one_state import evaluate_rows

    I = packed.I
    W: list[float] = new_workspace(I).tolist()
    g, g_t, zeta = (np.zeros(int(I[T.M_ALL])) for _ in range(3))
    evaluate_rows(t, x.tolist(), g, g_t, zeta, I.tolist(), packed.F.tolist(), W, plain_rows(packed.row_source))
    G = np.zeros((len(g), 6 * int(I[T.NB])))
    incidences = I[I[T.INC_I] : I[T.INC_I] + T.INC_I_W * I[T.NINC]].reshape(-1, T.INC_I_W)
    for body, n, a, row, _ in incidences:
        at = int(I[T.W_A] + a)
        G[row : row + n, 6 * (body - 1) : 6 * body] = np.reshape(W[at : at + 6 * n], (n, 6))
    return G, g, g_t, zeta


def join_states(parts: Sequence[Array]) -> Array:
    """(q, u, W_ext, angles) as one state vector."""
    return np.concatenate([np.asarray(part, dtype=float).ravel() for part in parts])
