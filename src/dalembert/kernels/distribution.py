"""Accelerations and multipliers at one state: the distribution of [JetMultibody, Algorithms 5.1 and 5.2].

    M u' = h + G^T lam,   G u' + zeta = 0      ->      S lam = -zeta - G M^-1 h,   S = G M^-1 G^T

Deviation: Newton-Euler variables (w_B instead of theta'), which give the same accelerations; S is factored, not iterated,
unless conjugate gradients are asked for; lam has the sign of M u' = h + G^T lam ([JetMultibody] writes it on the left).
"""

import numpy as np

from dalembert.kernels.compiler import inline
from dalembert.kernels.conjugate_gradient import conjugate_gradient
from dalembert.kernels.forces import applied_forces, gravity_and_gyroscopic, pull_back
from dalembert.kernels.kinematics import load_angles, load_poses, store_rates
from dalembert.kernels.primitives import constraint_rows
from dalembert.kernels.solve import (
    add_rows_transposed,
    apply_inverse_metric,
    assemble_blocks,
    back_solve,
    factor,
    pull_back_rows,
    subtract_row_products,
)
from dalembert.kernels.tables import (
    ANGLE_I,
    ANGLE_I_W,
    B_KIND,
    BODY_I,
    BODY_I_W,
    G_X,
    HUB_I,
    HUB_I_W,
    MASS_F,
    N_RHS,
    NANGLE,
    NB,
    NHUB,
    NON_FINITE,
    NQ,
    NU,
    OK,
    RIGID,
    SOLVER,
    U_BODY,
    U_X,
    W_A,
    W_ACC,
    W_ANGLE,
    W_GT,
    W_H,
    W_RHS,
    W_STAT,
    W_Y,
    W_ZETA,
    M,
)


@inline
def wrenches(t, I, F, W, callback):
    """W_H <- h per body: gravity, gyroscopic terms and all applied forces, pulled back. Returns (power, status)."""
    gravity_and_gyroscopic(I, F, W)
    power, status = applied_forces(t, False, I, F, W, callback)
    for b in range(1, I[NB] + 1):
        if I[I[BODY_I] + BODY_I_W * b + B_KIND] != RIGID:
            pull_back(I[W_H] + 6 * b, b, I, F, W)
    return power, status


@inline
def accelerations(t, x, I, F, W, callback):
    """W_ACC <- (v', w_B') per body, W_RHS[0:M] <- lam at state x. Returns (external power, status)."""
    load_poses(x, I, F, W)
    load_angles(x, I, F, W)
    power, status = wrenches(t, I, F, W, callback)
    if status != OK:
        return power, status
    m, acc, rhs = I[M], I[W_ACC], I[W_RHS]
    constraint_rows(t, I, F, W)
    pull_back_rows(I[W_A], I, F, W)
    assemble_blocks(I[MASS_F], I, F, W)
    apply_inverse_metric(I[MASS_F], I[W_H], acc, I, F, W)
    for i in range(m):
        W[rhs + i] = -W[I[W_ZETA] + i]
    if I[SOLVER] == 0:
        factor(I, F, W)
        subtract_row_products(I[W_A], acc, 6, rhs, True, I, W)
        for u in range(I[NHUB]):
            k = I[HUB_I] + HUB_I_W * u
            for i in range(6):
                W[rhs + I[k + U_X] + i] = W[I[W_H] + 6 * I[k + U_BODY] + i]
        back_solve(I, W)
    else:
        subtract_row_products(I[W_A], acc, 6, rhs, False, I, W)
        conjugate_gradient(I, F, W)
    add_rows_transposed(I[W_Y], rhs, acc, I, W)
    for i in range(m):  # moving constraints work too: u . G^T lam = -lam . g_t
        power -= W[rhs + i] * W[I[W_GT] + i]
    return power, OK


@inline
def rates(t, x, dx, I, F, W, callback):
    """dx <- (N u, u', external power, angle rates). Status."""
    W[I[W_STAT] + N_RHS] += 1.0
    power, status = accelerations(t, x, I, F, W, callback)
    if status != OK:
        return status
    store_rates(x, dx, I[W_ACC], I, F, W)
    nq, nu = I[NQ], I[NU]
    dx[nq + nu] = power
    for c in range(I[NANGLE]):
        dx[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c + 1]
    for i in range(nq, nq + nu + 1):
        if not np.isfinite(dx[i]):
            return NON_FINITE
    return OK
