"""Point masses on rods: the simple pendulum [IFToMM, A01] and the spherical pendulum of [QRContinuation, 3.3]."""

import numpy as np
import pytest
from reference_data import INTEGRATORS, NAMES, largest, load, run

import dalembert as da

POSITION = 1e-8  # demanded at rtol = atol = 1e-11; the tables agree to 1e-16
every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS, ids=NAMES)


def simple_pendulum():
    model = da.Model((0, -9.81, 0))
    bob = model.add_point_mass("bob", mass=1.0, position=(-1, 0, 0))
    model.add_distance("rod", model.ground, bob)
    return model


@every_integrator
@pytest.mark.parametrize("coordinates", ["absolute", "planar"])
def test_simple_pendulum(integrator, coordinates):
    reference = load("iftomm_pendulum")
    columns = reference["columns"]
    solution = run(simple_pendulum(), reference["t"], integrator, coordinates=coordinates)
    r, v = solution.position("bob"), solution.velocity("bob")
    assert largest(r[:, 0] - columns["x"]) <= POSITION
    assert largest(r[:, 1] - columns["y"]) <= POSITION
    assert largest(r[:, 2]) <= 1e-15  # nothing drives it out of the plane
    assert largest(v[:, 0] - columns["vx"]) <= 5 * POSITION  # speeds reach 4.4 m/s
    assert largest(v[:, 1] - columns["vy"]) <= 5 * POSITION
    # rod force from the angle: m g cos phi + m v^2 / l with v^2 = 2 g cos phi, towards the pivot; y = -cos phi
    tension = 3 * 9.81 * -columns["y"]
    assert largest(solution.multiplier("rod")[:, 0] + tension) <= 3 * 9.81 * POSITION
    assert largest(solution.energy.total) <= 50 * POSITION  # starts at zero; forces of 30 N times the bound
    assert largest(solution.coordinate("rod") - 1.0) <= 1.1e-11  # the projection's tolerance


def test_simple_pendulum_has_one_degree_of_freedom():
    for coordinates in ("absolute", "planar"):
        mechanism = da.compile(simple_pendulum(), coordinates)
        assert mechanism.degrees_of_freedom == (2 if coordinates == "absolute" else 1)


@every_integrator
def test_spherical_pendulum(integrator):
    reference = load("spherical_pendulum")
    columns = reference["columns"]
    model = da.Model()
    bob = model.add_point_mass("bob", mass=1.0, position=(0.08, 0, 0), velocity=(0, 0.7895, 0))
    model.add_distance("rod", model.ground, bob)
    solution = run(model, reference["t"], integrator)
    assert largest(solution.position("bob") - columns["r"]) <= POSITION
    assert largest(solution.velocity("bob") - columns["v"]) <= 20 * POSITION  # it turns at up to 17 rad/s
    # the source writes M r'' + 2 r lam = ..., here the force along the rod is lam r / l: lam = -2 l lam_source
    lam = -2 * 0.08 * columns["lam"]
    assert largest(solution.multiplier("rod")[:, 0] - lam) <= 20**2 * POSITION
    assert largest(solution.reaction("rod").force - lam[:, None] * columns["r"] / 0.08) <= 20**2 * POSITION
    r, v = solution.position("bob"), solution.velocity("bob")
    assert largest(r[:, 0] * v[:, 1] - r[:, 1] * v[:, 0] - columns["Lz"]) <= POSITION
    assert largest(solution.energy.total - columns["E"]) <= 20 * POSITION
    azimuth = np.unwrap(np.arctan2(r[:, 1], r[:, 0]))
    wrapped = (azimuth - columns["azimuth"] + np.pi) % (2 * np.pi) - np.pi
    assert largest(wrapped) <= POSITION / 0.045  # the bob stays 0.045 m or more from the vertical


@every_integrator
def test_large_pendulum_period(integrator):
    """A quarter period is K(sin^2(45 deg)) sqrt(l / g): the bob passes the bottom there."""
    from scipy.special import ellipk

    quarter = float(ellipk(0.5) / np.sqrt(9.81))
    assert 4 * quarter == pytest.approx(load("iftomm_pendulum")["period"], rel=1e-15)
    solution = run(simple_pendulum(), [quarter, 3 * quarter], integrator)
    np.testing.assert_allclose(solution.position("bob")[:, :2], [(0, -1), (0, -1)], rtol=0, atol=POSITION)
