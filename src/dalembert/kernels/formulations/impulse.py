"""Constraints at velocity level on bodies: the unconstrained step, impulses, stabilisation, in block-sparse algebra.

The steps themselves, and what the state remembers of them, are in velocity_step.py.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.tables import (
    ANGLE_I,
    ANGLE_I_W,
    G_X,
    INSIDE,
    MASS_F,
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
    W_A,
    W_ACC,
    W_ANGLE,
    W_BODY,
    W_H,
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
def start_step(t, x, dx, I, F, W, forces, callback):
    """Accelerations and multipliers at the start of a step, as `jet` has them, go into the memory of x. Status."""
    nq, nu = I[NQ], I[NU]
    share = memory_of_start(I)[3]
    status = prepare_solve(t, x, I, F, W, forces, callback)
    store_rates(x, dx, I[W_ACC], I, F, W)
    for i in range(nu):
        x[share + i] = -dx[nq + i]
    solve_by_factor(I, F, W, forces, callback)
    finite = store_solution(x, dx, I, F, W)
    for i in range(nu):
        x[share + i] += dx[nq + i]
    remember_start(x, dx, W[I[W_STAT] + POWER], I, W)
    return status if status != OK else finite


@flat
def free_rates(t, x, dx, I, F, W, forces, callback):
    """dx <- (N u, M^-1 h, external power, angle rates). Status."""
    W[I[W_STAT] + N_RHS] += 1.0
    load_poses(x, I, F, W)
    load_angles(x, I, F, W)
    gravity_and_gyroscopic(I, F, W)
    status = forces(WRENCH, t, I, F, W, callback)
    pull_back_wrenches(I, F, W)
    apply_inverse_metric(I[MASS_F], I[W_H], I[W_ACC], I, F, W)
    store_rates(x, dx, I[W_ACC], I, F, W)
    nq, nu = I[NQ], I[NU]
    dx[nq + nu] = W[I[W_STAT] + POWER]
    for c in range(I[NANGLE]):
        dx[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c + 1]
    for i in range(nq, nq + nu + 1):
        if not np.isfinite(dx[i]):
            status = NON_FINITE
    return status


@flat
def soft_outputs(t, x, I, F, W, forces, callback):
    """W_RHS <- mean reaction of the step to x, W_ACC <- M^-1 (h + A^T lam), and the rest of `store_outputs`. Status."""
    load_poses(x, I, F, W)
    load_angles(x, I, F, W)
    gravity_and_gyroscopic(I, F, W)
    status = forces(WRENCH, t, I, F, W, callback)
    pull_back_wrenches(I, F, W)
    forces(MOTIONS, t, I, F, W, callback)
    constraint_rows(I, F, W)
    pull_back_rows(I[W_A], I, F, W)
    for i in range(I[M]):
        W[I[W_RHS] + i] = mean_reaction(x, i, I)
    add_rows_transposed(I[W_A], I[W_RHS], I[W_H], I, W)
    apply_inverse_metric(I[MASS_F], I[W_H], I[W_ACC], I, F, W)
    store_outputs(t, I, F, W, forces, callback)
    return status


@flat
def correct_velocities(t, h, x, I, F, W, forces, callback):
    """u* -> u+ by the impulses of the rows at the q in x; the impulses are left in W_RHS, their work goes to the state."""
    load_poses(x, I, F, W)
    forces(MOTIONS, t, I, F, W, callback)
    constraint_rows(I, F, W)
    pull_back_rows(I[W_A], I, F, W)
    W[I[W_STAT] + N_DG] += 1.0
    wanted_rates(h, x, I, F, W)
    subtract_row_products(I[W_A], I[W_BODY] + S_V, STATE_W, I[W_RHS], False, I, W)
    assemble_blocks(I[MASS_F], I, F, W)
    if I[SOFT_F] > 0:
        add_compliance(h, I, F, W)
    factor(I[MASS_F], I, F, W, forces, callback)
    metric_correction(I[W_ACC], I, F, W)
    displace(1, x, I[W_ACC], 1.0, I, F, W)
    add_work(h, x, I, F, W)


@flat
def add_compliance(h, I, F, W):
    """S <- S + D^-1 on the diagonals of the constraint nodes."""
    for node in range(I[NNODE]):
        p = I[I[NODE_I] + node]
        n, d, row = I[p], I[W_K] + I[p + 1], I[p + 2]
        if row < I[M]:
            for i in range(n):
                W[d + (n + 1) * i] += compliance(h, row + i, I, F)


@flat
def advance_positions(h, x, I, F, W):
    """q <- q (+) h N u"""
    load_poses(x, I, F, W)
    for b in range(1, I[NB] + 1):
        for i in range(6):
            W[I[W_ACC] + 6 * b + i] = W[I[W_BODY] + STATE_W * b + S_V + i]
    displace(0, x, I[W_ACC], h, I, F, W)


@flat
def stabilise(t, x, I, F, W, forces, callback):
    """Positions onto the constraints where the run projects them, unit Euler parameters in any case. Status."""
    status = OK
    if I[STABILISE] == PROJECTION:
        status = project_constraints(t, x, I, F, W, forces, callback)
    else:
        normalise(x, I)
    return status


@kernel
def impulse(mode, t, x, dx, I, F, W, forces, callback):
    """RATE: dx <- unconstrained rates; at the start of a step also what x remembers of it. PROJECT: x <- end of the step, or
    a stabilised state between two steps. OUTPUT: what a saved state and the compliant force of the step to it imply."""
    if mode == PROJECT:
        inside = W[I[W_STAT] + INSIDE] != 0.0
        status = end_step(stabilise, correct_velocities, advance_positions, inside, t, x, I, F, W, forces, callback)
        if status == OK and I[SOFT_F] == 0:
            watch_rows(t, I, F, W)
        load_poses(x, I, F, W)
        snap_angles(x, I, F, W)
        return status
    if mode == OUTPUT:
        return soft_outputs(t, x, I, F, W, forces, callback)
    if I[PREDICT] == 1 and x[I[MEMORY_X] + MEM_H] == 0.0:
        status = start_step(t, x, dx, I, F, W, forces, callback)
    else:
        status = free_rates(t, x, dx, I, F, W, forces, callback)
    store_memory_rates(x, dx, I)
    return status
