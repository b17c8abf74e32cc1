"""Vectors, matrices and quaternions as tuples of scalars: load, compute, store.

vec3 = 3 numbers, mat3 = 9 numbers row by row, sym3 = (xx, xy, xz, yy, yz, zz), quaternion = 4 numbers, scalar first.
"""

import numpy as np
from numpy import uintp

from dalembert.kernels.base.compiler import inline


@inline
def load3(a, k):
    """Unsigned indices: Numba then leaves out the check for negative ones, a third of the time in such loops."""
    return a[uintp(k)], a[uintp(k + 1)], a[uintp(k + 2)]


@inline
def load4(a, k):
    return a[uintp(k)], a[uintp(k + 1)], a[uintp(k + 2)], a[uintp(k + 3)]


@inline
def load6(a, k):
    return load3(a, k) + load3(a, k + 3)


@inline
def load9(a, k):
    return load3(a, k) + load3(a, k + 3) + load3(a, k + 6)


@inline
def store3(a, k, v):
    a[uintp(k)] = v[0]
    a[uintp(k + 1)] = v[1]
    a[uintp(k + 2)] = v[2]


@inline
def add_to3(a, k, v):
    a[uintp(k)] += v[0]
    a[uintp(k + 1)] += v[1]
    a[uintp(k + 2)] += v[2]


@inline
def store4(a, k, v):
    a[uintp(k)] = v[0]
    a[uintp(k + 1)] = v[1]
    a[uintp(k + 2)] = v[2]
    a[uintp(k + 3)] = v[3]


@inline
def store9(a, k, v):
    for i in range(9):
        a[uintp(k + i)] = v[i]


@inline
def add3(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inline
def sub3(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline
def scale3(s, a):
    return s * a[0], s * a[1], s * a[2]


@inline
def axpy3(s, a, b):
    """s a + b"""
    return s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2]


@inline
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inline
def mul(R, v):
    """R v"""
    return (
        R[0] * v[0] + R[1] * v[1] + R[2] * v[2],
        R[3] * v[0] + R[4] * v[1] + R[5] * v[2],
        R[6] * v[0] + R[7] * v[1] + R[8] * v[2],
    )


@inline
def mul_t(R, v):
    """R^T v"""
    return (
        R[0] * v[0] + R[3] * v[1] + R[6] * v[2],
        R[1] * v[0] + R[4] * v[1] + R[7] * v[2],
        R[2] * v[0] + R[5] * v[1] + R[8] * v[2],
    )


@inline
def matmul(A, B):
    """A B"""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@inline
def transpose(A):
    return A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]


@inline
def sym_mul(J, v):
    """J v for a symmetric J"""
    return (
        J[0] * v[0] + J[1] * v[1] + J[2] * v[2],
        J[1] * v[0] + J[3] * v[1] + J[4] * v[2],
        J[2] * v[0] + J[4] * v[1] + J[5] * v[2],
    )


@inline
def rotation_matrix(th):
    """R = H~ H^T of Euler parameters [JetMultibody, (2.1)], divided by |theta|^2 so that any length gives a rotation."""
    a, b, c, d = th
    s = 2.0 / (a * a + b * b + c * c + d * d)
    ab, ac, ad = s * a * b, s * a * c, s * a * d
    bb, bc, bd = s * b * b, s * b * c, s * b * d
    cc, cd, dd = s * c * c, s * c * d, s * d * d
    return (1.0 - cc - dd, bc - ad, bd + ac, bc + ad, 1.0 - bb - dd, cd - ab, bd - ac, cd + ab, 1.0 - bb - cc)


@inline
def euler_parameter_rates(th, w_B):
    """theta' = 1/2 H(theta)^T w_B  [JetMultibody, Lemma 3.1]"""
    a, b, c, d = th
    x, y, z = 0.5 * w_B[0], 0.5 * w_B[1], 0.5 * w_B[2]
    return (-b * x - c * y - d * z, a * x - d * y + c * z, d * x + a * y - b * z, -c * x + b * y + a * z)


@inline
def normalise4(th):
    s = 1.0 / np.sqrt(th[0] * th[0] + th[1] * th[1] + th[2] * th[2] + th[3] * th[3])
    return s * th[0], s * th[1], s * th[2], s * th[3]


@inline
def rotation_vector(R):
    """Rotation vector of R, angle in [0, pi], through the quaternion with the largest component (no cancellation)."""
    t = R[0] + R[4] + R[8]
    if t > 0.0:
        a, b, c, d = 1.0 + t, R[7] - R[5], R[2] - R[6], R[3] - R[1]
    elif R[0] >= R[4] and R[0] >= R[8]:
        a, b, c, d = R[7] - R[5], 1.0 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6]
    elif R[4] >= R[8]:
        a, b, c, d = R[2] - R[6], R[1] + R[3], 1.0 - R[0] + R[4] - R[8], R[5] + R[7]
    else:
        a, b, c, d = R[3] - R[1], R[2] + R[6], R[5] + R[7], 1.0 - R[0] - R[4] + R[8]
    if a < 0.0:
        a, b, c, d = -a, -b, -c, -d
    v = np.sqrt(b * b + c * c + d * d)
    if v == 0.0:
        return 0.0 * v, 0.0 * v, 0.0 * v
    s = 2.0 * np.arctan2(v, a) / v
    return s * b, s * c, s * d


@inline
def dot6(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]
