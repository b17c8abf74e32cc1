"""Relations of measures between pairs of bodies: rows of couplings, cables and cams. Compiled with the traced rows.

A measure s of bodies i, j has one row in world axes and, in k_dot, tau_dot, the rate of that row along the motion:

    s' = k . (v_j - v_i) + tau_i . w_i + tau_j . w_j           s'' = k' . (v_j - v_i) + tau_i' . w_i + tau_j' . w_j + row . u'

    TRANSLATION   s = k . e,      k = a                        e = x_j - x_i,  a = R_i a_i,  b = R_i (n_i x a_i)
    LENGTH        s = |e|,        k = e / s
    RADIUS        s = r,          k = (x a + y b) / r          x = a . e,  y = b . e,  r^2 = x^2 + y^2
    BEARING       s = (x, y)'s,   k = (x b - y a) / r^2        angle
    ANGLE         s = (x, y)'s,   tau_i = m x d = -tau_j       x = a . d,  y = b . d,  d = R_j a_j,  m = (x b - y a) / r^2

with tau_i = k x (x_j - r_i), tau_j = (x_j - r_j) x k. An angle that the state counts goes on from phi, its count: a constant
of the row, so that s is smooth all around. A relation f of measures, each times its factor, has, over the rows of these,

    row = sum f_k row_k,   row' = sum (f_k' row_k + f_k row_k'),   g_t = f_t,   zeta = row' . u + b,   b = sum f_kt s_k' + f_tt

    LINEAR     f = sum s_k - offset              TABULATED   f = s_0 - F(s_1), F a periodic table
    WRITTEN    f of generated code, which reads s and s' and leaves f, f_t, b, all f_k, all f_k' of each row

and row' in axes of the bodies is d(A u + g_t)/dq as well as A' - A (0, w x .).
"""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.loops import clear
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import CALLBACK_FAILED, OK
from dalembert.kernels.base.vectors import Vec3, cross
from dalembert.kernels.base.views import Rows
from dalembert.kernels.mechanics.motion import one_motion

(TRANSLATION, ANGLE, LENGTH, RADIUS, BEARING) = range(5)  # kinds of measures
(GENERATED, LINEAR, TABULATED, WRITTEN) = range(4)  # kinds of codes; the first is no relation
KEPT = 19  # numbers of a measure: (k, tau_i), (k', tau_i'), (tau_j, tau_j'), s'' but for row . u'


@inline
def polar(a, b, a_dot, b_dot, d, d_dot):
    """x = a . d, y = b . d;  m = (x b - y a) / r^2 and its rate;  l = (x a + y b) / r and its rate;  r"""
    x, y = a @ d, b @ d
    x_dot, y_dot = a_dot @ d + a @ d_dot, b_dot @ d + b @ d_dot
    rr = x * x + y * y
    r, over = np.sqrt(rr), 1.0 / rr
    stretch = x * x_dot + y * y_dot  # r r'
    m, l = over * (x * b - y * a), (1.0 / r) * (x * a + y * b)
    m_dot = over * ((x_dot * b + x * b_dot) - (y_dot * a + y * a_dot) - (2.0 * stretch) * m)
    l_dot = (1.0 / r) * ((x_dot * a + x * a_dot) + (y_dot * b + y * b_dot) - (stretch / r) * l)
    return x, y, m, m_dot, l, l_dot, r


@inline
def measure(p, i, j, phi):
    """s, k, k', tau_i, tau_i', tau_j, tau_j' of the part p between bodies i and j; phi : where its angle is counted from."""
    R_i, R_j, kind = i.R, j.R, p.kind
    w_i, w_j = R_i @ i.w, R_j @ j.w
    a = R_i @ p.a_i
    b = cross(R_i @ p.n_i, a)
    a_dot, b_dot = cross(w_i, a), cross(w_i, b)
    if kind == ANGLE:
        d = R_j @ p.a_j
        d_dot = cross(w_j, d)
        x, y, m, m_dot, _, _, _ = polar(a, b, a_dot, b_dot, d, d_dot)
        c, s = np.cos(phi), np.sin(phi)
        tau, tau_dot, none = cross(m, d), cross(m_dot, d) + cross(m, d_dot), 0.0 * d
        return phi + np.arctan2(y * c - x * s, x * c + y * s), none, none, tau, tau_dot, -tau, -tau_dot
    c_i, c_j = R_i @ p.p_i, R_j @ p.p_j
    c_j_dot = cross(w_j, c_j)
    arm, arm_dot = (j.r + c_j) - i.r, (j.v + c_j_dot) - i.v
    e, e_dot = arm - c_i, arm_dot - cross(w_i, c_i)
    s, k, k_dot = a @ e, a, a_dot
    if kind == LENGTH:
        s = np.sqrt(e @ e)
        over = 1.0 / s if s > 0.0 else 0.0 * s  # between two points of one body that are the same
        k = over * e
        k_dot = over * (e_dot - (k @ e_dot) * k)
    elif kind != TRANSLATION:
        x, y, m, m_dot, l, l_dot, r = polar(a, b, a_dot, b_dot, e, e_dot)
        s, k, k_dot = r, l, l_dot
        if kind == BEARING:
            s, k, k_dot = np.arctan2(y, x), m, m_dot
    tau_i, tau_i_dot = cross(k, arm), cross(k_dot, arm) + cross(k, arm_dot)
    return s, k, k_dot, tau_i, tau_i_dot, cross(c_j, k), cross(c_j_dot, k) + cross(c_j, k_dot)


