"""Rows of the constraints at one state, dense: the reference path, without compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from dalembert.arrays import Array, IntArray
from dalembert.compilation.compiled import Row
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records


class AtState(Protocol):
    """Compiled code that answers at one state what the functions below do, with the numbers F."""

    def rows(self, F: Array, t: float, x: Array) -> tuple[Array, Array, Array, Array]: ...
    def move(self, F: Array, x: Array, dq: Array, du: Array) -> None: ...
    def velocity_residual(self, F: Array, t: float, x: Array) -> Array: ...
    def angles(self, F: Array, x: Array) -> Array: ...


class Tables(Protocol):
    """Packed arrays and the code of traced rows, of a mechanism or on the way to one."""

    @property
    def I(self) -> IntArray: ...  # noqa: E743
    @property
    def F(self) -> Array: ...
    @property
    def row_source(self) -> str: ...


def new_workspace(I: IntArray, *, dense: bool = False) -> Array:
    """Zeros, with the ground at rest in the origin and every rotation the identity."""
    W = np.zeros(int(I[T.W_SIZE] if dense else I[T.W_DENSE]))
    records(I, W, T.W_BODY)["R"] = np.eye(3)
    return W


@cache
def plain_rows(source: str) -> Any:
    """The code of traced rows as plain Python, None for none."""
    if not source:
        return None
    from dalembert.lagrangian.body_rows import plain

    return plain(source)


def dense_rows(packed: Tables, t: float, x: Array) -> tuple[Array, Array, Array, Array]:
    """Dense G (m_all, 6 nb) in (v, w_B) of the bodies, g, g_t and zeta at one state: the reference path.

    Rows are pulled back to what each body can do; dropped rows are zero in G.
    """
    if (quick := compiled_of(packed)) is not None:
        return quick.rows(packed.F, t, x)
    from dalembert.kernels.coordinates.one_state import evaluate_rows

    I = packed.I
    W: list[float] = new_workspace(I).tolist()
    found = evaluate_rows(t, x.tolist(), I.tolist(), packed.F.tolist(), W, plain_rows(packed.row_source))
    g, g_t, zeta = (np.array(numbers, dtype=float) for numbers in found)
    G = np.zeros((len(g), 6 * int(I[T.NB])))
    for body, n, a, row, _ in records(I, I, T.INC_I).tolist():
        at = int(I[T.W_A] + a)
        G[row : row + n, 6 * (body - 1) : 6 * body] = np.reshape(W[at : at + 6 * n], (n, 6))
    return G, g, g_t, zeta


def compiled_of(packed: Tables) -> AtState | None:
    """What answers instead of plain Python, for tables of a family of models."""
    found: AtState | None = getattr(packed, "quick", None)
    return found


def move(packed: Tables, x: Array, dq: Array, du: Array) -> None:
    """q <- q (+) dq, u <- u + du with 6 numbers per movable body."""
    if (quick := compiled_of(packed)) is not None:
        return quick.move(packed.F, x, dq, du)
    from dalembert.kernels.coordinates import one_state

    one_state.move(x, dq, du, packed.I, packed.F, new_workspace(packed.I))


def velocity_residual(packed: Tables, t: float, x: Array) -> Array:
    """(m_all,) G u + g_t at a state, zero for dropped rows."""
    if (quick := compiled_of(packed)) is not None:
        return quick.velocity_residual(packed.F, t, x)
    from dalembert.kernels.coordinates import one_state

    out = np.zeros(int(packed.I[T.M_ALL]))
    one_state.velocity_residual(t, x, out, packed.I, packed.F, new_workspace(packed.I), plain_rows(packed.row_source))
    return out


def measured(packed: Tables, x: Array) -> Array:
    """(angles,) at a state, nearest to its counters."""
    if (quick := compiled_of(packed)) is not None:
        return quick.angles(packed.F, x)
    from dalembert.kernels.coordinates.one_state import measure_angles

    return np.array(measure_angles(x, packed.I, packed.F, new_workspace(packed.I)), dtype=float)


def bodies_of(I: IntArray, primitive: int) -> tuple[int, ...]:
    """The bodies that a primitive acts on, in increasing order, the ground included."""
    if primitive < I[T.NPRIM]:
        record = records(I, I, T.PRIM_I)[primitive]
        return tuple(sorted({int(record["i"]), int(record["j"])}))
    code = records(I, I, T.CODE_I)[primitive - I[T.NPRIM]]
    return tuple(sorted(set(records(I, I, T.MEMBER_I)["body"][code["member"] :][: code["bodies"]].tolist())))


def join_states(parts: Sequence[Array]) -> Array:
    """(q, u, W_ext, angles) as one state vector."""
    return np.concatenate([np.asarray(part, dtype=float).ravel() for part in parts])


def blame(named: Sequence[Row], rows: IntArray, residual: Array) -> list[tuple[str, float]]:
    """Elements by their largest residual, worst first, down to a hundredth of the worst."""
    worst: dict[str, float] = {}
    element = {row.index: row.element for row in named}
    for row, value in zip(rows, np.abs(residual), strict=True):
        worst[element[int(row)]] = max(worst.get(element[int(row)], 0.0), float(value))
    top = max(worst.values(), default=0.0)
    return sorted(((n, v) for n, v in worst.items() if v >= 0.01 * top), key=lambda item: -item[1])
