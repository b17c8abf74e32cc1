"""Poses of a mechanism whose drivers leave no freedom, one after another.

    x(t + h) <- x + h x' + h^2 / 2 (x' - x'_before) / (t - t_before), then onto the constraints

A correction that is not small against the step, or a step that is too long, halves the step, so that the branch is kept.
"""

from dalembert.kernels.base.compiler import inline, light
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.slots import equations, projection
from dalembert.kernels.base.tables import OK, PROJECT, RATE
from dalembert.kernels.formulations.newton import rounding, worst_entry
from dalembert.kernels.formulations.pivots import watch_rows

# what is known of the way: time of the pose and of the one before; the largest correction over its step, its size, when;
# projections; farthest change of a weighted coordinate in a step, what of it a correction may be, what rounding leaves of it;
# smallest step
NOW, BEFORE, SHARE, SIZE, WHEN, PROJECTIONS, FARTHEST, TRUSTED, ROUNDING, SMALLEST, WAY = range(11)


@inline
def largest(a, b, weight, n):
    """max weight |a - b|; NaN counts as largest"""
    worst = 0.0
    for i in range(n):
        d = weight[i] * abs(a[i] - b[i])
        if not d <= worst:
            worst = d
    return worst


@inline
def settle(t, x, dx, system):
    """x onto the constraints and dx <- its rates. Status."""
    system.count.inside = 1.0  # of a step that may be taken back, the watch over rows sees nothing
    status = projection(PROJECT, t, x, dx, system)
    system.count.inside = 0.0
    return status


@inline
def attempt(t, x, dx, before, trial, way, system):
    """On to the pose at t; whether its prediction could be trusted."""
    n, h, bend = system.nx, t - way[NOW], 0.0
    if way[NOW] != way[BEFORE]:
        bend = 0.5 * h / (way[NOW] - way[BEFORE])
    for i in range(n):
        trial[0, i] = x[i] + h * (dx[i] + bend * (dx[i] - before[i]))
    copy(trial[1], trial[0], n)
    way[PROJECTIONS] += 1.0
    status, left = settle(t, trial[0], trial[2], system), worst_entry(system.g, system.m)[1]
    if status != OK or left > max(way[ROUNDING], rounding(0, trial[0], system)):
        return False  # not closed, or only by rows that are in use
    moved, off = largest(trial[0], x, trial[3], system.nq), largest(trial[0], trial[1], trial[3], system.nq)
    if not (moved <= way[FARTHEST] and off <= way[TRUSTED] * moved + way[ROUNDING]):
        return False
    watch_rows(t, system)
    if equations(RATE, t, trial[0], trial[2], system) != OK:
        return False
    if off > 1e-6 and off > way[SHARE] * moved:
        way[SHARE], way[SIZE], way[WHEN] = off / moved, off, t
    way[BEFORE], way[NOW] = way[NOW], t
    copy(before, dx, n)
    copy(x, trial[0], n)
    copy(dx, trial[2], n)
    return True


@light
def follow_poses(values, states, x, dx, before, trial, way, system):
    """Poses at all values from x, with its rates dx, on; how many were reached. x, dx, before stay those of the last one.

    trial : state, prediction, rates; weights of the coordinates
    """
    for k in range(values.size):
        h = values[k] - way[NOW]
        whole = abs(h)
        while way[NOW] != values[k]:
            speed = 0.0
            for i in range(system.nq):
                speed = max(speed, trial[3, i] * abs(dx[i]))
            if speed * abs(h) > way[FARTHEST]:
                h = h / abs(h) * way[FARTHEST] / speed
            left = values[k] - way[NOW]
            t = values[k] if abs(h) >= (1.0 - 1e-12) * abs(left) else way[NOW] + h
            if attempt(t, x, dx, before, trial, way, system):
                h = 2.0 * h
            else:
                h = 0.5 * (t - way[NOW])
                if abs(h) < way[SMALLEST] * max(whole, 1e-3):
                    return k
        copy(states[k], x, system.nx)
    return values.size
