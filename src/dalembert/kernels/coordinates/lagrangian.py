"""Lagrangian systems in dense algebra: accelerations and multipliers, projection, what a saved state implies.

    M v' = h + A^T lam,  A v' + z = 0      ->      M = L L^T,  Y = A L^-T,  (Y Y^T) lam = -z - Y L^-1 h
    g = 0        q <- q - W^-1 G^T (G W^-1 G^T)^-1 g                    holonomic rows only, Newton
    A v + b = 0  v <- v - W^-1 A^T (A W^-1 A^T)^-1 (A v + b)             holonomic and nonholonomic rows

W is the identity or M. Where M is singular by itself (Euler parameters as coordinates) it is augmented, which changes neither
accelerations nor multipliers: (M + c A^T A) v' = h - c A^T z + A^T lam. Values of M, h, A, ... come through the callback slot.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import factor_symmetric, solve_lower, solve_upper, subtract_products
from dalembert.kernels.base.loops import add_multiple, clear, copy, minus_dot, negate, plus_dot
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import ENERGY_PART, MOTION_PART, NON_FINITE, OK, OUTPUT, PROJECT, ROWS_PART
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.dense_rows import add_reactions
from dalembert.kernels.formulations.newton import restore, rounding


@inline
def evaluate_part(part, t, x, system):
    """Values of a part of the generated code at x."""
    copy(system.point.q, x, 2 * system.nq)
    return callback(part, t, system, system.w_call)


@inline
def factor_mass(system):
    """root <- root of M + c A^T A; a singular one gives NaN."""
    n, c, root = system.nq, system.augment, system.root
    for i in range(n):
        for j in range(i + 1):
            s = system.mass[n * i + j]
            if c > 0.0:
                for k in range(system.m):
                    s += c * system.jacobian[n * k + i] * system.jacobian[n * k + j]
            root[n * i + j] = s
    if factor_symmetric(root, n, system.diag, 1e-14) > 0:
        root[0] = np.nan


@inline
def assemble_rows(m, weighted, system):
    """scaled <- the first m rows Y = A L^-T (A itself in the Euclidean metric), K <- Y Y^T."""
    n, Y = system.nq, system.scaled
    copy(Y, system.jacobian, n * m)
    for i in range(m):
        if weighted:
            solve_lower(system.root, Y + n * i, n)
        for k in range(i + 1):
            system.K[m * i + k] = plus_dot(0.0, Y + n * i, Y + n * k, n)


@inline
def factor_rows(m, weighted, system):
    """`assemble_rows`, K <- root of Y Y^T; number of rows that depend on others."""
    assemble_rows(m, weighted, system)
    system.count.factor += 1.0
    return factor_symmetric(system.K, m, system.diag, system.eps_pivot)


@inline
def factor_all_rows(weighted, system):
    """`factor_rows` of all, counting those that depend on others unexpectedly."""
    dependent = factor_rows(system.m, weighted, system) - (system.m - system.rank)
    system.count.dependent = max(system.count.dependent, float(dependent))


@inline
def solve_motion(system):
    """acc <- v', rhs <- lam of M v' = h + A^T lam, A v' + z = 0."""
    n, m, c = system.nq, system.m, system.augment
    a, A, z = system.acc, system.jacobian, system.bias
    factor_mass(system)
    factor_all_rows(True, system)
    for j in range(n):
        s = system.h[j]
        if c > 0.0:
            for i in range(m):
                s -= c * A[n * i + j] * z[i]
        a[j] = s
    solve_lower(system.root, a, n)
    negate(system.rhs, z, m)
    subtract_products(system.rhs, system.scaled, a, m, n)
    add_reactions(m, a, system)
    solve_upper(system.root, a, n)


@inline
def store_rates(x, dx, power, status, system):
    """dx <- (v, v', external power). Status."""
    n = system.nq
    for j in range(n):
        dx[j], dx[n + j] = x[n + j], system.acc[j]
    dx[2 * n] = power
    for j in range(n, 2 * n + 1):
        if status == OK and not np.isfinite(dx[j]):
            status = NON_FINITE
    return status


@flat
def accelerations(t, x, dx, system):
    """dx <- (v, v', external power), rhs <- lam. Status."""
    status = evaluate_part(MOTION_PART, t, x, system)
    system.count.rhs += 1.0
    solve_motion(system)  # moving constraints work too: v . A^T lam = -lam . b
    return store_rates(x, dx, minus_dot(system.energies.power, system.rhs, system.g_t, system.m), status, system)


@inline
def velocity_residual(out, v, system):
    """out <- -(A v + b)"""
    negate(out, system.g_t, system.m)
    subtract_products(out, system.jacobian, v, system.m, system.nq)


@inline
def active_rows(level, system):
    """Positions meet the holonomic rows, which come first, velocities all of them."""
    return system.m_holonomic if level == 0 else system.m


@flat
def locate(level, iteration, t, x, dx, system):
    """`locate` of newton.py: rows at x, rhs <- -g or -(A v + b); how many"""
    weighted = system.mass_metric == 1
    if level == 0:  # where these look last, velocities look first, and do not change the rows
        evaluate_part(MOTION_PART if weighted else ROWS_PART, t, x, system)
        if weighted:
            callback(ROWS_PART, t, system, system.w_call)
        system.count.dg += 1.0
        negate(system.rhs, system.g, system.m_holonomic)
    else:
        velocity_residual(system.rhs, Numbers(x, system.nq), system)
    return active_rows(level, system)


@flat
def factor(level, x, system):
    weighted = system.mass_metric == 1
    if weighted:
        factor_mass(system)
    factor_rows(active_rows(level, system), weighted, system)


@flat
def correct(level, x, system):
    n, d = system.nq, system.acc
    clear(d, n)
    add_reactions(active_rows(level, system), d, system)
    if system.mass_metric == 1:
        solve_upper(system.root, d, n)
    add_multiple(Numbers(x, level * n), 1.0, d, n)


@flat
def project_rows(t, x, system):
    """Positions onto the holonomic rows, velocities onto all of them. Status."""
    return restore(locate, factor, correct, rounding, True, False, t, x, x, system)[0]


@flat
def store_outputs(t, x, system):
    """g, zeta <- A v + b, kinetic and potential energy. Status."""
    status = evaluate_part(ROWS_PART, t, x, system)
    velocity_residual(system.zeta, Numbers(x, system.nq), system)
    negate(system.zeta, system.zeta, system.m)
    if status == OK:
        status = callback(ENERGY_PART, t, system, system.w_call)
    system.count.kinetic, system.count.potential = system.energies.kinetic, system.energies.potential
    return status


@kernel
def lagrangian(mode, t, x, dx, system):
    """RATE: dx <- (v, v', power). PROJECT: x <- onto the constraints. OUTPUT: RATE, then residuals, T and U."""
    if mode == PROJECT:
        return project_rows(t, x, system)
    status = accelerations(t, x, dx, system)
    if mode == OUTPUT and status == OK:
        status = store_outputs(t, x, system)
    return status
