"""The matrices of a mechanism against the motion that kernels compute, and against closed forms."""

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import build

NAMES = ("slider_crank", "four_bar", "rolling_disc", "flyball_governor", "andrews")


@pytest.mark.parametrize("name", NAMES)
def test_accelerations_follow_from_the_matrices(name):
    model = build(name)
    solution = da.simulate(model, 0.001)
    found = da.equations(model, solution(0.0))
    u_dot, _ = found.accelerations()
    expected = np.concatenate([solution.evaluated.acceleration[0]])
    np.testing.assert_allclose(u_dot, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", NAMES)
def test_the_same_motion_in_joint_and_minimal_coordinates(name):
    """Kinetic energy, and accelerations of the free velocities."""
    model = build(name)
    absolute, tree, minimal = (da.equations(model, coordinates=kind) for kind in ("absolute", "tree", "minimal"))
    energies = [e.u @ e.M @ e.u for e in (absolute, tree, minimal)]
    np.testing.assert_allclose(energies, energies[0], rtol=1e-10, atol=1e-14)
    u_dot, _ = absolute.accelerations()
    np.testing.assert_allclose(np.linalg.solve(minimal.M, minimal.h), absolute.tangent.T @ u_dot, rtol=1e-8, atol=1e-9)
    t_dot, _ = tree.accelerations()
    h = 1e-6  # differences leave (h w)^2 / 6, w the fastest rate: 1e4 1/s of the damper of the governor
    run = da.simulate(model, 2 * h, save_at=[0.0, h, 2 * h], integrator=da.RungeKutta4(step=h))
    before, at, after = (da.equations(model, run(t), coordinates="tree") for t in run.t)
    found, expected = at.accelerations()[0], (after.u - before.u) / (2 * h)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())
    assert tree.tangent.shape[1] == minimal.M.shape[0] == da.compile(model).degrees_of_freedom
    np.testing.assert_allclose(tree.G @ t_dot + tree.zeta, 0.0, rtol=0, atol=1e-9 * (1 + np.abs(tree.zeta).max(initial=0.0)))


@pytest.mark.nojit
def test_a_pendulum_in_the_plane_by_hand():
    model = da.Model(gravity=(0, -9.81, 0))
    rod = model.add_body("rod", mass=2.0, inertia=(0.1, 0.5, 0.5), position=(0.7, 0, 0), angular_velocity=(0, 0, 2.0))
    model.add_revolute("A", model.ground, rod, point=(0, 0, 0), axis=(0, 0, 1))
    tree = da.equations(model, coordinates="tree")
    assert tree.coordinate_names == ("A.angle",) and tree.velocity_names == ("A.angle'",)
    assert tree.M[0, 0] == pytest.approx(0.5 + 2 * 0.7**2, rel=1e-14)
    assert tree.h[0] == pytest.approx(-2 * 9.81 * 0.7, rel=1e-12)
    planar = da.equations(model, coordinates="planar")
    assert planar.M.shape == (3, 3) and planar.G.shape == (2, 3)
    np.testing.assert_allclose(np.diag(planar.M), [2.0, 2.0, 0.5], rtol=1e-14)


def test_rates_of_coordinates():
    model = build("slider_crank")
    solution = da.simulate(model, 0.01, save_at=[0.0, 1e-5])
    found = da.equations(model, solution(0.0))
    moved = (solution.q[1] - solution.q[0]) / 1e-5
    np.testing.assert_allclose(found.N @ found.u, moved, rtol=0, atol=1e-3)
    assert set(found.sparse()) == {"M", "G", "N", "tangent"}


def test_bad_input():
    model, other = build("slider_crank"), build("four_bar")
    solution = da.simulate(model, 0.001)
    with pytest.raises(da.ModelError, match="coordinates is 'joint'"):
        da.equations(model, coordinates="joint")
    with pytest.raises(da.ModelError, match="another model"):
        da.equations(other, solution(0.0))
    with pytest.raises(da.ModelError, match=r"give one of a solution, solution\(t\)"):
        da.equations(model, 3.0)
    with pytest.raises(da.ModelError, match="body 'rod': velocity leaves the plane"):
        da.equations(model, solution(0.0), coordinates="planar")
