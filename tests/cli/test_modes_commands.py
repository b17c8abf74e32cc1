"""dalembert modes, dalembert equilibrium"""

import json

import pytest
from typer.testing import CliRunner

from dalembert.cli import app


def call(*arguments):
    return CliRunner().invoke(app, [*arguments])


def test_modes_as_table_json_and_picture(tmp_path):
    result = call("modes", "single_pendulum", "--equilibrium", "--plot", str(tmp_path / "modes.png"))
    assert result.exit_code == 0, result.output
    assert "stable" in result.output and "frequency [Hz]" in result.output
    assert (tmp_path / "modes.png").stat().st_size > 1000
    data = json.loads(call("modes", "single_pendulum", "--equilibrium", "--json").stdout)
    assert data["stable"] and len(data["modes"]) == 2 and len(data["eigenvalues"]) == 6


def test_equilibrium_as_table_and_json():
    result = call("equilibrium", "single_pendulum")
    assert result.exit_code == 0 and "at rest; stable" in result.output, result.output
    data = json.loads(call("equilibrium", "single_pendulum", "--json").stdout)
    assert data["residual"] < 1e-9 and max(data["stiffness"]) > 0


@pytest.mark.parametrize("rate", ["hinge", "=1", "hinge=fast"])
def test_bad_input(rate):
    result = call("equilibrium", "single_pendulum", "--rate", rate)
    assert result.exit_code == 2 and "NAME=RATE" in result.output
