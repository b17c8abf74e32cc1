"""An attempt at an explicit Runge-Kutta step: stages, the projected new point, its error.

    k_i = f(t + c_i h, x + h sum_j a_ij k_j),  x_1 = P(x + h sum b_i k_i),  err = h sum e_i k_i  [HairerNorsettWanner1993, II]

The last stage of the tableau is f at the projected new point (first same as last). Two error laws: |err| in the scaled RMS
norm, or that of DOP853 with its third-order companion. Where masses differ by orders of magnitude, rounding of f alone can make
err larger than the tolerance; it falls with h only, so that steps would collapse: none is rejected for it.

Time loop and step size are those of all methods, `march` and `judge` in stepping.py; dense output is in saving.py.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, light, vectorised
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import OK, RATE, VISIT_ALL
from dalembert.kernels.time.stepping import combine, visit
from dalembert.kernels.time.watch import PROJECTED, keep_calls, larger, projection_error

LAST_DIGIT = 2.2e-16
PROBES, ROUNDING = 2, 10.0  # pairs of changes of the last digits; their effect against that of all stages


@light
def runge_kutta(steps, system):
    """An attempt at a step; status. Row s of stages <- f at the new point, the last row of dense <- before its projection."""
    t, h, s, y, stages, dense = steps.t, steps.h, steps.last, steps.y, steps.stages, steps.dense
    before, status, what, i = dense[dense.shape[0] - 1], OK, steps.visit, 1
    keep_calls(0, t, steps, system)
    while i <= s and status == OK:
        combine(steps.a, i, i, 1, y, steps)
        if i == s:
            what = VISIT_ALL
            if steps.law == 2:
                steps.err = step_error(s, steps, system)
                if not steps.err <= 1.0:
                    return status
            copy(before, y, y.size)
        status = visit(what, t + steps.c[i] * h, y, stages[i], system)
        keep_calls(i, steps.t_new, steps, system)
        i += 1
    if status == OK:
        wrong = projection_error(before, steps, system)
        if steps.law != 0:
            steps.err = max(steps.err, PROJECTED * wrong)
        if steps.law == 1:
            steps.err = max(steps.err, step_error(s + 1, steps, system))
    return status


@inline
def step_error(count, steps, system):
    """The error of a step in tolerances; where rounding of the rates explains it, what is left.

    Rows of dense are scratch; row 3 <- how much the rates change where the state does by its last digits
    """
    x, stages, dense, plain, rounding, status = steps.x, steps.stages, steps.dense, 0.0, 0.0, OK
    near, rate = dense[0], dense[1]
    while True:
        err = error_norm(count, rounding, steps)
        if rounding > 0.0:
            if err <= 1.0:
                steps.rounded += 1
                steps.rounded_error = max(steps.rounded_error, plain)
            return err
        if not (err > 1.0 and (steps.growth == 1.0 or steps.rounded > 0)):  # rejected before
            return err
        for k in range(2 * PROBES):
            for i in range(x.size):
                if k == 0:
                    dense[3, i] = 0.0
                near[i] = x[i] + max(abs(x[i]), 1.0) * (LAST_DIGIT if (i >> (k // 2)) % 2 == k % 2 else -LAST_DIGIT)
            if status == OK:
                status = equations(RATE, steps.t, near, rate, system)
            for i in range(steps.n):
                dense[3, i] = max(dense[3, i], abs(rate[i] - stages[0, i]))
        if status != OK:
            return err
        plain, rounding = err, ROUNDING * abs(steps.h)


@flat
def error_norm(count, rounding, steps):
    """RMS over q and u of err = h sum e_i k_i in tolerances [HairerNorsettWanner1993, II (4.11)], of runs side by side the
    largest.

    With a second estimator (DOP853): err5^2 / sqrt(err5^2 + 0.01 err3^2)  [HairerNorsettWanner1993, II.10 (10.17)]
    dense : rows 0 and 1 are scratch
    """
    dense, e, lanes, h, err = steps.dense, steps.e, steps.lanes, abs(steps.h), 0.0
    for k in range(e.shape[0]):
        combine(e, k, count, 0, dense[k, : steps.n], steps)
        square(dense[k], rounding, steps)
    n = steps.n // lanes
    for k in range(lanes):
        five, three, one = 0.0, 0.0, 0.0
        for i in range(k, steps.n, lanes):
            five += dense[0, i]
            three += dense[1, i]
        if e.shape[0] == 1:
            one = h * np.sqrt(five / n)
        elif not (five == 0.0 and three == 0.0):
            one = h * five / np.sqrt((five + 0.01 * three) * n)
        err = larger(err, one)
    return err


@vectorised
def square(d, rounding, steps):
    """d <- (d / scale)^2, scale = atol + rtol max(|x|, |y|) and, where it is not zero, `rounding` times row 3 of dense."""
    x, y, noise, atol, rtol = steps.x, steps.y, steps.dense[3], steps.atol, steps.rtol
    if rounding > 0.0:
        for i in range(steps.n):
            d[i] /= atol + rtol * max(abs(x[i]), abs(y[i])) + rounding * noise[i]
    else:
        for i in range(steps.n):
            d[i] /= atol + rtol * max(abs(x[i]), abs(y[i]))
    for i in range(steps.n):
        d[i] *= d[i]
