"""Back onto the constraints by Newton's method, written over operators of the coordinates [JetMultibody, Algorithm 5.4].

    g       q <- q (+) d,  d = -W^-1 G^T (G W^-1 G^T)^-1 g, until |g| <= tolerance              equation (5.3)
    G u     u <- u - W^-1 G^T (G W^-1 G^T)^-1 (G u + g_t)                                      equation (5.4)

Deviation: Newton keeps its factorisation while it contracts (chord method).
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, once
from dalembert.kernels.base.tables import NEWTON_FAILED, NON_FINITE, OK
from dalembert.kernels.base.views import Numbers

ROUNDING = 4.4e-14  # 200 eps: what double precision leaves of g at coordinates of bodies of the size 1
# contraction that counts as none any more, so that rounding is met; contraction of kept factors that asks for new ones
STALLED, SLOW = 0.25, 0.05


@inline
def worst_entry(numbers, n):
    """(index, magnitude) of the largest |numbers[i]|; NaN counts as largest."""
    row, worst = 0, 0.0
    for i in range(n):
        v = abs(numbers[i])
        if not v <= worst:
            row, worst = i, v
            if v != v:  # the next entry would hide it
                break
    return row, worst


@inline
def largest(a):
    return max(abs(a.x), max(abs(a.y), abs(a.z)))


@once
@inline
def largest_term(level, system):
    """Of couplings: a factor, teeth of a wheel, times an angle that is counted over all turns, or its rate."""
    worst = 0.0
    for part in system.parts:
        if part.counter >= 0:
            joint = system.angles[part.counter]
            worst = max(worst, abs(part.factor * (joint.rate if level else joint.angle)))
    return worst


@flat
def rounding(level, x, system):
    """Of coordinates that are those of bodies, or a user's, in proportion to the largest."""
    _, worst = worst_entry(Numbers(x, level * system.nq), system.nu if level else system.nq)
    return (1e-12 if level else ROUNDING) * max(max(1.0, worst), largest_term(level, system))


@flat
def restore(locate, factor, correct, rounding, chord, same, t, x, dx, system):
    """Positions (level 0), then velocities (level 1). Status, whether there are factors that serve at the end.

    locate(level, iteration, t, x, dx, ..) : rows at x, rhs <- minus what is left of the constraints; how many of them
    factor(level, x, ..) : factors G W^-1 G^T there;  correct(level, x, ..) : x <- moved by W^-1 G^T (G W^-1 G^T)^-1 rhs
    rounding(level, x, ..) : what it leaves of the constraints, where Newton's method may stall
    chord : whether factors may be kept;  same : also from positions to velocities
    """
    count, status, level, iteration, factored, before = system.count, OK, 0, 0, False, 0.0
    count.project += 1.0
    while level < 2:
        row, worst = worst_entry(system.rhs, locate(level, iteration, t, x, dx, system))
        done = worst <= (system.tol_velocity if level else system.tol_position)
        if iteration > 1 and worst > STALLED * before and not done:
            done = worst <= rounding(level, x, system)
        if done:
            if level == 0:
                count.newton += iteration
                count.newton_max = max(count.newton_max, float(iteration))
            level, iteration, factored = level + 1, 0, factored and (same or level == 1)
            continue
        if iteration == system.max_newton or not np.isfinite(worst):
            count.worst_row, count.worst_value = row, worst
            status = NEWTON_FAILED if np.isfinite(worst) else NON_FINITE
            break
        if not (factored and chord) or (iteration > 0 and worst > SLOW * before):
            factor(level, x, system)
            factored = True
        correct(level, x, system)
        before, iteration = worst, iteration + 1
    return status, factored
