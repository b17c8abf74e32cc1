"""Exports: the same numbers in netCDF, Parquet and CSV, and messages for what cannot be written."""

import csv
import json
import os

import numpy as np
import pyarrow.parquet
import pytest
import xarray as xr

import dalembert as da
from dalembert import gallery
from dalembert.errors import StoreError
from dalembert.io import export
from dalembert.io.export import export_dataset

ODD = np.array([np.nan, -0.0, np.inf, -np.inf, 5e-324, 0.1 + 0.2])
COLUMNS = ["time", "odd", "count", "crank.position.x", "crank.position.y", "rod.position.x", "rod.position.y"]
COLUMNS += ["q[0]", "q[1]", "q[2]", "crank.mass", "rod.mass"]


@pytest.fixture
def dataset(rng):
    return xr.Dataset(
        {
            "odd": ("time", ODD),
            "count": ("time", np.arange(6)),
            "position": (("time", "body", "axis"), rng.normal(size=(6, 2, 2)), {"units": "m"}),
            "q": (("coordinate", "time"), rng.normal(size=(3, 6))),
            "lam": (("time", "row"), np.empty((6, 0))),
            "mass": ("body", [0.12, 1 / 3]),
        },
        coords={"time": np.linspace(0, 1, 6), "body": ["crank", "rod"], "axis": ["x", "y"]},
        attrs={"settings": {"rtol": 1e-9, "max_step": float("inf")}, "status": "complete", "fixed": True},
    )


def check_bits(actual, expected):
    assert np.asarray(actual, dtype=float).tobytes() == np.asarray(expected, dtype=float).tobytes()


def check_table(columns, dataset):
    assert list(columns) == COLUMNS
    check_bits(columns["time"], dataset["time"])
    check_bits(columns["odd"], ODD)
    check_bits(columns["rod.position.x"], dataset["position"].sel(body="rod", axis="x"))
    check_bits(columns["q[2]"], dataset["q"].isel(coordinate=2))
    check_bits(columns["rod.mass"], np.full(6, 1 / 3))


