"""The stage equations of implicit Runge-Kutta methods, K = f(x + h A K): functional iteration and simplified Newton.

    k_i <- f(t + c_i h, x + h sum_j a_ij k_j)                                             [HairerLubichWanner2006, VIII.6]
    (I - h A (x) J) dK = f(x + h A K) - K,  K <- K + dK,    A = T diag(lambda) T^-1        [HairerWanner1996, IV.8]

Functional iteration is Newton's method with J = 0. Of a mechanism one block is known for nothing, q' = N(q) u, and with it, J =
[0 N; 0 0], the solution is explicit: dk_q = r_q + h A N r_u. Every change of u' is passed on to the q' of all stages as soon as
it is known. A sweep then contracts like (h w)^2, where w is the highest frequency, and not like h w.

Newton's system falls apart into (I - h lambda J) w = r, one for each real eigenvalue and each conjugate pair. J is a difference
quotient over q and u; it is kept while it contracts, and so are its factors while the step size stays. The other components
of the state (work, angle counters) do not enter f and are iterated.
"""

import numpy as np
from numpy import uintp

from dalembert.kernels.algebra import euler_parameter_rates, load3, load4, store4
from dalembert.kernels.compiler import flat, inline
from dalembert.kernels.stepping import (
    C_CONTRACTION,
    C_H_FACTORED,
    D_ITERATIONS,
    D_ITERATIONS_MAX,
    D_JACOBIAN,
    D_JACOBIANS,
    H_STAGE,
    R_NQU,
    R_STAGES,
    R_VISIT,
    combine,
    visit,
)
from dalembert.kernels.tables import CALLBACK_FAILED, NON_FINITE, OK, STAGES_FAILED

NEWTON = 2  # state_i[D_SOLVER]
SLOW = 0.5  # contraction beyond which an iteration is given up
STALE = 0.1  # contraction beyond which the next step takes a new Jacobian
ROUNDING = 1e-11  # change at which an iteration that no longer contracts has met rounding
MAX_ITERATIONS, MAX_NEWTON_ITERATIONS = 60, 20
EULER_PARAMETERS = -4  # velocity_map[k, 2] of a quaternion, else the number of coordinates with q' = u
# rows of the memory of `accelerate`: what went into a sweep, residual, what came out; differences of the last two, twice
INPUT, RESIDUAL, VALUE, FIRST = range(4)
# state_i[D_JACOBIAN]
MISSING, KEPT, NEW = 0, 1, 2


@flat
def iterate(
    system, project, correct, forces, callback, t, h, x, y, stages, velocity_map, memory, a, c, settings_i, settings_f, state_i,
    state_f, I, F, W,
):  # fmt: skip
    """Functional iteration, each k_i used as soon as it is known. Status; STAGES_FAILED where it does not contract."""
    s, spare = settings_i[R_STAGES] - 1, stages.shape[0] - 1
    for i in range(1, s + 1):
        combine(x, stages, a, i, s + 1, h, y)
        apply_velocity_map(velocity_map, y, y, stages[i])
    nu = memory.shape[1] // s
    nq = settings_i[R_NQU] - nu
    for i in range(s):
        for j in range(nu):
            memory[INPUT, nu * i + j] = stages[1 + i, nq + j]
    status, before, slow, iteration = STAGES_FAILED, 0.0, 0, 0
    while status == STAGES_FAILED and slow < 2 and iteration < MAX_ITERATIONS:
        iteration += 1
        change, seen = 0.0, OK
        for i in range(1, s + 1):
            combine(x, stages, a, i, s + 1, h, y)
            seen = visit(
                settings_i[R_VISIT], system, project, correct, t + c[i] * h, y, stages[spare], I, F, W, forces, callback
            )
            if seen != OK:
                break
            for j in range(x.size):
                delta = stages[spare, j] - stages[i, j]
                if j < settings_i[R_NQU]:
                    change = larger(change, h * delta, x[j])
                stages[i, j] = stages[spare, j]
                stages[spare, j] = delta
            pass_on(velocity_map, h, y, y, stages, a, i, s)
        status, slow = assess(seen, change, before, slow, iteration, settings_f, state_f)
        if status == STAGES_FAILED and seen == OK:
            accelerate(iteration, h, x, y, stages, velocity_map, memory, a, s, nq, nu)
        before = change
    count(iteration, state_i)
    return status


