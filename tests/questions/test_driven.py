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
    np.testing.assert_allclose(position.D_rate, 0.0, rtol=0, atol=0)
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


@pytest.mark.nojit
def test_functions_of_the_user_as_inputs():
    """(J + m l^2) th'' = l (3 (1 + w) - 2 l th' + w_x) + (-3.5 l - 5 th + w_m) - m g l th + l (0.5 + w_s), w_s in body axes."""
    model = da.Model(gravity=(0, 0, -G))
    turned = da.Rotation.from_axis_angle((0, 1, 0), 0.5 * np.pi)  # its z is x of the world
    model.add_body("bob", mass=M, inertia=(J, J, J), position=(0, 0, -L), rotation=turned)
    model.add_revolute("pin", model.ground, "bob", point=(0, 0, 0), axis=(0, -1, 0))
    model.add_force("wind", "bob", lambda t, r, v, R, w: (3.0 - 2.0 * v[0], 0.0, 0.0))
    model.add_motor("hold", "pin", lambda t, s, rate: -3.5 * L - 5.0 * s)
    model.add_force("side", "bob", (0, 0, 0.5), frame="body")
    model.add_torque("twist", "bob", lambda t, r, v, R, w: (0.0, 2.0 * v[0], 0.0))
    model.add_force("none", "bob", (0, 0, 0))
    names = ["wind", "wind.x", "hold", "side.z", "side.x", "twist.y", "side"]
    linear = da.linearise(model, inputs=names, outputs=[("effort", "wind"), ("effort", "hold")])
    assert linear.steady
    inertia = J + M * L**2
    by_hand = [[0.0, 1.0], [-(M * G * L + 5.0) / inertia, (-2.0 * L**2 - 2.0 * L) / inertia]]
    np.testing.assert_allclose(linear.A, by_hand, rtol=0, atol=1e-9)
    np.testing.assert_allclose(linear.B, np.outer((0, 1), (3 * L, L, 1.0, L, 0.0, -1.0, 0.5 * L)) / inertia, rtol=0, atol=1e-10)
    np.testing.assert_allclose(linear.D[0], (3.0, 1.0, 0, 0, 0, 0, 0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(linear.D[-1], (0, 0, 1.0, 0, 0, 0, 0), rtol=0, atol=1e-12)
    for name, words in (("none", "'none' is zero at this state.*'none.x'"), ("twist", "is zero"), ("wind.n", "no motor")):
        with pytest.raises(da.ModelError, match=words):
            da.linearise(model, inputs=[name])
    model.add_joint_spring_damper("spring", "pin", stiffness=1.0)
    with pytest.raises(da.ModelError, match="cannot be the input 'spring'; put a motor of effort 0 beside it"):
        da.linearise(model, inputs=["spring"])


def test_a_model_for_python_control():
    """Names, poles and frequency response; a dot in a name is a blank there."""
    control = pytest.importorskip("control", reason="python-control is not installed")
    model = cart()
    model.add_motor("motor", "pin", 0.0)
    linear = da.linearise(model, inputs=["move", "motor"], outputs=["pin", ("position", "bob")])
    system = linear.to_control()
    assert system.input_labels == ["move", "motor"] and system.state_labels == list(linear.state_names)
    assert system.output_labels == ["pin", "position(bob) x", "position(bob) y", "position(bob) z"]
    np.testing.assert_allclose(np.sort_complex(system.poles()), np.sort_complex(linear.eigenvalues), rtol=1e-10)
    response = control.frequency_response(system, 2 * np.pi * FREQUENCIES).frdata
    np.testing.assert_allclose(np.moveaxis(response, -1, 0), linear.frequency_response(FREQUENCIES), rtol=1e-9, atol=1e-12)
    for other in (da.linearise(model, outputs=["pin"]), da.linearise(model)):
        with pytest.raises(da.ModelError, match="to_control: the linear model has no inputs or no outputs"):
            other.to_control()
