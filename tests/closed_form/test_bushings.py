"""Bushings between tumbling bodies: energy, order of the bodies, small oscillations."""

import numpy as np
import pytest
from scipy.linalg import eigh

import dalembert as da

TIGHT = da.DOP853(rtol=1e-11, atol=1e-11)
TIMES = np.linspace(0, 2, 21)


def tumbling(order: str, damping: float = 0.0) -> da.Model:
    rng = np.random.default_rng(5)
    model = da.Model(gravity=(0, 0, 0))
    for name, place in (("a", (0, 0, 0)), ("b", (0.6, 0.1, 0))):
        turned = da.Rotation.from_axis_angle(rng.standard_normal(3), rng.uniform(0, 3))
        spin = rng.uniform(-2, 2, 3)
        model.add_body(name, mass=1.5, inertia=(0.1, 0.2, 0.25), position=place, rotation=turned, angular_velocity=spin)
    factor = rng.standard_normal((6, 6))
    stiffness = 0.02 * factor @ factor.T + np.diag([40.0, 50.0, 60.0, 0.3, 0.4, 0.5])
    axes = da.Rotation.from_axis_angle((1, 1, 0), 0.5)
    model.add_bushing("mount", *order, point=(0.3, 0, 0), axes=axes, stiffness=stiffness, damping=damping * np.ones(6))
    return model


@pytest.mark.parametrize("formulation", [da.Jet, da.MovingFrame, da.Minimal])
def test_a_bushing_between_tumbling_bodies_keeps_energy_and_momentum(formulation):
    solution = da.simulate(tumbling("ab"), 2.0, formulation=formulation(), integrator=TIGHT, save_at=TIMES)
    assert np.ptp(solution.energy.kinetic) > 0.05  # there is something to keep
    turn = np.linalg.norm(solution.effort("mount").coordinate[:, 3:], axis=1)
    assert turn.max() > 0.5
    assert solution.invariant("energy").deviation.max() < 1e-10
    assert solution.invariant("angular momentum").deviation.max() < 1e-10
    assert np.abs(solution.effort("mount").energy - solution.energy.potential).max() < 1e-14
    assert not solution.energy.external_work.any()
    assert solution.report().passed


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_swapping_the_bodies_changes_nothing(damping):
    one, two = (da.simulate(tumbling(order, damping), 1.0, integrator=TIGHT, save_at=[0.5, 1.0]) for order in ("ab", "ba"))
    for body in "ab":
        assert np.abs(one.position(body) - two.position(body)).max() < 1e-13
        assert np.abs(one.rotation(body) - two.rotation(body)).max() < 1e-13
    assert np.abs(one.effort("mount").value + two.effort("mount").value).max() < 1e-11
    assert np.abs(one.effort("mount").on["a"].torque - two.effort("mount").on["a"].torque).max() < 1e-11
    assert one.report().passed


def test_small_oscillations_of_a_body_on_a_bushing():
    """M z'' = -K z about the unloaded pose, through the normal modes."""
    rng = np.random.default_rng(3)
    factor = rng.standard_normal((6, 6))
    K = factor @ factor.T * 10.0 + 50.0 * np.eye(6)
    mass, J = 2.0, np.diag([0.3, 0.4, 0.5])
    size = 1e-6
    z_dot = size * rng.standard_normal(6)
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("a", mass=mass, inertia=J, velocity=z_dot[:3], angular_velocity=z_dot[3:])
    model.add_bushing("mount", model.ground, "a", point=(0, 0, 0), stiffness=K)
    solution = da.simulate(model, 1.0, integrator=da.DOP853(rtol=1e-12, atol=1e-16), save_at=np.linspace(0, 1, 11))
    M = np.diag([mass] * 3 + [0.3, 0.4, 0.5])
    squares, modes = eigh(K, M)
    w = np.sqrt(squares)
    expected = np.array([modes @ (np.sin(w * t) / w * (modes.T @ M @ z_dot)) for t in solution.t])
    assert np.abs(solution.effort("mount").coordinate - expected).max() < 1e-4 * size  # of terms of second order


def test_planar_coordinates_take_a_bushing_in_their_plane_and_refuse_others():
    def sheet(stiffness):
        model = da.Model(gravity=(0, -9.81, 0))
        model.add_body("a", mass=1.0, inertia=(1, 1, 1), velocity=(0.3, 0, 0), angular_velocity=(0, 0, 0.4))
        model.add_bushing("mount", model.ground, "a", point=(0.2, 0, 0), stiffness=stiffness, damping=[0.1] * 6)
        return model

    free = [da.simulate(sheet([90, 80, 70, 5, 6, 7]), 0.5, coordinates=kind, save_at=[0.5]) for kind in ("absolute", "planar")]
    assert np.abs(free[0].position("a") - free[1].position("a")).max() < 1e-7
    coupled = np.diag([90.0, 80, 70, 5, 6, 7])
    coupled[0, 2] = coupled[2, 0] = 10.0
    with pytest.raises(da.ModelError, match="bushing 'mount' leaves the plane"):
        da.simulate(sheet(coupled), 0.5, coordinates="planar")
