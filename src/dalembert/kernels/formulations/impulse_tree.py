"""Constraints at velocity level in relative coordinates: the steps of velocity_step.py on a tree, impulses of cut joints.

u* by the articulated-body recursion;   S Lam = c,   u+ = u* + (response of the tree to A^T Lam)         moving_frame.py
"""

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.loops import clear, copy
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import MOTIONS, OK, PROJECT
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.articulated import eliminate_tree
from dalembert.kernels.coordinates.cut_rows import subtract_cut_rows
from dalembert.kernels.coordinates.kinematics import count_turns, finish_rates
from dalembert.kernels.coordinates.tree import UNIT, displace_tree, locate_tree, normalise_tree
from dalembert.kernels.formulations.moving_frame import (
    close_cut_joints,
    correct_by_recursion,
    factor_by_recursion,
    force_wrenches,
    hold_cut_joints,
    respond_to_multipliers,
    solve_cut_rows,
    tree_rates,
    watch_cut_rows,
)
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.formulations.velocity_step import memory_of, velocity_level, wanted_rates
from dalembert.kernels.mechanics.primitives import constraint_rows


@flat
def start_step(t, x, dx, system):
    """Accelerations and multipliers at the start of a step. Status, power of the forces."""
    share = memory_of(x, system).share
    system.count.rhs += 1.0
    status, power = tree_rates(force_wrenches, True, t, x, dx, system, system)
    total = power
    clear(share, system.nu)
    if system.m > 0:
        total = hold_cut_joints(power, t, dx, system)
        copy(share, system.u_dot, system.nu)
    return finish_rates(status, total, dx, system), power


@flat
def free_rates(t, x, dx, system):
    """dx <- (N u, accelerations of the tree without its cut joints, external power, angle rates). Status."""
    system.count.rhs += 1.0
    status, power = tree_rates(force_wrenches, False, t, x, dx, system, system)
    return finish_rates(status, power, dx, system)


@flat
def no_outputs(t, x, system):
    """Rigid joints: what saved states imply is asked of the reference."""
    return OK


@flat
def correct_velocities(t, h, x, system):
    """u* -> u+ by the impulses of the cut joints at the q in x, which are left in rhs."""
    if system.m > 0:
        locate_tree(x, system.spare, system)
        count_turns(x, system)
        forces(MOTIONS, t, system)
        constraint_rows(system)
        system.count.dg += 1.0
        wanted_rates(h, x, system)
        subtract_cut_rows(system.twists, system.rhs, system)
        eliminate_tree(system)
        solve_cut_rows(system)
        respond_to_multipliers(system.rhs, system)
        displace_tree(1, x, 1.0, system)


@flat
def advance_positions(t, h, x, system):
    """q <- q (+) h N u"""
    copy(system.u_dot, Numbers(x, system.nq), system.nu)
    displace_tree(0, x, h, system)
    return 0.0


@flat
def normalise(x, system):
    normalise_tree(UNIT, x, system)


@flat
def project(t, x, system):
    """Onto the cut joints, if there are any. Status."""
    if system.m == 0:
        normalise(x, system)
        return OK
    return close_cut_joints(factor_by_recursion, correct_by_recursion, t, x, system.spare, system)[0]


@kernel
def impulse_tree(mode, t, x, dx, system):
    """See `velocity_level`."""
    status = velocity_level(
        start_step, free_rates, no_outputs, project, normalise, correct_velocities, advance_positions, mode, t, x, dx, system
    )
    if mode == PROJECT:
        if status == OK and system.m > 0 and system.count.inside == 0.0:
            watch_cut_rows(t, system)
        locate_tree(x, system.spare, system)
        snap_angles(x, system)
    return status
