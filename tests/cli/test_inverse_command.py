"""dalembert inverse"""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app


def call(*arguments):
    return CliRunner().invoke(app, ["inverse", *map(str, arguments)])


@pytest.fixture
def arm(tmp_path):
    """A link that its driver turns at 2 rad/s, as a file."""
    model = da.Model(gravity=(0, -9.81, 0), name="arm")
    model.add_body("link", mass=2.0, inertia=(0.01, 0.05, 0.05), position=(0.3, 0, 0))
    model.add_revolute("pin", model.ground, "link", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("drive", "pin", da.Polynomial((0.0, 2.0)))
    model.to_yaml(tmp_path / "arm.yaml")
    return tmp_path / "arm.yaml"


def test_a_driven_arm_as_table_json_and_picture(arm, tmp_path):
    result = call(arm, "--times", "0:1:0.25", "--out", tmp_path / "efforts.csv", "--plot", tmp_path / "efforts.png")
    assert result.exit_code == 0 and "unique" in result.output and "drive [N m]" in result.output, result.output
    assert "5 instants, smallest and largest are those at these times; " in result.output
    smallest, largest = map(float, next(line for line in result.output.splitlines() if "drive" in line).split()[-2:])
    np.testing.assert_allclose([smallest, largest], 2.0 * 2.0 * 9.81 * 0.3 * np.cos([2.0, 0.0]), rtol=1e-5)  # signed powers
    turn = call(arm, "--times", f"0:{np.pi}:{np.pi / 20}").output  # both ends are the same instant of a turn
    root_mean_square = float(next(line for line in turn.splitlines() if "drive" in line).split()[-3])
    assert root_mean_square == pytest.approx(2.0 * 9.81 * 0.3 / np.sqrt(2.0), rel=1e-5)
    assert (tmp_path / "efforts.png").stat().st_size > 1000
    table = np.loadtxt(tmp_path / "efforts.csv", delimiter=",", skiprows=1)
    expected = 2.0 * 9.81 * 0.3 * np.cos(2.0 * table[:, 0])
    np.testing.assert_allclose(table[:, 1:], np.column_stack([expected, 2.0 * expected]), rtol=0, atol=1e-9)
    data = json.loads(call(arm, "--times", "0:1:0.25", "--actuator", "pin", "--json").stdout)
    np.testing.assert_allclose(data["efforts"]["pin"], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "one of the two"),
        (("--times", "0:1"), "FROM:TO:STEP"),
        (("--times", "0:1:0.5", "--actuator", "motor"), "no motor, driver or joint 'motor'"),
        (("--times", "0:1:0.5", "--out", "efforts.txt"), "ends in .csv"),
        (("--run", "nothing.zarr"), "nothing.zarr"),
    ],
)
def test_bad_input(arm, arguments, words):
    result = call(arm, *arguments)
    assert result.exit_code == 2 and words in result.output.replace("\n", " "), result.output


def test_a_model_without_drivers():
    result = call("single_pendulum", "--times", "0:1:0.5")
    assert result.exit_code == 2 and "no drivers" in result.output
