"""One array of a result store on the disk: a zarr v3 array in blocks of rows, each with a checksum of its own.

    <array>/zarr.json      what other zarr readers need; nothing is read from it here
    <array>/c/<k>/0        block k, padded to full size, as the regular grid of zarr wants it, compressed by zstd

The entry of an array in the commit record says how many rows count and what each block must hold. Blocks are replaced in one
step: rows beyond those of the last commit may follow in the last one, and do not count.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import StoreError
from dalembert.files import read_regular, replace_file

__all__ = ["Column", "clear_columns", "read_column", "size_of"]

BLOCK_BYTES = 2**20
BLOCK_ROWS = 4096  # at most: what the loss of one block costs
DTYPES = {
    np.dtype(code).str: name
    for code, name in {
        "?": "bool", "i1": "int8", "<i2": "int16", "<i4": "int32", "<i8": "int64",
        "u1": "uint8", "<u2": "uint16", "<u4": "uint32", "<u8": "uint64",
        "<f2": "float16", "<f4": "float32", "<f8": "float64", "<c8": "complex64", "<c16": "complex128",
    }.items()
}  # fmt: skip
_MARK = {"written_by": "dalembert"}


class Column:
    """Writes an array: whole, or by appending rows."""

    def __init__(self, folder: Path, dims: tuple[str, ...], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.folder = folder
        self.dims = dims
        self.dtype = dtype
        self.inner = shape[1:]
        self.scalar = not shape
        self.rows = 0
        self.block_rows = rows_per_block(self.inner, dtype)
        self.touched: set[Path] = set()  # folders whose names are not on the disk yet
        self._tail = np.full((self.block_rows, *self.inner), fill_of(dtype), dtype)
        self._digests: list[Any] = []
        folder.mkdir(parents=True, exist_ok=True)
        self.write_metadata()

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.scalar else (self.rows, *self.inner)

    def write(self, values: NDArray[Any]) -> None:
        """Append rows; a scalar is one row."""
        rows = values.reshape(-1, *self.inner) if self.scalar else values
        start = 0
        while start < len(rows):
            block, first = divmod(self.rows, self.block_rows)
            count = min(len(rows) - start, self.block_rows - first)
            part = np.ascontiguousarray(rows[start : start + count])
            self._tail[first : first + count] = part
            if first == 0:
                self._digests.append(digest_of(b""))
                self._tail[count:] = fill_of(self.dtype)
            self._digests[-1].update(as_bytes(part))
            self.rows += count
            start += count
            if self._tail.size:
                self._write_block(block)

    def _write_block(self, block: int) -> None:
        from numcodecs import zstd

        path = self.folder / chunk_key(block, self.scalar, len(self.inner))
        self.touched.add(path.parent)
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
            self.touched |= {above for above in path.parents if above.is_relative_to(self.folder)}
        replace_file(path, zstd.compress(as_bytes(self._tail), 1, checksum=True))

    def write_metadata(self) -> None:
        """What other readers need; a kill may leave it behind by an append, which loses nothing."""
        grid = [] if self.scalar else [self.block_rows, *self.inner]
        metadata = array_metadata(self.dims, self.shape, grid, self.dtype)
        replace_file(self.folder / "zarr.json", json.dumps(metadata, indent=1).encode(), sync=False)

    def entry(self) -> dict[str, Any]:
        """What the commit record says of the array."""
        return {
            "dims": list(self.dims),
            "shape": list(self.shape),
            "dtype": self.dtype.str,
            "block_rows": self.block_rows,
            "blocks": [digest.hexdigest() for digest in self._digests],
        }


def array_metadata(dims: Sequence[str], shape: Sequence[int], grid: Sequence[int], dtype: np.dtype[Any]) -> dict[str, Any]:
    """What `zarr.json` of an array says;  grid : shape of a block"""
    endian = {} if dtype.itemsize == 1 else {"configuration": {"endian": "little"}}
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": DTYPES[dtype.str],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [max(1, size) for size in grid]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": {"f": "NaN", "c": ["NaN", "NaN"], "b": False}.get(dtype.kind, 0),
        "codecs": [
            {"name": "bytes", **endian},
            {"name": "zstd", "configuration": {"level": 1, "checksum": True}},
        ],
        "attributes": _MARK,
        "dimension_names": list(dims),
        "storage_transformers": [],
    }


def rows_per_block(inner: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Rows of trailing shape `inner` that make a block."""
    return min(BLOCK_ROWS, max(1, BLOCK_BYTES // max(1, dtype.itemsize * math.prod(inner))))


def size_of(folder: Path, entry: Mapping[str, Any]) -> tuple[int, int]:
    """(bytes in memory, bytes on the disk) of the array that an entry describes; `ValueError` where it makes no sense."""
    shape: Any
    dims: Any
    blocks: Any
    shape, dims, blocks = entry.get("shape"), entry.get("dims"), entry.get("blocks")
    if not (_all(shape, int) and _all(dims, str) and _all(blocks, str) and _all([entry.get("dtype")], str)):
        raise ValueError("its entry is not one that dalembert writes")
    if entry["dtype"] not in DTYPES:
        raise ValueError("its entry is not one that dalembert writes")
    dtype, inner = np.dtype(entry["dtype"]), tuple(shape[1:])
    if min(shape, default=0) < 0 or len(dims) != len(shape) or entry.get("block_rows") != rows_per_block(inner, dtype):
        raise ValueError(f"its shape {shape} does not fit its blocks")
    rows = shape[0] if shape else 1
    if len(blocks) != -(-rows // entry["block_rows"]):
        raise ValueError(f"{len(blocks)} blocks do not hold its shape {shape}")
    there = 0
    if math.prod(inner):
        for k in range(len(blocks)):
            try:
                there += os.lstat(folder / chunk_key(k, not shape, len(inner))).st_size
            except OSError:
                continue  # a lost block
    return rows * math.prod(inner) * dtype.itemsize, there


def read_column(folder: Path, entry: Mapping[str, Any]) -> tuple[NDArray[Any], list[tuple[int, int, str]]]:
    """The committed rows, and (first, after last, what is wrong) of those that are lost; `size_of` has checked the entry."""
    shape, inner, dtype = tuple(entry["shape"]), tuple(entry["shape"][1:]), np.dtype(entry["dtype"])
    count, size = (shape[0] if shape else 1), entry["block_rows"]
    values = np.empty((count, *inner), dtype)
    lost = []
    for k, expected in enumerate(entry["blocks"]):
        first, last = k * size, min((k + 1) * size, count)
        problem = read_block(folder / chunk_key(k, not shape, len(inner)), size, values[first:last])
        if not problem and digest_of(as_bytes(values[first:last])).hexdigest() != expected:
            problem = "does not match its checksum"
        if problem:
            lost.append((first, last, problem))
    return values.reshape(shape), lost


def read_block(path: Path, size: int, rows: NDArray[Any]) -> str:
    """Fill rows from a block; what is wrong with it."""
    from numcodecs import zstd

    if not rows.size:
        return ""
    whole = np.empty((size, *rows.shape[1:]), rows.dtype)
    try:
        data = read_regular(path, 2 * whole.nbytes + 1024)
        zstd.decompress(data, as_bytes(whole))  # writes no further than the size of a block, whatever the data say
    except (OSError, ValueError, RuntimeError) as problem:
        return f"cannot be read ({type(problem).__name__})"
    rows[...] = whole[: len(rows)]
    return ""


def clear_columns(folder: Path) -> None:
    """Remove every array of ours in a folder, and nothing else."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if not path.is_dir() or path.is_symlink():
            continue
        try:
            metadata = json.loads(read_regular(path / "zarr.json", BLOCK_BYTES))
            ours = metadata["node_type"] == "array" and metadata["attributes"] == _MARK
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        if ours:
            for at, _, files in os.walk(path / "c", topdown=False):
                _remove(Path(at), [name for name in files if re.fullmatch(r"\d+(\.partial)?", name)])
            _remove(path, [name for name in ("c", "c.partial", "zarr.json.partial", "zarr.json") if (path / name).is_file()])


def _remove(folder: Path, files: list[str]) -> None:
    """Remove files, and their folder if it is empty then."""
    for name in files:
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def chunk_key(block: int, scalar: bool, inner: int) -> str:
    return "c" if scalar else "/".join(["c", str(block), *["0"] * inner])


def fill_of(dtype: np.dtype[Any]) -> Any:
    return np.nan if dtype.kind in "fc" else 0


def digest_of(data: Any) -> Any:
    return hashlib.blake2b(data, digest_size=16)


def as_bytes(values: NDArray[Any]) -> Any:
    """The buffer of an array in C order, as one row of bytes."""
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)


def _all(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(type(value) is kind for value in values)


def check_name(where: Path, name: str) -> None:
    """An array's name: it becomes a folder's."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name) or name in ("c", "commit", "again", "meshes"):
        raise StoreError(f"{where}: {name[:80]!r} cannot name an array; use letters, digits and _")
