"""Curves that obey the constraints: the flow over h of a field tangent to them, to rounding, with its derivative.

    q' = y(q) = w + A^T mu,   A A^T mu = -(A w + b)                  w projected at every point; phi_h(q_k, w) = q(h)
    dy = dw + (d A^T mu/dq) dq + A^T dmu,   A dy = -(d(A y + b)/dq) dq

Two steps of h/2 by the Gauss method of 4 stages, which keeps quadratic integrals of the constraints exactly. The curve is
centred: w obeys the constraints at its middle, so that going back takes the same curve. This is what [Variational, 8] names as
the open difficulty; its closed forms (circle, sphere) are special cases.
"""

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import (
    FLOW_F,
    FLOW_PART,
    NQ,
    ROWS_PART,
    W_A,
    W_CALL,
    W_FLOW,
    W_GT,
    W_PI,
    W_RHS,
    W_STAGES,
    M,
)
from dalembert.kernels.coordinates.lagrangian import add_reactions, factor_rows, solve_rows

STAGES = 4
# sections of W_STAGES, in units of n: rates of both halves, point, rate, middle, end; then in units of n^2: derivatives of the
# rates by w, of the middle, of the end, one spare
RATES, POINT, Y, MIDDLE, END, VECTORS = 0, 8, 9, 10, 11, 12
D_RATES, D_MIDDLE, D_END, D_POINT, MATRICES = 0, 4, 5, 6, 7
MAX_SWEEPS = 40


@inline
def tangent_rate(t, w, y, system):
    """W[y] <- w projected at the point POINT, multipliers in W_RHS, root of A A^T in W_K."""
    I, W = system.I, system.W
    n, m, at = I[NQ], I[M], I[W_STAGES] + POINT * I[NQ]
    for j in range(n):
        W[I[W_CALL] + j] = W[at + j]
    callback(ROWS_PART, t, system, I[W_CALL])
    factor_rows(m, False, system)
    for i in range(m):
        s = -W[I[W_GT] + i]
        for j in range(n):
            s -= W[I[W_A] + n * i + j] * W[w + j]
        W[I[W_RHS] + i] = s
    solve_rows(m, system)
    for j in range(n):
        W[y + j] = W[w + j]
    add_reactions(m, y, system)


@inline
def rate_derivative(t, y, dq, dy, system):
    """W[dy] (n x n, by w) <- derivative of the rate W[y] at POINT, where the point moves by W[dq] (n x n)."""
    I, W = system.I, system.W
    n, m, call = I[NQ], I[M], I[W_CALL]
    C_1, C_2 = I[W_FLOW], I[W_FLOW] + n * n
    for j in range(n):
        W[call + n + j] = W[y + j]
    for i in range(m):
        W[I[W_PI] + n + i] = W[I[W_RHS] + i]
    callback(FLOW_PART, t, system, call)
    for c in range(n):
        for j in range(n):
            s = 1.0 if j == c else 0.0
            for k in range(n):
                s += W[C_1 + n * j + k] * W[dq + n * k + c]
            W[dy + n * j + c] = s
        for i in range(m):
            s = 0.0
            for j in range(n):
                s -= W[C_2 + n * i + j] * W[dq + n * j + c] + W[I[W_A] + n * i + j] * W[dy + n * j + c]
            W[I[W_RHS] + i] = s
        solve_rows(m, system)
        for i in range(m):
            for j in range(n):
                W[dy + n * j + c] += W[I[W_A] + n * i + j] * W[I[W_RHS] + i]


@inline
def gauss_stage(first, h, rates, row, width, out, system):
    """W[out] <- W[first] + h sum_j a_row,j k_j, each of `width` numbers; row STAGES is the end of the step.

    a_ij = b_j / 2 + s_ij / b_i with s skew to the last bit: rounded a_ij would miss b_i a_ij + b_j a_ji = b_i b_j by the same
    1e-17 in every step, and quadratic integrals would drift by it.
    """
    I, F, W = system.I, system.F, system.W
    skew, b = I[FLOW_F] + STAGES * row, I[FLOW_F] + STAGES * STAGES
    for j in range(width):
        s, whole = 0.0, 0.0
        for k in range(STAGES):
            whole += F[b + k] * W[rates + width * k + j]
            if row < STAGES:
                s += F[skew + k] * W[rates + width * k + j]
        if row < STAGES:
            whole = 0.5 * whole + s / F[b + row]
        W[out + j] = W[first + j] + h * whole


@flat
def half_flow(half, t, h, q, w, end, system):
    """W[end] <- from W[q] after h: functional iteration, from the rates of the last time."""
    I, F, W = system.I, system.F, system.W
    n, S = I[NQ], I[W_STAGES]
    rates, y = S + n * (RATES + STAGES * half), S + n * Y
    before = 1e300
    for _ in range(MAX_SWEEPS):
        change, size = 0.0, 0.0
        for i in range(STAGES):
            gauss_stage(q, h, rates, i, n, S + n * POINT, system)
            tangent_rate(t + F[I[FLOW_F] + STAGES * (STAGES + 1) + i] * h, w, y, system)
            for j in range(n):
                change = max(change, abs(W[y + j] - W[rates + n * i + j]))
                size = max(size, abs(W[y + j]))
                W[rates + n * i + j] = W[y + j]
        if not change > 0.0 or (change < 1e-14 * size and change >= before):  # what is left has the same sign in every step
            break
        before = change
    gauss_stage(q, h, rates, STAGES, n, end, system)


@flat
def half_derivative(half, t, h, q, w, dq, d_end, system):
    """W[d_end] <- derivative by w of the end of a half step that begins at W[q] with derivative W[dq]."""
    I, F, W = system.I, system.F, system.W
    n, S = I[NQ], I[W_STAGES]
    rates, y = S + n * (RATES + STAGES * half), S + n * Y
    D = S + n * VECTORS
    d_rates, d_point = D + n * n * D_RATES, D + n * n * D_POINT
    for i in range(STAGES * n * n):
        W[d_rates + i] = 0.0
    for _ in range(3):  # each sweep gains a factor of about h |dy/dq|: enough for a matrix of Newton's method
        for i in range(STAGES):
            gauss_stage(q, h, rates, i, n, S + n * POINT, system)
            gauss_stage(dq, h, d_rates, i, n * n, d_point, system)
            at = t + F[I[FLOW_F] + STAGES * (STAGES + 1) + i] * h
            tangent_rate(at, w, y, system)
            rate_derivative(at, y, d_point, d_rates + n * n * i, system)
    gauss_stage(dq, h, d_rates, STAGES, n * n, d_end, system)


@flat
def flow(t, h, q, w, differentiate, system):
    """MIDDLE and END of the curve from W[q] with W[w]; D_MIDDLE and D_END if asked for."""
    I, W = system.I, system.W
    n, S = I[NQ], I[W_STAGES]
    D = S + n * VECTORS
    if differentiate:
        for i in range(n * n):
            W[D + n * n * D_END + i] = 0.0  # the curve begins where it begins
    for half in range(2):
        at = t + 0.5 * h * half
        first, end = (q, S + n * MIDDLE) if half == 0 else (S + n * MIDDLE, S + n * END)
        d_first, d_end = (D_END, D_MIDDLE) if half == 0 else (D_MIDDLE, D_END)
        half_flow(half, at, 0.5 * h, first, w, end, system)
        if differentiate:
            half_derivative(half, at, 0.5 * h, first, w, D + n * n * d_first, D + n * n * d_end, system)
