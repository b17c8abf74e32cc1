"""Which rows does a mechanism need? Its rank in general position, and redundant constraints by name.

Rank belongs to the mechanism, not to a pose: it is the largest over several poses on the constraints, so that a singular start
and rounding off the constraints do not count. A row is called redundant when rows before it imply it: tree joints first, then
the joints that close loops, then drivers, then rows of velocities. Which rows act in a run is chosen there
(kernels/coordinates/choice.py). Only rows of one loop block can depend on each other, so each block is looked at alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array, IntArray
from dalembert.compilation.compiled import Row
from dalembert.compilation.pack import Packed
from dalembert.compilation.pack_choices import Choice
from dalembert.compilation.rows import Tables, bodies_of, dense_rows, move
from dalembert.compilation.topology import loop_blocks
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records

RowKey = tuple[int, int]

TOLERANCE = 1e-7  # what is left of a unit row after removing the others; rounding leaves 1e-14, geometry more than 1e-3
INDEPENDENT = 1e-4  # smallest singular value of unit rows at which nothing more need be looked at
ON_CONSTRAINTS = 1e-13  # residual of a pose, relative to the largest coordinate: dependent rows then differ by less than 1e-10


@dataclass(frozen=True)
class RankReport:
    """choices : every block that has more rows than rank;  redundant : rows by which they are more, by priority

    not_unique : rows whose multipliers the redundancy leaves undetermined;  singular_start : rank is lower at the start
    """

    choices: tuple[Choice[RowKey], ...]
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


def inverse_root_mass(packed: Tables) -> Array:
    """(6 nb,) scale of every velocity in the mass metric, so that metres and radians can be compared."""
    return diagonals(records(packed.I, packed.F, T.MASS_F)[1:]).ravel() ** -0.5


def diagonals(masses: Any) -> Array:
    """(.., 6) of the mass matrices in (v, w_B) of bodies, from their records."""
    found: Array = np.concatenate([np.repeat(masses["m"][..., None], 3, axis=-1), masses["J"][..., [0, 3, 5]]], axis=-1)
    return found


def generic_points(packed: Packed, x_0: Array, steps: tuple[float, ...] = (0.05, 0.15, 0.3, -0.1, -0.3)) -> list[Array]:
    """Other states on the constraints: tangent steps (radians, or parts of the mechanism's size), projected back; a step is
    taken from the last state reached, one backwards from the start. Fewer when the way is barred."""
    rng = np.random.default_rng(20261115)
    held = [row.index for row in packed.rows if not row.nonholonomic]
    nq = int(packed.I[T.NQ])
    length, scale = arm_length(packed), radians(packed)
    points: list[Array] = []
    for size in steps:
        x = (x_0 if size < 0.0 or not points else points[-1]).copy()
        step = rng.standard_normal(len(scale)) * scale
        G = dense_rows(packed, packed.t_0, x)[0]
        A, sizes = unit(G * scale)
        step = step - scale * np.linalg.lstsq(A, G @ step / sizes, rcond=1e-6)[0]
        largest = np.abs(step / scale).max(initial=0.0)
        if largest < 1e-9:
            break
        move(packed, x, step * (abs(size) / largest), np.zeros(len(scale)))
        for _ in range(40):
            G, g = (values[held] for values in dense_rows(packed, packed.t_0, x)[:2])
            if np.abs(g).max(initial=0.0) <= ON_CONSTRAINTS * max(length, float(np.abs(x[:nq]).max(initial=0.0))):
                points.append(x)
                break
            A, sizes = unit(G * scale)
            back = scale * np.linalg.lstsq(A, g / sizes, rcond=1e-6)[0]
            if not np.all(np.isfinite(back)) or np.abs(back / scale).max(initial=0.0) > 2.0:
                break
            move(packed, x, -back, np.zeros(len(scale)))
    return points


def radians(packed: Tables) -> Array:
    """(6 nb,) what a radian is worth in the velocities of every body, so that metres and radians can be compared."""
    return np.tile([arm_length(packed)] * 3 + [1.0] * 3, int(packed.I[T.NB]))


def unit_rows(packed: Tables, G: Array) -> Array:
    """Rows of unit length; those that vanish beside the others stay zero."""
    return unit(G * radians(packed))[0]


def arm_length(packed: Tables) -> float:
    """Longest arm of a joint on a movable body."""
    return float(longest_arms(packed.I, packed.F[None])[0][0])


def longest_arms(I: IntArray, F: Array) -> tuple[Array, Array]:
    """(runs,) longest arm of a joint on a movable body, and on any."""
    total = int(I[T.NPRIM] + I[T.NTRACED])
    ends, points = records(I, I, T.PRIM_I, total), records(I, F, T.PRIM_F, total)
    sizes = np.stack([np.abs(points[label]).max(axis=2) for label in ("p_i", "p_j")], axis=2)
    arm = np.where(np.stack([ends["i"], ends["j"]], axis=1) > 0, sizes, 0.0).max(axis=(1, 2), initial=0.0)
    return np.where(arm > 0.0, arm, 1.0), sizes.max(axis=(1, 2), initial=0.0)


def unit(A: Array) -> tuple[Array, Array]:
    """(.., rows, n) rows of unit length, and their lengths; rows that vanish beside the others are zero, of infinite length."""
    length = np.linalg.norm(A, axis=-1)
    length[length <= 1e-12 * length.max(axis=-1, initial=0.0)[..., None]] = np.inf
    return A / length[..., None], length


def analyse(packed: Packed, x_0: Array) -> RankReport:
    """Rank and redundant rows of a mechanism whose tables were packed with every row kept."""
    first = unit_rows(packed, dense_rows(packed, packed.t_0, x_0)[0])
    solved = first[: packed.I[T.M]]
    if far_from_dependent((solved @ solved.T)[None])[0]:
        return RankReport((), frozenset(), frozenset(), False)
    others = generic_points(packed, x_0) if packed.forest.cuts else []
    scaled = [first, *(unit_rows(packed, dense_rows(packed, packed.t_0, x)[0]) for x in others)]
    by_node: dict[int, list[int]] = {}
    node_of_row = _node_of_rows(packed)
    for index, node in node_of_row.items():
        by_node.setdefault(node, []).append(index)
    in_loops = loop_blocks(packed.forest, packed.nodes)
    alone = set(by_node) - {node for block in in_loops for node in block}
    key = {row.index: (row.primitive, row.component) for row in packed.rows}
    rheonomic = {row.index: row.rheonomic for row in packed.rows}
    of_velocities = {row.index: row.nonholonomic for row in packed.rows}
    cuts = set(packed.forest.cuts)

    choices: list[Choice[RowKey]] = []
    redundant: set[RowKey] = set()
    not_unique: set[RowKey] = set()
    singular_start = False
    for block in [*([node] for node in sorted(alone)), *in_loops]:
        rows = [k for node in block for k in by_node.get(node, [])]
        rows.sort(key=lambda k: (of_velocities[k], rheonomic[k], node_of_row[k] in cuts, k))
        held = sum(not of_velocities[k] for k in rows)
        touched = np.any([np.any(G[rows] != 0.0, axis=0) for G in scaled], axis=0)
        at = [G[rows][:, touched] for G in scaled]
        factors = [np.linalg.svd(A) for A in at]
        ranks = [int(np.sum(values > TOLERANCE)) for _, values, _ in factors]
        rank = max(ranks, default=0)
        singular_start |= ranks[0] < rank
        if rank == len(rows):
            continue
        held_rank = max(int(np.sum(np.linalg.svd(A[:held], compute_uv=False) > TOLERANCE)) for A in at)
        keys = tuple(key[k] for k in rows)
        choices.append(Choice(rank, held_rank, keys[:held], keys[held:]))
        best = max((k for k in range(len(at)) if ranks[k] == rank), key=lambda k: factors[k][1][rank - 1] if rank else 0.0)
        redundant.update(key[rows[k]] for k in last_dependent(at[best], rank))
        for (U, _, _), full in zip(factors, ranks, strict=True):
            if full == rank:
                involved = np.linalg.norm(U[:, rank:], axis=1) > 1e-6
                not_unique.update(key[rows[int(k)]] for k in np.flatnonzero(involved))
    return RankReport(tuple(choices), frozenset(redundant), frozenset(not_unique), singular_start)


def far_from_dependent(gram: Array) -> npt.NDArray[np.bool_]:
    """Whether the unit rows of each Gram matrix are so far from dependent at one pose that they are independent in general."""
    shifted = gram - INDEPENDENT**2 * np.eye(gram.shape[-1])
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return np.array([len(shifted) > 1 and far_from_dependent(one[None])[0] for one in gram])
    return np.ones(len(gram), dtype=bool)


def last_dependent(rows: Array, rank: int) -> list[int]:
    """The rows that depend on those before them, as many as the rank asks for: of what is left of each, the smallest."""
    basis = np.zeros((rank, rows.shape[1]))
    count, left = 0, np.zeros(len(rows))
    for k, row in enumerate(rows):
        v = row
        for _ in range(2):
            v = v - basis[:count].T @ (basis[:count] @ v)
        left[k] = np.linalg.norm(v)
        if left[k] > TOLERANCE and count < rank:
            basis[count] = v / left[k]
            count += 1
    return sorted(int(k) for k in np.argsort(left, kind="stable")[: len(rows) - rank])


def _node_of_rows(packed: Packed) -> dict[int, int]:
    """Kernel row -> constraint node, for rows of bodies that are joined by a row of the solve."""
    node_of_row: dict[int, int] = {}
    number = {bodies: node for node, bodies in enumerate(packed.nodes)}
    for row in (row for row in packed.rows if row.index < packed.I[T.M]):
        bodies = bodies_of(packed.I, row.primitive)
        if bodies in number:
            node_of_row[row.index] = number[bodies]
    return node_of_row


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
