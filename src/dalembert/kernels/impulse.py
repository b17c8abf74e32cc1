"""Constraints at velocity level: an unconstrained step, then impulses [ConstraintNotes, 3-5].

    u*                                    end of the unconstrained step M u' = h, any explicit integrator                  (9)
    (A M^-1 A^T + D^-1) Lam = c,   u+ = u* + M^-1 A^T Lam                                                            (10)-(12)

    rigid       D^-1 = 0                   c = -(A u* + g_t)                                                              (12)
    Baumgarte   D^-1 = 0                   c = -(A u* + g_t) - g / tau                                                    (26)
    soft        D = h (h kp + kd)          c = -A u* - (kp g + kd g_t) / (h kp + kd),   g at (q_k, t_k+1)           (27)-(32)

As printed, A belongs to q_k and q+ = q_k (+) h N u+: order 1. PREDICT has order 2, as RATTLE [HairerLubichWanner2006, VII.1]:
half of the reaction at its start acts from there on, u* = u_k + int M^-1 h dt + h/2 M^-1 A_k^T lam_k with the known multipliers
lam_k; q+ = q_k (+) (h u_k + h^2/2 u_k'), and the impulse that is left, about the other half, belongs to A at q+.

Deviation: (12) has M^-1 and (29)-(32) the factors and g_t that the print lost; the soft solve is in its dual form, which needs
no inverse of M + G^T D G; g is taken at the new time, so that a prescribed motion is met without lag.
"""

import numpy as np

from dalembert.kernels.compiler import flat, inline, kernel
from dalembert.kernels.distribution import prepare_solve, solve_by_factor, store_outputs, store_solution
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
    WRENCH,
    M,
)


@inline
def memory_of_start(I):
    """Where in the state the memory of the step's start lies: lam, q, accelerations, share of lam in them, power, gain."""
    lam = I[MEMORY_X] + MEM_LAM + I[M]
    q, a = lam + I[M], lam + I[M] + I[NQ]
    return lam, q, a, a + I[NU], a + 2 * I[NU], a + 2 * I[NU] + 1


@flat
def start_step(t, x, dx, I, F, W, forces, callback):
    """Accelerations and multipliers at the start of a step, as `jet` has them, go into the memory of x. Status."""
    nq, nu, m = I[NQ], I[NU], I[M]
    lam, _, a, share, power, _ = memory_of_start(I)
    status = prepare_solve(t, x, I, F, W, forces, callback)
    store_rates(x, dx, I[W_ACC], I, F, W)
    for i in range(nu):
        x[share + i] = -dx[nq + i]
    solve_by_factor(I, F, W)
    finite = store_solution(x, dx, I, F, W)
    for i in range(nu):
        x[a + i] = dx[nq + i]
        x[share + i] += dx[nq + i]
    for i in range(m):
        x[lam + i] = W[I[W_RHS] + i]
    x[power] = dx[nq + nu] - W[I[W_STAT] + POWER]
    return status if status != OK else finite


@flat
def free_rates(t, x, dx, I, F, W, forces, callback):
    """dx <- (N u, M^-1 h, external power, angle rates). Status."""
    W[I[W_STAT] + N_RHS] += 1.0
    load_poses(x, I, F, W)
    load_angles(x, I, F, W)
    gravity_and_gyroscopic(I, F, W)
    status = forces(WRENCH, t, I, F, W, callback)
    pull_back_wrenches(I, F, W)
    apply_inverse_metric(I[MASS_F], I[W_H], I[W_ACC], I, F, W)
    store_rates(x, dx, I[W_ACC], I, F, W)
    nq, nu = I[NQ], I[NU]
    dx[nq + nu] = W[I[W_STAT] + POWER]
    for c in range(I[NANGLE]):
        dx[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c + 1]
    for i in range(nq, nq + nu + 1):
        if not np.isfinite(dx[i]):
            status = NON_FINITE
    return status


@flat
def store_memory_rates(x, dx, I):
    """The clock runs; where the reaction acts, velocities follow the known acceleration and their gain is kept apart."""
    nq, nu = I[NQ], I[NU]
    _, _, a, share, power, gain = memory_of_start(I)
    for i in range(I[MEMORY_X], x.size):
        dx[i] = 0.0
    dx[I[MEMORY_X] + MEM_H] = 1.0
    if I[PREDICT] == 1:
        for i in range(nu):
            dx[gain + i] = dx[nq + i] if x[I[MEMORY_X] + MEM_H] > 0.0 else x[a + i] - x[share + i]
            dx[nq + i] = x[a + i]
        dx[nq + nu] += (0.5 if x[I[MEMORY_X] + MEM_H] > 0.0 else -0.5) * x[power]


