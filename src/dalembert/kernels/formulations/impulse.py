"""Constraints at velocity level on bodies: the unconstrained step, impulses, stabilisation, in block-sparse algebra.

The steps themselves, and what the state remembers of them, are in velocity_step.py.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    ANGLE_I,
    ANGLE_I_W,
    G_X,
    INSIDE,
    MEM_H,
    MEMORY_X,
    MOTIONS,
    N_DG,
    N_RHS,
    NANGLE,
    NB,
    NNODE,
    NODE_I,
    NON_FINITE,
    NQ,
    NU,
    OK,
    OUTPUT,
    POWER,
    PREDICT,
    PROJECT,
    PROJECTION,
    S_V,
    SOFT_F,
    STABILISE,
    STATE_W,
    W_ACC,
    W_ANGLE,
    W_BODY,
    W_K,
    W_RHS,
    W_STAT,
    WRENCH,
    M,
)
from dalembert.kernels.coordinates.kinematics import displace, load_angles, load_poses, normalise, store_rates
from dalembert.kernels.coordinates.solve import (
    add_rows_transposed,
    apply_inverse_metric,
    assemble_blocks,
    factor,
    metric_correction,
    pull_back_rows,
    subtract_row_products,
)
from dalembert.kernels.formulations.distribution import prepare_solve, solve_by_factor, store_outputs, store_solution
from dalembert.kernels.formulations.pivots import watch_rows
from dalembert.kernels.formulations.project import project_constraints, snap_angles
from dalembert.kernels.formulations.velocity_step import (
    add_work,
    compliance,
    end_step,
    mean_reaction,
    memory_of_start,
    remember_start,
    store_memory_rates,
    wanted_rates,
)
from dalembert.kernels.mechanics.inertia import gravity_and_gyroscopic, pull_back_wrenches
from dalembert.kernels.mechanics.primitives import constraint_rows


@flat
def start_step(t, x, dx, system):
    """Accelerations and multipliers at the start of a step, as `jet` has them, go into the memory of x. Status."""
    I, W = system.I, system.W
    nq, nu = I[NQ], I[NU]
    share = memory_of_start(system)[3]
    status = prepare_solve(t, x, system)
    store_rates(x, dx, system.accelerations, system)
    for i in range(nu):
        x[share + i] = -dx[nq + i]
    solve_by_factor(system)
    finite = store_solution(x, dx, system)
    for i in range(nu):
        x[share + i] += dx[nq + i]
    remember_start(x, dx, W[I[W_STAT] + POWER], system)
    return status if status != OK else finite


@flat
def free_rates(t, x, dx, system):
    """dx <- (N u, M^-1 h, external power, angle rates). Status."""
    I, W = system.I, system.W
    W[I[W_STAT] + N_RHS] += 1.0
    load_poses(x, system)
    load_angles(x, system)
    gravity_and_gyroscopic(system)
    status = forces(WRENCH, t, system)
    pull_back_wrenches(system)
    apply_inverse_metric(system.masses, system.wrenches, system.accelerations, system)
    store_rates(x, dx, system.accelerations, system)
    nq, nu = I[NQ], I[NU]
    dx[nq + nu] = W[I[W_STAT] + POWER]
    for c in range(I[NANGLE]):
        dx[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c + 1]
    for i in range(nq, nq + nu + 1):
        if not np.isfinite(dx[i]):
            status = NON_FINITE
    return status


@flat
def soft_outputs(t, x, system):
    """W_RHS <- mean reaction of the step to x, W_ACC <- M^-1 (h + A^T lam), and the rest of `store_outputs`. Status."""
    I, W = system.I, system.W
    load_poses(x, system)
    load_angles(x, system)
    gravity_and_gyroscopic(system)
    status = forces(WRENCH, t, system)
    pull_back_wrenches(system)
    forces(MOTIONS, t, system)
    constraint_rows(system)
    pull_back_rows(system.A, system)
    for i in range(I[M]):
        W[I[W_RHS] + i] = mean_reaction(x, i, system)
    add_rows_transposed(system.A, system.rhs, system.displacements, system)
    apply_inverse_metric(system.masses, system.wrenches, system.accelerations, system)
    store_outputs(t, system)
    return status


@flat
def correct_velocities(t, h, x, system):
    """u* -> u+ by the impulses of the rows at the q in x; the impulses are left in W_RHS, their work goes to the state."""
    I, W = system.I, system.W
    load_poses(x, system)
    forces(MOTIONS, t, system)
    constraint_rows(system)
    pull_back_rows(system.A, system)
    W[I[W_STAT] + N_DG] += 1.0
    wanted_rates(h, x, system)
    subtract_row_products(system.A, system.twists, system.rhs, False, system)
    assemble_blocks(system.masses, system)
    if I[SOFT_F] > 0:
        add_compliance(h, system)
    factor(0, system)
    metric_correction(system.accelerations, system)
    displace(1, x, system.accelerations, 1.0, system)
    add_work(h, x, system)


@flat
def add_compliance(h, system):
    """S <- S + D^-1 on the diagonals of the constraint nodes."""
    I, W = system.I, system.W
    for node in range(I[NNODE]):
        p = I[I[NODE_I] + node]
        n, d, row = I[p], I[W_K] + I[p + 1], I[p + 2]
        if row < I[M]:
            for i in range(n):
                W[d + (n + 1) * i] += compliance(h, row + i, system)


@flat
def advance_positions(h, x, system):
    """q <- q (+) h N u"""
    I, W = system.I, system.W
    load_poses(x, system)
    for b in range(1, I[NB] + 1):
        for i in range(6):
            W[I[W_ACC] + 6 * b + i] = W[I[W_BODY] + STATE_W * b + S_V + i]
    displace(0, x, system.accelerations, h, system)


@flat
def stabilise(t, x, system):
    """Positions onto the constraints where the run projects them, unit Euler parameters in any case. Status."""
    I = system.I
    status = OK
    if I[STABILISE] == PROJECTION:
        status = project_constraints(t, x, system)
    else:
        normalise(x, system)
    return status


@kernel
def impulse(mode, t, x, dx, system):
    """RATE: dx <- unconstrained rates; at the start of a step also what x remembers of it. PROJECT: x <- end of the step, or
    a stabilised state between two steps. OUTPUT: what a saved state and the compliant force of the step to it imply."""
    I, W = system.I, system.W
    if mode == PROJECT:
        inside = W[I[W_STAT] + INSIDE] != 0.0
        status = end_step(stabilise, correct_velocities, advance_positions, inside, t, x, system)
        if status == OK and I[SOFT_F] == 0:
            watch_rows(t, system)
        load_poses(x, system)
        snap_angles(x, system)
        return status
    if mode == OUTPUT:
        return soft_outputs(t, x, system)
    if I[PREDICT] == 1 and x[I[MEMORY_X] + MEM_H] == 0.0:
        status = start_step(t, x, dx, system)
    else:
        status = free_rates(t, x, dx, system)
    store_memory_rates(x, dx, system)
    return status
