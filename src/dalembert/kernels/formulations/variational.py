"""One step of a discrete Lagrange-d'Alembert integrator, by Newton's method with exact derivatives [Variational, 4-6].

    p_k + Lam_q + f_q + A(q_k)^T lam = 0,   Lam_u + f_u = 0                       (lagrangian/discrete.py)
    q_k+1 = E(q_k, u)  and   nothing more | g(q_k+1) = 0 | E(q_k, u) = phi_h(q_k, w), A w + b = 0

Unknowns u, pi, w, lam. At the nodes momenta and velocities are the same thing: p = L_v(q, v) + A^T mu, A v + b = 0.
Deviation: [Variational] starts from the discrete velocity; here (q, v) at t = 0 gives the momentum, which costs no order.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import factor_general, solve_general
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import (
    CLOSED_FORM,
    CURVE_PART,
    DISCRETE_PART,
    FLOW,
    FLOW_PART,
    HOLONOMIC_END,
    MAX_NEWTON,
    MOMENTUM_PART,
    N_FACTOR,
    N_NEWTON,
    N_NEWTON_MAX,
    N_PROJECT,
    NON_FINITE,
    NQ,
    OK,
    RANK,
    ROWS_PART,
    STAGES_FAILED,
    STEP,
    TANGENT_FLOW,
    W_A,
    W_ACC,
    W_BIAS,
    W_CALL,
    W_CURVE,
    W_DISCRETE,
    W_FLOW,
    W_G,
    W_GT,
    W_H,
    W_MOMENTUM,
    W_PI,
    W_RHS,
    W_STAGES,
    W_STAT,
    W_SYSTEM,
    M,
)
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.lagrangian import evaluate_part, lagrangian, solve_motion
from dalembert.kernels.formulations.constraint_flow import D_END, D_MIDDLE, END, MIDDLE, VECTORS, flow


@inline
def unknowns(system):
    """Number of unknowns: u, pi, lam, and w where a constraint curve is to be found."""
    I = system.I
    return 2 * I[NQ] + I[M] + (I[NQ] if I[FLOW] >= TANGENT_FLOW else 0)


@inline
def layout(system):
    """Where things lie in W_SYSTEM: residual, unknowns, pivots, q_k, p_k, A_k, b_k."""
    I = system.I
    n, N = I[NQ], unknowns(system)
    r = I[W_SYSTEM] + N * N
    q = r + 4 * N
    return r, r + N, r + 2 * N, q, q + n, q + 2 * n, q + 2 * n + n * I[M]


@flat
def end_on_constraints(t, h, differentiate, system):
    """Rows g(q_k+1) = 0, at 2 n."""
    I, W = system.I, system.W
    n, m, N, A, E = I[NQ], I[M], unknowns(system), I[W_SYSTEM], I[W_DISCRETE]
    r = A + N * N
    J = E + 3 * n
    for j in range(n):
        W[I[W_CALL] + j] = W[E + j]
    callback(ROWS_PART, t + h, system, I[W_CALL])
    for i in range(m):
        W[r + 2 * n + i] = -W[I[W_G] + i]
        if differentiate:
            for c in range(n):
                s = 0.0
                for j in range(n):  # dE_j/du_c = -d(Lam_u)_c/dpi_j
                    s -= W[I[W_A] + n * i + j] * W[J + 2 * n * (n + c) + n + j]
                W[A + N * (2 * n + i) + c] = s


@flat
def end_on_curve(t, h, differentiate, system):
    """Rows E = phi_h(q_k, w) at 2 n, A w + b = 0 at 3 n."""
    I, W = system.I, system.W
    n, m, N, A, E = I[NQ], I[M], unknowns(system), I[W_SYSTEM], I[W_DISCRETE]
    r, z, _, q, _, A_k, b_k = layout(system)
    J, w = E + 3 * n, z + 2 * n
    if I[FLOW] == CLOSED_FORM:
        for j in range(n):
            W[I[W_CALL] + j], W[I[W_CALL] + n + j] = W[q + j], W[w + j]
        callback(CURVE_PART, t, system, I[W_CALL])
        end, d_end, rows, b = I[W_CURVE], I[W_CURVE] + n, A_k, b_k
    else:
        S = I[W_STAGES]
        D = S + n * VECTORS
        flow(t, h, q, w, differentiate, system)
        end, d_end, rows, b = S + n * END, D + n * n * D_END, I[W_A], I[W_GT]
        for j in range(n):
            W[I[W_CALL] + j], W[I[W_CALL] + n + j] = W[S + n * MIDDLE + j], W[w + j]
        for i in range(m):
            W[I[W_PI] + n + i] = 0.0
        callback(FLOW_PART, t + 0.5 * h, system, I[W_CALL])
    for j in range(n):
        W[r + 2 * n + j] = W[end + j] - W[E + j]
    for i in range(m):
        s = -W[b + i]
        for j in range(n):
            s -= W[rows + n * i + j] * W[w + j]
        W[r + 3 * n + i] = s
    if differentiate:
        for j in range(n):
            for c in range(n):
                W[A + N * (2 * n + j) + c] = -W[J + 2 * n * (n + c) + n + j]
                W[A + N * (2 * n + j) + 2 * n + c] = -W[d_end + n * j + c]
        for i in range(m):
            for c in range(n):
                s = W[rows + n * i + c]
                if I[FLOW] == TANGENT_FLOW:
                    for k in range(n):
                        s += W[I[W_FLOW] + n * n + n * i + k] * W[I[W_STAGES] + n * VECTORS + n * n * D_MIDDLE + n * k + c]
                W[A + N * (3 * n + i) + 2 * n + c] = s


@flat
def newton_system(t, h, differentiate, system):
    """Minus the residual of the discrete equations, and their matrix if asked for."""
    I, W = system.I, system.W
    n, m, N, A, D = I[NQ], I[M], unknowns(system), I[W_SYSTEM], I[W_DISCRETE]
    r, z, _, q, p, A_k, _ = layout(system)
    lam = z + N - m
    for j in range(n):
        W[I[W_CALL] + j], W[I[W_CALL] + n + j], W[I[W_PI] + j] = W[q + j], W[z + j], W[z + n + j]
    W[I[W_PI] + n + m] = h
    callback(DISCRETE_PART, t, system, I[W_CALL])
    for j in range(n):
        s = W[p + j] + W[D + n + j]
        for i in range(m):
            s += W[A_k + n * i + j] * W[lam + i]
        W[r + j] = -s
        W[r + n + j] = -W[D + 2 * n + j]
    if differentiate:
        for i in range(N * N):
            W[A + i] = 0.0
        for i in range(2 * n):
            for c in range(2 * n):
                W[A + N * i + c] = W[D + 3 * n + 2 * n * i + c]
        for j in range(n):
            for i in range(m):
                W[A + N * j + N - m + i] = W[A_k + n * i + j]
    if I[FLOW] == HOLONOMIC_END:
        end_on_constraints(t, h, differentiate, system)
    elif I[FLOW] >= TANGENT_FLOW:
        end_on_curve(t, h, differentiate, system)


@flat
def load_node(t, x, system):
    """q_k, p_k = L_v, A_k, b_k, and the unknowns' first guess. Status."""
    I, W = system.I, system.W
    n, m, N = I[NQ], I[M], unknowns(system)
    _, z, _, q, p, A_k, b_k = layout(system)
    status = evaluate_part(MOMENTUM_PART, t, x, system)
    callback(ROWS_PART, t, system, I[W_CALL])
    for j in range(n):
        W[q + j], W[p + j] = x[j], W[I[W_MOMENTUM] + j]
        W[z + j], W[z + n + j] = x[n + j], W[I[W_MOMENTUM] + j]
        if I[FLOW] >= TANGENT_FLOW:
            W[z + 2 * n + j] = x[n + j]
    for i in range(m):
        W[z + N - m + i], W[b_k + i] = 0.0, W[I[W_GT] + i]
    for i in range(m * n):
        W[A_k + i] = W[I[W_A] + i]
    return status


