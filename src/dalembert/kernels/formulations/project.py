"""Projection of a state of bodies onto the constraints: quasi-orthogonal [JetMultibody, Algorithms 5.3-5.4], by newton.py.

    theta   theta / |theta|, then g and G u + g_t

W is Euclidean in (r, theta), i.e. diag(1, 1/4) in (dr, dphi_B), or the mass matrix.
"""

from dalembert.kernels.base.compiler import flat
from dalembert.kernels.base.loops import negate
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import MOTIONS, OK, POSITIONS
from dalembert.kernels.coordinates.choice import silence
from dalembert.kernels.coordinates.kinematics import count_turns, displace, load_angles, load_poses, normalise
from dalembert.kernels.coordinates.solve import assemble_blocks, factor, metric_correction, pull_back_rows, velocity_residual
from dalembert.kernels.formulations.distribution import load_rows
from dalembert.kernels.formulations.newton import restore, rounding


@flat
def locate(level, iteration, t, x, dx, system):
    """`locate` of newton.py for bodies: poses and rows at x, rhs <- -g or -(G u + g_t); how many"""
    load_poses(x, system)
    if level == 0:
        count_turns(x, system)
        load_rows(POSITIONS, t, system)
        system.count.dg += 1.0
        negate(system.rhs, system.g, system.m)
    else:
        if iteration == 0 and system.nvelocity > 0:  # rows of velocities join the others
            forces(MOTIONS, t, system)
            pull_back_rows(system.A, system)
        velocity_residual(system.rhs, system)
    if iteration > 1:  # idle rows follow the others, as far as the geometry of the model is exact
        silence(system.rhs, 0.0, system)
    return system.m


@flat
def factor_metric(level, x, system):
    assemble_blocks(system.metrics, system)
    factor(1, system)


@flat
def correct(level, x, system):
    metric_correction(system.accelerations, system)
    displace(level, x, system.accelerations, 1.0, system)


@flat
def project_constraints(t, x, system):
    """Onto M_theta and M_hc; the blocks of where the step ends are factored in any case. Status."""
    normalise(x, system)
    same = system.nvelocity == 0
    status, factored = restore(locate, factor_metric, correct, rounding, True, same, t, x, x, system)
    if status == OK and not factored:
        factor_metric(1, x, system)
    return status


@flat
def snap_angles(x, system):
    """The counters of joint angles take the exact angle at the poses in W."""
    load_angles(x, system)
    for joint in system.angles:
        x[joint.x] = joint.angle
