"""The O(n) articulated-body recursion on a tree [Featherstone2008, 7.3], in world axes about the centres of mass.

    f = I^A a + p       a = (angular, linear) acceleration of the centre of mass, I^A = [J H; H^T M]

Each joint column s is eliminated by a rank-one update: U = I s, d = s . U, I <- I - U U^T / d, p <- p + U (tau - s . p) / d;
then I and p are carried to the parent, whose accelerations reach the child as a_c = a_p + (angular x) d + bias.
Inertias are factored once per state; each right-hand side (forces, one row of a loop) then costs two sweeps.
"""

from numpy import uintp

from dalembert.kernels.algebra import (
    add3,
    axpy3,
    cross,
    load3,
    load6,
    load9,
    matmul,
    mul,
    mul_t,
    store3,
    store9,
    sub3,
    sym_mul,
    transpose,
)
from dalembert.kernels.compiler import inline
from dalembert.kernels.solve import dot6
from dalembert.kernels.tables import (
    COL_W,
    K_ACC,
    K_D,
    K_E,
    K_S,
    K_U,
    MASS_F,
    METRIC_W,
    MJ,
    MM,
    NB,
    ORDER_I,
    R_COL,
    R_NROT,
    R_NTRANS,
    R_PARENT,
    S_R,
    S_ROT,
    STATE_W,
    TREE_I,
    TREE_I_W,
    TREE_W,
    W_ACC,
    W_BODY,
    W_COL,
    W_TREE,
    X_A,
    X_BIAS,
    X_H,
    X_J,
    X_M,
    X_P,
)


@inline
def store6(a, k, v):
    store3(a, k, (v[0], v[1], v[2]))
    store3(a, k + 3, (v[3], v[4], v[5]))


@inline
def apply_inertia(t, w, v, W):
    """(J w + H v, H^T w + M v)"""
    J, H, M = load6(W, t + X_J), load9(W, t + X_H), load6(W, t + X_M)
    return add3(sym_mul(J, w), mul(H, v)), add3(mul_t(H, w), sym_mul(M, v))