@flat
def soft_outputs(t, x, I, F, W, forces, callback):
    """W_RHS <- mean reaction of the step to x, W_ACC <- M^-1 (h + A^T lam), and the rest of `store_outputs`. Status."""
    load_poses(x, I, F, W)
    load_angles(x, I, F, W)
    gravity_and_gyroscopic(I, F, W)
    status = forces(WRENCH, t, I, F, W, callback)
    pull_back_wrenches(I, F, W)
    forces(MOTIONS, t, I, F, W, callback)
    constraint_rows(I, F, W)
    pull_back_rows(I[W_A], I, F, W)
    done = x[I[MEMORY_X] + MEM_DONE]
    for i in range(I[M]):  # what is not known (NaN) stays so; at the start nothing has given way yet
        W[I[W_RHS] + i] = x[I[MEMORY_X] + MEM_LAM + i] / done if done != 0.0 else 0.0
    add_rows_transposed(I[W_A], I[W_RHS], I[W_H], I, W)
    apply_inverse_metric(I[MASS_F], I[W_H], I[W_ACC], I, F, W)
    store_outputs(t, I, F, W, forces, callback)
    return status


@flat
def correct_velocities(t, h, x, I, F, W, forces, callback):
    """u* -> u+ by the impulses of the rows at the q in x; the impulses are left in W_RHS, their work goes to the state."""
    m, soft, r = I[M], I[SOFT_F], I[W_RHS]
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
    metric_correction(I[W_ACC], I, F, W)
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


@flat
def end_step(inside, t, x, I, F, W, forces, callback):
    """x <- end of the step that the unconstrained one led to; inside a step only what stabilisation asks for. Status.

    As printed: impulse with the rows at q_k, positions, stabilisation. Predicted: stabilisation, impulse with the rows at q+.
    Projected positions ask for velocities that fit, again by an impulse.
    """
    status, memory, m, nq, nu = OK, I[MEMORY_X], I[M], I[NQ], I[NU]
    lam, q_old, a, share, _, gain = memory_of_start(I)
    h, predicted, projected = x[memory + MEM_H], I[PREDICT] == 1, I[STABILISE] == PROJECTION
    if not inside:
        for i in range(m):
            x[memory + MEM_LAM + i] = 0.5 * h * x[lam + i] if predicted else 0.0
        for i in range(nu if predicted else 0):  # u* = u_k + gain + half of the reaction's share
            x[nq + i] += x[gain + i] - h * (x[a + i] - 0.5 * x[share + i])
        for i in range(0 if predicted else nq):
            x[i] = x[q_old + i]
    for turn in range(2):
        if turn == 0 and (inside or predicted):
            continue
        if turn == 1:
            if projected:
                status = project_constraints(t, x, I, F, W, forces, callback)
            else:
                normalise(x, I)
            if not projected and (inside or not predicted):
                continue
        correct_velocities(t, h, x, I, F, W, forces, callback)
        for i in range(0 if inside else m):
            x[memory + MEM_LAM + i] += W[I[W_RHS] + i]
        if turn == 0:
            advance_positions(h, x, I, F, W)
    load_poses(x, I, F, W)
    snap_angles(x, I, F, W)
    if not inside:
        x[memory + MEM_H], x[memory + MEM_DONE] = 0.0, h
    for i in range(nq):
        x[q_old + i] = x[i]
    for i in range(nu):
        x[gain + i] = 0.0
    return status


@kernel
def impulse(mode, t, x, dx, I, F, W, forces, callback):
    """RATE: dx <- unconstrained rates; at the start of a step also what x remembers of it. PROJECT: x <- end of the step, or
    a stabilised state between two steps. OUTPUT: what a saved state and the compliant force of the step to it imply."""
    if mode == PROJECT:
        return end_step(W[I[W_STAT] + INSIDE] != 0.0, t, x, I, F, W, forces, callback)
    if mode == OUTPUT:
        return soft_outputs(t, x, I, F, W, forces, callback)
    if I[PREDICT] == 1 and x[I[MEMORY_X] + MEM_H] == 0.0:
        status = start_step(t, x, dx, I, F, W, forces, callback)
    else:
        status = free_rates(t, x, dx, I, F, W, forces, callback)
    store_memory_rates(x, dx, I)
    return status
