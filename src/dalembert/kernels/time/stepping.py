"""What every one-step method shares: the one time loop, step-size control, points, combinations of rates.

A method fills the seam `attempt`: it goes from steps.x at steps.t to steps.y at steps.t_new = t + h and leaves steps.err,
steps.moved, steps.change; its rates lie in the rows of `stages`.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, light, once, vectorised
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.slots import correction, equations, projection
from dalembert.kernels.base.tables import (
    CALLBACK_FAILED,
    CORRECT,
    MOVED,
    NON_FINITE,
    OK,
    PROJECT,
    RATE,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    VISIT_KEEP,
    VISIT_PROJECT,
    VISIT_RATE,
    WANTS_SLOPES,
)
from dalembert.kernels.time.steps import attempt, inside
from dalembert.kernels.time.watch import keep_calls, note_drivers, note_leap

AGAIN = -1  # status of an attempted step that is to be repeated
# solved_by : stages of implicit methods by Newton's method;  predicted : what their k_i are to the next attempt
NEWTON = 2
NOTHING, STEP_BEFORE, SAME_STEP = 0, 1, 2
DUST = 1e-100  # of states; products of two such numbers are not subnormal either
CONTRACTION = 0.3  # what the next step of Radau IIA may contract like
UNEVEN = 0.945  # part of safety for stiff steps of Gauss-Legendre, whose errors jump: an eighth as many are rejected


@light
def march(steps, system):
    """From steps.t to steps.t_end, or until so many steps are accepted; status."""
    status = OK
    if steps.have_rate == 0:  # at the start of a run
        status = equations(RATE, steps.t, steps.x, steps.stages[0], system)
        keep_calls(steps.last, steps.t, steps, system)
        steps.have_rate = 1
        if status == OK and steps.h == 0.0:
            steps.h = min(first_step(steps, system), steps.h_max)
    while status == OK and steps.t < steps.t_end:
        if steps.accepted >= steps.until:
            return TOO_MANY_STEPS
        aim(steps, system)
        if not abs(steps.h) > 1e-15 * max(abs(steps.t), abs(steps.t_end)):
            return STEP_TOO_SMALL
        status = judge(attempt(steps, system), steps)
        if status == OK:
            drop_dust(steps.y)
            note_drivers(steps.t_new, steps.y, system)  # while the workspace is still that of the new point
            if steps.at_inside != 0:
                status = inside(steps, system)
            else:
                save_point(steps)
        if status == OK:
            note_leap(steps, system)
            accept(steps)
        elif status == AGAIN:
            status = OK
    return status


@flat
def aim(steps, system):
    """h and t_new of the next step: it ends at t_end, at a breakpoint of a motion, or, of fixed size, at a multiple of h.

    Times of fixed steps are multiples, not sums, so that rounding leaves no sliver at the end; h itself stays what it was.
    """
    t, h, stops, count = steps.t, steps.h, system.stops, system.nstop
    steps.asked, steps.err, steps.moved, steps.change = h, 0.0, 0.0, 0.0
    while steps.stop < count and stops[steps.stop] <= t + steps.h_min:
        steps.stop += 1
    end, t_new, slack = steps.t_end, t + h, 1e-10
    if steps.stop < count and stops[steps.stop] < end:
        end = stops[steps.stop]
    for k in range(count, count + 2 * system.nagain, 2):  # those of periodic motions
        period = stops[k + 1]
        end = min(end, stops[k] + period * (np.floor((t + steps.h_min - stops[k]) / period) + 1.0))
    if steps.control == 0:
        slack = 1e-6
        t_new = steps.start + h * (np.floor((t - steps.start) / h + slack) + 1.0)
        if abs(t_new - t - h) > slack * h:  # after a breakpoint
            h = t_new - t
    elif end < steps.t_end and t_new < end < t_new + h:
        h = 0.5 * (end - t)  # two equal steps instead of one and a sliver
        t_new = t + h
    if t_new + slack * h >= end:
        t_new = end
        if abs(end - t - h) > 1e-15 * abs(end):
            h = end - t
    steps.h, steps.t_new = h, t_new


@flat
def judge(status, steps):
    """OK with the factor of the next step, AGAIN with a new step size, or a failure.

    h_new = h min(facmax, max(facmin, safety err^(-1/order)))                       [HairerNorsettWanner1993, II (4.13)]
    """
    factor, err = 1.0, steps.err
    if steps.control == 1 and status != CALLBACK_FAILED and status != WANTS_SLOPES:
        if status == OK and not np.isfinite(err):
            status = NON_FINITE
        if status != OK:
            steps.refused += 1
            factor = 0.25
        else:
            safety = UNEVEN * steps.safety if steps.trend == 0 and steps.solved_by == NEWTON else steps.safety
            factor = safety * max(err, 1e-10) ** (-1.0 / steps.order)
            factor = min(steps.growth, max(steps.factor_min, factor))
            steps.growth = steps.factor_max
            if err > 1.0:  # rejected: what is told if h cannot be made smaller, else AGAIN
                factor, status = min(factor, 0.9), STEP_TOO_SMALL
        if status != OK:
            steps.rejected += 1
            steps.growth = 1.0
            steps.h *= factor
            if steps.h >= steps.h_min:
                status = AGAIN
        elif steps.trend == 1:
            if steps.err_before > 0.0:  # [HairerWanner1996, IV (8.24)]
                trend = steps.h / steps.h_done * (steps.err_before / max(err, 1e-10)) ** (1.0 / steps.order)
                if steps.solved_by != NEWTON and steps.h < steps.h_done:
                    factor = min(factor, steps.h_done / steps.h)  # near the limit of stability a larger one fails again
                factor = max(steps.factor_min, factor * min(1.0, trend))
            steps.err_before = max(err, 1e-2)
            if steps.contraction > 0.0:  # larger steps contract less
                factor = max(0.5, min(factor, CONTRACTION / steps.contraction))
        if steps.solved_by == NEWTON and 1.0 <= factor < 1.2:
            factor = 1.0  # keeps the factors [HairerWanner1996, IV.8]
    steps.factor = factor
    return status


@inline
def drop_dust(y):
    """Zero for what is smaller than DUST: projections carry what rounding left out of a plane down to subnormal numbers,
    with which processors calculate ten times slower."""
    for i in range(y.size):
        if abs(y[i]) < DUST:
            y[i] = 0.0


@flat
def save_point(steps):
    """The new point as the next saved state."""
    k, y = steps.saved, steps.y
    steps.out_t[k] = steps.t_new
    copy(steps.out_x[k], y, y.size)
    steps.saved = k + 1


@flat
def accept(steps):
    """x <- the new point, y <- the old one, row 0 <- its rate; the next step size."""
    x, y, stages, last, h = steps.x, steps.y, steps.stages, steps.last, steps.h
    for i in range(x.size):
        x_i = x[i]
        x[i] = y[i]
        y[i] = x_i
        stages[0, i] = stages[last, i]
    steps.t_old, steps.t, steps.h_done, steps.predicted = steps.t, steps.t_new, h, STEP_BEFORE
    steps.h_largest = max(steps.h_largest, h)
    if not h < steps.asked:  # was not shortened
        steps.h_smallest = min(steps.h_smallest, h)
    steps.accepted += 1
    steps.h = min(h * steps.factor, steps.h_max) if steps.control == 1 else steps.step


@flat
def first_step(steps, system):
    """A step size to begin with [HairerNorsettWanner1993, II.4, starting step size]; the first row of `stages` is the rate."""
    f_0, f_1, y, x, t, n = steps.stages[0], steps.stages[steps.last], steps.y, steps.x, steps.t, steps.n
    d_0, d_1, d_2, atol, rtol, span = 0.0, 0.0, 0.0, steps.atol, steps.rtol, steps.t_end - steps.t
    for i in range(n):
        scale = atol + rtol * abs(x[i])
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
        scale = atol + rtol * abs(x[i])
        d_2 += ((f_1[i] - f_0[i]) / scale) * ((f_1[i] - f_0[i]) / scale)
    largest = max(d_1, np.sqrt(d_2 / n) / h)
    h_1 = max(1e-6, 1e-3 * h)
    if largest > 1e-15:
        h_1 = (0.01 / largest) ** (1.0 / steps.order)
    return min(100 * h, h_1, span)


@flat
def visit(what, t, y, dx, system):
    """At the point y: project onto the constraints, keep invariants, evaluate dx <- rate, as bits of `what` ask. Status.

    Invariants and constraints are restored in turns until both hold [JetMultibody, Algorithm 5.5].
    """
    status, turns = MOVED if what & VISIT_PROJECT else OK, 0
    while status == MOVED:
        status = projection(PROJECT, t, y, dx, system)
        if what & VISIT_KEEP and status == OK and turns < 200:
            status = correction(CORRECT, t, y, dx, system)
        turns += 1
    if what & VISIT_RATE and status == OK:
        status = equations(RATE, t, y, dx, system)
    return status


@once
@vectorised
def combine(a, row, count, start, y, steps):
    """y <- sum_{j < count} a[row, j] k_j, or, with start = 1, x + h times that."""
    x, stages, h = steps.x, steps.stages, steps.h
    for i in range(y.size):
        y[i] = 0.0
    for j in range(count):
        weight = a[row, j]
        if weight != 0.0:
            for i in range(y.size):
                y[i] += weight * stages[j, i]
    if start == 1:
        for i in range(y.size):
            y[i] = x[i] + h * y[i]
