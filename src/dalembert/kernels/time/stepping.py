"""What every one-step method shares: points, combinations of rates, step-size control, saving, dense output.

A method keeps its rates in the rows of `stages`: row 0 is f at the old point, row settings_i[R_STAGES] f at the projected new
point (first same as last). Dense output runs through the projected end points, with their rates.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.slots import correction, equations, projection
from dalembert.kernels.base.tables import (
    CALLBACK_FAILED,
    INSIDE,
    MOVED,
    NON_FINITE,
    NSTOP,
    OK,
    PROJECT,
    RATE,
    STEP_TOO_SMALL,
    STOP_F,
    W_STAT,
)
from dalembert.kernels.time.watch import interpolate, look_between, note_drivers

# integer settings: row of the new point, error law (0 none, 1 plain, 2 with a companion), extra stages of the interpolant,
# exponent of the controller, components in error norms, save every step, what to do at stages, adaptive, stage solver, of how
# many steps one is kept for the checks of the report where other times are saved (0 none), leave the interpolant of every
# step in `dense`
(R_STAGES, R_ERROR, R_EXTRA, R_ORDER, R_NQU, R_EVERY, R_VISIT, R_CONTROL, R_SOLVER, R_WATCH, R_DENSE) = range(11)
N_SETTINGS_I = 11
# what to do at a point
VISIT_PROJECT, VISIT_KEEP, VISIT_RATE, VISIT_ALL = 1, 2, 4, 7
# real settings; last the fixed step, where the run began, and the distance at which forces of time are looked at within a step
(H_RTOL, H_ATOL, H_SAFETY, H_FACMIN, H_FACMAX, H_MAX, H_MIN, H_STAGE, H_STEP, H_START, H_LOOK) = range(11)
# real state kept between chunks; from C_H_STAGES on it belongs to implicit stages
(C_T, C_H, C_FACMAX, C_H_DONE, C_T_OLD, C_H_SMALLEST, C_H_LARGEST, C_H_STAGES, C_H_FACTORED, C_CONTRACTION) = range(10)
C_ERR, C_STIFFNESS = 10, 11
C_ROUNDED, N_STATE_F = 12, 13  # C_ROUNDED : largest error of a step, in tolerances, that rounding of rates explains
# integer state kept between chunks; from D_SOLVER on it belongs to implicit stages
(D_ACCEPTED, D_REJECTED, D_SAVED, D_NEXT, D_HAVE_RATE, D_FAILED_PROJECTIONS) = range(6)
(D_SOLVER, D_RETRY, D_PREDICT, D_JACOBIAN, D_SOLVES, D_ITERATIONS, D_ITERATIONS_MAX, D_NEWTON, D_JACOBIANS) = range(6, 15)
D_STOP, D_ROUNDED, N_STATE_I = 15, 16, 17  # breakpoints passed; steps whose error rounding of rates explains
# status of an attempted step that is to be repeated
AGAIN = -1


@flat
def aim(t, h, t_end, settings_i, settings_f, state_i, system):
    """(h, t_new) of the next step: it ends at t_end, at a breakpoint of a motion, or, of fixed size, at a multiple of h.

    Times of fixed steps are multiples, not sums, so that rounding leaves no sliver at the end; h itself stays what it was.
    """
    I, F = system.I, system.F
    while state_i[D_STOP] < I[NSTOP] and F[I[STOP_F] + state_i[D_STOP]] <= t + settings_f[H_MIN]:
        state_i[D_STOP] += 1
    stop, t_new, slack = t_end, t + h, 1e-10
    if state_i[D_STOP] < I[NSTOP] and F[I[STOP_F] + state_i[D_STOP]] < t_end:
        stop = F[I[STOP_F] + state_i[D_STOP]]
    if settings_i[R_CONTROL] == 0:
        slack = 1e-6
        t_new = settings_f[H_START] + h * (np.floor((t - settings_f[H_START]) / h + slack) + 1.0)
        if abs(t_new - t - h) > slack * h:  # after a breakpoint
            h = t_new - t
    elif stop < t_end and t_new < stop < t_new + h:
        h = 0.5 * (stop - t)  # two equal steps instead of one and a sliver
        t_new = t + h
    if t_new + slack * h >= stop:
        t_new = stop
        if abs(stop - t - h) > 1e-15 * abs(stop):
            h = stop - t
    return h, t_new


@flat
def judge(status, err, t, h, settings_i, settings_f, state_i, state_f):
    """(status, value) of an attempted step: OK and the factor of the next step, AGAIN and the new step size, or a failure.

    h_new = h min(facmax, max(facmin, safety err^(-1/order)))                       [HairerNorsettWanner1993, II (4.13)]
    """
    value = 1.0
    if settings_i[R_CONTROL] == 1 and status != CALLBACK_FAILED:
        reason = status
        if status == OK and not np.isfinite(err):
            reason = NON_FINITE
        if reason != OK:
            state_i[D_FAILED_PROJECTIONS] += 1
            value = 0.25
        else:
            value = settings_f[H_SAFETY] * max(err, 1e-10) ** (-1.0 / settings_i[R_ORDER])
            value = min(state_f[C_FACMAX], max(settings_f[H_FACMIN], value))
            state_f[C_FACMAX] = settings_f[H_FACMAX]
            if err > 1.0:
                value, reason = min(value, 0.9), STEP_TOO_SMALL
        status = reason
        if reason != OK:
            state_i[D_REJECTED] += 1
            state_f[C_FACMAX] = 1.0
            value *= h
            if value >= settings_f[H_MIN]:
                status = AGAIN
            h = value
    if status != OK and status != AGAIN:
        state_f[C_T], state_f[C_H] = t, h
    return status, value


@flat
def accept(t, t_new, h, factor, cut, x, y, stages, settings_i, settings_f, state_i, state_f):
    """x <- the new point, y <- the old one, row 0 <- its rate; the next step size. cut : the step was shortened."""
    s = settings_i[R_STAGES]
    for i in range(x.size):
        x_i = x[i]
        x[i] = y[i]
        y[i] = x_i
        stages[0, i] = stages[s, i]
    state_f[C_T_OLD], state_f[C_H_DONE] = t, h
    state_f[C_H_LARGEST] = max(state_f[C_H_LARGEST], h)
    if not cut:
        state_f[C_H_SMALLEST] = min(state_f[C_H_SMALLEST], h)
    state_i[D_ACCEPTED] += 1
    h = min(h * factor, settings_f[H_MAX]) if settings_i[R_CONTROL] == 1 else settings_f[H_STEP]
    state_f[C_T], state_f[C_H] = t_new, h
    return h


@inline
def first_step(t, x, spare, n, order, span, settings_f, system):
    """A step size to begin with [HairerNorsettWanner1993, II.4, starting step size]; spare : (3, nx) work."""
    f_0, f_1, y = spare[0], spare[1], spare[2]
    if equations(RATE, t, x, f_0, system) != OK:
        return 1e-6
    d_0, d_1, d_2 = 0.0, 0.0, 0.0
    for i in range(n):
        scale = settings_f[H_ATOL] + settings_f[H_RTOL] * abs(x[i])
        d_0 += (x[i] / scale) * (x[i] / scale)
        d_1 += (f_0[i] / scale) * (f_0[i] / scale)
    d_0, d_1 = np.sqrt(d_0 / n), np.sqrt(d_1 / n)
    h = 1e-6 * min(1.0, span)  # a state of rounded zeros would ask for a step without end
    if min(d_0, d_1) >= 1e-5:
        h = max(0.01 * d_0 / d_1, h)
    for i in range(x.size):
        y[i] = x[i] + h * f_0[i]
    if equations(RATE, t + h, y, f_1, system) != OK:
        return min(h, span)
    for i in range(n):
        scale = settings_f[H_ATOL] + settings_f[H_RTOL] * abs(x[i])
        d_2 += ((f_1[i] - f_0[i]) / scale) * ((f_1[i] - f_0[i]) / scale)
    largest = max(d_1, np.sqrt(d_2 / n) / h)
    h_1 = max(1e-6, 1e-3 * h)
    if largest > 1e-15:
        h_1 = (0.01 / largest) ** (1.0 / order)
    return min(100 * h, h_1, span)


@inline
def visit(what, t, y, dx, system):
    """At the point y: project onto the constraints, keep invariants, evaluate dx <- rate, as bits of `what` ask. Status.

    Invariants and constraints are restored in turns until both hold [JetMultibody, Algorithm 5.5].
    """
    status, turns = MOVED if what & VISIT_PROJECT else OK, 0
    while status == MOVED:
        status = projection(PROJECT, t, y, dx, system)
        if what & VISIT_KEEP and status == OK and turns < 200:
            status = correction(PROJECT, t, y, dx, system)
        turns += 1
    if what & VISIT_RATE and status == OK:
        status = equations(RATE, t, y, dx, system)
    return status


@kernel
def combine(x, stages, a, row, count, h, y):
    """y <- x + h sum_{j < count} a[row, j] k_j

    A kernel of its own, so that its loops are vectorised whatever the time loop around it is compiled with.
    """
    for i in range(x.size):
        y[i] = 0.0
    for j in range(count):
        weight = a[row, j]
        if weight != 0.0:
            for i in range(x.size):
                y[i] += weight * stages[j, i]
    for i in range(x.size):
        y[i] = x[i] + h * y[i]


@flat
def squared_errors(x, y, stages, e, count, n, settings_f):
    """Sums over q and u of (sum_j e_ij k_j / (atol + rtol max(|x|, |y|)))^2 for the first and the last estimate i
    [HairerNorsettWanner1993, II (4.11)]."""
    first, last = 0.0, 0.0
    for i in range(n):
        s_1, s_2 = 0.0, 0.0
        for j in range(count):
            s_1 += e[0, j] * stages[j, i]
            s_2 += e[e.shape[0] - 1, j] * stages[j, i]
        scale = settings_f[H_ATOL] + settings_f[H_RTOL] * max(abs(x[i]), abs(y[i]))
        first += (s_1 / scale) * (s_1 / scale)
        last += (s_2 / scale) * (s_2 / scale)
    return first, last


@flat
def save_inside(
    t, t_new, h, x, y, stages, row, dense, a, c, d, settings_i, settings_f, state_i, save_t, out_t, out_x, system
):  # fmt: skip
    """(status, h): store the new point, or every requested time within (t, t_new], interpolated and projected, and the point if
    watched; or AGAIN and a smaller step, where something happens between the stages. row : of stages, free for rates"""
    I, W = system.I, system.W
    note_drivers(t_new, y, system)  # while the workspace is still that of the new point
    status, every, due, shorter = OK, settings_i[R_EVERY], 1, 0.0
    if every == 0:
        due = 0
        while state_i[D_NEXT] + due < save_t.size and save_t[state_i[D_NEXT] + due] <= t_new:
            due += 1
    between = every == 0 and due > 0 and save_t[state_i[D_NEXT]] < t_new
    look = settings_i[R_CONTROL] == 1 and h > settings_f[H_LOOK]
    if between or look or settings_i[R_DENSE] == 1:
        status = dense_coefficients(t, h, x, y, stages, dense, a, c, d, settings_i, system)
    if look and status == OK:
        spare, tolerance = dense[dense.shape[0] - 1], settings_f[H_RTOL : H_ATOL + 1]
        shorter = look_between(
            t, h, settings_f[H_LOOK], x, dense, 2 + d.shape[0], spare, stages[row], tolerance, settings_i[R_NQU], system,
        )  # fmt: skip
        if shorter > settings_f[H_MIN]:
            status, due = AGAIN, 0
            state_i[D_REJECTED] += 1
    while status == OK and due > 0:
        k = state_i[D_SAVED]
        at = t_new if every else save_t[state_i[D_NEXT]]
        out_t[k] = at
        if at == t_new:
            for i in range(x.size):
                out_x[k, i] = y[i]
        else:
            interpolate((at - t) / h, x, dense, 2 + d.shape[0], out_x[k])
            what, spare = VISIT_PROJECT | VISIT_KEEP, dense[dense.shape[0] - 1]
            W[I[W_STAT] + INSIDE] = 1.0
            status = visit(what, at, out_x[k], spare, system)
            W[I[W_STAT] + INSIDE] = 0.0
        state_i[D_SAVED] = k + 1
        state_i[D_NEXT] += 1
        due -= 1
    k = state_i[D_SAVED]
    if status == OK and every == 0 and settings_i[R_WATCH] > 0 and state_i[D_ACCEPTED] % settings_i[R_WATCH] == 0:
        if k == 0 or out_t[k - 1] < t_new:
            out_t[k] = t_new
            for i in range(x.size):
                out_x[k, i] = y[i]
            state_i[D_SAVED] = k + 1
    return status, shorter


@flat
def dense_coefficients(t, h, x, y, stages, dense, a, c, d, settings_i, system):
    """Coefficients of the interpolant from x to y; DOP853 needs three more stages [HairerNorsettWanner1993, II.6]."""
    n, s, spare = x.size, settings_i[R_STAGES], dense.shape[0] - 1
    status = OK
    for row in range(s + 1, s + 1 + settings_i[R_EXTRA]):
        combine(x, stages, a, row, row, h, dense[spare])
        at = t + c[row] * h
        status = visit(VISIT_RATE, at, dense[spare], stages[row], system)
        if status != OK:
            break
    for i in range(n):
        difference = y[i] - x[i]
        bend = h * stages[0, i] - difference
        dense[0, i] = difference
        dense[1, i] = bend
        dense[2, i] = difference - h * stages[s, i] - bend
        for k in range(d.shape[0]):
            v = 0.0
            for j in range(d.shape[1]):
                v += d[k, j] * stages[j, i]
            dense[3 + k, i] = h * v
    return status
