"""Results that were cut off or damaged: the reader says so, and never returns wrong numbers."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import StoreError
from dalembert.io.record import write_record
from dalembert.io.store import ArrayLayout, StoreWriter, read_store, write_store
from dalembert.model import serialise

KILLED = """
import sys
import numpy as np
from dalembert.io.store import ArrayLayout, StoreWriter

writer = StoreWriter(sys.argv[1], {"t": ArrayLayout(), "q": ArrayLayout(("coordinate",), (200,))}, {"model": "chain"})
for k in range(100_000):
    rows = np.arange(37 * k, 37 * (k + 1), dtype=float)
    writer.append({"t": rows, "q": rows[:, None] + np.arange(200)})
    print(writer.rows, flush=True)
"""


@pytest.fixture
def store(tmp_path, rng):
    path = tmp_path / "run.zarr"
    write_store(path, {"t": (("time",), np.arange(50.0)), "q": (("time", "c"), rng.normal(size=(50, 3)))}, {"a": [1, 2]})
    return path


def files_of(path):
    return sorted(file for file in path.rglob("*") if file.is_file())


@pytest.mark.parametrize("blocks", [1, 8, 25])
def test_killed_in_mid_write(tmp_path, blocks):
    """SIGKILL at an arbitrary moment: every row that append had returned from is there, and nothing else."""
    path = tmp_path / "run.zarr"
    source = Path(__file__).parents[2] / "src"
    environment = {**os.environ, "PYTHONPATH": str(source)}
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        reported = 0
        for _ in range(blocks):
            reported = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        reported = max([reported, *map(int, process.stdout.read().split())])
    finally:
        process.kill()
        process.wait(timeout=30)
    arrays, attributes, _ = read_store(path)
    rows = len(arrays["t"][1])
    assert attributes == {"model": "chain", "status": "incomplete"}
    assert rows % 37 == 0
    assert rows in (reported, reported + 37)  # the kill may fall between a commit and its report
    np.testing.assert_array_equal(arrays["t"][1], np.arange(rows))
    np.testing.assert_array_equal(arrays["q"][1], np.arange(rows)[:, None] + np.arange(200))


def test_rows_beyond_the_commit_are_not_read(tmp_path):
    """A kill between the data and the commit leaves longer arrays; their tail does not count."""
    path = tmp_path / "run.zarr"
    writer = StoreWriter(path, {"t": ArrayLayout(), "q": ArrayLayout()}, {})
    writer.append({"t": np.arange(5.0), "q": np.arange(5.0)})
    commit = (path / "commit" / "zarr.json").read_bytes()
    writer.append({"t": np.arange(5.0), "q": np.arange(5.0)})
    (path / "commit" / "zarr.json").write_bytes(commit)
    arrays, attributes, _ = read_store(path)
    assert attributes["status"] == "incomplete"
    np.testing.assert_array_equal(arrays["t"][1], np.arange(5.0))


def test_truncated_chunk(store):
    chunk = store / "q" / "c" / "0" / "0"
    chunk.write_bytes(chunk.read_bytes()[:100])
    with pytest.raises(StoreError, match=r"run\.zarr: the result is corrupt or truncated: array 'q'.*run the simulation"):
        read_store(store)


def test_missing_chunk(store):
    (store / "t" / "c" / "0").unlink()
    with pytest.raises(StoreError, match="corrupt or truncated: array 't' cannot be read"):
        read_store(store)


def test_missing_metadata_of_an_array(store):
    """What an array is, the commit record says; the file is for other readers."""
    (store / "t" / "zarr.json").unlink()
    np.testing.assert_array_equal(read_store(store)[0]["t"][1], np.arange(50.0))


def test_chunk_of_another_run(store, tmp_path):
    """A valid chunk with other numbers, such as a mixed-up copy, passes every codec but not the checksum."""
    write_store(tmp_path / "other.zarr", {"t": (("time",), np.arange(50.0) + 1e-15)}, {})
    os.replace(tmp_path / "other.zarr" / "t" / "c" / "0", store / "t" / "c" / "0")
    with pytest.raises(StoreError, match="array 't' does not match its checksum"):
        read_store(store)


def test_missing_metadata(store):
    (store / "zarr.json").unlink()
    with pytest.raises(StoreError, match=r"run\.zarr: not a dalembert result, or a damaged one: 'zarr\.json' is missing"):
        read_store(store)


def test_missing_commit(store):
    (store / "commit" / "zarr.json").unlink()
    with pytest.raises(StoreError, match=r"commit record: 'zarr\.json' is missing"):
        read_store(store)


def test_edited_attributes(store):
    file = store / "zarr.json"
    metadata = json.loads(file.read_text(encoding="utf-8"))
    metadata["attributes"]["record"]["attributes"]["a"] = [1, 3]
    file.write_text(json.dumps(metadata), encoding="utf-8")
    with pytest.raises(StoreError, match="does not match its checksum"):
        read_store(store)


def test_wrong_marker_and_newer_version(store):
    write_record(store, {"format": "other-result", "format_version": 1, "attributes": {}})
    with pytest.raises(StoreError, match=r"run\.zarr: not a dalembert result: its format marker"):
        read_store(store)
    write_record(store, {"format": "dalembert-result", "format_version": 3, "attributes": {}})
    with pytest.raises(StoreError, match="format version 3; this dalembert reads version 2"):
        read_store(store)


def test_paths_that_are_no_store(tmp_path):
    with pytest.raises(StoreError, match="there is no such path"):
        read_store(tmp_path / "missing.zarr")
    with pytest.raises(StoreError, match="not a dalembert result"):
        read_store(tmp_path)
    (tmp_path / "file.zarr").write_bytes(b"\x00\x01")
    with pytest.raises(StoreError, match="is a file; a dalembert result is a folder"):
        read_store(tmp_path / "file.zarr")
    with pytest.raises(StoreError, match="there is no such path"):
        read_store(tmp_path / "file.zarr" / "below.zarr")


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "text"])
def test_no_damage_goes_unnoticed(store, rng, damage):
    """Damage each file at many places: the reader refuses, or what it returns is exactly what was written."""
    arrays, attributes, _ = read_store(store)
    refused = 0
    for file in files_of(store):
        original = file.read_bytes()
        for _ in range(12 if damage in ("flip", "cut") else 1):
            place = int(rng.integers(len(original)))
            if damage == "flip":
                changed = original[:place] + bytes([original[place] ^ (1 << int(rng.integers(8)))]) + original[place + 1 :]
            else:
                changed = {"cut": original[:place], "empty": b"", "text": b'{"attributes": 3}'}[damage]
            file.write_bytes(changed)
            try:
                damaged_arrays, damaged_attributes, _ = read_store(store)
            except StoreError as error:
                assert str(store) in str(error)
                refused += 1
                continue
            assert damaged_attributes == attributes
            for name, (dims, values) in arrays.items():
                assert damaged_arrays[name][0] == dims
                assert damaged_arrays[name][1].tobytes() == values.tobytes()
        file.write_bytes(original)
    assert refused > 0
    assert read_store(store)[1] == attributes


def test_defaults_that_are_left_out_now_are_read_where_older_files_tell_them(tmp_path, monkeypatch):
    """A table told that it is not monotone, and its model's hash with it."""
    model = da.Model()
    model.add_body("bob", mass=1.0, inertia=(1, 1, 1), position=(0, 1, 0))
    model.add_revolute("A", "ground", "bob", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_motor("push", "A", da.Table((0, 0.5, 1), (0, 1, 0)))
    with monkeypatch.context() as older:
        older.setattr(serialise, "_LATER", tuple(name for name in serialise._LATER if name != "monotone"))
        run = da.simulate(model, 0.1, out=tmp_path / "run.zarr")
        hash_then = model.hash
    assert hash_then != model.hash
    assert np.array_equal(da.load(tmp_path / "run.zarr").q, run.q)
