"""Steps of collocation methods with step-size control, dense output and projection: one compiled time loop.

    k_i = f(t + c_i h, x + h sum_j a_ij k_j),  i = 1..s,     x_1 = P(x + h sum b_i k_i)      [HairerLubichWanner2006, II.1]

Rows of `stages`: 0 is f at the old point, 1..s are the k_i, s + 1 is f at the projected new point; then s rows of predictions
or Newton residuals, and a spare one. How the equations for the k_i are solved is in functional_iteration.py and
simplified_newton.py. Gauss-Legendre methods have two error estimators, Radau IIA methods one.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.tables import CALLBACK_FAILED, OK, STEP_TOO_SMALL, TOO_MANY_STEPS
from dalembert.kernels.time.functional_iteration import iterate
from dalembert.kernels.time.implicit_stages import repeat_rate
from dalembert.kernels.time.simplified_newton import NEWTON, filtered_error, iterate_newton
from dalembert.kernels.time.stepping import (
    AGAIN,
    C_CONTRACTION,
    C_ERR,
    C_H,
    C_H_DONE,
    C_H_STAGES,
    C_T,
    D_HAVE_RATE,
    D_NEWTON,
    D_PREDICT,
    D_RETRY,
    D_SOLVER,
    D_SOLVES,
    H_ATOL,
    H_FACMIN,
    H_RTOL,
    R_CONTROL,
    R_ERROR,
    R_NQU,
    R_ORDER,
    R_SOLVER,
    R_STAGES,
    VISIT_ALL,
    VISIT_RATE,
    accept,
    aim,
    combine,
    judge,
    save_inside,
    squared_errors,
    visit,
)
from dalembert.kernels.time.watch import PROJECTED, note_leap, projection_error

AUTO = 0  # settings_i[R_SOLVER]: 0 automatic, 1 functional iteration, 2 Newton
RETRY = 100  # steps by Newton after which functional iteration is tried again
CONTRACTION = 0.3  # what the next step of Radau IIA may contract like
# state_i[D_PREDICT]: what the k_i of the last attempt are to the next one
NOTHING, STEP_BEFORE, SAME_STEP = 0, 1, 2


@kernel
def implicit_runge_kutta(
    t_end,
    x,
    x_old,
    stages,
    dense,
    jacobian,
    factors,
    pivots,
    spectrum,
    velocity_map,
    memory,
    a,
    c,
    e,
    d,
    settings_i,
    settings_f,
    state_i,
    state_f,
    save_t,
    out_t,
    out_x,
    max_steps,
    system,
):
    """Advance x from state_f[C_T] to t_end or by max_steps accepted steps; status.

    jacobian : (nu + 1, nqu) of u', the last row is where;  factors : (pairs, nu + 1, nqu), the last row is a vector over q, u
    pivots : (pairs, nu)
    spectrum : eigenvalues and eigenvectors of a;  velocity_map : blocks of q' = N(q) u, see `Run`
    memory : (7, s nu) of `accelerate`;  the rest as in `runge_kutta`
    """
    s, spare = settings_i[R_STAGES] - 1, stages.shape[0] - 1
    y, before = x_old, dense[dense.shape[0] - 1]
    steps = 0
    t, h = state_f[C_T], state_f[C_H]
    if state_i[D_HAVE_RATE] == 0:
        status = visit(VISIT_RATE, t, x, stages[0], system)
        if status != OK:
            return status
        state_i[D_HAVE_RATE] = 1
        state_i[D_SOLVER] = settings_i[R_SOLVER]
    while steps < max_steps:
        if t >= t_end:
            return OK
        asked = h
        h, t_new = aim(t, h, t_end, settings_i, settings_f, state_i, system)
        if not abs(h) > 1e-15 * max(abs(t), abs(t_end)):
            return STEP_TOO_SMALL
        predict(h, s, c, e, stages, state_i, state_f)
        status, err, wrong, moved, change = OK, 0.0, 0.0, 0.0, 0.0
        solved_by = state_i[D_SOLVER]
        if settings_i[R_SOLVER] == AUTO and solved_by == NEWTON and state_i[D_RETRY] >= RETRY:
            solved_by = AUTO
        if solved_by != NEWTON:
            status = iterate(
                t, h, x, y, stages, velocity_map, memory, a, c, settings_i, settings_f, state_i, state_f, system,
            )  # fmt: skip
            if settings_i[R_SOLVER] == AUTO and status != OK and status != CALLBACK_FAILED:
                repeat_rate(s, stages)
                solved_by, state_i[D_RETRY] = NEWTON, 0
            if settings_i[R_SOLVER] == AUTO:
                state_i[D_SOLVER] = solved_by
        if solved_by == NEWTON:
            status = iterate_newton(
                t, h, x, y, stages, jacobian, factors, pivots, spectrum, velocity_map, a, c, settings_i, settings_f,
                state_i, state_f, system,
            )  # fmt: skip
            state_i[D_NEWTON] += 1
            state_i[D_RETRY] += 1
        state_i[D_SOLVES] += 1
        state_i[D_PREDICT], state_f[C_H_STAGES] = NOTHING, h
        if status == OK:
            state_i[D_PREDICT] = SAME_STEP
            combine(x, stages, a, s + 1, s + 1, h, y)
            for j in range(x.size):
                before[j] = y[j]
            status = visit(VISIT_ALL, t + h, y, stages[s + 1], system)
            wrong, moved, change = projection_error(
                x, y, before, settings_i[R_NQU], settings_f[H_RTOL], settings_f[H_ATOL], system
            )
        if settings_i[R_ERROR] != 0 and status == OK:
            if solved_by == NEWTON:
                err = filtered_error(
                    h, x, y, stages, e, 0, s, jacobian, factors, pivots, spectrum, velocity_map, settings_f
                )  # fmt: skip
                if e.shape[0] == 2:  # stiff: the error is that of the stages, and the law of order 2 s + 1 below does not hold
                    err = (err * abs(spectrum[0, 0] / e[0, 0])) ** ((2.0 * s + 1.0) / (s + 1.0))
            else:
                one, two = squared_errors(x, y, stages, e, s + 1, settings_i[R_NQU], settings_f)
                err = abs(h) * np.sqrt(one / settings_i[R_NQU])
                if e.shape[0] == 2:
                    err = gauss_error(err, abs(h) * np.sqrt(two / settings_i[R_NQU]), s)
            err = max(err, PROJECTED * wrong)
        status, value = judge(status, err, t, h, settings_i, settings_f, state_i, state_f)
        if status == AGAIN:
            h = value
            continue
        if status != OK:
            return status
        if e.shape[0] == 1 and settings_i[R_CONTROL] == 1:
            if state_f[C_ERR] > 0.0:  # [HairerWanner1996, IV (8.24)]
                trend = h / state_f[C_H_DONE] * (state_f[C_ERR] / max(err, 1e-10)) ** (1.0 / settings_i[R_ORDER])
                value = max(settings_f[H_FACMIN], value * min(1.0, trend))
            state_f[C_ERR] = max(err, 1e-2)
            if state_f[C_CONTRACTION] > 0.0:  # larger steps contract less
                value = max(0.5, min(value, CONTRACTION / state_f[C_CONTRACTION]))
        if state_i[D_SOLVER] == NEWTON and 1.0 <= value < 1.2:
            value = 1.0  # keeps the factors [HairerWanner1996, IV.8]
        if e.shape[0] == 1:
            own_rates(stages, e, s, spare)
        status, shorter = save_inside(
            t, t_new, h, x, y, stages, s + 2, dense, a, c, d, settings_i, settings_f, state_i, save_t, out_t, out_x, system,
        )  # fmt: skip
        if status == AGAIN:
            status, h = visit(VISIT_RATE, t, x, stages[0], system), shorter
            if status == OK:
                continue
        if status != OK:
            return status
        note_leap(t_new, moved, change, system)
        if e.shape[0] == 1:
            for j in range(x.size):
                stages[s + 1, j] = stages[spare, j]
        h = accept(t, t_new, h, value, h < asked, x, y, stages, settings_i, settings_f, state_i, state_f)
        state_i[D_PREDICT] = STEP_BEFORE
        t = t_new
        steps += 1
    return OK if t >= t_end else TOO_MANY_STEPS


@flat
def predict(h, s, c, e, stages, state_i, state_f):
    """k_i <- the polynomial through the last k_i and f at the point between, or f itself [HairerLubichWanner2006, VIII.6.1].

    Radau IIA takes the k_i alone, which include the end. After a rejected step the polynomial is that of the same interval, so
    it is interpolated, not extrapolated.
    """
    if state_i[D_PREDICT] == NOTHING or h > 2.0 * state_f[C_H_STAGES]:
        repeat_rate(s, stages)
    else:
        ratio = h / state_f[C_H_STAGES]
        origin = 1.0 if state_i[D_PREDICT] == STEP_BEFORE else 0.0
        first = 0 if e.shape[0] == 2 else 1
        for i in range(1, s + 1):
            for j in range(stages.shape[1]):
                stages[s + 1 + i, j] = 0.0
            for k in range(first, s + 1):
                node = origin if k == 0 else c[k]
                weight = 1.0
                for m in range(first, s + 1):
                    other = origin if m == 0 else c[m]
                    if m != k:
                        weight *= (origin + ratio * c[i] - other) / (node - other)
                for j in range(stages.shape[1]):
                    stages[s + 1 + i, j] += weight * stages[k, j]
        for i in range(1, s + 1):
            for j in range(stages.shape[1]):
                stages[i, j] = stages[s + 1 + i, j]


@inline
def gauss_error(one, two, s):
    """Local error C z^(2s+1) from estimates E_1 = C z^(s+1) and E_2 = C z^s, where h f ~ z x: E_1 (E_1 / E_2)^s.

    E_1 and E_2 are divided differences of f over the stages with and without the old point. The law of DOP853
    [HairerNorsettWanner1993, II.10] in spirit: two estimates of low order combine into one of the method's order.
    """
    ratio = 10.0  # beyond it the steps resolve nothing, or both are rounding
    if one < 10.0 * two:
        ratio = one / two
    return one * ratio**s


@inline
def own_rates(stages, e, s, spare):
    """Rates at both ends <- those of the polynomial through the k_i, which hold nothing stiff; f at the new point is kept."""
    for j in range(stages.shape[1]):
        value = 0.0
        for i in range(1, s + 1):
            value -= e[0, i] * stages[i, j]
        stages[0, j] = value / e[0, 0]
        stages[spare, j], stages[s + 1, j] = stages[s + 1, j], stages[s, j]
