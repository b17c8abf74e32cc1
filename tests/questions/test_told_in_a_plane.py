"""Planar coordinates count from the pose that a mechanism was assembled in, and states go from one to another all the same."""

import re

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError


def wheel(held=False):
    """About its centre, on a spring of 30 1/s^2."""
    model = da.Model(plane="xz")
    model.add_body("wheel", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    model.add_revolute("A", model.ground, "wheel", point=(1, 0, 0))
    model.add_joint_spring_damper("spring", "A", stiffness=3.0)
    if held:
        model.add_driver("hold", "A", 0.7)
    return model


def arm():
    model = da.Model(plane="xz")
    model.add_link("upper", (0, 0, 0), (0.5, 0, 0), mass=2.0)
    model.add_link("lower", (0.5, 0, 0), (0.5, 0, -0.4), mass=1.0)
    model.add_revolute("A", model.ground, "upper", point=(0, 0, 0))
    model.add_revolute("B", "upper", "lower", point=(0.5, 0, 0), coordinate=0.4)
    model.add_joint_spring_damper("spring", "B", stiffness=3.0, damping=0.1, reference=0.5)
    model.add_motor("wrist", "B", 0.3)
    model.add_driver("drive", "A", da.Polynomial((0.2, 0.3, -0.4)))
    return model


@pytest.mark.parametrize("coordinates", ["absolute", "planar", "tree"])
def test_a_wheel_that_was_held_is_released(coordinates):
    """It started at 0 rad in planar coordinates."""
    held = da.simulate(wheel(held=True), 1.0, coordinates=coordinates)
    run = da.simulate(wheel(), 2.0, initial=held(1.0), coordinates=coordinates, save_at=[1.0, 1.3, 2.0])
    expected = 0.7 * np.cos(np.sqrt(30.0) * (run.t - 1.0))
    np.testing.assert_allclose(run.coordinate("A"), expected, atol=1e-7)
    np.testing.assert_allclose(run.rotation("wheel")[:, 0, 0], np.cos(expected), atol=1e-7)


@pytest.mark.parametrize("coordinates", ["absolute", "planar", "tree"])
def test_inverse_dynamics_of_a_run(coordinates):
    """One in a plane was refused, as was one in space of a model that has a plane."""
    run = da.simulate(arm(), 1.0, coordinates=coordinates, save_at=np.linspace(0, 1, 5))
    needed = da.inverse_dynamics(arm(), run, ["drive", "wrist"])
    np.testing.assert_allclose(needed.effort("wrist"), 0.3, atol=1e-9)
    np.testing.assert_allclose(needed.effort("drive"), run.multiplier("drive")[:, 0], atol=1e-9)


def test_inverse_dynamics_of_a_motion_that_begins_elsewhere():
    """Said to violate a joint."""
    model, t = arm(), np.linspace(0, 1, 5)
    needed = da.inverse_dynamics(model, {"A": 0.7, "B": da.Polynomial((0.9, 1.0))}, ["drive", "wrist"], t=t)
    B = 0.9 + t
    weight = 9.81 * 0.2 * np.sin(0.7 + B)  # of the lower link, which hangs where both angles are 0
    np.testing.assert_allclose(needed.effort("wrist"), 3.0 * (B - 0.5) + 0.1 + weight, atol=1e-9)


def test_drivers_as_inputs():
    """Responses in planar coordinates were off by up to 40 %."""
    found = []
    for coordinates in ("absolute", "planar"):
        model = arm()
        model.remove("drive")
        model.add_driver("drive", "A", 0.2)
        mechanism = da.compile(model, coordinates)
        at = da.equilibrium(mechanism)
        linear = da.linearise(mechanism, at, inputs=["drive", "wrist"], outputs=["B", ("position", "lower")])
        found.append(linear.frequency_response([0.2, 1.0, 3.0]))
    np.testing.assert_allclose(found[1], found[0], atol=1e-10)


def test_starts_of_an_equilibrium():
    """All of them were the pose of the model."""
    model = da.Model(plane="xz")
    model.add_body("wheel", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    model.add_revolute("A", model.ground, "wheel", point=(1, 0, 0))
    model.add_force("pull", "wheel", (1.0, 0, 0), point=(0, 0, -0.3))
    for coordinates in ("absolute", "planar"):
        found = da.equilibrium(da.compile(model, coordinates), starts=[{"A": 0.4}, {"A": -2.5}])
        np.testing.assert_allclose([one.coordinate("A") for one in found], [np.pi / 2, -np.pi / 2], atol=1e-9)


def test_a_steady_motion():
    """A mass on a turntable, r = r_0 k / (k - m w^2): the message was about relative coordinates."""
    model = da.Model(plane="xy", gravity=(0, 0, 0))
    model.add_body("table", mass=1.0, inertia=(1, 1, 1))
    model.add_revolute("T", model.ground, "table", point=(0, 0, 0))
    model.add_driver("drive", "T", da.Polynomial((0.3, 5.0)))
    model.add_body("slider", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.4, 0, 0))
    model.add_prismatic("R", "table", "slider", point=(0.4, 0, 0), axis=(1, 0, 0))
    model.add_joint_spring_damper("spring", "R", stiffness=300.0)
    steady = da.equilibrium(da.compile(model, "planar"))
    assert np.isclose(steady.coordinate("R"), 0.4 * 300 / 250 - 0.4, rtol=1e-9)
    np.testing.assert_allclose(np.abs(steady.linear.reduced_eigenvalues), np.sqrt(125.0), rtol=1e-9)


@pytest.mark.parametrize("t", [None, 1.0])
def test_a_sweep_has_no_time(t):
    """The driver moved as if the swept angle were seconds, then was refused: it stands as at t, and the report says so."""
    model = arm()
    model.add_force("push", "lower", (1.0, 0, 0), factor=da.Polynomial((2.0, 3.0)))
    found = da.kinematics(model, t, sweep={"B": [0.0, 1.0]})
    at = t or 0.0
    np.testing.assert_allclose(found.coordinate("A"), 0.2 + 0.3 * at - 0.4 * at**2, atol=1e-12)
    np.testing.assert_allclose(found.effort("push").force[:, 0], 2.0 + 3.0 * at, rtol=1e-12)
    report = found.report()
    assert report["held"].value == f"drive, push: what moves in time stands still in a sweep, as at t = {at:g} s"
    assert report.verdict == "pass", report


def test_joints_that_a_sweep_holds():
    model = arm()
    model.remove("drive")
    found = da.kinematics(model, sweep={"B": [0.0, 0.5, 1.0], "A": -0.3})
    np.testing.assert_allclose(found.coordinate("A"), -0.3, atol=1e-12)
    np.testing.assert_allclose(found.coordinate("B"), [0.0, 0.5, 1.0], atol=1e-12)
    assert found.report().verdict == "pass", found.report()
    for sweep, message in (
        ({"B": [0.0, 1.0]}, r"hold them in the sweep, {joint: values, other: number}"),
        ({"B": [0.0, 1.0], "A": [0.0, 1.0]}, r"sweep has values for 'B', 'A'; give values for one joint, and for each further"),
        ({"B": 0.0, "A": 1.0}, r"sweep has one number for each joint; give values for one"),
        ({"B": [0.0, 1.0], "C": 1.0}, r"there is no joint 'C'"),
        ({"B": [0.0, 1.0], "A": np.nan}, r"sweep\['A'\] is nan; give a finite number"),
    ):
        with pytest.raises(ModelError, match=message):
            da.kinematics(model, sweep=sweep)
    with pytest.raises(ModelError, match=r"t is \[0, 1\]; with a sweep give one time"):
        da.kinematics(arm(), [0, 1], sweep={"B": [0.0, 1.0]})


def test_a_sweep_is_in_the_place_of_drivers():
    """Driven mechanisms were refused: swept was to be what a motor turns already."""
    found = da.kinematics(arm(), sweep={"B": [0.0, 0.5, 1.0], "A": 0.0})
    np.testing.assert_allclose(found.coordinate("A"), 0.0, atol=1e-12)
    report = found.report()
    assert report["replaced"].value == "drive: a driver in whose place the sweep is"
    assert report.verdict == "pass" and "warning" not in {line.name for line in report.lines}, report
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0, 0.1), mass=0.2)
    model.add_link("rod", (0, 0.1), (0.3, 0.1), mass=0.5)
    model.add_body("slider", mass=1.0, inertia=1e-3, position=(0.3, 0.1))
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_revolute("B", "crank", "rod", point=(0, 0.1))
    model.add_revolute("C", "rod", "slider", point=(0.3, 0.1))
    model.add_prismatic("D", "ground", "slider", point=(0.3, 0.1), axis=(1, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    angles = np.linspace(0.0, 6.0, 25)
    poses = da.kinematics(model, sweep={"A": angles})
    expected = -0.1 * np.sin(angles) + np.sqrt(0.3**2 - (0.1 - 0.1 * np.cos(angles)) ** 2) - 0.3
    np.testing.assert_allclose(poses.coordinate("D"), expected, atol=1e-12)
    back = da.kinematics(model, sweep={"D": expected[:4]})  # by the slider, whose motion is the motor's no more
    np.testing.assert_allclose(np.sort(back.coordinate("A")), angles[:4], atol=1e-10)
    assert back.report()["replaced"].value.startswith("motor: ")
    assert [driver.name for driver in model.drivers] == ["motor"]


def test_coordinates_of_one_joint_that_a_sweep_holds():
    """Names of drivers were those of the joint: the second was refused, and wrong keys with raw errors."""
    model = da.Model()
    model.add_body("block", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add_planar_joint("P", "ground", "block", point=(0, 0, 0), axis=(0, 0, 1))
    x = np.linspace(0.0, 1.0, 5)
    for sweep in ({("P", 0): x, ("P", 1): 0.25, ("P", 2): 0.5}, {"P.x": x, "P.y": 0.25, ("P", "angle"): 0.5}):
        found = da.kinematics(model, sweep=sweep)
        expected = np.column_stack([x, np.full(5, 0.25), np.full(5, 0.5)])
        np.testing.assert_allclose(found.coordinate("P"), expected, atol=1e-12)
        assert [driver.name for driver in found.mechanism.model.drivers] == ["held P.y", "held P.angle", "swept P.x"]
        assert found.along == ("P.x", "m") and found.report().verdict == "pass", found.report()
    for key, message in (
        (("P", 5), "sweep[('P', 5)]: component is 5; joint 'P' has 0: x, 1: y, 2: angle"),
        (("P", "z"), "sweep[('P', 'z')]: component is 'z'; joint 'P' has 0: x"),
        ("P.z", "sweep['P.z']: component is 'z'; joint 'P' has 0: x"),
        (("P", 0, 1), "sweep[('P', 0, 1)] is no coordinate; give a joint, (joint, component), or 'joint.x'"),
        ((), "sweep[()] is no coordinate"),
        ("Q.x", "there is no joint 'Q.x'"),
    ):
        for sweep in ({key: x}, {"P.x": x, key: 0.0}):
            with pytest.raises(ModelError, match=re.escape(f"kinematics: {message}")):
                da.kinematics(model, sweep=sweep)


def test_a_sweep_is_told_in_its_coordinate(tmp_path):
    """Radians of a joint were told as seconds, in a column called time."""
    found = da.kinematics(arm(), sweep={"B": [-0.1, 0.0, 0.2]})
    report = found.report()
    assert report["status"].value == "complete: 3 states, B = -0.1 to 0.2 rad"
    assert re.search(r"worst at '[AB]', B = -?[\d.]+ rad", report["position drift"].value)
    assert "t =" not in re.sub(r"as at t = 0 s", "", f"{report!s}{found!r}"), report
    found.export(tmp_path / "all.csv")
    first, *rows = (tmp_path / "all.csv").read_text().splitlines()
    assert first.split(",")[0] == "B" and first.split(",").count("B") == 1 and "time" not in first.split(",")
    np.testing.assert_allclose([float(row.split(",")[0]) for row in rows], [-0.1, 0.0, 0.2])
    found.export(tmp_path / "some.csv", "A", "B")
    assert (tmp_path / "some.csv").read_text().startswith("B,A\n")
    assert found.to_xarray()["time"].attrs == {"units": "rad", "long_name": "angle of B", "signal": "B"}
    assert da.simulate(arm(), 0.1).to_xarray()["time"].attrs == {"units": "s", "long_name": "time"}
    found.save(tmp_path / "kept.zarr")
    assert str(da.load(tmp_path / "kept.zarr").report()["status"].value) == report["status"].value


def test_branches_and_a_state_of_a_run():
    """Both were refused: a run in a plane is told in planar coordinates unless others are asked for."""
    model, points = da.Model(plane="xy"), np.array([[0, 0, 0], [0, 1, 0], [3, 2.5, 0], [3.2, 0, 0]])
    for name, start, end in (("crank", 0, 1), ("coupler", 1, 2), ("rocker", 3, 2)):
        model.add_link(name, points[start], points[end], mass=1.0)
    for name, first, second, at in (
        ("A", "ground", "crank", 0),
        ("B", "crank", "coupler", 1),
        ("C", "coupler", "rocker", 2),
        ("D", "ground", "rocker", 3),
    ):
        model.add_revolute(name, first, second, point=points[at])
    first, second = da.kinematics(model, sweep={"A": [0.0, 0.5]}, branches=True)
    assert np.abs(first.coordinate("D") - second.coordinate("D")).min() > 0.1
    states = [da.simulate(model, 0.1, coordinates=kind)(0.1) for kind in ("planar", "absolute")]
    with pytest.warns(RuntimeWarning, match="not steady"):
        planar, absolute = (da.linearise(model, state).eigenvalues for state in states)
    np.testing.assert_allclose(planar, absolute, atol=1e-6)


def test_functions_of_a_sweep_are_told():
    """They cannot be stopped: what they get as t is the swept coordinate."""
    model = arm()
    assert "functions" not in da.kinematics(model, sweep={"B": [0.0, 1.0]}).settings
    model.add_force("push", "lower", lambda t: (1.0 + t, 0, 0))
    line = da.kinematics(model, sweep={"B": [0.0, 1.0]}).report()["functions"]
    assert line.value.startswith("push: their t is the swept coordinate") and line.block == "careful"
