"""The moving-frame formulation's slot [MovingFrame, 2-3]: relative coordinates of a tree, loops closed by multipliers.

    u' by the articulated-body recursion; with cut joints  S lam = -zeta - A a_0,  S = A (response of the tree to A^T)

Each row of a cut joint costs one more O(n) sweep, S is as small as the number of such rows. Idle rows (choice.py) get
no multiplier. Deviation: the thesis treats open chains of spherical joints; other joints and loops are what it leaves open.
"""

import numpy as np
from numpy import uintp

from dalembert.kernels.base.algebra import dot6, load6
from dalembert.kernels.base.compiler import flat, inline, kernel, light
from dalembert.kernels.base.dense import solve_with_factor, weakest_dense_row
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    ANGLE_I,
    ANGLE_I_W,
    COL_W,
    CUT_I,
    G_X,
    INSIDE,
    K_ACC,
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
    NFORCE,
    NON_FINITE,
    NQ,
    NU,
    OK,
    OUTPUT,
    POSITIONS,
    POWER,
    PROJECT,
    S_V,
    STATE_W,
    TOL_POSITION,
    V_GUARD,
    V_ROW,
    V_TURNED,
    W_A,
    W_ACC,
    W_ANGLE,
    W_BODY,
    W_COL,
    W_G,
    W_GT,
    W_H,
    W_PIVOT,
    W_RHS,
    W_SCHUR,
    W_STAT,
    W_ZETA,
    WRENCH,
    M,
)
from dalembert.kernels.base.views import Numbers, Rows
from dalembert.kernels.coordinates.articulated import (
    accelerate_by_columns,
    accelerate_tree,
    add_body_accelerations,
    carry_wrenches,
    clear_forces,
    column_forces,
    eliminate_tree,
    subtract_wrench,
    subtract_wrenches,
)
from dalembert.kernels.coordinates.choice import silence
from dalembert.kernels.coordinates.cut_choice import factor_cut_schur
from dalembert.kernels.coordinates.kinematics import load_angles
from dalembert.kernels.coordinates.tree import displace_tree, move_tree, normalise_tree, place_bodies
from dalembert.kernels.formulations.pivots import comparable, note_pivot, turned_far
from dalembert.kernels.formulations.project import note_failure, snap_angles, worst_entry
from dalembert.kernels.mechanics.primitives import constraint_rows


@inline
def subtract_cut_rows(v, stride, out, system):
    """W[out + r] -= A v for the rows of the cut joints; 6 numbers of body b at W[v + stride b]."""
    I, W = system.I, system.W
    for r in range(I[M]):
        a, k = I[W_A] + 12 * r, I[CUT_I] + 2 * r
        W[out + r] -= dot6(load6(W, a), load6(W, v + stride * I[k])) + dot6(load6(W, a + 6), load6(W, v + stride * I[k + 1]))


@inline
def add_cut_row(r, scale, h, system):
    """W[h] += scale A_r^T"""
    I, W = system.I, system.W
    a, k = I[W_A] + 12 * r, I[CUT_I] + 2 * r
    for j in range(6):
        W[h + 6 * I[k] + j] += scale * W[a + j]
        W[h + 6 * I[k + 1] + j] += scale * W[a + 6 + j]


@inline
def clear(o, system):
    """W[o + 6 b] <- 0 for every body."""
    I, W = system.I, system.W
    for i in range(6 * (I[NB] + 1)):
        W[o + i] = 0.0


