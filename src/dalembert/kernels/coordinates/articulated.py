"""The O(n) articulated-body recursion on a tree [Featherstone2008, 7.3], in world axes about the joint points.

    f = I^A a + p       a = (angular, linear) acceleration of the joint point, I^A = [J H; H^T M]

Each joint column s is eliminated by a rank-one update: U = I s, d = s . U, I <- I - U U^T / d, p <- p + U (tau - s . p) / d;
then I and p are carried to the parent, whose accelerations reach the child as a_c = a_p + (angular x) d + bias.
The columns of a ball joint span all rotations about its point, so the world axes serve as well: their elimination is that of
J = L D L^T, leaves M - Y^T D^-1 Y with Y = L^-1 H alone to be carried, and gives the angular acceleration back.
Inertias are factored once per state, with the forces of the motion; each further right-hand side (a row of a loop) costs
two sweeps. Gravity is an acceleration of the ground [Featherstone2008, 5.3].
"""

from numpy import uintp

from dalembert.kernels.base.algebra import (
    add3,
    add_to3,
    axpy3,
    cross,
    dot3,
    load3,
    load6,
    load9,
    mul,
    mul_t,
    scale3,
    store3,
    store9,
    sub3,
    sym_mul,
)
from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.tables import (
    COL_W,
    GRAVITY_X,
    K_D,
    K_E,
    K_S,
    K_U,
    NB,
    ORDER_I,
    QUATERNION,
    R_COL,
    R_NROT,
    R_NTRANS,
    R_PARENT,
    R_TURN,
    R_U,
    S_ROT,
    STATE_W,
    TREE_I,
    TREE_I_W,
    TREE_W,
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
    X_W,
)


@inline
def eliminate_tree(system):
    """From the leaves inwards: own inertias and forces in X_J .. X_P become what each parent feels; factors are kept."""
    I, W = system.I, system.W
    order, first = I[ORDER_I], I[W_TREE]
    for at in range(I[NB] - 1, -1, -1):
        b = I[uintp(order + at)]
        k, t = I[TREE_I] + TREE_I_W * b, first + TREE_W * b
        p = I[uintp(k + R_PARENT)]
        if I[uintp(k + R_TURN)] == QUATERNION and I[uintp(k + R_NTRANS)] == 0:
            M, p_v = eliminate_ball(t, W)
        else:
            M, p_v = eliminate_columns(k, t, first + TREE_W * p, system)
        if p > 0:
            carry(t, first + TREE_W * p, M, p_v, W)


@flat
def eliminate_ball(t, W):
    """(M, p_v) left of a body on a ball joint. X_J <- L (3 numbers), D^-1 (3); X_H <- Y; X_P <- L^-1 p_w.

    The pivots are quotients of integer-preserving elimination [GolubVanLoan2013, 3.2]: their divisions wait for nothing.
    """
    J, H, p_w = load6(W, t + X_J), load9(W, t + X_H), load3(W, t + X_P)
    a, b, c = J[0] * J[3] - J[1] * J[1], J[0] * J[4] - J[1] * J[2], J[0] * J[5] - J[2] * J[2]
    i_0, a_inverse, i_2 = 1.0 / J[0], 1.0 / a, (J[0] * a) / (a * c - b * b)
    l_1, l_2, l_3, i_1 = J[1] * i_0, J[2] * i_0, b * a_inverse, J[0] * a_inverse
    y_0 = (H[0], H[1], H[2])
    y_1 = axpy3(-l_1, y_0, (H[3], H[4], H[5]))
    y_2 = axpy3(-l_3, y_1, axpy3(-l_2, y_0, (H[6], H[7], H[8])))
    e_0 = p_w[0]
    e_1 = p_w[1] - l_1 * e_0
    e_2 = p_w[2] - l_2 * e_0 - l_3 * e_1
    store3(W, t + X_J, (l_1, l_2, l_3))
    store3(W, t + X_J + 3, (i_0, i_1, i_2))
    store9(W, t + X_H, y_0 + y_1 + y_2)
    store3(W, t + X_P, (e_0, e_1, e_2))
    z_0, z_1, z_2 = scale3(i_0, y_0), scale3(i_1, y_1), scale3(i_2, y_2)
    M = load6(W, t + X_M)
    M = (
        M[0] - z_0[0] * y_0[0] - z_1[0] * y_1[0] - z_2[0] * y_2[0],
        M[1] - z_0[0] * y_0[1] - z_1[0] * y_1[1] - z_2[0] * y_2[1],
        M[2] - z_0[0] * y_0[2] - z_1[0] * y_1[2] - z_2[0] * y_2[2],
        M[3] - z_0[1] * y_0[1] - z_1[1] * y_1[1] - z_2[1] * y_2[1],
        M[4] - z_0[1] * y_0[2] - z_1[1] * y_1[2] - z_2[1] * y_2[2],
        M[5] - z_0[2] * y_0[2] - z_1[2] * y_1[2] - z_2[2] * y_2[2],
    )
    return M, axpy3(-e_0, z_0, axpy3(-e_1, z_1, axpy3(-e_2, z_2, load3(W, t + X_P + 3))))


