"""Runge-Kutta tableaux with error estimators and interpolants [HairerNorsettWanner1993, II]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dalembert.arrays import Array
from dalembert.integrators import dop853_tableau


@dataclass(frozen=True, eq=False)
class Tableau:
    """k_i = f(t + c_i h, x + h sum_j a_ij k_j);  x_1 = x + h sum b_i k_i

    a, c : stages 0..s-1, row s is the new point (first same as last) with b in a, further rows belong to the interpolant
    e : error estimators over stages 0..s, empty for none;  d : the interpolant's rows over all stages,
        empty for the cubic of Hermite
    order : of x_1;  error_order : exponent of the step-size controller;  stages : s
    seen : stages that polynomials of time go through, as many as the error estimate sees; Lebesgue constants 13 and 4
    """

    order: int
    error_order: int
    stages: int
    a: Array
    c: Array
    e: Array
    d: Array
    seen: tuple[int, ...] = ()

    @property
    def extra(self) -> int:
        return len(self.c) - self.stages - 1

    @cached_property
    def gap(self) -> float:
        """Widest part of a step between stages that its error estimate sees."""
        seen = self.c[: self.e.shape[1]][(self.e != 0.0).any(axis=0)]
        return float(np.diff(np.sort([0.0, *seen, 1.0])).max())

    @cached_property
    def nodes(self) -> Array:
        """Of the polynomial through `seen`, as kernels/time/watch.py reads it: of every stage which of eight nodes it is, the
        last is the new point, or -1; then by what their values give the coefficients of powers of 2 theta - 1, row by row."""
        made, c = np.zeros((9, max(self.stages + 1, 8))), self.c[list(self.seen)]
        made[0] = -1.0
        place = [7 if stage == self.stages else i for i, stage in enumerate(self.seen)]
        made[0, list(self.seen)] = place
        made[1 : 1 + len(c), place] = np.linalg.inv(np.vander(2.0 * c - 1.0, increasing=True))
        return made


def _matrix(rows: Sequence[Mapping[int, float]], columns: int) -> Array:
    matrix = np.zeros((len(rows), columns))
    for i, row in enumerate(rows):
        for j, value in row.items():
            matrix[i, j] = value
    return matrix


def explicit_tableau(order: int, rows: Sequence[Sequence[float]], weights: Sequence[float]) -> Tableau:
    """A method without error estimator, with the cubic Hermite interpolant."""
    s = len(weights)
    a = np.zeros((s + 1, s + 1))
    for i, row in enumerate(rows):
        a[i, : len(row)] = row
    a[s, :s] = weights
    c = np.append(a[:s].sum(axis=1), 1.0)
    return Tableau(order, order, s, a, c, np.zeros((0, s + 1)), np.zeros((0, 1)))


EULER = explicit_tableau(1, [[]], [1.0])
MIDPOINT = explicit_tableau(2, [[], [1 / 2]], [0.0, 1.0])
RUNGE_KUTTA_4 = explicit_tableau(4, [[], [1 / 2], [0.0, 1 / 2], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6])


def _dormand_prince() -> Tableau:
    """5(4) pair [DormandPrince1980] with the fourth-order interpolant of [HairerNorsettWanner1993, II.6]."""
    rows: list[list[float]] = [
        [],
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    ]
    made = explicit_tableau(5, rows, [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84])
    fourth = np.array([5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40])
    d = [
        -12715105075 / 11282082432,
        0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
    return replace(made, e=made.a[6:] - fourth, d=np.array([d]), seen=(0, 1, 2, 3, 6))


def _dop853() -> Tableau:
    return Tableau(
        order=8,
        error_order=8,
        stages=12,
        a=_matrix(dop853_tableau.A, 16),
        c=np.array(dop853_tableau.C),
        e=_matrix(dop853_tableau.E, 13),
        d=_matrix(dop853_tableau.D, 16),
        seen=(0, 3, 4, 5, 8, 9, 10, 12),
    )


DORMAND_PRINCE = _dormand_prince()
DOP853 = _dop853()