@inline
def solve_cut_rows(c, system):
    """W[c] <- S^-1 W[c]: one sweep inwards per row, then a dense factorisation."""
    I, W = system.I, system.W
    m, nu, S = I[M], I[NU], I[W_SCHUR]
    e = S + m * m + m
    d = e + m * nu
    for r in range(m):
        clear_forces(system)
        for side in range(2):
            b = I[I[CUT_I] + 2 * r + side]
            if b > 0:
                subtract_wrench(b, I[W_A] + 12 * r + 6 * side, system)
        carry_wrenches(system)
        column_forces(e + nu * r, d, system)
        for s in range(r + 1):
            dot = 0.0
            for i in range(nu):
                dot += W[e + nu * r + i] * W[d + i] * W[e + nu * s + i]
            W[S + m * r + s] = dot
    scale = S + m * m
    for r in range(m):  # what the row would feel if its bodies were free: joints only make it stiffer
        W[scale + r] = 0.0
        for side in range(2):
            a, b = I[W_A] + 12 * r + 6 * side, I[I[CUT_I] + 2 * r + side]
            if b > 0:
                row, inertia = Rows(system.W, a)[0], system.masses[b]
                W[scale + r] += (inertia.m_inv * row.force) @ row.force + (inertia.J_inv @ row.torque) @ row.torque
    factor_cut_schur(system)
    solve_with_factor(Numbers(W, S), Numbers(W, c), m)
    W[I[W_STAT] + N_FACTOR] += 1.0


@inline
def respond_to_multipliers(lam, system):
    """K_ACC, X_P <- response of the tree to A^T lam, from what `solve_cut_rows` left of each row."""
    I, W = system.I, system.W
    m, nu = I[M], I[NU]
    e = I[W_SCHUR] + m * m + m
    total = e + m * nu
    for i in range(nu):
        W[total + i] = 0.0
        for r in range(m):
            W[total + i] += W[lam + r] * W[e + nu * r + i]
    accelerate_by_columns(total, I[W_COL] + K_ACC, system)


@inline
def respond_to_row(row, system):
    """Accelerations of the joints by a unit of the multiplier of a row and what the others answer: v_i of pivots.py."""
    I, W = system.I, system.W
    for i in range(I[M]):
        W[I[W_RHS] + i] = 1.0 if i == row else 0.0
    solve_with_factor(Numbers(W, I[W_SCHUR]), Numbers(W, I[W_RHS]), I[M])
    respond_to_multipliers(I[W_RHS], system)


@inline
def along(guard, system):
    """The guard . accelerations of the joints"""
    I, W = system.I, system.W
    s = 0.0
    for i in range(I[NU]):
        s += W[guard + i] * W[I[W_COL] + COL_W * i + K_ACC]
    return s


@light
def watch_cut_rows(t, system):
    """`watch_rows` of pivots.py for the rows of cut joints."""
    I, W = system.I, system.W
    m, S, k = I[M], I[W_SCHUR], I[W_PIVOT]
    row, least = weakest_dense_row(Numbers(W, S), m, Numbers(W, S + m * m), 0)
    across = W[k + V_TURNED] != 0.0 or turned_far(t, system)
    for turn in range(2):
        if turn == 1 or comparable(system):
            respond_to_row(row if turn == 1 else int(W[k + V_ROW]), system)
            across |= turn == 0 and along(k + V_GUARD, system) < 0.0
    for i in range(I[NU]):
        W[k + V_GUARD + i] = W[I[W_COL] + COL_W * i + K_ACC]
    note_pivot(t, row, least, across, system)
    return 0


@flat
def cut_residuals(level, iteration, t, x, dx, system):
    """(row, worst): poses, twists and rows at x, W_RHS <- minus the residuals g (level 0) or g' (level 1) of the cut joints.

    After two corrections idle rows no longer count: they follow the others, as far as the geometry of the model is exact.
    """
    I, W = system.I, system.W
    r, m = I[W_RHS], I[M]
    move_tree(x, dx, system)
    place_bodies(x, system)
    forces(POSITIONS if level == 0 else MOTIONS, t, system)
    constraint_rows(system)
    W[I[W_STAT] + N_DG] += 1.0
    for i in range(m):
        W[r + i] = -W[(I[W_G] if level == 0 else I[W_GT]) + i]
    if level == 1:
        subtract_cut_rows(I[W_BODY] + S_V, STATE_W, r, system)
    if iteration > 1:
        silence(Numbers(system.W, r), 0.0, system)
    return worst_entry(Numbers(system.W, r), m)


