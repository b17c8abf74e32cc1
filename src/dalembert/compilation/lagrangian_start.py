"""The start of a Lagrangian system: coordinates and velocities that meet the constraints; mass matrix and rank there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.least_change import least_change
from dalembert.compilation.rank import dependent_rows, involved_rows
from dalembert.errors import AssemblyError, ModelError
from dalembert.kernels.base import tables as T

if TYPE_CHECKING:
    from dalembert.compilation.lagrangian import LagrangianMechanism


TOLERANCE = 1e-13
_ITERATIONS = 60
_SINGULAR = "the initial configuration is singular: the constraint rank is lower there than nearby"


def assemble_system(mechanism: LagrangianMechanism) -> LagrangianMechanism:
    """The mechanism with a consistent x_0, its rank and redundant rows; raises and names what cannot be met."""
    system = mechanism.model
    names, n = system.coordinates, mechanism.nq
    given = np.array([system.initial.get(name, 0.0) for name in names] + [system.velocities.get(name, 0.0) for name in names])
    free = np.array([name not in system.initial for name in names] + [name not in system.velocities for name in names])
    x = np.concatenate([given, [0.0]])
    _check_finite(mechanism, x)
    x = _positions(mechanism, x, free[:n])
    x = _velocities(mechanism, x, free[n:])
    weight = _check_mass(mechanism, x)
    A, here = _nearby_rows(mechanism, x)
    dependent = dependent_rows(A, range(len(A)))
    involved = {mechanism.rows[k].element for k in involved_rows(A, dependent)} if dependent else set()
    I, F = mechanism.I.copy(), mechanism.F.copy()
    I[T.RANK], F[T.AUGMENT] = mechanism.m - len(dependent), weight
    for array in (I, F, x):
        array.flags.writeable = False
    return replace(
        mechanism,
        I=I,
        F=F,
        x_0=x,
        redundant=tuple(mechanism.rows[k] for k in dependent),
        not_unique=tuple(name for name in system.constraints if name in involved),
        moved=tuple(_moved(names, given, x, free)),
        warnings=(_SINGULAR,) if here > len(dependent) else (),
    )


def _nearby_rows(mechanism: LagrangianMechanism, x: Array) -> tuple[Array, int]:
    """Rows at a point a little off the start, where rank is as in general position; dependent rows at the start itself."""
    A = mechanism.evaluate(T.ROWS_PART, mechanism.t_0, x).A
    there = x.copy()
    there[: mechanism.nq] += np.random.default_rng(1).uniform(-1e-3, 1e-3, mechanism.nq)
    nearby = mechanism.evaluate(T.ROWS_PART, mechanism.t_0, there).A
    at_start = dependent_rows(A, range(len(A)))
    if not np.all(np.isfinite(nearby)):
        nearby = A
    elif mechanism.I[T.M_HOLONOMIC]:  # off the constraints rows that imply each other differ by as much
        nearby = _onto_constraints(mechanism, there)
    return nearby, len(at_start)


def _onto_constraints(mechanism: LagrangianMechanism, x: Array) -> Array:
    """Rows at the point of the constraints nearest to x."""
    n, m = mechanism.nq, int(mechanism.I[T.M_HOLONOMIC])
    for _ in range(20):
        values = mechanism.evaluate(T.ROWS_PART, mechanism.t_0, x)
        step = np.linalg.lstsq(values.A[:m], values.g, rcond=1e-9)[0]
        x[:n] -= step
        if np.abs(step).max() < 1e-14:
            break
    return mechanism.evaluate(T.ROWS_PART, mechanism.t_0, x).A


def _moved(names: Sequence[str], given: Array, x: Array, free: npt.NDArray[np.bool_]) -> list[str]:
    """What was given and had to change."""
    labels = [*names, *(f"{name}'" for name in names)]
    return [
        f"{label}: {old:.6g} -> {new:.6g}"
        for label, old, new, may in zip(labels, given, x, free, strict=False)
        if not may and abs(new - old) > 1e-12 * max(1.0, abs(old))
    ]


def _scale(mechanism: LagrangianMechanism, x: Array) -> Array:
    """1 / sqrt(M_ii): coordinates weigh with their inertia."""
    inertia = np.diag(mechanism.evaluate(T.MOTION_PART, mechanism.t_0, x).M)
    largest = float(np.max(np.abs(inertia), initial=0.0)) or 1.0
    heavy = inertia > 1e-12 * largest
    return np.asarray(1.0 / np.sqrt(np.where(heavy, inertia, largest)))


def _lengths(A: Array) -> Array:
    """(m, 1) lengths of rows: residuals over them are distances, however a constraint was scaled."""
    length = np.linalg.norm(A, axis=1, keepdims=True)
    return np.where(length > 0, length, 1.0)


def _check_finite(mechanism: LagrangianMechanism, x: Array) -> None:
    values = mechanism.evaluate(T.MOTION_PART, mechanism.t_0, x)
    culprits = [
        f"the equation of {name!r}" for name, h in zip(mechanism.model.coordinates, values.h, strict=True) if not np.isfinite(h)
    ]
    culprits += [
        f"constraint {mechanism.rows[k].element!r}" for k in range(mechanism.m) if not np.all(np.isfinite(values.A[k]))
    ]
    if culprits:
        raise ModelError(
            f"not finite at the start: {', '.join(culprits)}; give `initial` values where the Lagrangian and the constraints"
            " have derivatives"
        )


def _blamed(mechanism: LagrangianMechanism, residual: Array) -> str:
    worst: dict[str, float] = {}
    for row, value in zip(mechanism.rows, np.abs(residual), strict=False):
        worst[row.element] = max(worst.get(row.element, 0.0), float(value))
    top = max(worst.values(), default=0.0)
    return ", ".join(f"{name!r} ({value:.3g})" for name, value in worst.items() if value >= 0.01 * top)


def _positions(mechanism: LagrangianMechanism, x: Array, free: npt.NDArray[np.bool_]) -> Array:
    """Damped Gauss-Newton on g = 0: coordinates that were not given move first."""
    n, m = mechanism.nq, int(mechanism.I[T.M_HOLONOMIC])
    if m == 0:
        return x
    scale = _scale(mechanism, x)
    for may in (free, np.ones(n, dtype=bool)):
        if not may.any():
            continue
        values = mechanism.evaluate(T.ROWS_PART, mechanism.t_0, x)
        trial_x = x
        for _ in range(_ITERATIONS):
            length = _lengths(values.A[:m])
            g = values.g / length[:, 0]
            if np.abs(g).max() <= TOLERANCE * max(1.0, np.abs(trial_x[:n]).max()):
                return trial_x
            step = -scale * least_change(values.A[:m] / length * scale * may, g, np.zeros(n, dtype=bool))
            damping = 1.0
            for _ in range(12):
                trial = trial_x.copy()
                trial[:n] += damping * step
                new = mechanism.evaluate(T.ROWS_PART, mechanism.t_0, trial)
                if np.linalg.norm(new.g / length[:, 0]) < np.linalg.norm(g) * (1.0 - 1e-4 * damping):
                    break
                damping *= 0.5
            else:
                break
            trial_x, values = trial, new
        g = values.g / _lengths(values.A[:m])[:, 0]
        if np.abs(g).max() <= 100 * TOLERANCE * max(1.0, np.abs(trial_x[:n]).max()):
            return trial_x
    raise AssemblyError(
        f"the start cannot be made to fit: the holonomic constraints {_blamed(mechanism, g)} keep the residual in brackets;"
        " they contradict each other, or `initial` is too far from any position that meets them",
        joints=tuple(dict.fromkeys(row.element for row in mechanism.rows[:m])),
    )


def _velocities(mechanism: LagrangianMechanism, x: Array, free: npt.NDArray[np.bool_]) -> Array:
    """Least change of the velocities to A v + b = 0; those that were not given change first."""
    n = mechanism.nq
    if mechanism.m == 0:
        return x
    x = x.copy()
    scale = _scale(mechanism, x)
    values = mechanism.evaluate(T.ROWS_PART, mechanism.t_0, x)
    length = _lengths(values.A)
    A, b = values.A / length, values.b / length[:, 0]
    for _ in range(3):
        x[n : 2 * n] -= scale * least_change(A * scale, A @ x[n : 2 * n] + b, free)
    r = A @ x[n : 2 * n] + b
    if np.abs(r).max() > 1e-9 * (1.0 + np.abs(x[n : 2 * n]).max() + np.abs(b).max()):
        raise AssemblyError(
            f"no velocities fit: the constraints {_blamed(mechanism, r)} keep the velocity residual in brackets;"
            " they contradict each other",
            joints=tuple(dict.fromkeys(row.element for row, value in zip(mechanism.rows, r, strict=True) if value)),
        )
    return x


def _check_mass(mechanism: LagrangianMechanism, x: Array) -> float:
    """Weight of A^T A that makes the mass matrix regular, 0 where it is by itself; raises where nothing does."""
    values = mechanism.evaluate(T.MOTION_PART, mechanism.t_0, x)
    M, A, names = values.M.copy(), values.A.copy(), mechanism.model.coordinates
    largest = float(np.abs(M).max()) or 1.0
    smallest, direction = _least_eigenvalue(M)
    if smallest < -1e-10 * largest:
        raise ModelError(
            f"the kinetic energy is negative for the velocity {_combination(names, direction)}; check the signs of L = T - U"
        )
    if smallest > 1e-13:
        return 0.0
    weight = float(np.trace(M) / max(np.trace(A.T @ A), 1e-300)) if len(A) and np.trace(M) > 0 else 0.0
    smallest, direction = _least_eigenvalue(M + weight * A.T @ A)
    if weight == 0.0 or smallest <= 1e-13:
        raise ModelError(
            f"no kinetic energy and no constraint for the velocity {_combination(names, direction)}: its acceleration is not"
            " determined; add inertia to L, a constraint, or leave the coordinate out"
        )
    return weight


def without_inertia(mechanism: LagrangianMechanism) -> str:
    """The velocity that the kinetic energy of the start leaves out, as text."""
    M = mechanism.evaluate(T.MOTION_PART, mechanism.t_0, mechanism.x_0).M
    return _combination(mechanism.model.coordinates, _least_eigenvalue(M)[1])


def _least_eigenvalue(M: Array) -> tuple[float, Array]:
    """Least eigenvalue of M scaled to a unit diagonal (where it has one), and its vector."""
    diagonal = np.diag(M)
    largest = float(np.max(np.abs(diagonal), initial=0.0)) or 1.0
    scale = 1.0 / np.sqrt(np.where(diagonal > 1e-14 * largest, diagonal, largest))
    values, vectors = np.linalg.eigh(M * scale[:, None] * scale)
    return float(values[0]), np.asarray(vectors[:, 0] * scale)


def _combination(names: Sequence[str], direction: Array) -> str:
    """Velocities that take part, as text: "z'" or "x' and y' together"."""
    share = np.abs(direction) / np.abs(direction).max()
    chosen = [f"{name}'" for name, value in zip(names, share, strict=True) if value > 1e-3]
    return chosen[0] if len(chosen) == 1 else f"{', '.join(chosen)} together"


def almost_dependent(mechanism: LagrangianMechanism, t: float, x: Array) -> tuple[float, list[str]]:
    """(condition number, constraints whose rows are almost dependent at this state)."""
    if mechanism.m == 0 or not np.all(np.isfinite(x)):
        return 1.0, []
    A = mechanism.evaluate(T.ROWS_PART, t, x).A
    kept = [k for k in range(mechanism.m) if mechanism.rows[k] not in mechanism.redundant]
    lengths = np.linalg.norm(A[kept], axis=1, keepdims=True)
    U, values, _ = np.linalg.svd(A[kept] / np.where(lengths > 0, lengths, 1.0), full_matrices=False)
    names = [mechanism.rows[k].element for k, share in zip(kept, U[:, -1], strict=True) if share**2 > 0.02]
    return float(values[0] / max(values[-1], 1e-300)), list(dict.fromkeys(names))
