"""Coefficients of collocation methods for any number of stages, computed [HairerWanner1996, IV.5],
[HairerLubichWanner2006, II.1.3].

    Gauss-Legendre  P_s(2 c_i - 1) = 0,        Radau IIA  P_s(2 c_i - 1) = P_(s-1)(2 c_i - 1),  so that c_s = 1
    sum_j a_ij c_j^(k-1) = c_i^k / k,   sum_j b_j c_j^(k-1) = 1 / k,   k = 1..s

All arithmetic has 60 digits, so that what is rounded to double precision is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from functools import cache

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.integrators.tableau import Tableau

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
        nodes = _nodes(s, 0)
        every = [Decimal(0), *nodes, Decimal(1)]
        moments = [_nested_coefficients(k + 1) for k in range(s + 2)]
        interpolant = [_weights(every, [row[3 + k] for row in moments]) for k in range(s - 1)]
        own = Decimal(math.factorial(s) ** 2) / (math.factorial(2 * s) * math.factorial(2 * s + 1))
        estimators = [
            [*_scaled(own * math.factorial(s), _divided_difference(every[:-1])), Decimal(0)],
            [Decimal(0), *_scaled(own * math.factorial(s - 1), _divided_difference(nodes)), Decimal(0)],
        ]
        a = _collocation(nodes)
    e, d = _floats(estimators), _floats(interpolant) if s > 1 else np.zeros((0, 1))
    return Tableau(2 * s, 2 * s + 1, s + 1, a, _floats([every])[0], e, d)


@cache
def radau_tableau(s: int) -> Tableau:
    """Radau IIA with s stages, order 2 s - 1, in the same rows; stage s is the new point before it is projected.

    e : gamma (f - p(0)), p the polynomial through the k_i, gamma the eigenvalue that filters it [HairerWanner1996, IV (8.18)]:
        an estimate of order s + 1
    d : interpolant whose rates are the k_i and, at the start, k_s of the step before, in the last row but one, in the nested
        form of `interpolate`: as b is exact for polynomials of its degree, it ends at the new point
    """
    with localcontext() as context:
        context.prec = _DIGITS
        nodes = _nodes(s, 1)
        a = _collocation(nodes)
        start = _weights(nodes, [Decimal(1), *[Decimal(0)] * (s - 1)])
        moments = [_nested_coefficients(k + 1) for k in range(s + 1)]
        interpolant = [_weights([*nodes, Decimal(0)], [row[3 + k] for row in moments]) for k in range(s - 2)]
    values = np.linalg.eigvals(a[1 : s + 1, 1 : s + 1])
    gamma = abs(values[np.argmin(abs(values.imag))])
    e = gamma * np.array([[1.0, *(-float(w) for w in start), 0.0]])
    d = np.zeros((0, 1))
    if s > 2:
        d = np.zeros((s - 2, 2 * s + 3))
        d[:, [*range(1, s + 1), 2 * s + 2]] = _floats(interpolant)
    return Tableau(2 * s - 1, s + 1, s + 1, a, np.array([0.0, *_floats([nodes])[0], 1.0]), e, d)


def _collocation(nodes: Sequence[Decimal]) -> Array:
    """a of the stages in rows 1..s and b in row s + 1."""
    s = len(nodes)
    a = np.zeros((s + 2, s + 2))
    for i, c in enumerate([*nodes, Decimal(1)]):
        a[1 + i, 1 : s + 1] = _floats([_weights(nodes, [c ** (k + 1) / (k + 1) for k in range(s)])])[0]
    return a


@cache
def spectrum(tableau: Tableau) -> Complex:
    """A = T diag(lambda) T^-1 with one of each pair of conjugate eigenvalues [HairerWanner1996, IV.8].

    Row 0 : lambda;  rows 1..s : T, doubled for pairs, so that the real part of T w is the sum;  rows s+1..2s : T^-1, transposed
    """
    s = tableau.stages - 1
    values, vectors = np.linalg.eig(tableau.a[1 : s + 1, 1 : s + 1])
    inverse = np.linalg.inv(vectors)
    kept = [k for k in range(s) if values[k].imag >= 0.0]
    twice = np.where(values[kept].imag > 0.0, 2.0, 1.0)
    rows = np.vstack([values[None, kept], vectors[:, kept] * twice, inverse[kept].T])
    return np.ascontiguousarray(rows, dtype=np.complex128)


def _nodes(s: int, lower: int) -> list[Decimal]:
    """Roots of the shifted P_s - lower P_(s-1) in increasing order, by Newton's method."""
    roots = []
    for start in np.sort(np.polynomial.legendre.legroots([*[0.0] * (s - 1), -float(lower), 1.0])):
        x = Decimal(float(start))
        for _ in range(6):  # digits double from a start that is right to 1e-12
            before, value = Decimal(1), x
            slopes = Decimal(0), Decimal(1)
            for n in range(1, s):
                before, value = value, ((2 * n + 1) * x * value - n * before) / (n + 1)
                slopes = slopes[1], (n + 1) * before + x * slopes[1]  # P'_(n+1) = (n + 1) P_n + x P'_n
            x -= (value - lower * before) / (slopes[1] - lower * slopes[0])
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
