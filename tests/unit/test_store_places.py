"""A result that replaces another: the older one stays until the new one has rows, one writer at a time, blocks fail alone."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import dalembert as da
from dalembert import files, gallery
from dalembert.errors import StoreError
from dalembert.files import written_whole
from dalembert.io.store import ArrayLayout, StoreWriter, read_store, write_store

SOURCE = str(Path(da.__file__).parents[1])
LAYOUT = {"t": ArrayLayout(), "q": ArrayLayout(("coordinate",), (7,))}
HOLD = """
import sys, time
from dalembert.io.store import ArrayLayout, StoreWriter
writer = StoreWriter(sys.argv[1], {"t": ArrayLayout()}, {}, overwrite=True)
print("open", flush=True)
time.sleep(60)
"""


def rows(count, start=0):
    t = np.arange(start, start + count, dtype=float)
    return {"t": t, "q": np.outer(t, np.ones(7))}


def older(path, count=5):
    write_store(path, {"t": (("time",), np.arange(float(count)))}, {"which": "older"})


def which(path):
    return read_store(path)[1].get("which")


def held_elsewhere(path):
    """A process that writes the store and does not end."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], env={**os.environ, "PYTHONPATH": SOURCE}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "open\n"
    return process


def test_an_older_result_stays_until_the_new_one_has_rows(tmp_path):
    path = tmp_path / "run.zarr"
    older(path)
    writer = StoreWriter(path, LAYOUT, {"which": "newer"}, overwrite=True)
    assert which(path) == "older"
    writer.append(rows(3))
    assert which(path) == "newer"
    assert os.listdir(tmp_path) == ["run.zarr"]
    writer.close()
    again = StoreWriter(path, LAYOUT, {"which": "third"}, overwrite=True)
    assert which(path) == "newer"
    again.append(rows(4))
    again.close()
    arrays, attributes, _ = read_store(path)
    assert attributes == {"which": "third", "status": "complete"}
    assert len(arrays["t"][1]) == 4
    assert sorted(os.listdir(path)) == ["commit", "q", "t", "zarr.json"]


@pytest.mark.parametrize("times", [1, 2])
def test_a_run_killed_before_its_first_row_changes_nothing(tmp_path, times):
    path = tmp_path / "run.zarr"
    older(path)
    for _ in range(times):
        process = held_elsewhere(path)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert which(path) == "older"
    with StoreWriter(path, LAYOUT, {"which": "newer"}, overwrite=True) as writer:
        writer.append(rows(2))
    assert which(path) == "newer"
    assert os.listdir(tmp_path) == ["run.zarr"]
    dataset = xr.open_zarr(path, group="again", consolidated=False)
    np.testing.assert_array_equal(dataset["t"], [0.0, 1.0])


