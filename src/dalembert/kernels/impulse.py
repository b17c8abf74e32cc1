"""Constraints at velocity level: an unconstrained step, then impulses [ConstraintNotes, 3-5].

    u*                                    end of the unconstrained step M u' = h (+ A^T lam_k), any explicit integrator      (9)
    (A M^-1 A^T + D^-1) Lam = c,   u+ = u* + M^-1 A^T Lam                                                              (10)-(12)

    rigid       D^-1 = 0                   c = -(A u* + g_t)                                                                (12)
    Baumgarte   D^-1 = 0                   c = -(A u* + g_t) - g / tau                                                      (26)
    soft        D = h (h kp + kd)          c = -A u* - (kp g + kd g_t) / (h kp + kd),   g at (q_k, t_k+1)             (27)-(32)

As printed, A belongs to q_k and q+ = q_k (+) h N u+: order 1. With PREDICT the mean reaction lam_k of the last step acts as a
force during the unconstrained step, which then ends O(h^3) beside the constraints; A belongs to that end point, q+ is that end
point, and what is left to the impulse is O(h^2): order 2.

Deviation: (12) has M^-1 and (29)-(32) the factors and g_t that the print lost; the soft solve is in its dual form, which needs
no inverse of M + G^T D G; g is taken at the new time, so that a prescribed motion is met without lag.
"""

import numpy as np

from dalembert.kernels.compiler import flat, kernel
from dalembert.kernels.distribution import store_outputs
from dalembert.kernels.inertia import gravity_and_gyroscopic, pull_back_wrenches
from dalembert.kernels.kinematics import displace, load_angles, load_poses, normalise, store_rates
from dalembert.kernels.primitives import constraint_rows
from dalembert.kernels.project import project_constraints, snap_angles
from dalembert.kernels.solve import (
    add_rows_transposed,
    apply_inverse_metric,
    assemble_blocks,
    factor,
    metric_correction,
    pull_back_rows,
    subtract_row_products,
)
from dalembert.kernels.tables import (
    ANGLE_I,
    ANGLE_I_W,
    BAUMGARTE,
    G_X,
    INSIDE,
    MASS_F,
    MEM_DONE,
    MEM_H,
    MEM_LAM,
    MEMORY_X,
    MOTIONS,
    N_DG,
    N_RHS,
    NANGLE,
    NB,
    NNODE,
    NODE_I,
    NON_FINITE,
    NQ,
    NU,
    OK,
    OUTPUT,
    POWER,
    PREDICT,
    PROJECT,
    PROJECTION,
    S_V,
    SOFT_F,
    STABILISE,
    STATE_W,
    TAU,
    W_A,
    W_ACC,
    W_ANGLE,
    W_BODY,
    W_G,
    W_GT,
    W_H,
    W_K,
    W_RHS,
    W_STAT,
    W_ZETA,
    WRENCH,
    M,
)


@flat
def free_accelerations(mode, t, x, I, F, W, forces, callback):
    """W_ACC <- M^-1 (h + A^T lam), W_RHS <- lam: the last mean reaction where it is to act or to be seen, or zero. Status."""
    load_poses(x, I, F, W)
    load_angles(x, I, F, W)
    gravity_and_gyroscopic(I, F, W)
    status = forces(WRENCH, t, I, F, W, callback)
    memory, seen = I[MEMORY_X], mode == OUTPUT or I[PREDICT] == 1
    for i in range(I[M]):
        W[I[W_RHS] + i], W[I[W_GT] + i] = 0.0, 0.0
        if seen and x[memory + MEM_DONE] != 0.0:  # what is not known (NaN) stays so
            W[I[W_RHS] + i] = x[memory + MEM_LAM + i] / x[memory + MEM_DONE]
    if seen:
        forces(MOTIONS, t, I, F, W, callback)
        constraint_rows(I, F, W)
        pull_back_rows(I[W_A], I, F, W)
        add_rows_transposed(I[W_A], I[W_RHS], I[W_H], I, W)
    pull_back_wrenches(I, F, W)
    apply_inverse_metric(I[MASS_F], I[W_H], I[W_ACC], I, F, W)
    return status


@flat
def store_free_rates(x, dx, I, F, W):
    """dx <- (N u, u', external power, angle rates, memory's clock). Status."""
    W[I[W_STAT] + N_RHS] += 1.0
    store_rates(x, dx, I[W_ACC], I, F, W)
    nq, nu = I[NQ], I[NU]
    power = W[I[W_STAT] + POWER]
    for i in range(I[M]):
        power -= W[I[W_RHS] + i] * W[I[W_GT] + i]
    dx[nq + nu] = power
    for c in range(I[NANGLE]):
        dx[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c + 1]
    for i in range(I[MEMORY_X], x.size):
        dx[i] = 0.0
    dx[I[MEMORY_X] + MEM_H] = 1.0
    status = OK
    for i in range(nq, nq + nu + 1):
        if not np.isfinite(dx[i]):
            status = NON_FINITE
    return status


