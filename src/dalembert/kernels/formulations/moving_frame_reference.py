"""The reference path of the moving-frame formulation as a slot [MovingFrame, 2-3]: dense matrices, blocks as in the source.

    M* u' = F* - N* u + (A B)^T lam,    A B u' + A B' u + zeta = 0,    projection onto cut joints in the metric of M*

Slow, there to be compared with moving_frame.py; how the matrices are built is in frame_matrices.py.
"""

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.loops import copy, minus_dot, negate
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import MOTIONS, OK, PROJECT, WRENCH
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.cut_rows import subtract_cut_rows
from dalembert.kernels.coordinates.frame_matrices import (
    back_substitute,
    blocks,
    derivatives,
    eliminate,
    fill_blocks,
    fill_forces,
    fill_reduced_matrix,
    multiply,
    solve_rows_of_cut_joints,
    subtract_inertia,
)
from dalembert.kernels.coordinates.kinematics import finish_rates, load_angles
from dalembert.kernels.coordinates.tree import UNIT, displace_tree, locate_tree, normalise_tree
from dalembert.kernels.formulations.moving_frame import close_cut_joints
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.mechanics.inertia import gravity
from dalembert.kernels.mechanics.primitives import constraint_rows


@flat
def factor_densely(level, x, system):
    fill_blocks(x, system)
    fill_reduced_matrix(system)
    eliminate(system)


@flat
def correct_densely(level, x, system):
    """Least in the metric of M*."""
    solve_rows_of_cut_joints(system)
    back_substitute(system)
    displace_tree(level, x, 1.0, system)


@flat
def velocity_terms(t, x, system):
    """Wrenches <- F - M B' u - D M B u, work <- B' u, rhs <- -(zeta + A B' u) of the cut joints. Status, external power."""
    bias = system.work
    gravity(system)
    status = forces(WRENCH, t, system)
    power = system.count.power
    fill_blocks(x, system)
    multiply(derivatives(system), Numbers(x, system.nq), bias, system)
    subtract_inertia(bias, system)
    if system.m > 0:
        forces(MOTIONS, t, system)
        constraint_rows(system)
        negate(system.rhs, system.zeta, system.m)
        subtract_cut_rows(bias, system.rhs, system)
    return status, power


@kernel
def moving_frame_reference(mode, t, x, dx, system):
    """RATE: dx <- rates of the relative coordinates. PROJECT: x <- onto unit quaternions and cut joints."""
    m = system.m
    if mode == PROJECT:
        status = OK
        normalise_tree(UNIT, x, system)
        if m == 0:
            locate_tree(x, dx, system)
        else:
            status, _ = close_cut_joints(factor_densely, correct_densely, t, x, dx, system)
        snap_angles(x, system)
        return status
    system.count.rhs += 1.0
    bias, acceleration = system.work, system.accelerations
    locate_tree(x, dx, system)
    load_angles(x, system)
    status, power = velocity_terms(t, x, system)
    fill_reduced_matrix(system)
    fill_forces(system.wrenches, system)
    eliminate(system)
    if m > 0:
        solve_rows_of_cut_joints(system)
        power = minus_dot(power, system.rhs, system.g_t, m)
    back_substitute(system)
    multiply(blocks(system), system.u_dot, acceleration, system)
    for b in range(1, system.nb + 1):
        acceleration[b].v += bias[b].v
        acceleration[b].w += bias[b].w
    copy(Numbers(dx, system.nq), system.u_dot, system.nu)
    return finish_rates(status, power, dx, system)
