"""Projection of a state onto the constraints: quasi-orthogonal [JetMultibody, Algorithms 5.3-5.5] and its invariants.

    theta   theta / |theta|                                                                (Algorithm 5.3)
    g       q <- q (+) d,  d = -W^-1 G^T (G W^-1 G^T)^-1 g, until |g| <= tolerance           (5.3)
    G u     u <- u - W^-1 G^T (G W^-1 G^T)^-1 (G u + g_t)                                   (5.4)
    f_inv   along W^-1 grad f_inv, made tangent to the constraints                          (5.5)

W is Euclidean in (r, theta), i.e. diag(1, 1/4) in (dr, dphi_B), or the mass matrix.
Deviation: Newton keeps its first factorisation while it contracts (chord method); the gradient of an invariant is first
projected onto the tangent space, so that returning to the invariant does not leave the constraints to first order.
"""

import numpy as np

from dalembert.kernels.compiler import flat, inline
from dalembert.kernels.kinematics import add_velocity, load_angles, load_poses, normalise, retract
from dalembert.kernels.primitives import constraint_rows
from dalembert.kernels.solve import assemble_blocks, factor, metric_correction, pull_back_rows, subtract_row_products
from dalembert.kernels.tables import (
    ANGLE_I,
    ANGLE_I_W,
    G_X,
    MAX_NEWTON,
    METRIC_F,
    MOTIONS,
    N_DG,
    N_NEWTON,
    N_NEWTON_MAX,
    N_PROJECT,
    NANGLE,
    NB,
    NEWTON_FAILED,
    NON_FINITE,
    OK,
    S_R,
    S_V,
    STATE_W,
    TOL_POSITION,
    TOL_VELOCITY,
    W_A,
    W_ACC,
    W_ANGLE,
    W_BODY,
    W_G,
    W_GT,
    W_STAT,
    W_ZETA,
    WORST_ROW,
    WORST_VALUE,
    M,
)


@inline
def worst_entry(a, n, W):
    """(index, magnitude) of the largest |W[a + i]|; NaN counts as largest."""
    row, worst = 0, 0.0
    for i in range(n):
        v = abs(W[a + i])
        if not v <= worst:
            row, worst = i, v
            if v != v:  # the next entry would hide it
                break
    return row, worst


@inline
def rounding_level(I, W):
    """What double precision leaves of a residual in metres: 200 eps times the largest coordinate, at least 1 m."""
    size = 1.0
    for b in range(1, I[NB] + 1):
        for i in range(3):
            size = max(size, abs(W[I[W_BODY] + STATE_W * b + S_R + i]))
    return 4.4e-14 * size


@inline
def note_failure(row, value, I, W):
    W[I[W_STAT] + WORST_ROW] = row
    W[I[W_STAT] + WORST_VALUE] = value


@flat
def evaluate_rows(x, I, F, W):
    load_poses(x, I, F, W)
    constraint_rows(I, F, W)
    pull_back_rows(I[W_A], I, F, W)
    W[I[W_STAT] + N_DG] += 1.0


@flat
def project_positions(x, I, F, W):
    """g(q, t) = 0 by Newton's method. Returns (status, 1 when W_K holds a factorisation near q)."""
    before, factored, status, done = 0.0, 0, OK, 0
    for iteration in range(I[MAX_NEWTON] + 1):
        evaluate_rows(x, I, F, W)
        row, worst = worst_entry(I[W_G], I[M], W)
        done = iteration
        if worst <= F[TOL_POSITION]:
            break
        if not np.isfinite(worst):
            note_failure(row, worst, I, W)
            status = NON_FINITE
            break
        if iteration > 1 and worst > 0.25 * before and worst <= rounding_level(I, W):
            break
        if iteration == I[MAX_NEWTON]:
            note_failure(row, worst, I, W)
            status = NEWTON_FAILED
            break
        if iteration == 0 or worst > 0.05 * before:
            assemble_blocks(I[METRIC_F], I, F, W)
            factor(I, F, W)
            factored = 1
        before = worst
        metric_correction(I[W_G], I[W_ACC], I, F, W)
        retract(x, I[W_ACC], -1.0, I, F, W)
    W[I[W_STAT] + N_NEWTON] += done
    W[I[W_STAT] + N_NEWTON_MAX] = max(W[I[W_STAT] + N_NEWTON_MAX], float(done))
    return status, factored


@flat
def project_velocities(x, factored, I, F, W):
    """G u + g_t = 0 with the rows at q in W_A, refined until the tolerance is met."""
    r = I[W_ZETA]
    before = 0.0
    for iteration in range(I[MAX_NEWTON] + 1):
        for i in range(I[M]):
            W[r + i] = -W[I[W_GT] + i]
        subtract_row_products(I[W_A], I[W_BODY] + S_V, STATE_W, r, False, I, W)
        row, worst = worst_entry(r, I[M], W)
        if worst <= F[TOL_VELOCITY]:
            return OK
        if iteration > 1 and worst > 0.25 * before:
            size = 1.0
            for i in range(x.size):
                size = max(size, abs(x[i]))
            if worst <= 1e-12 * size:
                return OK
        if iteration == I[MAX_NEWTON] or not np.isfinite(worst):
            note_failure(row, worst, I, W)
            return NEWTON_FAILED
        if factored == 0 or (iteration > 0 and worst > 0.05 * before):
            assemble_blocks(I[METRIC_F], I, F, W)
            factor(I, F, W)
            factored = 1
        before = worst
        metric_correction(r, I[W_ACC], I, F, W)
        add_velocity(x, I[W_ACC], 1.0, I, F, W)
        load_poses(x, I, F, W)
    return NEWTON_FAILED


@flat
def project_constraints(t, x, I, F, W, forces, callback):
    """Onto M_theta and M_hc. Status."""
    W[I[W_STAT] + N_PROJECT] += 1.0
    normalise(x, I)
    forces(MOTIONS, t, I, F, W, callback)
    status, factored = project_positions(x, I, F, W)
    if status == OK:
        status = project_velocities(x, factored, I, F, W)
    return status


@flat
def snap_angles(x, I, F, W):
    """The counters of joint angles take the exact angle at the poses in W."""
    load_angles(x, I, F, W)
    for c in range(I[NANGLE]):
        x[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c]