@flat
def iterate_newton(
    system, project, correct, forces, callback, t, h, x, y, stages, jacobian, factors, pivots, spectrum, a, c,
    settings_i, settings_f, state_i, state_f, I, F, W,
):  # fmt: skip
    """Simplified Newton's method; where a kept Jacobian does not contract, once more with a new one. Status."""
    s = settings_i[R_STAGES] - 1
    status, before, slow, iteration, attempts = STAGES_FAILED, 0.0, 0, 0, 0
    while status == STAGES_FAILED and attempts < 2:
        attempts += 1
        if state_i[D_JACOBIAN] == MISSING:
            status = differentiate(
                system, project, correct, forces, callback, t, x, y, stages, jacobian, settings_i, I, F, W
            )  # fmt: skip
            if status != OK:
                break
            status = STAGES_FAILED
            state_i[D_JACOBIAN], state_f[C_H_FACTORED] = NEW, 0.0
            state_i[D_JACOBIANS] += 1
        if state_f[C_H_FACTORED] != h:
            for pair in range(factors.shape[0]):
                factorise(h * spectrum[0, pair], jacobian, factors, pivots, pair)
            state_f[C_H_FACTORED] = h
        before, slow, iteration = 0.0, 0, 0
        while status == STAGES_FAILED and slow < 2 and iteration < MAX_NEWTON_ITERATIONS:
            iteration += 1
            change, seen = 0.0, OK
            for i in range(1, s + 1):
                combine(x, stages, a, i, s + 1, h, y)
                seen = visit(
                    settings_i[R_VISIT], system, project, correct, t + c[i] * h, y, stages[s + 1 + i], I, F, W, forces, callback
                )
                if seen != OK:
                    break
            if seen == OK:
                change = newton_update(h, x, stages, factors, pivots, spectrum, s, settings_i[R_NQU])
            status, slow = assess(seen, change, before, slow, iteration, settings_f, state_f)
            before = change
        count(iteration, state_i)
        if status == OK:
            stale = iteration > 2 and state_f[C_CONTRACTION] > STALE
            state_i[D_JACOBIAN] = MISSING if stale else KEPT
        elif status != CALLBACK_FAILED and state_i[D_JACOBIAN] == KEPT:
            status, state_i[D_JACOBIAN] = STAGES_FAILED, MISSING
            repeat_rate(s, stages)
        else:
            state_i[D_JACOBIAN] = MISSING
            break
    return status


@inline
def apply_velocity_map(velocity_map, y, u, out):
    """out_q <- N(q) u with q of y and the velocities of u, block by block."""
    for k in range(velocity_map.shape[0]):
        q, v, size = velocity_map[k, 0], velocity_map[k, 1], velocity_map[k, 2]
        if size == EULER_PARAMETERS:
            store4(out, q, euler_parameter_rates(load4(y, q), load3(u, v)))
        else:
            for j in range(size):
                out[q + j] = u[v + j]


@inline
def pass_on(velocity_map, h, at, y, stages, a, i, s):
    """q' of all stages <- after a change of u' at stage i, which is in the spare row: h a_li N du', N at `at`; y is scratch."""
    spare = stages.shape[0] - 1
    apply_velocity_map(velocity_map, at, stages[spare], y)
    end = velocity_map[0, 1] if velocity_map.shape[0] > 0 else 0
    for m in range(1, s + 1):
        factor = h * a[m, i]
        for j in range(end):
            stages[m, j] += factor * y[j]


@inline
def accelerate(iteration, h, x, y, stages, velocity_map, memory, a, s, nq, nu):
    """u' <- Anderson's mixture of the last three sweeps G(u'): the one whose residuals G(u') - u' mix to the smallest
    [WalkerNi2011, 2]."""
    spare, new, old = stages.shape[0] - 1, FIRST + 2 * (iteration % 2), FIRST + 2 * ((iteration + 1) % 2)
    nn, no, oo, nr, o_r = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(s):
        for j in range(nu):
            k = nu * i + j
            value = stages[1 + i, nq + j]
            residual = value - memory[INPUT, k]
            if iteration > 1:
                d = residual - memory[RESIDUAL, k]
                memory[new, k], memory[new + 1, k] = d, value - memory[VALUE, k]
                nn, nr = nn + d * d, nr + d * residual
                if iteration > 2:
                    o = memory[old, k]
                    no, oo, o_r = no + d * o, oo + o * o, o_r + o * residual
            memory[RESIDUAL, k], memory[VALUE, k] = residual, value
    if iteration > 1:
        det, p, r = nn * oo - no * no, 0.0, 0.0
        if det > 1e-8 * nn * oo:
            p, r = (oo * nr - no * o_r) / det, (nn * o_r - no * nr) / det
        elif nn > 0.0:
            p = nr / nn
        for i in range(s):
            for j in range(nu):
                k = nu * i + j
                d = -p * memory[new + 1, k]
                if r != 0.0:
                    d -= r * memory[old + 1, k]
                stages[spare, nq + j] = d
                stages[1 + i, nq + j] += d
                memory[INPUT, k] = stages[1 + i, nq + j]
            pass_on(velocity_map, h, x, y, stages, a, 1 + i, s)
    else:
        for k in range(nu * s):
            memory[INPUT, k] = memory[VALUE, k]


