"""Minimal coordinates of Lagrangian systems [QRContinuation, 2.2-2.5], in dense algebra: minimal.py and minimal_step.py on R^n.

    V = P Z,   v^ = V (Z^T V)^-1 (s' - Z^T p') + p',   p' = -A^+ b                                (9)-(11)
    v' = V y + p'',   p'' = -A^+ z(v^),   V^T M V y = V^T (h(v^) - M p'')                         (12)-(15)
    Y' = -A^+ A' Y                     A' exact from the generated code                           (27)

P is the Euclidean projector onto null(A) at the point, Z the basis of the step's start. M may be singular by itself (Euler
parameters as coordinates): V^T M V is what is solved.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import factor_symmetric, solve_lower, solve_upper
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import (
    INSIDE,
    MINIMAL_I,
    MOTION_PART,
    N_DEPENDENT,
    N_RHS,
    NEAR_SINGULAR,
    NON_FINITE,
    NQ,
    OK,
    PROJECT,
    RANK,
    ROWS_PART,
    TURN_PART,
    W_A,
    W_ACC,
    W_BIAS,
    W_CALL,
    W_DIAG,
    W_GT,
    W_H,
    W_K,
    W_MASS,
    W_RHS,
    W_SCALARS,
    W_STAT,
    W_TURN,
    W_WORK,
    Y_JUMP,
    Y_PIVOT,
    Y_RESTARTS,
    Y_ROW,
    Y_TIME,
    Z_BASIS,
    Z_CARRY,
    Z_COLUMNS,
    Z_DENSE,
    Z_DOF,
    Z_GUARD,
    Z_KIND,
    Z_MARKS,
    Z_ORDER,
    Z_PASS,
    Z_S,
    Z_S_DOT,
    Z_SMALL,
    Z_WEIGHT,
    M,
)
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.lagrangian import add_reactions, evaluate_part, factor_rows, project_rows, solve_rows
from dalembert.kernels.formulations.continuation import exponential, orthonormalise
from dalembert.kernels.formulations.tangent_basis import eigen_basis, qr_basis, svd_basis

NEAR = 1e-5  # 1 / SINGULAR of diagnosis.py


@inline
def row_products(rows, v, sign, system):
    """W_RHS <- sign W[rows] W[v]"""
    I, W = system.I, system.W
    n = I[NQ]
    for i in range(I[M]):
        s = 0.0
        for j in range(n):
            s += W[rows + n * i + j] * W[v + j]
        W[I[W_RHS] + i] = sign * s


@inline
def least_solution(out, system):
    """W[out] <- A^+ W_RHS; the rows are factored already."""
    I, W = system.I, system.W
    for j in range(I[NQ]):
        W[out + j] = 0.0
    solve_rows(I[M], system)
    add_reactions(I[M], out, system)


@inline
def project_tangent(v, system):
    """W[v] <- P v"""
    I = system.I
    row_products(I[W_A], v, -1.0, system)
    solve_rows(I[M], system)
    add_reactions(I[M], v, system)


@inline
def turning(z, out, system):
    """W[out] <- -A^+ A' z, how a tangent vector z must change to stay tangent (27)"""
    I = system.I
    row_products(I[W_TURN], z, -1.0, system)
    least_solution(out, system)


@inline
def dot(a, b, n, W):
    s = 0.0
    for j in range(n):
        s += W[a + j] * W[b + j]
    return s


@inline
def mass_product(v, out, system):
    """W[out] <- M v"""
    I, W = system.I, system.W
    n = I[NQ]
    for i in range(n):
        W[out + i] = dot(I[W_MASS] + n * i, v, n, W)


@inline
def solve_small(A, c, f, W):
    """W[c] <- A^-1 W[c] for the f x f matrix at W[A], positive definite, lower triangle given; a singular one gives NaN."""
    if factor_symmetric(Numbers(W, A), f, Numbers(W, A + f * f), 1e-13) > 0:
        W[A] = np.nan
    solve_lower(Numbers(W, A), Numbers(W, c), f)
    solve_upper(Numbers(W, A), Numbers(W, c), f)


@flat
def admissible_velocity(x, system):
    """Columns <- V, the velocity that the generated code reads <- v^."""
    I, W = system.I, system.W
    k, n = I[MINIMAL_I], I[NQ]
    f, V, C, p = I[k + Z_DOF], I[k + Z_COLUMNS], I[k + Z_SMALL], I[W_WORK]
    c, v = C + f * f + f, I[W_CALL] + n
    for i in range(I[M]):
        W[I[W_RHS] + i] = -W[I[W_GT] + i]
    least_solution(p, system)
    for j in range(f):
        z, column, s = I[k + Z_BASIS] + n * j, V + n * j, 0.0
        for i in range(n):
            W[column + i] = x[z + i]
            s += x[z + i] * (x[n + i] - W[p + i])
        W[c + j] = s
        project_tangent(column, system)
        for i in range(j + 1):
            W[C + f * j + i] = dot(V + n * i, column, n, W)
    solve_small(C, c, f, W)
    for i in range(n):
        W[v + i] = W[p + i]
        for j in range(f):
            W[v + i] += W[c + j] * W[V + n * j + i]