@flat
def correct_velocities(t, h, x, I, F, W, forces, callback):
    """u* -> u+ by the impulses of the rows at the q in x; the impulses are left in W_RHS, their work goes to the state."""
    m, soft, r = I[M], I[SOFT_F], I[W_ZETA]
    load_poses(x, I, F, W)
    forces(MOTIONS, t, I, F, W, callback)
    constraint_rows(I, F, W)
    pull_back_rows(I[W_A], I, F, W)
    W[I[W_STAT] + N_DG] += 1.0
    on_g, on_gt = 0.0, 1.0
    if I[STABILISE] == BAUMGARTE:
        on_g = 1.0 / (F[TAU] * max(h, x[I[MEMORY_X] + MEM_DONE]))  # the last step may be cut short
        if I[PREDICT] == 0:  # the rows are at q_k, so that g there at the old time is g - h g_t
            on_gt = 1.0 - h * on_g
    for i in range(m):
        if soft > 0:
            on_g = F[soft + i] / (h * F[soft + i] + F[soft + m + i])
            on_gt = 1.0 - h * on_g
        W[r + i] = -on_g * W[I[W_G] + i] - on_gt * W[I[W_GT] + i]
    subtract_row_products(I[W_A], I[W_BODY] + S_V, STATE_W, r, False, I, W)
    assemble_blocks(I[MASS_F], I, F, W)
    if soft > 0:
        add_compliance(h, I, F, W)
    factor(I, F, W)
    metric_correction(r, I[W_ACC], I, F, W)
    displace(1, x, I[W_ACC], 1.0, I, F, W)
    work = 0.0
    for i in range(m):
        impulse, rate = W[I[W_RHS] + i], -W[I[W_GT] + i]
        if soft > 0:  # the compliant force works along A u+, which moves the positions
            kp, kd = F[soft + i], F[soft + m + i]
            rate = -(kp * W[I[W_G] + i] + kd * W[I[W_GT] + i] + impulse / h) / (h * kp + kd)
        work += impulse * rate
    x[I[NQ] + I[NU]] += work


@flat
def add_compliance(h, I, F, W):
    """S <- S + D^-1 on the diagonals of the constraint nodes."""
    m, soft = I[M], I[SOFT_F]
    for node in range(I[NNODE]):
        p = I[I[NODE_I] + node]
        n, d, row = I[p], I[W_K] + I[p + 1], I[p + 2]
        if row < m:
            for i in range(n):
                W[d + (n + 1) * i] += 1.0 / (h * (h * F[soft + row + i] + F[soft + m + row + i]))


@flat
def advance_positions(h, x, I, F, W):
    """q <- q (+) h N u"""
    load_poses(x, I, F, W)
    for b in range(1, I[NB] + 1):
        for i in range(6):
            W[I[W_ACC] + 6 * b + i] = W[I[W_BODY] + STATE_W * b + S_V + i]
    displace(0, x, I[W_ACC], h, I, F, W)


@kernel
def impulse(mode, t, x, dx, I, F, W, forces, callback):
    """RATE: dx <- unconstrained rates. PROJECT: x <- end of the step (impulse, positions, stabilisation), or, between two
    steps, stabilisation alone. OUTPUT: what a saved state and the reaction of the step to it imply (see `store_outputs`)."""
    status, memory, m = OK, I[MEMORY_X], I[M]
    if mode != PROJECT:
        status = free_accelerations(mode, t, x, I, F, W, forces, callback)
        if status == OK and mode == OUTPUT:
            store_outputs(t, I, F, W, forces, callback)
        elif status == OK:
            status = store_free_rates(x, dx, I, F, W)
        return status
    q_old = memory + MEM_LAM + m
    if W[I[W_STAT] + INSIDE] == 0.0:
        h = x[memory + MEM_H]
        if I[PREDICT] == 0:
            for i in range(I[NQ]):
                x[i] = x[q_old + i]
        else:
            normalise(x, I)
        correct_velocities(t, h, x, I, F, W, forces, callback)
        carried = h / x[memory + MEM_DONE] if I[PREDICT] == 1 and x[memory + MEM_DONE] > 0.0 else 0.0
        for i in range(m):
            x[memory + MEM_LAM + i] = carried * x[memory + MEM_LAM + i] + W[I[W_RHS] + i]
        x[memory + MEM_H], x[memory + MEM_DONE] = 0.0, h
        if I[PREDICT] == 0:
            advance_positions(h, x, I, F, W)
    if I[STABILISE] == PROJECTION:
        status = project_constraints(t, x, I, F, W, forces, callback)
    else:
        normalise(x, I)
        load_poses(x, I, F, W)
    snap_angles(x, I, F, W)
    for i in range(I[NQ]):
        x[q_old + i] = x[i]
    return status