@inline
def assess(seen, change, before, slow, iteration, settings_f, state_f):
    """(status, slow) after an iteration: OK when solved, STAGES_FAILED when not yet; slow counts bad contractions in a row.

    seen : status of the evaluations;  solved when the change, or what the contraction leaves of it, is below the tolerance
    """
    if seen != OK or not np.isfinite(change):
        state_f[C_CONTRACTION] = np.inf
        if iteration == 1 or seen == CALLBACK_FAILED:
            return (seen if seen != OK else NON_FINITE), 2
        return STAGES_FAILED, 2  # diverged
    if iteration == 1:
        state_f[C_CONTRACTION] = 0.0
        return (OK if change <= settings_f[H_STAGE] else STAGES_FAILED), 0
    rate = change / before
    stalled = rate > SLOW and change <= ROUNDING
    if change <= settings_f[H_STAGE] or stalled or (rate < 1.0 and change * rate <= settings_f[H_STAGE] * (1.0 - rate)):
        return OK, 0
    state_f[C_CONTRACTION] = rate
    return STAGES_FAILED, (slow + 1 if rate > SLOW else 0)


@inline
def larger(change, delta, x):
    """The larger of change and |delta| relative to max(1, |x|); NaN stays."""
    size = abs(delta) / max(1.0, abs(x))
    return change if size <= change else size


@inline
def count(iteration, state_i):
    state_i[D_ITERATIONS] += iteration
    state_i[D_ITERATIONS_MAX] = max(state_i[D_ITERATIONS_MAX], iteration)


@inline
def repeat_rate(s, stages):
    """k_i <- f at the old point."""
    for i in range(1, s + 1):
        for j in range(stages.shape[1]):
            stages[i, j] = stages[0, j]


@flat
def differentiate(system, project, correct, forces, callback, t, x, y, stages, jacobian, settings_i, I, F, W):
    """J <- forward differences of f over q and u at the old point. Status."""
    spare, status = stages.shape[0] - 1, OK
    for j in range(settings_i[R_NQU]):
        for i in range(x.size):
            y[i] = x[i]
        y[j] += 1.5e-8 * max(1.0, abs(x[j]))
        delta = y[j] - x[j]
        status = visit(settings_i[R_VISIT], system, project, correct, t, y, stages[spare], I, F, W, forces, callback)
        if status != OK:
            break
        for i in range(settings_i[R_NQU]):
            jacobian[i, j] = (stages[spare, i] - stages[0, i]) / delta
    return status


@inline
def factorise(factor, jacobian, factors, pivots, pair):
    """factors[pair] <- L U of I - factor J, rows exchanged as pivots[pair] says [GolubVanLoan2013, 3.4]."""
    n = uintp(jacobian.shape[0])
    for i in range(n):
        for j in range(n):
            factors[pair, i, j] = -factor * jacobian[i, j]
        factors[pair, i, i] += 1.0
    for k in range(n):
        best, pivot = 0.0, k
        for i in range(k, n):
            size = abs(factors[pair, i, k].real) + abs(factors[pair, i, k].imag)
            if size > best:
                best, pivot = size, i
        pivots[pair, k] = pivot
        if pivot != k:
            for j in range(n):
                factors[pair, k, j], factors[pair, pivot, j] = factors[pair, pivot, j], factors[pair, k, j]
        for i in range(k + uintp(1), n):
            if factors[pair, i, k] != 0.0:
                factors[pair, i, k] /= factors[pair, k, k]
                multiple = factors[pair, i, k]
                for j in range(k + uintp(1), n):
                    factors[pair, i, j] -= multiple * factors[pair, k, j]


@inline
def back_substitute(factors, pivots, pair):
    """factors[pair, n] <- solution for the right-hand side in that row."""
    n = pivots.shape[1]
    for i in range(n):
        pivot = pivots[pair, i]
        factors[pair, n, i], factors[pair, n, pivot] = factors[pair, n, pivot], factors[pair, n, i]
    for i in range(n):
        value = factors[pair, n, i]
        for j in range(i):
            value -= factors[pair, i, j] * factors[pair, n, j]
        factors[pair, n, i] = value
    for i in range(n - 1, -1, -1):
        value = factors[pair, n, i]
        for j in range(i + 1, n):
            value -= factors[pair, i, j] * factors[pair, n, j]
        factors[pair, n, i] = value / factors[pair, i, i]


@inline
def newton_update(h, x, stages, factors, pivots, spectrum, s, n):
    """K <- K + dK from f(x + h A K) in rows s + 2 .. 2 s + 1; the largest change of h K, relative to max(1, |x|)."""
    for pair in range(factors.shape[0]):
        for j in range(n):
            w = 0.0 * spectrum[0, pair]
            for i in range(1, s + 1):
                w += spectrum[s + i, pair] * (stages[s + 1 + i, j] - stages[i, j])
            factors[pair, n, j] = w
        back_substitute(factors, pivots, pair)
    change = 0.0
    for i in range(1, s + 1):
        for j in range(x.size):
            if j < n:
                delta = 0.0
                for pair in range(factors.shape[0]):
                    delta += (spectrum[i, pair] * factors[pair, n, j]).real
                stages[i, j] += delta
                change = larger(change, h * delta, x[j])
            else:
                stages[i, j] = stages[s + 1 + i, j]
    return change
