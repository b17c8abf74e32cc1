"""Derivatives of runs by parameters against calculations that share nothing with the library.

Andrews' squeezer starts at rest and has one freedom, so its crank follows from a quadrature of the energy. A rolling disc
follows from its angular momentum about the contact. Both are differentiated by extrapolated differences.
"""

from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.gallery.squeezer import BETA, andrews

FINE = da.DOP853(rtol=1e-11, atol=1e-12)
ALLOWED = 1e-8  # of the largest entry of each derivative
G = 9.81


def slope(function, at, h):
    """Derivative of a function of one number: central differences with h and h/2, extrapolated."""
    wide, near = ((function(at + s) - function(at - s)) / (2.0 * s) for s in (h, 0.5 * h))
    return (4.0 * near - wide) / 3.0


# ------------------------------------------------------------------------------------------------------- Andrews' squeezer

DRIVEN = {"beta": BETA, "stiffness": 4530.0, "torque": 0.033, "mass": 0.0705}
A, B, C = -0.06934 - 0.00227j, -0.03635 + 0.03273j, 0.014 + 0.072j
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
CENTRES = (0.00092, -0.0115, 0.01043 - 0.01874j, -0.00579j, 0.02308 + 0.00916j, 0.00579, -0.00449 - 0.01228j)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def squeezer(beta, stiffness, torque, mass):
    model = andrews(beta)
    model.replace("spring", stiffness=stiffness)
    model.replace("drive", torque=(0, 0, torque))
    model.replace("K5", mass=mass)
    return model


def meeting(p, dp, r, q, dq, s, side):
    """The point at r from p and s from q, plane points as complex numbers, and its derivative from those of p and q."""
    gap = q - p
    d2 = abs(gap) ** 2
    along = 0.5 * (d2 + r * r - s * s) / d2
    z = p + gap * (along + 1j * side * np.sqrt(r * r / d2 - along**2))
    # (z - p) . (z' - p') = 0 and (z - q) . (z' - q') = 0
    rows = np.array([[(z - p).real, (z - p).imag], [(z - q).real, (z - q).imag]])
    right = [((z - p) * np.conj(dp)).real, ((z - q) * np.conj(dq)).real]
    return z, complex(*np.linalg.solve(rows, right))


def energies(beta, mass):
    """(M, length of the spring, what that changes by) where the crank stands at beta: T = M beta'^2 / 2."""
    f, df = 0.007 * np.exp(1j * beta), 0.007j * np.exp(1j * beta)
    e, de = meeting(f, df, 0.028, B, 0.0, 0.035, 1.0)
    g, dg = meeting(A, 0.0, 0.04, e, de, 0.02, 1.0)
    h, dh = meeting(A, 0.0, 0.04, e, de, 0.02, -1.0)
    # of each body: origin, direction of its x axis, and what they change by
    x = [np.exp(1j * beta), (f - e) / 0.028, 1j * (e - B) / 0.035, 1j * (e - g) / 0.02]
    x += [(g - A) / 0.04, (e - h) / 0.02, 1j * (h - A) / 0.04]
    dx = [1j * x[0], (df - de) / 0.028, 1j * de / 0.035, 1j * (de - dg) / 0.02]
    dx += [dg / 0.04, (de - dh) / 0.02, 1j * dh / 0.04]
    origins = (0.0, df, 0.0, dg, 0.0, dh, 0.0)
    masses = [*MASSES[:4], mass, *MASSES[5:]]
    parts = zip(masses, INERTIAS, CENTRES, origins, dx, strict=True)
    total = sum(m * abs(do + d * c) ** 2 + J * abs(d) ** 2 for m, J, c, do, d in parts)
    spring, change = B + x[2] * (0.02 - 0.018j) - C, dx[2] * (0.02 - 0.018j)
    return total, abs(spring), (spring * np.conj(change)).real / abs(spring)


def crank_rate(angle, beta, stiffness, torque, mass):
    """beta' after the crank has turned by an angle; near the start, energies are no differences of large ones."""
    (M, l, _), (_, l_0, _) = energies(beta + angle, mass), energies(beta, mass)
    stored = 0.5 * stiffness * ((l - 0.07785) ** 2 - (l_0 - 0.07785) ** 2)
    if angle < 0.05:
        at = (energies(beta + 0.5 * angle * (1.0 + x), mass) for x in NODES)
        stored = sum(0.5 * angle * w * stiffness * (l - 0.07785) * dl for w, (_, l, dl) in zip(WEIGHTS, at, strict=True))
    return np.sqrt(2.0 * (torque * angle - stored) / M)


