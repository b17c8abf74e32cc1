"""Gauss-Legendre steps with step-size control, dense output and projection: one compiled time loop.

    k_i = f(t + c_i h, x + h sum_j a_ij k_j),  i = 1..s,     x_1 = P(x + h sum b_i k_i)      [HairerLubichWanner2006, II.1]

Rows of `stages`: 0 is f at the old point, 1..s are the k_i, s + 1 is f at the projected new point; then s rows of predictions
or Newton residuals, and a spare one. How the equations for the k_i are solved is in implicit_stages.py.
"""

import numpy as np

from dalembert.kernels.compiler import flat, inline, kernel
from dalembert.kernels.implicit_stages import NEWTON, iterate, iterate_newton, repeat_rate
from dalembert.kernels.stepping import (
    AGAIN,
    C_H,
    C_H_STAGES,
    C_T,
    D_HAVE_RATE,
    D_NEWTON,
    D_PREDICT,
    D_RETRY,
    D_SOLVER,
    D_SOLVES,
    R_ERROR,
    R_NQU,
    R_SOLVER,
    R_STAGES,
    VISIT_ALL,
    VISIT_RATE,
    accept,
    combine,
    judge,
    save_inside,
    squared_errors,
    visit,
)
from dalembert.kernels.tables import CALLBACK_FAILED, OK, STEP_TOO_SMALL, TOO_MANY_STEPS

AUTO = 0  # settings_i[R_SOLVER]: 0 automatic, 1 functional iteration, 2 Newton
RETRY = 100  # steps by Newton after which functional iteration is tried again
# state_i[D_PREDICT]: what the k_i of the last attempt are to the next one
NOTHING, STEP_BEFORE, SAME_STEP = 0, 1, 2


@kernel
def gauss_legendre(
    system,
    project,
    correct,
    forces,
    callback,
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
    I,
    F,
    W,
):
    """Advance x from state_f[C_T] to t_end or by max_steps accepted steps; status.

    jacobian : (nqu, nqu) of f;  factors : (pairs, nqu + 1, nqu), the last row is a right-hand side;  pivots : (pairs, nqu)
    spectrum : eigenvalues and eigenvectors of a;  velocity_map : blocks of q' = N(q) u, see `Run`
    memory : (7, s nu) of `accelerate`;  the rest as in `runge_kutta`
    """
    s = settings_i[R_STAGES] - 1
    y = x_old
    steps = 0
    t, h = state_f[C_T], state_f[C_H]
    if state_i[D_HAVE_RATE] == 0:
        status = visit(VISIT_RATE, system, project, correct, t, x, stages[0], I, F, W, forces, callback)
        if status != OK:
            return status
        state_i[D_HAVE_RATE] = 1
        state_i[D_SOLVER] = settings_i[R_SOLVER]
    while steps < max_steps:
        if t >= t_end:
            return OK
        last = False
        if t + 1.0000000001 * h >= t_end:
            h = t_end - t
            last = True
        if not abs(h) > 1e-15 * max(abs(t), abs(t_end)):
            return STEP_TOO_SMALL
        predict(h, s, c, stages, state_i, state_f)
        status, err = OK, 0.0
        solved_by = state_i[D_SOLVER]
        if settings_i[R_SOLVER] == AUTO and solved_by == NEWTON and state_i[D_RETRY] >= RETRY:
            solved_by = AUTO
        if solved_by != NEWTON:
            status = iterate(
                system, project, correct, forces, callback, t, h, x, y, stages, velocity_map, memory, a, c, settings_i, settings_f,
                state_i, state_f, I, F, W,
            )  # fmt: skip
            if settings_i[R_SOLVER] == AUTO and status != OK and status != CALLBACK_FAILED:
                repeat_rate(s, stages)
                solved_by, state_i[D_RETRY] = NEWTON, 0
            if settings_i[R_SOLVER] == AUTO:
                state_i[D_SOLVER] = solved_by
        if solved_by == NEWTON:
            status = iterate_newton(
                system, project, correct, forces, callback, t, h, x, y, stages, jacobian, factors, pivots, spectrum, a, c,
                settings_i, settings_f, state_i, state_f, I, F, W,
            )  # fmt: skip
            state_i[D_NEWTON] += 1
            state_i[D_RETRY] += 1
        state_i[D_SOLVES] += 1
        state_i[D_PREDICT], state_f[C_H_STAGES] = NOTHING, h
        if status == OK:
            state_i[D_PREDICT] = SAME_STEP
            combine(x, stages, a, s + 1, s + 1, h, y)
            status = visit(VISIT_ALL, system, project, correct, t + h, y, stages[s + 1], I, F, W, forces, callback)
        if settings_i[R_ERROR] != 0 and status == OK:
            err = gauss_error(x, y, stages, e, s, h, settings_i[R_NQU], settings_f)
        status, value = judge(status, err, t, h, settings_i, settings_f, state_i, state_f)
        if status == AGAIN:
            h = value
            continue
        if status != OK:
            return status
        if state_i[D_SOLVER] == NEWTON and 1.0 <= value < 1.2:
            value = 1.0  # keeps the factors [HairerWanner1996, IV.8]
        t_new = t_end if last else t + h
        status = save_inside(
            system, project, correct, forces, callback, t, t_new, h, x, y, stages, dense, a, c, d, settings_i, state_i,
            save_t, out_t, out_x, I, F, W,
        )  # fmt: skip
        if status != OK:
            return status
        h = accept(t, t_new, h, value, last, x, y, stages, settings_i, settings_f, state_i, state_f)
        state_i[D_PREDICT] = STEP_BEFORE
        t = t_new
        steps += 1
    return OK if t >= t_end else TOO_MANY_STEPS


