"""Minimal coordinates of a tree with loops: minimal.py with the joint velocities of a spanning tree in place of the bodies'.

    M* u' = F* - N* u + G^T lam,  G u' + zeta + A B' u = 0        the matrices of frame_matrices.py, G = A B
    V = P Z,  u^ = V (Z^T V)^-1 (s' - Z^T p') + p',  u' = V y + p'',  V^T M* V y = V^T (F* - N* u^ - M* p'')

[QRContinuation, (9)-(15)] on relative coordinates. Without loops there are no rows, V = Z = 1 and s' = u: the equations of
motion of the tree. Dense, O(n^3): trees with few loops that need speed take MovingFrame.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    ANGLE_I,
    ANGLE_I_W,
    BENDS,
    G_X,
    MINIMAL_I,
    MOTIONS,
    N_RHS,
    NANGLE,
    NMOTION,
    NON_FINITE,
    NQ,
    NTRACED,
    NU,
    POWER,
    W_ANGLE,
    W_GT,
    W_H,
    W_RHS,
    W_STAT,
    W_WORK,
    W_ZETA,
    Z_BASIS,
    Z_CARRY,
    Z_COLUMNS,
    Z_DOF,
    Z_ORDER,
    Z_ROWS,
    Z_S,
    Z_SMALL,
    M,
)
from dalembert.kernels.base.views import Numbers, Rows
from dalembert.kernels.coordinates.frame_matrices import (
    derivative,
    fill_blocks,
    fill_forces,
    fill_reduced_matrix,
    multiply,
    reduced_matrix,
    subtract_inertia,
)
from dalembert.kernels.coordinates.kinematics import load_angles
from dalembert.kernels.coordinates.tree import move_tree, place_bodies
from dalembert.kernels.formulations.minimal import solve_small
from dalembert.kernels.formulations.moving_frame import subtract_cut_rows
from dalembert.kernels.formulations.moving_frame_reference import external_wrenches
from dalembert.kernels.formulations.tree_tangent import (
    add_solution,
    cut_rows,
    dot,
    factor_cut_rows,
    least_solution,
    onto_tangent,
    turn_column,
)
from dalembert.kernels.mechanics.primitives import constraint_rows, velocity_gradient_rows


@flat
def admissible_velocities(x, system):
    """The columns <- V, behind them u^."""
    I, W = system.I, system.W
    k = I[MINIMAL_I]
    n, f, nq, V, C = I[NU], I[k + Z_DOF], I[NQ], I[k + Z_COLUMNS], I[k + Z_SMALL]
    c, u = C + f * f + f, V + n * f
    least_solution(I[W_GT], u, system)
    for j in range(f):
        v = V + n * j
        W[c + j] = 0.0
        for i in range(n):
            W[v + i] = x[I[k + Z_BASIS] + n * j + i]
            W[c + j] += W[v + i] * (x[nq + i] - W[u + i])
        onto_tangent(v, system)
        for i in range(j + 1):
            W[C + f * j + i] = dot(V + n * i, v, n, W)
    solve_small(Numbers(W, C), Numbers(W, c), f)
    for j in range(f):
        for i in range(n):
            W[u + i] += W[c + j] * W[V + n * j + i]


@flat
def velocity_terms(t, x, u, system):
    """The last row of M* <- F* - N* u^, W_ZETA <- zeta + A B' u^, with the velocities u^ at W[u] in the state. Status."""
    I, W = system.I, system.W
    bias = I[W_WORK]
    status = external_wrenches(t, system)
    fill_blocks(x, system)
    multiply(derivative(system), u, bias, system)
    subtract_inertia(bias, system)
    forces(MOTIONS, t, system)
    constraint_rows(system)
    for r in range(I[M]):
        W[I[W_RHS] + r] = -W[I[W_ZETA] + r]
    subtract_cut_rows(bias, 6, I[W_RHS], system)
    for r in range(I[M]):
        W[I[W_ZETA] + r] = -W[I[W_RHS] + r]
    fill_forces(I[W_H], system)
    return status