def time_to(angle, **given):
    """When the crank has turned by an angle: the integral of 1 / beta', with angle = s^2 because it starts at rest."""
    ends = np.linspace(0.0, np.sqrt(angle), 13)
    total = 0.0
    for low, high in pairwise(ends):
        at = 0.5 * (low + high) + 0.5 * (high - low) * NODES
        total += 0.5 * (high - low) * sum(w * 2.0 * a / crank_rate(a * a, **given) for w, a in zip(WEIGHTS, at, strict=True))
    return total


def test_squeezer():
    angle = 4.0
    t_end = time_to(angle, **DRIVEN)
    run = da.simulate(
        squeezer, t_end, parameters=DRIVEN, sensitivities=list(DRIVEN), coordinates="planar", integrator=FINE, save_at=[t_end]
    )
    assert abs(run.coordinate("O")[0] - angle) < 1e-10
    rate = crank_rate(angle, **DRIVEN)
    by_angle = slope(lambda a: crank_rate(a, **DRIVEN), angle, 1e-3)
    for name, value in DRIVEN.items():
        h = 3e-3 * abs(value)
        turned = -rate * slope(lambda p, name=name: time_to(angle, **(DRIVEN | {name: p})), value, h)
        faster = slope(lambda p, name=name: crank_rate(angle, **(DRIVEN | {name: p})), value, h) + by_angle * turned
        assert abs(run.derivative("O", name)[0] - turned) < ALLOWED * abs(turned), name
        assert abs(run.derivative(lambda s: s.coordinate_rate("O"), name)[0] - faster) < ALLOWED * abs(faster), name


# ---------------------------------------------------------------------------------------------------------------- rolling disc

ROLLING = {"lean": 0.3, "radius": 0.5, "spin": 6.0, "mass": 1.3}
Z = np.array([0.0, 0.0, 1.0])


def disc(lean, radius, spin, mass):
    """A disc about its y axis that leans about x, with angular velocities 0.2, spin, -0.8 about its own axes; J of 1 kg."""
    c, s = np.cos(lean), np.sin(lean)
    R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    w, arm = R @ [0.2, spin, -0.8], radius * R @ Z
    model = da.Model(gravity=(0, 0, -G))
    inertia = (0.06, 0.12, 0.06)
    model.add_body("disc", mass=mass, inertia=inertia, position=arm, rotation=R, velocity=np.cross(w, arm), angular_velocity=w)
    model.add_rolling_disc("floor", "disc", radius=radius, axis=(0, 1, 0))
    return model


def rolled(t, lean, radius, spin, mass):
    """Where the centre is at times t: J w' + w x J w = c x f, m (v' - g) = f, v = -w x c, c from the centre to the contact."""

    def contact(n, dn):
        d, dd = Z - n[2] * n, -dn[2] * n - n[2] * dn
        length = np.linalg.norm(d)
        return -radius * d / length, -radius * (dd / length - d * (d @ dd) / length**3)

    def rate(_, y):
        n, w = y[3:6], y[6:]
        dn = np.cross(w, n)
        c, dc = contact(n, dn)
        J = 0.06 * (np.eye(3) + np.outer(n, n))
        about = J + mass * (c @ c * np.eye(3) - np.outer(c, c))
        right = -np.cross(w, J @ w) - mass * np.cross(c, np.cross(w, dc) - G * Z)
        return np.concatenate([-np.cross(w, c), dn, np.linalg.solve(about, right)])

    c, s = np.cos(lean), np.sin(lean)
    n, e = np.array([0.0, c, s]), np.array([0.0, -s, c])
    w = np.array([0.2, 0.0, 0.0]) + spin * n - 0.8 * e
    start = np.concatenate([radius * e, n, w])
    return solve_ivp(rate, (0.0, t[-1]), start, method="DOP853", t_eval=t, rtol=1e-13, atol=1e-14).y[:3].T


def test_rolling_disc():
    t = np.array([0.2, 0.5])
    run = da.simulate(disc, t[-1], parameters=ROLLING, sensitivities=list(ROLLING), integrator=FINE, save_at=t)
    assert np.abs(run.position("disc") - rolled(t, **ROLLING)).max() < 1e-9
    for name, value in ROLLING.items():
        expected = slope(lambda p, name=name: rolled(t, **(ROLLING | {name: p})), value, 4e-3 * value)
        found = run.derivative(lambda s: s.position("disc"), name)
        assert np.abs(found - expected).max() < ALLOWED * max(np.abs(expected).max(), 0.1), name
