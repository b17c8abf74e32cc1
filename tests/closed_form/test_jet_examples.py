"""The three examples of [JetMultibody, 6.2] against references computed in extended precision (tests/data)."""

import numpy as np
import pytest
from reference_data import INTEGRATORS, NAMES, largest, load, run

from dalembert import ModelError, gallery

# Demanded of positions at rtol = atol = 1e-11. The tables' own agreement (1e-17, 4e-15, 2e-13) allows it.
POSITION = 1e-8
# Velocities, energies and reactions are compared relative to their largest value, of which the positions' bound is 1e-8
# times a rate of at most 64 rad/s.
RELATIVE = 1e-8

every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS, ids=NAMES)
both_kinds = pytest.mark.parametrize("coordinates", ["absolute", "planar"])


def check_relative(value, reference, tolerance=RELATIVE):
    assert largest(value - reference) <= tolerance * largest(reference)


def check_energies(solution, columns):
    scale = largest(columns["T"])
    assert largest(solution.energy.kinetic - columns["T"]) <= RELATIVE * scale
    assert largest(solution.energy.potential - columns["U"]) <= RELATIVE * scale
    assert largest(solution.energy.external_work - columns.get("W_ext", 0.0)) <= RELATIVE * scale


def check_drift(solution):
    """The projection's tolerance, 1e-11, with a factor for rounding in evaluating it again."""
    assert solution.drift.position.max() <= 1.1e-11
    assert solution.drift.velocity.max() <= 1.1e-11


@every_integrator
@both_kinds
def test_pendulum(integrator, coordinates):
    reference = load("jet_pendulum")
    columns = reference["columns"]
    solution = run(gallery.pendulum_3d(), reference["t"], integrator, coordinates=coordinates)
    np.testing.assert_array_equal(solution.t, reference["t"])
    assert largest(solution.position("pendulum") - columns["r"]) <= POSITION
    check_relative(solution.velocity("pendulum"), columns["v"])
    check_relative(solution.quaternion("pendulum"), columns["q"])
    check_relative(solution.angular_velocity("pendulum", "body")[:, 2], columns["omega"])
    check_relative(solution.reaction("pivot").force, columns["F_joint"])
    assert largest(solution.reaction("pivot").torque) == 0.0  # a ball joint carries none
    check_energies(solution, columns)
    check_drift(solution)


@every_integrator
@both_kinds
def test_quadrangle(integrator, coordinates):
    reference = load("jet_quadrangle")
    columns = reference["columns"]
    solution = run(gallery.planar_quadrangle(), reference["t"], integrator, coordinates=coordinates)
    r = columns["r"].reshape(-1, 3, 2)
    for k, body in enumerate(("crank", "coupler", "rocker")):
        assert largest(solution.position(body)[:, :2] - r[:, k]) <= POSITION
        assert largest(solution.position(body)[:, 2]) <= 1e-10  # it is plane; within the projection's tolerance
        R = solution.rotation(body)
        beta = columns["beta"][:, k]
        assert largest(R[:, 0, 0] - np.cos(beta)) <= POSITION
        assert largest(R[:, 1, 0] - np.sin(beta)) <= POSITION
    turned = solution.coordinate("A") - solution.coordinate("A")[0]
    sign = np.sign(turned[-1]) * np.sign(columns["beta"][-1, 0])
    check_relative(sign * turned, columns["beta"][:, 0] - columns["beta"][0, 0])
    # the crank is 1 m to its centre: 1e-8 m are 1e-8 rad, or 1e-8 / omega s, in which omega changes by alpha times that
    omega, alpha = columns["omega1"][1:], columns["alpha1"][1:]
    error = np.abs(solution.angular_velocity("crank")[1:, 2] - omega)
    assert np.all(error <= POSITION * (np.abs(alpha / omega) + 1.0))
    check_energies(solution, columns)
    check_drift(solution)


@every_integrator
def test_crank(integrator):
    reference = load("jet_crank")
    columns = reference["columns"]
    solution = run(gallery.crank_mechanism(), reference["t"], integrator)
    r = columns["r"].reshape(-1, 3, 3)
    for k, body in enumerate(("crank", "rod", "slider")):
        assert largest(solution.position(body) - r[:, k]) <= POSITION
    for body, key in (("crank", "q1"), ("rod", "q2")):
        q = solution.quaternion(body)
        q *= np.sign(np.sum(q * columns[key], axis=1))[:, None]  # q and -q are the same rotation
        assert largest(q - columns[key]) <= POSITION
    turned = np.abs(solution.coordinate("revolute") - solution.coordinate("revolute")[0])
    check_relative(turned, columns["psi"])
    check_relative(solution.velocity("slider")[:, 0], columns["v_slider"])
    check_energies(solution, columns)
    check_drift(solution)


@pytest.mark.parametrize(
    ("name", "element"),
    [("crank_mechanism", "joint 'translational'"), ("pendulum_3d_torque", "torque 'torque'"), ("slider_crank", "body")],
)
def test_planar_coordinates_refuse_spatial_motion(name, element):
    """What leaves the plane is named; it is never left out in silence."""
    with pytest.raises(ModelError, match=f"{element}.* leaves the plane"):
        run(gallery.build(name), [0.1], coordinates="planar")
