"""The result store: exact round trips, appending, and messages for what cannot be written."""

import json
import os

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dalembert.errors import StoreError
from dalembert.io.store import ArrayLayout, StoreWriter, read_store, write_store

ATTRIBUTES = {
    "model": {"bodies": [{"name": "crank", "mass": 0.12, "inertia": [1e-4, 1e-5, 1e-4]}], "gravity": [0, 0, -9.81]},
    "settings": {"rtol": 1e-9, "max_step": float("inf"), "projection": None, "dense": True},
    "versions": {"dalembert": "0.1.0"},
}
LAYOUT = {"t": ArrayLayout(), "q": ArrayLayout(("coordinate",), (7,)), "lam": ArrayLayout(("row",), (0,))}


def check_same_bits(actual, expected):
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert actual.tobytes() == expected.tobytes()


def block_of(rows, start=0):
    t = np.arange(start, start + rows, dtype=float)
    return {"t": t, "q": np.outer(t, np.arange(7.0)) + 0.1, "lam": np.empty((rows, 0))}


def test_round_trip_keeps_every_bit(tmp_path, rng):
    odd = np.array([np.nan, -np.nan, -0.0, 0.0, np.inf, -np.inf, 5e-324, -2.2e-308, np.pi, 1.7976931348623157e308])
    payload = np.array([0x7FF8000000000123, 0xFFF0000000000001], dtype=np.uint64).view(np.float64)
    arrays = {
        "t": (("time",), np.linspace(0, 1, 10)),
        "odd": (("time",), odd),
        "payload": (("pair",), payload),
        "q": (("time", "coordinate"), rng.normal(size=(10, 7))),
        "rows": (("time", "nothing"), np.empty((10, 0))),
        "fortran": (("a", "b"), np.asfortranarray(rng.normal(size=(3, 4)))),
        "scalar": ((), np.array(-0.0)),
        "count": (("time",), np.arange(10, dtype=np.int64) - 2**62),
        "flag": (("time",), np.arange(10) % 2 == 0),
        "all_nan": (("time",), np.full(10, np.nan)),
    }
    write_store(tmp_path / "run.zarr", arrays, ATTRIBUTES)
    read, attributes, _ = read_store(tmp_path / "run.zarr")
    assert attributes == {**ATTRIBUTES, "status": "complete"}
    assert list(read) == list(arrays)
    for name, (dims, values) in arrays.items():
        assert read[name][0] == dims
        check_same_bits(read[name][1], values)


