"""The reference path of the moving-frame formulation as a slot [MovingFrame, 2-3]: dense matrices, blocks as in the source.

    M* u' = F* - N* u + (A B)^T lam,    A B u' + A B' u + zeta = 0,    projection onto cut joints in the metric of M*

Slow, there to be compared with moving_frame.py; how the matrices are built is in frame_matrices.py.
"""

import numpy as np

from dalembert.kernels.base.algebra import load3, scale3, store3
from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    ANGLE_I,
    ANGLE_I_W,
    G_X,
    GRAVITY_X,
    MASS_F,
    MAX_NEWTON,
    METRIC_W,
    MM,
    MOTIONS,
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
    TOL_POSITION,
    W_ACC,
    W_ANGLE,
    W_GT,
    W_H,
    W_RHS,
    W_STAT,
    W_WORK,
    W_ZETA,
    WRENCH,
    M,
)
from dalembert.kernels.coordinates.frame_matrices import (
    back_substitute,
    derivative,
    eliminate,
    fill_blocks,
    fill_forces,
    fill_reduced_matrix,
    multiply,
    solve_rows_of_cut_joints,
    subtract_inertia,
)
from dalembert.kernels.coordinates.kinematics import load_angles
from dalembert.kernels.coordinates.tree import displace_tree, move_tree, normalise_tree, place_bodies
from dalembert.kernels.formulations.moving_frame import cut_residuals, subtract_cut_rows
from dalembert.kernels.formulations.project import note_failure, snap_angles
from dalembert.kernels.mechanics.primitives import constraint_rows


@flat
def close_loops(t, x, dx, system):
    """Onto the cut joints, positions then velocities, by Newton's method in the metric of M*. Status."""
    I, F, W = system.I, system.F, system.W
    W[I[W_STAT] + N_PROJECT] += 1.0
    status, level, iteration, before = OK, 0, 0, 0.0
    while level < 2:
        row, worst = cut_residuals(level, iteration, t, x, dx, system)
        if worst <= F[TOL_POSITION + level] or (iteration > 1 and worst > 0.25 * before and worst <= 1e-12):
            if level == 0:
                W[I[W_STAT] + N_NEWTON] += iteration
                W[I[W_STAT] + N_NEWTON_MAX] = max(W[I[W_STAT] + N_NEWTON_MAX], float(iteration))
            level, iteration = level + 1, 0
            continue
        if iteration == I[MAX_NEWTON] or not np.isfinite(worst):
            note_failure(row, worst, system)
            status = NEWTON_FAILED if np.isfinite(worst) else NON_FINITE
            break
        fill_blocks(x, system)
        fill_reduced_matrix(system)
        eliminate(system)
        solve_rows_of_cut_joints(system)
        back_substitute(system)
        displace_tree(level, x, 1.0, system)
        before, iteration = worst, iteration + 1
    return status


@flat
def external_wrenches(t, system):
    """W_H <- gravity and force elements. Status."""
    I, F, W = system.I, system.F, system.W
    gravity = load3(F, GRAVITY_X)
    for k in range(I[NB] + 1):
        store3(W, I[W_H] + 6 * k, scale3(F[I[MASS_F] + METRIC_W * k + MM], gravity))
        store3(W, I[W_H] + 6 * k + 3, (0.0, 0.0, 0.0))
    return forces(WRENCH, t, system)


@kernel
def moving_frame_reference(mode, t, x, dx, system):
    """RATE: dx <- rates of the relative coordinates. PROJECT: x <- onto unit quaternions and cut joints."""
    I, W = system.I, system.W
    m, nq, nu = I[M], I[NQ], I[NU]
    if mode == PROJECT:
        status = OK
        normalise_tree(x, system)
        if m == 0:
            move_tree(x, dx, system)
            place_bodies(x, system)
        else:
            status = close_loops(t, x, dx, system)
        snap_angles(x, system)
        return status
    W[I[W_STAT] + N_RHS] += 1.0
    bias, velocities = I[W_WORK], I[W_WORK] + 6 * (I[NB] + 1)
    move_tree(x, dx, system)
    place_bodies(x, system)
    load_angles(x, system)
    status = external_wrenches(t, system)
    power = W[I[W_STAT] + POWER]
    fill_blocks(x, system)
    for c in range(nu):
        W[velocities + c] = x[nq + c]
    multiply(derivative(system), velocities, bias, system)
    subtract_inertia(bias, system)
    if m > 0:
        forces(MOTIONS, t, system)
        constraint_rows(system)
        for i in range(m):
            W[I[W_RHS] + i] = -W[I[W_ZETA] + i]
        subtract_cut_rows(bias, 6, I[W_RHS], system)
    fill_reduced_matrix(system)
    fill_forces(I[W_H], system)
    eliminate(system)
    if m > 0:
        solve_rows_of_cut_joints(system)
        for i in range(m):
            power -= W[I[W_RHS] + i] * W[I[W_GT] + i]
    y = back_substitute(system)
    multiply(0, y, I[W_ACC], system)
    for i in range(6, 6 * (I[NB] + 1)):
        W[I[W_ACC] + i] += W[bias + i]
    for c in range(nu):
        dx[nq + c] = W[y + c]
    dx[nq + nu] = power
    for c in range(I[NANGLE]):
        dx[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c + 1]
    for i in range(nq, nq + nu + 1):
        if not np.isfinite(dx[i]):
            status = NON_FINITE
    return status
