"""Prescribed functions of time: value, first and second derivative."""

import numpy as np

from dalembert.kernels.base.algebra import store3
from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.tables import CONSTANT, HARMONIC, MOTION_I, NMOTION, POLYNOMIAL, SMOOTH_STEP, W_MOTION


@inline
def evaluate_motions(t, system):
    """W_MOTION <- (f, f', f'') of the motions that constraints follow; entry 0 stays zero, for rows without one."""
    I, W = system.I, system.W
    for k in range(I[NMOTION]):
        store3(W, I[W_MOTION] + 3 * (k + 1), motion(I[I[MOTION_I] + k], t, system))


@inline
def motion(m, t, system):
    """(f, f', f'') at time t of the motion whose record starts at I[m]."""
    I, F = system.I, system.F
    kind, k, n = I[m], I[m + 1], I[m + 2]
    if kind == CONSTANT:
        return F[k], 0.0, 0.0
    if kind == POLYNOMIAL:
        return polynomial(t, k, n, system)
    if kind == HARMONIC:
        a, w = F[k], F[k + 1]
        s, c = np.sin(w * t + F[k + 2]), np.cos(w * t + F[k + 2])
        return F[k + 3] + a * s, a * w * c, -a * w * w * s
    if kind == SMOOTH_STEP:
        return smooth_step(t, k, system)
    return spline(t, k, n, system)


@inline
def polynomial(t, k, n, system):
    """Horner's scheme for c0 + c1 t + ... and its two derivatives."""
    F = system.F
    f, f1, f2 = 0.0, 0.0, 0.0
    for i in range(n - 1, -1, -1):
        f2 = f2 * t + 2.0 * f1
        f1 = f1 * t + f
        f = f * t + F[k + i]
    return f, f1, f2


@inline
def smooth_step(t, k, system):
    """start + (stop - start)(10 s^3 - 15 s^4 + 6 s^5),  s = (t - t_start) / (t_stop - t_start) in [0, 1]"""
    F = system.F
    d = F[k + 1] - F[k]
    T = F[k + 3] - F[k + 2]
    s = (t - F[k + 2]) / T
    if s <= 0.0:
        return F[k], 0.0, 0.0
    if s >= 1.0:
        return F[k + 1], 0.0, 0.0
    f = s * s * s * (10.0 + s * (-15.0 + 6.0 * s))
    f1 = 30.0 * s * s * (1.0 - s) * (1.0 - s)
    f2 = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
    return F[k] + d * f, d * f1 / T, d * f2 / (T * T)


@inline
def spline(t, k, n, system):
    """Piecewise cubic: n pieces, F[k..] = n+1 knots, then 4 coefficients per piece in rising order; linear outside."""
    F = system.F
    t_first, t_last = F[k], F[k + n]
    s = min(max(t, t_first), t_last)
    low, high = 0, n
    while high - low > 1:
        mid = (low + high) // 2
        if F[k + mid] <= s:
            low = mid
        else:
            high = mid
    c = k + n + 1 + 4 * low
    x = s - F[k + low]
    f = F[c] + x * (F[c + 1] + x * (F[c + 2] + x * F[c + 3]))
    f1 = F[c + 1] + x * (2.0 * F[c + 2] + 3.0 * x * F[c + 3])
    f2 = 2.0 * F[c + 2] + 6.0 * x * F[c + 3]
    if s != t:
        return f + f1 * (t - s), f1, 0.0 * f2
    return f, f1, f2
