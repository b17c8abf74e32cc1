"""Why a run stopped: the condition of the constraint Jacobian, and which joints lock."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import Row
from dalembert.compilation.rank import inverse_root_mass
from dalembert.compilation.rows import Tables, dense_rows
from dalembert.kernels.base import tables as T

SINGULAR = 1e5  # condition of rows of unit length in the mass metric; healthy mechanisms stay below some hundreds


def locking_joints(tables: Tables, rows: Sequence[Row], rank: int, t: float, x: Array) -> tuple[float, list[str]]:
    """(condition number, joints and drivers whose rows are almost dependent at this state, most involved first)."""
    if rank == 0 or not np.all(np.isfinite(x)):
        return 1.0, []
    m = int(tables.I[T.M])
    G = dense_rows(tables, t, x)[0][:m] * inverse_root_mass(tables)
    lengths = np.linalg.norm(G, axis=1, keepdims=True)
    U, values, _ = np.linalg.svd(G / np.where(lengths > 0, lengths, 1.0), full_matrices=False)
    last = rank - 1  # of all rows, so that the condition is the mechanism's and not that of the rows that act
    condition = float(values[0] / max(values[last], 1e-300))
    share: dict[str, float] = {}
    for row in rows:
        if row.index < m:
            share[row.element] = share.get(row.element, 0.0) + float(U[row.index, last] ** 2)
    names = sorted((name for name in share if share[name] > 0.02), key=lambda name: -share[name])
    return condition, names
