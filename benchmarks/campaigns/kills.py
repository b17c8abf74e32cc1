"""Runs that are killed at a random moment while they write: an older result or a whole part of the new one is left.

Each case forks a process that simulates into a store, with a state on the disk every few milliseconds, kills it, reads what is
left, and lets another run replace it. Right is: what loads is the older result bit for bit, or the first states of the new one;
nothing lies beside the store; the next run is written.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da
from benchmarks.campaigns.runner import Campaign, Outcome, main
from dalembert import gallery
from dalembert.errors import StoreError
from dalembert.io import results

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@cache
def reference() -> Any:
    """The first states of the run that is killed."""
    return da.simulate(gallery.build("slider_crank"), 20.0, progress=False)


@cache
def older() -> Any:
    return da.simulate(gallery.build("slider_crank"), 0.5, progress=False)


def child(path: Path, between: float) -> None:
    results._SECONDS_BETWEEN_APPENDS = between
    warnings.simplefilter("ignore")
    da.simulate(gallery.build("slider_crank"), 1e7, out=path, overwrite=True, progress=False)


def is_start_of(solution: Any, whole: Any) -> bool:
    """Whether one begins like the other, whose last step was cut short by its end."""
    n = min(len(solution.t), len(whole.t) - 1)
    return solution.t[:n].tobytes() == whole.t[:n].tobytes() and solution.x[:n].tobytes() == whole.x[:n].tobytes()


def case(rng: np.random.Generator, index: int) -> Outcome:
    """One kill."""
    reference(), older()  # so that the child has them, too
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.zarr"
        before = bool(rng.integers(2))
        for _ in range(int(rng.integers(1, 3)) * before):  # once or twice: either place of the store
            older().save(path, overwrite=True)
        (Path(folder) / "run.zarr" / "notes.txt").write_text("mine") if before else None
        commits, delay = int(rng.integers(0, 12)), float(rng.choice([0.002, 0.03, 0.2]) * rng.random())
        between = float(rng.choice([0.0, 0.005, 0.05]))
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs in the background ignore
        process = os.fork()
        if process == 0:
            try:
                child(path, between)
            finally:
                os._exit(0)
        _wait(path / "commit" / "zarr.json", commits)
        time.sleep(delay)
        os.kill(process, SIGNALS[int(rng.integers(len(SIGNALS)))])
        if not _ended(process):
            return Outcome("deaf", {"delay": delay}, "the run went on after its signal")
        return _judged(path, before, delay)


def _wait(commit: Path, changes: int) -> None:
    """Until a file has been replaced so often; on a busy machine not for ever."""
    deadline, seen = time.monotonic() + 20.0, None
    while changes >= 0 and time.monotonic() < deadline:
        with suppress(FileNotFoundError):
            now = commit.stat().st_ino, commit.stat().st_mtime_ns
            changes -= now != seen
            seen = now
        time.sleep(0.001)


def _ended(process: int) -> bool:
    """Whether a process ends by itself; one that does not is killed."""
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline:
        if os.waitpid(process, os.WNOHANG)[0]:
            return True
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return False


def _judged(path: Path, before: bool, delay: float) -> Outcome:
    figures = {"delay": delay}
    try:
        left = da.load(path)
    except StoreError as problem:
        if before or (path / "commit" / "zarr.json").exists():
            return Outcome("lost", figures, str(problem))
        verdict = "nothing yet"
    else:
        figures["states"] = float(len(left.t))
        if before and left.status == "complete":
            verdict = "older" if left.x.tobytes() == older().x.tobytes() else "wrong"
        else:
            verdict = "start" if is_start_of(left, reference()) and left.status in ("incomplete", "interrupted") else "wrong"
    if verdict == "wrong":
        return Outcome(verdict, figures, f"{left!r}")
    beside = os.listdir(path.parent)
    if beside not in ([], ["run.zarr"]) or (before and (path / "notes.txt").read_text() != "mine"):
        return Outcome("left behind", figures, str(beside))
    da.simulate(gallery.build("slider_crank"), 0.5, out=path, overwrite=True, progress=False)
    if da.load(path).x.tobytes() != older().x.tobytes():
        return Outcome("not replaced", figures)
    return Outcome(verdict, figures)


CAMPAIGN = Campaign("kills", case, good=("start", "older", "nothing yet"))

if __name__ == "__main__":
    os.nice(10)
    sys.exit(main(CAMPAIGN, count=200))
