"""Constraint primitives on bodies: residual, rows and bias [JetMultibody, 5.3], and the rows of the velocity residual.

Each primitive knows two bodies i, j (0 = ground) with points x = r + R p and directions d = R a:

    C   g = x_j - x_i                     SO  g = d_i . d_j
    O   g = d_i . (x_j - x_i) - f(t)      D   g = (|x_j - x_i|^2 - l(t)^2) / (2 l_0)
    A   g = angle of d_j about n_i from a_i - f(t), within half a turn

    g' = A u + g_t,   g'' = A u' + zeta,   rows A = (force direction in world axes, torque direction in body axes)
"""

import numpy as np

from dalembert.kernels.base.algebra import add3, axpy3, cross, dot3, load3, load9, mul, mul_t, scale3, store3, sub3
from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.tables import (
    NPRIM,
    P_AI,
    P_AJ,
    P_BI,
    P_BJ,
    P_KIND,
    P_MOTION,
    P_ROW,
    PF_AI,
    PF_AJ,
    PF_NI,
    PF_OFFSET,
    PF_PI,
    PF_PJ,
    PF_SCALE,
    PRIM_F,
    PRIM_F_W,
    PRIM_I,
    PRIM_I_W,
    S_R,
    S_ROT,
    S_V,
    S_W,
    SO,
    STATE_W,
    W_A,
    W_BODY,
    W_G,
    W_GT,
    W_MOTION,
    W_ZETA,
    A,
    C,
    O,
)


@inline
def store_row(W, a, force, torque):
    store3(W, a, force)
    store3(W, a + 3, torque)


