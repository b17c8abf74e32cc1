"""The O(n) articulated-body recursion on a tree [Featherstone2008, 7.3], in world axes about the joint points.

    f = I^A a + p       a = (angular, linear) acceleration of the joint point, I^A = [J H; H^T M]

Each joint column s is eliminated by a rank-one update: U = I s, D = s . U, e = -s . p, I <- I - U U^T / D, p <- p + U e / D;
then I and p are carried along the arm d to the parent, whose accelerations reach the child as a_c = a_p + (angular x) d + bias.
Forces of joints act on both bodies like all others, and are in p. What is kept of D is 1 / D (D of the columns, too).
The columns of a ball joint span all rotations about its point, so the world axes serve as well: their elimination is that of
J = L D L^T, leaves M - Y^T D^-1 Y with Y = L^-1 H alone to be carried, and gives the angular acceleration back.
Inertias are factored once per state, with the forces of the motion; each further right-hand side (a row of a loop) costs
two sweeps. Gravity is an acceleration of the ground [Featherstone2008, 5.3].
"""

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.tables import QUATERNION, WORLD
from dalembert.kernels.base.vectors import Mat3, Sym3, Vec3, cross, outer, upper
from dalembert.kernels.base.views import Spin


@inline
def is_ball(link):
    return link.turn >= QUATERNION and link.translations == 0


@inline
def eliminate_tree(system):
    """From the leaves inwards: own inertias and forces become what each parent feels; factors are kept."""
    for k in range(system.nb - 1, -1, -1):
        link = system.links[system.order[k]]
        if is_ball(link):
            M, p_v = eliminate_ball(link)
        else:
            M, p_v = eliminate_columns(link, system)
        if link.parent.number > 0:
            carry(link, link.parent, M, p_v)


@flat
def eliminate_ball(link):
    """(M, p_v) left of a body on a ball joint. J <- L (3 numbers), D^-1 (3); H <- Y; p_w <- L^-1 p_w.

    The pivots are quotients of minors, J_00, a / J_00 and (a c - b^2) / (J_00 a): their divisions wait for nothing.
    """
    J, H, p = link.J, link.H, link.p_w
    a, b, c = J[0] * J[3] - J[1] * J[1], J[0] * J[4] - J[1] * J[2], J[0] * J[5] - J[2] * J[2]
    i_0, a_inverse, i_2 = 1.0 / J[0], 1.0 / a, (J[0] * a) / (a * c - b * b)
    l_1, l_2, l_3 = J[1] * i_0, J[2] * i_0, b * a_inverse
    i_1, y_0 = J[0] * a_inverse, H[0]
    y_1 = H[1] - l_1 * y_0
    y_2 = H[2] - l_2 * y_0 - l_3 * y_1
    e_1 = p.y - l_1 * p.x
    e_2 = p.z - l_2 * p.x - l_3 * e_1
    link.J, link.H, link.p_w = Sym3(l_1, l_2, l_3, i_0, i_1, i_2), Mat3(y_0, y_1, y_2), Vec3(p.x, e_1, e_2)
    z_0, z_1, z_2 = i_0 * y_0, i_1 * y_1, i_2 * y_2
    M = link.M - upper(outer(z_0, y_0)) - upper(outer(z_1, y_1)) - upper(outer(z_2, y_2))
    return M, link.p_v - e_2 * z_2 - e_1 * z_1 - p.x * z_0


@inline
def eliminate_columns(link, system):
    """(M, p_v) left of a body on any other joint, column by column.

    Parent += (J - H d^ - (H d^)^T, H): what is left of J and H is carried here, M and p_v by the caller.
    """
    J, H, M = link.J, link.H, link.M
    p_w, p_v, rotations = link.p_w, link.p_v, link.rotations
    for j in range(rotations + link.translations):
        column = system.columns[link.u + j]
        s = column.s
        if j < rotations:
            w, v, e = J @ s, H.T @ s, -(s @ p_w)
            D_inv = 1.0 / (s @ w)
        else:
            w, v, e = H @ s, M @ s, -(s @ p_v)
            D_inv = 1.0 / (s @ v)
        column.U_w, column.U_v = w, v
        column.D, column.e = D_inv, e
        p_w, p_v = p_w + e * D_inv * w, p_v + e * D_inv * v
        a, c = -D_inv * w, -D_inv * v
        J, H, M = J + upper(outer(a, w)), H + outer(a, v), M + upper(outer(c, v))
    parent = link.parent
    if parent.number == 0:
        return M, p_v
    K, bias_w = cross(link.d, H.T), link.bias_w  # -(H d^)^T
    parent.J += J + upper(K.T) + upper(K)
    parent.H += H
    parent.p_w += p_w + (J @ bias_w + H @ link.bias_v)
    return M, p_v + H.T @ bias_w


@flat
def carry(link, parent, M, p_v):
    """Parent += (-d^ M d^, d^ M, M) and the force with its moment, for a mass M at the arm d."""
    d, p = link.d, p_v + M @ link.bias_v
    K = cross(d, M)
    parent.J += upper(cross(d, K.T).T)
    parent.H += K
    parent.M += M
    parent.p_w += cross(d, p)
    parent.p_v += p