@flat
def solve_step(t, h, system):
    """Newton's method, its matrix kept while it contracts. Status."""
    I, W = system.I, system.W
    n, N, A = I[NQ], unknowns(system), I[W_SYSTEM]
    r, z, pivots, q, _, _, _ = layout(system)
    moving = N - I[M] if I[FLOW] >= TANGENT_FLOW else n
    before, fresh, status, floor = 1e300, True, STAGES_FAILED, 0.0
    for j in range(n):  # a velocity that moves q by its rounding
        floor = max(floor, abs(W[q + j] / h))
    for iteration in range(I[MAX_NEWTON]):
        newton_system(t, h, fresh, system)
        if fresh:
            factor_general(Numbers(W, A), N, I[M] - I[RANK], Numbers(W, pivots))
            W[I[W_STAT] + N_FACTOR] += 1.0
        solve_general(Numbers(W, A), N, Numbers(W, pivots), Numbers(W, r))
        change, size = 0.0, floor
        for i in range(N):
            W[z + i] += W[r + i]
            if i < n or (i >= 2 * n and i < moving):
                change, size = max(change, abs(W[r + i])), max(size, abs(W[z + i]))
                if not np.isfinite(W[z + i]):
                    return NON_FINITE
        stalled = iteration > 0 and change > 0.3 * before and change <= 1e-10 * size
        if change <= 1e-16 * size or stalled:
            W[I[W_STAT] + N_NEWTON] += iteration + 1
            W[I[W_STAT] + N_NEWTON_MAX] = max(W[I[W_STAT] + N_NEWTON_MAX], iteration + 1.0)
            status = OK
            break
        fresh = change > 1e-5 * size
        before = change
    return status


