"""Relative coordinates: joint axes, angular velocities, columns and biases of a tree of bodies, from the root outwards.

A body hangs on its parent by a joint with rotations (an angle about z, two angles of a cross, or a unit quaternion with the
relative angular velocity in the child's joint axes) and translations along axes of the parent's joint frame:

    C_c = C_p E R(q)              x_c = x_p + d,  d = C_p D + sum e_k q_k
    w_c = w_p + sum n_k u_k       v_c = v_p + w_p x d + sum e_k u_k

C are the joint axes of a body, R = C E_c^T its own; x, v belong to its joint point, from which its centre of mass is c away.
Accelerations of the child: those of the parent carried over, plus the columns times u', plus a bias [MovingFrame, (2.31)].
"""

import numpy as np
from numpy import uintp

from dalembert.kernels.base.algebra import (
    add3,
    axpy3,
    cross,
    dot3,
    euler_parameter_rates,
    load3,
    load4,
    load9,
    matmul,
    mul,
    mul_t,
    normalise4,
    rotation_matrix,
    scale3,
    store3,
    store4,
    store9,
    sub3,
    transpose,
)
from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.tables import (
    COL_W,
    K_ACC,
    K_S,
    NB,
    NQ,
    ONE_ANGLE,
    ORDER_I,
    QUATERNION,
    R_AXIS,
    R_COL,
    R_NROT,
    R_NTRANS,
    R_PARENT,
    R_Q,
    R_SKEW,
    R_TURN,
    R_TURNED,
    R_U,
    RF_A,
    RF_B,
    RF_C,
    RF_D,
    RF_EC,
    RF_J,
    RF_M,
    RF_TURN,
    S_R,
    S_ROT,
    S_V,
    S_W,
    STATE_W,
    TREE_F,
    TREE_F_W,
    TREE_I,
    TREE_I_W,
    TREE_W,
    TWO_ANGLES,
    W_BODY,
    W_COL,
    W_TREE,
    X_BIAS,
    X_C,
    X_D,
    X_H,
    X_J,
    X_M,
    X_P,
    X_ROT,
    X_TH,
    X_W,
)

UNIT = 1e-6  # deviation of a quaternion from unit length that is let be


