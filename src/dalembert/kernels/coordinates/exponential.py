"""The exponential on S^3 and SO(3), and what its derivative does to vectors [HairerLubichWanner2006, III.4 and IV.8].

    exp(x)      turns by |x| about x; as Euler parameters (cos |x|/2, sin(|x|/2) x/|x|), of unit length for every x
    d exp(x) = exp(x) (dexp_{-x} dx)^,   dexp_x y = y + B x*y + C x*(x*y),   dexp_x^-1 y = y - 1/2 x*y + K x*(x*y)

* is the cross product. What cancels in A, C and K for small x is multiplied by |x|^2 where it enters.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.vectors import Quat, cross

SMALL = 1e-6  # of |x|^2: the next terms of the series are below rounding


@inline
def exponential(x):
    """exp(x) as Euler parameters"""
    s = x @ x
    if s < SMALL:  # without a root: it has no derivative at 0
        c, f = 1.0 - s * (0.125 - s / 384.0), 0.5 - s / 48.0
    else:
        a = np.sqrt(s)
        c, f = np.cos(0.5 * a), np.sin(0.5 * a) / a
    return Quat(c, f * x.x, f * x.y, f * x.z)


@inline
def spun(x, y, f, k):
    """y + f x*y + k x*(x*y)"""
    z = cross(x, y)
    return k * cross(x, z) + (f * z + y)


@inline
def turned(x, y):
    """exp(x) y = y + A x*y + B x*(x*y)"""
    s = x @ x
    a = np.sqrt(s)
    if s < SMALL:
        return spun(x, y, 1.0 - s / 6.0, 0.5 - s / 24.0)
    half = np.sin(0.5 * a)
    return spun(x, y, np.sin(a) / a, 2.0 * half * half / s)


@inline
def dexp(x, y):
    """dexp_x y"""
    s = x @ x
    a = np.sqrt(s)
    if s < SMALL:
        return spun(x, y, 0.5 - s / 24.0, 1.0 / 6.0 - s / 120.0)
    half = np.sin(0.5 * a)
    return spun(x, y, 2.0 * half * half / s, (1.0 - np.sin(a) / a) / s)


@inline
def inverse_coefficient(s):
    """(K, dK/ds) for s = |x|^2:  K = (1 - c) / s,  c = (a/2) cot(a/2),  a = |x|"""
    if s < SMALL:
        return 1.0 / 12.0 + s / 720.0, 1.0 / 720.0 + s / 15120.0
    half = 0.5 * np.sqrt(s)
    c = half / np.tan(half)
    K = (1.0 - c) / s
    if s < 0.01:  # here cancellation is not multiplied away
        return K, 1.0 / 720.0 + s * (1.0 / 15120.0 + s / 403200.0)
    slope = 0.5 * c / s - 0.125 / np.sin(half) ** 2
    return K, -(slope + K) / s


@inline
def dexp_inverse(x, y):
    """dexp_x^-1 y"""
    return spun(x, y, -0.5, inverse_coefficient(x @ x)[0])


@inline
def dexp_inverse_change(x, y, d):
    """Change of dexp_x^-1 y where x changes by d:  -1/2 d*y + dK x*(x*y) + K (d (x.y) + x (d.y) - 2 y (x.d))"""
    K, slope = inverse_coefficient(x @ x)
    along = 2.0 * (x @ d)
    bend = (x @ y) * d + ((d @ y) * x + (-along) * y)
    return (slope * along) * cross(x, cross(x, y)) + (K * bend + -0.5 * cross(d, y))
