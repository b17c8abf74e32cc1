"""The result store: arrays with named dimensions and the attributes that explain them, on zarr v3.

    run.zarr/zarr.json           format marker and attributes of the run, written once
    run.zarr/<array>/            one zarr array per quantity
    run.zarr/commit/zarr.json    status, committed rows and checksums; replaced atomically, always last

Any zarr reader opens it. `read_store` trusts only what the commit record covers: a run that was killed reads as
exactly the rows committed before the kill, with status "incomplete"; bytes other than those written raise `StoreError`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import StoreError
from dalembert.io.atomic import translate_os_errors, written_whole
from dalembert.io.record import encode, read_record, write_record

if TYPE_CHECKING:
    import zarr

__all__ = ["FORMAT", "FORMAT_VERSION", "ArrayLayout", "StoreWriter", "check_target", "read_store", "write_store"]

FORMAT = "dalembert-result"
FORMAT_VERSION = 1
INCOMPLETE = "incomplete"
_COMMIT = "commit"
_CHUNK_BYTES = 2**20
_DTYPES = ("bool", "int", "uint", "float16", "float32", "float64", "complex64", "complex128")

Arrays = Mapping[str, tuple[tuple[str, ...], NDArray[Any]]]


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
) -> None:
    """Write `{name: (dims, array)}` and JSON-like attributes as a result store, whole or not at all.

    The status is `attributes["status"]`, or "complete". With `overwrite=True` an existing result store is replaced;
    anything else at `path` is never touched.
    """
    target = Path(path)
    header = dict(attributes)
    status = header.pop("status", "complete")
    tables = {name: (tuple(dims), _little_endian(array)) for name, (dims, array) in arrays.items()}
    _check_sizes(target, tables)
    check_target(target, overwrite)
    with written_whole(target) as folder:
        group = _create_group(target, folder, header)
        _commit(folder, _write_columns(group, tables), status, {})


class StoreWriter:
    """Append blocks of rows while a simulation runs; what `append` returned from survives a kill of the process.

    with StoreWriter("run.zarr", {"t": ArrayLayout(), "q": ArrayLayout(("coordinate",), (7,))}, attributes) as writer:
        writer.append({"t": t_block, "q": q_block})        # (k,) and (k, 7)
        writer.close("complete", {"statistics": ...})      # else: "complete", or "incomplete" after an exception
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        layout: Mapping[str, ArrayLayout],
        attributes: Mapping[str, Any],
        *,
        time: str = "time",
        overwrite: bool = False,
    ) -> None:
        import zarr

        self.path = Path(path)
        self.rows = 0
        self._closed = False
        if "status" in attributes:
            raise StoreError(f"{path}: attribute 'status' is set by the writer; leave it out and give it to close()")
        dims = {name: (time, *item.dims) for name, item in layout.items()}
        empty = {name: np.empty((0, *item.shape), item.dtype) for name, item in layout.items()}
        tables = {name: (dims[name], empty[name]) for name in layout}
        write_store(self.path, tables, {**attributes, "status": INCOMPLETE}, overwrite=overwrite)
        with translate_os_errors(self.path, "write"):
            with zarr.config.set({"array.write_empty_chunks": True}):
                self._group: Any = zarr.open_group(self.path, mode="r+", zarr_format=3)
                opened: dict[str, Any] = {name: self._group[name] for name in layout}
            self._columns = {name: _Column(opened[name], dims[name], empty[name].shape, empty[name].dtype) for name in layout}

    def append(self, blocks: Mapping[str, Any]) -> None:
        """Write one block per array, all with the same number of rows, then commit them together."""
        checked = self._check_blocks(blocks)
        count = len(next(iter(checked.values()))) if checked else 0
        if count == 0:
            return
        self._closed = True  # an error or an interrupt below leaves the last commit standing and ends the writer
        with translate_os_errors(self.path, "write"):
            for name, block in checked.items():
                self._columns[name].write_rows(self.rows, block)
            self.rows += count
            _commit(self.path, self._columns, INCOMPLETE, {})
        self._closed = False

    def close(
        self,
        status: str = "complete",
        attributes: Mapping[str, Any] | None = None,
        arrays: Arrays | None = None,
    ) -> None:
        """Commit the final status, with attributes and whole arrays known only at the end (statistics, a message)."""
        self._check_open()
        added = {name: (tuple(dims), _little_endian(array)) for name, (dims, array) in (arrays or {}).items()}
        _check_sizes(self.path, {**{name: (c.dims, c.array) for name, c in self._columns.items()}, **added})
        self._closed = True
        with translate_os_errors(self.path, "write"):
            self._columns |= _write_columns(self._group, added)
            _commit(self.path, self._columns, status, attributes or {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if not self._closed:
            self.close("complete" if kind is None else INCOMPLETE)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path}: the store is closed; nothing can be appended")

    def _check_blocks(self, blocks: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        self._check_open()
        if blocks.keys() != self._columns.keys():
            got, expected = ", ".join(sorted(blocks)), ", ".join(sorted(self._columns))
            raise StoreError(f"{self.path}: append needs one block for each of {expected}; got {got or 'none'}")
        checked = {name: self._columns[name].check(self.path, name, block) for name, block in blocks.items()}
        counts = {name: len(block) for name, block in checked.items()}
        if len(set(counts.values())) > 1:
            raise StoreError(f"{self.path}: blocks differ in their number of rows: {counts}; append the same rows of all")
        return checked


def read_store(path: str | os.PathLike[str]) -> tuple[dict[str, tuple[tuple[str, ...], NDArray[Any]]], dict[str, Any]]:
    """Read `({name: (dims, array)}, attributes)` back, bit for bit; `attributes["status"]` says how the run ended.

    Every byte is checked against the checksum committed with it; what does not match raises `StoreError`.
    """
    import zarr

    folder = Path(path)
    header = _read_header(folder)
    try:
        commit = read_record(folder / _COMMIT)
    except ValueError as error:
        raise _corrupt(folder, f"commit record: {error}") from None
    arrays = {}
    for name, entry in commit["arrays"].items():
        try:
            array = zarr.open_array(folder / name, mode="r", zarr_format=3)
            values = np.asarray(array[: entry["shape"][0]] if entry["shape"] else array[()])
        except Exception as error:  # zarr, its codecs and the system raise many kinds for damaged files
            raise _corrupt(folder, f"array '{name}' cannot be read ({type(error).__name__})") from error
        if list(values.shape) != entry["shape"] or values.dtype.str != entry["dtype"]:
            raise _corrupt(folder, f"array '{name}' is {values.dtype.str} {list(values.shape)}, not as committed")
        if hashlib.sha256(_bytes(values)).hexdigest() != entry["sha256"]:
            raise _corrupt(folder, f"array '{name}' does not match its checksum")
        arrays[name] = (tuple(entry["dims"]), values)
    return arrays, {**header, **commit["attributes"], "status": commit["status"]}


class _Column:
    """One zarr array of a store with the running checksum of its committed rows."""

    def __init__(self, array: zarr.Array[Any], dims: tuple[str, ...], shape: tuple[int, ...], dtype: np.dtype[Any]):
        self.array = array
        self.dims = dims
        self.shape = shape
        self.dtype = dtype
        self.sha256 = hashlib.sha256()

    @classmethod
    def create(cls, group: zarr.Group, name: str, dims: tuple[str, ...], like: NDArray[Any]) -> Self:
        from zarr.codecs import ZstdCodec

        row_bytes = max(1, like.dtype.itemsize * int(np.prod(like.shape[1:], dtype=np.int64)))
        rows = max(1, _CHUNK_BYTES // row_bytes)
        array = group.create_array(
            name,
            shape=like.shape,
            dtype=like.dtype,
            chunks=tuple(max(1, size) for size in (rows, *like.shape[1:])) if like.shape else (),
            compressors=ZstdCodec(level=1, checksum=True),
            fill_value=np.nan if like.dtype.kind in "fc" else 0,
            dimension_names=dims,
            config={"write_empty_chunks": True},  # a chunk equal to the fill value is data, too
        )
        return cls(array, dims, like.shape, like.dtype)

    def check(self, path: Path, name: str, block: Any) -> NDArray[Any]:
        values = np.asarray(block)
        if values.ndim == 0 or values.shape[1:] != self.shape[1:]:
            expected = ("k", *self.shape[1:])
            raise StoreError(f"{path}: block '{name}' has shape {values.shape}; expected {expected}".replace("'k'", "k"))
        if not np.can_cast(values.dtype, self.dtype, "safe"):
            raise StoreError(f"{path}: block '{name}' is {values.dtype}, which {self.dtype} cannot hold exactly")
        return np.ascontiguousarray(values, dtype=self.dtype)

    def write_all(self, values: NDArray[Any]) -> None:
        if values.size:
            self.array[...] = values
        self.sha256.update(_bytes(values))

    def write_rows(self, start: int, block: NDArray[Any]) -> None:
        stop = start + len(block)
        self.array.resize((stop, *self.shape[1:]))
        if block.size:
            self.array[start:stop] = block
        self.sha256.update(_bytes(block))
        self.shape = (stop, *self.shape[1:])

    def entry(self) -> dict[str, Any]:
        return {
            "dims": list(self.dims),
            "shape": list(self.shape),
            "dtype": self.dtype.str,
            "sha256": self.sha256.hexdigest(),
        }


def _write_columns(group: zarr.Group, tables: Arrays) -> dict[str, _Column]:
    columns = {name: _Column.create(group, name, dims, array) for name, (dims, array) in tables.items()}
    for name, (_, array) in tables.items():
        columns[name].write_all(array)
    return columns


def _commit(folder: Path, columns: Mapping[str, _Column], status: str, attributes: Mapping[str, Any]) -> None:
    entries = {name: column.entry() for name, column in columns.items()}
    record = {"status": status, "arrays": entries, "attributes": encode(attributes)}
    (folder / _COMMIT).mkdir(exist_ok=True)
    write_record(folder / _COMMIT, record)


def _create_group(target: Path, folder: Path, attributes: Mapping[str, Any]) -> zarr.Group:
    import zarr

    folder.mkdir()
    header = {"format": FORMAT, "format_version": FORMAT_VERSION, "attributes": encode(attributes)}
    write_record(folder, header)
    return zarr.open_group(folder, mode="r+", zarr_format=3)


def _read_header(folder: Path) -> dict[str, Any]:
    if not folder.exists():
        raise StoreError(f"{folder}: there is no such path; check the name")
    if not folder.is_dir():
        raise StoreError(f"{folder}: is a file; a dalembert result is a folder written by save()")
    try:
        header = read_record(folder)
    except ValueError as error:
        raise StoreError(f"{folder}: not a dalembert result, or a damaged one: {error}; {_ADVICE}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise StoreError(f"{folder}: not a dalembert result: its format marker is not '{FORMAT}'; check the path")
    version = header["format_version"]
    if version != FORMAT_VERSION:
        raise StoreError(
            f"{folder}: written in format version {version}; this dalembert reads version {FORMAT_VERSION}; "
            "read it with the dalembert version that wrote it, or a newer one"
        )
    attributes: dict[str, Any] = header["attributes"]
    return attributes


_ADVICE = "take the file from a copy or run the simulation again"


def _corrupt(folder: Path, what: str) -> StoreError:
    return StoreError(f"{folder}: the result is corrupt or truncated: {what}; {_ADVICE}")


def check_target(target: Path, overwrite: bool) -> None:
    """Raise a `StoreError` when something is in the way that must not be replaced."""
    with translate_os_errors(target, "write"):
        if not os.path.lexists(target):
            return
    if not overwrite:
        raise StoreError(f"{target}: already exists; give another path, or overwrite=True to replace it")
    try:
        _read_header(target)
    except StoreError:
        raise StoreError(f"{target}: exists and is not a dalembert result; move it away or give another path") from None


def _check_sizes(target: Path, tables: Mapping[str, tuple[tuple[str, ...], Any]]) -> None:
    sizes: dict[str, int] = {}
    for name, (dims, array) in tables.items():
        if name == _COMMIT or not name or name.startswith((".", "__")) or set(name) & set("/\\"):
            raise StoreError(f"{target}: '{name}' cannot name an array; use letters, digits and _")
        if not array.dtype.name.startswith(_DTYPES):
            raise StoreError(f"{target}: array '{name}' holds {array.dtype}; give numbers, and text as an attribute")
        if len(dims) != array.ndim or len(set(dims)) != len(dims):
            raise StoreError(f"{target}: array '{name}' has shape {array.shape} and dimensions {dims}; name each once")
        for dim, size in zip(dims, array.shape, strict=True):
            if sizes.setdefault(dim, size) != size:
                raise StoreError(f"{target}: dimension '{dim}' of array '{name}' has size {size}, elsewhere {sizes[dim]}")


def _little_endian(array: Any) -> NDArray[Any]:
    values = np.asarray(array)
    return values.astype(values.dtype.newbyteorder("<"), copy=False)


def _bytes(values: NDArray[Any]) -> Any:
    """The buffer of an array in C order, as one row of bytes for hashing."""
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)