@flat
def predict(h, s, c, stages, state_i, state_f):
    """k_i <- the polynomial through the last k_i and f at the point between, or f itself [HairerLubichWanner2006, VIII.6.1].

    After a rejected step the polynomial is that of the same interval, so it is interpolated, not extrapolated.
    """
    if state_i[D_PREDICT] == NOTHING or h > 2.0 * state_f[C_H_STAGES]:
        repeat_rate(s, stages)
    else:
        ratio = h / state_f[C_H_STAGES]
        origin = 1.0 if state_i[D_PREDICT] == STEP_BEFORE else 0.0
        for i in range(1, s + 1):
            for j in range(stages.shape[1]):
                stages[s + 1 + i, j] = 0.0
            for k in range(s + 1):
                node = origin if k == 0 else c[k]
                weight = 1.0
                for m in range(s + 1):
                    other = origin if m == 0 else c[m]
                    if m != k:
                        weight *= (origin + ratio * c[i] - other) / (node - other)
                for j in range(stages.shape[1]):
                    stages[s + 1 + i, j] += weight * stages[k, j]
        for i in range(1, s + 1):
            for j in range(stages.shape[1]):
                stages[i, j] = stages[s + 1 + i, j]


@inline
def gauss_error(x, y, stages, e, s, h, n, settings_f):
    """Local error C z^(2s+1) from estimates E_1 = C z^(s+1) and E_2 = C z^s, where h f ~ z x: E_1 (E_1 / E_2)^s.

    E_1 and E_2 are divided differences of f over the stages with and without the old point. The law of DOP853
    [HairerNorsettWanner1993, II.10] in spirit: two estimates of low order combine into one of the method's order.
    """
    one, two = squared_errors(x, y, stages, e, s + 1, n, settings_f)
    one, two = np.sqrt(one), np.sqrt(two)
    ratio = 10.0  # beyond it the steps resolve nothing, or both are rounding
    if one < 10.0 * two:
        ratio = one / two
    return abs(h) * one * ratio**s / np.sqrt(n)
