"""Relative coordinates: joint axes, angular velocities, columns and biases of a tree of bodies, from the root outwards.

A body hangs on its parent by a joint with rotations (an angle about z, two angles of a cross, or a unit quaternion with the
angular velocity in the child's joint axes) and translations along axes of the parent's joint frame:

    C_c = C_p E R(q)              x_c = x_p + d,  d = C_p d_0 + sum e_k q_k
    w_c = w_p + sum n_k u_k       v_c = v_p + w_p x d + sum e_k u_k

C are the joint axes of a body, in the fields R (!) and theta of its link; its own axes are C E_c^T, in the field R of the body.
E (theta_0 of the link) and d_0 are axes and point of the joint on the parent, told in the parent's own joint axes. x, v belong
to the joint point of a body, from which its centre of mass is c away.
Accelerations of the child: those of the parent carried over, plus the columns times u', plus a bias [MovingFrame, (2.31)].
A quaternion is that of C_p E -> C_c with w_c - w_p, or (WORLD) that of C_c itself with w_c: errors of steps do not add up
along a chain of ball joints then, and nothing is multiplied.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.tables import ONE_ANGLE, QUATERNION, TWO_ANGLES, WORLD
from dalembert.kernels.base.vectors import Mat3, Quat, Sym3, Vec3, cross, outer, upper
from dalembert.kernels.base.views import Ball, Spin
from dalembert.kernels.coordinates.kinematics import euler_parameter_rates, normalised, rotation

UNIT = 1e-6  # deviation of a quaternion from unit length that is let be


@inline
def has_quaternion(link):
    return link.turn >= QUATERNION


@inline
def joint_rotation(theta, link, x):
    """theta R(q) of a joint as quaternions, continuous in q."""
    turn, q = link.turn, link.q
    if turn == QUATERNION:
        return theta @ Ball(x, q).theta
    if turn == ONE_ANGLE:
        return theta @ Quat(np.cos(0.5 * x[q]), 0.0, 0.0, np.sin(0.5 * x[q]))
    if turn == TWO_ANGLES:
        theta = theta @ Quat(np.cos(0.5 * x[q]), np.sin(0.5 * x[q]), 0.0, 0.0)
        return theta @ Quat(np.cos(0.5 * x[q + 1]), 0.0, np.sin(0.5 * x[q + 1]), 0.0)
    return theta


@inline
def move_tree(x, dx, system):
    """Joint axes, angular velocities, arms, columns, biases and own inertias of all links; dx_q <- N(q) u."""
    ground, zero = system.links[0], Vec3(0.0, 0.0, 0.0)
    ground.theta, ground.R, ground.w = Quat(1.0, 0.0, 0.0, 0.0), Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), zero
    for k in range(system.nb):
        link = system.links[system.order[k]]
        parent, q, u = link.parent, link.q, system.nq + link.u
        w_p, d = parent.w, parent.R @ link.d_0
        if link.turn == WORLD:  # the parent's angular acceleration does not matter, so there is no bias_w
            theta, w_B = Ball(x, q).theta, Spin(x, u).w
            Ball(dx, q).theta = euler_parameter_rates(theta, w_B)
            C = rotation(theta)
            w = C @ w_B
            link.theta, link.R, link.w, link.d, link.bias_v = theta, C, w, d, cross(w_p, cross(w_p, d))
            own_inertia(link, C, w)
            continue
        joint = parent.theta
        if link.turned:
            joint = joint @ link.theta_0
        w_rel, sliding, extra = zero, zero, zero
        if link.turn == QUATERNION:
            ball, w_B = Ball(x, q).theta, Spin(x, u).w
            Ball(dx, q).theta = euler_parameter_rates(ball, w_B)
            theta = joint @ ball
            C = rotation(theta)
            w_rel = C @ w_B
        else:
            theta = joint_rotation(joint, link, x)
            C = rotation(theta)
            if link.turn == ONE_ANGLE:
                n = C.T[2]
                system.columns[link.u].s = n
                dx[q], w_rel = x[u], x[u] * n
            elif link.turn == TWO_ANGLES:
                n, n_2 = np.cos(x[q + 1]) * C.T[0] + np.sin(x[q + 1]) * C.T[2], C.T[1]
                system.columns[link.u].s, system.columns[link.u + 1].s = n, n_2
                dx[q], dx[q + 1] = x[u], x[u + 1]
                w_rel, extra = x[u] * n + x[u + 1] * n_2, x[u] * x[u + 1] * cross(n, n_2)
        if link.translations > 0:
            d, sliding = slide(link, joint, C, d, x, dx, system)
        w = w_p + w_rel
        link.theta, link.R, link.w = theta, C, w
        link.d, link.bias_w, link.bias_v = d, cross(w_p, w_rel) + extra, cross(w_p, 2.0 * sliding + cross(w_p, d))
        own_inertia(link, C, w)


@inline
def slide(link, joint, C, d, x, dx, system):
    """(d, relative velocity) with the translations of the joint, whose axes are those of the quaternion `joint`."""
    axes, sliding, q, u = rotation(joint).T, Vec3(0.0, 0.0, 0.0), link.q + link.rotations, system.nq + link.u + link.rotations
    if link.turn == QUATERNION:  # a free body: its three columns of rotation are in general place
        q += 1
        for j in range(3):
            system.columns[link.u + j].s = C.T[j]
    for j in range(link.translations):
        e = axes[link.axis[j]]
        system.columns[link.u + link.rotations + j].s = e
        d, sliding = d + x[q + j] * e, sliding + x[u + j] * e
        dx[q + j] = x[u + j]
    return d, sliding


@flat
def own_inertia(link, C, w):
    """Inertia and velocity-dependent force of one body about its joint point: J = J_0 1 + a a^T + b b^T, H = m c^, M = m 1,
    p = (w x J w, m w x (w x c))."""
    c, a, b = C @ link.c_0, C @ link.a, C @ link.b
    J_0, m = link.J_0, link.m
    h = m * c
    link.c = c
    link.J = Sym3(J_0, 0.0, 0.0, J_0, 0.0, J_0) + upper(outer(a, a)) + upper(outer(b, b))
    link.H = Mat3(0.0, -h.z, h.y, h.z, 0.0, -h.x, -h.y, h.x, 0.0)
    link.M = Sym3(m, 0.0, 0.0, m, 0.0, m)
    link.p_w = cross(w, (a @ w) * a + (b @ w) * b)  # w x J_0 w = 0
    link.p_v = cross(w, cross(w, h))


@inline
def place_bodies(x, system):
    """Pose and twist of all bodies, for forces and constraint rows."""
    for k in range(system.nb):
        b = system.order[k]
        link, body = system.links[b], system.bodies[b]
        parent, carrier = link.parent, system.bodies[link.parent.number]
        R, w, arm = link.R, link.w, link.d
        if link.skew:
            R = R @ link.E_child.T
        if parent.number > 0:
            arm = arm - parent.c  # to the joint point from the parent's centre of mass, no longer from its joint point
        v = carrier.v + cross(parent.w, arm) + cross(w, link.c)
        for j in range(link.rotations, link.rotations + link.translations):
            v = x[system.nq + link.u + j] * system.columns[link.u + j].s + v
        body.r, body.R = carrier.r + (arm + link.c), R
        body.v, body.w = v, R.T @ w


@inline
def locate_tree(x, dx, system):
    """Both: links and bodies at x; dx_q <- N(q) u."""
    move_tree(x, dx, system)
    place_bodies(x, system)


@inline
def displace_tree(level, x, scale, system):
    """Level 0: q <- q (+) scale u_dot, level 1: u <- u + scale u_dot."""
    for link in system.links:
        at, first = system.nq + link.u, 0
        if level == 0:
            at = link.q
            if has_quaternion(link):
                theta = Ball(x, at).theta
                Ball(x, at).theta = normalised(theta + euler_parameter_rates(theta, scale * Spin(system.u_dot, link.u).w))
                at, first = at + 1, 3
        for j in range(first, link.rotations + link.translations):
            x[at + j] += scale * system.u_dot[link.u + j]


@inline
def normalise_tree(allowed, x, system):
    """Unit quaternions, but only where a length is off by more than allowed. By UNIT in the course of a run: no result depends
    on it, and theta' is linear in theta, so a method that keeps quadratic invariants (Gauss-Legendre) is left to keep this one
    [MovingFrame, 3.1]."""
    for link in system.links:
        if has_quaternion(link):
            theta = Ball(x, link.q).theta
            length_2 = theta.a * theta.a + theta.b * theta.b + theta.c * theta.c + theta.d * theta.d
            if abs(length_2 - 1.0) > 2.0 * allowed:
                Ball(x, link.q).theta = normalised(theta)
