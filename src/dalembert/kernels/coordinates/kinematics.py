"""From the state to poses and twists of bodies and back, for `absolute` and `planar` coordinates.

    state x = (q, u, W_ext, angle counters)
    rigid   q = (r, theta)  u = (r', w_B)        7 + 6
    point   q = r           u = r'               3 + 3
    planar  q = (x, y, beta)  u = (x', y', beta')  3 + 3    r = o + x e1 + y e2, R = exp(beta n^) R_0  [JetMultibody, 4.3]

Inside the kernels every body has a pose (r, R) and a twist (v, w_B); N(q), the retraction and the packing of accelerations
are the only places that know which coordinates carry them.
"""

import numpy as np

from dalembert.kernels.base.algebra import (
    add3,
    axpy3,
    dot3,
    euler_parameter_rates,
    load3,
    load4,
    load9,
    mul,
    mul_t,
    normalise4,
    rotation_matrix,
    scale3,
    store3,
    store4,
    store9,
    sub3,
)
from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.tables import (
    ANGLE_F,
    ANGLE_F_W,
    ANGLE_I,
    ANGLE_I_W,
    B_KIND,
    B_Q,
    B_U,
    BF_NORMAL,
    BF_ORIGIN,
    BF_R0,
    BODY_F,
    BODY_F_W,
    BODY_I,
    BODY_I_W,
    G_BI,
    G_BJ,
    G_X,
    NANGLE,
    NB,
    NQ,
    PLANAR,
    PLANE_F,
    RIGID,
    S_R,
    S_ROT,
    S_V,
    S_W,
    STATE_W,
    W_ANGLE,
    W_BODY,
)


@inline
def load_poses(x, system):
    """W_BODY <- pose and twist of every body from q and u."""
    I, F, W = system.I, system.F, system.W
    nq = I[NQ]
    for b in range(1, I[NB] + 1):
        k = I[BODY_I] + BODY_I_W * b
        q, u = I[k + B_Q], nq + I[k + B_U]
        s = I[W_BODY] + STATE_W * b
        kind = I[k + B_KIND]
        if kind == PLANAR:
            f = I[BODY_F] + BODY_F_W * b
            e1, e2, n = load3(F, I[PLANE_F]), load3(F, I[PLANE_F] + 3), load3(F, I[PLANE_F] + 6)
            store3(W, s + S_R, axpy3(x[q], e1, axpy3(x[q + 1], e2, load3(F, f + BF_ORIGIN))))
            store3(W, s + S_V, axpy3(x[u], e1, scale3(x[u + 1], e2)))
            store3(W, s + S_W, scale3(x[u + 2], load3(F, f + BF_NORMAL)))
            half = scale3(np.sin(0.5 * x[q + 2]), n)
            R = rotation_matrix((np.cos(0.5 * x[q + 2]), half[0], half[1], half[2]))
            for j in range(3):  # columns of exp(beta n^) R_0
                d = mul(R, (F[f + BF_R0 + j], F[f + BF_R0 + 3 + j], F[f + BF_R0 + 6 + j]))
                W[s + S_ROT + j], W[s + S_ROT + 3 + j], W[s + S_ROT + 6 + j] = d
        else:
            store3(W, s + S_R, load3(x, q))
            store3(W, s + S_V, load3(x, u))
            if kind == RIGID:
                store9(W, s + S_ROT, rotation_matrix(load4(x, q + 3)))
                store3(W, s + S_W, load3(x, u + 3))


@inline
def in_plane(v, w, b, system):
    """(e1 . v, e2 . v, n_B . w) of a planar body"""
    I, F = system.I, system.F
    e1, e2 = load3(F, I[PLANE_F]), load3(F, I[PLANE_F] + 3)
    return dot3(e1, v), dot3(e2, v), dot3(load3(F, I[BODY_F] + BODY_F_W * b + BF_NORMAL), w)


@inline
def store_rates(x, dx, acc, system):
    """dx_q = N(q) u and dx_u from the 6 accelerations (v', w_B') per body at W[acc + 6 b]."""
    I, W = system.I, system.W
    for b in range(1, I[NB] + 1):
        k = I[BODY_I] + BODY_I_W * b
        q, u, kind = I[k + B_Q], I[NQ] + I[k + B_U], I[k + B_KIND]
        v, w = load3(W, acc + 6 * b), load3(W, acc + 6 * b + 3)
        if kind == PLANAR:
            v = in_plane(v, w, b, system)
        store3(dx, q, load3(x, u))
        store3(dx, u, v)
        if kind == RIGID:
            store4(dx, q + 3, euler_parameter_rates(load4(x, q + 3), load3(x, u + 3)))
            store3(dx, u + 3, w)


@inline
def displace(level, x, d, scale, system):
    """Level 0: q <- q (+) scale d, Euler parameters stay unit; level 1: u <- u + scale d.

    d holds 6 numbers per body at W[d + 6 b]: (dr, dphi_B) or (dv, dw_B).
    """
    I, W = system.I, system.W
    for b in range(1, I[NB] + 1):
        k = I[BODY_I] + BODY_I_W * b
        o = I[k + B_Q] if level == 0 else I[NQ] + I[k + B_U]
        kind = I[k + B_KIND]
        v, w = scale3(scale, load3(W, d + 6 * b)), scale3(scale, load3(W, d + 6 * b + 3))
        if kind == PLANAR:
            v = in_plane(v, w, b, system)
        store3(x, o, add3(load3(x, o), v))
        if kind == RIGID and level == 1:
            store3(x, o + 3, add3(load3(x, o + 3), w))
        elif kind == RIGID:
            th = load4(x, o + 3)
            r = euler_parameter_rates(th, w)
            store4(x, o + 3, normalise4((th[0] + r[0], th[1] + r[1], th[2] + r[2], th[3] + r[3])))


@inline
def normalise(x, system):
    """theta <- theta / |theta| for every rigid body [JetMultibody, Algorithm 5.3]; theta . theta' = 0 holds by w_B."""
    I = system.I
    for b in range(1, I[NB] + 1):
        k = I[BODY_I] + BODY_I_W * b
        if I[k + B_KIND] == RIGID:
            q = I[k + B_Q] + 3
            store4(x, q, normalise4(load4(x, q)))


@inline
def load_angles(x, system):
    """W_ANGLE <- (angle, rate) of every counted joint angle, unwrapped with its counter in the state."""
    I, F, W = system.I, system.F, system.W
    for c in range(I[NANGLE]):
        k, f = I[ANGLE_I] + ANGLE_I_W * c, I[ANGLE_F] + ANGLE_F_W * c
        si, sj = I[W_BODY] + STATE_W * I[k + G_BI], I[W_BODY] + STATE_W * I[k + G_BJ]
        R_i, R_j = load9(W, si + S_ROT), load9(W, sj + S_ROT)
        d = mul_t(R_i, mul(R_j, load3(F, f + 9)))
        angle = np.arctan2(dot3(load3(F, f + 3), d), dot3(load3(F, f), d))
        turns = np.floor((x[I[k + G_X]] - angle) / (2.0 * np.pi) + 0.5)
        w = sub3(mul_t(R_i, mul(R_j, load3(W, sj + S_W))), load3(W, si + S_W))
        W[I[W_ANGLE] + 2 * c] = angle + 2.0 * np.pi * turns
        W[I[W_ANGLE] + 2 * c + 1] = dot3(load3(F, f + 6), w)