@inline
def constraint_rows(system):
    """W_G, W_GT, W_ZETA, W_A <- g, g_t, zeta and rows of all primitives at the poses, twists and motions in W."""
    I, F, W = system.I, system.F, system.W
    g, gt, z = I[W_G], I[W_GT], I[W_ZETA]
    for p in range(I[NPRIM]):
        k, f = I[PRIM_I] + PRIM_I_W * p, I[PRIM_F] + PRIM_F_W * p
        si, sj = I[W_BODY] + STATE_W * I[k + P_BI], I[W_BODY] + STATE_W * I[k + P_BJ]
        R_i, R_j = load9(W, si + S_ROT), load9(W, sj + S_ROT)
        w_i, w_j = load3(W, si + S_W), load3(W, sj + S_W)
        kind, row = I[k + P_KIND], I[k + P_ROW]
        ai, aj = I[W_A] + I[k + P_AI], I[W_A] + I[k + P_AJ]
        zero = (0.0, 0.0, 0.0)
        if kind == SO:
            a_i, a_j = load3(F, f + PF_AI), load3(F, f + PF_AJ)
            d_i, d_j = mul(R_i, a_i), mul(R_j, a_j)
            s_i, s_j = cross(w_i, a_i), cross(w_j, a_j)
            W[g + row] = dot3(d_i, d_j)
            W[gt + row] = 0.0
            W[z + row] = (
                dot3(mul(R_i, cross(w_i, s_i)), d_j)
                + 2.0 * dot3(mul(R_i, s_i), mul(R_j, s_j))
                + dot3(d_i, mul(R_j, cross(w_j, s_j)))
            )
            store_row(W, ai, zero, cross(a_i, mul_t(R_i, d_j)))
            store_row(W, aj, zero, cross(a_j, mul_t(R_j, d_i)))
            continue
        if kind == A:
            f0, f1, f2 = load3(W, I[W_MOTION] + 3 * I[k + P_MOTION])
            angle, axis, bend, w, _ = turning(si, sj, f, system)
            angle -= f0 + F[f + PF_OFFSET]
            W[g + row] = angle - 2.0 * np.pi * np.floor(angle / (2.0 * np.pi) + 0.5)
            W[gt + row] = -f1
            W[z + row] = dot3(cross(w, w_i), axis) + dot3(bend, cross(w, turned(f, R_i, R_j, system))) - f2
            store_row(W, ai, zero, scale3(-1.0, axis))
            store_row(W, aj, zero, mul_t(R_j, mul(R_i, axis)))
            continue
        p_i, p_j = load3(F, f + PF_PI), load3(F, f + PF_PJ)
        s_pi, s_pj = cross(w_i, p_i), cross(w_j, p_j)
        e = sub3(add3(load3(W, sj + S_R), mul(R_j, p_j)), add3(load3(W, si + S_R), mul(R_i, p_i)))
        bias = sub3(mul(R_j, cross(w_j, s_pj)), mul(R_i, cross(w_i, s_pi)))
        if kind == C:
            for c in range(3):
                row = I[k + P_ROW + c]
                W[g + row] = e[c]
                W[gt + row] = 0.0
                W[z + row] = bias[c]
                ai, aj = I[W_A] + I[k + P_AI + c], I[W_A] + I[k + P_AJ + c]
                store_row(W, ai, zero, cross(load3(W, si + S_ROT + 3 * c), p_i))
                store_row(W, aj, zero, cross(p_j, load3(W, sj + S_ROT + 3 * c)))
                W[ai + c] = -1.0
                W[aj + c] = 1.0
            continue
        e1 = sub3(add3(load3(W, sj + S_V), mul(R_j, s_pj)), add3(load3(W, si + S_V), mul(R_i, s_pi)))
        f0, f1, f2 = load3(W, I[W_MOTION] + 3 * I[k + P_MOTION])
        if kind == O:
            a_i = load3(F, f + PF_AI)
            d, s_a = mul(R_i, a_i), cross(w_i, a_i)
            W[g + row] = dot3(d, e) - F[f + PF_OFFSET] - f0
            W[gt + row] = -f1
            W[z + row] = dot3(d, bias) + dot3(mul(R_i, cross(w_i, s_a)), e) + 2.0 * dot3(mul(R_i, s_a), e1) - f2
            own = cross(a_i, mul_t(R_i, e))
        else:
            l, scale = F[f + PF_OFFSET] + f0, F[f + PF_SCALE]
            d = scale3(scale, e)
            W[g + row] = 0.5 * scale * (dot3(e, e) - l * l)
            W[gt + row] = -scale * l * f1
            W[z + row] = dot3(d, bias) + scale * (dot3(e1, e1) - f1 * f1 - l * f2)
            own = zero
        store_row(W, ai, scale3(-1.0, d), add3(own, cross(mul_t(R_i, d), p_i)))
        store_row(W, aj, d, cross(p_j, mul_t(R_j, d)))


@inline
def turned(f, R_i, R_j, system):
    """d = R_i^T R_j a_j, the direction whose angle is driven, in the axes of body i."""
    F = system.F
    return mul_t(R_i, mul(R_j, load3(F, f + PF_AJ)))


@inline
def turning(si, sj, f, system):
    """alpha = atan2((n x a) . d, a . d), its row alpha' = axis . w, and the gradient `bend` of axis . w over d.

        axis = n - p (n . d) / |p|^2,   p = d - n (n . d),   w = R_i^T R_j w_j - w_i

    (angle, axis, bend, w, R_i^T R_j w_j), all in the axes of body i; axis = n where the joint keeps d normal to n.
    """
    F, W = system.F, system.W
    R_i, R_j = load9(W, si + S_ROT), load9(W, sj + S_ROT)
    a, n, d = load3(F, f + PF_AI), load3(F, f + PF_NI), turned(f, R_i, R_j, system)
    w_j = mul_t(R_i, mul(R_j, load3(W, sj + S_W)))
    w = sub3(w_j, load3(W, si + S_W))
    along = dot3(n, d)
    p = axpy3(-along, n, d)
    r2 = dot3(p, p)
    axis = axpy3(-along / r2, p, n)
    across = dot3(w, p)
    bend = axpy3(2.0 * across * along / (r2 * r2), p, scale3(-across / r2, n))
    bend = axpy3(-along / r2, axpy3(-dot3(n, w), n, w), bend)
    return np.arctan2(dot3(cross(n, a), d), dot3(a, d)), axis, bend, w, w_j


