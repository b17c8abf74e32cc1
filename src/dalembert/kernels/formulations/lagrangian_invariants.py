"""Return to an invariant of a Lagrangian system along its gradient [JetMultibody, (5.5)], as invariants.py does for bodies.

    A dq = 0,  A dv + B dq = 0,  B = d(A v + b)/dq          velocities follow q, which changes f to first order as well

Gradients of f and B come exact from the generated code. Deviation: dq obeys the nonholonomic rows too, so that no invariant
moves a system in a way it cannot go.
"""

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import add_transposed, solve_lower, solve_upper, subtract_products
from dalembert.kernels.base.loops import add_multiple, clear, copy, plus_dot
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import FIRST_INVARIANT, MOTION_PART, ROWS_PART
from dalembert.kernels.coordinates.dense_rows import add_reactions
from dalembert.kernels.coordinates.lagrangian import evaluate_part, factor_mass, factor_rows
from dalembert.kernels.formulations.invariant_steps import state_size, step_to_invariants


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
def residual(k, t, x, dx, system):
    """f, the largest of its terms, status"""
    status, f, work = evaluate_part(FIRST_INVARIANT + k, t, x, system), system.invariant.f, x[2 * system.nq]
    if k < 0:
        return f - work - system.energy_0, max(system.energy_scale, max(abs(f), abs(work))), status
    return f - system.kept[k], max(1.0, abs(system.kept[k])), status


@flat
def direction(k, t, x, dx, system):
    """spare <- (dq, dv) along which f grows fastest; slope, size of the state, status"""
    n, m, B = system.nq, system.m, system.invariant.B
    gq, gv, d = system.spare, system.spare + n, system.spare + 2 * n
    weighted = system.mass_metric == 1
    status = callback(MOTION_PART if weighted else ROWS_PART, t, system, system.w_call)
    if weighted:
        factor_mass(system)
    factor_rows(m, weighted, system)
    copy(gq, system.invariant.f_q, 2 * n)
    slope = tangent(gv, weighted, system)
    add_transposed(gq, B, system.rhs, m, n)
    slope += tangent(gq, weighted, system)
    clear(system.rhs, m)
    subtract_products(system.rhs, B, gq, m, n)
    clear(d, n)
    add_reactions(m, d, system)
    if weighted:
        solve_upper(system.root, d, n)
    add_multiple(gv, 1.0, d, n)
    return slope, state_size(x, system), status


@flat
def move(s, x, system):
    add_multiple(x, s, system.spare, 2 * system.nq)


@kernel
def correct_lagrangian(mode, t, x, dx, system):
    """One Newton step per invariant: MOVED when the constraints must be projected again, OK when all hold."""
    return step_to_invariants(residual, direction, move, t, x, dx, system)
