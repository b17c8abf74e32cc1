"""A bushing between frames A_i, A_j (points x, axes) of two bodies: a potential of six deflections, seen from half way.

    A_i^T A_j = exp(phi^),   H = A_i exp(phi^/2),   d = H^T (x_j - x_i),   z = (d, phi)          theta = |phi|, n = phi / theta
    U = 1/2 z . K z,   (f, m) = -K z - C z'                       efforts along z; K, C symmetric

Exchanging the bodies turns z into -z and leaves H as it is, so that the law does not know which one comes first. With all
vectors in H, w = w_j - w_i, and S = 1 along n, (theta/2) / sin(theta/2) across it:

    phi' = S w,    d' = v_j - v_i + d x w_H,    w_H = 1/2 (w_i + w_j) - 1/2 tan(theta/4) n x w

and by virtual work, with c = f x d, forces f at x_j and -f at x_i with

    torque on j = S m + 1/2 (c + tan(theta/4) n x c),    torque on i = -S m + 1/2 (c - tan(theta/4) n x c)

phi has an angle up to pi, where it turns over: the report says how far a bushing was turned.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.vectors import Mat3, Vec3, cross
from dalembert.kernels.mechanics.rotations import rotation_vector


@inline
def half_turn(phi):
    """exp(phi^/2), and functions of theta: s and (1 - s) / theta^2 of S = s + (1 - s) n n^T, tan(theta/4) / theta."""
    tt = phi @ phi
    if tt < 1e-4:  # relative error below 1e-18
        a, b = 1.0 - tt * (1.0 / 32.0 - tt / 6144.0), 0.25 - tt * (1.0 / 384.0 - tt / 122880.0)
        along = -1.0 / 24.0 - tt * (7.0 / 5760.0 + tt * (31.0 / 967680.0))
        s, tangent = 1.0 - along * tt, 0.25 + tt * (1.0 / 192.0 + tt / 7680.0)
    else:
        theta = np.sqrt(tt)
        a, b = np.cos(0.25 * theta), np.sin(0.25 * theta) / theta
        s, tangent = 0.5 * theta / np.sin(0.5 * theta), b / a
        along = (1.0 - s) / tt
    v = b * phi
    x, y, z = 2.0 * v.x, 2.0 * v.y, 2.0 * v.z
    half = Mat3(
        1.0 - y * v.y - z * v.z, x * v.y - z * a, x * v.z + y * a,
        x * v.y + z * a, 1.0 - x * v.x - z * v.z, y * v.z - x * a,
        x * v.z - y * a, y * v.z + x * a, 1.0 - x * v.x - y * v.y,
    )  # fmt: skip
    return half, s, along, tangent


@inline
def deflections(e):
    """d and phi of a bushing."""
    i, j = e.i, e.j
    A_i = i.R @ e.E_i
    phi = rotation_vector(A_i.T @ (j.R @ e.E_j))
    half, _, _, _ = half_turn(phi)
    return (A_i @ half).T @ ((j.r + j.R @ e.p_j) - (i.r + i.R @ e.p_i)), phi


@inline
def bushing_energy(e, system):
    """1/2 z . K z"""
    d, phi = deflections(e)
    U, K = 0.0, system.constants + e.numbers
    for a in range(6):
        z_a = d[a] if a < 3 else phi[a - 3]
        for b in range(6):
            U += 0.5 * z_a * K[6 * a + b] * (d[b] if b < 3 else phi[b - 3])
    return U


@inline
def bushing(e, conservative_only, system):
    """Adds its wrenches; deflections, rates and efforts go to the records of the element. Power of its damping."""
    i, j = e.i, e.j
    A_i, x_i, x_j = i.R @ e.E_i, i.R @ e.p_i, j.R @ e.p_j
    w_i, w_j = i.R @ i.w, j.R @ j.w
    phi = rotation_vector(A_i.T @ (j.R @ e.E_j))
    half, s, along, tangent = half_turn(phi)
    H = A_i @ half
    d, w = H.T @ ((j.r + x_j) - (i.r + x_i)), H.T @ (w_j - w_i)
    w_H = 0.5 * (H.T @ (w_i + w_j) - tangent * cross(phi, w))
    d_dot = H.T @ ((j.v + cross(w_j, x_j)) - (i.v + cross(w_i, x_i))) + cross(d, w_H)
    phi_dot = s * w + along * (phi @ w) * phi
    for a in range(3):
        line, turn = system.forces[e.number + a], system.forces[e.number + 3 + a]
        line.s, line.rate = d[a], d_dot[a]
        turn.s, turn.rate = phi[a], phi_dot[a]
    power, K, C = 0.0, system.constants + e.numbers, system.constants + (e.numbers + 36)
    for a in range(6):
        row, elastic, external = system.forces[e.number + a], 0.0, 0.0
        for b in range(6):
            other = system.forces[e.number + b]
            elastic -= K[6 * a + b] * other.s
            external -= C[6 * a + b] * other.rate
        external = 0.0 if conservative_only else external
        row.value = elastic + external
        power += external * row.rate
    k = e.number
    f = Vec3(e.value, system.forces[k + 1].value, system.forces[k + 2].value)
    m = Vec3(system.forces[k + 3].value, system.forces[k + 4].value, system.forces[k + 5].value)
    c = 0.5 * cross(f, d)
    bent, m = tangent * cross(phi, c), s * m + along * (phi @ m) * phi
    force = H @ f
    j.force += force
    j.torque += j.R.T @ (H @ (m + c + bent) + cross(x_j, force))
    i.force -= force
    i.torque += i.R.T @ (H @ (c - m - bent) - cross(x_i, force))
    return power
