"""The moving-frame formulation's slot [MovingFrame, 2-3]: relative coordinates of a tree, loops closed by multipliers.

    u' by the articulated-body recursion; with cut joints  S lam = -zeta - A a_0,  S = A (response of the tree to A^T)

Each row of a cut joint costs one more O(n) response, S is as small as the number of such rows. Rows that depend on others get
no multiplier. Deviation: the thesis treats open chains of spherical joints; other joints and loops are what it leaves open.
"""

import numpy as np

from dalembert.kernels.algebra import dot3, load3, load6
from dalembert.kernels.articulated import factor_tree, solve_tree, start_inertias
from dalembert.kernels.compiler import flat, inline, kernel
from dalembert.kernels.inertia import gravity_and_gyroscopic
from dalembert.kernels.kinematics import load_angles
from dalembert.kernels.orthogonal import dense_cholesky_solve
from dalembert.kernels.primitives import constraint_rows
from dalembert.kernels.project import note_failure, snap_angles, worst_entry
from dalembert.kernels.solve import apply_inverse, dot6
from dalembert.kernels.tables import (
    ANGLE_I,
    ANGLE_I_W,
    CUT_I,
    EPS_PIVOT,
    G_X,
    MASS_F,
    MAX_NEWTON,
    MOTIONS,
    N_DG,
    N_FACTOR,
    N_NEWTON,
    N_NEWTON_MAX,
    N_PROJECT,
    N_RHS,
    NANGLE,
    NB,
    NEWTON_FAILED,
    NON_FINITE,
    NQ,
    NU,
    OK,
    POWER,
    PROJECT,
    S_V,
    STATE_W,
    TOL_POSITION,
    W_A,
    W_ACC,
    W_ANGLE,
    W_BODY,
    W_G,
    W_GT,
    W_H,
    W_RHS,
    W_SCHUR,
    W_STAT,
    W_WORK,
    W_ZETA,
    WRENCH,
    M,
)
from dalembert.kernels.tree import displace_tree, load_tree, normalise_tree, store_tree_rates


@inline
def subtract_cut_rows(v, stride, out, I, W):
    """W[out + r] -= A v for the rows of the cut joints; 6 numbers of body b at W[v + stride b]."""
    for r in range(I[M]):
        a, k = I[W_A] + 12 * r, I[CUT_I] + 2 * r
        W[out + r] -= dot6(load6(W, a), load6(W, v + stride * I[k])) + dot6(load6(W, a + 6), load6(W, v + stride * I[k + 1]))


@inline
def add_cut_row(r, scale, h, I, W):
    """W[h] += scale A_r^T"""
    a, k = I[W_A] + 12 * r, I[CUT_I] + 2 * r
    for j in range(6):
        W[h + 6 * I[k] + j] += scale * W[a + j]
        W[h + 6 * I[k + 1] + j] += scale * W[a + 6 + j]


@inline
def solve_cut_rows(c, I, F, W):
    """W[c] <- S^-1 W[c]: one response of the tree per row, then a dense factorisation."""
    m, h, S = I[M], I[W_WORK], I[W_SCHUR]
    for r in range(m):
        for i in range(6 * (I[NB] + 1)):
            W[h + i] = 0.0
        add_cut_row(r, 1.0, h, I, W)
        solve_tree(h, 0.0, I, W)
        for i in range(m):
            W[S + m * m + i] = 0.0
        subtract_cut_rows(I[W_ACC], 6, S + m * m, I, W)
        for i in range(r, m):
            W[S + m * i + r] = -W[S + m * m + i]
    scale = S + m * m
    for r in range(m):  # what the row would feel if its bodies were free: joints only make it stiffer
        W[scale + r] = 0.0
        for side in range(2):
            a, b = I[W_A] + 12 * r + 6 * side, I[I[CUT_I] + 2 * r + side]
            if b > 0:
                v, w = apply_inverse(I[MASS_F], b, load3(W, a), load3(W, a + 3), F)
                W[scale + r] += dot3(v, load3(W, a)) + dot3(w, load3(W, a + 3))
    dense_cholesky_solve(S, c, m, scale, F[EPS_PIVOT], W)
    W[I[W_STAT] + N_FACTOR] += 1.0


