"""Which rows does a mechanism need? Redundant constraints by name, decided in general position.

A row is redundant when rows before it imply it wherever the mechanism can go: tree joints first, then the joints that close
loops, then drivers. Only rows of one loop block can depend on each other, so each block is looked at alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dalembert.kernels import tables as T
from dalembert.mechanism import Mechanism, dense_rows, new_workspace
from dalembert.pack import Packed
from dalembert.topology import loop_blocks

Array = npt.NDArray[np.float64]
RowKey = tuple[int, int]

TOLERANCE = 1e-7  # what is left of a unit row after removing the others; rounding leaves 1e-14, geometry more than 1e-3


@dataclass(frozen=True)
class RankReport:
    """redundant : rows to drop;  null : rows whose multipliers are not unique;  singular_start : rank is lower at the start"""

    redundant: frozenset[RowKey]
    not_unique: frozenset[RowKey]
    singular_start: bool


def dependent_rows(rows: Array, priority: Sequence[int]) -> list[int]:
    """Rows that depend on the ones before them, in the order of `priority`, by Gram-Schmidt done twice."""
    basis = np.zeros((min(rows.shape), rows.shape[1]))
    count, dependent = 0, []
    for k in priority:
        length = np.linalg.norm(rows[k])
        if length == 0.0:
            dependent.append(k)
            continue
        v = rows[k] / length
        for _ in range(2):
            v = v - basis[:count].T @ (basis[:count] @ v)
        rest = np.linalg.norm(v)
        if rest <= TOLERANCE or count == len(basis):
            dependent.append(k)
        else:
            basis[count] = v / rest
            count += 1
    return dependent


def involved_rows(rows: Array, dependent: list[int]) -> list[int]:
    """Rows whose multipliers are not unique: the dependent ones and those that they are combinations of."""
    kept = np.setdiff1d(np.arange(len(rows)), dependent)
    length = np.linalg.norm(rows, axis=1)
    unit = rows / np.where(length > 0.0, length, 1.0)[:, None]
    Q, R = np.linalg.qr(unit[kept].T)
    shares = np.linalg.solve(R, Q.T @ unit[dependent].T)  # unit[dependent] = shares^T unit[kept]
    used = np.abs(shares).max(axis=1, initial=0.0) > 1e-6
    return [*dependent, *(int(k) for k in kept[used])]


def inverse_root_mass(packed: Packed | Mechanism) -> Array:
    """(6 nb,) scale of every velocity in the mass metric, so that metres and radians can be compared."""
    scale = []
    for b in range(1, int(packed.I[T.NB]) + 1):
        at = int(packed.I[T.MASS_F]) + T.METRIC_W * b
        m, J = packed.F[at + T.MM], packed.F[[at + T.MJ, at + T.MJ + 3, at + T.MJ + 5]]
        scale += [*([m**-0.5] * 3), *(J**-0.5)]
    return np.array(scale)


def generic_points(packed: Packed, x_0: Array, count: int = 2, size: float = 0.05) -> list[Array]:
    """Other states on the constraint manifold: random tangent steps, projected back; fewer when the way is barred."""
    from dalembert.kernels.one_state import move

    rng = np.random.default_rng(20261115)
    scale = inverse_root_mass(packed)
    W = new_workspace(packed.I)
    points = []
    zero = np.zeros(len(scale))
    for _ in range(count):
        x = x_0.copy()
        G, *_ = dense_rows(packed, 0.0, x)
        step = rng.standard_normal(len(scale)) * scale
        step -= scale * np.linalg.lstsq(G * scale, G @ step, rcond=1e-9)[0]
        largest = np.abs(step).max(initial=0.0)
        if largest < 1e-9:
            break
        move(x, step * (size / largest), zero, packed.I, packed.F, W)
        held = [row.index for row in packed.rows if not row.nonholonomic]
        for _ in range(30):
            G, g = (values[held] for values in dense_rows(packed, 0.0, x)[:2])
            if np.abs(g).max(initial=0.0) < 1e-12:
                points.append(x)
                break
            move(x, -scale * np.linalg.lstsq(G * scale, g, rcond=1e-6)[0], zero, packed.I, packed.F, W)
    return points


def analyse(packed: Packed, x_0: Array) -> RankReport:
    """Redundant rows of a mechanism whose tables were packed with every row kept."""
    scale = inverse_root_mass(packed)
    states = [x_0, *(generic_points(packed, x_0) if packed.forest.cuts else [])]
    scaled = [dense_rows(packed, 0.0, x)[0] * scale for x in states]
    by_node: dict[int, list[int]] = {}
    node_of_row = _node_of_rows(packed)
    for index, node in node_of_row.items():
        by_node.setdefault(node, []).append(index)
    in_loops = loop_blocks(packed.forest, packed.nodes)
    alone = set(by_node) - {node for block in in_loops for node in block}
    key = {row.index: (row.primitive, row.component) for row in packed.rows}
    rheonomic = {row.index: row.rheonomic for row in packed.rows}
    cuts = set(packed.forest.cuts)

    redundant: set[RowKey] = set()
    not_unique: set[RowKey] = set()
    singular_start = False
    for block in [*([node] for node in alone), *in_loops]:
        rows = [k for node in block for k in by_node.get(node, [])]
        rows.sort(key=lambda k: (rheonomic[k], node_of_row[k] in cuts, k))
        touched = np.any([np.any(G[rows] != 0.0, axis=0) for G in scaled], axis=0)
        found = [dependent_rows(G[rows][:, touched], range(len(rows))) for G in scaled]
        fewest = min(range(len(found)), key=lambda k: (len(found[k]), k == 0))
        singular_start |= len(found[0]) > len(found[fewest])
        redundant.update(key[rows[k]] for k in found[fewest])
        if found[fewest]:
            involved = involved_rows(scaled[fewest][rows][:, touched], found[fewest])
            not_unique.update(key[rows[k]] for k in involved)
    return RankReport(frozenset(redundant), frozenset(not_unique), singular_start)


def _node_of_rows(packed: Packed) -> dict[int, int]:
    """Kernel row -> constraint node, for rows of bodies that are joined by a row of the solve."""
    node_of_row: dict[int, int] = {}
    number = {pair: node for node, pair in enumerate(packed.nodes)}
    table = packed.I[packed.I[T.PRIM_I] :][: T.PRIM_I_W * (packed.I[T.NPRIM] + packed.I[T.NTRACED])].reshape(-1, T.PRIM_I_W)
    for row in packed.rows:
        i, j = sorted((int(table[row.primitive, T.P_BI]), int(table[row.primitive, T.P_BJ])))
        if (i, j) in number:
            node_of_row[row.index] = number[i, j]
    return node_of_row
