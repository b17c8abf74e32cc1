"""The end of a step in minimal coordinates of a tree with loops: minimal_step.py on joint coordinates.

    q <- q (+) d,  d = -G^+ g,  until the cut joints are closed;  then u <- u - G^+ (G u + g_t)             (17)-(19)

G^+ is that of tree_tangent.py, Euclidean in the joint velocities; q (+) d turns the quaternion of a ball joint by d. Then the
basis of the next step, and the watch for singular configurations, as in minimal_step.py.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    BENDS,
    COL_W,
    INSIDE,
    K_ACC,
    MAX_NEWTON,
    MINIMAL_I,
    N_NEWTON,
    N_NEWTON_MAX,
    N_PROJECT,
    NEAR_SINGULAR,
    NEWTON_FAILED,
    NON_FINITE,
    NQ,
    NU,
    OK,
    TOL_POSITION,
    W_COL,
    W_RHS,
    W_STAT,
    Y_CHOICE,
    Y_JUMP,
    Y_PIVOT,
    Y_RESTARTS,
    Y_ROW,
    Y_TIME,
    Z_BASIS,
    Z_CARRY,
    Z_COLUMNS,
    Z_DENSE,
    Z_DOF,
    Z_GUARD,
    Z_KIND,
    Z_MARKS,
    Z_ORDER,
    Z_PASS,
    Z_ROWS,
    Z_S_DOT,
    M,
)
from dalembert.kernels.base.views import Numbers, Rows
from dalembert.kernels.coordinates.choice import choices
from dalembert.kernels.coordinates.frame_matrices import fill_blocks, fill_reduced_matrix
from dalembert.kernels.coordinates.tree import displace_tree, normalise_tree
from dalembert.kernels.formulations.continuation import exponential, orthonormalise
from dalembert.kernels.formulations.minimal_step import NEAR
from dalembert.kernels.formulations.moving_frame import cut_residuals
from dalembert.kernels.formulations.pivots import note_pivot
from dalembert.kernels.formulations.project import note_failure, snap_angles
from dalembert.kernels.formulations.tangent_basis import null_basis
from dalembert.kernels.formulations.tree_tangent import add_solution, cut_rows, factor_cut_rows, onto_tangent, turn_column
from dalembert.kernels.mechanics.primitives import velocity_gradient_rows


@flat
def close_along_rows(t, x, dx, system):
    """(status, row, pivot): onto the cut joints, positions, then velocities; B, B' and factored rows are those of the end."""
    I, F, W = system.I, system.F, system.W
    W[I[W_STAT] + N_PROJECT] += 1.0
    normalise_tree(x, system)
    d = I[I[MINIMAL_I] + Z_COLUMNS]
    status, level, iteration, before, row, pivot = OK, 0, 0, 0.0, 0, 1.0
    while level < 2:
        worst_row, worst = cut_residuals(level, iteration, t, x, dx, system)
        fill_blocks(x, system)
        fill_reduced_matrix(system)
        row, pivot = factor_cut_rows(system)
        if worst <= F[TOL_POSITION + level] or (iteration > 1 and worst > 0.25 * before and worst <= 1e-12):
            if level == 0:
                W[I[W_STAT] + N_NEWTON] += iteration
                W[I[W_STAT] + N_NEWTON_MAX] = max(W[I[W_STAT] + N_NEWTON_MAX], float(iteration))
            level, iteration = level + 1, 0
            continue
        if iteration == I[MAX_NEWTON] or not np.isfinite(worst):
            note_failure(worst_row, worst, system)
            status = NEWTON_FAILED if np.isfinite(worst) else NON_FINITE
            break
        for i in range(I[NU]):
            W[d + i] = 0.0
        add_solution(d, system)
        for i in range(I[NU]):
            W[I[W_COL] + COL_W * i + K_ACC] = W[d + i]
        displace_tree(level, x, 1.0, system)
        before, iteration = worst, iteration + 1
    return status, row, pivot


@inline
def tangent_columns(X, system):
    """W[X] <- the nearest orthonormal basis of the tangent space; True when there is one."""
    I = system.I
    k = I[MINIMAL_I]
    for j in range(I[k + Z_DOF]):
        onto_tangent(X + I[NU] * j, system)
    return orthonormalise(Numbers(system.W, X), system)


@inline
def turn_columns_of(X, out, system):
    """W[out] <- -G^+ G' of every column at W[X]"""
    I = system.I
    k = I[MINIMAL_I]
    for j in range(I[k + Z_DOF]):
        turn_column(X + I[NU] * j, I[k + Z_ROWS], out + I[NU] * j, system)


