"""Constraints at velocity level on bodies: the unconstrained step, impulses, stabilisation, in block-sparse algebra.

The steps themselves, and what the state remembers of them, are in velocity_step.py.
"""

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.loops import add_multiple, negate
from dalembert.kernels.base.tables import MOTIONS, OK, POSITIONS, PROJECT
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.kinematics import displace, load_poses, normalise, store_rates
from dalembert.kernels.coordinates.solve import (
    add_rows_transposed,
    apply_inverse_metric,
    assemble_blocks,
    factor,
    metric_correction,
    subtract_row_products,
)
from dalembert.kernels.formulations.distribution import (
    load_rows,
    load_wrenches,
    prepare_solve,
    solve_by_factor,
    store_motion,
    store_outputs,
    store_solution,
)
from dalembert.kernels.formulations.pivots import watch_rows
from dalembert.kernels.formulations.project import project_constraints as project
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.formulations.velocity_step import compliance, mean_reactions, memory_of, velocity_level, wanted_rates


@flat
def start_step(t, x, dx, system):
    """Accelerations and multipliers at the start of a step, as `jet` has them. Status, power of the forces."""
    u_dot, share = Numbers(dx, system.nq), memory_of(x, system).share
    status = prepare_solve(t, x, system)
    store_rates(x, dx, system.accelerations, system)
    negate(share, u_dot, system.nu)
    solve_by_factor(system)
    finite = store_solution(x, dx, system)
    add_multiple(share, 1.0, u_dot, system.nu)
    return status if status != OK else finite, system.count.power


@flat
def free_rates(t, x, dx, system):
    """dx <- (N u, M^-1 h, external power, angle rates). Status."""
    system.count.rhs += 1.0
    status = load_wrenches(t, x, system)
    apply_inverse_metric(system.masses, system.wrenches, system.accelerations, system)
    finite = store_motion(x, dx, system.count.power, system)
    return finite if finite != OK else status


@flat
def soft_outputs(t, x, system):
    """rhs <- mean reaction of the step to x, accelerations <- M^-1 (h + A^T lam), and the rest of `store_outputs`. Status."""
    status = load_wrenches(t, x, system)
    load_rows(MOTIONS, t, system)
    mean_reactions(x, system)
    add_rows_transposed(system.A, system.rhs, system.displacements, system)
    apply_inverse_metric(system.masses, system.wrenches, system.accelerations, system)
    store_outputs(t, system)
    return status


@flat
def correct_velocities(t, h, x, system):
    """u* -> u+ by the impulses of the rows at the q in x, which are left in rhs."""
    load_poses(x, system)
    load_rows(MOTIONS, t, system)
    system.count.dg += 1.0
    wanted_rates(h, x, system)
    subtract_row_products(system.A, system.twists, system.rhs, False, system)
    assemble_blocks(system.masses, system)
    if system.soft_f > 0:
        add_compliance(h, system)
    factor(0, system)
    metric_correction(system.accelerations, system)
    displace(1, x, system.accelerations, 1.0, system)


@flat
def add_compliance(h, system):
    """S <- S + D^-1 on the diagonals of the constraint nodes."""
    K, tape = system.K, system.integers
    for node in range(system.nnode):
        p = system.tapes[node]
        n, d, row = tape[p], tape[p + 1], tape[p + 2]
        if row < system.m:
            for i in range(n):
                K[d + (n + 1) * i] += compliance(h, row + i, system)


@flat
def advance_positions(t, h, x, system):
    """q <- q (+) h N u; of compliant joints g <- their residuals there. Power of the forces of these runs."""
    load_poses(x, system)
    displace(0, x, system.twists, h, system)
    if system.soft_f > 0:
        load_wrenches(t, x, system)
        load_rows(POSITIONS, t, system)
    return system.count.power


@kernel
def impulse(mode, t, x, dx, system):
    """See `velocity_level`."""
    status = velocity_level(
        start_step, free_rates, soft_outputs, project, normalise, correct_velocities, advance_positions, mode, t, x, dx, system
    )
    if mode == PROJECT:
        if status == OK and system.soft_f == 0:
            watch_rows(t, system)
        load_poses(x, system)
        snap_angles(x, system)
    return status
