"""Projection of a state onto the constraints: quasi-orthogonal [JetMultibody, Algorithms 5.3-5.5] and its invariants.

    theta   theta / |theta|                                                                (Algorithm 5.3)
    g       q <- q (+) d,  d = -W^-1 G^T (G W^-1 G^T)^-1 g, until |g| <= tolerance           (5.3)
    G u     u <- u - W^-1 G^T (G W^-1 G^T)^-1 (G u + g_t)                                   (5.4)
    f_inv   along W^-1 grad f_inv, made tangent to the constraints                          (5.5)

W is Euclidean in (r, theta), i.e. diag(1, 1/4) in (dr, dphi_B), or the mass matrix.
Deviation: Newton keeps its first factorisation while it contracts (chord method); the gradient of an invariant is first
projected onto the tangent space, so that returning to the invariant does not leave the constraints to first order.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import MOTIONS, NEWTON_FAILED, NON_FINITE, OK, POSITIONS
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.choice import silence
from dalembert.kernels.coordinates.kinematics import displace, load_angles, load_poses, normalise
from dalembert.kernels.coordinates.solve import assemble_blocks, factor, metric_correction, pull_back_rows, velocity_residual
from dalembert.kernels.mechanics.primitives import constraint_rows


@inline
def worst_entry(numbers, n):
    """(index, magnitude) of the largest |numbers[i]|; NaN counts as largest."""
    row, worst = 0, 0.0
    for i in range(n):
        v = abs(numbers[i])
        if not v <= worst:
            row, worst = i, v
            if v != v:  # the next entry would hide it
                break
    return row, worst


@flat
def note_failure(row, value, system):
    system.count.worst_row, system.count.worst_value = row, value


@flat
def project_constraints(t, x, system):
    """Onto M_theta and M_hc: positions (level 0) by Newton's method, then velocities (level 1). Status.

    Double precision leaves some hundred eps times the largest coordinate (or velocity) of a residual: Newton's method may
    stall there.
    """
    count, r, m = system.count, system.rhs, system.m
    count.project += 1.0
    normalise(x, system)
    status, level, iteration, factored, before, rounding = OK, 0, 0, 0, 0.0, 4.4e-14
    while level < 2:
        load_poses(x, system)
        if level == 0:
            forces(POSITIONS, t, system)
            constraint_rows(system)
            pull_back_rows(system.A, system)
            count.dg += 1.0
            for i in range(m):
                r[i] = -system.g[i]
        else:
            velocity_residual(r, system)
        if iteration > 1:  # idle rows follow the others, as far as the geometry of the model is exact
            silence(r, 0.0, system)
        row, worst = worst_entry(r, m)
        done = worst <= (system.tol_velocity if level else system.tol_position)
        if iteration > 1 and worst > 0.25 * before and not done:
            _, largest = worst_entry(Numbers(x, level * system.nq), system.nu if level else system.nq)
            done = worst <= rounding or worst <= rounding * largest
        if done and (level == 0 or factored == 1):
            if level == 0:
                count.newton += iteration
                if iteration > count.newton_max:
                    count.newton_max = iteration
            level, iteration, rounding = level + 1, 0, 1e-12
            if system.nvelocity > 0:  # rows of velocities join the others
                forces(MOTIONS, t, system)
                pull_back_rows(system.A, system)
                factored = 0
            continue
        if not done and (iteration == system.max_newton or not np.isfinite(worst)):
            note_failure(row, worst, system)
            status = NEWTON_FAILED if np.isfinite(worst) else NON_FINITE
            break
        if factored == 0 or (iteration > 0 and worst > 0.05 * before):
            assemble_blocks(system.metrics, system)
            factor(1, system)
            factored = 1
        if done:  # the blocks of where the step ends are there in any case
            continue
        metric_correction(system.accelerations, system)
        displace(level, x, system.accelerations, 1.0, system)
        before, iteration = worst, iteration + 1
    return status


@flat
def snap_angles(x, system):
    """The counters of joint angles take the exact angle at the poses in W."""
    load_angles(x, system)
    for joint in system.angles:
        x[joint.x] = joint.angle
