"""Least squares that change some unknowns only where the others are not enough."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array

RELATIVE_RANK = 1e-9  # of singular values of rows of unit length; rounding leaves 1e-15
OPEN = 1e-6  # of a vector: what is no more than rounding of its solution


def least_change(A: Array, r: Array, free: npt.NDArray[np.bool_]) -> Array:
    """y with A y = r as well as can be: of those the least |y[~free]|, of those the least |y[free]|.

    Rows weigh the same, and what is small beside the largest singular value of all of A is rounding: redundant rows leave
    matrices of nothing else, in which a threshold of their own size would find directions.
    """
    length = _lengths(A)
    A, r = A / length[:, None], r / length
    y = np.zeros(A.shape[1])
    first = free if free.any() else ~free
    U, values, V, rank, largest = _decomposed(A[:, first])
    if not first.all():
        out_of_reach = U[:, rank:]  # what the free ones cannot mend
        y[~first] = smallest(out_of_reach.T @ A[:, ~first], out_of_reach.T @ r, largest)
        r = r - A[:, ~first] @ y[~first]
    y[first] = V[:rank].T @ ((U[:, :rank].T @ r) / values[:rank])
    return y


def might_be_zero(A: Array, y: Array, free: npt.NDArray[np.bool_]) -> list[int]:
    """Which vectors of three unknowns, all of them free, are not zero in y, though they are in other solutions of A y' = A y
    that change only what is free."""
    *_, V, rank, _ = _decomposed((A / _lengths(A)[:, None])[:, free])
    N = np.zeros((len(y), len(V) - rank))
    N[free] = V[rank:].T
    y = y / max(float(np.abs(y).max(initial=0.0)), 1e-300)
    vectors = [slice(k, k + 3) for k in range(0, len(y), 3)]
    moving = [part for part in vectors if free[part].all() and np.linalg.norm(y[part]) > OPEN]
    rest = [np.linalg.norm(y[part] + N[part] @ smallest(N[part], -y[part], 1.0)) for part in moving]
    return [part.start // 3 for part, left in zip(moving, rest, strict=True) if left < OPEN * np.linalg.norm(y[part])]


def _lengths(A: Array) -> Array:
    """Of rows; infinite of those that are empty."""
    length = np.linalg.norm(A, axis=1)
    return np.where(length > RELATIVE_RANK * length.max(initial=0.0), length, np.inf)


def _decomposed(A: Array) -> tuple[Array, Array, Array, int, float]:
    """U, singular values, V, rank, size of the matrix of which these columns are: each of its rows has length one."""
    U, values, V = np.linalg.svd(A)
    largest = max(1.0, values.max(initial=0.0))
    return U, values, V, int(np.sum(values > RELATIVE_RANK * largest)), largest


def smallest(A: Array, r: Array, size: float) -> Array:
    """Least squares without the singular values that vanish beside `size`."""
    U, values, V = np.linalg.svd(A, full_matrices=False)
    kept = values > RELATIVE_RANK * size
    return np.asarray(V[kept].T @ ((U[:, kept].T @ r) / values[kept]))
