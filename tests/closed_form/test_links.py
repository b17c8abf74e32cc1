"""Bars whose centre of mass is not in their middle: physical pendulums, files, doubts, refusals."""

import numpy as np
import pytest
from scipy.special import ellipk

import dalembert as da

MASS, START, END, CENTRE, INERTIA = 0.8, (0.1, 0.2), (0.1, -0.4), (0.1, 0.0), 0.02


def arm(plane="xz", **changes):
    model = da.Model(plane=plane)
    model.add_link("arm", START, END, **({"mass": MASS, "centre": CENTRE, "inertia": INERTIA} | changes))
    model.add_revolute("A", "ground", "arm", point=START)
    return model


@pytest.mark.parametrize("plane", ["xz", "xy", "yz"])
@pytest.mark.parametrize("centre", [CENTRE, (0.13, -0.05)])
def test_a_physical_pendulum_swings_with_its_period(plane, centre):
    """T = 4 K(sin(a / 2)) sqrt(J / (m g s)), J about the pin, s from the pin to the centre of mass, a the amplitude."""
    s = np.hypot(centre[0] - START[0], centre[1] - START[1])
    amplitude, pin = 1.0, INERTIA + MASS * s**2
    period = 4.0 * ellipk(np.sin(0.5 * amplitude) ** 2) * np.sqrt(pin / (MASS * 9.81 * s))
    turn = amplitude - np.arctan2(centre[0] - START[0], START[1] - centre[1])
    model = arm(plane, centre=centre)
    model.replace("A", coordinate=turn)
    run = da.simulate(model, period, integrator=da.DOP853(rtol=1e-11, atol=1e-13))
    assert run.coordinate("A")[-1] == pytest.approx(turn, abs=1e-8)
    assert run(0.5 * period).coordinate("A") == pytest.approx(turn - 2.0 * amplitude, abs=1e-8)


def test_the_bar_is_where_it_was_drawn():
    model = arm(centre=(0.12, 0.0))
    body = model.body("arm")
    np.testing.assert_allclose(body.position, (0.12, 0, 0), rtol=0, atol=1e-15)
    half = 0.3 * np.array([[-1.0, 0, 0], [1.0, 0, 0]])
    ends = body.position + (np.array(body.shape["position"]) + half) @ body.matrix.T
    np.testing.assert_allclose(ends, [(0.1, 0, 0.2), (0.1, 0, -0.4)], rtol=0, atol=1e-15)
    np.testing.assert_allclose(np.diag(body.inertia), (1e-4 * INERTIA, INERTIA, INERTIA))
    thick = arm(radius=0.01).body("arm")
    np.testing.assert_allclose(np.diag(thick.inertia), (0.5 * MASS * 0.01**2, INERTIA, INERTIA))
    assert arm(centre=(0.1, -0.1), inertia=None).hash == arm(centre=None, inertia=None).hash
    assert arm(mass=None, inertia=None).body("arm").mass == 0.0


@pytest.mark.parametrize(
    "changes", [{}, {"centre": (0.13, -0.05)}, {"radius": 0.01}, {"centre": None}, {"mass": None, "inertia": None}]
)
def test_files_hold_it_as_a_link(tmp_path, changes):
    model = arm(**changes)
    model.to_yaml(tmp_path / "arm.yaml")
    text = (tmp_path / "arm.yaml").read_text()
    assert "type: link" in text and ("centre: [0.1" in text) is ("centre" not in changes or changes["centre"] is not None)
    assert da.Model.from_yaml(tmp_path / "arm.yaml").hash == model.hash


def test_pins_are_doubted_where_the_bar_is_not():
    good, bad = arm(), arm()
    bad.remove("A")
    bad.add_revolute("A", "ground", "arm", point=(0.1, 0.5))
    assert "beyond its end" in str(da.simulate(bad, 0.1).report())
    assert "beyond its end" not in str(da.simulate(good, 0.1).report())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inertia": None}, r"body 'arm': centre is not the middle of the bar, so no inertia follows; give inertia=, about"),
        (
            {"centre": (0.1, 300.0)},
            r"body 'arm': centre is \[0.1, 0.0, 300.0\], farther from the bar than it is long, 0.6 m; give",
        ),
        ({"mass": None}, "body 'arm': inertia is 0.02 without a mass; give both, or neither"),
        ({"inertia": -1.0}, "body 'arm': inertia is -1"),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(da.ModelError, match=message):
        arm(**changes)


@pytest.mark.parametrize("plane", ["xz", "xy", "yz"])
@pytest.mark.parametrize("angle", [0.0, 0.6, 0.5 * np.pi, np.pi, -np.pi, np.pi - 1e-9, -2.5, -0.5 * np.pi])
def test_two_numbers_in_body_axes_are_along_and_across_the_bar(plane, angle, tmp_path):
    """In yz the first was across the plane; of a bar to the left in xz the second was on its other side."""
    model, end = da.Model(plane=plane, gravity=(0, 0)), 0.6 * np.array([np.cos(angle), np.sin(angle)])
    model.add_link("arm", (0, 0), end, mass=1.0, centre=0.4 * end, inertia=0.02)
    model.add_revolute("A", "ground", "arm", points=((0, 0), (-0.24, 0)))
    model.add_marker("tip", "arm", point=(0.36, 0.1))
    model.add_force("push", "arm", (0, 2.0), point=(0.36, 0.1), frame="body")
    run = da.simulate(model, 0.1)
    e_1, e_2 = np.eye(3)[["xyz".index(letter) for letter in plane]]
    along = np.cos(angle) * e_1 + np.sin(angle) * e_2
    across = np.cos(angle) * e_2 - np.sin(angle) * e_1
    np.testing.assert_allclose(run.position("tip")[0], 0.6 * along + 0.1 * across, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.effort("push").force[0], 2.0 * across, rtol=0, atol=1e-8)
    turned = 0.5 * (2.0 * 0.6) / (0.02 + 0.24**2) * 0.1**2  # by a constant moment about the pin
    assert run.signal("arm.angle")[-1] - run.signal("arm.angle")[0] == pytest.approx(turned, rel=1e-6)
    model.to_yaml(tmp_path / "arm.yaml")
    assert da.Model.from_yaml(tmp_path / "arm.yaml").hash == model.hash
    rod = f"solid: {{type: rod, mass: 1, between: [[0, 0], {end.tolist()}]}}"
    (tmp_path / "rod.yaml").write_text(f"plane: {plane}\nbodies:\n  arm:\n    {rod}\n")
    bar = da.Model(plane=plane).add_link("arm", (0, 0), end, mass=1.0)
    np.testing.assert_array_equal(da.Model.from_yaml(tmp_path / "rod.yaml").body("arm").matrix, bar.matrix)
