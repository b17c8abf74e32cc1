"""What a run watches while it steps: drivers, how far projections reach, and what happens between the stages of a step."""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import (
    ANGLE_I,
    ANGLE_I_W,
    G_X,
    GAP,
    GAP_PRIMITIVE,
    GAP_TIME,
    LEAP,
    LEAP_SIZE,
    LEAP_TIME,
    NPRIM,
    NQ,
    OK,
    P_COUNTER,
    P_KIND,
    P_MOTION,
    P_ROW,
    PF_OFFSET,
    PF_SCALE,
    PRIM_F,
    PRIM_F_W,
    PRIM_I,
    PRIM_I_W,
    RATE,
    W_G,
    W_MOTION,
    W_STAT,
    A,
    D,
)

SURPRISE = 1e3  # change of velocities, in tolerances, that a force between the stages must make to be gone back to
PROJECTED = 0.1  # part of a projection that counts as error of its step
NO_LEAP = 1e-6  # projections that are not compared with their step [m or rad]


@flat
def note_drivers(t, x, system):
    """GAP <- the largest |coordinate - f(t)| so far, angles unwrapped; residuals and motions in W are those at x."""
    I, F, W = system.I, system.F, system.W
    stat = I[W_STAT]
    for p in range(I[NPRIM]):
        k, f = I[PRIM_I] + PRIM_I_W * p, I[PRIM_F] + PRIM_F_W * p
        if I[k + P_MOTION] > 0:
            value = W[I[W_MOTION] + 3 * I[k + P_MOTION]] + F[f + PF_OFFSET]
            gap = W[I[W_G] + I[k + P_ROW]]
            if I[k + P_KIND] == A:
                gap = x[I[I[ANGLE_I] + ANGLE_I_W * I[k + P_COUNTER] + G_X]] - value
            elif I[k + P_KIND] == D:
                gap = np.sqrt(max(0.0, value * value + 2.0 * gap / F[f + PF_SCALE])) - value
            if not abs(gap) <= W[stat + GAP]:
                W[stat + GAP], W[stat + GAP_PRIMITIVE], W[stat + GAP_TIME] = abs(gap), p, t


@flat
def projection_error(x, y, before, n, rtol, atol, system):
    """What a projection changed, y - before: RMS over q and u in tolerances, largest |dq|; then |dq| of the step before it.

    Changes below NO_LEAP count for nothing: they hang on the projection's own tolerance, and no smaller step makes them less.
    """
    I = system.I
    total, moved, change = 0.0, 0.0, 0.0
    for i in range(n):
        d = y[i] - before[i]
        if i < I[NQ]:
            moved, change = max(moved, abs(d)), max(change, abs(before[i] - x[i]))
        d /= atol + rtol * max(abs(x[i]), abs(y[i]))
        total += d * d
    return np.sqrt(total / n) if moved > NO_LEAP else 0.0, moved, change


@flat
def note_leap(t, moved, change, system):
    """LEAP <- the largest projection so far, as a part of its step's own change."""
    I, W = system.I, system.W
    stat = I[W_STAT]
    if moved > NO_LEAP and moved > W[stat + LEAP] * change:
        W[stat + LEAP], W[stat + LEAP_SIZE], W[stat + LEAP_TIME] = moved / max(change, NO_LEAP), moved, t


@flat
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
def look_between(t, h, distance, x, dense, top, y, dx, tolerance, n, system):
    """Evaluate rates within a step, at most `distance` apart, against those of the interpolant: 0, or where a shorter step
    should end because a force is there that no stage has seen. y, dx : work"""
    count, k, shorter = int(np.ceil(h / distance)), 1, 0.0
    while k < count and shorter == 0.0:
        theta = k / count
        interpolate(theta, x, dense, top, y)
        if equations(RATE, t + theta * h, y, dx, system) == OK:
            for i in range(n):
                surprise = abs(dx[i] - slope(theta, dense, top, i) / h) * (h / count)
                if surprise > SURPRISE * (tolerance[1] + tolerance[0] * abs(y[i])):
                    shorter = max(k - 1.0, 0.5) * h / count
        k += 1
    return shorter
