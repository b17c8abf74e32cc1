"""Efforts for motions that the model's own drivers make."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app

T = np.linspace(0, 2, 11)
FILE = """
import sys
sys.path.insert(0, {folder!r})
from test_inverse_of_driven import at_the_tip
model = at_the_tip()
"""


def five_bar():
    """A leg of two arms that meet in the tip."""
    start = np.radians(230)
    A, E = np.array([-0.1, 0]), np.array([0.1, 0])
    B = A + 0.25 * np.array([np.cos(start), np.sin(start)])
    D, C = B * (-1, 1), np.array([0, B[1] - np.sqrt(0.35**2 - B[0] ** 2)])
    model = da.Model(plane="xz", name="five-bar")
    for name, ends, mass in (
        ("left upper", (A, B), 0.3),
        ("left lower", (B, C), 0.2),
        ("right upper", (E, D), 0.3),
        ("right lower", (D, C), 0.2),
    ):
        model.add_link(name, *ends, mass=mass)
    model.add_point_mass("tip", mass=1.0, position=C)
    model.add_revolute("A", "ground", "left upper", point=A)
    model.add_revolute("B", "left upper", "left lower", point=B)
    model.add_revolute("C", "left lower", "right lower", point=C)
    model.add_revolute("D", "right upper", "right lower", point=D)
    model.add_revolute("E", "ground", "right upper", point=E)
    model.add_spherical("T", "left lower", "tip", point=C)
    return model


def at_the_tip():
    model = five_bar()
    z = model.body("tip").position[2]
    model.add_point_driver("px", "tip", direction=(1, 0), motion=da.Harmonic(0.04, np.pi))
    model.add_point_driver("pz", "tip", direction=(0, 1), motion=da.Harmonic(0.04, np.pi, -np.pi / 2, z + 0.04))
    return model


def at_the_joints():
    model = five_bar()
    model.add_driver("left", "A", da.Harmonic(0.3, 2.0))
    model.add_driver("right", "E", da.Harmonic(-0.2, 3.0))
    return model


@pytest.mark.parametrize(
    ("driven", "joints"),
    [(driven, joints) for driven in (at_the_tip, at_the_joints) for joints in (["A", "E"], ["A", "D"], ["A", "B", "E"])]
    + [(at_the_tip, ["A"]), (at_the_joints, ["D", "B"])],
)
def test_drivers_are_released(driven, joints):
    """As by a second model without drivers; they were 0, and called unique."""
    model = driven()
    motion = da.kinematics(model, T)
    found, expected = da.inverse_dynamics(model, motion, joints), da.inverse_dynamics(five_bar(), motion, joints)
    for joint in joints:
        assert np.abs(expected.effort(joint)).max() > 0.1
        np.testing.assert_allclose(found.effort(joint), expected.effort(joint), rtol=0, atol=1e-10)
    assert (found.unique, found.uncontrolled) == (expected.unique, expected.uncontrolled)
    np.testing.assert_allclose(found.reaction("T").force, expected.reaction("T").force, rtol=0, atol=1e-9)


def test_a_driver_beside_which_an_actuator_acts_stays():
    """A road that lifts a wheel is no actuator of the suspension, nor is one of two drivers in place of the other."""
    car = da.Model(gravity=(0, 0, -9.81))
    for name, below, height in (("wheel", "ground", 0.0), ("body", "wheel", 1.0)):
        car.add_body(name, mass=10.0, inertia=(1, 1, 1), position=(0, 0, height))
        car.add_prismatic(f"{name} line", below, name, point=(0, 0, height), axis=(0, 0, 1))
    car.add_driver("road", "wheel line", da.Harmonic(0.1, 5.0))
    car.add_driver("strut", "body line", da.Harmonic(0.05, 8.0))
    motion = da.kinematics(car, T)
    expected = 10.0 * (9.81 - 2.5 * np.sin(5.0 * T) - 3.2 * np.sin(8.0 * T))
    for actuator in ("strut", "body line"):
        found = da.inverse_dynamics(car, motion, [actuator])
        np.testing.assert_allclose(found.effort(actuator), expected, rtol=0, atol=1e-8)
        assert found.unique and found.residual.max() < 1e-9


def test_forces_of_point_drivers():
    """Those that the run has, and their powers."""
    model = at_the_tip()
    motion = da.kinematics(model, T)
    found, joints = da.inverse_dynamics(model, motion, ["px", "pz"]), da.inverse_dynamics(model, motion, ["A", "E"])
    tip = motion.velocity("tip")
    for name, axis in (("px", 0), ("pz", 2)):
        np.testing.assert_allclose(found.effort(name), motion.reaction(name).force[:, axis], rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.power(name), found.effort(name) * tip[:, axis], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.power("px") + found.power("pz"), joints.power("A") + joints.power("E"), rtol=0, atol=1e-9)
    assert found.plot().axes


def test_a_point_driver_on_a_body_that_turns():
    """Its rate is that of the distance along an axis that turns."""
    model = da.Model(plane="xz", gravity=(0, 0))
    model.add_link("bar", (0, 0), (1, 0), mass=1.0)
    model.add_point_mass("bead", mass=1.0, position=(0.5, 0.3))
    model.add_revolute("A", "ground", "bar", point=(0, 0))
    model.add_driver("turn", "A", da.Polynomial((0, 2.0)))
    for name, direction, motion in (("along", (1, 0), da.Harmonic(0.1, 3.0)), ("across", (0, 1), 0.3)):
        model.add_point_driver(name, "bead", direction=direction, motion=motion, reference="bar")
    run = da.kinematics(model, T)
    found = da.inverse_dynamics(model, run, ["along", "across", "turn"])
    np.testing.assert_allclose(found.power("along"), found.effort("along") * 0.3 * np.cos(3 * T), rtol=0, atol=1e-9)
    energy = sum(found.power(name) for name in ("along", "across", "turn"))
    v, a = run.velocity("bead"), run.acceleration("bead")
    np.testing.assert_allclose(energy, np.sum(v * a, axis=1), rtol=0, atol=1e-9)


def test_the_command_line(tmp_path):
    (tmp_path / "leg.py").write_text(FILE.format(folder=__file__.rpartition("/")[0]))
    da.kinematics(at_the_tip(), T).save(tmp_path / "run.zarr")

    def efforts(*arguments):
        result = CliRunner().invoke(app, ["inverse", str(tmp_path / "leg.py"), *arguments, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["efforts"]

    run = ("--run", str(tmp_path / "run.zarr"))
    of_run, of_times = efforts(*run), efforts("--times", "0:2:0.2")
    assert list(of_run) == list(of_times) == ["px", "pz"]
    for name in of_run:
        assert np.ptp(of_run[name]) > 0.1
        np.testing.assert_allclose(of_run[name], of_times[name], rtol=0, atol=1e-9)
    at_joints = efforts(*run, "--actuator", "A", "--actuator", "E")
    again = efforts("--times", "0:2:0.2", "--actuator", "A", "--actuator", "E")
    expected = da.inverse_dynamics(five_bar(), da.kinematics(at_the_tip(), T), ["A", "E"])
    for name in ("A", "E"):
        np.testing.assert_allclose(at_joints[name], expected.effort(name), rtol=0, atol=1e-9)
        np.testing.assert_allclose(again[name], expected.effort(name), rtol=0, atol=1e-9)
    shown = CliRunner().invoke(app, ["inverse", str(tmp_path / "leg.py"), *run]).output
    assert "px [N]" in shown and "pz [N]" in shown


@pytest.mark.parametrize("key", ["tip.x", "tip"])
def test_the_motion_of_a_point(key):
    with pytest.raises(da.ModelError, match=r"no joint 'tip.*; .* add_point_driver, one for each direction: .*kinematics\("):
        da.inverse_dynamics(five_bar(), {key: 0.0}, ["A", "E"], t=T)
