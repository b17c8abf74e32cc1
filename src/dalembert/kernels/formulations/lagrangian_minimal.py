"""Minimal coordinates of Lagrangian systems [QRContinuation, 2.2-2.5], in dense algebra: minimal.py and minimal_step.py on R^n.

    V = P Z,   v^ = V (Z^T V)^-1 (s' - Z^T p') + p',   p' = -A^+ b                                (9)-(11)
    v' = V y + p'',   p'' = -A^+ z(v^),   V^T M V y = V^T (h(v^) - M p'')                         (12)-(15)
    Y' = -A^+ A' Y                     A' exact from the generated code                           (27)

P is the Euclidean projector onto null(A) at the point, Z the basis of the step's start. M may be singular by itself (Euler
parameters as coordinates): V^T M V is what is solved.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import (
    add_transposed,
    multiply,
    solve_definite,
    solve_with_factor,
    subtract_products,
    weakest_dense_row,
)
from dalembert.kernels.base.loops import clear, copy, minus_dot, negate, plus_dot
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import MOTION_PART, NEAR_SINGULAR, NON_FINITE, OK, PROJECT, ROWS_PART, TURN_PART
from dalembert.kernels.base.views import Marks, Numbers
from dalembert.kernels.coordinates.lagrangian import add_reactions, evaluate_part, factor_all_rows, factor_rows, project_rows
from dalembert.kernels.formulations.continuation import exponential, orthonormalise
from dalembert.kernels.formulations.tangent_basis import null_basis

NEAR = 1e-5  # 1 / SINGULAR of diagnosis.py


@inline
def least_solution(out, system):
    """out <- A^+ rhs; the rows are factored already."""
    clear(out, system.nq)
    add_reactions(system.m, out, system)


@inline
def project_tangent(v, system):
    """v <- P v"""
    clear(system.rhs, system.m)
    subtract_products(system.rhs, system.jacobian, v, system.m, system.nq)
    add_reactions(system.m, v, system)


@inline
def turning(z, out, system):
    """out <- -A^+ A' z, how a tangent vector z must change to stay tangent (27)"""
    clear(system.rhs, system.m)
    subtract_products(system.rhs, system.turn, z, system.m, system.nq)
    least_solution(out, system)


@flat
def admissible_velocity(x, system):
    """Columns <- V, the velocity that the generated code reads <- v^."""
    k, n, p = system.minimal, system.nq, system.spare
    f, V, C = k.dof, system.all + k.columns, system.all + k.small
    c, v = C + (f * f + f), system.point.v
    negate(system.rhs, system.g_t, system.m)
    least_solution(p, system)
    for j in range(f):
        z, column, s = Numbers(x, k.basis + n * j), V + n * j, 0.0
        for i in range(n):
            s += z[i] * (x[n + i] - p[i])
        c[j] = s
        copy(column, z, n)
        project_tangent(column, system)
        for i in range(j + 1):
            C[f * j + i] = plus_dot(0.0, V + n * i, column, n)
    solve_definite(C, c, f)
    copy(v, p, n)
    add_transposed(v, V, c, f, n)


@flat
def reduced_accelerations(system):
    """acc <- v' from M, h, z and the columns V; returns the power -lam . b of moving constraints, lam by least squares."""
    k, n, m = system.minimal, system.nq, system.m
    f, V, N = k.dof, system.all + k.columns, system.all + k.small
    a, rest, Mv = system.acc, system.spare, system.spare + n
    c = N + (f * f + f)
    negate(system.rhs, system.bias, m)
    least_solution(a, system)
    multiply(rest, system.mass, a, n, n)
    for i in range(n):
        rest[i] = system.h[i] - rest[i]
    for j in range(f):
        multiply(Mv, system.mass, V + n * j, n, n)
        c[j] = plus_dot(0.0, V + n * j, rest, n)
        for i in range(j + 1):
            N[f * j + i] = plus_dot(0.0, V + n * i, Mv, n)
    solve_definite(N, c, f)
    add_transposed(a, V, c, f, n)
    multiply(rest, system.mass, a, n, n)
    for i in range(n):
        rest[i] -= system.h[i]
    multiply(system.rhs, system.jacobian, rest, m, n)
    solve_with_factor(system.K, system.rhs, m)
    return minus_dot(0.0, system.rhs, system.g_t, m)


