"""Rigid bodies that turn freely: Euler's top in Jacobi functions, conserved quantities of the heavy top, a projectile."""

import numpy as np
import pytest
from reference_data import INTEGRATORS, NAMES, largest, load, run
from scipy.integrate import quad
from scipy.special import ellipj, ellipkinc

import dalembert as da

BOUND = 1e-9  # ten to a hundred times rtol = atol = 1e-11 over a few turns
every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS, ids=NAMES)


class EulerTop:
    """w(t) = (a1 cn, a2 sn, a3 dn)(p t + v0 | m) for I1 < I2 < I3 and L^2 > 2 T I2 (Jacobi)."""

    def __init__(self, inertia, w):
        self.I = I1, I2, I3 = np.array(inertia, dtype=float)
        w = np.array(w, dtype=float)
        energy2, L2 = float(self.I @ w**2), float((self.I * w) @ (self.I * w))
        assert energy2 * I2 < L2
        self.L = np.sqrt(L2)
        low, high = energy2 * I3 - L2, L2 - energy2 * I1
        self.a = np.sqrt([low / (I1 * (I3 - I1)), low / (I2 * (I3 - I2)), high / (I3 * (I3 - I1))])
        self.p = np.sqrt((I3 - I2) * high / (I1 * I2 * I3))
        self.m = (I2 - I1) * low / ((I3 - I2) * high)
        self.v0 = ellipkinc(np.arctan2(w[1] / self.a[1], w[0] / self.a[0]), self.m)

    def omega(self, t):
        sn, cn, dn, _ = ellipj(self.p * np.asarray(t) + self.v0, self.m)
        return np.stack([self.a[0] * cn, self.a[1] * sn, self.a[2] * dn], axis=-1)

    def precession(self, t):
        """Angle of body axis 3 about the angular momentum after t: L (I1 w1^2 + I2 w2^2) / (I1^2 w1^2 + I2^2 w2^2)."""

        def rate(s):
            w1, w2, _ = self.omega(s) ** 2
            I1, I2, _ = self.I
            return self.L * (I1 * w1 + I2 * w2) / (I1**2 * w1 + I2**2 * w2)

        return quad(rate, 0.0, t, epsabs=1e-13, epsrel=1e-13, limit=200)[0]


@every_integrator
def test_euler_top(integrator):
    problem = load("euler_top")
    inertia, w_0 = problem["parameters"]["I"], problem["parameters"]["omega0"]
    model = da.Model((0, 0, 0))
    model.add_body("top", mass=1.0, inertia=inertia, angular_velocity=w_0)
    times = np.linspace(0.0, 20.0, 81)
    solution = run(model, times, integrator)
    exact = EulerTop(inertia, w_0)
    w = exact.omega(times)
    assert largest(w[0] - w_0) <= 1e-15
    assert largest(solution.angular_velocity("top", "body") - w) <= BOUND
    # the attitude: angular momentum is constant in space, and body axis 3 precesses about it by a quadrature
    L = np.einsum("tij,tj->ti", solution.rotation("top"), np.array(inertia) * w)
    assert largest(L - L[0]) <= BOUND
    z = L[0] / exact.L
    x = np.cross((0, 1, 0), z)
    x /= np.linalg.norm(x)
    e_3 = solution.rotation("top")[:, :, 2]
    azimuth = np.unwrap(np.arctan2(e_3 @ np.cross(z, x), e_3 @ x))
    for k in (20, 80):
        assert abs(azimuth[k] - azimuth[0] - exact.precession(times[k])) <= 5 * BOUND  # axis 3 is 0.2 rad from L
    assert solution.energy.kinetic == pytest.approx(solution.energy.kinetic[0], abs=BOUND)
    assert largest(solution.position("top")) == 0.0
    assert solution.unit_length_error <= 1e-15


def heavy_top():
    data = load("heavy_top")["parameters"]
    w = np.array([0.0, 150.0, -4.61538])
    arm = np.array(data["com"], dtype=float)
    model = da.Model((0, 0, -data["g"]))
    top = model.add_body(
        "top",
        mass=data["m"],
        inertia=data["J_com"],
        position=arm,
        velocity=np.cross(w, arm),
        angular_velocity=w,
    )
    model.add_spherical("tip", model.ground, top, points=((0, 0, 0), -arm))
    return model, np.array(data["J_com"]), data["m"]


@every_integrator
def test_heavy_top_keeps_energy_momentum_and_spin(integrator):
    """Lagrange's three integrals over 2 s, that is 48 turns: relative 1e-9 from the tolerance times the number of turns."""
    model, J, mass = heavy_top()
    solution = run(model, np.linspace(0.0, 2.0, 41), integrator)
    E = solution.energy.total
    assert largest(E - E[0]) <= BOUND * abs(E[0])
    w = solution.angular_velocity("top", "body")
    assert largest(w[:, 1] - 150.0) <= BOUND * 150.0
    spin = np.einsum("tij,tj->ti", solution.rotation("top"), J * w)
    L = spin + mass * np.cross(solution.position("top"), solution.velocity("top"))
    assert largest(L[:, 2] - L[0, 2]) <= BOUND * np.linalg.norm(L[0])
    assert np.ptp(solution.position("top")[:, 2]) > 1e-3  # it does nutate
    # the joint carries weight and acceleration of the centre of mass
    force = mass * (solution.acceleration("top") + np.array([0, 0, 9.81]))
    assert largest(solution.reaction("tip").force - force) <= 1e-12 * largest(force)


@every_integrator
def test_projectile(integrator):
    """A parabola and a uniform spin about a principal axis."""
    model = da.Model((0.3, 0, -9.81))
    r_0, v_0, spin = np.array([1.0, 2.0, 3.0]), np.array([4.0, -5.0, 6.0]), 7.0
    turn = da.Rotation.from_axis_angle((1, 1, 0), 0.5)
    axis = turn.matrix[:, 2]
    model.add_body(
        "ball",
        mass=2.5,
        inertia=(1, 2, 2.5),
        position=r_0,
        velocity=v_0,
        rotation=turn,
        angular_velocity=spin * axis,
    )
    times = np.linspace(0.0, 3.0, 31)
    solution = run(model, times, integrator)
    t = times[:, None]
    exact = r_0 + v_0 * t + 0.5 * np.array([0.3, 0, -9.81]) * t**2
    assert largest(solution.position("ball") - exact) <= 1e-12 * largest(exact)  # quadratic: every method is exact
    assert largest(solution.velocity("ball") - (v_0 + np.array([0.3, 0, -9.81]) * t)) <= 1e-12 * 24
    for k in (10, 30):
        expected = da.Rotation.from_axis_angle(axis, spin * times[k]).matrix @ turn.matrix
        assert largest(solution.rotation("ball")[k] - expected) <= BOUND
