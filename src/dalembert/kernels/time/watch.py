"""What a run watches while it steps: drivers, how far projections reach, and what happens between the stages of a step."""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import OK, RATE, A, D

SURPRISE = 1e3  # change of velocities, in tolerances, that a force between the stages must make to be gone back to
PROJECTED = 0.1  # part of a projection that counts as error of its step
NO_LEAP = 1e-6  # projections that are not compared with their step [m or rad]


@flat
def note_drivers(t, x, system):
    """count.gap <- the largest |coordinate - f(t)| so far, angles unwrapped; residuals and motions are those at x."""
    count = system.count
    for p in system.primitives:
        if p.motion > 0:
            value, gap = system.motions[p.motion].f.x + p.offset, system.g[p.row[0]]
            if p.kind == A:
                gap = x[system.angles[p.row[1]].x] - value
            elif p.kind == D:
                gap = np.sqrt(max(0.0, value * value + 2.0 * gap / p.scale)) - value
            if not abs(gap) <= count.gap:
                count.gap, count.gap_primitive, count.gap_time = abs(gap), p.number, t


@flat
def larger(a, b):
    """Of two numbers; NaN where one of them is."""
    return a if a >= b or a != a else b


@flat
def projection_error(before, steps, system):
    """What the projection of a step changed, y - before: RMS over q and u in tolerances, of runs side by side the largest;
    moved <- largest |dq|, change <- |dq| of the step before it, of the run that it is the largest part of.

    Changes below NO_LEAP count for nothing: they hang on the projection's own tolerance, and no smaller step makes them less.
    """
    x, y, n, lanes, wrong = steps.x, steps.y, steps.n, steps.lanes, 0.0
    for k in range(lanes):
        moved, change, total = 0.0, 0.0, 0.0
        for i in range(k, lanes * system.nq, lanes):
            moved, change = max(moved, abs(y[i] - before[i])), max(change, abs(before[i] - x[i]))
        if not moved > NO_LEAP:
            continue
        if steps.moved == 0.0 or moved * steps.change > steps.moved * change:
            steps.moved, steps.change = moved, change
        for i in range(k, n, lanes):
            d = (y[i] - before[i]) / (steps.atol + steps.rtol * max(abs(x[i]), abs(y[i])))
            total += d * d
        wrong = larger(wrong, np.sqrt(total / (n // lanes)))
    return wrong


@flat
def note_leap(t, moved, change, system):
    """count.leap <- the largest projection so far, as a part of its step's own change."""
    count = system.count
    if moved > NO_LEAP and moved > count.leap * change:
        count.leap, count.leap_size, count.leap_time = moved / max(change, NO_LEAP), moved, t


@inline
def interpolate(theta, x, dense, top, out):
    """x(t + theta h): nested form theta (. + (1 - theta) (. + theta (. + (1 - theta) ...))) with coefficients 0..top"""
    other = 1.0 - theta
    for i in range(x.size):
        s = 0.0
        for k in range(top, -1, -1):
            s = (s + dense[k, i]) * (theta if k % 2 == 0 else other)
        out[i] = x[i] + s


@inline
def slope(theta, dense, top, i):
    """h x'(t + theta h) of component i."""
    s, v = 0.0, 0.0
    for k in range(top, -1, -1):
        s += dense[k, i]
        if k % 2 == 0:
            v, s = v * theta + s, s * theta
        else:
            v, s = v * (1.0 - theta) - s, s * (1.0 - theta)
    return v


@flat
def look_between(steps, system):
    """Evaluate rates within a step, at most steps.look apart, against those of the interpolant: 0, or how long a shorter step
    should be because a force is there that no stage has seen. Stages that the error estimate sees are looks, too."""
    x, dense, t, h = steps.x, steps.dense, steps.t, steps.h
    top, y, dx = dense.shape[0] - 2, dense[dense.shape[0] - 1], steps.stages[steps.free]
    count, k, shorter = int(np.ceil(h / steps.look)), 1, 0.0
    while k < count and shorter == 0.0:
        theta, new = k / count, True
        for i in range(steps.e.shape[1] if steps.e.size > 0 else 0):
            new = new and (steps.e[0, i] == 0.0 or abs(steps.c[i] - theta) * count > 0.5)
        if new:
            interpolate(theta, x, dense, top, y)
        if new and equations(RATE, t + theta * h, y, dx, system) == OK:
            for i in range(steps.n):
                surprise = abs(dx[i] - slope(theta, dense, top, i) / h) * (h / count)
                if surprise > SURPRISE * (steps.atol + steps.rtol * abs(y[i])):
                    shorter = max(k - 1.0, 0.5) * h / count
        k += 1
    return shorter