@flat
def new_columns(X, A, system):
    """W[X] <- a basis from the rows alone."""
    I, W = system.I, system.W
    k = I[MINIMAL_I]
    n, m, f = I[NU], I[M], I[k + Z_DOF]
    for i in range(n * m):
        W[A + i] = W[cut_rows(system) + i]
    null_basis(I[k + Z_KIND], Numbers(W, A), n, m, f, Numbers(W, X))


@flat
def carried_columns(h, x, X, D, system):
    """W[X] <- the basis of the step's start, carried along the step to its end."""
    I, W = system.I, system.W
    k = I[MINIMAL_I]
    size, order = I[NU] * I[k + Z_DOF], I[k + Z_ORDER]
    for i in range(size):
        W[D + i], W[D + size + i] = x[I[k + Z_BASIS] + i], x[I[k + Z_CARRY] + i]
        W[D + 2 * size + i], W[D + 3 * size + i] = 0.0, 0.0
        W[X + i] = W[D + size + i] if order < 0 else W[D + i]
    if order > 0:
        if order == 4 and tangent_columns(X, system):
            for i in range(size):
                W[D + 2 * size + i] = W[X + i]
            turn_columns_of(X, D + 3 * size, system)
        exponential(h, Numbers(W, D), Numbers(W, X), system)


@inline
def dual_column(row, out, system):
    """W[out] <- v with G v = e_row, orthogonal to all other rows."""
    I, W = system.I, system.W
    for i in range(I[NU]):
        W[out + i] = 0.0
    for r in range(I[M]):
        W[I[W_RHS] + r] = 1.0 if r == row else 0.0
    add_solution(out, system)


@flat
def is_singular(t, pivot, x, system):
    """The configuration is near a singular one, or the step led across one."""
    I, W = system.I, system.W
    k = I[MINIMAL_I]
    y, v, s = I[k + Z_MARKS], I[k + Z_COLUMNS], 0.0
    if I[M] > 0 and x[y + Y_TIME] == x[y + Y_TIME] and W[I[W_STAT] + INSIDE] == 0.0:  # between two steps the marks are mixed
        dual_column(int(x[y + Y_ROW]), v, system)
        for i in range(I[NU] if x[y + Y_CHOICE] == choices(system) else 0):
            s += W[v + i] * x[I[k + Z_GUARD] + i]
        note_pivot(t, int(x[y + Y_ROW]), pivot, False, system)
    return pivot < NEAR or s < 0.0


@kernel
def minimal_tree_step(mode, t, x, dx, system):
    """x <- onto the cut joints along Q1, its basis <- that of the tangent space there. Status."""
    I, W = system.I, system.W
    status, row, pivot = close_along_rows(t, x, dx, system)
    snap_angles(x, system)
    if status != OK:
        return status
    k = I[MINIMAL_I]
    nq, n, f, y = I[NQ], I[NU], I[k + Z_DOF], I[k + Z_MARKS]
    first = x[y + Y_TIME] != x[y + Y_TIME]
    if is_singular(t, pivot, x, system) and (first or I[k + Z_PASS] == 0):
        return NEAR_SINGULAR
    X = I[k + Z_DENSE]
    D = X + n * f
    velocity_gradient_rows(Rows(system.W, I[k + Z_ROWS]), system)
    forces(BENDS, t, system)
    made = False
    if I[k + Z_ORDER] != 0 and not first:
        carried_columns(t - x[y + Y_TIME], x, X, D, system)
        made = tangent_columns(X, system)
        if not made:
            x[y + Y_RESTARTS] += 1.0
    if not made:
        new_columns(X, D, system)
        if not tangent_columns(X, system):
            return NEAR_SINGULAR
    for i in range(n * f):
        x[I[k + Z_BASIS] + i], x[I[k + Z_CARRY] + i] = W[X + i], W[X + i]
    if I[k + Z_ORDER] > 0:
        turn_columns_of(X, D, system)
        for i in range(n * f):
            x[I[k + Z_CARRY] + i] = W[D + i]
    for j in range(f):
        s = 0.0
        for i in range(n):
            s += W[X + n * j + i] * x[nq + i]
        if not first:
            x[y + Y_JUMP] = max(x[y + Y_JUMP], abs(s - x[I[k + Z_S_DOT] + j]))
        x[I[k + Z_S_DOT] + j] = s
    if I[M] > 0:
        dual_column(row, I[k + Z_COLUMNS], system)
        for i in range(n):
            x[I[k + Z_GUARD] + i] = W[I[k + Z_COLUMNS] + i]
    x[y + Y_TIME], x[y + Y_PIVOT], x[y + Y_ROW], x[y + Y_CHOICE] = t, pivot, row, choices(system)
    return OK
