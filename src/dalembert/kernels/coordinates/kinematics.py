"""From the state to poses and twists of bodies and back, for `absolute` and `planar` coordinates.

    state x = (q, u, W_ext, angle counters)
    rigid   q = (r, theta)  u = (r', w_B)        7 + 6
    point   q = r           u = r'               3 + 3
    planar  q = (x, y, beta)  u = (x', y', beta')  3 + 3    r = o + x e1 + y e2, R = exp(beta n^) R_0  [JetMultibody, 4.3]

Inside the kernels every body has a pose (r, R) and a twist (v, w_B); N(q), the retraction and the packing of accelerations
are the only places that know which coordinates carry them.
"""

import numpy as np
from numpy import uintp

from dalembert.kernels.base.compiler import flat, inline, once
from dalembert.kernels.base.tables import NON_FINITE, PLANAR, RIGID
from dalembert.kernels.base.vectors import Mat3, Quat, Vec3
from dalembert.kernels.base.views import Pose, Twist


@inline
def rotation(theta):
    """R = H~ H^T of Euler parameters [JetMultibody, (2.1)], divided by |theta|^2 so that any length gives a rotation."""
    a, b, c, d = theta.a, theta.b, theta.c, theta.d
    s = 2.0 / (a * a + b * b + c * c + d * d)
    ab, ac, ad = s * a * b, s * a * c, s * a * d
    bb, bc, bd = s * b * b, s * b * c, s * b * d
    cc, cd, dd = s * c * c, s * c * d, s * d * d
    return Mat3(1.0 - cc - dd, bc - ad, bd + ac, bc + ad, 1.0 - bb - dd, cd - ab, bd - ac, cd + ab, 1.0 - bb - cc)


@inline
def euler_parameter_rates(theta, w_B):
    """theta' = 1/2 H(theta)^T w_B  [JetMultibody, Lemma 3.1]"""
    a, b, c, d = theta.a, theta.b, theta.c, theta.d
    x, y, z = 0.5 * w_B.x, 0.5 * w_B.y, 0.5 * w_B.z
    return Quat(-b * x - c * y - d * z, a * x - d * y + c * z, d * x + a * y - b * z, -c * x + b * y + a * z)


@inline
def normalised(theta):
    a, b, c, d = theta.a, theta.b, theta.c, theta.d
    return (1.0 / np.sqrt(a * a + b * b + c * c + d * d)) * theta


@inline
def load_poses(x, system):
    """Pose and twist of every body from q and u."""
    for body in system.bodies:
        pose, twist = Pose(x, body.q), Twist(x, system.nq + body.u)
        if body.kind == PLANAR:
            plane, c, d = system.plane, pose.r, twist.v  # (x, y, beta), (x', y', beta')
            half = np.sin(0.5 * c.z) * plane.n
            body.r = c.x * plane.e1 + (c.y * plane.e2 + body.origin)
            body.R = rotation(Quat(np.cos(0.5 * c.z), half.x, half.y, half.z)) @ body.R_0
            body.v = d.x * plane.e1 + d.y * plane.e2
            body.w = d.z * body.normal
        else:
            body.r = pose.r
            body.v = twist.v
            if body.kind == RIGID:
                body.R = rotation(pose.theta)
                body.w = twist.w


@inline
def in_plane(v, w, body, plane):
    """(e1 . v, e2 . v, n_B . w) of a planar body"""
    return Vec3(plane.e1 @ v, plane.e2 @ v, body.normal @ w)


@inline
def store_rates(x, dx, acceleration, system):
    """dx_q = N(q) u and dx_u from the accelerations (v', w_B') per body."""
    for body in system.bodies:
        q, u = body.q, system.nq + body.u
        twist, d_pose, d_twist = Twist(x, u), Pose(dx, q), Twist(dx, u)
        a = acceleration[body.number]
        d_pose.r = twist.v
        d_twist.v = in_plane(a.v, a.w, body, system.plane) if body.kind == PLANAR else a.v
        if body.kind == RIGID:
            d_pose.theta = euler_parameter_rates(Pose(x, q).theta, twist.w)
            d_twist.w = a.w


@flat
def finish_rates(status, power, dx, system):
    """dx <- rates of what follows q and u: external work, counters of angles. Status, NON_FINITE where accelerations are."""
    nq, end = system.nq, system.nq + system.nu
    dx[end] = power
    for joint in system.angles:
        dx[joint.x] = joint.rate
    finite = True
    for i in range(uintp(nq), uintp(end + 1)):
        finite &= abs(dx[i]) < np.inf
    return status if finite else NON_FINITE


@once
@inline
def displace(level, x, d, scale, system):
    """Level 0: q <- q (+) scale d, Euler parameters stay unit; level 1: u <- u + scale d, with d = (dr, dphi_B) or (dv, dw_B)
    per body."""
    for body in system.bodies:
        v, w = scale * d[body.number].v, scale * d[body.number].w
        if body.kind == PLANAR:
            v = in_plane(v, w, body, system.plane)
        pose, twist = Pose(x, body.q), Twist(x, system.nq + body.u)
        if level == 1:
            twist.v += v
            if body.kind == RIGID:
                twist.w += w
        else:
            pose.r += v
            if body.kind == RIGID:
                pose.theta = normalised(pose.theta + euler_parameter_rates(pose.theta, w))


@inline
def normalise(x, system):
    """theta <- theta / |theta| for every rigid body [JetMultibody, Algorithm 5.3]; theta . theta' = 0 holds by w_B."""
    for body in system.bodies:
        if body.kind == RIGID:
            pose = Pose(x, body.q)
            pose.theta = normalised(pose.theta)


@inline
def load_angles(x, system):
    """Angle and rate of every counted joint angle, unwrapped with its counter in the state."""
    for joint in system.angles:
        i, j = joint.i, joint.j
        d = i.R.T @ (j.R @ joint.x_j)
        angle = np.arctan2(joint.y_i @ d, joint.x_i @ d)
        turns = np.floor((x[joint.x] - angle) / (2.0 * np.pi) + 0.5)
        joint.angle = angle + 2.0 * np.pi * turns
        joint.rate = joint.z_i @ (i.R.T @ (j.R @ j.w) - i.w)


@inline
def load_angle_rates(x, system):
    """Rates of all counted joint angles for x', and the angles themselves where force elements or rows read them: an arctan2
    for each is up to a tenth of x'."""
    if system.unread == 0 or system.npart > 0:
        load_angles(x, system)
    else:
        for joint in system.angles:
            joint.rate = joint.z_i @ (joint.i.R.T @ (joint.j.R @ joint.j.w) - joint.i.w)


@inline
def count_turns(x, system):
    """`load_angles`, where constraint rows read angles."""
    if system.npart > 0:
        load_angles(x, system)
