"""The result store: arrays of rows and the attributes that explain them, on zarr v3.

    run.zarr/zarr.json           format marker and attributes of the run, written once
    run.zarr/<array>/            one zarr array per quantity (column.py)
    run.zarr/commit/zarr.json    status, committed rows and checksums; replaced atomically, always last
    run.zarr/again/              where attributes and arrays of a run lie that replaced one in run.zarr itself

Any zarr reader opens it. A run that replaces another is written to the place that is free; its first commit names that place
and so takes over in one step, then the older arrays are removed; files that are not ours stay. `read_store` trusts nothing
but what the commit record covers: a run that was killed reads as the rows committed before, with status "incomplete"; a block
whose bytes are not those written costs its own rows, status "damaged".
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import StoreError
from dalembert.io.column import DTYPES, Column, check_name, read_column, size_of
from dalembert.io.place import ADVICE, Arrays, Place, corrupt, read_records
from dalembert.results.plain import DAMAGED, INCOMPLETE

__all__ = ["ArrayLayout", "StoreWriter", "read_store", "write_store"]

TIME = "time"
_LARGE, _FOLDED = 2**28, 200  # what is larger in memory must not be more than so many times its size on the disk

Read = dict[str, tuple[tuple[str, ...], NDArray[Any]]]


@dataclass(frozen=True)
class ArrayLayout:
    """One appended quantity: `dims` without the leading time dimension, their sizes, and the dtype."""

    dims: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    dtype: str = "float64"


def write_store(
    path: str | os.PathLike[str],
    arrays: Arrays,
    attributes: Mapping[str, Any],
    *,
    overwrite: bool = False,
    files: Mapping[str, bytes] | None = None,
) -> None:
    """Write `{name: (dims, array)}` and JSON-like attributes as a result store, whole or not at all.

    The status is `attributes["status"]`, or "complete". With `overwrite=True` an existing result store is replaced;
    anything else at `path` is never touched. files : small files beside the arrays, by name
    """
    header = dict(attributes)
    status = header.pop("status", "complete")
    place = Place(Path(path), overwrite)
    with place.writing(new=True):
        tables = _checked(place.target, arrays)
        place.begin(header, files or {})
        place.write(tables)
        place.commit(status, {})
    place.release()


class StoreWriter:
    """Append blocks of rows while a simulation runs; what `append` returned from survives a kill of the process.

    with StoreWriter("run.zarr", {"t": ArrayLayout(), "q": ArrayLayout(("coordinate",), (7,))}, attributes) as writer:
        writer.append({"t": t_block, "q": q_block})        # (k,) and (k, 7)
        writer.close("complete", {"statistics": ...})      # else: "complete", or "incomplete" after an exception

    An older result stays readable until the first rows are committed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        layout: Mapping[str, ArrayLayout],
        attributes: Mapping[str, Any],
        *,
        overwrite: bool = False,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        self.path = Path(path)
        self.rows = 0
        if "status" in attributes:
            raise StoreError(f"{path}: attribute 'status' is set by the writer; leave it out and give it to close()")
        empty = {name: ((TIME, *item.dims), np.empty((0, *item.shape), item.dtype)) for name, item in layout.items()}
        self._place = Place(self.path, overwrite)
        with self._place.writing(new=True):
            tables = _checked(self.path, empty)
            self._place.begin(attributes, files or {})
            self._place.write(tables)
            if self._place.replaces is None:
                self._place.commit(INCOMPLETE, {})

    def append(self, blocks: Mapping[str, Any]) -> None:
        """Write one block per array, all with the same number of rows, then commit them together."""
        checked = self._check_blocks(blocks)
        count = len(next(iter(checked.values()))) if checked else 0
        if count == 0:
            return
        with self._place.writing():
            for name, block in checked.items():
                self._place.columns[name].write(block)
                self._place.columns[name].write_metadata()
            self._place.commit(INCOMPLETE, {})
        self.rows += count

    def close(
        self,
        status: str = "complete",
        attributes: Mapping[str, Any] | None = None,
        arrays: Arrays | None = None,
    ) -> None:
        """Commit the final status, with attributes and whole arrays known only at the end (statistics, a message)."""
        self._check_open()
        added = _checked(self.path, arrays or {}, {TIME: self.rows})
        with self._place.writing():
            self._place.write(added)
            self._place.commit(status, attributes or {})
        self._place.release()

    def abandon(self) -> None:
        """End the writer: the last commit stands; a store that never had a row is removed."""
        self._place.abandon(empty=self.rows == 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._place.open:
            self.close("complete" if kind is None else INCOMPLETE)

    def _check_open(self) -> None:
        if not self._place.open:
            raise StoreError(f"{self.path}: the store is closed; nothing can be appended")

    def _check_blocks(self, blocks: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        self._check_open()
        columns = self._place.columns
        if blocks.keys() != columns.keys():
            got, expected = ", ".join(sorted(blocks)), ", ".join(sorted(columns))
            raise StoreError(f"{self.path}: append needs one block for each of {expected}; got {got or 'none'}")
        checked = {name: _check_block(self.path, name, columns[name], block) for name, block in blocks.items()}
        counts = {name: len(block) for name, block in checked.items()}
        if len(set(counts.values())) > 1:
            raise StoreError(f"{self.path}: blocks differ in their number of rows: {counts}; append the same rows of all")
        return checked


def read_store(path: str | os.PathLike[str]) -> tuple[Read, dict[str, Any], Path]:
    """Read `({name: (dims, array)}, attributes)` back, bit for bit; `attributes["status"]` says how the run ended. And the
    folder with the files beside the arrays.

    Every block is checked against the checksum committed with it. Rows in blocks that do not match are left out of all arrays
    over time, and the status is "damaged" with a message; where nothing is left, or the records do not match, `StoreError`.
    """
    folder = Path(path)
    for _ in range(3):
        before = read_records(folder)
        try:
            return _read(folder, *before)
        except StoreError:
            if read_records(folder) == before:
                raise
    raise StoreError(f"{folder}: a run is replacing it; read it again")


def _read(folder: Path, header: dict[str, Any], commit: dict[str, Any], place: Path) -> tuple[Read, dict[str, Any], Path]:
    entries = commit["arrays"]
    sizes = {}
    for name, entry in entries.items():
        check_name(folder, name)
        try:
            sizes[name] = size_of(place / name, entry if isinstance(entry, dict) else {})
        except ValueError as problem:
            raise corrupt(folder, f"array '{name}': {problem}") from None
    unfolded, there = (sum(size[k] for size in sizes.values()) for k in (0, 1))
    if unfolded > max(_LARGE, _FOLDED * there):
        raise StoreError(
            f"{folder}: {there / 1e6:.3g} MB would unfold to {unfolded / 1e9:.3g} GB, as no result of a run does; not read"
        )
    arrays: Read = {}
    lost: dict[str, list[tuple[int, int, str]]] = {}
    for name, entry in entries.items():
        values, bad = read_column(place / name, entry)
        arrays[name] = (tuple(entry["dims"]), values)
        if bad:
            lost[name] = bad
    attributes = {**header["attributes"], **commit["attributes"], "status": commit["status"]}
    return _without_lost(folder, arrays, lost, attributes), attributes, place


def _without_lost(
    folder: Path, arrays: Read, lost: Mapping[str, list[tuple[int, int, str]]], attributes: dict[str, Any]
) -> Read:
    """The rows that every array over time still has; says so in the attributes."""
    if not lost:
        return arrays
    name, (first, last, problem) = next((name, bad[0]) for name, bad in lost.items())
    rows = {len(values) for dims, values in arrays.values() if dims[:1] == (TIME,)}
    if len(rows) != 1 or any(arrays[array][0][:1] != (TIME,) for array in lost):
        raise corrupt(folder, f"array '{name}' {problem}")
    keep = np.ones(rows.pop(), dtype=bool)
    for bad in lost.values():
        for start, stop, _ in bad:
            keep[start:stop] = False
    if not keep.any():
        raise corrupt(folder, f"array '{name}' {problem}")
    attributes["message"] = (
        f"{np.count_nonzero(~keep)} of {len(keep)} states are lost: rows {first} to {last - 1} of array '{name}' {problem}"
        + (", and others" if sum(map(len, lost.values())) > 1 else "")
        + f"; the run ended: {attributes['status']}; {ADVICE}"
    )
    attributes["status"] = DAMAGED
    return {name: (dims, values[keep] if dims[:1] == (TIME,) else values) for name, (dims, values) in arrays.items()}


def _checked(target: Path, arrays: Arrays, sizes: dict[str, int] | None = None) -> Arrays:
    """Arrays in the form in which they are written; sizes : of dimensions that are known."""
    known = {} if sizes is None else sizes
    tables = {name: (tuple(dims), _little_endian(array)) for name, (dims, array) in arrays.items()}
    for name, (dims, array) in tables.items():
        check_name(target, name)
        if array.dtype.str not in DTYPES:
            raise StoreError(f"{target}: array '{name}' holds {array.dtype}; give numbers, and text as an attribute")
        if len(dims) != array.ndim or len(set(dims)) != len(dims):
            raise StoreError(f"{target}: array '{name}' has shape {array.shape} and dimensions {dims}; name each once")
        for dim, size in zip(dims, array.shape, strict=True):
            if known.setdefault(dim, size) != size:
                raise StoreError(f"{target}: dimension '{dim}' of array '{name}' has size {size}, elsewhere {known[dim]}")
    return tables


def _check_block(path: Path, name: str, column: Column, block: Any) -> NDArray[Any]:
    values = np.asarray(block)
    if values.ndim == 0 or values.shape[1:] != column.inner:
        expected = ("k", *column.inner)
        raise StoreError(f"{path}: block '{name}' has shape {values.shape}; expected {expected}".replace("'k'", "k"))
    if not np.can_cast(values.dtype, column.dtype, "safe"):
        raise StoreError(f"{path}: block '{name}' is {values.dtype}, which {column.dtype} cannot hold exactly")
    return np.ascontiguousarray(values, dtype=column.dtype)


def _little_endian(array: Any) -> NDArray[Any]:
    values = np.asarray(array)
    return values.astype(values.dtype.newbyteorder("<"), copy=False)
