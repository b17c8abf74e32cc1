"""Least squares that change some unknowns only where the others are not enough."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array

RELATIVE_RANK = 1e-9  # of singular values of rows of unit length; rounding leaves 1e-15


def least_change(A: Array, r: Array, free: npt.NDArray[np.bool_]) -> Array:
    """y with A y = r as well as can be: of those the least |y[~free]|, of those the least |y[free]|.

    Rows weigh the same, and what is small beside the largest singular value of all of A is rounding: redundant rows leave
    matrices of nothing else, in which a threshold of their own size would find directions.
    """
    length = np.linalg.norm(A, axis=1)
    empty = length <= RELATIVE_RANK * length.max(initial=0.0)
    length[empty] = np.inf
    A, r = A / length[:, None], r / length
    y = np.zeros(A.shape[1])
    first = free if free.any() else ~free
    U, values, V = np.linalg.svd(A[:, first])
    largest = max(1.0, values.max(initial=0.0))  # of A, nearly: each of its rows has length one
    rank = int(np.sum(values > RELATIVE_RANK * largest))
    if not first.all():
        out_of_reach = U[:, rank:]  # what the free ones cannot mend
        y[~first] = smallest(out_of_reach.T @ A[:, ~first], out_of_reach.T @ r, largest)
        r = r - A[:, ~first] @ y[~first]
    y[first] = V[:rank].T @ ((U[:, :rank].T @ r) / values[:rank])
    return y


def smallest(A: Array, r: Array, size: float) -> Array:
    """Least squares without the singular values that vanish beside `size`."""
    U, values, V = np.linalg.svd(A, full_matrices=False)
    kept = values > RELATIVE_RANK * size
    return np.asarray(V[kept].T @ ((U[:, kept].T @ r) / values[kept]))
