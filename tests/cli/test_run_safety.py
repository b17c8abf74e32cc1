"""What `dalembert run` executes, what it says about the result, and two runs that want the same one."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app
from dalembert.errors import StoreError
from dalembert.io.store import StoreWriter

SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = [sys.executable, "-c", "from dalembert.cli import app; app()"]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def start(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


@pytest.mark.parametrize(
    "name", ["robot.json", "robot.txt", "robot.yaml.bak", "robot.YAML", "robot.yml~", "robot", "robot.pyc"]
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_only_python_files_are_executed(name, command):
    Path(name).write_text("import pathlib\npathlib.Path('executed').touch()\n")
    result = call(command, f"./{name}")
    assert result.exit_code == 2, result.output
    assert len(result.stderr.splitlines()) == 1
    assert not Path("executed").exists()


def test_endings_are_compared_without_case():
    assert call("new", "model.yaml").exit_code == 0
    Path("model.yaml").rename("MODEL.YAML")
    assert call("check", "MODEL.YAML").exit_code == 0
    Path("robot.PY").write_text("import dalembert as da\nmodel = da.Model()\nmodel.add_point_mass('m', mass=1.0)\n")
    assert call("check", "robot.PY").exit_code == 0


def test_a_result_that_cannot_be_written_is_not_called_written(monkeypatch):
    assert call("run", "pendulum_3d", "--t-end", 1, "--out", "a.zarr", "--quiet").exit_code == 0

    def full(*_, **__):
        raise StoreError("a.zarr: cannot write: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("dalembert.io.place.Place.write", full)
        result = call("run", "pendulum_3d", "--t-end", 2, "--out", "a.zarr")
        assert result.exit_code == 2
    with monkeypatch.context() as patch:
        patch.setattr(StoreWriter, "append", full)
        patch.setattr("dalembert.io.results.save", full)
        result = call("run", "pendulum_3d", "--t-end", 2, "--out", "a.zarr", "--plot", "a.png")
    assert result.exit_code == 1
    assert "written: a.png" in result.stdout and "a.zarr" not in result.stdout
    assert "No space left on device; the run is not stored, an older result there is as it was" in result.stderr
    assert da.load("a.zarr").t[-1] == 1.0


@pytest.mark.parametrize("limit", [0, 2000, 6000])
def test_file_size_limit(limit):
    """RLIMIT_FSIZE stands for a disk that fills up: at the start, at the header, at the end."""
    assert call("run", "pendulum_3d", "--t-end", 1, "--out", "a.zarr", "--quiet").exit_code == 0
    for name in ("a.zarr", "new.zarr"):
        limited = start(
            *("run", "pendulum_3d", "--t-end", "3", "--save-every", "0.001", "--out", name),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        output, errors = limited.communicate(timeout=120)
        assert limited.returncode in (1, 2), errors
        assert "written" not in output
        assert f"{name}: cannot write: File too large" in errors
        assert "Traceback" not in errors
    assert da.load("a.zarr").t[-1] == 1.0
    assert os.listdir() == ["a.zarr"]


def wait_for_rows(path):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if (path / "commit" / "zarr.json").exists() and len(da.load(path).t) > 0:
            return
        time.sleep(0.1)
    raise AssertionError("no states were written")


def test_two_runs_with_one_result():
    first = start("run", "slider_crank", "--t-end", "1e6", "--out", "a.zarr", "--quiet")
    try:
        wait_for_rows(Path("a.zarr"))
        result = call("run", "pendulum_3d", "--t-end", 1, "--out", "a.zarr")
        assert result.exit_code == 2
        assert result.stdout == ""
        assert "a.zarr: another run is writing it; wait for its end, or give another path" in result.stderr
        first.send_signal(signal.SIGINT)
        assert first.wait(timeout=60) == 130
    finally:
        first.kill()
        first.communicate()
    kept = da.load("a.zarr")
    assert kept.status == "interrupted"
    assert np.all(np.diff(kept.t) > 0)
    assert call("run", "pendulum_3d", "--t-end", 1, "--out", "a.zarr").exit_code == 0
