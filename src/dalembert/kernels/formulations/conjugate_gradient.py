"""S v = c by preconditioned conjugate gradients without forming S, as [JetMultibody, 5.1] solves it."""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.loops import clear, plus_dot
from dalembert.kernels.base.tables import OK
from dalembert.kernels.base.views import Twists
from dalembert.kernels.coordinates.choice import choices, silence
from dalembert.kernels.coordinates.solve import add_rows_transposed, clear_twists, factor, product, subtract_row_products
from dalembert.kernels.formulations.distribution import prepare_solve, store_solution


@inline
def apply_schur(v, out, system):
    """out <- A W^-1 A^T v, through a twist per body"""
    twists = Twists(system.cg + 5 * system.m, 0)
    clear_twists(twists, system)
    add_rows_transposed(system.Y, v, twists, system)
    clear(out, system.m)
    for e in system.incidences:
        for i in range(e.n):
            out[e.row + i] += product(system.A[e.A + 6 * i], twists[e.body])


@flat
def conjugate_gradient(system):
    """rhs <- S^-1 rhs to a relative residual of 1e-14, with Jacobi preconditioning.

    Stops at 1e-14, when no progress is left in double precision, or after 20 M iterations.
    """
    m, x = system.m, system.rhs
    r, z, p = system.cg, system.cg + m, system.cg + 2 * m
    s, d = system.cg + 3 * m, system.cg + 4 * m
    clear(d, m)
    for e in system.incidences:
        for i in range(e.n):
            a, y = system.A[e.A + 6 * i], system.Y[e.A + 6 * i]
            d[e.row + i] += a.force @ y.force + a.torque @ y.torque
    silence(d, np.inf, system)
    rz = 0.0
    for i in range(m):
        r[i] = x[i]
        x[i] = 0.0
        z[i] = r[i] / d[i]
        p[i] = z[i]
        rz += r[i] * z[i]
    stop = 1e-28 * rz
    for _ in range(20 * m):
        if not (rz > stop and np.isfinite(rz)):
            break
        apply_schur(p, s, system)
        ps = plus_dot(0.0, p, s, m)
        if not ps > 0.0:
            break
        alpha, new = rz / ps, 0.0
        for i in range(m):
            x[i] += alpha * p[i]
            r[i] -= alpha * s[i]
            z[i] = r[i] / d[i]
            new += r[i] * z[i]
        for i in range(m):
            p[i] = z[i] + new / rz * p[i]
        rz = new
        system.count.cg += 1.0


@kernel
def jet_rate_by_cg(mode, t, x, dx, system):
    """The distribution with S solved by conjugate gradients; the slot's mode is always RATE."""
    status = prepare_solve(t, x, system)
    if system.nchoice > 0 and choices(system) == 0.0:
        factor(0, system)
    if status == OK:
        subtract_row_products(system.A, system.accelerations, system.rhs, False, system)
        conjugate_gradient(system)
        add_rows_transposed(system.Y, system.rhs, system.accelerations, system)
        status = store_solution(x, dx, system)
    return status
