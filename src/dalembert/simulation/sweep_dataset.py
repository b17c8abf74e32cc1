"""The store of a sweep as an xarray Dataset whose arrays are read block by block, where they are used."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray
from xarray.backends.common import BackendArray
from xarray.core import indexing

from dalembert.io.column import fill_of
from dalembert.io.sweep_store import Layout, SweepStore
from dalembert.results.plain import encode
from dalembert.simulation.parameters import RUN


class _Stored(BackendArray):
    """An array over runs; reads the blocks that an index touches."""

    def __init__(self, store: SweepStore, name: str, layout: Layout) -> None:
        self.shape, self.dtype = (store.runs, *layout.shape), np.dtype(layout.dtype)
        self._store, self._name, self._fill = store, name, fill_of(self.dtype)

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER_1VECTOR, self._read)

    def _read(self, key: tuple[Any, ...]) -> npt.NDArray[Any]:
        runs = np.arange(self._store.runs)[key[0]]
        block, within = np.divmod(np.atleast_1d(runs), self._store.block)
        rows = np.full((len(block), *self.shape[1:]), self._fill, self.dtype)
        order = np.argsort(block, kind="stable")
        for mine in np.split(order, np.flatnonzero(np.diff(block[order])) + 1) if len(order) else ():
            values = self._of_block(int(block[mine[0]]))
            if values is not None:
                rows[mine] = values[within[mine]]
        inner = rows[(slice(None), *key[1:])]
        return np.asarray(inner if np.ndim(runs) else inner[0])

    def _of_block(self, block: int) -> npt.NDArray[Any] | None:
        return self._store.read(self._name, block)


class _Messages(_Stored):
    """Texts, which are in the marks of blocks."""

    def _of_block(self, block: int) -> npt.NDArray[Any] | None:
        first, last = self._store.rows(block)
        told = (self._store.mark(block) or {"messages": {}})["messages"]
        return np.array([told.get(str(run), "") for run in range(first, last)], dtype=object)


def to_dataset(store: SweepStore) -> xarray.Dataset:
    """Dimensions (run, time, ...); parameters as coordinates over the runs."""
    columns, about = store.columns(), store.attributes
    coordinates: dict[str, Any] = {RUN: np.arange(store.runs), "time": ("time", columns.pop("time"), {"units": "s"})}
    for name, values in columns.items():
        coordinates[name] = ((RUN, *(f"{name}_{k}" for k in range(values.ndim - 1))), values)
    variables: dict[str, Any] = {}
    for name, layout in store.arrays.items():
        lazy = indexing.LazilyIndexedArray(_Stored(store, name, layout))
        notes = {"units": layout.units, "long_name": layout.meaning}
        variables[name] = ((RUN, *layout.dims), lazy, {key: text for key, text in notes.items() if text})
    texts = _Messages(store, "message", Layout((), (), "O"))
    texts._fill = ""
    variables["message"] = (RUN, indexing.LazilyIndexedArray(texts), {"long_name": "what stopped the run"})
    attributes = {"model": about["model"], "settings": json.dumps(encode(store.settings)), "hash": store.hash}
    return xarray.Dataset(variables, coordinates, attributes | {"versions": json.dumps(about["versions"])})
