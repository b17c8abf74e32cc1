"""Lagrangian systems in dense algebra: accelerations and multipliers, projection, what a saved state implies.

    M v' = h + A^T lam,  A v' + z = 0      ->      M = L L^T,  Y = A L^-T,  (Y Y^T) lam = -z - Y L^-1 h
    g = 0        q <- q - W^-1 G^T (G W^-1 G^T)^-1 g                    holonomic rows only, Newton
    A v + b = 0  v <- v - W^-1 A^T (A W^-1 A^T)^-1 (A v + b)             holonomic and nonholonomic rows

W is the identity or M. Where M is singular by itself (Euler parameters as coordinates) it is augmented, which changes neither
accelerations nor multipliers: (M + c A^T A) v' = h - c A^T z + A^T lam. Values of M, h, A, ... come through the callback slot.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import factor_symmetric, solve_lower, solve_upper
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import (
    AUGMENT,
    ENERGY_PART,
    EPS_PIVOT,
    KINETIC,
    M_HOLONOMIC,
    MASS_METRIC,
    MAX_NEWTON,
    MOTION_PART,
    N_DEPENDENT,
    N_DG,
    N_FACTOR,
    N_NEWTON,
    N_NEWTON_MAX,
    N_PROJECT,
    N_RHS,
    NEWTON_FAILED,
    NON_FINITE,
    NQ,
    OK,
    OUTPUT,
    POTENTIAL_ENERGY,
    PROJECT,
    RANK,
    ROWS_PART,
    TOL_POSITION,
    W_A,
    W_ACC,
    W_BIAS,
    W_CALL,
    W_DIAG,
    W_G,
    W_GT,
    W_H,
    W_K,
    W_MASS,
    W_RHS,
    W_ROOT,
    W_SCALARS,
    W_STAT,
    W_Y,
    W_ZETA,
    M,
)
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.formulations.project import note_failure, worst_entry


@inline
def evaluate_part(part, t, x, system):
    """Values of a part of the generated code at x."""
    I, W = system.I, system.W
    for i in range(2 * I[NQ]):
        W[I[W_CALL] + i] = x[i]
    return callback(part, t, system, I[W_CALL])


@inline
def factor_mass(system):
    """W_ROOT <- root of M + c A^T A; a singular one gives NaN."""
    I, F, W = system.I, system.F, system.W
    n, c = I[NQ], F[AUGMENT]
    for i in range(n):
        for j in range(i + 1):
            s = W[I[W_MASS] + n * i + j]
            if c > 0.0:
                for k in range(I[M]):
                    s += c * W[I[W_A] + n * k + i] * W[I[W_A] + n * k + j]
            W[I[W_ROOT] + n * i + j] = s
    if factor_symmetric(Numbers(W, I[W_ROOT]), n, Numbers(W, I[W_DIAG]), 1e-14) > 0:
        W[I[W_ROOT]] = np.nan


@inline
def assemble_rows(m, weighted, system):
    """W_Y <- the first m rows A L^-T (A itself in the Euclidean metric), W_K <- Y Y^T."""
    I, W = system.I, system.W
    n, Y, S = I[NQ], I[W_Y], I[W_K]
    for i in range(m):
        for j in range(n):
            W[Y + n * i + j] = W[I[W_A] + n * i + j]
        if weighted:
            solve_lower(Numbers(W, I[W_ROOT]), Numbers(W, Y + n * i), n)
        for k in range(i + 1):
            s = 0.0
            for j in range(n):
                s += W[Y + n * i + j] * W[Y + n * k + j]
            W[S + m * i + k] = s


@inline
def factor_rows(m, weighted, system):
    """`assemble_rows`, W_K <- root of Y Y^T; number of rows that depend on others."""
    I, F, W = system.I, system.F, system.W
    assemble_rows(m, weighted, system)
    W[I[W_STAT] + N_FACTOR] += 1.0
    return factor_symmetric(Numbers(W, I[W_K]), m, Numbers(W, I[W_DIAG]), F[EPS_PIVOT])


@inline
def add_reactions(m, d, system):
    """W[d] <- W[d] + Y^T lam for lam in W_RHS"""
    I, W = system.I, system.W
    n = I[NQ]
    for i in range(m):
        for j in range(n):
            W[d + j] += W[I[W_Y] + n * i + j] * W[I[W_RHS] + i]


@inline
def solve_rows(m, system):
    """W_RHS <- (Y Y^T)^-1 W_RHS"""
    I, W = system.I, system.W
    solve_lower(Numbers(W, I[W_K]), Numbers(W, I[W_RHS]), m)
    solve_upper(Numbers(W, I[W_K]), Numbers(W, I[W_RHS]), m)


@inline
def solve_motion(system):
    """W_ACC <- v', W_RHS <- lam of M v' = h + A^T lam, A v' + z = 0."""
    I, F, W = system.I, system.F, system.W
    n, m, a, c = I[NQ], I[M], I[W_ACC] + 6, F[AUGMENT]
    factor_mass(system)
    dependent = factor_rows(m, True, system) - (m - I[RANK])
    W[I[W_STAT] + N_DEPENDENT] = max(W[I[W_STAT] + N_DEPENDENT], float(dependent))
    for j in range(n):
        s = W[I[W_H] + j]
        if c > 0.0:
            for i in range(m):
                s -= c * W[I[W_A] + n * i + j] * W[I[W_BIAS] + i]
        W[a + j] = s
    solve_lower(Numbers(W, I[W_ROOT]), Numbers(W, a), n)
    for i in range(m):
        s = -W[I[W_BIAS] + i]
        for j in range(n):
            s -= W[I[W_Y] + n * i + j] * W[a + j]
        W[I[W_RHS] + i] = s
    solve_rows(m, system)
    add_reactions(m, a, system)
    solve_upper(Numbers(W, I[W_ROOT]), Numbers(W, a), n)


