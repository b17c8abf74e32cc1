"""Explicit Runge-Kutta steps with step-size control, dense output and projection: one compiled time loop.

    k_i = f(t + c_i h, x + h sum_j a_ij k_j),  x_1 = P(x + h sum b_i k_i),  err = h sum e_i k_i  [HairerNorsettWanner1993, II]

The last stage of the tableau is f at the projected new point (first same as last). Two error laws: |err| in the scaled RMS
norm, or that of DOP853 with its third-order companion. Dense output runs through the projected end points, with their rates.
"""

import numpy as np

from dalembert.kernels.compiler import flat, inline, kernel
from dalembert.kernels.tables import (
    CALLBACK_FAILED,
    MOVED,
    NON_FINITE,
    OK,
    PROJECT,
    RATE,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
)

# integer settings: stages without the last, error law (0 none, 1 plain, 2 DOP853), dense law (0 Hermite, 1 DOPRI5, 2 DOP853)
(R_STAGES, R_ERROR, R_DENSE, R_EXTRA, R_ORDER, R_NQU, R_EVERY, R_VISIT, R_CONTROL) = range(9)
# what to do at a point
VISIT_PROJECT, VISIT_KEEP, VISIT_RATE, VISIT_ALL = 1, 2, 4, 7
# real settings
(H_RTOL, H_ATOL, H_SAFETY, H_FACMIN, H_FACMAX, H_MAX, H_MIN) = range(7)
# real state kept between chunks
(C_T, C_H, C_FACMAX, C_H_DONE, C_T_OLD, C_H_SMALLEST, C_H_LARGEST) = range(7)
# integer state kept between chunks
(D_ACCEPTED, D_REJECTED, D_SAVED, D_NEXT, D_HAVE_RATE, D_FAILED_PROJECTIONS) = range(6)


