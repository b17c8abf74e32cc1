"""The full orthogonal projection of (q, u) onto g = 0, G u + g_t = 0 [JetMultibody, (5.2)], for comparison.

    minimise 1/2 |q - a|_W^2 + 1/2 |u - a1|_W^2      with A = G, B = d(G u + g_t)/dq (the second derivatives of g):

    [A W^-1 A^T   A W^-1 B^T              ] [mu   ]   [g        - A D      ]       dq = -D - W^-1 (A^T mu + B^T alpha)
    [B W^-1 A^T   B W^-1 B^T + A W^-1 A^T ] [alpha] = [G u + g_t - B D - A E]       du = -E - W^-1 A^T alpha

with D, E the displacement so far. Deviation: velocities are compared as (r', w_B / 2), not (r', theta'); the terms of Newton's
matrix that carry multipliers (third derivatives) are left out, so that it converges linearly with a rate of the size of D.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline, kernel
from dalembert.kernels.base.dense import dense_cholesky, solve_with_factor
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    B_KIND,
    B_Q,
    B_U,
    BF_NORMAL,
    BODY_F,
    BODY_F_W,
    BODY_I,
    BODY_I_W,
    CHOOSE,
    EPS_PIVOT,
    MAX_NEWTON,
    MOTIONS,
    N_D2G,
    N_DG,
    N_NEWTON,
    N_NEWTON_MAX,
    N_PROJECT,
    NB,
    NCHOICE,
    NEWTON_FAILED,
    NON_FINITE,
    NQ,
    NX,
    OK,
    PLANE_F,
    POINT,
    RIGID,
    TOL_POSITION,
    TOL_VELOCITY,
    W_ACC,
    W_DENSE,
    W_G,
    W_H,
    W_STAT,
    W_WORK,
    M,
)
from dalembert.kernels.base.views import Numbers, Rows, Twists, Wrenches
from dalembert.kernels.coordinates.choice import choices, silence
from dalembert.kernels.coordinates.kinematics import displace, load_poses, normalise
from dalembert.kernels.coordinates.solve import (
    add_rows_transposed,
    apply_inverse_metric,
    pull_back_rows,
    subtract_row_products,
    velocity_residual,
)
from dalembert.kernels.formulations.project import note_failure, snap_angles, worst_entry
from dalembert.kernels.mechanics.primitives import constraint_rows, velocity_gradient_rows


@inline
def displacement(x, a, dq, du, system):
    """W[dq], W[du] <- displacement from the state at W[a] to x: gradient of the squared distance, divided by W."""
    I, F, W = system.I, system.F, system.W
    nq = I[NQ]
    for b in range(1, I[NB] + 1):
        k = I[BODY_I] + BODY_I_W * b
        q, u = I[k + B_Q], nq + I[k + B_U]
        p, v = dq + 6 * b, du + 6 * b
        kind = I[k + B_KIND]
        for i in range(6):
            W[p + i], W[v + i] = 0.0, 0.0
        if kind == RIGID or kind == POINT:
            for i in range(3):
                W[p + i], W[v + i] = x[q + i] - W[a + q + i], x[u + i] - W[a + u + i]
        if kind == RIGID:
            for i in range(3):
                W[v + 3 + i] = x[u + 3 + i] - W[a + u + 3 + i]
            t0, t1, t2, t3 = x[q + 3], x[q + 4], x[q + 5], x[q + 6]
            a0, a1, a2, a3 = W[a + q + 3], W[a + q + 4], W[a + q + 5], W[a + q + 6]
            W[p + 3] = -2.0 * (-t1 * a0 + t0 * a1 + t3 * a2 - t2 * a3)  # -2 H(theta) a
            W[p + 4] = -2.0 * (-t2 * a0 - t3 * a1 + t0 * a2 + t1 * a3)
            W[p + 5] = -2.0 * (-t3 * a0 + t2 * a1 - t1 * a2 + t0 * a3)
        elif kind != POINT:
            n = I[BODY_F] + BODY_F_W * b + BF_NORMAL
            for i in range(3):
                e1, e2 = F[I[PLANE_F] + i], F[I[PLANE_F] + 3 + i]
                W[p + i] = e1 * (x[q] - W[a + q]) + e2 * (x[q + 1] - W[a + q + 1])
                W[v + i] = e1 * (x[u] - W[a + u]) + e2 * (x[u + 1] - W[a + u + 1])
                W[p + 3 + i] = F[n + i] * (x[q + 2] - W[a + q + 2])
                W[v + 3 + i] = F[n + i] * (x[u + 2] - W[a + u + 2])


@inline
def fill_schur(S, unit, body, m, b_base, system):
    """The 2 m x 2 m matrix above, one column per unit multiplier: (mu, alpha) -> rows of the two constraints."""
    I, W = system.I, system.W
    nb6 = 6 * (I[NB] + 1)
    for c in range(2 * m):
        for i in range(m):
            W[unit + i] = 0.0
        W[unit + c % m] = 1.0
        for i in range(2 * nb6):
            W[body + i] = 0.0
        second = c >= m
        add_rows_transposed(
            Rows(system.W, b_base) if second else system.A, Numbers(system.W, unit), Twists(system.W, body), system
        )
        apply_inverse_metric(system.metrics, Wrenches(system.W, body), Twists(system.W, body), system)
        if second:
            add_rows_transposed(system.A, Numbers(system.W, unit), Twists(system.W, body + nb6), system)
            apply_inverse_metric(system.metrics, Wrenches(system.W, body + nb6), Twists(system.W, body + nb6), system)
        out = S + 4 * m * m + 4 * m
        for i in range(2 * m):
            W[out + i] = 0.0
        subtract_row_products(system.A, Twists(system.W, body), Numbers(system.W, out), False, system)
        subtract_row_products(Rows(system.W, b_base), Twists(system.W, body), Numbers(system.W, out + m), False, system)
        subtract_row_products(system.A, Twists(system.W, body + nb6), Numbers(system.W, out + m), False, system)
        for i in range(c, 2 * m):
            W[S + 2 * m * i + c] = -W[out + i]


@kernel
def project_orthogonal(mode, t, x, dx, system):
    """x <- orthogonal projection of x; status. The slot's mode is always to project."""
    I, F, W = system.I, system.F, system.W
    W[I[W_STAT] + N_PROJECT] += 1.0
    normalise(x, system)
    m, nb6 = I[M], 6 * (I[NB] + 1)
    D, E = I[W_WORK], I[W_WORK] + nb6
    keep = I[W_WORK] + 3 * nb6
    S = I[W_DENSE]
    c, unit = S + 4 * m * m, S + 4 * m * m + 2 * m
    body = S + 4 * m * m + 6 * m
    b_base = body + 2 * nb6
    for i in range(I[NX]):
        W[keep + i] = x[i]
    status, done, step = NEWTON_FAILED, 0, 0.0
    row, worst, row_v, worst_v = 0, 0.0, 0, 0.0
    for iteration in range(I[MAX_NEWTON] + 1):
        load_poses(x, system)
        forces(MOTIONS, t, system)
        constraint_rows(system)
        pull_back_rows(system.A, system)
        W[I[W_STAT] + N_DG] += 1.0
        if I[NCHOICE] > 0 and choices(system) == 0.0:
            forces(CHOOSE, 1.0, system)
        velocity_residual(Numbers(system.W, c + m), system)
        for i in range(m):
            W[c + i] = W[I[W_G] + i]
            W[c + m + i] = -W[c + m + i]
        silence(Numbers(system.W, c), 0.0, system)
        silence(Numbers(system.W, c + m), 0.0, system)
        row, worst = worst_entry(Numbers(system.W, c), m)
        row_v, worst_v = worst_entry(Numbers(system.W, c + m), m)
        done = iteration
        if not (np.isfinite(worst) and np.isfinite(worst_v)):
            status = NON_FINITE
            break
        if worst <= F[TOL_POSITION] and worst_v <= F[TOL_VELOCITY] and step <= max(1e-9, F[TOL_POSITION]):
            status = OK
            break
        velocity_gradient_rows(Rows(system.W, b_base), system)
        pull_back_rows(Rows(system.W, b_base), system)
        W[I[W_STAT] + N_D2G] += 1.0
        displacement(x, keep, D, E, system)
        subtract_row_products(system.A, Twists(system.W, D), Numbers(system.W, c), False, system)
        subtract_row_products(Rows(system.W, b_base), Twists(system.W, D), Numbers(system.W, c + m), False, system)
        subtract_row_products(system.A, Twists(system.W, E), Numbers(system.W, c + m), False, system)
        fill_schur(S, unit, body, m, b_base, system)
        scale = S + 4 * m * m + 4 * m
        for i in range(2 * m):
            W[scale + i] = W[S + 2 * m * i + i]
        silence(Numbers(W, scale), np.inf, system)
        silence(Numbers(W, scale + m), np.inf, system)
        dense_cholesky(Numbers(W, S), 2 * m, Numbers(W, scale), F[EPS_PIVOT])
        solve_with_factor(Numbers(W, S), Numbers(W, c), 2 * m)
        dq, du = I[W_H], I[W_ACC]
        for i in range(nb6):
            W[dq + i], W[du + i] = 0.0, 0.0
        add_rows_transposed(system.A, Numbers(system.W, c), Twists(system.W, dq), system)
        add_rows_transposed(Rows(system.W, b_base), Numbers(system.W, c + m), Twists(system.W, dq), system)
        add_rows_transposed(system.A, Numbers(system.W, c + m), Twists(system.W, du), system)
        apply_inverse_metric(system.metrics, Wrenches(system.W, dq), Twists(system.W, dq), system)
        apply_inverse_metric(system.metrics, Wrenches(system.W, du), Twists(system.W, du), system)
        step = 0.0
        for i in range(6, nb6):
            W[dq + i] += W[D + i]
            W[du + i] += W[E + i]
            step = max(step, abs(W[dq + i]))
        displace(0, x, Twists(system.W, dq), -1.0, system)
        displace(1, x, Twists(system.W, du), -1.0, system)
    if status != OK:
        if worst <= F[TOL_POSITION]:
            row, worst = row_v, worst_v
        note_failure(row, worst, system)
    W[I[W_STAT] + N_NEWTON] += done
    W[I[W_STAT] + N_NEWTON_MAX] = max(W[I[W_STAT] + N_NEWTON_MAX], float(done))
    snap_angles(x, system)
    return status
