"""The store of a sweep: arrays over runs in blocks that any process writes by itself, on zarr v3.

    sweep.zarr/zarr.json        format, settings with their hash, what arrays there are; made whole with the store
    sweep.zarr/<array>/         a zarr array; of parameters and times written at once, of results one chunk per block of runs
    sweep.zarr/blocks/<k>.json  mark of block k, written last: checksums of its chunks, messages of its runs that failed
    sweep.zarr/blocks/*.partial files on their way; each is moved to its place in one step

A block counts when it has its mark. Chunks are not forced to the disk one by one: after a loss of power the checksums tell, and
the sweep computes such blocks again. Writers of the same block write the same bits, so that none has to wait for another.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import StoreError
from dalembert.files import check_parent, replace_file, translate_os_errors
from dalembert.io.column import DTYPES, Column, array_metadata, as_bytes, chunk_key, digest_of, fill_of, read_block, read_column
from dalembert.io.lock import FolderLock
from dalembert.io.place import SWEEP, check_suffix
from dalembert.io.record import read_record, write_record
from dalembert.results.plain import encode

__all__ = ["Layout", "SweepStore", "create_sweep", "is_sweep", "moved_aside"]

FORMAT, VERSION = SWEEP, 1
MARKS, PARTIAL = "blocks", ".partial"


@dataclass(frozen=True)
class Layout:
    """An array over runs: dimensions and shape behind the run's; what it means."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str = "<f8"
    units: str = ""
    meaning: str = ""


