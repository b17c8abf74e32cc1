"""LagrangianSystem -> LagrangianMechanism: generated code, tables for the dense kernels, rank, a consistent start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dalembert.arrays import Array, IntArray
from dalembert.compilation.compiled import Compiled, Row
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import COUNTERS
from dalembert.lagrangian.discrete import DiscreteEquations
from dalembert.lagrangian.graph import Node, evaluate
from dalembert.lagrangian.source import uses_time, write_source
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.lagrangian.tracer import trace

if TYPE_CHECKING:
    from dalembert.compilation.lagrangian_trajectory import LagrangianState, LagrangianTrajectory


class GeneratedCode:
    """The generated code of a system behind the callback slot, with the invariants of a formulation.

    compiled : what is passed to the kernels;  traced : its source
    error, slow, differenced, of_time, kept, room : as in `Callbacks`; traced code does not raise
    """

    kept, room = np.zeros((0, 4), dtype=np.int64), 0

    def __init__(
        self,
        system: LagrangianSystem,
        functions: Sequence[Callable[..., Any]] = (),
        energy: bool = False,
        discrete: DiscreteEquations | None = None,
        turning: bool = False,
    ) -> None:
        from dalembert.kernels.base.slots import CALLBACK_SIGNATURE

        self.error: tuple[str, BaseException] | None = None
        self.slow: list[str] = []
        self.differenced: list[str] = []
        e = system.equations
        chosen: dict[int, Node] = {T.FIRST_INVARIANT - 1: e.energies[0] + e.energies[1]} if energy else {}
        self._system = system
        self._invariants = [invariant_node(system, function, by_name=False) for function in functions]
        chosen |= {T.FIRST_INVARIANT + k: node for k, node in enumerate(self._invariants)}
        parts, inputs = e.parts(chosen), e.inputs
        if discrete is not None:
            parts, inputs = parts | discrete.parts(), discrete.inputs
        if turning:
            parts = parts | {T.TURN_PART: e.turn_part()}
        self.traced = write_source(parts, inputs)
        self.of_time = uses_time(self.traced)
        self.compiled = self.compiled_for(CALLBACK_SIGNATURE)

    def compiled_for(self, signature: Any) -> Any:
        """The code for numbers of any kind (kernels/base/slots.py)."""
        from dalembert.kernels.base.compiler import generated

        return generated(self.traced, "callback", signature)

    @property
    def current(self) -> bool:
        """Whether nothing in it can have changed: the system was traced once, invariants are traced for every run."""
        return not self._invariants

    def with_room(self, W: Array) -> Array:
        """As it is: no functions of the user."""
        return W

    def unfinished(self, W: Array) -> str | None:
        """No function that could raise."""

    def forces_at(self, t: float, x: Array) -> dict[str, Array]:
        """No functions of the user."""
        return {}

    def invariant(self, k: int, t: float, x: Array) -> float:
        """Value of the user's invariant k at one state."""
        names = self._system.equations.inputs
        numbers = [*x[: 2 * len(self._system.coordinates)], *self._system.parameters.values()]
        return float(evaluate([self._invariants[k]], dict(zip(names, numbers, strict=True)) | {"t": t})[0])


def invariant_node(system: LagrangianSystem, function: Callable[..., Any], *, by_name: bool) -> Node:
    """The graph of a user's invariant: f(t, q, u) in this order, or with arguments chosen by name from q, v, t, p."""
    e = system.equations
    name = getattr(function, "__name__", "function")
    called = function if by_name else lambda t, q, v: function(t, q, v)
    values = trace(f"invariant {name!r}", called, e.given, e.graph, function)
    if len(values) != 1:
        raise ModelError(f"invariant {name!r} returned {len(values)} values; return one number")
    return values[0]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LagrangianMechanism(Compiled):
    """A compiled system: tables, rows by name, a consistent initial state x_0 = (q, v, external work) at t_0."""

    element_word: ClassVar[str] = "constraint"

    model: LagrangianSystem
    coordinates: str = "generalised"

    @property
    def body_names(self) -> tuple[str, ...]:
        return ()

    @property
    def rank(self) -> int:
        return int(self.I[T.RANK])

    @property
    def degrees_of_freedom(self) -> int:
        return self.nu - self.rank

    @property
    def acceleration_size(self) -> int:
        return self.nu

    def position_rows(self, element: str) -> list[int]:
        return [k for k in self.rows_of(element) if k < self.I[T.M_HOLONOMIC]]

    def velocity_rows(self, element: str) -> list[int]:
        return self.rows_of(element)

    @cached_property
    def code(self) -> GeneratedCode:
        """The generated code without invariants."""
        return GeneratedCode(self.model)

    def workspace(self, *, dense: bool = False) -> Array:
        return new_workspace(self.model, self.I)

    def evaluate(self, part: int, t: float, x: Array) -> Values:
        """M, h, A, ... at one state, as arrays."""
        W = self.workspace()
        at = int(self.I[T.W_CALL])
        W[at : at + 2 * self.nq] = x[: 2 * self.nq]
        self.code.compiled(part, t, W, at)
        return Values(self.I, W)

    def energies(self, x: Array, t: float = 0.0) -> tuple[float, float]:
        values = self.evaluate(T.ENERGY_PART, t, x)
        at = int(self.I[T.W_SCALARS])
        return float(values.W[at + 1]), float(values.W[at + 2])

    def locking(self, t: float, x: Array) -> tuple[float, list[str]]:
        from dalembert.compilation.lagrangian_start import almost_dependent

        return almost_dependent(self, t, x)

    def state(self, t: float, x: Array) -> LagrangianState:
        from dalembert.compilation.lagrangian_trajectory import LagrangianState

        return LagrangianState(self, t, x)

    def trajectory(self, t: Array, x: Array) -> LagrangianTrajectory:
        from dalembert.compilation.lagrangian_trajectory import LagrangianTrajectory

        return LagrangianTrajectory(self, t, x)


