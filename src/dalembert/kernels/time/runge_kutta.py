"""Explicit Runge-Kutta steps with step-size control, dense output and projection: one compiled time loop.

    k_i = f(t + c_i h, x + h sum_j a_ij k_j),  x_1 = P(x + h sum b_i k_i),  err = h sum e_i k_i  [HairerNorsettWanner1993, II]

The last stage of the tableau is f at the projected new point (first same as last). Two error laws: |err| in the scaled RMS
norm, or that of DOP853 with its third-order companion. Where masses differ by orders of magnitude, rounding of f alone can make
err larger than the tolerance; it falls with h only, so that steps would collapse: none is rejected for it.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline, light
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import OK, RATE, STEP_TOO_SMALL, TOO_MANY_STEPS
from dalembert.kernels.time.stepping import (
    AGAIN,
    C_FACMAX,
    C_H,
    C_ROUNDED,
    C_T,
    D_HAVE_RATE,
    D_ROUNDED,
    H_ATOL,
    H_RTOL,
    R_ERROR,
    R_NQU,
    R_STAGES,
    R_VISIT,
    VISIT_ALL,
    VISIT_RATE,
    accept,
    aim,
    combine,
    judge,
    save_inside,
    visit,
)
from dalembert.kernels.time.watch import PROJECTED, note_leap, projection_error

LAST_DIGIT = 2.2e-16
PROBES, ROUNDING = 2, 10.0  # pairs of changes of the last digits; their effect against that of all stages


@light
def step_error(t, h, x, y, stages, dense, e, count, n, settings_f, state_i, state_f, system):
    """The error of a step in tolerances; where rounding of the rates explains it, what is left. A kernel of its own.

    dense : rows 0 to 3 are scratch, the last <- how much the rates change where the state does by its last digits
    """
    err = error_norm(x, y, stages, dense, e, count, h, n, 0.0, settings_f)
    if err > 1.0 and (state_f[C_FACMAX] == 1.0 or state_i[D_ROUNDED] > 0):  # rejected before
        near, rate, status = dense[0], dense[1], OK
        for k in range(2 * PROBES):
            for i in range(x.size):
                if k == 0:
                    dense[3, i] = 0.0
                near[i] = x[i] + max(abs(x[i]), 1.0) * (LAST_DIGIT if (i >> (k // 2)) % 2 == k % 2 else -LAST_DIGIT)
            if status == OK:
                status = equations(RATE, t, near, rate, system)
            for i in range(n):
                dense[3, i] = max(dense[3, i], abs(rate[i] - stages[0, i]))
        if status == OK:
            plain, err = err, error_norm(x, y, stages, dense, e, count, h, n, ROUNDING * abs(h), settings_f)
            if err <= 1.0:
                state_i[D_ROUNDED] += 1
                state_f[C_ROUNDED] = max(state_f[C_ROUNDED], plain)
    return err


@light
def runge_kutta(
    t_end,
    x,
    x_old,
    stages,
    dense,
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

    stages : (s + extra + 1, nx) work, row s holds f at the new point; dense : (8, nx) coefficients of the last step
    save_t : times to save at (used when settings_i[R_EVERY] = 0);  out_t, out_x : where saved states go
    """
    s, nq = settings_i[R_STAGES], settings_i[R_NQU]
    y, before = x_old, dense[dense.shape[0] - 1]
    status, steps = OK, 0
    t, h = state_f[C_T], state_f[C_H]
    while status == OK and t < t_end:
        if steps == max_steps:
            return TOO_MANY_STEPS
        asked = h
        h, t_new = aim(t, h, t_end, settings_i, settings_f, state_i, system)
        if not abs(h) > 1e-15 * max(abs(t), abs(t_end)):
            return STEP_TOO_SMALL
        err, moved, change = 0.0, 0.0, 0.0
        for i in range(state_i[D_HAVE_RATE], s + 1):
            combine(x, stages, a, i, i, h, y)
            what = settings_i[R_VISIT]
            if i == 0:  # at the start of a run, which is projected already
                what = VISIT_RATE
            elif i == s:
                what = VISIT_ALL
                if settings_i[R_ERROR] == 2:
                    err = step_error(t, h, x, y, stages, dense, e, s, nq, settings_f, state_i, state_f, system)
                    if not err <= 1.0:
                        break
                for j in range(x.size):
                    before[j] = y[j]
            status = visit(what, t + c[i] * h, y, stages[i], system)
            if status != OK:
                break
            if i == s:
                wrong, moved, change = projection_error(x, y, before, nq, settings_f[H_RTOL], settings_f[H_ATOL], system)
                if settings_i[R_ERROR] != 0:
                    err = max(err, PROJECTED * wrong)
            if i == 0:  # where a step begins, a formulation may note something in the state
                for j in range(x.size):
                    x[j] = y[j]
            state_i[D_HAVE_RATE] = 1
        if state_i[D_HAVE_RATE] == 0:  # no rate at the start: no smaller step will help
            return status
        if settings_i[R_ERROR] == 1 and status == OK:
            err = max(err, step_error(t, h, x, y, stages, dense, e, s + 1, nq, settings_f, state_i, state_f, system))
        status, value = judge(status, err, t, h, settings_i, settings_f, state_i, state_f)
        if status == AGAIN:
            status, h = OK, value
            continue
        if status == OK:
            status, shorter = save_inside(
                t, t_new, h, x, y, stages, 1, dense, a, c, d, settings_i, settings_f, state_i, save_t, out_t, out_x, system,
            )  # fmt: skip
            if status == AGAIN:
                status, h = OK, shorter
                continue
        if status == OK:
            note_leap(t_new, moved, change, system)
            h = accept(t, t_new, h, value, h < asked, x, y, stages, settings_i, settings_f, state_i, state_f)
            t = t_new
            steps += 1
    return status


@inline
def error_norm(x, y, stages, dense, e, count, h, n, rounding, settings_f):
    """RMS over q and u of err = h sum e_i k_i over atol + rtol max(|x|, |y|) [HairerNorsettWanner1993, II (4.11)], and, where
    it is not zero, `rounding` times row 3 of dense.

    With a second estimator (DOP853): err5^2 / sqrt(err5^2 + 0.01 err3^2)  [HairerNorsettWanner1993, II.10 (10.17)]
    dense : rows 0..2 are scratch
    """
    first, last, zero = dense[0], dense[1], dense[2]
    for i in range(x.size):
        zero[i] = 0.0
    combine(zero, stages, e, 0, count, 1.0, first)
    combine(zero, stages, e, e.shape[0] - 1, count, 1.0, last)
    five, three = 0.0, 0.0
    for i in range(n):
        scale = settings_f[H_ATOL] + settings_f[H_RTOL] * max(abs(x[i]), abs(y[i]))
        if rounding > 0.0:
            scale += rounding * dense[3, i]
        five += (first[i] / scale) * (first[i] / scale)
        three += (last[i] / scale) * (last[i] / scale)
    if e.shape[0] == 1:
        return abs(h) * np.sqrt(five / n)
    if five == 0.0 and three == 0.0:
        return 0.0
    return abs(h) * five / np.sqrt((five + 0.01 * three) * n)