@flat
def reduced_accelerations(system):
    """W_ACC <- v' from M, h, z and the columns V; returns the power -lam . b of moving constraints, lam by least squares."""
    I, W = system.I, system.W
    k, n, a = I[MINIMAL_I], I[NQ], I[W_ACC] + 6
    f, V, N, rest, Mv = I[k + Z_DOF], I[k + Z_COLUMNS], I[k + Z_SMALL], I[W_WORK], I[W_WORK] + I[NQ]
    c = N + f * f + f
    for i in range(I[M]):
        W[I[W_RHS] + i] = -W[I[W_BIAS] + i]
    least_solution(a, system)
    mass_product(a, rest, system)
    for i in range(n):
        W[rest + i] = W[I[W_H] + i] - W[rest + i]
    for j in range(f):
        mass_product(V + n * j, Mv, system)
        W[c + j] = dot(V + n * j, rest, n, W)
        for i in range(j + 1):
            W[N + f * j + i] = dot(V + n * i, Mv, n, W)
    solve_small(N, c, f, W)
    for j in range(f):
        for i in range(n):
            W[a + i] += W[c + j] * W[V + n * j + i]
    mass_product(a, rest, system)
    for i in range(n):
        W[rest + i] -= W[I[W_H] + i]
    row_products(I[W_A], rest, 1.0, system)
    solve_rows(I[M], system)
    power = 0.0
    for i in range(I[M]):
        power -= W[I[W_RHS] + i] * W[I[W_GT] + i]
    return power


@flat
def maggi_rates(t, x, dx, system):
    """dx <- rates of (q, v, external work, s, ...) at x; the basis stays. Status."""
    I, W = system.I, system.W
    k, n, y, out = I[MINIMAL_I], I[NQ], I[W_WORK], I[W_WORK] + I[NQ]
    W[I[W_STAT] + N_RHS] += 1.0
    status = evaluate_part(ROWS_PART, t, x, system)
    dependent = factor_rows(I[M], False, system) - (I[M] - I[RANK])
    W[I[W_STAT] + N_DEPENDENT] = max(W[I[W_STAT] + N_DEPENDENT], float(dependent))
    admissible_velocity(x, system)
    if status == OK:
        status = callback(MOTION_PART, t, system, I[W_CALL])
    power = W[I[W_SCALARS]] + reduced_accelerations(system)
    for i in range(2 * n, x.size):
        dx[i] = 0.0
    for i in range(n):
        dx[i], dx[n + i] = W[I[W_CALL] + n + i], W[I[W_ACC] + 6 + i]
    dx[2 * n] = power
    if I[k + Z_ORDER] < 0 and status == OK:
        status = callback(TURN_PART, t, system, I[W_CALL])
    for j in range(I[k + Z_DOF]):
        for i in range(n):
            if I[k + Z_ORDER] < 0:
                W[y + i] = x[I[k + Z_CARRY] + n * j + i]
                dx[I[k + Z_S] + j] += W[y + i] * dx[i]
            else:
                dx[I[k + Z_S] + j] += x[I[k + Z_BASIS] + n * j + i] * x[n + i]
        if I[k + Z_ORDER] < 0:
            turning(y, out, system)
            for i in range(n):
                dx[I[k + Z_CARRY] + n * j + i] = W[out + i]
    for i in range(2 * n + 1):
        if status == OK and not np.isfinite(dx[i]):
            status = NON_FINITE
    return status


@inline
def weakest_row(system):
    """(row, pivot): the smallest sqrt(pivot / diagonal), the sine of the angle to those before; redundant rows are out."""
    I, W = system.I, system.W
    m, row, smallest, spare = I[M], 0, 1.0, I[M] - I[RANK]
    for i in range(m):
        inverse = W[I[W_K] + (m + 1) * i]
        if inverse == 0.0 and spare > 0:
            spare -= 1
            continue
        sine = 1.0 / (inverse * np.sqrt(W[I[W_DIAG] + i])) if inverse > 0.0 else 0.0
        if sine < smallest:
            row, smallest = i, sine
    return row, smallest


@inline
def dual_vector(row, out, system):
    """W[out] <- v with A v = e_row, orthogonal to the other rows"""
    I, W = system.I, system.W
    for i in range(I[M]):
        W[I[W_RHS] + i] = 1.0 if i == row else 0.0
    least_solution(out, system)


