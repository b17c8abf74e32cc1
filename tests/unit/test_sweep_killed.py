"""Sweeps that are killed: a worker, the driver, a worker of a cluster; after it, not a bit is another."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import dalembert as da
from dalembert.simulation.sweep_drive import processes

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
SOURCE = Path(da.__file__).parents[1]
RUNS, BLOCK, PATIENCE = 16, 2, 120.0
STUDY = """
import os, signal, sys, time
import dalembert as da
from dalembert.simulation.sweep_drive import processes

def pendulum(length):
    time.sleep(0.05)
    model = da.Model(name="pendulum")
    model.add_body("rod", **da.rod(1.0, length, axis="x", radius=0.01).body(), position=(length / 2, 0, 0))
    model.add_revolute("pivot", model.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
    return model

def no_room():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

def dies_in_a_write(flag):
    # one process of all, between the writing of a file and the move to its place
    move = os.replace

    def replace(source, target):
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return move(source, target)
        os.kill(os.getpid(), signal.SIGKILL)

    os.replace = replace

def deadly(solution):
    if solution.position("rod")[0, 0] > 4.0:
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0

def sweep(out, client=None, lengths=None, **options):
    lengths = [0.5 + 0.02 * k for k in range(16)] if lengths is None else lengths
    return da.simulate_many(pendulum, 0.02, parameters={"length": lengths}, out=out, client=client, **{"block": 2, **options})

def starts(out, client=None):
    # as many as are measured by compiled code, of a mechanism that came by pickle
    model = pendulum(1.0)
    states = [[0.5, 0, 0, 1, 0, 0, 0, 0, 0, -0.01 * k, 0, 0.02 * k, 0] for k in range(64)]
    return da.simulate_many(model, 0.02, initial_states=states, out=out, client=client, block=64)

if __name__ == "__main__":
    with processes(2) as pool:
        sweep(sys.argv[1], pool)
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A module that other processes can import, and the store that an undisturbed sweep of it makes."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "killed_study.py").write_text(STUDY)
    sys.path.insert(0, str(folder))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(SOURCE), str(folder), *([before] if before else [])])
    import killed_study

    killed_study.folder = folder
    killed_study.sweep(folder / "whole.zarr")
    yield killed_study
    sys.path.remove(str(folder))
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


def files(path):
    return {file.relative_to(path): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def marks(path):
    return len(list((path / "blocks").glob("[0-9]*.json"))) if path.exists() else 0


def kill_after(path, counts, pids):
    """A thread that kills one of the processes each time that so many blocks are there."""

    def work():
        end = time.monotonic() + PATIENCE
        for count in counts:
            while time.monotonic() < end and (marks(path) < count or not pids()):
                time.sleep(0.01)
            for pid in pids()[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    killed = []
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, killed


def children():
    return [child.pid for child in multiprocessing.active_children() if child.is_alive()]


def test_killed_workers_change_no_bit(study, tmp_path):
    path = tmp_path / "s.zarr"
    with processes(2) as pool:
        thread, killed = kill_after(path, (1, 4), children)
        found = study.sweep(path, pool)
        thread.join(PATIENCE)
    assert len(killed) == 2
    assert (found.status == "complete").all()
    assert files(path) == files(study.folder / "whole.zarr")


def test_a_worker_killed_while_it_writes_leaves_nothing_behind(study, tmp_path):
    path, flag = tmp_path / "s.zarr", tmp_path / "flag"
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, spawn, study.dies_in_a_write, (str(flag),)) as pool:
        found = study.sweep(path, pool)
    assert flag.exists()
    assert (found.status == "complete").all()
    assert files(path) == files(study.folder / "whole.zarr")


def test_a_killed_driver_goes_on_where_it_was(study, tmp_path):
    path = tmp_path / "s.zarr"
    for count in (1, 3):
        driver = subprocess.Popen([sys.executable, str(study.folder / "killed_study.py"), str(path)])
        end = time.monotonic() + PATIENCE
        while marks(path) < count and time.monotonic() < end and driver.poll() is None:
            time.sleep(0.01)
        driver.kill()
        driver.wait()
        assert marks(path) >= count
        time.sleep(1.0)  # workers see that they are alone, and leave
        assert marks(path) < RUNS // BLOCK
    there = {block: (path / "blocks" / f"{block}.json").stat().st_mtime_ns for block in range(8) if marks(path) > block}
    found = study.sweep(path)
    assert (found.status == "complete").all()
    assert files(path) == files(study.folder / "whole.zarr")
    kept = [block for block, when in there.items() if (path / "blocks" / f"{block}.json").stat().st_mtime_ns == when]
    assert len(kept) >= 1  # what was there is not computed again


def test_a_run_that_kills_its_process_fails_alone(study, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # of the workers: they start sooner
    with processes(1) as pool:
        found = study.sweep(tmp_path / "s.zarr", pool, [1.0, 1.1, 9.0, 1.2], outputs=[study.deadly])
    assert found.status.tolist() == ["complete", "complete", "failed", "complete"]
    assert "run 2 (length = 9): the process that computed it died" in found.message[2]


def test_a_worker_without_room_loses_nothing(study, tmp_path, monkeypatch):
    """A limit of the system on the size of files stands for a full disk: the message comes from the worker, once."""
    path = tmp_path / "s.zarr"
    shutil.copytree(study.folder / "whole.zarr", path)
    for block in (1, 5, 7):
        (path / "blocks" / f"{block}.json").unlink()
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), study.no_room)
    with pool, pytest.raises(da.StoreError, match=r"File too large.*; 10 of 16 runs are stored, and the same call goes on"):
        study.sweep(path, pool)
    assert marks(path) == 5
    monkeypatch.delenv("NUMBA_DISABLE_JIT")
    study.sweep(path)
    assert files(path) == files(study.folder / "whole.zarr")


def test_functions_that_cannot_travel_are_refused(study, tmp_path):
    with processes(1) as pool, pytest.raises(da.ModelError, match="cannot be sent to other processes"):
        study.sweep(tmp_path / "s.zarr", pool, outputs={"x": lambda solution: 1.0})


def test_a_cluster_that_loses_a_worker_changes_no_bit(study, tmp_path):
    distributed = pytest.importorskip("distributed")
    path = tmp_path / "s.zarr"
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            pids = list(client.run(os.getpid).values())
            thread, killed = kill_after(path, (2,), lambda: pids)
            study.sweep(path, client)
            thread.join(PATIENCE)
            started = study.starts(tmp_path / "starts.zarr", client)
        assert killed
        assert files(path) == files(study.folder / "whole.zarr")
        study.starts(tmp_path / "here.zarr")
        assert (started.status == "complete").all()
        assert files(tmp_path / "starts.zarr") == files(tmp_path / "here.zarr")
        with pytest.raises(da.SimulationError, match=r"client is gone \(it is closed\)"):
            study.sweep(tmp_path / "t.zarr", client)