@flat
def project_cut_joints(t, x, dx, system):
    """Onto the cut joints, positions then velocities, in the metric of the kinetic energy. Status."""
    I, F, W = system.I, system.F, system.W
    W[I[W_STAT] + N_PROJECT] += 1.0
    normalise_tree(x, system)
    r = I[W_RHS]
    status, level, iteration, before, factored = OK, 0, 0, 0.0, False
    while level < 2:
        row, worst = cut_residuals(level, iteration, t, x, dx, system)
        done = worst <= F[TOL_POSITION + level] or (iteration > 1 and worst > 0.25 * before and worst <= 1e-12)
        if done and (level == 0 or factored):
            if level == 0:
                W[I[W_STAT] + N_NEWTON] += iteration
                W[I[W_STAT] + N_NEWTON_MAX] = max(W[I[W_STAT] + N_NEWTON_MAX], float(iteration))
            level, iteration = level + 1, 0
            continue
        if not done and (iteration == I[MAX_NEWTON] or not np.isfinite(worst)):
            note_failure(row, worst, system)
            status = NEWTON_FAILED if np.isfinite(worst) else NON_FINITE
            break
        eliminate_tree(system)
        solve_cut_rows(r, system)
        factored = True
        if done:  # S of where the step ends is there in any case
            continue
        respond_to_multipliers(r, system)
        displace_tree(level, x, 1.0, system)
        before, iteration = worst, iteration + 1
    if status == OK and W[I[W_STAT] + INSIDE] == 0.0:
        watch_cut_rows(t, system)
    return status


@flat
def project_tree(x, dx, system):
    """Unit quaternions, and poses of the bodies where angles are counted: all that a tree without cut joints needs."""
    I = system.I
    normalise_tree(x, system)
    if I[NANGLE] > 0:
        move_tree(x, dx, system)
        place_bodies(x, system)


@flat
def finish_rates(power, dx, system):
    """dx <- rates of what follows q and u: external work, counters of angles. True when all accelerations are finite."""
    I, W = system.I, system.W
    nq, end = I[NQ], I[NQ] + I[NU]
    dx[end] = power
    for c in range(I[NANGLE]):
        dx[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c + 1]
    finite = True
    for i in range(uintp(nq), uintp(end + 1)):
        finite &= abs(dx[i]) < np.inf
    return finite


@kernel
def moving_frame(mode, t, x, dx, system):
    """RATE: dx <- rates of the relative coordinates; OUTPUT: also the accelerations of the bodies in W_ACC.
    PROJECT: x <- onto unit quaternions and cut joints; dx is scratch."""
    I, W = system.I, system.W
    m = I[M]
    if mode == PROJECT:
        status = OK
        if m > 0:
            status = project_cut_joints(t, x, dx, system)
        else:
            project_tree(x, dx, system)
        snap_angles(x, system)
        return status
    W[I[W_STAT] + N_RHS] += 1.0
    status, power, nq, nu = OK, 0.0, I[NQ], I[NU]
    move_tree(x, dx, system)
    if I[NFORCE] + I[NANGLE] + m > 0 or mode == OUTPUT:
        place_bodies(x, system)
        load_angles(x, system)
    if I[NFORCE] > 0:
        clear(I[W_H], system)
        status = forces(WRENCH, t, system)
        power = W[I[W_STAT] + POWER]
        subtract_wrenches(I[W_H], system)
    eliminate_tree(system)
    accelerate_tree(dx, nq, 1, 1.0, system)
    if m > 0 or mode == OUTPUT:
        clear(I[W_ACC], system)
        add_body_accelerations(I[W_ACC], 1.0, system)
    if m > 0:
        forces(MOTIONS, t, system)
        constraint_rows(system)
        lam = I[W_RHS]
        for i in range(m):
            W[lam + i] = -W[I[W_ZETA] + i]
        subtract_cut_rows(I[W_ACC], 6, lam, system)
        solve_cut_rows(lam, system)
        for i in range(m):
            power -= W[lam + i] * W[I[W_GT] + i]
        respond_to_multipliers(lam, system)
        add_body_accelerations(I[W_ACC], 0.0, system)
        for i in range(nu):
            dx[nq + i] += W[I[W_COL] + COL_W * i + K_ACC]
    finite = finish_rates(power, dx, system)
    return status if finite else NON_FINITE
