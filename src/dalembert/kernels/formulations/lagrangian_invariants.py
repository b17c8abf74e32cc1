"""Return to an invariant of a Lagrangian system along its gradient [JetMultibody, (5.5)], as invariants.py does for bodies.

    A dq = 0,  A dv + B dq = 0,  B = d(A v + b)/dq          velocities follow q, which changes f to first order as well

Gradients of f and B come exact from the generated code. Deviation: dq obeys the nonholonomic rows too, so that no invariant
moves a system in a way it cannot go.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import add_transposed, solve_lower, solve_upper, subtract_products
from dalembert.kernels.base.loops import clear, copy, plus_dot
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import MOTION_PART, MOVED, NON_FINITE, OK, ROWS_PART
from dalembert.kernels.coordinates.lagrangian import add_reactions, evaluate_part, factor_mass, factor_rows
from dalembert.kernels.formulations.invariants import state_size


@inline
def tangent(g, weighted, system):
    """g <- P W^-1 gradient, rhs <- -S^-1 A W^-1 gradient; returns gradient . step."""
    n, m = system.nq, system.m
    if weighted:
        solve_lower(system.root, g, n)
    clear(system.rhs, m)
    subtract_products(system.rhs, system.scaled, g, m, n)
    add_reactions(m, g, system)
    slope = plus_dot(0.0, g, g, n)
    if weighted:
        solve_upper(system.root, g, n)
    return slope


@flat
def newton_direction(gq, gv, weighted, system):
    """gq, gv <- direction on the constraints along which f falls fastest, from its gradients; returns the slope."""
    n, m, B = system.nq, system.m, system.invariant.B
    d = system.spare + 2 * n
    slope = tangent(gv, weighted, system)
    add_transposed(gq, B, system.rhs, m, n)
    slope += tangent(gq, weighted, system)
    clear(system.rhs, m)
    subtract_products(system.rhs, B, gq, m, n)
    clear(d, n)
    add_reactions(m, d, system)
    if weighted:
        solve_upper(system.root, d, n)
    for j in range(n):
        gv[j] += d[j]
    return slope


@kernel
def correct_lagrangian(mode, t, x, dx, system):
    """One Newton step per invariant: MOVED when the constraints must be projected again, OK when all hold."""
    n, weighted, found = system.nq, system.mass_metric == 1, system.invariant
    gq, gv = system.spare, system.spare + n
    moved = 0
    for k in range(-system.energy, system.ninvariant):  # -1 is the energy
        status = evaluate_part(1000 + k, t, x, system)
        if status != OK:
            return status
        if k < 0:
            f, scale = found.f - x[2 * n] - system.energy_0, max(system.energy_scale, abs(found.f), abs(x[2 * n]))
        else:
            f, scale = found.f - system.kept[k], max(1.0, abs(system.kept[k]))
        if not np.isfinite(f):
            return NON_FINITE
        if abs(f) <= system.tol_invariant * scale:
            continue
        system.count.dinv += 1.0
        callback(MOTION_PART if weighted else ROWS_PART, t, system, system.w_call)
        if weighted:
            factor_mass(system)
        factor_rows(system.m, weighted, system)
        copy(gq, found.f_q, n)
        copy(gv, found.f_v, n)
        slope = newton_direction(gq, gv, weighted, system)
        if 1e-4 * slope * state_size(x, system) <= f * f:  # stationary: no admissible direction changes f; the report shows it
            continue
        for j in range(n):
            x[j] -= f / slope * gq[j]
            x[n + j] -= f / slope * gv[j]
        moved += 1
    return MOVED if moved > 0 else OK
