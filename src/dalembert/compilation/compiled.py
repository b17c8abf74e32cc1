"""What every compiled model has, of bodies or of a Lagrangian: tables, named rows, an initial state, series of its states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from dalembert.arrays import Array, IntArray
from dalembert.kernels.base import tables as T
from dalembert.model.validation import Hinted

Coordinates = Literal["absolute", "planar", "tree"]
KINDS: tuple[Coordinates, ...] = get_args(Coordinates)


@dataclass(frozen=True)
class Row:
    """One scalar constraint: element (joint or driver), label, and its number in the kernels (>= m: monitored only).

    nonholonomic : it constrains velocities only
    """

    element: str
    label: str
    rheonomic: bool
    primitive: int
    component: int
    index: int
    nonholonomic: bool = False


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Compiled(ABC):
    """What every compiled model has, of bodies or of a Lagrangian: tables, named rows, an initial state, ways to read states.

    model : what it was made from (never changed), with name, hash and to_dict();  coordinates : what its state holds
    I, F : packed tables (read-only);  rows : every scalar constraint by element and label, in the order of the model
    redundant : rows that the others imply, as many as are idle in the solve
    not_unique : elements whose reactions the redundancy leaves undetermined
    out_of_plane : rows that vanish identically in the plane (`planar` only);  functions : forces that are functions
    x_0 : consistent initial state at t_0: q, u, external work, joint angles;  given_at : when the model's own data hold
    whole : the model of which only a part is in force, None where all of it is
    moved : what had to change in the given initial data, one text per body
    completed : bodies of which assembly found velocities that were not given
    warnings : what the reader of a report should know (singular start, a body that starts elsewhere than it was placed, ...)
    """

    element_word: ClassVar[str] = "joint"  # what has constraint rows

    model: Any
    coordinates: Any
    I: IntArray
    F: Array
    x_0: Array
    rows: tuple[Row, ...]
    redundant: tuple[Row, ...] = ()
    out_of_plane: tuple[Row, ...] = ()
    not_unique: tuple[str, ...] = ()
    functions: tuple[Any, ...] = ()
    t_0: float = 0.0
    given_at: float = 0.0
    whole: Any = None
    moved: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        rows = f"{len(self.rows)} constraint rows, {len(self.redundant)} redundant"
        return f"<{type(self).__name__} of {self.model.name or 'model'!r}: {self.coordinates} coordinates, {rows}>"

    @cached_property
    def prepared(self) -> list[tuple[Any, Any]]:
        """Formulations and the runs that they prepared, the last one first, see formulations/base.py."""
        return []

    def __getstate__(self) -> dict[str, Any]:
        """Without what holds compiled code."""
        return {name: value for name, value in self.__dict__.items() if name != "prepared"}

    @cached_property
    def prescribes_lengths(self) -> bool:
        """Whether a distance is a function of time."""
        return False

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

    @property
    @abstractmethod
    def body_names(self) -> tuple[str, ...]:
        """Of the movable bodies."""

    def row_names(self) -> list[str]:
        """Names of the rows in the order of the multipliers, "element.label"."""
        return self.residual_names()[: self.m]

    def residual_names(self) -> list[str]:
        """Names of all rows in the order of g."""
        return [f"{row.element}.{row.label}" for row in sorted(self.rows, key=lambda row: row.index)]

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

    @property
    def as_told(self) -> Compiled:
        """The same in the coordinates that its states are told in."""
        return self

    @abstractmethod
    def workspace(self, *, dense: bool = False) -> Array:
        """A new workspace for one thread."""

    @abstractmethod
    def energies(self, x: Array, t: float = 0.0) -> tuple[float, float]:
        """Kinetic and potential energy of a state."""

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
    def state(self, t: float, x: Array) -> OneState:
        """One state with its named outputs."""

    @abstractmethod
    def trajectory(self, t: Array, x: Array) -> Series:
        """States over time with their named outputs."""


class Series(Hinted):
    """States x (nt, nx) at times t (nt,) of a compiled model of any kind."""

    mechanism: Any

    def __init__(self, mechanism: Compiled, t: Array, x: Array) -> None:
        self.mechanism = mechanism
        self.t = t
        self.x = x

    @property
    def q(self) -> Array:
        """(nt, nq) coordinates."""
        return self.x[:, : self.mechanism.nq]

    @property
    def u(self) -> Array:
        """(nt, nu) velocities."""
        return self.x[:, self.mechanism.nq : self.mechanism.nq + self.mechanism.nu]


class OneState(Series):
    """One state: the outputs of a series without the time axis; of a state of a run those of a solution, too.

    result : makes the solution that has this state alone
    """

    result: Callable[[], Any] | None = None
    _meant: ClassVar = {"state": "it is one: simulate(model, t_end, initial=it), linearise(model, at=it)"}

    def __init__(self, mechanism: Compiled, t: float, x: Array) -> None:
        super().__init__(mechanism, np.array([t]), np.asarray(x)[None, :])

    def __repr__(self) -> str:
        return f"<State of {self.mechanism.model.name or 'model'!r} at t = {self.time:.6g} s>"

    @property
    def time(self) -> float:
        """[s]"""
        return float(self.t[0])

    def __getattr__(self, name: str) -> Any:
        """What only solutions have: effort, reaction, acceleration, energy, ..."""
        if name.startswith("_") or self.result is None or name in self._meant:
            raise AttributeError(f"a state has no {name!r}" + (f"; {self._meant[name]}" if name in self._meant else ""))
        value = getattr(self.result(), name)
        return (lambda *args, **options: without_time(value(*args, **options))) if callable(value) else without_time(value)


def without_time(value: Any) -> Any:
    """The first of values over time; of several values under names, each."""
    if isinstance(value, np.ndarray):
        return float(value[0]) if value.ndim == 1 else value[0]
    if isinstance(value, dict):
        return {name: without_time(item) for name, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: without_time(getattr(value, f.name)) for f in fields(value) if f.init})
    return value
