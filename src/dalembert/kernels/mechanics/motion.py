"""Prescribed functions of time: (value, first and second derivative)."""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import COMPOSED, CONSTANT, FUNCTION, HARMONIC, PERIODIC_TABLE, POLYNOMIAL, SMOOTH_STEP
from dalembert.kernels.base.vectors import Vec3


@inline
def evaluate_motions(t, system):
    """The motions that constraints follow; member 0 stays zero, for rows without one."""
    for motion in system.motions:
        motion.f = follow(system.followed[motion.number - 1], t, system)


@inline
def follow(m, t, system):
    """(f, f', f'') at time t of the motion whose record starts at entry m of I; a sum of products where it is composed.

    (f g)' = f' g + f g',   (f g)'' = f'' g + 2 f' g' + f g''
    """
    record = system.integers + m
    if record[0] != COMPOSED:
        return one_motion(m, t, system)
    total, at = Vec3(0.0, 0.0, 0.0), 2
    for _ in range(record[1]):
        f, df, ddf = 1.0, 0.0, 0.0
        for k in range(record[at]):
            g = one_motion(record[at + 1 + k], t, system)
            f, df, ddf = f * g.x, df * g.x + f * g.y, ddf * g.x + 2.0 * df * g.y + f * g.z
        total += Vec3(f, df, ddf)
        at += 1 + record[at]
    return total


@inline
def one_motion(m, t, system):
    """(f, f', f'') of a motion that is not composed."""
    record = system.integers + m
    kind, n, F = record[0], record[2], system.constants + record[1]
    if kind == CONSTANT:
        return Vec3(F[0], 0.0, 0.0)
    if kind == POLYNOMIAL:
        return polynomial(t, n, F)
    if kind == HARMONIC:
        a, w = F[0], F[1]
        s, c = np.sin(w * t + F[2]), np.cos(w * t + F[2])
        return Vec3(F[3] + a * s, a * w * c, -a * w * w * s)
    if kind == SMOOTH_STEP:
        return smooth_step(t, F)
    if kind == FUNCTION:  # its code raises nothing, and does not write what is always zero
        call = system.call
        call.out = Vec3(0.0, 0.0, 0.0)
        callback(record[1], t, system, system.w_call)
        return call.out
    if kind == PERIODIC_TABLE:
        period = F[n] - F[0]
        t = t - period * np.floor((t - F[0]) / period)
    return spline(t, n, F)


@inline
def polynomial(t, n, F):
    """Horner's scheme for c0 + c1 t + ... and its two derivatives."""
    f, df, ddf = 0.0, 0.0, 0.0
    for i in range(n - 1, -1, -1):
        ddf = ddf * t + 2.0 * df
        df = df * t + f
        f = f * t + F[i]
    return Vec3(f, df, ddf)


@inline
def smooth_step(t, F):
    """start + (stop - start)(10 s^3 - 15 s^4 + 6 s^5),  s = (t - t_start) / (t_stop - t_start) in [0, 1]"""
    d, T = F[1] - F[0], F[3] - F[2]
    s = (t - F[2]) / T
    if s <= 0.0:
        return Vec3(F[0], 0.0, 0.0)
    if s >= 1.0:
        return Vec3(F[1], 0.0, 0.0)
    f = s * s * s * (10.0 + s * (-15.0 + 6.0 * s))
    df = 30.0 * s * s * (1.0 - s) * (1.0 - s)
    ddf = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
    return Vec3(F[0] + d * f, d * df / T, d * ddf / (T * T))


@inline
def piece(s, n, F):
    """The piece of a spline that s is in."""
    low, high = 0, n
    while high - low > 1:
        mid = (low + high) // 2
        if F[mid] <= s:
            low = mid
        else:
            high = mid
    return low


@inline
def spline(t, n, F):
    """Piecewise cubic: n pieces, F = n + 1 knots, then 4 coefficients per piece in rising order; linear outside."""
    s = min(max(t, F[0]), F[n])
    low = piece(s, n, F)
    c, x = F + (n + 1 + 4 * low), s - F[low]
    f = c[0] + x * (c[1] + x * (c[2] + x * c[3]))
    df = c[1] + x * (2.0 * c[2] + 3.0 * x * c[3])
    ddf = 2.0 * c[2] + 6.0 * x * c[3]
    if s != t:
        return Vec3(f + df * (t - s), df, 0.0 * ddf)
    return Vec3(f, df, ddf)


@inline
def spline_integral(m, t, system):
    """Integral of a table whose numbers are followed by that up to each knot."""
    record = system.integers + m
    n, F = record[2], system.constants + record[1]
    s = min(max(t, F[0]), F[n])
    low = piece(s, n, F)
    c, x = F + (n + 1 + 4 * low), s - F[low]
    area = F[5 * n + 1 + low] + x * (c[0] + x * (c[1] / 2.0 + x * (c[2] / 3.0 + x * (c[3] / 4.0))))
    end = spline(s, n, F)
    return area + (t - s) * (end.x + 0.5 * (t - s) * end.y)