def test_a_new_run_that_cannot_be_written_leaves_the_older_one(tmp_path, monkeypatch):
    path = tmp_path / "run.zarr"
    older(path)
    monkeypatch.setattr(files.os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(StoreError, match="No space left"):
        write_store(path, {"t": (("time",), np.zeros(3))}, {}, overwrite=True)
    with pytest.raises(StoreError, match="No space left"):
        write_store(tmp_path / "other.zarr", {"t": (("time",), np.zeros(3))}, {})
    monkeypatch.undo()
    assert which(path) == "older"
    assert os.listdir(tmp_path) == ["run.zarr"]
    assert sorted(os.listdir(path)) == ["commit", "t", "zarr.json"]


def test_files_of_the_user_are_not_deleted(tmp_path):
    path = tmp_path / "run.zarr"
    older(path)
    mine = {path / "notes.txt": "mine", path / "figures" / "a.svg": "<svg/>", path / "t" / "about.txt": "mine, too"}
    mine |= {path / "meshes" / "stone.stl": "solid", path / "again" / "list.txt": "once more"}
    for k in range(3):
        for file, text in mine.items():
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        with StoreWriter(path, LAYOUT, {"which": str(k)}, overwrite=True) as writer:
            writer.append(rows(2))
        assert which(path) == str(k)
        assert {file: file.read_text() for file in mine} == mine


def test_a_second_writer_is_refused_at_once(tmp_path):
    path = tmp_path / "run.zarr"
    process = held_elsewhere(path)
    try:
        with pytest.raises(StoreError, match=r"run\.zarr: another run is writing it"):
            StoreWriter(path, LAYOUT, {}, overwrite=True)
        with pytest.raises(StoreError, match="another run is writing it"):
            write_store(path, {}, {}, overwrite=True)
    finally:
        process.kill()
        process.wait()
    write_store(path, {}, {"which": "newer"}, overwrite=True)  # the lock of a killed process is gone
    assert which(path) == "newer"


def test_two_threads_are_kept_apart_and_an_abandoned_writer_is_not_in_the_way(tmp_path):
    path = tmp_path / "run.zarr"
    first = StoreWriter(path, LAYOUT, {}, overwrite=True)
    caught = []

    def second():
        try:
            StoreWriter(path, LAYOUT, {}, overwrite=True)
        except StoreError as problem:
            caught.append(str(problem))

    thread = threading.Thread(target=second)
    thread.start()
    thread.join()
    assert "another run is writing it" in caught[0]
    with StoreWriter(path, LAYOUT, {"which": "third"}, overwrite=True) as third:  # of this thread: the first run is over
        third.append(rows(2))
        with pytest.raises(StoreError, match="closed"):
            first.append(rows(2))
    assert which(path) == "third"


def test_one_torn_block_costs_its_own_rows(tmp_path):
    path = tmp_path / "run.zarr"
    with StoreWriter(path, LAYOUT, {}) as writer:
        for start in range(0, 35_304, 5000):
            writer.append(rows(min(5000, 35_304 - start), start))
    block = path / "q" / "c" / "3" / "0"
    block.write_bytes(block.read_bytes()[:50])
    arrays, attributes, _ = read_store(path)
    assert attributes["status"] == "damaged"
    assert "4096 of 35304 states are lost: rows 12288 to 16383 of array 'q'" in attributes["message"]
    left = np.r_[0:12288, 16384:35304].astype(float)
    np.testing.assert_array_equal(arrays["t"][1], left)
    np.testing.assert_array_equal(arrays["q"][1], np.outer(left, np.ones(7)))


def test_a_damaged_run_says_so_in_its_report(tmp_path, monkeypatch):
    monkeypatch.setattr("dalembert.io.column.BLOCK_ROWS", 8)
    path = tmp_path / "run.zarr"
    solution = da.simulate(gallery.build("slider_crank"), 1.0, save_at=np.linspace(0, 1, 41), out=path)
    (path / "x" / "c" / "2" / "0").unlink()
    again = da.load(path)
    assert len(again.t) == 33
    keep = np.r_[0:16, 24:41]
    assert again.x.tobytes() == solution.x[keep].tobytes()
    assert again.reaction("A").force.tobytes() == solution.reaction("A").force[keep].tobytes()
    assert [line.name for line in again.report().failures] == ["status"]
    assert "8 of 41 states are lost" in again.report()["status"].value
    np.testing.assert_allclose(again(0.5).q, solution(0.5).q, rtol=0, atol=1e-8)  # integrated over the gap


def test_data_are_on_the_disk_before_the_commit(tmp_path, monkeypatch):
    """fsync of every block and its folders, then the commit record, then its folder."""
    synced = []
    original = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda handle: (synced.append(os.readlink(f"/proc/self/fd/{handle}")), original(handle))[1]
    )
    writer = StoreWriter(tmp_path / "run.zarr", LAYOUT, {})
    synced.clear()
    writer.append(rows(3))
    names = [Path(path).relative_to(tmp_path / "run.zarr").as_posix() for path in synced]
    commit = names.index("commit/zarr.json.partial")
    assert {"t/c/0.partial", "q/c/0/0.partial", "t/c", "t", "q/c/0", "q/c", "q"} <= set(names[:commit])
    assert "commit" in names[commit:]


def test_temporary_files_of_killed_writers_are_removed(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    orphan = tmp_path / f".run.{gone.pid}-0123abcd.partial.csv"
    alive = tmp_path / f".run.{os.getpid()}-0123abcd.partial.csv"
    for path in (orphan, alive):
        path.write_text("half")
    with written_whole(tmp_path / "run.csv") as temporary:
        temporary.write_text("whole")
    assert sorted(os.listdir(tmp_path)) == sorted([alive.name, "run.csv"])


def test_an_interrupted_notebook_cell_can_be_run_again(tmp_path):
    def broken(t, t_end):
        raise ValueError("a mistake in the cell")

    with pytest.raises(ValueError, match="mistake"):
        da.simulate(gallery.build("slider_crank"), 1.0, out=tmp_path / "run.zarr", progress=broken)
    da.simulate(gallery.build("slider_crank"), 0.1, out=tmp_path / "run.zarr", overwrite=True)
    assert da.load(tmp_path / "run.zarr").status == "complete"