@inline
def evaluate_relation(p, code, t, system):
    """The relation at s, s' in `called`: f, f_t, b, f_k, f_k' of every row behind them. Status."""
    n, at = code.parts, system.called
    left = at + 2 * n
    clear(left, p.rows * (3 + 2 * n))
    if code.relation == WRITTEN:
        return OK if callback(p.motion, t, system, system.w_call) == OK else CALLBACK_FAILED
    left[3] = 1.0
    if code.relation == LINEAR:
        f = -p.offset
        for k in range(n):
            f += at[k]
            left[3 + k] = 1.0
        left[0] = f
    else:
        F = one_motion(code.curve, at[1], system)
        left[0], left[4], left[6] = at[0] - F.x, -F.y, -F.z * at[3]
    return OK


@inline
def relation_rows(p, code, t, bending, rows, system):
    """g, g_t, zeta and rows of a relation; bending : only row', to `rows`. Status."""
    n, at = code.parts, system.called
    kept = at + (2 * n + p.rows * (3 + 2 * n))
    for k in range(n):
        part = system.parts[code.part + k]
        i, j, phi = part.i, part.j, 0.0
        if part.counter >= 0:
            phi = system.angles[part.counter].angle
        s, force, force_dot, tau_i, tau_i_dot, tau_j, tau_j_dot = measure(part, i, j, phi)
        w_i, w_j, v = i.R @ i.w, j.R @ j.w, j.v - i.v
        own = Rows(kept, KEPT * k)
        own[0].force, own[0].torque = part.factor * force, part.factor * tau_i
        own[6].force, own[6].torque = part.factor * force_dot, part.factor * tau_i_dot
        own[12].force, own[12].torque = part.factor * tau_j, part.factor * tau_j_dot
        kept[KEPT * k + 18] = part.factor * (force_dot @ v + tau_i_dot @ w_i + tau_j_dot @ w_j)
        at[k], at[n + k] = part.factor * s, part.factor * (force @ v + tau_i @ w_i + tau_j @ w_j)
    status = evaluate_relation(p, code, t, system)
    if status != OK:
        return status
    for k in range(code.bodies):
        member = system.members[code.member + k]
        for c in range(p.rows):
            row = rows[member.A[c]]
            row.force, row.torque = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
    for c in range(p.rows):
        f = at + (2 * n + c * (3 + 2 * n))
        zeta = f[2]
        for k in range(n):
            part, own, f_k, f_k_dot = system.parts[code.part + k], Rows(kept, KEPT * k), f[3 + k], f[3 + n + k]
            zeta += f_k_dot * at[n + k] + f_k * kept[KEPT * k + 18]
            force, tau_i, tau_j = f_k * own[0].force, f_k * own[0].torque, f_k * own[12].force
            if bending:
                force = f_k_dot * own[0].force + f_k * own[6].force
                tau_i = f_k_dot * own[0].torque + f_k * own[6].torque
                tau_j = f_k_dot * own[12].force + f_k * own[12].torque
            on_i, on_j = rows[system.members[part.first].A[c]], rows[system.members[part.second].A[c]]
            on_i.force -= force
            on_i.torque += part.i.R.T @ tau_i
            on_j.force += force
            on_j.torque += part.j.R.T @ tau_j
        if not bending:
            system.g[p.row[c]], system.g_t[p.row[c]], system.zeta[p.row[c]] = f[0], f[1], zeta
    return OK
