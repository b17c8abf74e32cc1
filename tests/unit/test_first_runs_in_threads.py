"""The first simulations of a process in several threads."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dalembert as da

SOURCE = Path(da.__file__).parents[1]
PROGRAM = """
import json, threading, numpy as np, dalembert as da
def push(t, r, v, R, w):
    return -0.1 * v
def model(k):
    model = da.Model()
    model.add_body("body", mass=1.0, inertia=(1, 1, 1))
    model.add_spherical("pivot", model.ground, "body", point=(1, 0, 0))
    if k % 2:
        model.add_force("push", "body", push)
    return model
together, ends = threading.Barrier(8), {}
def run(k):
    together.wait()
    try:
        solution = da.simulate(model(k), 0.5)
        ends[k] = solution.position("body")[-1].tolist()
    except BaseException as problem:
        ends[k] = repr(problem)
threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps([ends[k] for k in range(8)]))
"""


def first_runs(**environment):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), **environment}
    command = [sys.executable, "-c", PROGRAM]
    return json.loads(subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900, check=True).stdout)


def agree(ends):
    """The same run in any thread, bit for bit; with and without a force they differ."""
    return all(isinstance(end, list) for end in ends) and ends[0] != ends[1] and ends == ends[:2] * 4


def test_first_runs_in_eight_threads():
    ends = first_runs()
    assert agree(ends), ends


@pytest.mark.slow
def test_first_runs_in_eight_threads_with_nothing_compiled(tmp_path):
    for _ in range(2):  # the second time from what the first left
        ends = first_runs(NUMBA_CACHE_DIR=str(tmp_path))
        assert agree(ends), ends
