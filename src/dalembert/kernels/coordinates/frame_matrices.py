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

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.dense import add_transposed, solve_upper, subtract_products
from dalembert.kernels.base.loops import clear, copy, minus_dot, plus_dot
from dalembert.kernels.base.tables import ONE_ANGLE, QUATERNION, TWO_ANGLES
from dalembert.kernels.base.vectors import Vec3, cross
from dalembert.kernels.base.views import Twists
from dalembert.kernels.coordinates.cut_rows import row_product, solve_cut_schur
from dalembert.kernels.coordinates.solve import product


@inline
def blocks(system):
    """B: column c of body k's rows, (translation, rotation), is the twist nu k + c."""
    return Twists(system.frame, 0)


@inline
def derivatives(system):
    """B', in the shape of B."""
    return Twists(system.frame + 6 * system.nu * (system.nb + 1), 0)


@inline
def right_hand_side(system):
    """The last of the rows with nu columns: M* in `mass`, below it the rows of cut joints in `scaled`, then this one."""
    return system.scaled + system.nu * system.m


@inline
def fill_blocks(x, system):
    """B and B' from poses and twists of the bodies; blocks of bodies that a joint does not move stay zero."""
    for k in range(system.nb):
        link = system.links[system.order[k]]
        q, u = link.q + (4 if link.turn == QUATERNION else link.rotations), system.nq + link.u + link.rotations
        d, d_dot, s = link.p_parent, Vec3(0.0, 0.0, 0.0), -link.p_child
        for j in range(link.translations):
            e = link.E_parent.T[link.axis[j]]
            d, d_dot = d + x[q + j] * e, d_dot + x[u + j] * e
        ancestor = link.parent
        while ancestor.number > 0:
            fill_inherited(link, ancestor, d, d_dot, s, system)
            ancestor = ancestor.parent
        fill_own(link, s, system)


@inline
def fill_inherited(link, other, d, d_dot, s, system):
    """Columns of another link in the rows of a link's body  [MovingFrame, (2.30), (2.35)]"""
    B, B_dot, nu = blocks(system), derivatives(system), system.nu
    k, p, j = link.number, link.parent.number, other.number
    R_k, R_p, R_j = system.bodies[k].R, system.bodies[p].R, system.bodies[j].R
    w_k, w_p = system.bodies[k].w, system.bodies[p].w
    w_kj = w_k - R_k.T @ (R_j @ system.bodies[j].w)
    for c in range(other.u, other.u + other.rotations + other.translations):
        own, up = nu * j + c, nu * p + c
        rot = R_k.T @ (R_j @ B[own].w)
        rot_dot = R_k.T @ (R_j @ B_dot[own].w) - cross(w_kj, rot)
        at_joint, at_centre = cross(d, B[up].w), cross(s, rot)
        at_joint_dot = cross(w_p, at_joint) + (cross(d_dot, B[up].w) + cross(d, B_dot[up].w))
        at_centre_dot = cross(w_k, at_centre) + cross(s, rot_dot)
        out, out_dot = B[nu * k + c], B_dot[nu * k + c]
        out.v, out.w = B[up].v - (R_p @ at_joint + R_k @ at_centre), rot
        out_dot.v, out_dot.w = B_dot[up].v - (R_p @ at_joint_dot + R_k @ at_centre_dot), rot_dot


