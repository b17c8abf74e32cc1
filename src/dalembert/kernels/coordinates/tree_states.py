"""Absolute states of relative ones: poses and twists of the bodies, Euler parameters continuous in the joint coordinates."""

from dalembert.kernels.base.compiler import inline, kernel
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.tables import RIGID, WORLD
from dalembert.kernels.base.views import Ball, Numbers, Pose, Twist
from dalembert.kernels.coordinates.kinematics import normalised
from dalembert.kernels.coordinates.tree import joint_rotation, move_tree, place_bodies


@kernel
def tree_states(x, out, system):
    """out (nt, nx) <- absolute states of x (nt, n); Euler parameters have unit length."""
    for k in range(x.shape[0]):
        move_tree(x[k], system.spare, system)
        place_bodies(x[k], system)
        absolute_state(x[k], system)
        for body in system.bodies:
            if body.kind == RIGID:
                pose = Pose(system.called, body.q)
                pose.theta = normalised(pose.theta)
        copy(out[k], system.called, out.shape[1])


@inline
def absolute_state(x, system):
    """called <- the mechanism's own state (r, theta; v, w_B; work, angles), for poses and twists of the bodies."""
    for k in range(system.nb):
        link = system.links[system.order[k]]
        body, carrier = system.bodies[link.number], system.bodies[link.parent.number]
        pose, twist = Pose(system.called, body.q), Twist(system.called, system.nq_body + body.u)
        pose.r, twist.v = body.r, body.v
        if body.kind == RIGID:
            if link.turn == WORLD:
                theta = Ball(x, link.q).theta
            else:
                theta = joint_rotation(link.theta_parent, link, x)
                if carrier.number > 0:
                    theta = Pose(system.called, carrier.q).theta @ theta
            pose.theta, twist.w = theta @ link.theta_child, body.w
    tree = system.nq + system.nu
    copy(system.called + (system.nq_body + system.nu_body), Numbers(x, tree), system.nx - tree)