@inline
def velocity_gradient_rows(a_base, system):
    """W[a_base..] <- rows of d(A u + g_t)/dq in quasi-displacements (dr, dphi_B), laid out like W_A.

    With dR = R dphi^: d(R s) = R (dphi x s), so a term (R s) . y of the velocity residual has the row s x R^T y.
    """
    I, F, W = system.I, system.F, system.W
    shift = a_base - I[W_A]
    for p in range(I[NPRIM]):
        k, f = I[PRIM_I] + PRIM_I_W * p, I[PRIM_F] + PRIM_F_W * p
        si, sj = I[W_BODY] + STATE_W * I[k + P_BI], I[W_BODY] + STATE_W * I[k + P_BJ]
        R_i, R_j = load9(W, si + S_ROT), load9(W, sj + S_ROT)
        w_i, w_j = load3(W, si + S_W), load3(W, sj + S_W)
        kind = I[k + P_KIND]
        ai, aj = shift + I[W_A] + I[k + P_AI], shift + I[W_A] + I[k + P_AJ]
        zero = (0.0, 0.0, 0.0)
        if kind == C:
            s_i, s_j = cross(w_i, load3(F, f + PF_PI)), cross(w_j, load3(F, f + PF_PJ))
            for c in range(3):
                ai, aj = shift + I[W_A] + I[k + P_AI + c], shift + I[W_A] + I[k + P_AJ + c]
                store_row(W, ai, zero, cross(load3(W, si + S_ROT + 3 * c), s_i))
                store_row(W, aj, zero, cross(s_j, load3(W, sj + S_ROT + 3 * c)))
        elif kind == A:
            _, axis, bend, _, w = turning(si, sj, f, system)
            turn = add3(cross(w, axis), cross(turned(f, R_i, R_j, system), bend))
            store_row(W, ai, zero, scale3(-1.0, turn))
            store_row(W, aj, zero, mul_t(R_j, mul(R_i, turn)))
        elif kind == SO:
            a_i, a_j = load3(F, f + PF_AI), load3(F, f + PF_AJ)
            s_i, s_j = cross(w_i, a_i), cross(w_j, a_j)
            d_i, d_j = mul(R_i, a_i), mul(R_j, a_j)
            v_i, v_j = mul(R_i, s_i), mul(R_j, s_j)
            store_row(W, ai, zero, add3(cross(s_i, mul_t(R_i, d_j)), cross(a_i, mul_t(R_i, v_j))))
            store_row(W, aj, zero, add3(cross(s_j, mul_t(R_j, d_i)), cross(a_j, mul_t(R_j, v_i))))
        else:
            p_i, p_j, a_i = load3(F, f + PF_PI), load3(F, f + PF_PJ), load3(F, f + PF_AI)
            e = sub3(add3(load3(W, sj + S_R), mul(R_j, p_j)), add3(load3(W, si + S_R), mul(R_i, p_i)))
            s_pi, s_pj = cross(w_i, p_i), cross(w_j, p_j)
            e1 = sub3(add3(load3(W, sj + S_V), mul(R_j, s_pj)), add3(load3(W, si + S_V), mul(R_i, s_pi)))
            if kind == O:
                s_a = cross(w_i, a_i)
                d, d1 = mul(R_i, a_i), mul(R_i, s_a)
                own = add3(cross(s_a, mul_t(R_i, e)), cross(a_i, mul_t(R_i, e1)))
            else:
                d, d1 = scale3(F[f + PF_SCALE], e), scale3(F[f + PF_SCALE], e1)
                own = zero
            store_row(W, aj, d1, add3(cross(p_j, mul_t(R_j, d1)), cross(s_pj, mul_t(R_j, d))))
            t_i = add3(cross(p_i, mul_t(R_i, d1)), cross(s_pi, mul_t(R_i, d)))
            store_row(W, ai, scale3(-1.0, d1), sub3(own, t_i))
