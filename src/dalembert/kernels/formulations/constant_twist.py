"""Bodies that move with constant velocities xi = (v, w_B) for a while, and the directions in which each kind of body can move.

    r + s v,   theta exp(s w_B)  (rigid);   r + s v  (point mass);   x, y, beta + s (x', y', beta')  (planar)

|theta| = 1 at every s; the product is normalised against rounding alone.
"""

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.tables import PLANAR, RIGID
from dalembert.kernels.base.vectors import Vec3, unit
from dalembert.kernels.base.views import Numbers, Pose, Twist
from dalembert.kernels.coordinates.exponential import exponential
from dalembert.kernels.coordinates.kinematics import in_plane, load_poses, normalised


@inline
def freedoms(body):
    """Number of velocities of a body"""
    return 6 if body.kind == RIGID else 3


@inline
def direction(body, c, plane):
    """(v, w_B) of a unit of the body's velocity c"""
    zero = Vec3(0.0, 0.0, 0.0)
    if body.kind == PLANAR:
        if c == 2:
            return zero, body.normal
        return plane.e1 if c == 0 else plane.e2, zero
    return unit(c), unit(c - 3)


@inline
def works_along(row, v, w):
    """Power of a row in a twist"""
    t = row.torque
    return row.force @ v + t.x * w.x + t.y * w.y + t.z * w.z


@inline
def add_components(out, stride, scale, v, w, body, plane):
    """out[stride u] += scale times the part of the 6-vector (v, w) that works along velocity u of the body."""
    if body.kind == PLANAR:
        v = in_plane(v, w, body, plane)
    for c in range(3):
        out[stride * (body.u + c)] += scale * v[c]
    if body.kind == RIGID:
        for c in range(3):
            out[stride * (body.u + 3 + c)] += scale * w[c]


@inline
def move(s, x, z, y, system):
    """y <- state x after s of the constant velocities z, and these velocities."""
    copy(y, x, x.size)
    copy(Numbers(y, system.nq), z, system.nu)
    for body in system.bodies:
        before, pose, twist = Pose(x, body.q), Pose(y, body.q), Twist(y, system.nq + body.u)
        pose.r = s * twist.v + before.r
        if body.kind == RIGID:
            pose.theta = normalised(before.theta @ exponential(s * twist.w))
    load_poses(y, system)


@inline
def momentum_along(body, impulses):
    """pi = M xi + S of a body, S : one of the impulses"""
    S = impulses[body.number]
    return body.m * body.v + S.force, body.J @ body.w + S.torque
