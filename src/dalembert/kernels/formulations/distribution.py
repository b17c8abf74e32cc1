"""Accelerations and multipliers at one state: the distribution of [JetMultibody, Algorithms 5.1 and 5.2].

    M u' = h + G^T lam,   G u' + zeta = 0      ->      S lam = -zeta - G M^-1 h,   S = G M^-1 G^T

Deviation: Newton-Euler variables (w_B instead of theta'), which give the same accelerations; S is factored
(conjugate gradients, the paper's way, are an option); lam has the sign of M u' = h + G^T lam (the paper's is opposite).
"""

import numpy as np

from dalembert.kernels.base.compiler import flat
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    ANGLE_I,
    ANGLE_I_W,
    G_X,
    HUB_I,
    HUB_I_W,
    KINETIC,
    MASS_F,
    MOTIONS,
    N_RHS,
    NANGLE,
    NHUB,
    NON_FINITE,
    NQ,
    NU,
    OK,
    POTENTIAL,
    POTENTIAL_ENERGY,
    POWER,
    REFINE,
    U_BODY,
    U_X,
    W_A,
    W_ACC,
    W_ANGLE,
    W_CG,
    W_GT,
    W_H,
    W_RHS,
    W_STAT,
    W_Y,
    W_ZETA,
    WRENCH,
    M,
)
from dalembert.kernels.coordinates.choice import silence
from dalembert.kernels.coordinates.kinematics import load_angles, load_poses, store_rates
from dalembert.kernels.coordinates.solve import (
    add_rows_transposed,
    apply_inverse_metric,
    assemble_blocks,
    back_solve,
    factor,
    pull_back_rows,
    subtract_row_products,
    velocity_residual,
)
from dalembert.kernels.mechanics.inertia import gravity_and_gyroscopic, mechanical_energy, pull_back_wrenches
from dalembert.kernels.mechanics.primitives import constraint_rows


@flat
def prepare_solve(t, x, system):
    """Poses, wrenches, rows, blocks; W_ACC <- M^-1 h, W_RHS <- -zeta. Status."""
    I, W = system.I, system.W
    load_poses(x, system)
    load_angles(x, system)
    gravity_and_gyroscopic(system)
    status = forces(WRENCH, t, system)
    pull_back_wrenches(system)
    forces(MOTIONS, t, system)
    constraint_rows(system)
    pull_back_rows(I[W_A], system)
    assemble_blocks(I[MASS_F], system)
    apply_inverse_metric(I[MASS_F], I[W_H], I[W_ACC], system)
    for i in range(I[M]):
        W[I[W_RHS] + i] = -W[I[W_ZETA] + i]
    return status


@flat
def solve_by_factor(system):
    """W_RHS <- lam for W_RHS = -zeta and W_ACC = M^-1 h, with hubs as unknowns."""
    I, W = system.I, system.W
    factor(I[MASS_F], system)
    subtract_row_products(I[W_A], I[W_ACC], 6, I[W_RHS], True, system)
    for u in range(I[NHUB]):
        k = I[HUB_I] + HUB_I_W * u
        for i in range(6):
            W[I[W_RHS] + I[k + U_X] + i] = W[I[W_H] + 6 * I[k + U_BODY] + i]
    back_solve(system)


@flat
def refine(system):
    """u', lam <- u' + M^-1 A^T d, lam + d with S d = -zeta - A u': light bodies between heavy ones have lost digits of both
    [GolubVanLoan2013, 3.5.3]."""
    I, W = system.I, system.W
    lam, r = I[W_CG], I[W_RHS]
    for i in range(I[M] + 6 * I[NHUB]):
        W[lam + i] = W[r + i]
        W[r + i] = -W[I[W_ZETA] + i] if i < I[M] else 0.0
    subtract_row_products(I[W_A], I[W_ACC], 6, r, False, system)
    silence(r, 0.0, system)
    back_solve(system)
    add_rows_transposed(I[W_Y], r, I[W_ACC], system)
    for i in range(I[M]):
        W[r + i] += W[lam + i]


@flat
def store_solution(x, dx, system):
    """dx <- (N u, u', external power, angle rates) from lam and M^-1 h. Status."""
    I, W = system.I, system.W
    W[I[W_STAT] + N_RHS] += 1.0
    add_rows_transposed(I[W_Y], I[W_RHS], I[W_ACC], system)
    for _ in range(I[REFINE]):
        refine(system)
    power = W[I[W_STAT] + POWER]
    for i in range(I[M]):  # moving constraints work too: u . G^T lam = -lam . g_t
        power -= W[I[W_RHS] + i] * W[I[W_GT] + i]
    store_rates(x, dx, I[W_ACC], system)
    nq, nu = I[NQ], I[NU]
    dx[nq + nu] = power
    for c in range(I[NANGLE]):
        dx[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c + 1]
    status = OK
    for i in range(nq, nq + nu + 1):
        if not np.isfinite(dx[i]):
            status = NON_FINITE
    return status


@flat
def store_outputs(t, system):
    """W_ZETA <- G u + g_t of the rows that act, KINETIC and POTENTIAL_ENERGY <- T and U."""
    I, W = system.I, system.W
    velocity_residual(I[W_ZETA], system)
    for i in range(I[M]):
        W[I[W_ZETA] + i] = -W[I[W_ZETA] + i]
    silence(I[W_ZETA], 0.0, system)
    forces(POTENTIAL, t, system)
    T, U = mechanical_energy(system)
    W[I[W_STAT] + KINETIC] = T
    W[I[W_STAT] + POTENTIAL_ENERGY] = U + W[I[W_STAT] + POWER]
