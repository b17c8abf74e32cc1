"""The full orthogonal projection of (q, u) onto g = 0, G u + g_t = 0 [JetMultibody, (5.2)], for comparison.

    minimise 1/2 |q - a|_W^2 + 1/2 |u - a1|_W^2      with A = G, B = d(G u + g_t)/dq (the second derivatives of g):

    [A W^-1 A^T   A W^-1 B^T              ] [mu   ]   [g        - A D      ]       dq = -D - W^-1 (A^T mu + B^T alpha)
    [B W^-1 A^T   B W^-1 B^T + A W^-1 A^T ] [alpha] = [G u + g_t - B D - A E]       du = -E - W^-1 A^T alpha

with D, E the displacement so far. Deviation: velocities are compared as (r', w_B / 2), not (r', theta'); the terms of Newton's
matrix that carry multipliers (third derivatives) are left out, so that it converges linearly with a rate of the size of D.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import dense_cholesky, solve_with_factor
from dalembert.kernels.base.loops import clear, copy, negate
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import BENDS, CHOOSE, MOTIONS, NEWTON_FAILED, NON_FINITE, OK, PLANAR, RIGID, V
from dalembert.kernels.base.vectors import Vec3
from dalembert.kernels.base.views import Pose, Twist, Twists, Wrenches
from dalembert.kernels.coordinates.choice import choices, silence
from dalembert.kernels.coordinates.kinematics import count_turns, displace, load_poses, normalise
from dalembert.kernels.coordinates.solve import (
    add_rows_transposed,
    apply_inverse_metric,
    subtract_row_products,
    velocity_residual,
)
from dalembert.kernels.formulations.distribution import load_bends, load_rows
from dalembert.kernels.formulations.newton import worst_entry
from dalembert.kernels.formulations.project import snap_angles


@inline
def displacement(x, kept, dq, du, system):
    """dq, du <- displacement from the state that was kept to x: gradient of the squared distance, divided by W."""
    zero = Vec3(0.0, 0.0, 0.0)
    for body in system.bodies:
        q, u = body.q, system.nq + body.u
        now, before = Pose(x, q), Pose(kept, q)
        p, s = dq[body.number], du[body.number]
        moved, gained = now.r - before.r, Twist(x, u).v - Twist(kept, u).v
        if body.kind == PLANAR:
            plane = system.plane
            p.v, p.w = moved.x * plane.e1 + moved.y * plane.e2, moved.z * body.normal
            s.v, s.w = gained.x * plane.e1 + gained.y * plane.e2, gained.z * body.normal
            continue
        p.v, p.w = moved, zero
        s.v, s.w = gained, zero
        if body.kind == RIGID:
            th, a = now.theta, before.theta
            p.w = -2.0 * Vec3(  # -2 H(theta) a
                -th.b * a.a + th.a * a.b + th.d * a.c - th.c * a.d,
                -th.c * a.a - th.d * a.b + th.a * a.c + th.b * a.d,
                -th.d * a.a + th.c * a.b - th.b * a.c + th.a * a.d,
            )
            s.w = Twist(x, u).w - Twist(kept, u).w


@inline
def respond(multipliers, system):
    """saddle.q <- W^-1 (A^T mu + B^T alpha), saddle.u <- W^-1 A^T alpha"""
    work, n, alpha = system.saddle, 6 * (system.nb + 1), multipliers + system.m
    dq, du = Twists(work.q, 0), Twists(work.u, 0)
    clear(work.q, n)
    clear(work.u, n)
    add_rows_transposed(system.A, multipliers, dq, system)
    add_rows_transposed(system.bends, alpha, dq, system)
    add_rows_transposed(system.A, alpha, du, system)
    apply_inverse_metric(system.metrics, Wrenches(work.q, 0), dq, system)
    apply_inverse_metric(system.metrics, Wrenches(work.u, 0), du, system)


@inline
def subtract_rates(q, u, out, system):
    """out -= (A dq, B dq + A du)"""
    second = out + system.m
    subtract_row_products(system.A, Twists(q, 0), out, False, system)
    subtract_row_products(system.bends, Twists(q, 0), second, False, system)
    subtract_row_products(system.A, Twists(u, 0), second, False, system)


@inline
def fill_schur(system):
    """The 2 m x 2 m matrix above, one column per unit multiplier: (mu, alpha) -> rows of the two constraints."""
    n, work = 2 * system.m, system.saddle
    unit, column = work.unit, work.column
    clear(unit, n)
    for c in range(n):
        unit[c] = 1.0
        respond(unit, system)
        unit[c] = 0.0
        clear(column, n)
        subtract_rates(work.q, work.u, column, system)
        for i in range(c, n):
            work.S[n * i + c] = -column[i]


@flat
def leave_out_velocities(scale, system):
    """Rows of velocities alone have no g, and no mu."""
    for number in range(system.nprim, system.nprim + system.ntraced):
        p = system.primitives[number]
        for k in range(p.rows if p.kind == V else 0):
            scale[p.row[k]] = np.inf


@kernel
def project_orthogonal(mode, t, x, dx, system):
    """x <- orthogonal projection of x; status. The slot's mode is always to project."""
    count, work, so_far = system.count, system.saddle, system.variation
    m, nb6, c = system.m, 6 * (system.nb + 1), work.c
    c_v, scale, dq, du = c + m, work.column, work.q, work.u
    count.project += 1.0
    normalise(x, system)
    copy(so_far.x, x, system.nx)
    status, done, step = NEWTON_FAILED, 0, 0.0
    row, worst, row_v, worst_v = 0, 0.0, 0, 0.0
    for iteration in range(system.max_newton + 1):
        load_poses(x, system)
        count_turns(x, system)
        load_rows(MOTIONS, t, system)
        count.dg += 1.0
        if system.nchoice > 0 and choices(system) == 0.0:
            forces(CHOOSE, 1.0, system)
        copy(c, system.g, m)
        velocity_residual(c_v, system)
        negate(c_v, c_v, m)
        silence(c, 0.0, system)
        silence(c_v, 0.0, system)
        row, worst = worst_entry(c, m)
        row_v, worst_v = worst_entry(c_v, m)
        done = iteration
        if not (np.isfinite(worst) and np.isfinite(worst_v)):
            status = NON_FINITE
            break
        if worst <= system.tol_position and worst_v <= system.tol_velocity and step <= max(1e-9, system.tol_position):
            status = OK
            break
        load_bends(BENDS, t, system)
        count.d2g += 1.0
        displacement(x, so_far.x, Twists(so_far.q, 0), Twists(so_far.u, 0), system)
        subtract_rates(so_far.q, so_far.u, c, system)
        fill_schur(system)
        for i in range(2 * m):
            scale[i] = work.S[(2 * m + 1) * i]
        silence(scale, np.inf, system)
        silence(scale + m, np.inf, system)
        leave_out_velocities(scale, system)
        dense_cholesky(work.S, 2 * m, scale, system.eps_pivot)
        solve_with_factor(work.S, c, 2 * m)
        respond(c, system)
        step = 0.0
        for i in range(6, nb6):
            dq[i] += so_far.q[i]
            du[i] += so_far.u[i]
            step = max(step, abs(dq[i]))
        displace(0, x, Twists(dq, 0), -1.0, system)
        displace(1, x, Twists(du, 0), -1.0, system)
    if status != OK:
        if worst <= system.tol_position:
            row, worst = row_v, worst_v
        count.worst_row, count.worst_value = row, worst
    count.newton += done
    count.newton_max = max(count.newton_max, float(done))
    snap_angles(x, system)
    return status
