"""The moving-frame equations as their source builds them [MovingFrame, 2.4-3.1]: B and B' block by block, then dense algebra.

    (x_k', w_k) = sum_j B_kj u_j                        over the links j from the root to body k     [MovingFrame, (2.30)]
    M* u' + N* u = F*,    M* = B^T M B,    N* = B^T (M B' + D M B),    F* = B^T F                    [MovingFrame, (2.23)]

x_k' in world axes, w_k in body axes; D M B u = (0, w_k x J_k w_k). With R(k/j) from frame k to frame j, w(k/j) in frame k,
the columns a_j of the joint in the child's axes, s_k from its joint to its centre and d_k from the parent's centre to there:

    rotation       R(k/j)^T a_j                       derivative  -w(k/j)^ R(k/j)^T a_j + R(k/j)^T a_j'        (2.31)
    translation    B_pj - R(p) d_k^ B_pj^rot - R(k) s_k^ B_kj^rot                                             (2.30), (2.35)

Blocks cost O(n^2) together, M* and its factorisation O(n^3). This is the reference that articulated.py is compared with; it
shares with it only poses, twists, forces and constraint rows. Deviation: signs and frames of (2.35) as in the errata; any
joint, branches and loops (multipliers on the rows G B of cut joints); N* u is formed from the vectors B' u and B u.
"""

import numpy as np
from numpy import uintp

from dalembert.kernels.base.algebra import (
    add3,
    axpy3,
    cross,
    dot6,
    load3,
    load6,
    load9,
    mul,
    mul_t,
    scale3,
    store3,
    sub3,
    sym_mul,
)
from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.dense import solve_with_factor
from dalembert.kernels.base.tables import (
    COL_W,
    CUT_I,
    K_ACC,
    MASS_F,
    METRIC_W,
    MJ,
    MM,
    N_FACTOR,
    NB,
    NQ,
    NU,
    ONE_ANGLE,
    ORDER_I,
    QUATERNION,
    R_AXIS,
    R_NROT,
    R_NTRANS,
    R_PARENT,
    R_Q,
    R_TURN,
    R_U,
    RF_EC,
    RF_EP,
    RF_PC,
    RF_PP,
    S_ROT,
    S_W,
    STATE_W,
    TREE_F,
    TREE_F_W,
    TREE_I,
    TREE_I_W,
    TWO_ANGLES,
    W_A,
    W_BODY,
    W_COL,
    W_FRAME,
    W_H,
    W_RHS,
    W_SCHUR,
    W_STAT,
    M,
)
from dalembert.kernels.base.views import Numbers, Rows
from dalembert.kernels.coordinates.cut_choice import factor_cut_schur
from dalembert.kernels.coordinates.tree import column


@inline
def block(body, c, system):
    """Where column c of a body's rows of B lies: (translation, rotation); B' has the same shape behind B."""
    I = system.I
    return I[W_FRAME] + 6 * (I[NU] * body + c)


@inline
def derivative(system):
    """From an entry of B to that of B'."""
    I = system.I
    return 6 * I[NU] * (I[NB] + 1)


@inline
def reduced_matrix(system):
    """M* (nu rows), below it the rows of cut joints and one right-hand side, all with nu columns."""
    I = system.I
    return I[W_FRAME] + 2 * derivative(system)


@inline
def fill_blocks(x, system):
    """B and B' from poses and twists in W_BODY; blocks of bodies that a joint does not move stay zero."""
    I, F = system.I, system.F
    for at in range(I[NB]):
        k = I[I[ORDER_I] + at]
        link, f = I[TREE_I] + TREE_I_W * k, I[TREE_F] + TREE_F_W * k
        p, turn = I[link + R_PARENT], I[link + R_TURN]
        q, u = I[link + R_Q] + (4 if turn == QUATERNION else I[link + R_NROT]), I[NQ] + I[link + R_U] + I[link + R_NROT]
        E_p, d, d_dot = load9(F, f + RF_EP), load3(F, f + RF_PP), (0.0, 0.0, 0.0)
        for j in range(I[link + R_NTRANS]):
            e = column(E_p, I[link + R_AXIS + j])
            d, d_dot = axpy3(x[q + j], e, d), axpy3(x[u + j], e, d_dot)
        s = scale3(-1.0, load3(F, f + RF_PC))
        ancestor = p
        while ancestor > 0:
            fill_inherited(k, p, ancestor, d, d_dot, s, system)
            ancestor = I[I[TREE_I] + TREE_I_W * ancestor + R_PARENT]
        fill_own(k, p, turn, E_p, load9(F, f + RF_EC), s, system)


