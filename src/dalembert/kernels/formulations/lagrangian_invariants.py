"""Return to an invariant of a Lagrangian system along its gradient [JetMultibody, (5.5)], as invariants.py does for bodies.

    A dq = 0,  A dv + B dq = 0,  B = d(A v + b)/dq          velocities follow q, which changes f to first order as well

Gradients of f and B come exact from the generated code. Deviation: dq obeys the nonholonomic rows too, so that no invariant
moves a system in a way it cannot go.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import solve_lower, solve_upper
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import (
    ENERGY,
    ENERGY_0,
    ENERGY_SCALE,
    INVARIANT_F,
    MASS_METRIC,
    MOTION_PART,
    MOVED,
    N_DINV,
    NINVARIANT,
    NON_FINITE,
    NQ,
    OK,
    ROWS_PART,
    TOL_INVARIANT,
    W_CALL,
    W_INVARIANT,
    W_RHS,
    W_ROOT,
    W_STAT,
    W_WORK,
    W_Y,
    M,
)
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.lagrangian import add_reactions, evaluate_part, factor_mass, factor_rows, solve_rows
from dalembert.kernels.formulations.invariants import state_size


@inline
def tangent(g, system):
    """W[g] <- P W^-1 gradient, W_RHS <- -S^-1 A W^-1 gradient; returns gradient . step."""
    I, W = system.I, system.W
    n, weighted = I[NQ], I[MASS_METRIC] == 1
    if weighted:
        solve_lower(Numbers(W, I[W_ROOT]), Numbers(W, g), n)
    for i in range(I[M]):
        s = 0.0
        for j in range(n):
            s -= W[I[W_Y] + n * i + j] * W[g + j]
        W[I[W_RHS] + i] = s
    solve_rows(I[M], system)
    add_reactions(I[M], g, system)
    slope = 0.0
    for j in range(n):
        slope += W[g + j] * W[g + j]
    if weighted:
        solve_upper(Numbers(W, I[W_ROOT]), Numbers(W, g), n)
    return slope


@flat
def follow(gq, gv, B, system):
    """W[gv] <- W[gv] - W^-1 A^T S^-1 B W[gq]"""
    I, W = system.I, system.W
    n, d = I[NQ], I[W_WORK] + 2 * I[NQ]
    for i in range(I[M]):
        s = 0.0
        for j in range(n):
            s -= W[B + n * i + j] * W[gq + j]
        W[I[W_RHS] + i] = s
    solve_rows(I[M], system)
    for j in range(n):
        W[d + j] = 0.0
    add_reactions(I[M], d, system)
    if I[MASS_METRIC] == 1:
        solve_upper(Numbers(W, I[W_ROOT]), Numbers(W, d), n)
    for j in range(n):
        W[gv + j] += W[d + j]


@kernel
def correct_lagrangian(mode, t, x, dx, system):
    """One Newton step per invariant: MOVED when the constraints must be projected again, OK when all hold."""
    I, F, W = system.I, system.F, system.W
    n, at = I[NQ], I[W_INVARIANT]
    gq, gv, B = I[W_WORK], I[W_WORK] + I[NQ], I[W_INVARIANT] + 1 + 2 * I[NQ]
    moved = 0
    for k in range(-I[ENERGY], I[NINVARIANT]):  # -1 is the energy
        status = evaluate_part(1000 + k, t, x, system)
        if status != OK:
            return status
        if k < 0:
            f, scale = W[at] - x[2 * n] - F[ENERGY_0], max(F[ENERGY_SCALE], abs(W[at]), abs(x[2 * n]))
        else:
            f, scale = W[at] - F[I[INVARIANT_F] + k], max(1.0, abs(F[I[INVARIANT_F] + k]))
        if not np.isfinite(f):
            return NON_FINITE
        if abs(f) <= F[TOL_INVARIANT] * scale:
            continue
        W[I[W_STAT] + N_DINV] += 1.0
        callback(MOTION_PART if I[MASS_METRIC] == 1 else ROWS_PART, t, system, I[W_CALL])
        if I[MASS_METRIC] == 1:
            factor_mass(system)
        factor_rows(I[M], I[MASS_METRIC] == 1, system)
        for j in range(n):
            W[gq + j], W[gv + j] = W[at + 1 + j], W[at + 1 + n + j]
        slope = tangent(gv, system)
        for i in range(I[M]):
            for j in range(n):
                W[gq + j] += W[B + n * i + j] * W[I[W_RHS] + i]
        slope += tangent(gq, system)
        follow(gq, gv, B, system)
        if 1e-4 * slope * state_size(x, system) <= f * f:  # stationary: no admissible direction changes f; the report shows it
            continue
        for j in range(n):
            x[j] -= f / slope * W[gq + j]
            x[n + j] -= f / slope * W[gv + j]
        moved += 1
    return MOVED if moved > 0 else OK