def test_netcdf_keeps_every_bit(tmp_path, dataset):
    export_dataset(dataset, tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as read:
        assert set(read.variables) == set(dataset.variables)
        for name in ("odd", "position", "q", "lam", "mass", "time"):
            assert read[name].dims == dataset[name].dims
            assert read[name].dtype == dataset[name].dtype
            check_bits(read[name], dataset[name])
        assert read["count"].dtype == dataset["count"].dtype
        np.testing.assert_array_equal(read["count"], dataset["count"])
        assert list(read["body"].values) == ["crank", "rod"]
        assert read["position"].attrs["units"] == "m"
        assert read.attrs["status"] == "complete"
        assert json.loads(read.attrs["settings"])["rtol"] == 1e-9
        assert json.loads(read.attrs["fixed"]) is True
    assert dataset.attrs["fixed"] is True  # the caller's dataset stays as it was


def test_csv_keeps_every_bit(tmp_path, dataset):
    export_dataset(dataset, tmp_path / "run.csv")
    with (tmp_path / "run.csv").open(newline="", encoding="utf-8") as file:
        title, *rows = csv.reader(file)
    assert len(rows) == 6
    check_table({name: [float(row[i]) for row in rows] for i, name in enumerate(title)}, dataset)


def test_parquet_keeps_every_bit(tmp_path, dataset):
    export_dataset(dataset, tmp_path / "run.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "run.parquet")
    check_table({name: table[name].to_numpy() for name in table.column_names}, dataset)
    assert table["count"].type == "int64"
    assert table["odd"].null_count == 0
    assert json.loads(table.schema.metadata[b"attributes"])["status"] == "complete"


@pytest.mark.parametrize("suffix", [".nc", ".parquet", ".csv"])
def test_export_replaces_and_leaves_nothing_else(tmp_path, dataset, suffix):
    path = tmp_path / f"run{suffix}"
    path.write_text("old", encoding="utf-8")
    export_dataset(dataset, path)
    assert os.listdir(tmp_path) == [path.name]
    assert path.stat().st_size > 100


@pytest.mark.parametrize("suffix", [".nc", ".parquet", ".csv"])
def test_unwritable_paths(tmp_path, dataset, suffix):
    (tmp_path / "file").write_text("a regular file", encoding="utf-8")
    with pytest.raises(StoreError, match="is a file, not a folder; choose another path"):
        export_dataset(dataset, tmp_path / "file" / f"run{suffix}")
    with pytest.raises(StoreError, match=r"the folder '.*missing' does not exist; create it"):
        export_dataset(dataset, tmp_path / "missing" / f"run{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(StoreError, match="is a folder; give the path of a file"):
        export_dataset(dataset, tmp_path / f"folder{suffix}")
    assert sorted(os.listdir(tmp_path)) == ["file", f"folder{suffix}"]


@pytest.mark.parametrize("suffix", [".nc", ".parquet", ".csv"])
def test_failure_in_mid_write_keeps_the_old_file(tmp_path, dataset, suffix, monkeypatch):
    path = tmp_path / f"run{suffix}"
    path.write_text("old", encoding="utf-8")

    def half_written(dataset, temporary):
        temporary.write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(export._WRITERS, suffix, ((), half_written))
    with pytest.raises(StoreError, match=r"run\..*: cannot write: No space left on device"):
        export_dataset(dataset, path)
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_text(encoding="utf-8") == "old"


def test_unknown_suffix_lists_the_known(tmp_path, dataset):
    with pytest.raises(StoreError, match=r"unknown suffix '\.xlsx'.*one of \.nc, \.parquet, \.csv"):
        export_dataset(dataset, tmp_path / "run.xlsx")


@pytest.mark.parametrize(("suffix", "packages"), [(".nc", "h5netcdf h5py"), (".parquet", "pyarrow")])
def test_missing_packages_are_named(tmp_path, dataset, monkeypatch, suffix, packages):
    monkeypatch.setattr(export, "find_spec", lambda name: None)
    with pytest.raises(StoreError, match=f"needs packages: pip install {packages}; .csv needs nothing more"):
        export_dataset(dataset, tmp_path / f"run{suffix}")
    assert os.listdir(tmp_path) == []


def test_tables_need_time_and_unique_columns(tmp_path, dataset):
    with pytest.raises(StoreError, match="no dimension 'time'"):
        export_dataset(dataset[["mass"]], tmp_path / "run.csv")
    twice = dataset.assign_coords(body=["crank", "crank"])
    with pytest.raises(StoreError, match=r"two columns would be named 'crank\.position\.x'"):
        export_dataset(twice, tmp_path / "run.csv")
    assert os.listdir(tmp_path) == []


def test_tables_in_degrees_say_so_in_their_columns(tmp_path):
    """Angles and their rates alone, of all signals and of those named; units of netCDF too."""
    run = da.simulate(gallery.build("slider_crank"), 0.1)
    plain, turned = (columns_in(run, tmp_path / f"{degrees}.csv", degrees) for degrees in (False, True))
    for name, column in plain.items():
        told = [other for other in turned if other == name or other.startswith(f"{name} [")]
        assert len(told) == 1, name
        factor = 180 / np.pi if "[deg" in told[0] else 1.0
        np.testing.assert_allclose(turned[told[0]], factor * column, rtol=1e-14)
    marked = {name for name in turned if "[" in name}
    assert {"A [deg]", "A.rate [deg/s]", "rod.wx [deg/s]", "rod.wx.rate [deg/s^2]"} <= marked
    assert not any(name.startswith(("slider.x", "A.f", "total_energy", "time")) for name in marked)
    run.export(tmp_path / "few.csv", "A", "slider.x", ("swing [rad]", lambda s: s.signal("A")), degrees=True)
    assert (tmp_path / "few.csv").read_text().startswith("time,A [deg],slider.x,swing [deg]\n")
    swept = da.kinematics(gallery.build("four_bar"), sweep={"A": np.linspace(0, np.pi / 2, 7)})
    swept.export(tmp_path / "swept.csv", "A", "B", degrees=True)
    table = np.genfromtxt(tmp_path / "swept.csv", delimiter=",", names=True, deletechars="")
    assert table.dtype.names == ("A_[deg]", "B_[deg]")
    np.testing.assert_allclose(table["A_[deg]"], np.linspace(0, 90, 7), atol=1e-12)
    with pytest.raises(StoreError, match=r"degrees are for tables, \.csv and \.parquet, and for signals by name"):
        run.export(tmp_path / "all.nc", degrees=True)
    system = da.simulate(gallery.chaplygin_sleigh(), 0.1)
    with pytest.raises(da.ModelError, match="which coordinates of a Lagrangian system are angles is not known"):
        system.export(tmp_path / "all.csv", degrees=True)


def columns_in(run, path, degrees):
    """A table as columns by name."""
    run.export(path, degrees=degrees)
    names = path.read_text().partition("\n")[0].split(",")
    return dict(zip(names, np.genfromtxt(path, delimiter=",", skip_header=1).T, strict=True))
