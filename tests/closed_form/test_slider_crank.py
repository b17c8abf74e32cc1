"""The spatial slider-crank with the slender rod (variant A) against two independent tables."""

import numpy as np
import pytest
from reference_data import INTEGRATORS, NAMES, largest, load, run

from dalembert import gallery

POSITION = 1e-8  # demanded at rtol = atol = 1e-11; the tables agree to 1e-15 where they share a time
every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS, ids=NAMES)


def test_the_two_tables_agree():
    first, second = load("slider_crank"), load("iftomm_slider_crank")
    shared = np.isin(first["t"], second["t"]), np.isin(second["t"], first["t"])
    assert shared[0].sum() == 10
    difference = first["columns"]["x"][shared[0]] - second["columns"]["slider_x"][shared[1]]
    assert largest(difference) <= 1e-13  # both are printed to double rounding, after 5 s


@every_integrator
def test_slider_crank(integrator):
    reference = load("slider_crank")
    columns = reference["columns"]
    solution = run(gallery.slider_crank(), reference["t"], integrator)
    theta, x = columns["theta"], columns["x"]
    slider = np.stack([x, 0 * x, 0 * x], axis=1)
    pin = np.array([0, 0.1, 0.12]) + 0.08 * np.stack([0 * x, -np.sin(theta), np.cos(theta)], axis=1)
    assert largest(solution.position("slider") - slider) <= POSITION
    assert largest(solution.position("crank") - (np.array([0, 0.1, 0.12]) + pin) / 2) <= POSITION
    assert largest(solution.position("rod") - (slider + pin) / 2) <= POSITION
    # angles and rates follow from positions over the crank's 0.08 m, and from rates of up to 20 rad/s
    assert largest(solution.coordinate("A") - theta) <= POSITION / 0.08
    assert largest(solution.coordinate_rate("A") - columns["thetadot"]) <= 20 * POSITION / 0.08
    assert largest(solution.velocity("slider")[:, 0] - columns["xdot"]) <= 20 * POSITION
    assert largest(solution.coordinate("D") - (x - x[0])) <= POSITION
    # the crank's centre turns on 0.04 m: a = 0.04 (theta'' tangent + theta'^2 normal)
    a_y = -0.04 * (np.cos(theta) * columns["thetaddot"] - np.sin(theta) * columns["thetadot"] ** 2)
    assert largest(solution.acceleration("crank")[:, 1] - a_y) <= 20**2 * POSITION
    # energies of 0.77 J, forces of 20 N: 2e-7 J from the positions' bound
    assert largest(solution.energy.kinetic - columns["T"]) <= 2e-7
    assert largest(solution.energy.potential - columns["U"]) <= 2e-7
    assert solution.drift.position.max() <= 1.1e-11  # the projection's tolerance
    assert solution.drift.velocity.max() <= 1.1e-11


@every_integrator
def test_iftomm_series(integrator):
    reference = load("iftomm_slider_crank")
    columns = reference["columns"]
    solution = run(gallery.slider_crank(), reference["t"], integrator)
    assert largest(solution.position("slider")[:, 0] - columns["slider_x"]) <= POSITION
    assert largest(solution.coordinate("A") - columns["crank_angle"]) <= POSITION / 0.08
    assert largest(solution.coordinate_rate("A") - columns["crank_rate"]) <= 20 * POSITION / 0.08
    assert largest(solution.velocity("slider")[:, 0] - columns["slider_v"]) <= 20 * POSITION
