"""Dense linear algebra on numbers (views.py): sums, roots of symmetric matrices, rank-aware, LU with row exchanges.

An n x n matrix A lies row by row: A + n * i is its row i. Roots L L^T have the reciprocals of their diagonal on it, zero where
a row depends on those before it: such a row takes no part in solutions.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.loops import add_multiple, minus_dot, plus_dot


@inline
def multiply(out, A, v, m, n):
    """out <- A v for m rows of n numbers"""
    for i in range(m):
        out[i] = plus_dot(0.0, A + n * i, v, n)


@inline
def multiply_symmetric(out, S, v, n):
    """out <- S v for a symmetric n x n matrix, lower triangle given"""
    for i in range(n):
        s = plus_dot(0.0, S + n * i, v, i)
        for k in range(i, n):
            s += S[n * k + i] * v[k]
        out[i] = s


@inline
def subtract_products(out, A, v, m, n):
    """out -= A v for m rows of n numbers"""
    for i in range(m):
        out[i] = minus_dot(out[i], A + n * i, v, n)


@inline
def add_transposed(out, A, c, m, n):
    """out += A^T c for m rows of n numbers"""
    for i in range(m):
        add_multiple(out, c[i], A + n * i, n)


@inline
def dense_cholesky(S, n, scale, eps):
    """S <- its root (lower triangle used); number of rows whose pivot falls below eps times their scale."""
    dependent = 0
    for i in range(n):
        row = S + n * i
        for j in range(i):
            row[j] = minus_dot(row[j], row, S + n * j, j) * S[n * j + j]
        s, pivot = minus_dot(row[i], row, row, i), np.nan
        if eps * scale[i] < s:
            pivot = 1.0 / np.sqrt(s)
        elif s <= eps * scale[i]:
            pivot = 0.0
            dependent += 1  # where this holds in some lanes alone, all get NaN
        row[i] = pivot
    return dependent


@inline
def factor_symmetric(S, n, scale, eps):
    """scale <- the diagonal of S, then `dense_cholesky`."""
    for i in range(n):
        scale[i] = S[(n + 1) * i]
    return dense_cholesky(S, n, scale, eps)


@inline
def weakest_dense_row(S, n, scale, spare):
    """(row, sine): the smallest sqrt(pivot / scale) of a root, without idle rows and the first `spare` that vanished."""
    row, smallest = 0, 1.0
    for i in range(n):
        inverse = S[(n + 1) * i]
        if inverse == 0.0 and spare > 0:
            spare -= 1
            continue
        sine = 1.0 / (inverse * np.sqrt(scale[i])) if inverse > 0.0 else 0.0
        if sine < smallest and scale[i] < np.inf:
            row, smallest = i, sine
    return row, smallest


@inline
def solve_lower(S, c, n):
    """c <- L^-1 c"""
    for i in range(n):
        c[i] = minus_dot(c[i], S + n * i, c, i) * S[(n + 1) * i]


@inline
def solve_upper(S, c, n):
    """c <- L^-T c"""
    for i in range(n - 1, -1, -1):
        s = c[i]
        for k in range(i + 1, n):
            s -= S[n * k + i] * c[k]
        c[i] = s * S[(n + 1) * i]


@inline
def solve_with_factor(S, c, n):
    """c <- (L L^T)^-1 c"""
    solve_lower(S, c, n)
    solve_upper(S, c, n)


@inline
def solve_definite(S, c, n):
    """c <- S^-1 c for a positive definite S with n numbers to spare behind it; a singular one gives NaN."""
    if factor_symmetric(S, n, S + n * n, 1e-13) > 0:
        S[0] = np.nan
    solve_with_factor(S, c, n)


@inline
def factor_general(A, n, null, pivots):
    """LU factors of A in place, pivots (2 n numbers) by size relative to their row; a singular matrix gives NaN.

    null : how many pivots may vanish, of redundant constraints; their unknown is zero
    """
    relative = pivots + n
    for i in range(n):
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(A[n * i + j]))
        relative[i] = 1.0 / largest if largest > 0.0 else np.nan
    for k in range(n):
        row, best = k, -1.0
        for i in range(k, n):
            size = abs(A[n * i + k]) * relative[i]
            if size > best:
                row, best = i, size
        vanished = null > 0 and best <= 1e-12
        if vanished:  # no equation for this unknown: the one that is left out is the emptiest
            null, least = null - 1, np.inf
            for i in range(k, n):
                size = 0.0
                for j in range(k + 1, n):
                    size = max(size, abs(A[n * i + j]) * relative[i])
                if size < least:
                    row, least = i, size
        pivots[k] = float(row)
        if row != k:
            relative[row] = relative[k]
            for j in range(n):
                A[n * k + j], A[n * row + j] = A[n * row + j], A[n * k + j]
        inverse = 1.0 / A[n * k + k] if A[n * k + k] != 0.0 else np.nan
        if vanished:
            inverse = 0.0
        for i in range(k + 1, n):
            factor = A[n * i + k] * inverse
            A[n * i + k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[n * i + j] -= factor * A[n * k + j]
        A[n * k + k] = inverse


@inline
def solve_general(A, n, pivots, c):
    """c <- (LU)^-1 c"""
    for k in range(n):
        row = int(pivots[k])
        if row != k:
            c[k], c[row] = c[row], c[k]
    for i in range(n):
        c[i] = minus_dot(c[i], A + n * i, c, i)
    for i in range(n - 1, -1, -1):
        s = c[i]
        for k in range(i + 1, n):
            s -= A[n * i + k] * c[k]
        c[i] = s * A[(n + 1) * i]