@inline
def make_tangent(X, system):
    """W[X] <- the nearest orthonormal basis of the tangent space; True when there is one."""
    I = system.I
    k, n = I[MINIMAL_I], I[NQ]
    for j in range(I[k + Z_DOF]):
        project_tangent(X + n * j, system)
        project_tangent(X + n * j, system)
    return orthonormalise(X, I[k + Z_DOF], n, I[k + Z_WEIGHT], I[k + Z_SMALL], system)


@flat
def fresh_basis(X, A, system):
    """W[X] <- a basis from the Jacobian alone, its redundant rows left out."""
    I, W = system.I, system.W
    k, n, m = I[MINIMAL_I], I[NQ], 0
    for i in range(I[M]):
        if W[I[W_K] + (I[M] + 1) * i] != 0.0:
            for j in range(n):
                W[A + n * m + j] = W[I[W_A] + n * i + j]
            m += 1
    if I[k + Z_KIND] == 0:
        qr_basis(A, n, m, I[k + Z_DOF], X, W)
    elif I[k + Z_KIND] == 1:
        svd_basis(A, n, m, I[k + Z_DOF], X, W)
    else:
        eigen_basis(A, n, m, I[k + Z_DOF], X, W)


@flat
def carried_basis(h, x, X, D, system):
    """W[X] <- the basis of the step's start, carried along the step to its end."""
    I, W = system.I, system.W
    k, n = I[MINIMAL_I], I[NQ]
    f, order = I[k + Z_DOF], I[k + Z_ORDER]
    size = n * f
    for i in range(size):
        W[X + i] = x[(I[k + Z_CARRY] if order < 0 else I[k + Z_BASIS]) + i]
        W[D + i], W[D + size + i] = x[I[k + Z_BASIS] + i], x[I[k + Z_CARRY] + i]
        W[D + 2 * size + i], W[D + 3 * size + i] = 0.0, 0.0
    if order == 4 and make_tangent(X, system):
        for j in range(f):
            turning(X + n * j, D + 3 * size + n * j, system)
        for i in range(size):
            W[D + 2 * size + i] = W[X + i]
    if order > 0:
        exponential(order, h, D, f, n, I[k + Z_WEIGHT], I[k + Z_SMALL], X, system)


@flat
def end_step(t, x, system):
    """x <- onto the constraints along Q1, its basis <- that of the tangent space there. Status."""
    I, W = system.I, system.W
    k, n = I[MINIMAL_I], I[NQ]
    f, y, X = I[k + Z_DOF], I[k + Z_MARKS], I[k + Z_DENSE]
    D, size, v = X + n * f, n * f, I[W_WORK]
    status = project_rows(t, x, system)
    if status != OK:
        return status
    evaluate_part(ROWS_PART, t, x, system)
    callback(TURN_PART, t, system, I[W_CALL])
    factor_rows(I[M], False, system)
    first, made = x[y + Y_TIME] != x[y + Y_TIME], False
    row, pivot = weakest_row(system)
    across = False
    if I[M] > 0 and not first and W[I[W_STAT] + INSIDE] == 0.0:  # between two steps the marks are mixed
        dual_vector(int(x[y + Y_ROW]), v, system)
        s = 0.0
        for i in range(n):
            s += W[v + i] * x[I[k + Z_GUARD] + i]
        across = s < 0.0
    if (pivot < NEAR or across) and (first or I[k + Z_PASS] == 0):
        return NEAR_SINGULAR
    if I[k + Z_ORDER] != 0 and not first:
        carried_basis(t - x[y + Y_TIME], x, X, D, system)
        made = make_tangent(X, system)
        x[y + Y_RESTARTS] += 0.0 if made else 1.0
    if not made:
        fresh_basis(X, D, system)
        if pivot < NEAR or not make_tangent(X, system):
            return NEAR_SINGULAR
    for j in range(f if I[k + Z_ORDER] > 0 else 0):
        turning(X + n * j, D + n * j, system)
    for i in range(size):
        x[I[k + Z_BASIS] + i] = W[X + i]
        x[I[k + Z_CARRY] + i] = W[D + i] if I[k + Z_ORDER] > 0 else W[X + i]
    for j in range(f):
        s = 0.0
        for i in range(n):
            s += W[X + n * j + i] * x[n + i]
        if not first:
            x[y + Y_JUMP] = max(x[y + Y_JUMP], abs(s - x[I[k + Z_S_DOT] + j]))
        x[I[k + Z_S_DOT] + j] = s
    if I[M] > 0:
        dual_vector(row, v, system)
        for i in range(n):
            x[I[k + Z_GUARD] + i] = W[v + i]
    x[y + Y_TIME], x[y + Y_PIVOT], x[y + Y_ROW] = t, pivot, row
    return OK


@kernel
def lagrangian_minimal(mode, t, x, dx, system):
    """RATE: dx <- rates in the basis that x holds. PROJECT: x <- onto the constraints, with the basis of the next step."""
    if mode == PROJECT:
        return end_step(t, x, system)
    return maggi_rates(t, x, dx, system)