@flat
def store_node(t, x, system):
    """x <- (q_k+1, v from the momentum, work)."""
    I, W = system.I, system.W
    n, m, N, D = I[NQ], I[M], unknowns(system), I[W_DISCRETE]
    _, z, _, _, _, _, b_k = layout(system)
    x[2 * n] += W[D + 3 * n + 4 * n * n]
    end = D
    if I[FLOW] == TANGENT_FLOW:
        end = I[W_STAGES] + n * END
    elif I[FLOW] == CLOSED_FORM:
        end = I[W_CURVE]
    for i in range(m):
        x[2 * n] -= W[z + N - m + i] * W[b_k + i]
    for j in range(n):
        x[j], x[n + j] = W[end + j], W[z + j]
    for _ in range(8):
        status = evaluate_part(MOMENTUM_PART, t, x, system)
        callback(ROWS_PART, t, system, I[W_CALL])
        for j in range(n):
            W[I[W_H] + j] = W[z + n + j] - W[I[W_MOMENTUM] + j]
        for i in range(m):
            s = W[I[W_GT] + i]
            for j in range(n):
                s += W[I[W_A] + n * i + j] * x[n + j]
            W[I[W_BIAS] + i] = s
        solve_motion(system)
        change, size = 0.0, 0.0
        for j in range(n):
            x[n + j] += W[I[W_ACC] + 6 + j]
            change, size = max(change, abs(W[I[W_ACC] + 6 + j])), max(size, abs(x[n + j]))
        if not np.isfinite(change):
            status = NON_FINITE
        if not change > 1e-14 * size:
            break
    for i in range(m):  # p_k+1 + A^T mu = L_v: the other half of the impulse at a node
        x[2 * n] -= W[I[W_RHS] + i] * W[I[W_GT] + i]
    return status


@kernel
def variational(mode, t, x, dx, system):
    """STEP: x <- after a step of dx[0]. Else as for any Lagrangian system."""
    I, W = system.I, system.W
    if mode != STEP:
        return lagrangian(mode, t, x, dx, system)
    h = dx[0]
    W[I[W_STAT] + N_PROJECT] += 1.0
    status = load_node(t, x, system)
    if status == OK:
        status = solve_step(t, h, system)
    if status == OK:
        status = store_node(t + h, x, system)
    return status