@inline
def product4(a, b):
    """Quaternion product a b."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inline
def column(A, k):
    """Column k of a mat3."""
    if k == 0:
        return A[0], A[3], A[6]
    if k == 1:
        return A[1], A[4], A[7]
    return A[2], A[5], A[8]


@inline
def move_tree(x, dx, system):
    """W_TREE, W_COL <- joint axes, twists, arms, columns, biases and own inertias of all bodies; dx_q <- N(q) u."""
    I, F, W = system.I, system.F, system.W
    nq, order, first = I[NQ], I[ORDER_I], I[W_TREE]
    store4(W, first + X_TH, (1.0, 0.0, 0.0, 0.0))
    store9(W, first + X_ROT, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    store3(W, first + X_W, (0.0, 0.0, 0.0))
    for at in range(I[NB]):
        b = I[uintp(order + at)]
        k, f = I[TREE_I] + TREE_I_W * b, I[TREE_F] + TREE_F_W * b
        turn, q, u = I[uintp(k + R_TURN)], I[uintp(k + R_Q)], nq + I[uintp(k + R_U)]
        t, tp = first + TREE_W * b, first + TREE_W * I[uintp(k + R_PARENT)]
        th, w_p = load4(W, tp + X_TH), load3(W, tp + X_W)
        d, sliding = mul(load9(W, tp + X_ROT), load3(F, f + RF_D)), (0.0, 0.0, 0.0)
        if I[uintp(k + R_TURNED)] != 0:
            th = product4(th, load4(F, f + RF_TURN))
        if turn == QUATERNION:
            theta, w_B = load4(x, q), load3(x, u)
            store4(dx, q, euler_parameter_rates(theta, w_B))
            joint, th = th, product4(th, theta)
            C = rotation_matrix(th)
            w_rel, extra = mul(C, w_B), (0.0, 0.0, 0.0)
        else:
            joint = th
            th, C, w_rel, extra = turn_by_angles(turn, th, x, dx, q, u, I[W_COL] + COL_W * I[k + R_COL], W)
        if I[uintp(k + R_NTRANS)] > 0:
            d, sliding = slide(k, joint, C, d, x, dx, system)
        w = add3(w_p, w_rel)
        store4(W, t + X_TH, th)
        store9(W, t + X_ROT, C)
        store3(W, t + X_W, w)
        store3(W, t + X_D, d)
        store3(W, t + X_BIAS, add3(cross(w_p, w_rel), extra))
        store3(W, t + X_BIAS + 3, cross(w_p, axpy3(2.0, sliding, cross(w_p, d))))
        own_inertia(t, f, C, w, system)


@inline
def turn_by_angles(turn, th, x, dx, q, u, col, W):
    """(theta, C, w_rel, bias) of joints that turn by angles: Rz(q), Rx(q_1) Ry(q_2), or not at all; their columns."""
    if turn == ONE_ANGLE:
        th = product4(th, (np.cos(0.5 * x[q]), 0.0, 0.0, np.sin(0.5 * x[q])))
        C = rotation_matrix(th)
        n = column(C, 2)
        store3(W, col + K_S, n)
        dx[q] = x[u]
        return th, C, scale3(x[u], n), (0.0, 0.0, 0.0)
    if turn == TWO_ANGLES:
        th = product4(th, (np.cos(0.5 * x[q]), np.sin(0.5 * x[q]), 0.0, 0.0))
        th = product4(th, (np.cos(0.5 * x[q + 1]), 0.0, np.sin(0.5 * x[q + 1]), 0.0))
        C = rotation_matrix(th)
        n, n_2 = axpy3(np.cos(x[q + 1]), column(C, 0), scale3(np.sin(x[q + 1]), column(C, 2))), column(C, 1)
        store3(W, col + K_S, n)
        store3(W, col + COL_W + K_S, n_2)
        dx[q], dx[q + 1] = x[u], x[u + 1]
        return th, C, axpy3(x[u], n, scale3(x[u + 1], n_2)), scale3(x[u] * x[u + 1], cross(n, n_2))
    return th, rotation_matrix(th), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


@inline
def slide(k, joint, C, d, x, dx, system):
    """(d, relative velocity) with the translations of the joint, whose axes are those of the quaternion `joint`."""
    I, W = system.I, system.W
    E, sliding, col = rotation_matrix(joint), (0.0, 0.0, 0.0), I[W_COL] + COL_W * I[k + R_COL]
    q, u = I[k + R_Q] + I[k + R_NROT], I[NQ] + I[k + R_U] + I[k + R_NROT]
    if I[k + R_TURN] == QUATERNION:  # a free body: its three columns of rotation are in general place
        q += 1
        for j in range(3):
            store3(W, col + COL_W * j + K_S, column(C, j))
    col += COL_W * I[k + R_NROT]
    for j in range(I[k + R_NTRANS]):
        e = column(E, I[k + R_AXIS + j])
        store3(W, col + COL_W * j + K_S, e)
        d, sliding = axpy3(x[q + j], e, d), axpy3(x[u + j], e, sliding)
        dx[q + j] = x[u + j]
    return d, sliding


@flat
def own_inertia(t, f, C, w, system):
    """Inertia and velocity-dependent force of one body about its joint point: J = J_0 1 + a a^T + b b^T, H = m c^, M = m 1,
    p = (w x J w, m w x (w x c))."""
    F, W = system.F, system.W
    c, a, b = mul(C, load3(F, f + RF_C)), mul(C, load3(F, f + RF_A)), mul(C, load3(F, f + RF_B))
    J_0, m = F[uintp(f + RF_J)], F[uintp(f + RF_M)]
    h = scale3(m, c)
    zero = h[0] - h[0]  # of their type, lanes among others
    store3(W, t + X_C, c)
    store3(W, t + X_J, (J_0 + a[0] * a[0] + b[0] * b[0], a[0] * a[1] + b[0] * b[1], a[0] * a[2] + b[0] * b[2]))
    store3(W, t + X_J + 3, (J_0 + a[1] * a[1] + b[1] * b[1], a[1] * a[2] + b[1] * b[2], J_0 + a[2] * a[2] + b[2] * b[2]))
    store9(W, t + X_H, (zero, -h[2], h[1], h[2], zero, -h[0], -h[1], h[0], zero))
    store3(W, t + X_M, (m, 0.0, 0.0))
    store3(W, t + X_M + 3, (m, 0.0, m))
    store3(W, t + X_P, cross(w, axpy3(dot3(a, w), a, scale3(dot3(b, w), b))))  # w x J_0 w = 0
    store3(W, t + X_P + 3, cross(w, cross(w, h)))


@inline
def place_bodies(x, system):
    """W_BODY <- pose and twist of all bodies, for forces and constraint rows."""
    I, F, W = system.I, system.F, system.W
    for at in range(I[NB]):
        b = I[I[ORDER_I] + at]
        k, t = I[TREE_I] + TREE_I_W * b, I[W_TREE] + TREE_W * b
        p = I[k + R_PARENT]
        tp, s, sp = I[W_TREE] + TREE_W * p, I[W_BODY] + STATE_W * b, I[W_BODY] + STATE_W * p
        R, w, w_p, c = load9(W, t + X_ROT), load3(W, t + X_W), load3(W, tp + X_W), load3(W, t + X_C)
        if I[k + R_SKEW] != 0:
            R = matmul(R, transpose(load9(F, I[TREE_F] + TREE_F_W * b + RF_EC)))
        arm = load3(W, t + X_D)  # from the parent's centre of mass to the joint point
        if p > 0:
            arm = sub3(arm, load3(W, tp + X_C))
        v = add3(add3(load3(W, sp + S_V), cross(w_p, arm)), cross(w, c))
        u = I[NQ] + I[k + R_U] + I[k + R_NROT]
        for j in range(I[k + R_NTRANS]):
            v = axpy3(x[u + j], load3(W, I[W_COL] + COL_W * (I[k + R_COL] + I[k + R_NROT] + j) + K_S), v)
        store3(W, s + S_R, add3(load3(W, sp + S_R), add3(arm, c)))
        store9(W, s + S_ROT, R)
        store3(W, s + S_V, v)
        store3(W, s + S_W, mul_t(R, w))


@inline
def displace_tree(level, x, scale, system):
    """Level 0: q <- q (+) scale u', level 1: u <- u + scale u', with the columns' accelerations as displacement."""
    I, W = system.I, system.W
    nq = I[NQ]
    for b in range(1, I[NB] + 1):
        k = I[TREE_I] + TREE_I_W * b
        q, u, col = I[k + R_Q], nq + I[k + R_U], I[W_COL] + COL_W * I[k + R_COL] + K_ACC
        count, first = I[k + R_NROT] + I[k + R_NTRANS], 0
        if level == 1:
            q = u
        elif I[k + R_TURN] == QUATERNION:
            th = load4(x, q)
            d = (scale * W[col], scale * W[col + COL_W], scale * W[col + 2 * COL_W])
            r = euler_parameter_rates(th, d)
            store4(x, q, normalise4((th[0] + r[0], th[1] + r[1], th[2] + r[2], th[3] + r[3])))
            q, first = q + 1, 3
        for j in range(first, count):
            x[q + j] += scale * W[col + COL_W * j]


@inline
def normalise_tree(x, system):
    """Unit quaternions, but only where a length is off by UNIT: no result depends on it, and theta' is linear in theta, so a
    method that keeps quadratic invariants (Gauss-Legendre) is left to keep this one [MovingFrame, 3.1]."""
    I = system.I
    for b in range(1, I[NB] + 1):
        k = I[TREE_I] + TREE_I_W * b
        if I[k + R_TURN] == QUATERNION:
            th = load4(x, I[k + R_Q])
            if abs(th[0] * th[0] + th[1] * th[1] + th[2] * th[2] + th[3] * th[3] - 1.0) > 2.0 * UNIT:
                store4(x, I[k + R_Q], normalise4(th))