@inline
def eliminate_columns(k, t, tp, system):
    """(M, p_v) left of a body on any other joint, column by column; K_U, K_D, K_E.

    Parent += (J - H d^ - (H d^)^T, H): what is left of J and H is carried here, M and p_v by the caller.
    """
    I, W = system.I, system.W
    J, H, M = load6(W, t + X_J), load9(W, t + X_H), load6(W, t + X_M)
    p_w, p_v = load3(W, t + X_P), load3(W, t + X_P + 3)
    rotations, col = I[k + R_NROT], I[W_COL] + COL_W * I[k + R_COL]
    for j in range(rotations + I[k + R_NTRANS]):
        s = load3(W, col + K_S)
        if j < rotations:
            w, v, e = sym_mul(J, s), mul_t(H, s), -dot3(s, p_w)
            d = 1.0 / dot3(s, w)
        else:
            w, v, e = mul(H, s), sym_mul(M, s), -dot3(s, p_v)
            d = 1.0 / dot3(s, v)
        store3(W, col + K_U, w)
        store3(W, col + K_U + 3, v)
        W[col + K_D], W[col + K_E] = d, e
        p_w, p_v = axpy3(e * d, w, p_w), axpy3(e * d, v, p_v)
        a, c = scale3(-d, w), scale3(-d, v)
        J = (
            J[0] + a[0] * w[0],
            J[1] + a[0] * w[1],
            J[2] + a[0] * w[2],
            J[3] + a[1] * w[1],
            J[4] + a[1] * w[2],
            J[5] + a[2] * w[2],
        )
        M = (
            M[0] + c[0] * v[0],
            M[1] + c[0] * v[1],
            M[2] + c[0] * v[2],
            M[3] + c[1] * v[1],
            M[4] + c[1] * v[2],
            M[5] + c[2] * v[2],
        )
        H = axpy3(a[0], v, H[0:3]) + axpy3(a[1], v, H[3:6]) + axpy3(a[2], v, H[6:9])
        col += COL_W
    if I[k + R_PARENT] == 0:
        return M, p_v
    d, b_w, b_v = load3(W, t + X_D), load3(W, t + X_BIAS), load3(W, t + X_BIAS + 3)
    h_0, h_1, h_2 = cross(H[0:3], d), cross(H[3:6], d), cross(H[6:9], d)  # rows of H d^
    add_to3(W, tp + X_J, (J[0] - h_0[0] - h_0[0], J[1] - h_0[1] - h_1[0], J[2] - h_0[2] - h_2[0]))
    add_to3(W, tp + X_J + 3, (J[3] - h_1[1] - h_1[1], J[4] - h_1[2] - h_2[1], J[5] - h_2[2] - h_2[2]))
    for i in range(9):
        W[uintp(tp + X_H + i)] += H[i]
    add_to3(W, tp + X_P, add3(p_w, add3(sym_mul(J, b_w), mul(H, b_v))))
    return M, add3(p_v, mul_t(H, b_w))


@flat
def carry(t, tp, M, p_v, W):
    """Parent += (-d^ M d^, d^ M, M) and the force with its moment, for a mass M at the arm d. Columns of d^ M are d x M."""
    d = load3(W, t + X_D)
    p_v = add3(p_v, sym_mul(M, load3(W, t + X_BIAS + 3)))
    k_0, k_1, k_2 = cross(d, (M[0], M[1], M[2])), cross(d, (M[1], M[3], M[4])), cross(d, (M[2], M[4], M[5]))
    o, h, m = tp + X_J, tp + X_H, tp + X_M
    W[uintp(o)] += k_2[0] * d[1] - k_1[0] * d[2]
    W[uintp(o + 1)] += k_0[0] * d[2] - k_2[0] * d[0]
    W[uintp(o + 2)] += k_1[0] * d[0] - k_0[0] * d[1]
    W[uintp(o + 3)] += k_0[1] * d[2] - k_2[1] * d[0]
    W[uintp(o + 4)] += k_1[1] * d[0] - k_0[1] * d[1]
    W[uintp(o + 5)] += k_1[2] * d[0] - k_0[2] * d[1]
    add_to3(W, h, (k_0[0], k_1[0], k_2[0]))
    add_to3(W, h + 3, (k_0[1], k_1[1], k_2[1]))
    add_to3(W, h + 6, (k_0[2], k_1[2], k_2[2]))
    add_to3(W, m, (M[0], M[1], M[2]))
    add_to3(W, m + 3, (M[3], M[4], M[5]))
    add_to3(W, tp + X_P, cross(d, p_v))
    add_to3(W, tp + X_P + 3, p_v)


