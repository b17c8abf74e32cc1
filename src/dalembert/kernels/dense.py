"""Dense linear algebra on pieces of the workspace: roots of small symmetric matrices, rank-aware."""

from dalembert.kernels.compiler import inline
from dalembert.kernels.solve import small_cholesky


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
