"""Gauss-Legendre coefficients for any number of stages, computed [HairerWanner1996, IV.5], [HairerLubichWanner2006, II.1.3].

    P_s(2 c_i - 1) = 0,   sum_j a_ij c_j^(k-1) = c_i^k / k,   sum_j b_j c_j^(k-1) = 1 / k,   k = 1..s

All arithmetic has 60 digits, so that what is rounded to double precision is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from functools import cache

import numpy as np
import numpy.typing as npt

from dalembert.integrators.tableau import Tableau

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
_DIGITS = 60


@cache
def gauss_tableau(s: int) -> Tableau:
    """The method with s stages, order 2 s, in rows 1..s; row 0 is the old point, row s + 1 the new one.

    e : estimators C z^(s+1) and C z^s for x' = z x / h, where C z^(2s+1) is the method's own error: see `gauss_error`
    d : interpolant whose rates are those at both ends and at the stages, in the nested form of `interpolate`
    """
    with localcontext() as context:
        context.prec = _DIGITS
        nodes = _nodes(s)
        every = [Decimal(0), *nodes, Decimal(1)]
        stages = [_weights(nodes, [c ** (k + 1) / (k + 1) for k in range(s)]) for c in nodes]
        weights = _weights(nodes, [Decimal(1) / (k + 1) for k in range(s)])
        moments = [_nested_coefficients(k + 1) for k in range(s + 2)]
        interpolant = [_weights(every, [row[3 + k] for row in moments]) for k in range(s - 1)]
        own = Decimal(math.factorial(s) ** 2) / (math.factorial(2 * s) * math.factorial(2 * s + 1))
        estimators = [
            [*_scaled(own * math.factorial(s), _divided_difference(every[:-1])), Decimal(0)],
            [Decimal(0), *_scaled(own * math.factorial(s - 1), _divided_difference(nodes)), Decimal(0)],
        ]
    a = np.zeros((s + 2, s + 2))
    a[1 : s + 1, 1 : s + 1] = _floats(stages)
    a[s + 1, 1 : s + 1] = _floats([weights])[0]
    e, d = _floats(estimators), _floats(interpolant) if s > 1 else np.zeros((0, 1))
    return Tableau(2 * s, 2 * s + 1, a, a[s + 1 :, : s + 1].copy(), _floats([every])[0], e, d)


@cache
def spectrum(s: int) -> Complex:
    """A = T diag(lambda) T^-1 with one of each pair of conjugate eigenvalues [HairerWanner1996, IV.8].

    Row 0 : lambda;  rows 1..s : T, doubled for pairs, so that the real part of T w is the sum;  rows s+1..2s : T^-1, transposed
    """
    a = gauss_tableau(s).a[1 : s + 1, 1 : s + 1]
    values, vectors = np.linalg.eig(a)
    inverse = np.linalg.inv(vectors)
    kept = [k for k in range(s) if values[k].imag >= 0.0]
    twice = np.where(values[kept].imag > 0.0, 2.0, 1.0)
    rows = np.vstack([values[None, kept], vectors[:, kept] * twice, inverse[kept].T])
    return np.ascontiguousarray(rows, dtype=np.complex128)


def _nodes(s: int) -> list[Decimal]:
    """Roots of the shifted Legendre polynomial in increasing order, by Newton's method."""
    roots = []
    for k in range(s):
        x = Decimal(-math.cos(math.pi * (k + 0.75) / (s + 0.5)))
        for _ in range(8):  # digits double from a start that is right to 1e-2
            before, value = Decimal(1), x
            for n in range(1, s):
                before, value = value, ((2 * n + 1) * x * value - n * before) / (n + 1)
            x -= value * (x * x - 1) / (s * (x * value - before))
        roots.append((1 + x) / 2)
    return roots


def _weights(nodes: Sequence[Decimal], moments: Sequence[Decimal]) -> list[Decimal]:
    """w with sum_j w_j node_j^k = moment_k, by Gaussian elimination."""
    n = len(nodes)
    rows = [[*(node**k if k else Decimal(1) for node in nodes), moments[k]] for k in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [v - factor * w for v, w in zip(rows[i], rows[k], strict=True)]
    return [rows[k][n] / rows[k][k] for k in range(n)]


def _divided_difference(nodes: Sequence[Decimal]) -> list[Decimal]:
    """Weights of the highest coefficient of the interpolating polynomial."""
    return _weights(nodes, [*[Decimal(0)] * (len(nodes) - 1), Decimal(1)])


def _scaled(factor: Decimal, values: Sequence[Decimal]) -> list[Decimal]:
    return [factor * value for value in values]


def _nested_coefficients(m: int) -> list[Decimal]:
    """theta^m / m = theta (d_0 + (1 - theta) (d_1 + theta (d_2 + ...))): coefficients d."""
    polynomial = [*[Decimal(0)] * (m - 1), Decimal(1) / m]  # of degree m - 1, already divided by theta
    coefficients = []
    for k in range(max(m, 16)):
        if k % 2 == 0:  # the value at 1, then division of the rest by 1 - theta
            value = sum(polynomial, Decimal(0))
            tails = [sum(polynomial[i + 1 :], Decimal(0)) for i in range(len(polynomial))]
            polynomial = [-tail for tail in tails[:-1]] or [Decimal(0)]
        else:  # the value at 0, then division by theta
            value = polynomial[0]
            polynomial = polynomial[1:] or [Decimal(0)]
        coefficients.append(value)
    return coefficients


def _floats(rows: Sequence[Sequence[Decimal]]) -> Array:
    return np.array([[float(value) for value in row] for row in rows])
