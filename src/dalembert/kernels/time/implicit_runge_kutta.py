"""An attempt at a step of a collocation method: stages, the projected new point, its error; the time loop is in stepping.py.

    k_i = f(t + c_i h, x + h sum_j a_ij k_j),  i = 1..s,     x_1 = P(x + h sum b_i k_i)      [HairerLubichWanner2006, II.1]

Rows of `stages`: 0 is f at the old point, 1..s are the k_i, s + 1 is f at the projected new point; then s rows of predictions
or Newton residuals, k_s of the step before (Radau IIA: the rate with which dense output begins), and a spare one. How the
equations for the k_i are solved is in functional_iteration.py and simplified_newton.py. Gauss-Legendre methods have two error
estimators, Radau IIA methods one.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, light
from dalembert.kernels.base.loops import add_multiple, clear, copy
from dalembert.kernels.base.tables import CALLBACK_FAILED, OK, VISIT_ALL, WANTS_SLOPES
from dalembert.kernels.time.implicit_stages import is_gauss, repeat_rate
from dalembert.kernels.time.stepping import NEWTON, NOTHING, SAME_STEP, STEP_BEFORE, combine, visit
from dalembert.kernels.time.steps import filtered, newton, sweeps
from dalembert.kernels.time.watch import PROJECTED, projection_error

AUTO = 0  # steps.solver: 0 automatic, 1 functional iteration, 2 Newton
RETRY = 100  # steps by Newton after which functional iteration is tried again


@light
def implicit_runge_kutta(steps, system):
    """An attempt at a step; status."""
    y, stages, e, s, law = steps.y, steps.stages, steps.e, steps.last - 1, steps.law
    predict(steps)
    status, solved_by = OK, steps.solved_by
    if steps.solver == AUTO and solved_by == NEWTON and steps.retry >= RETRY:
        solved_by = AUTO
    if solved_by != NEWTON:
        status = sweeps(steps, system)
        if steps.solver == AUTO and status != OK and status != CALLBACK_FAILED:
            repeat_rate(steps)
            solved_by, steps.retry = NEWTON, 0
        if steps.solver == AUTO:
            steps.solved_by = solved_by
    if solved_by == NEWTON:
        status = newton(steps, system)
        if status == WANTS_SLOPES:
            steps.predicted = NOTHING
            return status
        steps.newton += 1
        steps.retry += 1
    steps.solves += 1
    steps.predicted, steps.h_stages = NOTHING, steps.h
    if status == OK:
        steps.predicted, before = SAME_STEP, steps.dense[steps.dense.shape[0] - 1]
        combine(steps.a, s + 1, s + 1, 1, y, steps)
        copy(before, y, y.size)
        status = visit(VISIT_ALL, steps.t + steps.h, y, stages[s + 1], system)
        wrong = projection_error(before, steps, system)
        if law != 0 and status == OK:
            if solved_by == NEWTON:
                status = filtered(steps, system)
            else:
                steps.err = plain_error(s, steps)
            steps.err = max(steps.err, PROJECTED * wrong)
        if steps.left != 0 and steps.h_done == 0.0:  # no step before: f at the start may hold what is stiff
            own_rate(e, s, stages, stages[steps.left])
    return status


@flat
def predict(steps):
    """k_i <- the polynomial through the last k_i and f at the point between, or f itself [HairerLubichWanner2006, VIII.6.1].

    The k_i of Radau IIA include the end: to these the end of the step before. After a rejected step the polynomial is that of
    the same interval, so it is interpolated, not extrapolated.
    """
    stages, c, s, h = steps.stages, steps.c, steps.last - 1, steps.h
    gauss, begin = is_gauss(steps), stages.shape[0] - 2
    if steps.predicted == NOTHING or h > 2.0 * steps.h_stages:
        if steps.predicted == STEP_BEFORE:
            copy(stages[begin], stages[s], stages.shape[1])
        repeat_rate(steps)
    else:
        ratio = h / steps.h_stages
        origin = 1.0 if steps.predicted == STEP_BEFORE else 0.0
        between = origin if gauss else 0.0
        for i in range(1, s + 1):
            clear(stages[s + 1 + i], stages.shape[1])
            for k in range(s + 1):
                node = between if k == 0 else c[k]
                weight = 1.0
                for m in range(s + 1):
                    other = between if m == 0 else c[m]
                    if m != k:
                        weight *= (origin + ratio * c[i] - other) / (node - other)
                add_multiple(stages[s + 1 + i], weight, stages[begin if k == 0 and not gauss else k], stages.shape[1])
        if steps.predicted == STEP_BEFORE:
            copy(stages[begin], stages[s], stages.shape[1])
        for i in range(1, s + 1):
            copy(stages[i], stages[s + 1 + i], stages.shape[1])


@flat
def plain_error(s, steps):
    """RMS over q and u of sum_j e_j k_j over atol + rtol max(|x|, |y|) [HairerNorsettWanner1993, II (4.11)], or of two such
    estimates."""
    x, y, stages, e, h, n = steps.x, steps.y, steps.stages, steps.e, steps.h, steps.n
    first, last = 0.0, 0.0
    for i in range(n):
        one, two = 0.0, 0.0
        for j in range(s + 1):
            one += e[0, j] * stages[j, i]
            two += e[e.shape[0] - 1, j] * stages[j, i]
        scale = steps.atol + steps.rtol * max(abs(x[i]), abs(y[i]))
        first += (one / scale) * (one / scale)
        last += (two / scale) * (two / scale)
    err = abs(h) * np.sqrt(first / n)
    return gauss_error(err, abs(h) * np.sqrt(last / n), s) if is_gauss(steps) else err


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


@flat
def own_rate(e, s, stages, out):
    """out <- the rate at the start of the polynomial through the k_i, which holds nothing stiff; that at the end is k_s."""
    for j in range(stages.shape[1]):
        value = 0.0
        for i in range(1, s + 1):
            value -= e[0, i] * stages[i, j]
        out[j] = value / e[0, 0]
