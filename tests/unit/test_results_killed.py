"""Runs that end from outside: a kill leaves a readable store, Ctrl-C returns what was computed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dalembert as da

SOURCE = Path(da.__file__).parents[1]
SCRIPT = """
import signal, sys
import dalembert as da
from dalembert import gallery

signal.signal(signal.SIGINT, signal.default_int_handler)
solution = da.simulate(gallery.build("slider_crank"), 1e7, out=sys.argv[1])
print(solution.status, len(solution.t), solution.t[-1].hex())
"""


def committed_rows(path):
    try:
        record = json.loads((path / "commit" / "zarr.json").read_text())["attributes"]["record"]
    except FileNotFoundError:
        return 0
    return record["arrays"]["t"]["shape"][0]


def run_until_written(path, number):
    """Start a run that would take hours, send it a signal once states are on disk; (rows then, output)."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 120
        while (rows := committed_rows(path)) == 0 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    assert rows > 0, errors
    return rows, output


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_killed_run_leaves_its_committed_states(tmp_path):
    rows, output = run_until_written(tmp_path / "run.zarr", signal.SIGKILL)
    assert output == ""
    solution = da.load(tmp_path / "run.zarr")
    assert solution.status == "incomplete"
    assert len(solution.t) >= rows
    assert solution.t[0] == 0.0
    assert np.all(np.diff(solution.t) > 0)
    assert solution.drift.position.max() < 1e-10
    report = solution.report()
    assert [line.name for line in report.failures] == ["status"]
    assert "killed" in report["status"].value


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_returns_and_stores_the_partial_solution(tmp_path):
    rows, output = run_until_written(tmp_path / "run.zarr", signal.SIGINT)
    status, count, end = output.split()
    assert status == "interrupted"
    assert int(count) >= rows
    solution = da.load(tmp_path / "run.zarr")
    assert solution.status == "interrupted"
    assert len(solution.t) == int(count)
    assert solution.t[-1] == float.fromhex(end)
