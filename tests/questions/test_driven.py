"""Motions of drivers as inputs of linear models: a pendulum under a cart that is moved, a wheel over a road."""

import numpy as np
import pytest

import dalembert as da

G, M, L, J = 9.81, 1.3, 0.4, 0.05
FREQUENCIES = np.array([0.3, 2.0, 5.0])


def cart():
    model = da.Model(gravity=(0, 0, -G))
    model.add_body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.add_prismatic("rail", model.ground, "cart", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_body("bob", mass=M, inertia=(J, J, J), position=(0, 0, -L))
    model.add_revolute("pin", "cart", "bob", point=(0, 0, 0), axis=(0, -1, 0))
    model.add_joint_spring_damper("oil", "pin", damping=0.3)
    model.add_driver("move", "rail", 0.0)
    return model


@pytest.mark.nojit
@pytest.mark.parametrize("t", [0.0, 2.5])
def test_a_pendulum_under_a_cart_that_is_moved(t):
    """(J + m l^2) th'' + c th' + m g l th = -m l w''; the bob at w + l th, the rail pulls with (m_c + m) w'' + m l th''."""
    model = cart()
    start = da.compile(model)
    at = start.trajectory(np.array([t]), start.x_0[None])
    outputs = ["pin", ("position", "bob"), ("velocity", "bob"), ("multiplier", "move")]
    linear = da.linearise(model, at, inputs=["move"], outputs=outputs)
    s = 2j * np.pi * FREQUENCIES
    theta = -M * L * s**2 / ((J + M * L**2) * s**2 + 0.3 * s + M * G * L)
    found = linear.frequency_response(FREQUENCIES)[..., 0]
    named = dict(zip(linear.output_names, found.T, strict=True))
    np.testing.assert_allclose(named["pin"], theta, rtol=1e-9)
    np.testing.assert_allclose(named["position(bob).x"], 1.0 + L * theta, rtol=1e-9)
    np.testing.assert_allclose(named["velocity(bob).x"], s * (1.0 + L * theta), rtol=1e-9)
    np.testing.assert_allclose(named["multiplier(move)"], (2.0 + M) * s**2 + M * L * s**2 * theta, rtol=1e-9)
    with pytest.raises(da.ModelError, match=r"velocity\(bob\).x' follows the rate or the acceleration of driver 'move'"):
        linear.to_scipy()
    position = da.linearise(model, at, inputs=["move"], outputs=["pin"])
    np.testing.assert_allclose(position.D_rate, 0.0, atol=0)
    _, shaken = position.to_scipy().freqresp(2 * np.pi * FREQUENCIES)
    np.testing.assert_allclose(shaken, theta, rtol=1e-9)


@pytest.mark.nojit
def test_a_quarter_of_a_car_over_a_road():
    """m x'' = -k (x - w) - c (x' - w'): the road under a spring and a damper, moved by a driver along a line."""
    m, k, c = 250.0, 2e4, 1e3
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("road", mass=1.0, inertia=(1, 1, 1))
    model.add_body("body", mass=m, inertia=(1, 1, 1), position=(0, 0, 1))
    model.add_prismatic("ground line", model.ground, "road", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_prismatic("body line", model.ground, "body", point=(0, 0, 1), axis=(0, 0, 1))
    model.add_spring_damper("strut", "road", "body", points=((0, 0, 0), (0, 0, 0)), stiffness=k, damping=c, length=1.0)
    model.add_driver("profile", "ground line", da.Constant(0.0))
    linear = da.linearise(model, inputs=["profile"], outputs=["body line"])
    s = 2j * np.pi * FREQUENCIES
    np.testing.assert_allclose(linear.frequency_response(FREQUENCIES)[:, 0, 0], (c * s + k) / (m * s**2 + c * s + k), rtol=1e-9)


def test_a_state_that_is_not_steady_has_no_driver_as_input():
    model = cart()
    model.replace("bob", position=(L, 0, 0))
    with (
        pytest.warns(RuntimeWarning, match="not steady"),
        pytest.raises(da.ModelError, match="'move' as an input needs"),
    ):
        da.linearise(model, inputs=["move"])
