"""Rows, forces and accelerations at states as the compiled code has them, dense: twists (v, w_B) of the bodies, six each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array, IntArray
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import SimulationError
from dalembert.formulations import REFERENCE
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records


@dataclass(frozen=True, eq=False)
class Rows:
    """M w = h + G^T lam at one state: w (6 nb,) accelerations of the bodies, h applied and gyroscopic wrenches, G (m, 6 nb)."""

    G: Array
    h: Array
    g: Array
    g_t: Array
    zeta: Array
    w: Array
    lam: Array


def places_of_rows(run: Run) -> tuple[IntArray, IntArray, IntArray]:
    """Rows and columns of the entries of G (m, 6 nb), and where they lie in the workspace."""
    I, m = run.I, run.mechanism.m
    found: tuple[list[int], list[int], list[int]] = [], [], []
    for body, n, a, row, _ in records(I, I, T.INC_I).tolist():
        for i in range(n):
            if row + i < m:
                found[0].extend([row + i] * 6)
                found[1].extend(range(6 * (body - 1), 6 * body))
                found[2].extend(range(int(I[T.W_A] + a) + 6 * i, int(I[T.W_A] + a) + 6 * i + 6))
    rows, columns, places = (np.array(entries, dtype=np.int64) for entries in found)
    return rows, columns, places


class CompiledRows:
    """A mechanism, asked at one state after another."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.run = REFERENCE().prepare(mechanism)
        self._at = places_of_rows(self.run)
        self._dx, self._shape = np.zeros(len(mechanism.x_0)), (mechanism.m, 6 * mechanism.nb)

    def __call__(self, t: float, x: Array) -> Rows:
        """Rows, forces and accelerations at a state."""
        run, m, width = self.run, *self._shape
        status = run.rate(t, x, self._dx)
        if run.callbacks.error is not None:
            (name, problem), run.callbacks.error = run.callbacks.error, None
            raise SimulationError(f"user function {name!r} raised {problem!r}", time=t) from problem
        if status != T.OK:
            raise SimulationError(
                f"accelerations at t = {t:.6g} s cannot be found; the state is singular, or a force is", time=t
            )
        I, W, (rows, columns, places) = run.I, run.W, self._at
        G = np.zeros((m, width))
        np.add.at(G, (rows, columns), W[places])

        def part(entry: int, size: int, skip: int = 0) -> Array:
            return W[I[entry] + skip :][:size].copy()

        return Rows(
            G, part(T.W_H, width, 6), part(T.W_G, m), part(T.W_GT, m), part(T.W_ZETA, m), part(T.W_ACC, width, 6),
            part(T.W_RHS, m),
        )  # fmt: skip