@inline
def subtract_wrench(b, wrench, system):
    """Force on link b -= the wrench (force world, torque body about the centre of mass)."""
    link, f = system.links[b], wrench.force
    link.p_w -= system.bodies[b].R @ wrench.torque + cross(link.c, f)
    link.p_v -= f


@inline
def subtract_wrenches(wrenches, system):
    """Forces on the links -= the wrenches of the bodies."""
    for b in range(1, system.nb + 1):
        subtract_wrench(b, wrenches[b], system)


@inline
def clear_forces(system):
    """Forces on the links <- 0"""
    for link in system.links:
        link.p_w, link.p_v = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)


@inline
def carry_wrenches(system):
    """The forces on the links carried inwards through the factors, as `eliminate_tree` did with those of the motion."""
    for k in range(system.nb - 1, -1, -1):
        link = system.links[system.order[k]]
        parent, p_w, p_v = link.parent, link.p_w, link.p_v
        if is_ball(link):
            f = link.J
            e_1 = p_w.y - f[0] * p_w.x
            e = Vec3(p_w.x, e_1, p_w.z - f[1] * p_w.x - f[2] * e_1)
            link.p_w = e
            p_w, p_v = Vec3(0.0, 0.0, 0.0), p_v - link.H.T @ Vec3(f[3] * e.x, f[4] * e.y, f[5] * e.z)
        else:
            for j in range(link.rotations + link.translations):
                column = system.columns[link.u + j]
                left = -(column.s @ (p_w if j < link.rotations else p_v))
                column.e = left
                p_w, p_v = p_w + left * column.D * column.U_w, p_v + left * column.D * column.U_v
        if parent.number > 0:
            parent.p_w += p_w + cross(link.d, p_v)
            parent.p_v += p_v


@inline
def accelerate_tree(out, moving, system):
    """out <- u' from the roots outwards; forces on the links <- accelerations of the joint points.

    moving : 1.0 with gravity and the accelerations that velocities cause, 0.0 without (response to a row of a loop)
    """
    ground = system.links[0]
    ground.p_w, ground.p_v = Vec3(0.0, 0.0, 0.0), -moving * system.gravity
    for k in range(system.nb):
        link = system.links[system.order[k]]
        parent = link.parent
        a_w = parent.p_w
        a_v = parent.p_v + cross(a_w, link.d)
        if moving != 0.0:
            a_v = a_v + link.bias_v
            if link.turn != WORLD:
                a_w = a_w + link.bias_w
        if is_ball(link):
            f, y = link.J, link.p_w + link.H @ a_v
            w_2 = -f[5] * y.z
            w_1 = -f[4] * y.y - f[2] * w_2
            w = Vec3(-f[3] * y.x - f[0] * w_1 - f[1] * w_2, w_1, w_2)
            Spin(out, link.u).w = link.R.T @ (w if link.turn == WORLD else w - a_w)
            a_w = w
        else:
            for j in range(link.rotations + link.translations - 1, -1, -1):
                column = system.columns[link.u + j]
                acceleration = (column.e - (column.U_w @ a_w + column.U_v @ a_v)) * column.D
                out[link.u + j] = acceleration
                if j < link.rotations:
                    a_w = a_w + acceleration * column.s
                else:
                    a_v = a_v + acceleration * column.s
        link.p_w, link.p_v = a_w, a_v


@inline
def add_body_accelerations(out, moving, system):
    """out += (v', w_B') of the centres of mass."""
    for link in system.links:
        acceleration, a_w, c = out[link.number], link.p_w, link.c
        w = moving * link.w
        acceleration.v += link.p_v + moving * system.gravity + (cross(a_w, c) + cross(w, cross(w, c)))
        acceleration.w += system.bodies[link.number].R.T @ a_w


@inline
def column_forces(e, D_inv, system):
    """e <- what `carry_wrenches` left of the forces at every column; D_inv <- 1 / D_i.

    With J^T f = L e, M = L D L^T: f_1 . M^-1 f_2 = sum e_1i e_2i / D_i, no sweep outwards [Featherstone2008, 6.5, 7.3]
    """
    for link in system.links:
        if is_ball(link):
            f = link.J
            Spin(e, link.u).w, Spin(D_inv, link.u).w = link.p_w, Vec3(f[3], f[4], f[5])
        else:
            for u in range(link.u, link.u + link.rotations + link.translations):
                e[u], D_inv[u] = system.columns[u].e, system.columns[u].D


@inline
def accelerate_by_columns(e, system):
    """u_dot <- response of the tree at rest to what is left of forces."""
    for link in system.links:
        if is_ball(link):
            link.p_w = Spin(e, link.u).w
        else:
            for u in range(link.u, link.u + link.rotations + link.translations):
                system.columns[u].e = e[u]
    accelerate_tree(system.u_dot, 0.0, system)
