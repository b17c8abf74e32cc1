"""The robot on three ball wheels: its motion in closed form."""

import numpy as np
import pytest
from reference_data import largest

import dalembert as da
from dalembert import gallery
from dalembert.gallery.ball_robot import ARM, BALL_RADIUS, ROLLER_RADIUS


@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame()], ids=["Jet", "MovingFrame"])
def test_motion_of_the_ball_robot(formulation):
    """A roller with the moment J turns at v . e / rho, e its ball's direction of drive, v the ball's velocity. With
    sum e e^T = 3/2 1 and the balls as masses of 7/5 m:

        (M + mu) V' = mu W z x V,   mu = 3/2 J / rho^2,   M = all masses with 7/5 of the balls'
        I W' = 3 ARM torque / rho

    so the velocity turns, by mu / (M + mu) of the angle that the platform turns by.
    """
    torque, spin, V = 0.02, 1.0, np.array([0.5, -0.2, 0.0])
    model = gallery.ball_robot(V, spin, torque)
    mass = {name: model.body(name).mass for name in ("platform", "ball 1", "roller 1")}
    J = model.body("roller 1").inertia
    ball = 7 / 5 * mass["ball 1"]
    mu = 1.5 * J[0, 0] / ROLLER_RADIUS**2
    share = mu / (mass["platform"] + 3 * mass["roller 1"] + 3 * ball + mu)
    axle_2 = ARM**2 + (BALL_RADIUS + ROLLER_RADIUS) ** 2
    at_arm = ball * ARM**2 + mass["roller 1"] * axle_2 + J[2, 2] + J[0, 0] * (ARM / ROLLER_RADIUS) ** 2
    growth = 3 * ARM * torque / ROLLER_RADIUS / (model.body("platform").inertia[2, 2] + 3 * at_arm)

    options = {"integrator": da.DOP853(rtol=1e-11, atol=1e-11), "save_at": np.linspace(0, 3, 13)}
    solution = da.simulate(model, 3.0, formulation=formulation, **options)
    t = solution.t
    assert largest(solution.angular_velocity("platform") - np.outer(spin + growth * t, (0, 0, 1))) <= 1e-9
    turned = share * (spin * t + growth * t**2 / 2)
    expected = np.column_stack([np.cos(turned) * V[0] - np.sin(turned) * V[1], np.sin(turned) * V[0] + np.cos(turned) * V[1]])
    assert largest(solution.velocity("platform")[:, :2] - expected) <= 1e-9
    assert turned[-1] > 0.3  # the turn is no rounding
    assert largest(solution.position("platform")[:, 2] - 2 * BALL_RADIUS) <= 1e-10
    energy = solution.energy
    assert largest(energy.total - energy.total[0]) <= 1e-9 * energy.scale
    for k in "123":  # 80 steps, each with rtol of 13 rad/s
        assert largest(solution.angular_velocity(f"ball {k}")[:, 2] - spin) <= 1e-8


def test_without_spin_and_torque_it_runs_straight():
    solution = da.simulate(gallery.ball_robot((0.3, 0.4, 0), 0.0, 0.0), 2.0)
    np.testing.assert_allclose(solution.position("platform")[-1], (0.6, 0.8, 0.2), rtol=0, atol=1e-10)
    assert largest(solution.angular_velocity("platform")) <= 1e-10