@inline
def subtract_wrench(b, h, system):
    """X_P of body b -= the wrench (force world, torque body about the centre of mass) at W[h]."""
    I, W = system.I, system.W
    t, f = I[W_TREE] + TREE_W * b, load3(W, h)
    torque = add3(mul(load9(W, I[W_BODY] + STATE_W * b + S_ROT), load3(W, h + 3)), cross(load3(W, t + X_C), f))
    add_to3(W, t + X_P, scale3(-1.0, torque))
    add_to3(W, t + X_P + 3, scale3(-1.0, f))


@inline
def subtract_wrenches(h, system):
    """X_P -= the wrenches at W[h + 6 b]."""
    I = system.I
    for b in range(1, I[NB] + 1):
        subtract_wrench(b, h + 6 * b, system)


@inline
def clear_forces(system):
    """X_P <- 0"""
    I, W = system.I, system.W
    for b in range(1, I[NB] + 1):
        t = I[W_TREE] + TREE_W * b + X_P
        store3(W, t, (0.0, 0.0, 0.0))
        store3(W, t + 3, (0.0, 0.0, 0.0))


@inline
def carry_wrenches(system):
    """The forces in X_P carried inwards through the factors, as `eliminate_tree` did with those of the motion."""
    I, W = system.I, system.W
    for at in range(I[NB] - 1, -1, -1):
        b = I[I[ORDER_I] + at]
        k, t = I[TREE_I] + TREE_I_W * b, I[W_TREE] + TREE_W * b
        p_w, p_v = load3(W, t + X_P), load3(W, t + X_P + 3)
        if I[k + R_TURN] == QUATERNION and I[k + R_NTRANS] == 0:
            l, i = load3(W, t + X_J), load3(W, t + X_J + 3)
            e_1 = p_w[1] - l[0] * p_w[0]
            e = (p_w[0], e_1, p_w[2] - l[1] * p_w[0] - l[2] * e_1)
            store3(W, t + X_P, e)
            p_v = sub3(p_v, mul_t(load9(W, t + X_H), (i[0] * e[0], i[1] * e[1], i[2] * e[2])))
            p_w = (0.0, 0.0, 0.0)
        else:
            col = I[W_COL] + COL_W * I[k + R_COL]
            for j in range(I[k + R_NROT] + I[k + R_NTRANS]):
                e = -dot3(load3(W, col + K_S), p_w if j < I[k + R_NROT] else p_v)
                W[col + K_E] = e
                p_w = axpy3(e * W[col + K_D], load3(W, col + K_U), p_w)
                p_v = axpy3(e * W[col + K_D], load3(W, col + K_U + 3), p_v)
                col += COL_W
        p = I[k + R_PARENT]
        if p > 0:
            tp = I[W_TREE] + TREE_W * p + X_P
            add_to3(W, tp, add3(p_w, cross(load3(W, t + X_D), p_v)))
            add_to3(W, tp + 3, p_v)


