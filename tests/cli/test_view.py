"""dalembert view"""

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app
from dalembert.gallery import pendulum_3d
from dalembert.viewer import animation

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.zarr"
    da.simulate(pendulum_3d(), 0.4, out=path)
    return path


def call(*arguments):
    return CliRunner().invoke(app, ["view", *map(str, arguments)])


def test_page_of_one_or_two_runs(run, tmp_path):
    one, two = tmp_path / "one.html", tmp_path / "two.html"
    assert call(run, "--out", one).stdout == f"written: {one}\n"
    assert call(run, "--compare", run, "--out", two).exit_code == 0
    assert one.read_text(encoding="utf-8").count('"title":') == 2  # the scene, and its report
    assert two.read_text(encoding="utf-8").count('"title":') == 4


def test_animation(run, tmp_path, monkeypatch):
    monkeypatch.setattr(animation, "usual_speed", lambda span: 5 * span)  # an animation of a fifth of a second
    assert call(run, "--out", tmp_path / "run.gif").exit_code == 0
    assert (tmp_path / "run.gif").read_bytes()[:6] == b"GIF89a"


def test_bad_input_is_one_line(run, tmp_path):
    cases = (
        ((tmp_path / "nowhere.zarr",), "nowhere.zarr"),
        ((run, "--out", tmp_path / "run.avi"), "no animation format"),
        ((run, "--compare", run, "--out", tmp_path / "run.gif"), "--compare has no meaning"),
        ((run, "--port", "70000"), "give 0 to 65535"),
    )
    for arguments, message in cases:
        result = call(*arguments)
        assert result.exit_code == 2
        assert message in result.stderr and result.stderr.count("\n") == 1


def test_live_view_until_interrupted(run):
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # background jobs inherit deaf ears
    command = [sys.executable, "-c", f"{heard}; from dalembert.cli import app; app()", "view", str(run), "--no-browser"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        line = process.stdout.readline()
        assert " is shown at http://127.0.0.1:" in line, process.stderr.read()
        with urllib.request.urlopen(line.split(" at ")[1].split()[0], timeout=30) as answer:
            assert b"dalembert" in answer.read()
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 0
    assert errors == ""
