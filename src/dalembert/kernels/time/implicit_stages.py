"""What both ways to solve the stage equations K = f(x + h A K) of implicit Runge-Kutta methods share.

The ways are functional_iteration.py and simplified_newton.py; both know the block N of q' = N(q) u.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.loops import add_multiple, copy
from dalembert.kernels.base.tables import CALLBACK_FAILED, NON_FINITE, OK, STAGES_FAILED
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.time.stepping import NOTHING

SLOW = 0.5  # contraction beyond which an iteration is given up
ROUNDING = 1e-11  # change at which an iteration that no longer contracts has met rounding
# rows of the memory of `accelerate`: what went into an iteration, residual, what came out; differences of the last two, twice
INPUT, RESIDUAL, VALUE, FIRST = range(4)
EULER_PARAMETERS = -4  # velocity_map[k, 2] of a quaternion, else the number of coordinates with q' = u


@inline
def is_gauss(steps):
    """Gauss-Legendre methods have two error estimates, rows of e; Radau IIA methods have one, and a stage at the end."""
    return steps.e.shape[0] == 2


@inline
def quaternion_rate(theta, w, k):
    """theta' = 1/2 H(theta)^T w with w from entry k on; also of complex numbers [JetMultibody, Lemma 3.1]"""
    a, b, c, d = theta
    x, y, z = 0.5 * w[k], 0.5 * w[k + 1], 0.5 * w[k + 2]
    return -b * x - c * y - d * z, a * x - d * y + c * z, d * x + a * y - b * z, -c * x + b * y + a * z


@inline
def apply_velocity_map(velocity_map, y, u, out):
    """out_q <- N(q) u with q of y and the velocities of u, block by block."""
    for k in range(velocity_map.shape[0]):
        q, v, size = velocity_map[k, 0], velocity_map[k, 1], velocity_map[k, 2]
        if size == EULER_PARAMETERS:
            out[q], out[q + 1], out[q + 2], out[q + 3] = quaternion_rate((y[q], y[q + 1], y[q + 2], y[q + 3]), u, v)
        else:
            for j in range(size):
                out[q + j] = u[v + j]


@inline
def assess(seen, change, before, least, slow, iteration, rounding, steps):
    """(status, slow) after an iteration: OK when solved, STAGES_FAILED when not yet; slow counts bad contractions in a row.

    seen : status of the evaluations;  solved when the change, or what the contraction leaves of it, is below the tolerance
    least : contraction to reckon with at least;  rounding : change at which an iteration that no longer contracts is done
    """
    if seen != OK or not np.isfinite(change):
        steps.contraction = np.inf
        if iteration == 1 or seen == CALLBACK_FAILED:
            return (seen if seen != OK else NON_FINITE), 2
        return STAGES_FAILED, 2  # diverged
    if iteration == 1:
        steps.contraction = 0.0
        return (OK if change <= steps.stage_tolerance else STAGES_FAILED), 0
    rate, enough = change / before, steps.stage_tolerance
    stalled = rate > SLOW and change <= rounding
    left = max(rate, least)
    if change <= enough or stalled or (left < 1.0 and change * left <= enough * (1.0 - left)):
        return OK, 0
    steps.contraction = rate
    return STAGES_FAILED, (slow + 1 if rate > SLOW else 0)


@inline
def larger(change, delta, x):
    """The larger of change and |delta| relative to max(1, |x|); NaN stays."""
    size = abs(delta) / max(1.0, abs(x))
    return change if size <= change else size


@inline
def count(iteration, steps):
    steps.iterations += iteration
    steps.iterations_max = max(steps.iterations_max, iteration)


@inline
def repeat_rate(steps):
    """k_i <- f at the old point."""
    stages, steps.predicted = steps.stages, NOTHING
    for i in range(1, steps.last):
        copy(stages[i], stages[0], stages.shape[1])


@flat
def remember(steps):
    """What goes into the first iteration, for `accelerate`."""
    stages, memory, s = steps.stages, steps.memory, steps.last - 1
    nu = memory.shape[1] // s
    for i in range(s):
        copy(Numbers(memory[INPUT], nu * i), Numbers(stages[1 + i], steps.n - nu), nu)


@inline
def pass_on(i, at, y, steps):
    """q' of all stages <- after a change of u' at stage i, which is in the spare row: h a_li N du', N at `at`; y is scratch."""
    stages, a, blocks = steps.stages, steps.a, steps.velocity_map
    apply_velocity_map(blocks, at, stages[stages.shape[0] - 1], y)
    end = blocks[0, 1] if blocks.shape[0] > 0 else 0
    for m in range(1, steps.last):
        add_multiple(stages[m], steps.h * a[m, i], y, end)


@flat
def accelerate(iteration, steps):
    """u' <- Anderson's mixture of the last three iterates G(u'): the one whose residuals G(u') - u' mix to the smallest
    [WalkerNi2011, 2]."""
    stages, memory, s = steps.stages, steps.memory, steps.last - 1
    nu, new, old = memory.shape[1] // s, FIRST + 2 * (iteration % 2), FIRST + 2 * ((iteration + 1) % 2)
    spare, nq = stages[stages.shape[0] - 1], steps.n - nu
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
                spare[nq + j] = d
                stages[1 + i, nq + j] += d
                memory[INPUT, k] = stages[1 + i, nq + j]
            pass_on(1 + i, steps.x, steps.y, steps)
    else:
        copy(memory[INPUT], memory[VALUE], nu * s)