@inline
def accelerate_tree(out, o, stride, moving, system):
    """out[o + stride i] <- u'_i from the roots outwards; X_P <- accelerations of the joint points.

    moving : 1.0 with gravity and the accelerations that velocities cause, 0.0 without (response to a row of a loop)
    """
    I, F, W = system.I, system.F, system.W
    order, first = I[ORDER_I], I[W_TREE]
    store3(W, first + X_P, (0.0, 0.0, 0.0))
    store3(W, first + X_P + 3, scale3(-moving, load3(F, GRAVITY_X)))
    for at in range(I[NB]):
        b = I[uintp(order + at)]
        k, t = I[TREE_I] + TREE_I_W * b, first + TREE_W * b
        tp, i = first + TREE_W * I[uintp(k + R_PARENT)] + X_P, o + stride * I[uintp(k + R_U)]
        a_w = load3(W, tp)
        a_v = add3(load3(W, tp + 3), cross(a_w, load3(W, t + X_D)))
        if moving != 0.0:
            a_w, a_v = add3(a_w, load3(W, t + X_BIAS)), add3(a_v, load3(W, t + X_BIAS + 3))
        if I[uintp(k + R_TURN)] == QUATERNION and I[uintp(k + R_NTRANS)] == 0:
            y, l, d = add3(load3(W, t + X_P), mul(load9(W, t + X_H), a_v)), load3(W, t + X_J), load3(W, t + X_J + 3)
            w_2 = -d[2] * y[2]
            w_1 = -d[1] * y[1] - l[2] * w_2
            w = (-d[0] * y[0] - l[0] * w_1 - l[1] * w_2, w_1, w_2)
            u_dot = mul_t(load9(W, t + X_ROT), sub3(w, a_w))
            a_w = w
            out[uintp(i)] = u_dot[0]
            out[uintp(i + stride)] = u_dot[1]
            out[uintp(i + stride + stride)] = u_dot[2]
        else:
            for j in range(I[k + R_NROT] + I[k + R_NTRANS] - 1, -1, -1):
                col = I[W_COL] + COL_W * (I[k + R_COL] + j)
                e = dot3(load3(W, col + K_U), a_w) + dot3(load3(W, col + K_U + 3), a_v)
                acceleration = (W[col + K_E] - e) * W[col + K_D]
                out[i + stride * j] = acceleration
                if j < I[k + R_NROT]:
                    a_w = axpy3(acceleration, load3(W, col + K_S), a_w)
                else:
                    a_v = axpy3(acceleration, load3(W, col + K_S), a_v)
        store3(W, t + X_P, a_w)
        store3(W, t + X_P + 3, a_v)


@inline
def add_body_accelerations(o, moving, system):
    """W[o + 6 b] += (v', w_B') of the centres of mass."""
    I, F, W = system.I, system.F, system.W
    g = scale3(moving, load3(F, GRAVITY_X))
    for b in range(1, I[NB] + 1):
        t = I[W_TREE] + TREE_W * b
        a_w, c, w = load3(W, t + X_P), load3(W, t + X_C), scale3(moving, load3(W, t + X_W))
        a_v = add3(add3(load3(W, t + X_P + 3), g), add3(cross(a_w, c), cross(w, cross(w, c))))
        add_to3(W, o + 6 * b, a_v)
        add_to3(W, o + 6 * b + 3, mul_t(load9(W, I[W_BODY] + STATE_W * b + S_ROT), a_w))


@inline
def column_forces(o, d, system):
    """W[o + i] <- e_i, what `carry_wrenches` left of the forces at column i; W[d + i] <- 1 / d_i.

    With J^T f = L e, M = L D L^T: f_1 . M^-1 f_2 = sum e_1i e_2i / d_i, no sweep outwards [Featherstone2008, 6.5, 7.3]
    """
    I, W = system.I, system.W
    for b in range(1, I[NB] + 1):
        k, t = I[TREE_I] + TREE_I_W * b, I[W_TREE] + TREE_W * b
        u = I[k + R_U]
        if I[k + R_TURN] == QUATERNION and I[k + R_NTRANS] == 0:
            store3(W, o + u, load3(W, t + X_P))
            store3(W, d + u, load3(W, t + X_J + 3))
        else:
            for j in range(I[k + R_NROT] + I[k + R_NTRANS]):
                col = I[W_COL] + COL_W * (I[k + R_COL] + j)
                W[o + u + j], W[d + u + j] = W[col + K_E], W[col + K_D]


@inline
def accelerate_by_columns(e, o, system):
    """Response of the tree at rest to what is left of forces, W[e + i]: W[o + COL_W i] <- u'_i; X_P."""
    I, W = system.I, system.W
    for b in range(1, I[NB] + 1):
        k, t = I[TREE_I] + TREE_I_W * b, I[W_TREE] + TREE_W * b
        u = I[k + R_U]
        if I[k + R_TURN] == QUATERNION and I[k + R_NTRANS] == 0:
            store3(W, t + X_P, load3(W, e + u))
        else:
            for j in range(I[k + R_NROT] + I[k + R_NTRANS]):
                W[I[W_COL] + COL_W * (I[k + R_COL] + j) + K_E] = W[e + u + j]
    accelerate_tree(system.W, o, COL_W, 0.0, system)


@inline
def respond(h, o, system):
    """Response of the tree at rest to the wrenches at W[h + 6 b]: W[o + COL_W i] <- u'_i; X_P."""
    clear_forces(system)
    subtract_wrenches(h, system)
    carry_wrenches(system)
    accelerate_tree(system.W, o, COL_W, 0.0, system)