@given(values=hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=5), elements=st.floats(width=64)))
def test_round_trip_of_any_floats(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("store") / "run.zarr"
    dims = tuple("abc"[: values.ndim])
    write_store(path, {"x": (dims, values)}, {"status": "failed"})
    arrays, attributes, _ = read_store(path)
    check_same_bits(arrays["x"][1], values)
    assert attributes == {"status": "failed"}


def test_arrays_of_many_chunks(tmp_path, rng):
    values = rng.normal(size=(3, 500_000))
    write_store(tmp_path / "run.zarr", {"x": (("a", "b"), values), "y": (("b", "a"), values.T)}, {})
    arrays, *_ = read_store(tmp_path / "run.zarr")
    check_same_bits(arrays["x"][1], values)
    check_same_bits(arrays["y"][1], np.ascontiguousarray(values.T))


def test_big_endian_and_integers_in_attributes(tmp_path):
    write_store(tmp_path / "a.zarr", {"x": (("i",), np.arange(3, dtype=">f8"))}, {"n": np.int64(3), "v": np.ones(2)})
    arrays, attributes, _ = read_store(tmp_path / "a.zarr")
    np.testing.assert_array_equal(arrays["x"][1], [0, 1, 2])
    assert attributes == {"n": 3, "v": [1.0, 1.0], "status": "complete"}


def test_other_programs_read_it(tmp_path):
    """xarray opens the folder by itself: names, dimensions and values; the attributes are plain JSON."""
    q = np.arange(6.0).reshape(3, 2)
    write_store(tmp_path / "run.zarr", {"q": (("time", "coordinate"), q)}, ATTRIBUTES)
    dataset = xr.open_zarr(tmp_path / "run.zarr", consolidated=False)
    assert dataset["q"].dims == ("time", "coordinate")
    np.testing.assert_array_equal(dataset["q"], q)
    metadata = json.loads((tmp_path / "run.zarr" / "zarr.json").read_text(encoding="utf-8"))
    record = metadata["attributes"]["record"]
    assert record["format"] == "dalembert-result"
    assert record["attributes"]["model"] == ATTRIBUTES["model"]


@pytest.mark.parametrize("sizes", [[5], [1, 1, 1], [30, 50_000, 7, 100_000]])
def test_appended_blocks_come_back(tmp_path, sizes):
    path = tmp_path / "run.zarr"
    with StoreWriter(path, LAYOUT, ATTRIBUTES) as writer:
        for i, size in enumerate(sizes):
            writer.append(block_of(size, sum(sizes[:i])))
        arrays, attributes, _ = read_store(path)
        assert attributes["status"] == "incomplete"
        assert len(arrays["t"][1]) == writer.rows == sum(sizes)
        writer.close("complete", {"statistics": {"steps": 12}})
    arrays, attributes, _ = read_store(path)
    assert attributes == {**ATTRIBUTES, "statistics": {"steps": 12}, "status": "complete"}
    assert arrays["q"][0] == ("time", "coordinate")
    for name, values in block_of(sum(sizes)).items():
        check_same_bits(arrays[name][1], values)


def test_appended_blocks_equal_to_the_fill_value(tmp_path):
    """NaN of any sign and payload is data, also where a whole chunk holds nothing else."""
    nans = np.array([0xFFF8000000000123, 0x7FF8000000000001], dtype=np.uint64).view(np.float64)
    zeros = np.zeros(2, dtype=np.int32)
    with StoreWriter(tmp_path / "run.zarr", {"x": ArrayLayout(), "n": ArrayLayout(dtype="int32")}, {}) as writer:
        writer.append({"x": nans, "n": zeros})
    arrays, *_ = read_store(tmp_path / "run.zarr")
    check_same_bits(arrays["x"][1], nans)
    check_same_bits(arrays["n"][1], zeros)


def test_new_writer_reads_as_empty_and_incomplete(tmp_path):
    StoreWriter(tmp_path / "run.zarr", LAYOUT, {})
    arrays, attributes, _ = read_store(tmp_path / "run.zarr")
    assert attributes == {"status": "incomplete"}
    assert [values.shape for _, values in arrays.values()] == [(0,), (0, 7), (0, 0)]


def test_exception_inside_the_writer_leaves_an_incomplete_store(tmp_path):
    with pytest.raises(ZeroDivisionError), StoreWriter(tmp_path / "run.zarr", LAYOUT, {}) as writer:
        writer.append(block_of(4))
        _ = 1 / 0
    arrays, attributes, _ = read_store(tmp_path / "run.zarr")
    assert attributes["status"] == "incomplete"
    assert len(arrays["t"][1]) == 4
    with pytest.raises(StoreError, match="closed"):
        writer.append(block_of(4))


def test_failed_append_leaves_the_last_commit(tmp_path, monkeypatch):
    writer = StoreWriter(tmp_path / "run.zarr", LAYOUT, {})
    writer.append(block_of(4))

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dalembert.io.place.write_record", full_disk)
    with pytest.raises(StoreError, match=r"run\.zarr: cannot write: No space left"):
        writer.append(block_of(4, 4))
    arrays, attributes, _ = read_store(tmp_path / "run.zarr")
    assert attributes["status"] == "incomplete"
    check_same_bits(arrays["q"][1], block_of(4)["q"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": np.ones((2, 6))}, r"block 'q' has shape \(2, 6\); expected \(k, 7\)"),
        ({"q": 1.0}, r"block 'q' has shape \(\); expected \(k, 7\)"),
        ({"t": np.ones(2, dtype=complex)}, "block 't' is complex128, which float64 cannot hold exactly"),
        ({"t": np.ones(3)}, "blocks differ in their number of rows"),
        ({"x": np.ones(2)}, "append needs one block for each of lam, q, t; got lam, q, t, x"),
    ],
)
def test_bad_block_is_refused_before_anything_is_written(tmp_path, change, message):
    writer = StoreWriter(tmp_path / "run.zarr", LAYOUT, {})
    with pytest.raises(StoreError, match=message):
        writer.append({**block_of(2), **change})
    writer.append(block_of(2))
    assert len(read_store(tmp_path / "run.zarr")[0]["t"][1]) == 2


def test_existing_store_is_replaced_only_on_request(tmp_path):
    path = tmp_path / "run.zarr"
    write_store(path, {"x": (("i",), np.zeros(2))}, {})
    with pytest.raises(StoreError, match=r"run\.zarr: already exists.*overwrite=True"):
        write_store(path, {"x": (("i",), np.ones(2))}, {})
    with pytest.raises(StoreError, match="already exists"):
        StoreWriter(path, LAYOUT, {})
    np.testing.assert_array_equal(read_store(path)[0]["x"][1], 0)
    write_store(path, {"y": (("i",), np.ones(3))}, {}, overwrite=True)
    assert list(read_store(path)[0]) == ["y"]
    assert os.listdir(tmp_path) == ["run.zarr"]


def test_a_folder_that_is_no_result_is_never_replaced(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work", encoding="utf-8")
    (tmp_path / "file.zarr").write_text("text", encoding="utf-8")
    for name in ("thesis", "file.zarr"):
        with pytest.raises(StoreError, match="exists and is not a dalembert result"):
            write_store(tmp_path / name, {}, {}, overwrite=True)
    assert (tmp_path / "thesis" / "chapter.txt").read_text(encoding="utf-8") == "years of work"


def test_unwritable_paths(tmp_path):
    (tmp_path / "file").write_text("a regular file", encoding="utf-8")
    with pytest.raises(StoreError, match=r"x\.zarr: cannot write: .*file' is a file, not a folder"):
        write_store(tmp_path / "file" / "x.zarr", {}, {})
    with pytest.raises(StoreError, match=r"x\.zarr: cannot write: the folder '.*below' does not exist"):
        write_store(tmp_path / "file" / "below" / "x.zarr", {}, {})
    with pytest.raises(StoreError, match=r"x\.zarr: cannot write: the folder '.*missing' does not exist; create it"):
        StoreWriter(tmp_path / "missing" / "x.zarr", LAYOUT, {})
    with pytest.raises(StoreError, match="cannot write: File name too long"):
        write_store(tmp_path / ("x" * 300), {}, {})
    assert os.listdir(tmp_path) == ["file"]


def test_failure_while_writing_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dalembert.io.place.Place.commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_store(tmp_path / "run.zarr", {"x": (("i",), np.zeros(2))}, {})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arrays", "attributes", "message"),
    [
        ({"x": (("i", "j"), np.zeros(2))}, {}, "array 'x' has shape"),
        (
            {"x": (("i",), np.zeros(2)), "y": (("i",), np.zeros(3))},
            {},
            "dimension 'i' of array 'y' has size 3, elsewhere 2",
        ),
        ({"x": (("i",), np.array(["a"]))}, {}, "array 'x' holds <U1"),
        ({"commit": (("i",), np.zeros(2))}, {}, "'commit' cannot name an array"),
        ({"a/b": (("i",), np.zeros(2))}, {}, "'a/b' cannot name an array"),
        ({}, {"model": {"f": print}}, r"attributes\.model\.f: a builtin_function_or_method cannot be stored"),
        ({}, {"a": [{1: 2}]}, r"attributes\.a\[0\]: key 1 cannot be stored"),
    ],
)
def test_what_cannot_be_stored(tmp_path, arrays, attributes, message):
    with pytest.raises(StoreError, match=message):
        write_store(tmp_path / "run.zarr", arrays, attributes)
    assert os.listdir(tmp_path) == []


def test_status_belongs_to_the_writer(tmp_path):
    with pytest.raises(StoreError, match="attribute 'status' is set by the writer"):
        StoreWriter(tmp_path / "run.zarr", LAYOUT, {"status": "complete"})
