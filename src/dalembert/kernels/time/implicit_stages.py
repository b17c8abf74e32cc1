"""What both ways to solve the stage equations K = f(x + h A K) of implicit Runge-Kutta methods share.

The ways are functional_iteration.py and simplified_newton.py; both know the block N of q' = N(q) u.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.tables import CALLBACK_FAILED, NON_FINITE, OK, STAGES_FAILED

SLOW = 0.5  # contraction beyond which an iteration is given up
ROUNDING = 1e-11  # change at which an iteration that no longer contracts has met rounding
EULER_PARAMETERS = -4  # velocity_map[k, 2] of a quaternion, else the number of coordinates with q' = u


@inline
def turn(theta, w, k):
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
            out[q], out[q + 1], out[q + 2], out[q + 3] = turn((y[q], y[q + 1], y[q + 2], y[q + 3]), u, v)
        else:
            for j in range(size):
                out[q + j] = u[v + j]


@inline
def assess(seen, change, before, slow, iteration, rounding, steps):
    """(status, slow) after an iteration: OK when solved, STAGES_FAILED when not yet; slow counts bad contractions in a row.

    seen : status of the evaluations;  solved when the change, or what the contraction leaves of it, is below the tolerance
    rounding : change at which an iteration that no longer contracts is done
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
    if change <= enough or stalled or (rate < 1.0 and change * rate <= enough * (1.0 - rate)):
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
def repeat_rate(s, stages):
    """k_i <- f at the old point."""
    for i in range(1, s + 1):
        for j in range(stages.shape[1]):
            stages[i, j] = stages[0, j]
