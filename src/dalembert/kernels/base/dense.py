"""Dense linear algebra on pieces of the workspace: roots of small symmetric matrices, rank-aware; LU with row exchanges."""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.coordinates.solve import small_cholesky


@inline
def factor_symmetric(S, n, own, eps, W):
    """Root of the n x n matrix at W[S] in place, reciprocal diagonal, its diagonal kept at W[own]; number of dependent rows."""
    for i in range(n):
        W[own + i] = W[S + n * i + i]
    return small_cholesky(W, S, n, own, eps)


@inline
def solve_lower(S, c, n, W):
    """W[c] <- L^-1 W[c]; zero where a row depends on those before it."""
    for i in range(n):
        s = W[c + i]
        for k in range(i):
            s -= W[S + n * i + k] * W[c + k]
        W[c + i] = s * W[S + n * i + i]


@inline
def solve_upper(S, c, n, W):
    """W[c] <- L^-T W[c]"""
    for i in range(n - 1, -1, -1):
        s = W[c + i]
        for k in range(i + 1, n):
            s -= W[S + n * k + i] * W[c + k]
        W[c + i] = s * W[S + n * i + i]


@inline
def factor_general(A, n, null, pivots, W):
    """LU factors of the n x n matrix at W[A] in place, pivots by size relative to their row; a singular matrix gives NaN.

    null : how many pivots may vanish, of redundant constraints; their unknown is zero
    """
    for i in range(n):
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(W[A + n * i + j]))
        W[pivots + n + i] = 1.0 / largest if largest > 0.0 else np.nan
    for k in range(n):
        row, best = k, -1.0
        for i in range(k, n):
            size = abs(W[A + n * i + k]) * W[pivots + n + i]
            if size > best:
                row, best = i, size
        vanished = null > 0 and best <= 1e-12
        if vanished:  # no equation for this unknown: the one that is left out is the emptiest
            null, least = null - 1, np.inf
            for i in range(k, n):
                size = 0.0
                for j in range(k + 1, n):
                    size = max(size, abs(W[A + n * i + j]) * W[pivots + n + i])
                if size < least:
                    row, least = i, size
        W[pivots + k] = float(row)
        if row != k:
            W[pivots + n + row] = W[pivots + n + k]
            for j in range(n):
                swap = W[A + n * k + j]
                W[A + n * k + j] = W[A + n * row + j]
                W[A + n * row + j] = swap
        inverse = 1.0 / W[A + n * k + k] if W[A + n * k + k] != 0.0 else np.nan
        if vanished:
            inverse = 0.0
        for i in range(k + 1, n):
            factor = W[A + n * i + k] * inverse
            W[A + n * i + k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    W[A + n * i + j] -= factor * W[A + n * k + j]
        W[A + n * k + k] = inverse


@inline
def solve_general(A, n, pivots, c, W):
    """W[c] <- (LU)^-1 W[c]"""
    for k in range(n):
        row = int(W[pivots + k])
        if row != k:
            swap = W[c + k]
            W[c + k] = W[c + row]
            W[c + row] = swap
    for i in range(n):
        s = W[c + i]
        for k in range(i):
            s -= W[A + n * i + k] * W[c + k]
        W[c + i] = s
    for i in range(n - 1, -1, -1):
        s = W[c + i]
        for k in range(i + 1, n):
            s -= W[A + n * i + k] * W[c + k]
        W[c + i] = s * W[A + n * i + i]
