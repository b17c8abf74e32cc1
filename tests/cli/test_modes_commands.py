"""dalembert modes, dalembert equilibrium"""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert import load
from dalembert.cli import app


def call(*arguments):
    return CliRunner().invoke(app, [*arguments])


def test_modes_as_table_json_and_picture(tmp_path):
    result = call("modes", "single_pendulum", "--equilibrium", "--plot", str(tmp_path / "modes.png"))
    assert result.exit_code == 0, result.output
    assert "stable" in result.output and "frequency" in result.output and "[Hz]" in result.output
    assert (tmp_path / "modes.png").stat().st_size > 1000
    data = json.loads(call("modes", "single_pendulum", "--equilibrium", "--json").stdout)
    assert data["stable"] and len(data["modes"]) == 2 and len(data["eigenvalues"]) == 6


@pytest.mark.filterwarnings("ignore:linearise. the state is not steady")
def test_nothing_is_called_stable_that_is_not_steady():
    result = call("modes", "single_pendulum")
    assert ": the state is not steady, and nothing is said of stability" in result.output
    assert "; stable" not in result.output


def test_a_mode_is_played(tmp_path):
    store, page = tmp_path / "mode.zarr", tmp_path / "mode.html"
    result = call("modes", "single_pendulum", "--equilibrium", "--mode", "1", "--out", str(store), "--json")
    assert result.exit_code == 0 and json.loads(result.stdout)["stable"], result.output
    result = call("view", str(store), "--out", str(page))
    assert result.exit_code == 0 and page.stat().st_size > 1e5, result.output
    moved = load(store).position(load(store).mechanism.body_names[0])
    assert np.ptp(moved, axis=0).max() > 0.01 and np.abs(moved[0] - moved[-1]).max() < 1e-9
    result = call("modes", "single_pendulum", "--equilibrium", "--mode", "7", "--out", str(tmp_path / "no.zarr"))
    assert result.exit_code == 2 and "there are 2, counted from 0" in result.output


def test_a_pose_is_written_and_drawn(tmp_path):
    store, picture = tmp_path / "pose.zarr", tmp_path / "pose.png"
    result = call("equilibrium", "single_pendulum", "--out", str(store), "--plot", str(picture))
    assert result.exit_code == 0 and picture.stat().st_size > 1000, result.output
    assert len(load(store).t) == 1
    result = call("view", str(store), "--out", str(tmp_path / "pose.html"))
    assert result.exit_code == 0, result.output


def test_equilibrium_as_table_and_json():
    result = call("equilibrium", "single_pendulum")
    assert result.exit_code == 0 and "at rest; stable" in result.output, result.output
    data = json.loads(call("equilibrium", "single_pendulum", "--json").stdout)
    assert data["residual"] < 1e-9 and max(data["stiffness"]) > 0


@pytest.mark.parametrize("rate", ["hinge", "=1", "hinge=fast"])
def test_bad_input(rate):
    result = call("equilibrium", "single_pendulum", "--rate", rate)
    assert result.exit_code == 2 and "NAME=RATE" in result.output


def test_rounding_is_shown_as_zero():
    """Real parts of 1e-16 beside imaginary ones of 1, and coordinates of 1e-17 m."""
    shown = CliRunner().invoke(app, ["modes", "chain", "--equilibrium"]).stdout
    assert "1.33378" in shown and "e-1" not in shown.partition("residual")[0]
    shown = CliRunner().invoke(app, ["kinematics", "planar_quadrangle", "--sweep", "A=0:90:30"]).stdout
    assert "e-1" not in shown.partition("worst residual")[0] and "90" in shown
    shown = CliRunner().invoke(app, ["kinematics", "crank_mechanism", "--sweep", "revolute=0:90:30"]).stdout
    assert [line.split()[0] for line in shown.splitlines()[1:6]] == ["revolute", "0", "30", "60", "90"]  # what was swept


def test_what_nothing_brings_back_is_said_beside_stable(tmp_path):
    """A slider without a spring, beside one that has one."""
    model = da.Model(gravity=(0, 0, 0), name="sliders")
    for name in ("free", "held"):
        model.add_body(name, mass=1.0, inertia=(1, 1, 1))
        model.add_prismatic(f"rail of {name}", model.ground, name, point=(0, 0, 0), axis=(1, 0, 0))
    model.add_joint_spring_damper("spring", "rail of held", stiffness=1.0)
    said = "stable but for motions that nothing brings back"
    found = da.equilibrium(model)
    assert found.stable and f"at rest, {said}" in repr(found) and f" outputs, {said}; " in repr(found.linear)
    model.to_yaml(tmp_path / "sliders.yaml")
    for command in (("modes", "--equilibrium"), ("equilibrium",)):
        result = call(command[0], str(tmp_path / "sliders.yaml"), *command[1:])
        assert result.exit_code == 0 and f"sliders: at rest; {said}" in " ".join(result.output.split()), result.output
    model.add_joint_spring_damper("other spring", "rail of free", stiffness=1.0)
    assert " outputs, stable; " in repr(da.equilibrium(model).linear)