@inline
def start_inertias(I, F, W):
    """Own inertias of all bodies in world axes."""
    for b in range(1, I[NB] + 1):
        t, m = I[W_TREE] + TREE_W * b, I[MASS_F] + METRIC_W * b
        R = load9(W, I[W_BODY] + STATE_W * b + S_ROT)
        J = load6(F, m + MJ)
        RJ = matmul(R, (J[0], J[1], J[2], J[1], J[3], J[4], J[2], J[4], J[5]))
        A = matmul(RJ, transpose(R))
        store6(W, t + X_J, (A[0], A[1], A[2], A[4], A[5], A[8]))
        store9(W, t + X_H, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        store6(W, t + X_M, (F[m + MM], 0.0, 0.0, F[m + MM], 0.0, F[m + MM]))


@inline
def factor_tree(I, W):
    """Eliminate all columns from the leaves inwards: K_U, K_D; X_J, X_H, X_M become what the parent feels."""
    for at in range(I[NB] - 1, -1, -1):
        b = I[I[ORDER_I] + at]
        k = I[TREE_I] + TREE_I_W * b
        t, col = I[W_TREE] + TREE_W * b, I[W_COL] + COL_W * I[k + R_COL]
        for _ in range(I[k + R_NROT] + I[k + R_NTRANS]):
            s_w, s_v = load3(W, col + K_S), load3(W, col + K_S + 3)
            U_w, U_v = apply_inertia(t, s_w, s_v, W)
            store3(W, col + K_U, U_w)
            store3(W, col + K_U + 3, U_v)
            d = 1.0 / (
                s_w[0] * U_w[0] + s_w[1] * U_w[1] + s_w[2] * U_w[2] + s_v[0] * U_v[0] + s_v[1] * U_v[1] + s_v[2] * U_v[2]
            )
            W[col + K_D] = d
            rank_one(t, U_w, U_v, d, W)
            col += COL_W
        p = I[k + R_PARENT]
        if p > 0:
            carry_inertia(t, I[W_TREE] + TREE_W * p, arm_to(b, p, I, W), W)


@inline
def rank_one(t, w, v, d, W):
    """I <- I - d U U^T"""
    a = (-d * w[0], -d * w[1], -d * w[2])
    c = (-d * v[0], -d * v[1], -d * v[2])
    J, M = t + X_J, t + X_M
    W[uintp(J)] += a[0] * w[0]
    W[uintp(J + 1)] += a[0] * w[1]
    W[uintp(J + 2)] += a[0] * w[2]
    W[uintp(J + 3)] += a[1] * w[1]
    W[uintp(J + 4)] += a[1] * w[2]
    W[uintp(J + 5)] += a[2] * w[2]
    W[uintp(M)] += c[0] * v[0]
    W[uintp(M + 1)] += c[0] * v[1]
    W[uintp(M + 2)] += c[0] * v[2]
    W[uintp(M + 3)] += c[1] * v[1]
    W[uintp(M + 4)] += c[1] * v[2]
    W[uintp(M + 5)] += c[2] * v[2]
    for i in range(3):
        h = t + X_H + 3 * i
        W[uintp(h)] += a[i] * v[0]
        W[uintp(h + 1)] += a[i] * v[1]
        W[uintp(h + 2)] += a[i] * v[2]


@inline
def arm_to(b, p, I, W):
    """From the parent's centre of mass to the body's, world axes."""
    return sub3(load3(W, I[W_BODY] + STATE_W * b + S_R), load3(W, I[W_BODY] + STATE_W * p + S_R))


@inline
def carry_inertia(t, tp, d, W):
    """Parent += J - H d^ + d^ (H^T - M d^), H + d^ M, M  for the arm d.

    Rows of A d^ are a x d, columns of d^ A are d x a, and d^ H^T = -(H d^)^T.
    """
    J, H, M = load6(W, t + X_J), load9(W, t + X_H), load6(W, t + X_M)
    k0, k1, k2 = cross(d, (M[0], M[1], M[2])), cross(d, (M[1], M[3], M[4])), cross(d, (M[2], M[4], M[5]))  # columns of d^ M
    h0, h1, h2 = cross((H[0], H[1], H[2]), d), cross((H[3], H[4], H[5]), d), cross((H[6], H[7], H[8]), d)  # rows of H d^
    c0, c1, c2 = cross((k0[0], k1[0], k2[0]), d), cross((k0[1], k1[1], k2[1]), d), cross((k0[2], k1[2], k2[2]), d)  # d^ M d^
    o, h, m = tp + X_J, tp + X_H, tp + X_M
    W[uintp(o)] += J[0] - h0[0] - h0[0] - c0[0]
    W[uintp(o + 1)] += J[1] - h0[1] - h1[0] - c0[1]
    W[uintp(o + 2)] += J[2] - h0[2] - h2[0] - c0[2]
    W[uintp(o + 3)] += J[3] - h1[1] - h1[1] - c1[1]
    W[uintp(o + 4)] += J[4] - h1[2] - h2[1] - c1[2]
    W[uintp(o + 5)] += J[5] - h2[2] - h2[2] - c2[2]
    for i in range(3):
        W[uintp(h + 3 * i)] += H[3 * i] + k0[i]
        W[uintp(h + 3 * i + 1)] += H[3 * i + 1] + k1[i]
        W[uintp(h + 3 * i + 2)] += H[3 * i + 2] + k2[i]
    for i in range(6):
        W[uintp(m + i)] += M[i]


@inline
def solve_tree(h, bias, I, W):
    """Column accelerations K_ACC and W_ACC <- (v', w_B') for the wrenches (force world, torque body) at W[h + 6 b].

    bias : 1.0 with the accelerations that velocities cause, 0.0 without (response to a row of a loop)
    """
    for b in range(1, I[NB] + 1):
        t = I[W_TREE] + TREE_W * b
        R = load9(W, I[W_BODY] + STATE_W * b + S_ROT)
        store3(W, t + X_P, mul(R, (-W[h + 6 * b + 3], -W[h + 6 * b + 4], -W[h + 6 * b + 5])))
        store3(W, t + X_P + 3, (-W[h + 6 * b], -W[h + 6 * b + 1], -W[h + 6 * b + 2]))
    for at in range(I[NB] - 1, -1, -1):
        b = I[I[ORDER_I] + at]
        k = I[TREE_I] + TREE_I_W * b
        t, col = I[W_TREE] + TREE_W * b, I[W_COL] + COL_W * I[k + R_COL]
        p_w, p_v = load3(W, t + X_P), load3(W, t + X_P + 3)
        for _ in range(I[k + R_NROT] + I[k + R_NTRANS]):
            e = -dot6(load6(W, col + K_S), p_w + p_v)
            W[col + K_E] = e
            p_w = axpy3(e * W[col + K_D], load3(W, col + K_U), p_w)
            p_v = axpy3(e * W[col + K_D], load3(W, col + K_U + 3), p_v)
            col += COL_W
        p = I[k + R_PARENT]
        if p > 0:
            if bias != 0.0:
                c_w, c_v = apply_inertia(t, load3(W, t + X_BIAS), load3(W, t + X_BIAS + 3), W)
                p_w, p_v = add3(p_w, c_w), add3(p_v, c_v)
            d, tp = arm_to(b, p, I, W), I[W_TREE] + TREE_W * p + X_P
            p_w = add3(p_w, cross(d, p_v))
            for i in range(3):
                W[tp + i] += p_w[i]
                W[tp + 3 + i] += p_v[i]
    for at in range(I[NB]):
        b = I[I[ORDER_I] + at]
        k = I[TREE_I] + TREE_I_W * b
        p, t = I[k + R_PARENT], I[W_TREE] + TREE_W * b
        a_w, a_v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if p > 0:
            tp = I[W_TREE] + TREE_W * p + X_A
            a_w = load3(W, tp)
            a_v = add3(load3(W, tp + 3), cross(a_w, arm_to(b, p, I, W)))
        if bias != 0.0:
            a_w, a_v = add3(a_w, load3(W, t + X_BIAS)), add3(a_v, load3(W, t + X_BIAS + 3))
        count = I[k + R_NROT] + I[k + R_NTRANS]
        for j in range(count - 1, -1, -1):
            col = I[W_COL] + COL_W * (I[k + R_COL] + j)
            acc = (W[col + K_E] - dot6(load6(W, col + K_U), a_w + a_v)) * W[col + K_D]
            W[col + K_ACC] = acc
            a_w = axpy3(acc, load3(W, col + K_S), a_w)
            a_v = axpy3(acc, load3(W, col + K_S + 3), a_v)
        store3(W, t + X_A, a_w)
        store3(W, t + X_A + 3, a_v)
        store3(W, I[W_ACC] + 6 * b, a_v)
        store3(W, I[W_ACC] + 6 * b + 3, mul_t(load9(W, I[W_BODY] + STATE_W * b + S_ROT), a_w))