@flat
def joint_accelerations(acc, system):
    """W[acc] <- u' from M*, the row below it, zeta and the columns V; the row <- F* - N* u^ - M* u'."""
    I, W = system.I, system.W
    k = I[MINIMAL_I]
    n, f, V, N, K = I[NU], I[k + Z_DOF], I[k + Z_COLUMNS], I[k + Z_SMALL], reduced_matrix(system)
    c, Mv, rest = N + f * f + f, acc + n, K + n * (n + I[M])
    least_solution(I[W_ZETA], acc, system)
    for j in range(-1, f):  # first M* p'', then M* of every column
        v = acc if j < 0 else V + n * j
        for i in range(n):
            s = dot(K + n * i, v, i, W)
            for e in range(i, n):
                s += W[K + n * e + i] * W[v + e]
            W[Mv + i] = s
        if j < 0:
            for i in range(n):
                W[rest + i] -= W[Mv + i]
            continue
        W[c + j] = dot(v, rest, n, W)
        for i in range(j + 1):
            W[N + f * j + i] = dot(V + n * i, Mv, n, W)
    solve_small(Numbers(W, N), Numbers(W, c), f)
    for i in range(n):
        W[Mv + i] = 0.0
    for j in range(f):
        for i in range(n):
            W[Mv + i] += W[c + j] * W[V + n * j + i]
    for i in range(n):
        W[acc + i] += W[Mv + i]
        W[rest + i] -= dot(K + n * i, Mv, i, W)
        for e in range(i, n):
            W[rest + i] -= W[K + n * e + i] * W[Mv + e]


@kernel
def minimal_tree(mode, t, x, dx, system):
    """dx <- rates of (q, u, external work, angles, s, ...) at x; the basis stays. Status."""
    I, W = system.I, system.W
    W[I[W_STAT] + N_RHS] += 1.0
    k, nq, n, m = I[MINIMAL_I], I[NQ], I[NU], I[M]
    f = I[k + Z_DOF]
    u = I[k + Z_COLUMNS] + n * f
    acc = u + n
    for i in range(nq + n, x.size):
        dx[i] = 0.0
    move_tree(x, dx, system)
    place_bodies(x, system)
    forces(MOTIONS, t, system)
    constraint_rows(system)
    fill_blocks(x, system)
    fill_reduced_matrix(system)
    factor_cut_rows(system)
    admissible_velocities(x, system)
    for i in range(n):  # the state takes u^ for a while
        W[u + i], x[nq + i] = x[nq + i], W[u + i]
        W[acc + 2 * n + i] = x[nq + i]
    move_tree(x, dx, system)
    place_bodies(x, system)
    load_angles(x, system)
    status = velocity_terms(t, x, acc + 2 * n, system)
    power = W[I[W_STAT] + POWER]
    joint_accelerations(acc, system)
    if I[NMOTION] + I[NTRACED] > 0:  # -lam . g_t, multipliers of M* u' = F* - N* u + G^T lam by least squares
        rest = reduced_matrix(system) + n * (n + m)
        for r in range(m):
            W[I[W_RHS] + r] = -dot(cut_rows(system) + n * r, rest, n, W)
        add_solution(acc + n, system)
        for r in range(m):
            power -= W[I[W_RHS] + r] * W[I[W_GT] + r]
    for i in range(n):
        dx[nq + i] = W[acc + i]
    dx[nq + n] = power
    for c in range(I[NANGLE]):
        dx[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c + 1]
    if I[k + Z_ORDER] < 0:
        velocity_gradient_rows(Rows(system.W, I[k + Z_ROWS]), system)
        forces(BENDS, t, system)
    for j in range(f):
        at = I[k + Z_BASIS] + n * j
        if I[k + Z_ORDER] < 0:
            at = I[k + Z_CARRY] + n * j
            for i in range(n):
                W[acc + i] = x[at + i]
            turn_column(acc, I[k + Z_ROWS], acc + n, system)
            for i in range(n):
                dx[at + i] = W[acc + n + i]
        for i in range(n):
            dx[I[k + Z_S] + j] += x[at + i] * x[nq + i]
    for i in range(n):
        x[nq + i] = W[u + i]
    for i in range(nq + n + 1):
        if not np.isfinite(dx[i]):
            status = NON_FINITE
    return status
