"""Rows at one state by compiled code, for the models of one structure: what `rows.py` does in plain Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.callbacks import row_callback
from dalembert.compilation.catalogue import compiled_kernel
from dalembert.compilation.rows import Tables, new_workspace
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import column, records, width


class ManyRows(NamedTuple):
    """(runs, ..) rows of constraints, residuals, their partial rates, velocities (v, w_B) of the bodies, joint angles"""

    G: Array
    g: Array
    g_t: Array
    twist: Array
    angles: Array


class RowsAtState:
    """`rows.AtState` of the tables of a structure; threads may share it."""

    def __init__(self, tables: Tables) -> None:
        from dalembert.kernels.base.slots import CALLBACK_SIGNATURE, FORCES_SIGNATURE, address

        self._kernel, self._I = compiled_kernel("at_state"), tables.I.copy()
        moving = "forces_and_rows" if self._I[T.NTRACED] else "force_elements" if self._I[T.NMOTION] else "no_forces"
        self._seams = compiled_kernel(moving), row_callback(tables.row_source)  # kept alive as long as I names them
        self._I[T.AT_FORCES] = address(self._seams[0], FORCES_SIGNATURE)
        self._I[T.AT_CALLBACK] = address(self._seams[1], CALLBACK_SIGNATURE)
        self._W = new_workspace(self._I)
        self._size, I = 6 * int(self._I[T.NB]), self._I
        pairs = [(body, row + k, a + 6 * k) for body, n, a, row, _ in records(I, I, T.INC_I).tolist() for k in range(n)]
        body, row, a = np.array(pairs, dtype=np.int64).reshape(-1, 3).T
        six = np.arange(6)
        self._to = ((row * self._size + 6 * (body - 1))[:, None] + six).ravel()
        self._from = (int(I[T.W_A]) + a[:, None] + six).ravel()
        first = int(I[T.W_BODY]) + column(T.W_BODY, "v")
        self._twist = (first + width(T.W_BODY) * np.arange(1, I[T.NB] + 1)[:, None] + six).ravel()

    def rows(self, F: Array, t: float, x: Array) -> tuple[Array, Array, Array, Array]:
        """G, g, g_t, zeta."""
        W = self._at(F, t, x)
        g, g_t, zeta = (W[self._I[entry] :][: self._I[T.M_ALL]] for entry in (T.W_G, T.W_GT, T.W_ZETA))
        return self._jacobian(W), g, g_t, zeta

    def many(self, F: Array, t: float, x: Array) -> ManyRows:
        """At (runs, nx) states with (runs, ..) tables."""
        from dalembert.kernels.coordinates.at_state import ROWS

        W, I, kernel = np.tile(self._W, (len(F), 1)), self._I, self._kernel
        for own, state, work in zip(F, x, W, strict=True):
            kernel(ROWS, t, state, I, own, work)
        G = np.zeros((len(F), int(I[T.M_ALL]) * self._size))
        G[:, self._to] = W[:, self._from]
        g, g_t = (W[:, I[entry] : I[entry] + I[T.M_ALL]] for entry in (T.W_G, T.W_GT))
        angles = W[:, I[T.W_ANGLE] : I[T.W_ANGLE] + 2 * I[T.NANGLE] : 2]
        return ManyRows(G.reshape(len(F), -1, self._size), g, g_t, W[:, self._twist], angles)

    def velocity_residual(self, F: Array, t: float, x: Array) -> Array:
        """G u + g_t."""
        W = self._at(F, t, x)
        residual: Array = self._jacobian(W) @ W[self._twist] + W[self._I[T.W_GT] :][: self._I[T.M_ALL]]
        residual[self._I[T.M] :] = 0.0
        return residual

    def angles(self, F: Array, x: Array) -> Array:
        """Nearest to the counters in x."""
        W = self._at(F, 0.0, x)
        return W[self._I[T.W_ANGLE] :][: 2 * self._I[T.NANGLE] : 2]

    def move(self, F: Array, x: Array, dq: Array, du: Array) -> None:
        """q <- q (+) dq, u <- u + du."""
        from dalembert.kernels.coordinates.at_state import MOVE

        W = self._W.copy()
        for entry, change in ((T.W_H, dq), (T.W_ACC, du)):
            W[self._I[entry] + 6 :][: self._size] = change
        self._kernel(MOVE, 0.0, x, self._I, _own(F), W)

    def _at(self, F: Array, t: float, x: Array) -> Array:
        from dalembert.kernels.coordinates.at_state import ROWS

        W = self._W.copy()
        self._kernel(ROWS, t, _own(x), self._I, _own(F), W)
        return W

    def _jacobian(self, W: Array) -> Array:
        G = np.zeros((int(self._I[T.M_ALL]), self._size))
        G.ravel()[self._to] = W[self._from]
        return G


def _own(array: Array) -> Array:
    """Compiled code takes no arrays that are read-only, though it writes to none of these."""
    return array if array.flags.writeable else array.copy()
