"""Exports for other programs: netCDF, Parquet and CSV, chosen by the suffix of the path.

netCDF keeps the dataset as it is: dimensions, coordinates, units; attributes that netCDF cannot hold (dictionaries,
booleans, None) become JSON text. Parquet and CSV are tables with one row per time. A variable with further dimensions
becomes one column per element, see `spread`. A variable without time is repeated in every row; the tables of a run are those of
its `signal_table`. Numbers keep all their bits in all three formats. Parquet keeps the dataset's attributes as JSON text in the
schema metadata, under "attributes"; CSV has no place for them.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import StoreError
from dalembert.files import written_whole
from dalembert.results.plain import encode

if TYPE_CHECKING:
    import xarray

# methods of a solution that write what is no table
PICTURES = {**dict.fromkeys((".gif", ".mp4"), "export_animation"), ".html": "export_html", ".png": "export_picture"}

__all__ = ["PICTURES", "columns_of", "export_dataset", "spread"]


def export_dataset(dataset: xarray.Dataset, path: str | os.PathLike[str]) -> None:
    """Write `dataset` to `path` (.nc, .parquet or .csv), whole or not at all; an existing file is replaced."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in _WRITERS:
        known = ", ".join(_WRITERS)
        raise StoreError(f"{target}: unknown suffix '{target.suffix}'; give a path that ends in one of {known}")
    if target.is_dir():
        raise StoreError(f"{target}: is a folder; give the path of a file")
    packages, write = _WRITERS[suffix]
    if not all(map(find_spec, packages)):
        needed = " ".join(packages)
        raise StoreError(f"{target}: writing {target.suffix} needs packages: pip install {needed}; .csv needs nothing more")
    with written_whole(target) as temporary:
        write(dataset, temporary)


def _write_netcdf(dataset: xarray.Dataset, path: Path) -> None:
    plain = dataset.assign_attrs(_text_attributes(dataset.attrs))
    plain = plain.rename({name: str(name).replace("/", ":") for name in plain if "/" in str(name)})  # "/" parts groups there
    for name, variable in plain.variables.items():
        plain[name].attrs = _text_attributes(variable.attrs)
    # Without a fill value every NaN is data and keeps its bits.
    encoding = {name: {"_FillValue": None} for name in plain.variables}
    plain.to_netcdf(path, engine="h5netcdf", encoding=encoding)


def _write_parquet(dataset: xarray.Dataset, path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table(columns_of(dataset))
    attributes = json.dumps(encode(dataset.attrs))
    pyarrow.parquet.write_table(table.replace_schema_metadata({"attributes": attributes}), path)


def _write_csv(dataset: xarray.Dataset, path: Path) -> None:
    columns = columns_of(dataset)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        # csv writes floats by repr: the shortest text that reads back as the same number
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


_WRITERS: dict[str, tuple[tuple[str, ...], Callable[[xarray.Dataset, Path], None]]] = {
    ".nc": (("h5netcdf", "h5py"), _write_netcdf),
    ".parquet": (("pyarrow",), _write_parquet),
    ".csv": ((), _write_csv),
}


def columns_of(dataset: xarray.Dataset) -> dict[str, NDArray[Any]]:
    """The table: column name -> (nt,) values, the time first, or what was swept."""
    if "time" not in dataset.sizes:
        raise StoreError("the dataset has no dimension 'time', so no rows to write; export it as .nc")
    first = str(dataset["time"].attrs.get("signal", "time"))
    columns = {first: np.asarray(dataset["time"].values)}
    for name, variable in dataset.data_vars.items():
        over_time = variable if "time" in variable.dims else variable.expand_dims(time=dataset["time"])
        for title, column in spread(str(name), over_time.transpose("time", ...)):
            if title == first != "time" and np.allclose(column, columns[first], rtol=1e-9, atol=1e-12):
                continue  # the coordinate that was swept, to rounding
            if title in columns:
                raise StoreError(f"two columns would be named '{title}'; rename a variable or a label, or export as .nc")
            columns[title] = column
    return columns


def spread(name: str, array: xarray.DataArray) -> Iterator[tuple[str, NDArray[Any]]]:
    """A variable as columns over its first dimension, named without commas by the labels along the others: `slider.position.x`,
    the element's before and the others behind, `q[0]` where they are numbers."""
    labels = [array[dim].values.tolist() for dim in array.dims[1:]]
    flat = array.values.reshape(len(array), math.prod(map(len, labels)))
    for column, key in zip(flat.T, itertools.product(*labels), strict=True):
        first, *others = [label for label in key if isinstance(label, str)] or [""]
        numbers = "".join(f"[{label}]" for label in key if not isinstance(label, str))
        title = ".".join([*([first] if first else ()), name, *others]) + numbers
        yield title, np.ascontiguousarray(column)


def _text_attributes(attributes: dict[Any, Any]) -> dict[str, Any]:
    plain = (str, int, float, np.ndarray, np.generic)
    return {
        str(key): value if isinstance(value, plain) and not isinstance(value, bool) else json.dumps(encode(value))
        for key, value in attributes.items()
    }