@flat
def maggi_rates(t, x, dx, system):
    """dx <- rates of (q, v, external work, s, ...) at x; the basis stays. Status."""
    k, n = system.minimal, system.nq
    s_dot, integrated = Numbers(dx, k.s), k.order < 0
    system.count.rhs += 1.0
    status = evaluate_part(ROWS_PART, t, x, system)
    factor_all_rows(False, system)
    admissible_velocity(x, system)
    if status == OK:
        status = callback(MOTION_PART, t, system, system.w_call)
    power = system.energies.power + reduced_accelerations(system)
    clear(Numbers(dx, 2 * n), x.size - 2 * n)
    copy(dx, system.point.v, n)
    copy(Numbers(dx, n), system.acc, n)
    dx[2 * n] = power
    if integrated and status == OK:
        status = callback(TURN_PART, t, system, system.w_call)
    for j in range(k.dof):
        if integrated:
            y = Numbers(x, k.carry + n * j)
            s_dot[j] = plus_dot(0.0, y, Numbers(dx, 0), n)
            turning(y, Numbers(dx, k.carry + n * j), system)
        else:
            s_dot[j] = plus_dot(0.0, Numbers(x, k.basis + n * j), Numbers(x, n), n)
    for i in range(2 * n + 1):
        if status == OK and not np.isfinite(dx[i]):
            status = NON_FINITE
    return status


@inline
def dual_vector(row, out, system):
    """out <- v with A v = e_row, orthogonal to the other rows"""
    clear(system.rhs, system.m)
    system.rhs[row] = 1.0
    least_solution(out, system)


@inline
def make_tangent(X, system):
    """X <- the nearest orthonormal basis of the tangent space; True when there is one."""
    for j in range(system.minimal.dof):
        project_tangent(X + system.nq * j, system)
        project_tangent(X + system.nq * j, system)
    return orthonormalise(X, system)


@flat
def fresh_basis(X, A, system):
    """X <- a basis from the Jacobian alone, its redundant rows left out; A : room for that"""
    k, n, m = system.minimal, system.nq, 0
    for i in range(system.m):
        if system.K[(system.m + 1) * i] != 0.0:
            copy(A + n * m, system.jacobian + n * i, n)
            m += 1
    null_basis(k.kind, A, n, m, k.dof, X)


@flat
def carried_basis(h, x, X, D, system):
    """X <- the basis of the step's start, carried along the step to its end; D : room for four of these"""
    k, n = system.minimal, system.nq
    order, size = k.order, n * k.dof
    copy(X, Numbers(x, k.carry if order < 0 else k.basis), size)
    copy(D, Numbers(x, k.basis), size)
    copy(D + size, Numbers(x, k.carry), size)
    clear(D + 2 * size, 2 * size)
    if order == 4 and make_tangent(X, system):
        for j in range(k.dof):
            turning(X + n * j, D + (3 * size + n * j), system)
        copy(D + 2 * size, X, size)
    if order > 0:
        exponential(h, D, X, system)


@flat
def end_step(t, x, system):
    """x <- onto the constraints along Q1, its basis <- that of the tangent space there. Status."""
    k, n, m = system.minimal, system.nq, system.m
    f, X, D = k.dof, system.all + k.dense, system.all + (k.dense + n * k.dof)
    marks, v, guard = Marks(x, k.marks), system.spare, Numbers(x, k.guard)
    status = project_rows(t, x, system)
    if status != OK:
        return status
    evaluate_part(ROWS_PART, t, x, system)
    callback(TURN_PART, t, system, system.w_call)
    factor_rows(m, False, system)
    first, made, across = marks.time != marks.time, False, False
    row, pivot = weakest_dense_row(system.K, m, system.diag, m - system.rank)
    if m > 0 and not first and system.count.inside == 0.0:  # between two steps the marks are mixed
        dual_vector(int(marks.row), v, system)
        across = plus_dot(0.0, v, guard, n) < 0.0
    if (pivot < NEAR or across) and (first or k.passing == 0):
        return NEAR_SINGULAR
    if k.order != 0 and not first:
        carried_basis(t - marks.time, x, X, D, system)
        made = make_tangent(X, system)
        marks.restarts += 0.0 if made else 1.0
    if not made:
        fresh_basis(X, D, system)
        if pivot < NEAR or not make_tangent(X, system):
            return NEAR_SINGULAR
    s_dot = Numbers(x, k.s_dot)
    copy(Numbers(x, k.basis), X, n * f)
    copy(Numbers(x, k.carry), X, n * f)
    for j in range(f):
        if k.order > 0:
            turning(X + n * j, Numbers(x, k.carry + n * j), system)
        s = plus_dot(0.0, X + n * j, Numbers(x, n), n)
        if not first:
            marks.jump = max(marks.jump, abs(s - s_dot[j]))
        s_dot[j] = s
    if m > 0:
        dual_vector(row, guard, system)
    marks.time, marks.pivot, marks.row = t, pivot, row
    return OK


@kernel
def lagrangian_minimal(mode, t, x, dx, system):
    """RATE: dx <- rates in the basis that x holds. PROJECT: x <- onto the constraints, with the basis of the next step."""
    if mode == PROJECT:
        return end_step(t, x, system)
    return maggi_rates(t, x, dx, system)