@flat
def project_cut_joints(t, x, I, F, W, forces, callback):
    """Onto the cut joints, positions then velocities, in the metric of the kinetic energy. Status."""
    W[I[W_STAT] + N_PROJECT] += 1.0
    normalise_tree(x, I)
    forces(MOTIONS, t, I, F, W, callback)
    r, m = I[W_RHS], I[M]
    status, level, iteration, before = OK, 0, 0, 0.0
    while level < 2:
        load_tree(x, I, F, W)
        constraint_rows(I, F, W)
        W[I[W_STAT] + N_DG] += 1.0
        for i in range(m):
            W[r + i] = -W[(I[W_G] if level == 0 else I[W_GT]) + i]
        if level == 1:
            subtract_cut_rows(I[W_BODY] + S_V, STATE_W, r, I, W)
        row, worst = worst_entry(r, m, W)
        if worst <= F[TOL_POSITION + level] or (iteration > 1 and worst > 0.25 * before and worst <= 1e-12):
            if level == 0:
                W[I[W_STAT] + N_NEWTON] += iteration
                W[I[W_STAT] + N_NEWTON_MAX] = max(W[I[W_STAT] + N_NEWTON_MAX], float(iteration))
            level, iteration = level + 1, 0
            continue
        if iteration == I[MAX_NEWTON] or not np.isfinite(worst):
            note_failure(row, worst, I, W)
            status = NEWTON_FAILED if np.isfinite(worst) else NON_FINITE
            break
        start_inertias(I, F, W)
        factor_tree(I, W)
        solve_cut_rows(r, I, F, W)
        for i in range(6 * (I[NB] + 1)):
            W[I[W_WORK] + i] = 0.0
        for i in range(m):
            add_cut_row(i, W[r + i], I[W_WORK], I, W)
        solve_tree(I[W_WORK], 0.0, I, W)
        displace_tree(level, x, 1.0, I, F, W)
        before, iteration = worst, iteration + 1
    return status


@kernel
def moving_frame(mode, t, x, dx, I, F, W, forces, callback):
    """RATE: dx <- rates of the relative coordinates. PROJECT: x <- onto unit quaternions and cut joints."""
    m = I[M]
    if mode == PROJECT:
        status = OK
        if m == 0:
            normalise_tree(x, I)
            load_tree(x, I, F, W)
        else:
            status = project_cut_joints(t, x, I, F, W, forces, callback)
        snap_angles(x, I, F, W)
        return status
    W[I[W_STAT] + N_RHS] += 1.0
    load_tree(x, I, F, W)
    load_angles(x, I, F, W)
    gravity_and_gyroscopic(I, F, W)
    status = forces(WRENCH, t, I, F, W, callback)
    power = W[I[W_STAT] + POWER]
    start_inertias(I, F, W)
    factor_tree(I, W)
    solve_tree(I[W_H], 1.0, I, W)
    if m > 0:
        forces(MOTIONS, t, I, F, W, callback)
        constraint_rows(I, F, W)
        for i in range(m):
            W[I[W_RHS] + i] = -W[I[W_ZETA] + i]
        subtract_cut_rows(I[W_ACC], 6, I[W_RHS], I, W)
        solve_cut_rows(I[W_RHS], I, F, W)
        for i in range(m):
            add_cut_row(i, W[I[W_RHS] + i], I[W_H], I, W)
            power -= W[I[W_RHS] + i] * W[I[W_GT] + i]
        solve_tree(I[W_H], 1.0, I, W)
    store_tree_rates(x, dx, I, F, W)
    nq, nu = I[NQ], I[NU]
    dx[nq + nu] = power
    for c in range(I[NANGLE]):
        dx[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c + 1]
    for i in range(nq, nq + nu + 1):
        if not np.isfinite(dx[i]):
            status = NON_FINITE
    return status