@inline
def fill_own(link, s, system):
    """Columns of a link in the rows of its body: axes that the child carries, or the parent (first of a cross, slides)."""
    B, B_dot, at = blocks(system), derivatives(system), system.nu * link.number + link.u
    body, parent, turn = system.bodies[link.number], system.bodies[link.parent.number], link.turn
    R_k, R_p, E_p = body.R, parent.R, link.E_parent.T
    w_k, w_p, E_c = body.w, parent.w, link.E_child.T
    for j in range(link.rotations):
        a, a_dot = E_c[2 if turn == ONE_ANGLE else j], Vec3(0.0, 0.0, 0.0)
        if turn == TWO_ANGLES and j == 0:
            a = R_k.T @ (R_p @ E_p[0])
            a_dot = cross(a, w_k - R_k.T @ (R_p @ w_p))
        at_centre = cross(s, a)
        B[at + j].v, B[at + j].w = -(R_k @ at_centre), a
        B_dot[at + j].v, B_dot[at + j].w = -(R_k @ (cross(w_k, at_centre) + cross(s, a_dot))), a_dot
    at += link.rotations
    for j in range(link.translations):
        e = E_p[link.axis[j]]
        B[at + j].v, B_dot[at + j].v = R_p @ e, R_p @ cross(w_p, e)


@inline
def multiply(B, v, out, system):
    """out <- B v for every body and the ground; B or B'."""
    for k in range(system.nb + 1):
        a, b = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
        for c in range(system.nu):
            column = B[system.nu * k + c]
            a, b = a + v[c] * column.v, b + v[c] * column.w
        out[k].v, out[k].w = a, b


@inline
def fill_reduced_matrix(system):
    """M* = B^T M B, lower triangle; below it the rows A B of the cut joints."""
    B, K, nu = blocks(system), system.mass, system.nu
    clear(K, nu * (nu + system.m + 1))
    for link in system.links:
        body, k = system.bodies[link.number], nu * link.number
        a = link
        while a.number > 0:
            for i in range(a.u, a.u + a.rotations + a.translations):
                f, t = body.m * B[k + i].v, body.J @ B[k + i].w
                b = a
                while b.number > 0:  # links nearer to the root have smaller columns
                    for j in range(b.u, b.u + b.rotations + b.translations):
                        if j <= i:
                            w = B[k + j].w
                            K[nu * i + j] += f @ B[k + j].v + t.x * w.x + t.y * w.y + t.z * w.z
                    b = b.parent
            a = a.parent
    for r in range(system.m):
        for c in range(nu):
            K[nu * (nu + r) + c] = row_product(r, B, c, nu, system)


@inline
def fill_forces(wrenches, system):
    """The last row <- B^T h for the wrenches h of the bodies."""
    B, out = blocks(system), right_hand_side(system)
    for c in range(system.nu):
        out[c] = 0.0
        for k in range(1, system.nb + 1):
            out[c] += product(wrenches[k], B[system.nu * k + c])


@inline
def eliminate(system):
    """M* = L L^T in place, inverse pivots on the diagonal; every row below becomes L^-1 of it."""
    nu, K = system.nu, system.mass
    for i in range(nu + system.m + 1):
        for j in range(min(i + 1, nu)):
            v = minus_dot(K[nu * i + j], K + nu * i, K + nu * j, j)
            K[nu * i + j] = 1.0 / np.sqrt(v) if i == j else v * K[nu * j + j]
    system.count.factor += 1.0


@inline
def solve_rows_of_cut_joints(system):
    """rhs <- lam of S lam = rhs - Y y with Y = A B L^-T, S = Y Y^T; the last row y <- y + Y^T lam."""
    nu, m, y = system.nu, system.m, right_hand_side(system)
    Y = system.scaled
    for r in range(m):
        for i in range(r + 1):
            system.K[m * r + i] = plus_dot(0.0, Y + nu * r, Y + nu * i, nu)
    subtract_products(system.rhs, Y, y, m, nu)
    solve_cut_schur(system)
    add_transposed(y, Y, system.rhs, m, nu)


@inline
def back_substitute(system):
    """u_dot <- L^-T y for the last row y."""
    copy(system.u_dot, right_hand_side(system), system.nu)
    solve_upper(system.mass, system.u_dot, system.nu)


@inline
def subtract_inertia(bias, system):
    """Wrenches -= M B' u + D M B u, with B' u in `bias`."""
    for body in system.bodies:
        b = bias[body.number]
        body.force -= body.m * b.v
        body.torque -= body.J @ b.w + cross(body.w, body.J @ body.w)
