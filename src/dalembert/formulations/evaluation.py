"""What saved states imply: multipliers, accelerations, residuals and energies, evaluated after a run.

Multipliers come from G M^-1 G^T, which loses the square of what lengths, masses and inertias differ by. Where G u' + zeta shows
that, a state is solved again, dense, in a basis Z of the velocities that the rows of unit length leave free:

    u' = u'_p + Z y,   G u'_p = -zeta,   Z^T M Z y = Z^T (h - M u'_p),   G^T lam = M u' - h      [GolubVanLoan2013, 5.5]
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dalembert.arrays import Array, symmetric
from dalembert.compilation.at_state import RowsAtState
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rank import radians
from dalembert.compilation.rows import dense_rows
from dalembert.errors import SimulationError
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records

LOST = 1e-9  # share of `unmet` above which a state is solved again
MANY = 20  # of such states, from which compiling their rows pays


@dataclass(frozen=True, eq=False)
class Evaluated:
    """lam (nt, m), accelerations (nt, 6 nb or n), g (nt, m_all), g_dot (nt, m), energy (nt, 2) at the saved states

    unmet : (nt, 2) largest |G u' + zeta| over |zeta| + |G| |u'| of its row, and |G| |M^-1 h| where there is freedom, by the
        kernels' solve and of `acceleration`
    """

    lam: Array
    acceleration: Array
    g: Array
    g_dot: Array
    energy: Array
    unmet: Array


def evaluate(run: Run, t: Array, x: Array) -> Evaluated:
    """Outputs of the equations of motion at given states of a run."""
    mechanism, found = run.mechanism, _solved(run, t, x)
    again = np.flatnonzero(found.unmet[:, 0] > LOST)
    if len(again):
        assert isinstance(mechanism, Mechanism)
        rows_at = partial(RowsAtState(mechanism).rows, mechanism.F) if len(again) > MANY else partial(dense_rows, mechanism)
        metric, (lam, acceleration) = (radians(mechanism), mass_matrix(mechanism)), (found.lam, found.acceleration)
        for k in again:
            rows = rows_at(float(t[k]), x[k])
            lam[k], acceleration[k], found.unmet[k] = _looked_at_again(mechanism, metric, rows, lam[k], acceleration[k])
    return found


def evaluate_variants(run: Run, F: Array, states: Sequence[tuple[Array, Array]]) -> list[Evaluated | None]:
    """The same of runs that differ in their constants only, (runs, ..) F; None of one that has to be evaluated by itself:
    nothing was saved, a user's function raised, or the kernels' solve is not good enough."""
    run, made = replace(run, F=F[0].copy(), W=run.W.copy()), []
    for constants, (t, x) in zip(F, states, strict=True):
        run.F[:] = constants
        found = None
        if len(t):
            with suppress(SimulationError):
                found = _solved(run, t, x)
        made.append(None if found is None or (found.unmet[:, 0] > LOST).any() else found)
    return made


def _solved(run: Run, t: Array, x: Array) -> Evaluated:
    """By the kernels' solve."""
    from dalembert.compilation.compiled_loops import compiled

    mechanism = run.mechanism
    nt = len(t)
    sizes = mechanism.m, mechanism.acceleration_size, int(mechanism.I[T.M_ALL]), mechanism.m, 3
    lam, acceleration, g, g_dot, scalars = (np.full((nt, size), np.nan) for size in sizes)
    status = compiled("evaluate_states")(
        np.ascontiguousarray(t), np.ascontiguousarray(x), np.zeros(x.shape[1]), lam, acceleration, g, g_dot, scalars, run.view
    )
    if run.callbacks.error is not None:
        (name, problem), run.callbacks.error = run.callbacks.error, None
        raise SimulationError(f"user function {name!r} raised {problem!r}") from problem
    if status not in (T.OK, T.NON_FINITE):
        raise SimulationError("the saved states could not be evaluated")
    return Evaluated(lam, acceleration, g, g_dot, scalars[:, :2].copy(), scalars[:, [2, 2]])


def _looked_at_again(
    mechanism: Mechanism, metric: tuple[Array, Array], at: tuple[Array, ...], lam: Array, acceleration: Array
) -> tuple[Array, Array, tuple[float, float]]:
    """lam, u' and `unmet` in rows of unit length, radians worth as much as arms are long; solved again where the kernels' solve
    left more than LOST of them. Forces are those of that solve, h = M u' - G^T lam."""
    G, _, _, zeta = (values[: mechanism.m] for values in at)
    scale, M = metric
    h, M, a = scale * (M @ acceleration - G.T @ lam), M * scale * scale[:, None], acceleration / scale
    length = np.linalg.norm(G * scale, axis=1) + 1e-300
    rows, zeta = G * scale / length[:, None], zeta / length
    U, values, V = np.linalg.svd(rows)
    rank = min(mechanism.rank, int(np.sum(values > 1e-12)))
    U, values, V, Z = U[:, :rank], values[:rank], V[:rank].T, V[rank:].T
    load = np.asarray(np.linalg.solve(M, h if mechanism.degrees_of_freedom > 0 else 0.0 * h), dtype=float)

    def left(a: Array) -> float:
        size = np.abs(zeta) + _largest(rows) @ (_largest(a) + _largest(load))
        return float(np.max(np.abs(U @ (U.T @ (zeta + rows @ a))) / (size + 1e-3 * size.max() + 1e-300)))

    if (before := left(a)) <= LOST:
        return lam, acceleration, (before, before)
    a = -V @ (U.T @ zeta / values)
    a += Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (h - M @ a))
    return U @ (V.T @ (M @ a - h) / values) / length, scale * a, (before, left(a))


def _largest(numbers: Array) -> Array:
    """Of every three."""
    return np.asarray(np.abs(numbers).reshape(*numbers.shape[:-1], -1, 3).max(axis=-1))


def mass_matrix(mechanism: Mechanism) -> Array:
    """(6 nb, 6 nb) in (v, w_B) of the bodies"""
    M = np.zeros((mechanism.nb, 6, mechanism.nb, 6))
    for b, body in enumerate(records(mechanism.I, mechanism.F, T.MASS_F)[1:]):
        M[b, :3, b, :3], M[b, 3:, b, 3:] = body["m"] * np.eye(3), symmetric(body["J"])
    return M.reshape(6 * mechanism.nb, -1)