@kernel
def runge_kutta(
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

    stages : (s + extra + 1, nx) work, row s holds f at the new point; dense : (8, nx) coefficients of the last step
    save_t : times to save at (used when settings_i[R_EVERY] = 0);  out_t, out_x : where saved states go
    """
    n, s, nq = x.size, settings_i[R_STAGES], settings_i[R_NQU]
    y = x_old
    steps = 0
    t, h = state_f[C_T], state_f[C_H]
    if state_i[D_HAVE_RATE] == 0:
        status = visit(VISIT_RATE, system, project, correct, t, x, stages[0], I, F, W, forces, callback)
        if status != OK:
            return status
        state_i[D_HAVE_RATE] = 1
    while steps < max_steps:
        if t >= t_end:
            return OK
        last = False
        if t + 1.0000000001 * h >= t_end:
            h = t_end - t
            last = True
        if not abs(h) > 1e-15 * max(abs(t), abs(t_end)):
            return STEP_TOO_SMALL
        status, err = OK, 0.0
        for i in range(1, s + 1):
            combine(x, stages, a, i, min(i, s), h, y)
            what = settings_i[R_VISIT]
            if i == s:
                what = VISIT_ALL
                if settings_i[R_ERROR] == 2:
                    err = error_norm(x, y, stages, e, s, h, nq, settings_f)
                    if not err <= 1.0:
                        break
            status = visit(what, system, project, correct, t + c[i] * h, y, stages[i], I, F, W, forces, callback)
            if status != OK:
                break
        if settings_i[R_ERROR] == 1 and status == OK:
            err = error_norm(x, y, stages, e, s + 1, h, nq, settings_f)
        if settings_i[R_CONTROL] == 0:
            if status != OK:
                state_f[C_T], state_f[C_H] = t, h
                return status
            factor = 1.0
        elif status == CALLBACK_FAILED:
            return status
        elif status != OK or not np.isfinite(err):
            state_i[D_REJECTED] += 1
            state_i[D_FAILED_PROJECTIONS] += 1
            state_f[C_FACMAX] = 1.0
            h *= 0.25
            if h < settings_f[H_MIN]:
                state_f[C_T], state_f[C_H] = t, h
                return status if status != OK else NON_FINITE
            continue
        else:
            factor = settings_f[H_SAFETY] * max(err, 1e-10) ** (-1.0 / settings_i[R_ORDER])
            factor = min(state_f[C_FACMAX], max(settings_f[H_FACMIN], factor))
            if err > 1.0:
                state_i[D_REJECTED] += 1
                state_f[C_FACMAX] = 1.0
                h *= min(factor, 0.9)
                if h < settings_f[H_MIN]:
                    state_f[C_T], state_f[C_H] = t, h
                    return STEP_TOO_SMALL
                continue
            state_f[C_FACMAX] = settings_f[H_FACMAX]
        # accepted
        t_new = t_end if last else t + h
        status = save_inside(
            system, project, correct, forces, callback, t, t_new, h, x, y, stages, dense, a, c, d, settings_i, state_i,
            save_t, out_t, out_x, I, F, W,
        )  # fmt: skip
        if status != OK:
            return status
        for i in range(n):
            x_i = x[i]
            x[i] = y[i]
            y[i] = x_i
            stages[0, i] = stages[s, i]
        state_f[C_T_OLD], state_f[C_H_DONE] = t, h
        state_f[C_H_LARGEST] = max(state_f[C_H_LARGEST], h)
        if not last:
            state_f[C_H_SMALLEST] = min(state_f[C_H_SMALLEST], h)
        t = t_new
        steps += 1
        state_i[D_ACCEPTED] += 1
        if settings_i[R_CONTROL] == 1:
            h = min(h * factor, settings_f[H_MAX])
        state_f[C_T] = t
        if not last or settings_i[R_CONTROL] == 1:
            state_f[C_H] = h
    return OK if t >= t_end else TOO_MANY_STEPS


@flat
def save_inside(
    system, project, correct, forces, callback, t, t_new, h, x, y, stages, dense, a, c, d, settings_i, state_i,
    save_t, out_t, out_x, I, F, W,
):  # fmt: skip
    """Store the new point, or every requested time within (t, t_new], interpolated and projected."""
    n = x.size
    if settings_i[R_EVERY]:
        k = state_i[D_SAVED]
        out_t[k] = t_new
        for i in range(n):
            out_x[k, i] = y[i]
        state_i[D_SAVED] = k + 1
        return OK
    if not (state_i[D_NEXT] < save_t.size and save_t[state_i[D_NEXT]] <= t_new):
        return OK
    status = dense_coefficients(
        system, project, correct, forces, callback, t, h, x, y, stages, dense, a, c, d, settings_i, I, F, W
    )
    while status == OK and state_i[D_NEXT] < save_t.size and save_t[state_i[D_NEXT]] <= t_new:
        k = state_i[D_SAVED]
        out_t[k] = save_t[state_i[D_NEXT]]
        if out_t[k] == t_new:
            for i in range(n):
                out_x[k, i] = y[i]
        else:
            interpolate((out_t[k] - t) / h, x, dense, settings_i[R_DENSE], out_x[k])
            what = VISIT_PROJECT | VISIT_KEEP
            status = visit(what, system, project, correct, out_t[k], out_x[k], dense[7], I, F, W, forces, callback)
        state_i[D_SAVED] = k + 1
        state_i[D_NEXT] += 1
    return status


@inline
def visit(what, system, project, correct, t, y, dx, I, F, W, forces, callback):
    """At the point y: project onto the constraints, keep invariants, evaluate dx <- rate, as bits of `what` ask. Status.

    Invariants and constraints are restored in turns until both hold [JetMultibody, Algorithm 5.5].
    """
    status, turns = OK, 0
    if what & VISIT_PROJECT:
        status = project(PROJECT, t, y, dx, I, F, W, forces, callback)
        while what & VISIT_KEEP and status == OK and turns < 200:
            status = correct(PROJECT, t, y, dx, I, F, W, forces, callback)
            if status != MOVED:
                break
            status = project(PROJECT, t, y, dx, I, F, W, forces, callback)
            turns += 1
    if what & VISIT_RATE and status == OK:
        status = system(RATE, t, y, dx, I, F, W, forces, callback)
    return status


@inline
def combine(x, stages, a, row, count, h, y):
    """y <- x + h sum_{j < count} a[row, j] k_j"""
    for i in range(x.size):
        s = 0.0
        for j in range(count):
            s += a[row, j] * stages[j, i]
        y[i] = x[i] + h * s


@inline
def error_norm(x, y, stages, e, count, h, n, settings_f):
    """RMS over q and u of h sum e_i k_i / (atol + rtol max(|x|, |y|))  [HairerNorsettWanner1993, II (4.11)].

    With a second estimator (DOP853): err5^2 / sqrt(err5^2 + 0.01 err3^2)  [HairerNorsettWanner1993, II.10 (10.17)]
    """
    five, three = 0.0, 0.0
    for i in range(n):
        s5, s3 = 0.0, 0.0
        for j in range(count):
            s5 += e[0, j] * stages[j, i]
            s3 += e[e.shape[0] - 1, j] * stages[j, i]
        scale = settings_f[H_ATOL] + settings_f[H_RTOL] * max(abs(x[i]), abs(y[i]))
        five += (s5 / scale) * (s5 / scale)
        three += (s3 / scale) * (s3 / scale)
    if e.shape[0] == 1:
        return abs(h) * np.sqrt(five / n)
    if five == 0.0 and three == 0.0:
        return 0.0
    return abs(h) * five / np.sqrt((five + 0.01 * three) * n)


@flat
def dense_coefficients(system, project, correct, forces, callback, t, h, x, y, stages, dense, a, c, d, settings_i, I, F, W):
    """Coefficients of the interpolant from x to y; DOP853 needs three more stages [HairerNorsettWanner1993, II.6]."""
    n, s = x.size, settings_i[R_STAGES]
    for extra in range(settings_i[R_EXTRA]):
        row = s + 1 + extra
        combine(x, stages, a, row, row, h, dense[7])
        at = t + c[row] * h
        status = visit(VISIT_RATE, system, project, correct, at, dense[7], stages[row], I, F, W, forces, callback)
        if status != OK:
            return status
    for i in range(n):
        difference = y[i] - x[i]
        bend = h * stages[0, i] - difference
        dense[0, i] = difference
        dense[1, i] = bend
        dense[2, i] = difference - h * stages[s, i] - bend
    for k in range(d.shape[0]):
        for i in range(n):
            v = 0.0
            for j in range(d.shape[1]):
                v += d[k, j] * stages[j, i]
            dense[3 + k, i] = h * v
    return OK


@flat
def interpolate(theta, x, dense, law, out):
    """x(t + theta h): nested form theta (. + (1 - theta) (. + theta (. + (1 - theta) ...)))"""
    top = 2 if law == 0 else (3 if law == 1 else 6)
    other = 1.0 - theta
    for i in range(x.size):
        s = 0.0
        for k in range(top, -1, -1):
            s = (s + dense[k, i]) * (theta if k % 2 == 0 else other)
        out[i] = x[i] + s
