"""Constraint primitives on bodies: residual, rows and bias [JetMultibody, 5.3], and the rows of the velocity residual.

Each primitive knows two bodies i, j (0 = ground) with points x = r + R p and directions d = R a:

    C   g = x_j - x_i                     SO  g = d_i . d_j
    O   g = d_i . (x_j - x_i) - f(t)      D   g = (|x_j - x_i|^2 - l(t)^2) / (2 l_0)
    A   g = angle of d_j about n_i from a_i - f(t), within half a turn

    g' = A u + g_t,   g'' = A u' + zeta,   rows A = (force direction in world axes, torque direction in body axes)

With e = x_j - x_i, W = R w, d' = W x d, and what is left of e'' and of d'' without accelerations,
b = R_j (w_j x (w_j x p_j)) - R_i (w_i x (w_i x p_i)) and k = W x (W x d):

    C   zeta = b                          SO  zeta = k_i . d_j + 2 d_i' . d_j' + d_i . k_j
    O   zeta = k_i . e + 2 d_i' . e' + d_i . b - f''
    D   zeta = (e . b + e' . e' - l'^2 - l l'') / l_0,     p.scale = 1 / l_0,  l = p.offset + f
    A   zeta = axis . (w x w_i) + bend . (w x d) - f'',    w, d in the axes of body i, see `driven_angle`

A are the rows of G; rolling adds rows of velocities alone to them (traced_rows.py). Which primitives make which joint:
model/joints.py. A kind that is called A, too, is that of a driven angle.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.tables import SO, A, C, O
from dalembert.kernels.base.vectors import Vec3, cross, unit


@inline
def constraint_rows(system):
    """g, g_t, zeta and the rows A of all primitives at the poses, twists and motions in the workspace."""
    g, g_t, zeta, zero = system.g, system.g_t, system.zeta, Vec3(0.0, 0.0, 0.0)
    for p in system.primitives:
        i, j, row = p.i, p.j, p.row[0]
        A_i, A_j = system.A[p.A_i[0]], system.A[p.A_j[0]]
        R_i, R_j = i.R, j.R
        w_i, w_j = i.w, j.w
        # g' = -c . w with c = d_i x d_j, w = W_j - W_i in world axes; with w x (w x d) = w (w . d) - |w|^2 d and d_i' . d_j' =
        # (W_i . W_j) g - (W_i . d_j) (W_j . d_i), zeta is (w . d_i) (w . d_j) - |w|^2 g + (W_i x W_j) . c
        if p.kind == SO:
            d_i, d_j, W_i, W_j = R_i @ p.a_i, R_j @ p.a_j, R_i @ w_i, R_j @ w_j
            c, w = cross(d_i, d_j), W_j - W_i
            g[row] = d_i @ d_j
            g_t[row] = 0.0
            zeta[row] = (w @ d_i) * (w @ d_j) - (w @ w) * g[row] + cross(W_i, W_j) @ c
            A_i.force, A_i.torque = zero, R_i.T @ c
            A_j.force, A_j.torque = zero, -(R_j.T @ c)
            continue
        f = system.motions[p.motion].f
        if p.kind == A:
            angle, axis, bend, w, _ = driven_angle(p)
            angle -= f.x + p.offset
            g[row] = angle - 2.0 * np.pi * np.floor(angle / (2.0 * np.pi) + 0.5)
            g_t[row] = -f.y
            zeta[row] = cross(w, w_i) @ axis + bend @ cross(w, driven_direction(p)) - f.z
            A_i.force, A_i.torque = zero, -axis
            A_j.force, A_j.torque = zero, R_j.T @ (R_i @ axis)
            continue
        p_i, p_j = p.p_i, p.p_j
        s_i, s_j = cross(w_i, p_i), cross(w_j, p_j)
        e = (j.r + R_j @ p_j) - (i.r + R_i @ p_i)
        bias = R_j @ cross(w_j, s_j) - R_i @ cross(w_i, s_i)
        if p.kind == C:
            for c in range(3):
                row, A_i, A_j = p.row[c], system.A[p.A_i[c]], system.A[p.A_j[c]]
                g[row] = e[c]
                g_t[row] = 0.0
                zeta[row] = bias[c]
                A_i.force, A_i.torque = -unit(c), cross(R_i[c], p_i)
                A_j.force, A_j.torque = unit(c), cross(p_j, R_j[c])
            continue
        de = (j.v + R_j @ s_j) - (i.v + R_i @ s_i)
        if p.kind == O:
            d, s_a = R_i @ p.a_i, cross(w_i, p.a_i)
            g[row] = d @ e - p.offset - f.x
            g_t[row] = -f.y
            zeta[row] = d @ bias + (R_i @ cross(w_i, s_a)) @ e + 2.0 * ((R_i @ s_a) @ de) - f.z
            own = cross(p.a_i, R_i.T @ e)
        else:
            l, d = p.offset + f.x, p.scale * e
            g[row] = 0.5 * p.scale * (e @ e - l * l)
            g_t[row] = -p.scale * l * f.y
            zeta[row] = d @ bias + p.scale * (de @ de - f.y * f.y - l * f.z)
            own = zero
        A_i.force, A_i.torque = -d, own + cross(R_i.T @ d, p_i)
        A_j.force, A_j.torque = d, cross(p_j, R_j.T @ d)


@inline
def driven_direction(p):
    """d = R_i^T R_j a_j, the direction whose angle is driven, in the axes of body i."""
    return p.i.R.T @ (p.j.R @ p.a_j)


@inline
def driven_angle(p):
    """alpha = atan2((n x a) . d, a . d), its row alpha' = axis . w, and the gradient `bend` of axis . w over d.

        axis = n - q (n . d) / |q|^2,   q = d - n (n . d),   w = R_i^T R_j w_j - w_i

    (angle, axis, bend, w, R_i^T R_j w_j), all in the axes of body i; axis = n where the joint keeps d normal to n.
    """
    a, n, d = p.a_i, p.n_i, driven_direction(p)
    w_j = p.i.R.T @ (p.j.R @ p.j.w)
    w = w_j - p.i.w
    along = n @ d
    q = -along * n + d
    r2 = q @ q
    axis = (-along / r2) * q + n
    across = w @ q
    bend = (2.0 * across * along / (r2 * r2)) * q + (-across / r2) * n
    bend = (-along / r2) * (-(n @ w) * n + w) + bend
    return np.arctan2(cross(n, a) @ d, a @ d), axis, bend, w, w_j


@inline
def velocity_gradient_rows(rows, system):
    """Rows of d(A u + g_t)/dq in quasi-displacements (dr, dphi_B), laid out like A.

    With dR = R dphi^: d(R s) = R (dphi x s), so a term (R s) . y of the velocity residual has the row s x R^T y.
    """
    zero = Vec3(0.0, 0.0, 0.0)
    for p in system.primitives:
        i, j = p.i, p.j
        R_i, R_j = i.R, j.R
        w_i, w_j = i.w, j.w
        B_i, B_j = rows[p.A_i[0]], rows[p.A_j[0]]
        if p.kind == C:
            s_i, s_j = cross(w_i, p.p_i), cross(w_j, p.p_j)
            for c in range(3):
                B_i, B_j = rows[p.A_i[c]], rows[p.A_j[c]]
                B_i.force, B_i.torque = zero, cross(R_i[c], s_i)
                B_j.force, B_j.torque = zero, cross(s_j, R_j[c])
        elif p.kind == A:
            _, axis, bend, _, w_j_in_i = driven_angle(p)
            turn = cross(w_j_in_i, axis) + cross(driven_direction(p), bend)
            B_i.force, B_i.torque = zero, -turn
            B_j.force, B_j.torque = zero, R_j.T @ (R_i @ turn)
        elif p.kind == SO:
            a_i, a_j = p.a_i, p.a_j
            s_i, s_j = cross(w_i, a_i), cross(w_j, a_j)
            d_i, d_j = R_i @ a_i, R_j @ a_j
            v_i, v_j = R_i @ s_i, R_j @ s_j
            B_i.force, B_i.torque = zero, cross(s_i, R_i.T @ d_j) + cross(a_i, R_i.T @ v_j)
            B_j.force, B_j.torque = zero, cross(s_j, R_j.T @ d_i) + cross(a_j, R_j.T @ v_i)
        else:
            s_i, s_j = cross(w_i, p.p_i), cross(w_j, p.p_j)
            e = (j.r + R_j @ p.p_j) - (i.r + R_i @ p.p_i)
            de = (j.v + R_j @ s_j) - (i.v + R_i @ s_i)
            if p.kind == O:
                s_a = cross(w_i, p.a_i)
                d, dd = R_i @ p.a_i, R_i @ s_a
                own = cross(s_a, R_i.T @ e) + cross(p.a_i, R_i.T @ de)
            else:
                d, dd, own = p.scale * e, p.scale * de, zero
            B_j.force, B_j.torque = dd, cross(p.p_j, R_j.T @ dd) + cross(s_j, R_j.T @ d)
            B_i.force, B_i.torque = -dd, own - (cross(p.p_i, R_i.T @ dd) + cross(s_i, R_i.T @ d))