class SweepStore:
    """A store that exists. header : what its `zarr.json` says"""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        with translate_os_errors(self.path, "read"):
            if not self.path.is_dir():
                raise StoreError(f"{self.path}: there is no such store; check the name")
        try:
            self.header = read_record(self.path)
            if self.header.get("format") != FORMAT:
                raise ValueError("it is no sweep")
        except ValueError as problem:
            raise StoreError(f"{self.path}: not a sweep of dalembert, or a damaged one: {problem}") from None
        if self.header["format_version"] != VERSION:
            raise StoreError(f"{self.path}: written in another format version; read it with the dalembert that wrote it")
        self.runs, self.block = int(self.header["runs"]), int(self.header["block"])
        self.hash, self.settings, self.attributes = (self.header[key] for key in ("hash", "settings", "attributes"))
        self.arrays = {
            name: Layout(tuple(a["dims"]), tuple(a["shape"]), a["dtype"], a["units"], a["meaning"])
            for name, a in self.header["arrays"].items()
        }

    @property
    def blocks(self) -> int:
        return -(-self.runs // self.block)

    def rows(self, block: int) -> tuple[int, int]:
        """First run of a block, and the one after its last."""
        return block * self.block, min((block + 1) * self.block, self.runs)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Parameters and times, which were written with the store."""
        found: dict[str, NDArray[Any]] = {name: np.asarray(values) for name, values in self.header["texts"].items()}
        for name, entry in self.header["columns"].items():
            found[name], lost = read_column(self._folder(name), entry)
            if lost:
                raise StoreError(f"{self.path}: array {name!r} {lost[0][2]}; take the store from a copy, or sweep again")
        return found

    def done(self) -> set[int]:
        """Blocks that have their mark."""
        with suppress(FileNotFoundError):
            names = (re.fullmatch(r"(\d+)\.json", entry.name) for entry in os.scandir(self.path / MARKS))
            return {int(name[1]) for name in names if name}
        return set()

    def mark(self, block: int) -> dict[str, Any] | None:
        """What was written of a block, None where it does not count."""
        try:
            text, expected = json.loads((self.path / MARKS / f"{block}.json").read_bytes())
            mark: dict[str, Any] = json.loads(text)
            return mark if _sum(text) == expected and set(mark["digests"]) == set(self.arrays) else None
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def whole(self, block: int) -> bool:
        """Whether all chunks of a block are those that its mark tells of."""
        try:
            mark = self.mark(block)
            return mark is not None and all(self.read(name, block, mark) is not None for name in self.arrays)
        except StoreError:
            return False

    def write(self, block: int, arrays: Mapping[str, NDArray[Any]], messages: Mapping[int, str]) -> None:
        """Write a block whole, its mark last."""
        from numcodecs import zstd

        first, last = self.rows(block)
        digests = {}
        with translate_os_errors(self.path, "write"):
            for name, layout in self.arrays.items():
                rows = np.ascontiguousarray(arrays[name], dtype=layout.dtype)
                assert rows.shape == (last - first, *layout.shape), (name, rows.shape)
                digests[name] = digest_of(as_bytes(rows)).hexdigest()
                chunk = np.full((self.block, *layout.shape), fill_of(rows.dtype), rows.dtype)
                chunk[: last - first] = rows
                if chunk.size:
                    self._put(self._chunk(name, block), zstd.compress(as_bytes(chunk), 1, checksum=True))
            text = json.dumps({"digests": digests, "messages": {str(run): words for run, words in messages.items()}})
            self._put(self.path / MARKS / f"{block}.json", json.dumps([text, _sum(text)]).encode())

    def read(self, name: str, block: int, known: dict[str, Any] | None = None) -> NDArray[Any] | None:
        """Rows of a block; None where it is missing. known : its mark"""
        mark, layout = known or self.mark(block), self.arrays[name]
        if mark is None:
            return None
        first, last = self.rows(block)
        rows = np.empty((last - first, *layout.shape), layout.dtype)
        problem = read_block(self._chunk(name, block), self.block, rows)
        if problem or digest_of(as_bytes(rows)).hexdigest() != mark["digests"][name]:
            raise StoreError(
                f"{self.path}: {name!r} of runs {first} to {last - 1} {problem or 'does not match its checksum'};"
                " the same call of simulate_many computes them again"
            )
        return rows

    def over_runs(self, name: str) -> NDArray[Any]:
        """All rows of an array, filled where blocks are missing."""
        layout = self.arrays[name]
        rows = np.full((self.runs, *layout.shape), fill_of(np.dtype(layout.dtype)), layout.dtype)
        for block in range(self.blocks):
            first, last = self.rows(block)
            if (values := self.read(name, block)) is not None:
                rows[first:last] = values
        return rows

    def messages(self) -> dict[int, str]:
        """Why runs failed, by run."""
        marks = (self.mark(block) for block in sorted(self.done()))
        return {int(run): text for mark in marks if mark for run, text in mark["messages"].items()}

    def remove_partial(self) -> None:
        """Remove files that killed writers left on their way; for who holds the lock."""
        with translate_os_errors(self.path, "write"):
            for entry in os.scandir(self.path / MARKS):
                if entry.name.endswith(PARTIAL):
                    with suppress(FileNotFoundError):
                        os.unlink(entry.path)

    def unmark_broken(self) -> None:
        """Remove marks of blocks that are not whole; for who holds the lock."""
        with translate_os_errors(self.path, "write"):
            for block in self.done():
                if block >= self.blocks or not self.whole(block):
                    (self.path / MARKS / f"{block}.json").unlink(missing_ok=True)

    def check_own(self) -> None:
        """Refuse to replace it where files of others are in it."""
        own = {"zarr.json", MARKS, *self.header["folders"].values()}
        if others := sorted(set(os.listdir(self.path)) - own):
            raise StoreError(f"{self.path}: has files that are none of the sweep's ({', '.join(others)}); move them away first")

    def _folder(self, name: str) -> Path:
        return self.path / str(self.header["folders"][name])

    def _chunk(self, name: str, block: int) -> Path:
        return self._folder(name) / chunk_key(block, False, len(self.arrays[name].shape))

    def _put(self, path: Path, data: bytes) -> None:
        """A file whole or not at all, also when two processes write it at once."""
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data, sync=False, through=self.path / MARKS / f"{secrets.token_hex(8)}{PARTIAL}")


def is_sweep(path: str | os.PathLike[str]) -> bool:
    """Whether a path holds a sweep."""
    try:
        return bool(read_record(Path(path)).get("format") == FORMAT)
    except ValueError:
        return False


@contextmanager
def moved_aside(path: Path) -> Iterator[None]:
    """Room for a new store: what is there is removed after it was made, and comes back where that failed."""
    if not path.exists():
        yield
        return
    with translate_os_errors(path, "write"):
        FolderLock(path).release()  # nobody writes there
        old = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
        os.rename(path, old)
    try:
        yield
    except BaseException:
        os.rename(old, path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def create_sweep(
    path: Path,
    runs: int,
    block: int,
    columns: Mapping[str, tuple[tuple[str, ...], NDArray[Any]]],
    arrays: Mapping[str, Layout],
    settings: Mapping[str, Any],
    hash: str,
    attributes: Mapping[str, Any],
) -> SweepStore:
    """A new store without blocks, whole or not at all. columns : name -> (dims, values), texts among them"""
    check_parent(path)
    check_suffix(path, "a sweep")
    folders: dict[str, str] = {}
    for name in (*columns, *arrays):
        plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:60] or "array"
        taken = {MARKS, "c", *(folder.lower() for folder in folders.values())}
        folders[name] = next(c for c in (plain, *(f"{plain}_{k}" for k in range(2, 9999))) if c.lower() not in taken)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    with translate_os_errors(path, "write"):
        try:
            temporary.mkdir()
            (temporary / MARKS).mkdir()
            write_record(temporary / MARKS, {})
            entries: dict[str, Any] = {}
            texts: dict[str, Any] = {}
            for name, (dims, values) in columns.items():
                if values.dtype.str not in DTYPES:
                    texts[name] = [str(value) for value in values.tolist()]
                    continue
                column = Column(temporary / folders[name], dims, values.shape, values.dtype)
                column.write(values)
                column.write_metadata()
                entries[name] = column.entry()
            for name, layout in arrays.items():
                folder, shape = temporary / folders[name], layout.shape
                folder.mkdir()
                metadata = array_metadata(("run", *layout.dims), (runs, *shape), (block, *shape), np.dtype(layout.dtype))
                (folder / "zarr.json").write_text(json.dumps(metadata, indent=1))
            header = {
                **{"format": FORMAT, "format_version": VERSION, "runs": runs, "block": block, "hash": hash},
                **{"settings": dict(settings), "attributes": dict(attributes), "columns": entries, "texts": texts},
                **{"arrays": {name: asdict(layout) for name, layout in arrays.items()}, "folders": folders},
            }
            write_record(temporary, encode(header))
            os.rename(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return SweepStore(path)


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
