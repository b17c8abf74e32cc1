"""What a run watches while it steps: drivers, how far projections reach, and what happens between the stages of a step."""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, once, vectorised
from dalembert.kernels.base.slots import callback, equations
from dalembert.kernels.base.tables import CALLBACK_FAILED, NON_FINITE, OK, RATE, A, D

SURPRISE = 1e3  # change of velocities, in tolerances, that a force between the stages must make to be gone back to
PROJECTED = 0.1  # part of a projection that counts as error of its step
NEW = 7  # row of the new point among the nodes of polynomials of time, the last
# projections that are not compared with their step [m or rad]: at most the first; below, a hundredth of the way so far, or a
# hundred tolerances of positions, on which they hang. What is noted must also be more than twice its step there: from rest,
# joints take back all of a step that was made without them (Impulse, Soft)
NO_LEAP, OF_THE_WAY, TOLERANCES, OF_THE_STEP = 1e-6, 0.01, 100.0, 2.0


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
def no_leap(change, system):
    """Projections up to this are no matter, in a step of this change."""
    return min(NO_LEAP, max(OF_THE_WAY * (system.count.way + change), TOLERANCES * system.tol_position))


@flat
def projection_error(before, steps, system):
    """What the projection of a step changed, y - before: RMS over q and u in tolerances, of runs side by side the largest;
    moved <- largest |dq|, change <- |dq| of the step before it, of the run that it is the largest part of."""
    x, y, n, lanes, wrong = steps.x, steps.y, steps.n, steps.lanes, 0.0
    for k in range(lanes):
        moved, change, total = 0.0, 0.0, 0.0
        for i in range(k, lanes * system.nq, lanes):
            moved, change = max(moved, abs(y[i] - before[i])), max(change, abs(before[i] - x[i]))
        if not moved > no_leap(change, system):
            continue
        noted = moved > min(NO_LEAP, OF_THE_STEP * change)
        if noted and (steps.moved == 0.0 or moved * steps.change > steps.moved * change):
            steps.moved, steps.change = moved, change
        for i in range(k, n, lanes):
            d = (y[i] - before[i]) / (steps.atol + steps.rtol * max(abs(x[i]), abs(y[i])))
            total += d * d
        wrong = larger(wrong, np.sqrt(total / (n // lanes)))
    return wrong


@flat
def note_leap(steps, system):
    """count.leap <- the largest projection so far, as a part of its step's own change; way <- longer by this step."""
    count, moved, least, change = system.count, steps.moved, no_leap(steps.change, system), 0.0
    if moved > least and moved > count.leap * steps.change:
        count.leap, count.leap_size, count.leap_time = moved / max(steps.change, least), moved, steps.t_new
    for i in range(steps.lanes * system.nq):
        change = max(change, abs(steps.y[i] - steps.x[i]))
    count.way += change


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


@once
@inline
def keep_calls(stage, t, steps, system):
    """calls <- what users' functions were asked and answered last, in the row of a stage, or of the old point what the new one
    had, if t was its time."""
    calls, n = steps.calls, steps.calls.shape[1] - 1
    row = int(steps.nodes[0, stage]) if calls.size > 0 else -1
    if row > 0 or (row == 0 and calls[NEW, n] == t):
        kept = system.all + (system.w_size - n - 1)
        for i in range(n):
            calls[row, i] = kept[i] if row > 0 else calls[NEW, i]
        calls[row, n] = t


@vectorised
def horner(power, z, value, n):
    """value <- sum_i power_i z^i"""
    for j in range(n):
        s = power[NEW, j]
        for i in range(NEW - 1, -1, -1):
            s = s * z + power[i, j]
        value[j] = s


@flat
def foreseen(steps, system):
    """Whether users' functions answer within a step, asked steps.look apart, what polynomials through the questions and answers
    at its stages say, to SURPRISE times the relative tolerance. These have as many nodes as the error estimate sees stages, so
    that it has seen what they follow; and functions alone cost little beside rates."""
    calls, nodes, asked, h, n = steps.calls, steps.nodes, steps.functions, steps.h, steps.calls.shape[1] - 1
    if calls.size == 0 or calls[0, n] != steps.t or calls[NEW, n] != steps.t_new:
        return False
    power, said, bound = calls[NEW + 1 :], calls[2 * NEW + 2], calls[2 * NEW + 3]
    place, count, k, known = system.w_size - n - 1, int(np.ceil(h / steps.look)), 1, True
    for i in range(NEW + 1):
        for j in range(n):
            s = 0.0
            for node in range(NEW + 1):
                s += nodes[1 + i, node] * calls[node, j]
            power[i, j] = s
    for f in range(asked.shape[0]):
        bound[f], answer = 0.0, asked[f, 1] + asked[f, 2]
        for i in range(NEW + 1):
            for j in range(answer, answer + asked[f, 3]):
                bound[f] = max(bound[f], SURPRISE * steps.rtol * abs(calls[i, j]))
    given = system.all + place
    while k < count and known:
        theta = k / count
        horner(power, 2.0 * theta - 1.0, given, n)
        for f in range(asked.shape[0]):
            first, answer = asked[f, 1], asked[f, 1] + asked[f, 2]
            for j in range(answer, answer + asked[f, 3]):
                said[j] = given[j]
            known = known and callback(asked[f, 0], steps.t + theta * h, system, place + first) == OK
            for j in range(answer, answer + asked[f, 3]):
                known = known and abs(given[j] - said[j]) <= bound[f]
        k += 1
    return known


@flat
def look_between(steps, system):
    """Evaluate rates within a step, at most steps.look apart, against those of the interpolant: 0, or how long a shorter step
    should be because a force is there that no stage has seen. Stages that the error estimate sees are looks, too."""
    x, dense, t, h = steps.x, steps.dense, steps.t, steps.h
    top, y, dx = dense.shape[0] - 2, dense[dense.shape[0] - 1], steps.stages[steps.free]
    count, k, shorter = int(np.ceil(h / steps.look)), 1, 0.0
    while k < count and shorter == 0.0:
        theta, new, status = k / count, True, NON_FINITE
        for i in range(steps.e.shape[1] if steps.e.size > 0 else 0):
            new = new and (steps.e[0, i] == 0.0 or abs(steps.c[i] - theta) * count > 0.5)
        if new:
            interpolate(theta, x, dense, top, y)
            status = equations(RATE, t + theta * h, y, dx, system)
        found = status == CALLBACK_FAILED  # a function has raised: a stage will tell
        for i in range(steps.n if status == OK else 0):
            surprise = abs(dx[i] - slope(theta, dense, top, i) / h) * (h / count)
            found = found or surprise > SURPRISE * (steps.atol + steps.rtol * abs(y[i]))
        if found:
            shorter = max(k - 1.0, 0.5) * h / count
        k += 1
    return shorter
