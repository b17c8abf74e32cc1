"""Chains of rods by Gauss-Legendre in relative coordinates [MovingFrame, 3.2]: unit length and energy without normalisation,
one and two rods against their plane equations, rounding along a long chain."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import dalembert as da
from dalembert.compilation.trajectory import Trajectory
from dalembert.gallery.chain import LENGTH, MASS, SIDE, chain
from dalembert.integrators.advance import Advance
from dalembert.kernels.base import tables as T

G, ANGLE, H, T_END = 9.81, 0.1, 0.01, 10.0
J_PIVOT = MASS * LENGTH**2 / 3 + MASS * SIDE**2 / 12  # of the prism, not of a thin rod: errata of [MovingFrame]


def integrated(n, integrator, angle=ANGLE):
    """(times, relative states as the method left them, absolute states) of 10 s."""
    mechanism = da.compile(chain(n, angle=angle))
    run = da.MovingFrame().prepare(mechanism)
    advance = Advance(run, integrator, 0.0, run.from_absolute(mechanism.x_0), T_END, None)
    states = [advance.x.copy()]
    while advance.t < T_END:
        assert advance.steps(1) in (T.OK, T.TOO_MANY_STEPS)
        states.append(advance.x.copy())
    x = np.array(states)
    assert len(x) == 1001
    return mechanism, x, Trajectory(mechanism, np.linspace(0.0, T_END, 1001), run.to_absolute(x))


def length_error(x, n):
    return np.abs(np.linalg.norm(x[:, : 4 * n].reshape(-1, n, 4), axis=2) - 1.0).max()


@pytest.mark.parametrize("n", [4, 16, 64])
def test_unit_length_and_energy_without_normalisation(n):
    """As in the source with GL3 and h = 0.01 [MovingFrame, 3.2.3]: 1e-14 of unit length and of the energy.

    Measured: 3e-15 and 4e-15 at most. What the stage equations leave adds up: a stage tolerance of 1e-13 gives 6e-15 here and
    2e-13 for larger swings. With the default the bounds are met without compensated summation.
    """
    mechanism, x, motion = integrated(n, da.GaussLegendre(3, step=H))
    assert length_error(x, n) <= 1e-14
    energy = np.zeros(len(x))
    for body in mechanism.model.bodies:
        v, w = motion.velocity(body.name), motion.angular_velocity(body.name, "body")
        energy += body.mass * np.sum(v * v, axis=1) / 2 + np.einsum("ti,ij,tj->t", w, body.inertia, w) / 2
        energy += body.mass * G * motion.position(body.name)[:, 2]
    assert np.abs(energy - energy[0]).max() <= 1e-14 * abs(energy[0])


def test_nothing_normalises_but_where_it_must():
    """Explicit Euler lengthens quaternions by (h w)^2 / 8 per step: that is seen, and bounded; motions do not depend on it."""
    _, x, _ = integrated(1, da.Euler(step=H))
    assert 1e-8 < length_error(x, 1) <= 1.1e-6
    run = da.MovingFrame().prepare(da.compile(chain(4)))
    rates = []
    for size in (1.0, 3.0):
        x = run.from_absolute(run.mechanism.x_0)
        x[16:28] = np.linspace(-1.0, 1.0, 12)
        x[:16] *= size
        dx = np.zeros_like(x)
        assert run.system(T.RATE, 0.0, x, dx, run.view) == T.OK
        rates.append(dx[16:28])
    np.testing.assert_allclose(rates[1], rates[0], rtol=0, atol=1e-13 * np.abs(rates[0]).max())


def angles(n, motion):
    """Absolute angles about x, (nt, n)."""
    R = [motion.rotation(f"rod {k}") for k in range(1, n + 1)]
    return np.stack([np.arctan2(r[:, 2, 1], r[:, 1, 1]) for r in R], axis=1)


def test_single_pendulum_is_that_of_jacobi():
    """sin(theta / 2) = k sn(K - w t | k^2), k = sin(theta_0 / 2), w^2 = m g l / (2 J): 1.9e-13 in the source, 2.4e-13 here."""
    _, _, motion = integrated(1, da.GaussLegendre(3, step=H))
    k, w = np.sin(ANGLE / 2), np.sqrt(MASS * G * LENGTH / (2 * J_PIVOT))
    exact = 2 * np.arcsin(k * ellipj(ellipk(k * k) - w * motion.t, k * k)[0])
    assert np.abs(angles(1, motion)[:, 0] - exact).max() <= 1e-12


def plane_double_pendulum(y):
    """y' for absolute angles and rates of two equal rods [Lagrange's equations]."""
    a, b, p, q = y
    half = MASS * LENGTH**2 / 2
    own, outer = J_PIVOT + MASS * LENGTH**2, J_PIVOT  # the inner rod carries the outer one's mass at its end
    cross = half * np.cos(a - b)
    f = -half * np.sin(a - b) * q * q - 1.5 * MASS * G * LENGTH * np.sin(a)
    g = half * np.sin(a - b) * p * p - 0.5 * MASS * G * LENGTH * np.sin(b)
    det = own * outer - cross * cross
    return np.array([p, q, (outer * f - cross * g) / det, (own * g - cross * f) / det])


def test_double_pendulum_is_plane():
    """Against an extrapolated midpoint rule of order 12 in extended precision, which DOP853 meets to 1e-14. Found: 2.1e-13."""
    y = np.array([ANGLE, ANGLE, 0.0, 0.0], dtype=np.longdouble)
    expected = [y[:2]]
    for _ in range(1000):
        y = extrapolated_step(plane_double_pendulum, y, np.longdouble(H))
        expected.append(y[:2])
    _, _, motion = integrated(2, da.GaussLegendre(3, step=H))
    assert np.abs(angles(2, motion) - np.array(expected, dtype=float)).max() <= 1e-12


def extrapolated_step(f, y, h):
    """Gragg's method: midpoint rule with 2, 4, .. 12 substeps, polynomial extrapolation in their squares."""
    table = []
    for n in range(2, 14, 2):
        before, now = y, y + h / n * f(y)
        for _ in range(n - 1):
            before, now = now, before + 2 * h / n * f(now)
        row = [(now + before + h / n * f(now)) / 2]
        for j, last in enumerate(table[-1] if table else [], start=1):
            row.append(row[-1] + (row[-1] - last) / ((n / (n - 2 * j)) ** 2 - np.longdouble(1)))
        table.append(row)
    return table[-1][-1]


@pytest.mark.parametrize("n", [16, 64])
def test_rounding_does_not_grow_along_a_chain(n):
    """Against absolute coordinates at a random state. Recursions that leave a remainder of what a ball joint eliminates
    amplify it from body to body: 4e-12 for 16 rods, no digit right for 64. Measured here: 5e-14, of both ways together."""
    mechanism = da.compile(chain(n))
    rng = np.random.default_rng(n)
    theta = rng.standard_normal((n, 4))
    x = np.concatenate([(theta / np.linalg.norm(theta, axis=1)[:, None]).ravel(), rng.standard_normal(3 * n), [0.0]])
    found = []
    relative, absolute = da.MovingFrame().prepare(mechanism), da.Jet().prepare(mechanism)
    for run, state in ((relative, x), (absolute, relative.to_absolute(x[None])[0])):
        dx = np.zeros_like(state)
        assert run.system(T.OUTPUT, 0.0, state, dx, run.view) == T.OK
        found.append(run.W[run.I[T.W_ACC] + 6 :][: 6 * n].copy())
    assert np.abs(found[0] - found[1]).max() <= 1e-12 * np.abs(found[1]).max()
