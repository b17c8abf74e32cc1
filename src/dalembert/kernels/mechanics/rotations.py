"""Angles of a rotation matrix."""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.vectors import Vec3


@inline
def euler_321(R):
    """(phi, theta, psi) of R = Rz(psi) Ry(theta) Rx(phi).  Deviation: corrected as in the errata of [MovingFrame]."""
    x, z = R[0], R[2]
    return Vec3(np.arctan2(z.y, z.z), -np.arcsin(min(1.0, max(-1.0, z.x))), np.arctan2(R[1].x, x.x))


@inline
def rotation_vector(R):
    """Rotation vector of R, angle in [0, pi], through the quaternion with the largest component (no cancellation)."""
    x, y, z = R[0], R[1], R[2]
    t = x.x + y.y + z.z
    if t > 0.0:
        a, b, c, d = 1.0 + t, z.y - y.z, x.z - z.x, y.x - x.y
    elif x.x >= y.y and x.x >= z.z:
        a, b, c, d = z.y - y.z, 1.0 + x.x - y.y - z.z, x.y + y.x, x.z + z.x
    elif y.y >= z.z:
        a, b, c, d = x.z - z.x, x.y + y.x, 1.0 - x.x + y.y - z.z, y.z + z.y
    else:
        a, b, c, d = y.x - x.y, x.z + z.x, y.z + z.y, 1.0 - x.x - y.y + z.z
    if a < 0.0:
        a, b, c, d = -a, -b, -c, -d
    vv = b * b + c * c + d * d
    if vv < 1e-6 * a * a:  # no root, which has no derivative where it vanishes: arctan z / z in z^2
        zz = vv / (a * a)
        s = (2.0 / a) * (1.0 - zz * (1.0 / 3.0 - zz * (0.2 - zz / 7.0)))
    else:
        v = np.sqrt(vv)
        s = 2.0 * np.arctan2(v, a) / v
    return Vec3(s * b, s * c, s * d)