@inline
def fill_inherited(k, p, j, d, d_dot, s, system):
    """Columns of link j in the rows of body k, whose parent is p  [MovingFrame, (2.30), (2.35)]"""
    I, W = system.I, system.W
    b_k, b_p, b_j = I[W_BODY] + STATE_W * k, I[W_BODY] + STATE_W * p, I[W_BODY] + STATE_W * j
    R_k, R_p, R_j = load9(W, b_k + S_ROT), load9(W, b_p + S_ROT), load9(W, b_j + S_ROT)
    w_k, w_p = load3(W, b_k + S_W), load3(W, b_p + S_W)
    w_kj = sub3(w_k, mul_t(R_k, mul(R_j, load3(W, b_j + S_W))))
    link, dot = I[TREE_I] + TREE_I_W * j, derivative(system)
    for c in range(I[link + R_U], I[link + R_U] + I[link + R_NROT] + I[link + R_NTRANS]):
        out, own, up = block(k, c, system), block(j, c, system), block(p, c, system)
        rot = mul_t(R_k, mul(R_j, load3(W, own + 3)))
        rot_dot = sub3(mul_t(R_k, mul(R_j, load3(W, own + dot + 3))), cross(w_kj, rot))
        rot_p, rot_p_dot = load3(W, up + 3), load3(W, up + dot + 3)
        at_joint, at_centre = cross(d, rot_p), cross(s, rot)
        at_joint_dot = add3(cross(w_p, at_joint), add3(cross(d_dot, rot_p), cross(d, rot_p_dot)))
        at_centre_dot = add3(cross(w_k, at_centre), cross(s, rot_dot))
        store3(W, out, sub3(load3(W, up), add3(mul(R_p, at_joint), mul(R_k, at_centre))))
        store3(W, out + 3, rot)
        store3(W, out + dot, sub3(load3(W, up + dot), add3(mul(R_p, at_joint_dot), mul(R_k, at_centre_dot))))
        store3(W, out + dot + 3, rot_dot)


@inline
def fill_own(k, p, turn, E_p, E_c, s, system):
    """Columns of link k in the rows of body k: axes that the child carries, or the parent (first of a cross, slides)."""
    I, W = system.I, system.W
    b_k, b_p = I[W_BODY] + STATE_W * k, I[W_BODY] + STATE_W * p
    R_k, R_p = load9(W, b_k + S_ROT), load9(W, b_p + S_ROT)
    w_k, w_p = load3(W, b_k + S_W), load3(W, b_p + S_W)
    link, dot = I[TREE_I] + TREE_I_W * k, derivative(system)
    c = I[link + R_U]
    for j in range(I[link + R_NROT]):
        out = block(k, c + j, system)
        a, a_dot = column(E_c, 2 if turn == ONE_ANGLE else j), (0.0, 0.0, 0.0)
        if turn == TWO_ANGLES and j == 0:
            a = mul_t(R_k, mul(R_p, column(E_p, 0)))
            a_dot = cross(a, sub3(w_k, mul_t(R_k, mul(R_p, w_p))))
        at_centre = cross(s, a)
        store3(W, out, scale3(-1.0, mul(R_k, at_centre)))
        store3(W, out + 3, a)
        store3(W, out + dot, scale3(-1.0, mul(R_k, add3(cross(w_k, at_centre), cross(s, a_dot)))))
        store3(W, out + dot + 3, a_dot)
    c += I[link + R_NROT]
    for j in range(I[link + R_NTRANS]):
        out, e = block(k, c + j, system), column(E_p, I[link + R_AXIS + j])
        store3(W, out, mul(R_p, e))
        store3(W, out + dot, mul(R_p, cross(w_p, e)))


@inline
def multiply(first, v, out, system):
    """W[out + 6 k] <- B_k v for every body and the ground, v at W[v]; first = 0 for B, derivative(I) for B'."""
    I, W = system.I, system.W
    for k in range(I[NB] + 1):
        a, b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for c in range(I[NU]):
            at = block(k, c, system) + first
            a, b = axpy3(W[v + c], load3(W, at), a), axpy3(W[v + c], load3(W, at + 3), b)
        store3(W, out + 6 * k, a)
        store3(W, out + 6 * k + 3, b)


