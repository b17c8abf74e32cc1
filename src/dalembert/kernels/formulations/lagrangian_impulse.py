"""Constraints at velocity level on Lagrangian systems: the steps of velocity_step.py in the dense algebra of lagrangian.py.

q' = v, so positions advance by h v; rows that were given for velocities have no g, it stays 0.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.dense import factor_symmetric, solve_lower, solve_upper
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import (
    EPS_PIVOT,
    INSIDE,
    MEM_H,
    MEMORY_X,
    MOTION_PART,
    N_DG,
    N_FACTOR,
    N_RHS,
    NON_FINITE,
    NQ,
    OK,
    OUTPUT,
    PREDICT,
    PROJECT,
    PROJECTION,
    ROWS_PART,
    SOFT_F,
    STABILISE,
    W_A,
    W_ACC,
    W_CALL,
    W_DIAG,
    W_H,
    W_K,
    W_RHS,
    W_ROOT,
    W_SCALARS,
    W_STAT,
    W_WORK,
    M,
)
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.lagrangian import (
    accelerations,
    add_reactions,
    assemble_rows,
    evaluate_part,
    factor_mass,
    project_rows,
    solve_rows,
    store_outputs,
)
from dalembert.kernels.formulations.velocity_step import (
    add_work,
    compliance,
    end_step,
    mean_reaction,
    memory_of_start,
    remember_start,
    store_memory_rates,
    wanted_rates,
)


@flat
def start_step(t, x, dx, system):
    """Accelerations and multipliers at the start of a step go into the memory of x. Status."""
    I, W = system.I, system.W
    n, d, share = I[NQ], I[W_WORK], memory_of_start(system)[3]
    status = accelerations(t, x, dx, system)
    for j in range(n):
        W[d + j] = 0.0
    add_reactions(I[M], d, system)
    solve_upper(Numbers(W, I[W_ROOT]), Numbers(W, d), n)
    for j in range(n):
        x[share + j] = W[d + j]
    remember_start(x, dx, W[I[W_SCALARS]], system)
    return status


@flat
def solve_forces(system):
    """W_ACC <- M^-1 (h + A^T lam) for lam in W_RHS."""
    I, W = system.I, system.W
    n, a = I[NQ], I[W_ACC] + 6
    for j in range(n):
        s = W[I[W_H] + j]
        for i in range(I[M]):
            s += W[I[W_A] + n * i + j] * W[I[W_RHS] + i]
        W[a + j] = s
    factor_mass(system)
    solve_lower(Numbers(W, I[W_ROOT]), Numbers(W, a), n)
    solve_upper(Numbers(W, I[W_ROOT]), Numbers(W, a), n)


@flat
def free_rates(t, x, dx, system):
    """dx <- (v, M^-1 h, external power). Status."""
    I, W = system.I, system.W
    W[I[W_STAT] + N_RHS] += 1.0
    status = evaluate_part(MOTION_PART, t, x, system)
    for i in range(I[M]):
        W[I[W_RHS] + i] = 0.0
    solve_forces(system)
    n = I[NQ]
    for j in range(n):
        dx[j] = x[n + j]
        dx[n + j] = W[I[W_ACC] + 6 + j]
    dx[2 * n] = W[I[W_SCALARS]]
    for j in range(n, 2 * n + 1):
        if not np.isfinite(dx[j]):
            status = NON_FINITE
    return status


@flat
def soft_outputs(t, x, system):
    """W_RHS <- mean reaction of the step to x, W_ACC <- M^-1 (h + A^T lam), and the rest of `store_outputs`. Status."""
    I, W = system.I, system.W
    status = evaluate_part(MOTION_PART, t, x, system)
    for i in range(I[M]):
        W[I[W_RHS] + i] = mean_reaction(x, i, system)
    solve_forces(system)
    return status if status != OK else store_outputs(t, x, system)


@flat
def correct_velocities(t, h, x, system):
    """u* -> u+ by the impulses of the rows at the q in x; the impulses are left in W_RHS, their work goes to the state."""
    I, F, W = system.I, system.F, system.W
    n, m, d = I[NQ], I[M], I[W_WORK]
    evaluate_part(MOTION_PART, t, x, system)
    callback(ROWS_PART, t, system, I[W_CALL])
    W[I[W_STAT] + N_DG] += 1.0
    W[I[W_STAT] + N_FACTOR] += 1.0
    wanted_rates(h, x, system)
    factor_mass(system)
    assemble_rows(m, True, system)
    for i in range(m):
        for j in range(n):
            W[I[W_RHS] + i] -= W[I[W_A] + n * i + j] * x[n + j]
        if I[SOFT_F] > 0:
            W[I[W_K] + (m + 1) * i] += compliance(h, i, system)
    factor_symmetric(Numbers(W, I[W_K]), m, Numbers(W, I[W_DIAG]), F[EPS_PIVOT])
    solve_rows(m, system)
    for j in range(n):
        W[d + j] = 0.0
    add_reactions(m, d, system)
    solve_upper(Numbers(W, I[W_ROOT]), Numbers(W, d), n)
    for j in range(n):
        x[n + j] += W[d + j]
    add_work(h, x, system)


@flat
def advance_positions(h, x, system):
    """q <- q + h v"""
    I = system.I
    for j in range(I[NQ]):
        x[j] += h * x[I[NQ] + j]


@flat
def stabilise(t, x, system):
    """Positions onto the holonomic constraints where the run projects them. Status."""
    I = system.I
    status = OK
    if I[STABILISE] == PROJECTION:
        status = project_rows(t, x, system)
    return status


@kernel
def lagrangian_impulse(mode, t, x, dx, system):
    """RATE: dx <- unconstrained rates; at the start of a step also what x remembers of it. PROJECT: x <- end of the step, or
    a stabilised state between two steps. OUTPUT: what a saved state and the compliant force of the step to it imply."""
    I, W = system.I, system.W
    if mode == PROJECT:
        inside = W[I[W_STAT] + INSIDE] != 0.0
        return end_step(stabilise, correct_velocities, advance_positions, inside, t, x, system)
    if mode == OUTPUT:
        return soft_outputs(t, x, system)
    if I[PREDICT] == 1 and x[I[MEMORY_X] + MEM_H] == 0.0:
        status = start_step(t, x, dx, system)
    else:
        status = free_rates(t, x, dx, system)
    store_memory_rates(x, dx, system)
    return status
