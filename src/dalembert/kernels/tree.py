"""Relative coordinates: poses, twists, joint columns and biases of a tree of bodies, from the root outwards.

A body hangs on its parent by a joint with rotations (an angle about z, two angles of a cross, or a unit quaternion with the
relative angular velocity in the child's joint axes) and translations along axes of the parent's joint frame:

    R_c = R_p E_p R(q) E_c^T      x = r_p + R_p p_p + sum e_k q_k      r_c = x - R_c p_c
    w_c = w_p + sum n_k u_k       v_c = v_p + w_p x (x - r_p) + sum e_k u_k + w_c x (r_c - x)

Accelerations of the child: those of the parent carried over, plus the columns times u', plus a bias [MovingFrame, (2.31)].
"""

import numpy as np

from dalembert.kernels.algebra import (
    add3,
    axpy3,
    cross,
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
    transpose,
)
from dalembert.kernels.compiler import inline
from dalembert.kernels.tables import (
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
    R_TURN,
    R_U,
    RF_EC,
    RF_EP,
    RF_PC,
    RF_PP,
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
    X_W,
)


@inline
def relative_rotation(turn, x, q):
    """R(q) of a joint: Rz(q), Rx(q_1) Ry(q_2), or that of a quaternion."""
    if turn == QUATERNION:
        return rotation_matrix(load4(x, q))
    if turn == ONE_ANGLE:
        c, s = np.cos(x[q]), np.sin(x[q])
        return c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0
    if turn == TWO_ANGLES:
        ca, sa, cb, sb = np.cos(x[q]), np.sin(x[q]), np.cos(x[q + 1]), np.sin(x[q + 1])
        return cb, 0.0, sb, sa * sb, ca, -sa * cb, -ca * sb, sa, ca * cb
    return 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0


@inline
def column(A, k):
    """Column k of a mat3."""
    if k == 0:
        return A[0], A[3], A[6]
    if k == 1:
        return A[1], A[4], A[7]
    return A[2], A[5], A[8]


@inline
def load_tree(x, I, F, W):
    """W_BODY, W_TREE, W_COL <- poses, twists, columns and biases of all bodies."""
    nq = I[NQ]
    for at in range(I[NB]):
        b = I[I[ORDER_I] + at]
        k, f = I[TREE_I] + TREE_I_W * b, I[TREE_F] + TREE_F_W * b
        p, turn, q, u = I[k + R_PARENT], I[k + R_TURN], I[k + R_Q], nq + I[k + R_U]
        sp, s = I[W_BODY] + STATE_W * p, I[W_BODY] + STATE_W * b
        tree, col = I[W_TREE] + TREE_W * b, I[W_COL] + COL_W * I[k + R_COL]
        R_p, r_p, w_p = load9(W, sp + S_ROT), load3(W, sp + S_R), load3(W, I[W_TREE] + TREE_W * p + X_W)
        E_p, E_c = matmul(R_p, load9(F, f + RF_EP)), load9(F, f + RF_EC)
        C = matmul(E_p, relative_rotation(turn, x, q))  # the child's joint axes
        R = matmul(C, transpose(E_c))
        arm = scale3(-1.0, mul(R, load3(F, f + RF_PC)))  # from the joint point to the centre of mass
        w_rel, turning = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for j in range(I[k + R_NROT]):
            n = column(E_p, 2) if turn == ONE_ANGLE else column(C, j)
            if turn == TWO_ANGLES and j == 0:
                n = column(E_p, 0)
            store3(W, col + K_S, n)
            store3(W, col + K_S + 3, cross(n, arm))
            carrier = w_p if j == 0 or turn != TWO_ANGLES else add3(w_p, w_rel)
            turning = add3(turning, scale3(x[u + j], cross(carrier, n)))
            w_rel = axpy3(x[u + j], n, w_rel)
            col += COL_W
        w = add3(w_p, w_rel)
        u += I[k + R_NROT]
        q += 4 if turn == QUATERNION else I[k + R_NROT]
        reach, sliding = mul(R_p, load3(F, f + RF_PP)), (0.0, 0.0, 0.0)
        for j in range(I[k + R_NTRANS]):
            e = column(E_p, I[k + R_AXIS + j])
            store3(W, col + K_S, (0.0, 0.0, 0.0))
            store3(W, col + K_S + 3, e)
            reach = axpy3(x[q + j], e, reach)
            sliding = axpy3(x[u + j], e, sliding)
            col += COL_W
        store3(W, s + S_R, add3(r_p, add3(reach, arm)))
        store9(W, s + S_ROT, R)
        store3(W, s + S_W, mul_t(R, w))
        store3(W, s + S_V, add3(add3(load3(W, sp + S_V), cross(w_p, reach)), add3(sliding, cross(w, arm))))
        store3(W, tree + X_W, w)
        store3(W, tree + X_BIAS, turning)
        parent = cross(w_p, axpy3(2.0, sliding, cross(w_p, reach)))
        store3(W, tree + X_BIAS + 3, add3(parent, add3(cross(turning, arm), cross(w, cross(w, arm)))))


@inline
def store_tree_rates(x, dx, I, F, W):
    """dx_q <- N(q) u and dx_u <- the accelerations of the columns."""
    nq = I[NQ]
    for b in range(1, I[NB] + 1):
        k = I[TREE_I] + TREE_I_W * b
        q, u, col = I[k + R_Q], nq + I[k + R_U], I[W_COL] + COL_W * I[k + R_COL]
        count = I[k + R_NROT] + I[k + R_NTRANS]
        for j in range(count):
            dx[u + j] = W[col + COL_W * j + K_ACC]
        first = 0
        if I[k + R_TURN] == QUATERNION:
            store4(dx, q, euler_parameter_rates(load4(x, q), load3(x, u)))
            q, first = q + 1, 3
        for j in range(first, count):
            dx[q + j] = x[u + j]


@inline
def displace_tree(level, x, scale, I, F, W):
    """Level 0: q <- q (+) scale u', level 1: u <- u + scale u', with the columns' accelerations as displacement."""
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
def normalise_tree(x, I):
    """Unit quaternions, for formulations that project."""
    for b in range(1, I[NB] + 1):
        k = I[TREE_I] + TREE_I_W * b
        if I[k + R_TURN] == QUATERNION:
            store4(x, I[k + R_Q], normalise4(load4(x, I[k + R_Q])))