class Values:
    """What the generated code left in a workspace: residuals g, rows A v + b = 0, masses M, forces h, bias z of A v'."""

    def __init__(self, I: IntArray, W: Array) -> None:
        n, m = int(I[T.NQ]), int(I[T.M])

        def part(entry: int, *shape: int) -> Array:
            return W[I[entry] :][: prod(shape)].reshape(shape)

        self.W = W
        self.g, self.b, self.h = part(T.W_G, int(I[T.M_HOLONOMIC])), part(T.W_GT, m), part(T.W_H, n)
        self.A, self.M, self.z = part(T.W_A, m, n), part(T.W_MASS, n, n), part(T.W_BIAS, m)


def new_workspace(system: LagrangianSystem, I: IntArray) -> Array:
    """Zeros, and the parameters where the generated code finds them."""
    W = np.zeros(int(I[T.W_SIZE]))
    at = int(I[T.W_CALL]) + 2 * int(I[T.NQ])
    W[at : at + len(system.parameters)] = list(system.parameters.values())
    return W


def pack_system(system: LagrangianSystem) -> tuple[IntArray, Array]:
    """The headers of I and F for the dense kernels."""
    e = system.equations
    n, m = e.n, e.m
    I, F = np.zeros(T.HEADER_I, dtype=np.int64), np.zeros(T.HEADER_F)
    I[[T.NQ, T.NU, T.NX, T.M, T.RANK]] = n, n, 2 * n + 1, m, m
    I[[T.M_HOLONOMIC, T.M_ALL]] = len(e.g)
    sizes = {
        T.W_STAT: COUNTERS.width, T.W_ROOT: n * n, T.W_Y: m * n, T.W_K: m * m, T.W_DIAG: n + m, T.W_RHS: m, T.W_ZETA: m,
        T.W_ACC: 6 + n, T.W_WORK: 4 * n,
        T.W_CALL: e.places[T.W_SIZE],  # last, so that a formulation can add to what the generated code writes
    }  # fmt: skip
    at = 0
    for entry, size in sizes.items():
        I[entry] = at
        at += size
    for entry, offset in e.places.items():
        I[entry] = I[T.W_CALL] + offset
    I[T.W_SIZE] = I[T.W_DENSE] = at
    I[T.MAX_NEWTON], F[T.EPS_PIVOT] = 50, 1e-11
    return I, F


def compile_system(system: LagrangianSystem, t_0: float = 0.0) -> LagrangianMechanism:
    """Frozen tables and a consistent initial state, or an error that names the culprit."""
    from dalembert.compilation.lagrangian_start import assemble_system

    e = system.equations
    I, F = pack_system(system)
    rows: list[Row] = []
    for constraint in (*e.holonomic, *e.nonholonomic):
        for k in range(len(constraint.rows)):
            label = str(k + 1) if len(constraint.rows) > 1 else ""
            moving = not e.b[len(rows)].is_constant(0.0)
            rows.append(Row(constraint.name, label, moving, 0, k, len(rows), nonholonomic=len(rows) >= len(e.g)))
    x_0 = np.zeros(2 * e.n + 1)
    return assemble_system(LagrangianMechanism(model=system, I=I, F=F, rows=tuple(rows), x_0=x_0, t_0=t_0, given_at=t_0))
