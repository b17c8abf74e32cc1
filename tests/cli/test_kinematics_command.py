"""dalembert kinematics"""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app


def call(*arguments):
    return CliRunner().invoke(app, ["kinematics", *arguments])


def test_a_sweep_in_degrees(tmp_path):
    result = call("four_bar", "--sweep", "A=0:30:10", "--json", "--out", str(tmp_path / "turn.zarr"))
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["coordinates"]["A [deg]"] == pytest.approx([0, 10, 20, 30], abs=1e-9) and data["status"] == "complete"
    assert (tmp_path / "turn.zarr").is_dir()


def test_a_table_and_a_picture(tmp_path):
    result = call("four_bar", "--sweep", "A=0:20:1", "--plot", str(tmp_path / "turn.png"))
    assert (
        result.exit_code == 0
        and "21 poses; smallest and largest are those at these poses" in result.output
        and "worst residual" in result.output
    )
    *_, last, smallest, largest, _, _ = (line.split() for line in result.output.splitlines())
    assert (smallest[0], largest[0]) == ("smallest", "largest") and last[0] == "20"
    assert all(
        float(low) <= float(end) <= float(high) for low, end, high in zip(smallest[1:], last[1:], largest[1:], strict=True)
    )
    assert (tmp_path / "turn.png").stat().st_size > 1000


def test_poses_that_are_left_out_are_counted():
    assert ": 41 poses, 25 of them below; smallest" in call("four_bar", "--sweep", "A=0:20:0.5").output
    assert ": 11 poses; smallest" in call("four_bar", "--sweep", "A=0:20:2").output


def test_extrema_over_time_are_those_of_the_times(tmp_path):
    model = da.Model(name="arm")
    model.add_link("arm", (0, 0, 0), (0.4, 0, 0), mass=1.0)
    model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    model.to_yaml(tmp_path / "arm.yaml")
    shown = call(str(tmp_path / "arm.yaml"), "--times", "0:1:0.1").output
    assert "arm: 11 poses; smallest and largest are those at these times\n" in shown


def test_the_sign_of_a_step_is_that_of_the_way():
    """0:-360:2 was refused."""
    down = json.loads(call("four_bar", "--sweep", "A=0:-20:10", "--json").stdout)["coordinates"]["A [deg]"]
    assert [round(value, 9) for value in down] == [-20.0, -10.0, 0.0]


@pytest.mark.parametrize("of", [("--times", "0:1:0.02"), ("--sweep", "A=0:360:7.2")])
def test_where_coordinates_turn_back(tmp_path, monkeypatch, of):
    """The template, a slider-crank: its slider, at (0.3^2 - 0.1^2)^(1/2), is 0.3 -/+ 0.1 from A with crank and rod in line."""
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["new", "own.yaml", "--plane"]).exit_code == 0
    points = json.loads(call("own.yaml", *of, "--json").stdout)["turning_points"]
    whole, reach = (1.0 if of[0] == "--times" else 2 * np.pi), np.sqrt(0.08)
    (first, low), (second, high) = points["D [m]"]
    assert (first, second) == pytest.approx((0.25 * whole, 0.75 * whole), abs=1e-6)
    assert (low, high) == pytest.approx((0.2 - reach, 0.4 - reach), abs=1e-8)
    assert points["C [deg]"] == [pytest.approx((0.5 * whole, -np.degrees(2 * np.arcsin(1 / 3))), abs=1e-5)]
    assert points.keys() == {"C [deg]", "D [m]"}
    told = "t = 0.25 s (-0.0828427 m), 0.75 s (0.117157 m)"
    told = told if of[0] == "--times" else "angle of A = 90 deg (-0.0828427 m), 270 deg (0.117157 m)"
    assert f"D turns back at {told}\n" in call("own.yaml", *of).output


def test_what_does_not_turn_back(tmp_path):
    """Components of rotation vectors, whose rates are no derivatives; a coordinate that is held; a rest between two moves."""
    model = da.gallery.build("slider_crank")
    assert model.joint("B").type == "spherical"
    told = json.loads(call("slider_crank", "--sweep", "A=0:360:5", "--json").stdout)["turning_points"]
    assert "D [m]" in told and not any(name.startswith("B.rot") for name in told)
    model = da.Model(name="shuttle")
    model.add_body("block", mass=1.0, inertia=(1, 1, 1))
    model.add_cylindrical("A", "ground", "block", point=(0, 0, 0), axis=(1, 0, 0))
    there, back = da.SmoothStep(0.0, 1.0, 1.0, 2.0), da.SmoothStep(0.0, -1.0, 4.0, 5.0)
    model.add_driver("push", "A", there + back, component=1)
    model.add_driver("hold", "A", 0.0, component=0)
    model.to_yaml(tmp_path / "m.yaml")
    assert json.loads(call(str(tmp_path / "m.yaml"), "--times", "0:6:0.1", "--json").stdout)["turning_points"] == {}


def test_a_coordinate_by_its_name_is_the_first_column():
    shown = call("four_bar", "--sweep", "A.angle=0:10:5").output
    assert [line.split()[0] for line in shown.splitlines()[1:5]] == ["A", "0", "5", "10"]


def test_rotation_vectors_are_in_radians():
    names = json.loads(call("slider_crank", "--sweep", "A=0:10:10", "--json").stdout)["coordinates"]
    assert {"A [deg]", "B.rotation_x [rad]", "C.angle_first [deg]", "D [m]"} <= names.keys()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("four_bar",), "one of the two"),
        (("four_bar", "--sweep", "A"), "JOINT=FROM:TO:STEP"),
        (("four_bar", "--sweep", "A=0:10"), "FROM:TO:STEP"),
        (("four_bar", "--sweep", "A=0:10:0"), "a STEP that is not 0"),
        (("four_bar", "--sweep", "X=0:10:1"), "no joint 'X'"),
        (("four_bar", "--times", "0:1:0.1"), "1 degree of freedom"),
    ],
)
def test_bad_input(arguments, words):
    result = call(*arguments)
    assert result.exit_code == 2 and words in result.output.replace("\n", " ")