@flat
def accelerations(t, x, dx, system):
    """dx <- (v, v', external power), W_RHS <- lam. Status."""
    I, W = system.I, system.W
    status = evaluate_part(MOTION_PART, t, x, system)
    n, m, a = I[NQ], I[M], I[W_ACC] + 6
    W[I[W_STAT] + N_RHS] += 1.0
    solve_motion(system)
    power = W[I[W_SCALARS]]
    for i in range(m):  # moving constraints work too: v . A^T lam = -lam . b
        power -= W[I[W_RHS] + i] * W[I[W_GT] + i]
    for j in range(n):
        dx[j] = x[n + j]
        dx[n + j] = W[a + j]
    dx[2 * n] = power
    for j in range(n, 2 * n + 1):
        if status == OK and not np.isfinite(dx[j]):
            status = NON_FINITE
    return status


@inline
def velocity_residual(r, x, system):
    """W[r] <- A v + b"""
    I, W = system.I, system.W
    n = I[NQ]
    for i in range(I[M]):
        s = W[I[W_GT] + i]
        for j in range(n):
            s += W[I[W_A] + n * i + j] * x[n + j]
        W[r + i] = s


@flat
def project_rows(t, x, system):
    """Positions (level 0, holonomic rows) by Newton's method, then velocities (level 1, all rows). Status."""
    I, F, W = system.I, system.F, system.W
    n, r, d, weighted = I[NQ], I[W_ZETA], I[W_ACC] + 6, I[MASS_METRIC] == 1
    W[I[W_STAT] + N_PROJECT] += 1.0
    status, level, iteration, factored, before = OK, 0, 0, False, 0.0
    while level < 2 and status == OK:
        m = I[M_HOLONOMIC] if level == 0 else I[M]
        if level == 0 or iteration == 0:
            status = evaluate_part(MOTION_PART if weighted else ROWS_PART, t, x, system)
            if weighted and status == OK:
                status = callback(ROWS_PART, t, system, I[W_CALL])
            W[I[W_STAT] + N_DG] += 1.0
        if level == 0:
            for i in range(m):
                W[r + i] = W[I[W_G] + i]
        else:
            velocity_residual(r, x, system)
        row, worst = worst_entry(Numbers(system.W, r), m)
        stalled = iteration > 1 and worst > 0.25 * before
        _, largest = worst_entry(Numbers(x, level * I[NQ]), I[NQ + level])
        rounding = (4.4e-14 if level == 0 else 1e-12) * max(1.0, largest)
        if worst <= F[TOL_POSITION + level] or (stalled and worst <= rounding):
            if level == 0:
                W[I[W_STAT] + N_NEWTON] += iteration
                W[I[W_STAT] + N_NEWTON_MAX] = max(W[I[W_STAT] + N_NEWTON_MAX], float(iteration))
            level, iteration, factored = level + 1, 0, False
            continue
        if iteration == I[MAX_NEWTON] or not np.isfinite(worst):
            note_failure(row, worst, system)
            return NEWTON_FAILED if np.isfinite(worst) else NON_FINITE
        if not factored or (level == 0 and worst > 0.05 * before):
            if weighted:
                factor_mass(system)
            factor_rows(m, weighted, system)
            factored = True
        for i in range(m):
            W[I[W_RHS] + i] = -W[r + i]
        solve_rows(m, system)
        for j in range(n):
            W[d + j] = 0.0
        add_reactions(m, d, system)
        if weighted:
            solve_upper(Numbers(W, I[W_ROOT]), Numbers(W, d), n)
        for j in range(n):
            x[level * n + j] += W[d + j]
        before, iteration = worst, iteration + 1
    return status


@flat
def store_outputs(t, x, system):
    """W_G <- g, W_ZETA <- A v + b, KINETIC and POTENTIAL_ENERGY <- T and U. Status."""
    I, W = system.I, system.W
    status = evaluate_part(ROWS_PART, t, x, system)
    velocity_residual(I[W_ZETA], x, system)
    if status == OK:
        status = callback(ENERGY_PART, t, system, I[W_CALL])
    W[I[W_STAT] + KINETIC] = W[I[W_SCALARS] + 1]
    W[I[W_STAT] + POTENTIAL_ENERGY] = W[I[W_SCALARS] + 2]
    return status


@kernel
def lagrangian(mode, t, x, dx, system):
    """RATE: dx <- (v, v', power). PROJECT: x <- onto the constraints. OUTPUT: RATE, then residuals, T and U."""
    if mode == PROJECT:
        return project_rows(t, x, system)
    status = accelerations(t, x, dx, system)
    if mode == OUTPUT and status == OK:
        status = store_outputs(t, x, system)
    return status