@inline
def fill_reduced_matrix(system):
    """M* = B^T M B, lower triangle; below it the rows A B of the cut joints."""
    I, F, W = system.I, system.F, system.W
    nu, K = I[NU], reduced_matrix(system)
    for i in range(nu * (nu + I[M] + 1)):
        W[K + i] = 0.0
    for k in range(1, I[NB] + 1):
        mass, J = F[I[MASS_F] + METRIC_W * k + MM], load6(F, I[MASS_F] + METRIC_W * k + MJ)
        a = k
        while a > 0:
            link_a = I[TREE_I] + TREE_I_W * a
            for i in range(I[link_a + R_U], I[link_a + R_U] + I[link_a + R_NROT] + I[link_a + R_NTRANS]):
                at = block(k, i, system)
                MB = scale3(mass, load3(W, at)) + sym_mul(J, load3(W, at + 3))
                b = a
                while b > 0:  # links nearer to the root have smaller columns
                    link_b = I[TREE_I] + TREE_I_W * b
                    for j in range(I[link_b + R_U], I[link_b + R_U] + I[link_b + R_NROT] + I[link_b + R_NTRANS]):
                        if j <= i:
                            W[uintp(K + nu * i + j)] += dot6(MB, load6(W, block(k, j, system)))
                    b = I[link_b + R_PARENT]
            a = I[link_a + R_PARENT]
    for r in range(I[M]):
        A, bodies = I[W_A] + 12 * r, I[CUT_I] + 2 * r
        for c in range(nu):
            first, second = load6(W, block(I[bodies], c, system)), load6(W, block(I[bodies + 1], c, system))
            W[K + nu * (nu + r) + c] = dot6(load6(W, A), first) + dot6(load6(W, A + 6), second)


@inline
def fill_forces(h, system):
    """The last row <- B^T h for the wrenches at W[h + 6 k]."""
    I, W = system.I, system.W
    nu = I[NU]
    out = reduced_matrix(system) + nu * (nu + I[M])
    for c in range(nu):
        W[out + c] = 0.0
        for k in range(1, I[NB] + 1):
            W[out + c] += dot6(load6(W, block(k, c, system)), load6(W, h + 6 * k))


@inline
def eliminate(system):
    """M* = L L^T in place, inverse pivots on the diagonal; every row below becomes L^-1 of it."""
    I, W = system.I, system.W
    nu, K = I[NU], reduced_matrix(system)
    for i in range(nu + I[M] + 1):
        for j in range(min(i + 1, nu)):
            v = W[uintp(K + nu * i + j)]
            for k in range(j):
                v -= W[uintp(K + nu * i + k)] * W[uintp(K + nu * j + k)]
            W[uintp(K + nu * i + j)] = 1.0 / np.sqrt(v) if i == j else v * W[uintp(K + nu * j + j)]
    W[I[W_STAT] + N_FACTOR] += 1.0


@inline
def solve_rows_of_cut_joints(system):
    """W_RHS <- lam of S lam = W_RHS - Y y with Y = A B L^-T, S = Y Y^T; the last row y <- y + Y^T lam."""
    I, W = system.I, system.W
    nu, m, S = I[NU], I[M], I[W_SCHUR]
    Y = reduced_matrix(system) + nu * nu
    y = Y + nu * m
    for r in range(m):
        for i in range(r + 1):
            v = 0.0
            for c in range(nu):
                v += W[Y + nu * r + c] * W[Y + nu * i + c]
            W[S + m * r + i] = v
        for c in range(nu):
            W[I[W_RHS] + r] -= W[Y + nu * r + c] * W[y + c]
        W[S + m * m + r] = 0.0  # scale of the pivot: the row on free bodies, joints only make it stiffer
        for side in range(2):
            a, b = I[W_A] + 12 * r + 6 * side, I[I[CUT_I] + 2 * r + side]
            if b > 0:
                row, inertia = Rows(system.W, a)[0], system.masses[b]
                W[S + m * m + r] += (inertia.m_inv * row.force) @ row.force + (inertia.J_inv @ row.torque) @ row.torque
    factor_cut_schur(system)
    solve_with_factor(Numbers(W, S), Numbers(W, I[W_RHS]), m)
    for r in range(m):
        for c in range(nu):
            W[y + c] += W[I[W_RHS] + r] * W[Y + nu * r + c]


@inline
def back_substitute(system):
    """The last row <- L^-T y, also stored as the accelerations of the columns; returns where it lies."""
    I, W = system.I, system.W
    nu, K = I[NU], reduced_matrix(system)
    y = K + nu * (nu + I[M])
    for i in range(nu - 1, -1, -1):
        v = W[y + i]
        for k in range(i + 1, nu):
            v -= W[uintp(K + nu * k + i)] * W[uintp(y + k)]
        W[y + i] = v * W[K + nu * i + i]
        W[I[W_COL] + COL_W * i + K_ACC] = W[y + i]
    return y


@inline
def subtract_inertia(bias, system):
    """W_H -= M B' u + D M B u, with B' u at W[bias]."""
    I, F, W = system.I, system.F, system.W
    for k in range(1, I[NB] + 1):
        h, m = I[W_H] + 6 * k, I[MASS_F] + METRIC_W * k
        J, w = load6(F, m + MJ), load3(W, I[W_BODY] + STATE_W * k + S_W)
        turning = add3(sym_mul(J, load3(W, bias + 6 * k + 3)), cross(w, sym_mul(J, w)))
        store3(W, h, axpy3(-F[m + MM], load3(W, bias + 6 * k), load3(W, h)))
        store3(W, h + 3, sub3(load3(W, h + 3), turning))
