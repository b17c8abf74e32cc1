"""A sweep as a table with one row per run: its parameters, how it ended, and what was kept of it as single numbers."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.errors import StoreError
from dalembert.files import written_whole
from dalembert.io.export import spread
from dalembert.simulation.sweep_block import PER_RUN

OF_SERIES = ("min", "max")  # beside the last value
_INSTANTS = 3  # from which on a series has them


def numbers_of(sweep: Any) -> dict[str, npt.NDArray[Any]]:
    """(runs,) columns of all outputs: of a series its last value, under its name, and what it was at least and at most."""
    found: dict[str, npt.NDArray[Any]] = {}
    for name in (str(name) for name in sweep.dataset.data_vars if name not in (*PER_RUN, "message")):
        array = sweep[name]
        if "time" not in array.dims:
            found |= spread(name, array)
            continue
        found |= spread(name, array.isel(time=-1))
        for kind in OF_SERIES if len(sweep.t) >= _INSTANTS else ():
            found |= spread(f"{name}.{kind}", sweep[f"{name}.{kind}"])
    return found


def table_of(sweep: Any) -> dict[str, npt.NDArray[Any]]:
    """(runs,) columns by name."""
    columns: dict[str, npt.NDArray[Any]] = {"run": np.arange(len(sweep))}
    for name, array in sweep.dataset.coords.items():
        if array.dims[:1] == ("run",) and name != "run":
            columns |= spread(str(name), array)
    columns["status"] = sweep.status
    columns |= numbers_of(sweep)
    columns |= {name: sweep[name].values for name in PER_RUN if name != "status"}
    return columns | {"message": np.array([sweep.message.get(run, "") for run in range(len(sweep))], dtype=object)}


def export_sweep(sweep: Any, path: str | os.PathLike[str]) -> None:
    """Write the table as .csv, whole or not at all."""
    target = Path(path)
    if target.suffix.lower() != ".csv":
        raise StoreError(f"{target}: a sweep is written as a table with one row per run; give a path that ends in .csv")
    columns = table_of(sweep)
    with written_whole(target) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
