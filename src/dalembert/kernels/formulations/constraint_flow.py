"""Curves that obey the constraints: the flow over h of a field tangent to them, to rounding, with its derivative.

    q' = y(q) = w + A^T mu,   A A^T mu = -(A w + b)                  w projected at every point; phi_h(q_k, w) = q(h)
    dy = dw + (d A^T mu/dq) dq + A^T dmu,   A dy = -(d(A y + b)/dq) dq

Two steps of h/2 by the Gauss method of 4 stages, which keeps quadratic integrals of the constraints exactly. The curve is
centred: w obeys the constraints at its middle, so that going back takes the same curve. This is what [Variational, 8] names as
the open difficulty; its closed forms (circle, sphere) are special cases.
"""

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.dense import solve_with_factor
from dalembert.kernels.base.loops import clear, copy
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import FLOW_PART, ROWS_PART
from dalembert.kernels.coordinates.dense_rows import add_reactions
from dalembert.kernels.coordinates.lagrangian import factor_rows, velocity_residual

STAGES = 4
MAX_SWEEPS = 40


@inline
def tangent_rate(t, w, system):
    """stages.y <- w projected at stages.point, multipliers in rhs, root of A A^T in K."""
    n, m, y = system.nq, system.m, system.stages.y
    copy(system.point.q, system.stages.point, n)
    callback(ROWS_PART, t, system, system.w_call)
    factor_rows(m, False, system)
    velocity_residual(system.rhs, w, system)
    copy(y, w, n)
    add_reactions(m, y, system)


@inline
def rate_derivative(t, dq, dy, system):
    """dy (n x n, by w) <- derivative of the rate stages.y at stages.point, where the point moves by dq (n x n)."""
    n, m, lam = system.nq, system.m, system.rhs
    bend, A = system.bend, system.jacobian
    copy(system.point.v, system.stages.y, n)
    copy(system.step.lam, lam, m)
    callback(FLOW_PART, t, system, system.w_call)
    for c in range(n):
        for j in range(n):
            s = 1.0 if j == c else 0.0
            for k in range(n):
                s += bend.reaction[n * j + k] * dq[n * k + c]
            dy[n * j + c] = s
        for i in range(m):
            s = 0.0
            for j in range(n):
                s -= bend.rows[n * i + j] * dq[n * j + c] + A[n * i + j] * dy[n * j + c]
            lam[i] = s
        solve_with_factor(system.K, lam, m)
        for i in range(m):
            for j in range(n):
                dy[n * j + c] += A[n * i + j] * lam[i]


@inline
def gauss_stage(first, h, rates, row, width, out, system):
    """out <- first + h sum_j a_row,j k_j, each of `width` numbers; row STAGES is the end of the step.

    a_ij = b_j / 2 + s_ij / b_i with s skew to the last bit: rounded a_ij would miss b_i a_ij + b_j a_ji = b_i b_j by the same
    1e-17 in every step, and quadratic integrals would drift by it.
    """
    skew, b = system.quadrature + STAGES * row, system.quadrature + STAGES * STAGES
    for j in range(width):
        s, whole = 0.0, 0.0
        for k in range(STAGES):
            whole += b[k] * rates[width * k + j]
            if row < STAGES:
                s += skew[k] * rates[width * k + j]
        if row < STAGES:
            whole = 0.5 * whole + s / b[row]
        out[j] = first[j] + h * whole


@inline
def time_of_stage(t, h, i, system):
    return t + system.quadrature[STAGES * (STAGES + 1) + i] * h


@flat
def half_flow(rates, t, h, q, w, end, system):
    """end <- from q after h: functional iteration, from the rates of the last time."""
    n, stages = system.nq, system.stages
    before = 1e300
    for _ in range(MAX_SWEEPS):
        change, size = 0.0, 0.0
        for i in range(STAGES):
            gauss_stage(q, h, rates, i, n, stages.point, system)
            tangent_rate(time_of_stage(t, h, i, system), w, system)
            for j in range(n):
                change = max(change, abs(stages.y[j] - rates[n * i + j]))
                size = max(size, abs(stages.y[j]))
            copy(rates + n * i, stages.y, n)
        if not change > 0.0 or (change < 1e-14 * size and change >= before):  # what is left has the same sign in every step
            break
        before = change
    gauss_stage(q, h, rates, STAGES, n, end, system)


@flat
def half_derivative(rates, t, h, q, w, dq, d_end, system):
    """d_end <- derivative by w of the end of a half step that begins at q with derivative dq."""
    n, stages = system.nq, system.stages
    clear(stages.d_rates, STAGES * n * n)
    for _ in range(3):  # each sweep gains a factor of about h |dy/dq|: enough for a matrix of Newton's method
        for i in range(STAGES):
            gauss_stage(q, h, rates, i, n, stages.point, system)
            gauss_stage(dq, h, stages.d_rates, i, n * n, stages.d_point, system)
            at = time_of_stage(t, h, i, system)
            tangent_rate(at, w, system)
            rate_derivative(at, stages.d_point, stages.d_rates + n * n * i, system)
    gauss_stage(dq, h, stages.d_rates, STAGES, n * n, d_end, system)


@flat
def flow(t, h, q, w, differentiate, system):
    """Middle and end of the curve from q with w into the stages; their derivatives if asked for."""
    n, stages = system.nq, system.stages
    if differentiate:
        clear(stages.d_end, n * n)  # the curve begins where it begins
    for half in range(2):
        at, rates = t + 0.5 * h * half, stages.rates + STAGES * n * half
        first, end = (q, stages.middle) if half == 0 else (stages.middle, stages.end)
        d_first, d_end = (stages.d_end, stages.d_middle) if half == 0 else (stages.d_middle, stages.d_end)
        half_flow(rates, at, 0.5 * h, first, w, end, system)
        if differentiate:
            half_derivative(rates, at, 0.5 * h, first, w, d_first, d_end, system)
