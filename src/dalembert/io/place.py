"""Where a result store is written: two places inside its folder, one lock, one record that says which place counts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dalembert.errors import StoreError
from dalembert.files import check_parent, replace_file, sync_folder, translate_os_errors
from dalembert.io.column import Column, clear_columns
from dalembert.io.lock import FolderLock
from dalembert.io.record import read_record, write_record
from dalembert.model.validation import nearest
from dalembert.results.plain import encode

__all__ = ["FORMAT", "FORMAT_VERSION", "Place", "check_target", "read_records"]

FORMAT, SWEEP = "dalembert-result", "dalembert-sweep"
FORMAT_VERSION = 2
ADVICE = "take the file from a copy or run the simulation again"
_COMMIT = "commit"
_PLACES = ("", "again")
_FILES = "meshes"
_OURS = re.compile(r"[0-9a-f]{32}\.(stl|obj)(\.partial)?")  # as io.meshes names them

Arrays = Mapping[str, tuple[tuple[str, ...], NDArray[Any]]]


class Place:
    """The free place of a store, from the lock to the last commit; a first commit there replaces what was in the other."""

    def __init__(self, target: Path, overwrite: bool) -> None:
        self.target = target
        self.columns: dict[str, Column] = {}
        self.replaces: str | None = None  # place of the older result, until the first commit
        self._open = self._begun = self._committed = False
        check_target(target, overwrite, locked=True)
        with translate_os_errors(target, "write"):
            self._made = not target.exists()
            target.mkdir(exist_ok=True)
            self._lock = FolderLock(target)
        try:
            check_target(target, overwrite, locked=True)  # another run may have ended in between
        except BaseException:
            self.release()
            raise
        with suppress(ValueError):
            self.replaces = _commit_of(target)["place"]
        self.place = _PLACES[1] if self.replaces == _PLACES[0] else _PLACES[0]
        self.folder = target / self.place

    @property
    def open(self) -> bool:
        return self._open and self._lock.held

    @contextmanager
    def writing(self, new: bool = False) -> Iterator[None]:
        """What goes wrong inside ends the writing; the last commit stands. new : nothing of it is kept."""
        self._open = False  # an error or an interrupt leaves it so
        with translate_os_errors(self.target, "write"):
            try:
                yield
            except BaseException:
                if new:
                    self.abandon()
                raise
        self._open = True

    def begin(self, attributes: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
        """Header and files in the free place, where a run may have been killed before its first commit."""
        header = {"format": FORMAT, "format_version": FORMAT_VERSION, "attributes": encode(attributes)}
        self._begun = True
        _clear(self.folder)
        self.folder.mkdir(exist_ok=True)
        if self.replaces is None:  # one that cannot be read
            _unlink(self.target / _COMMIT / "zarr.json")
        write_record(self.folder, header)
        if files:
            (self.folder / _FILES).mkdir(exist_ok=True)
        for name, data in files.items():
            replace_file(self.folder / _FILES / name, data)
        for folder in (self.folder / _FILES, self.folder, self.target, self.target.parent):
            if folder.exists():
                sync_folder(folder)

    def write(self, tables: Arrays) -> None:
        """Whole arrays."""
        for name, (dims, values) in tables.items():
            column = self.columns[name] = Column(self.folder / name, dims, values.shape, values.dtype)
            column.write(values)
            column.write_metadata()

    def commit(self, status: str, attributes: Mapping[str, Any]) -> None:
        """Everything to the disk, then the record that makes it count."""
        for folder in {self.folder, *(folder for column in self.columns.values() for folder in column.touched)}:
            sync_folder(folder)
        for column in self.columns.values():
            column.touched.clear()
        arrays = {name: column.entry() for name, column in self.columns.items()}
        (self.target / _COMMIT).mkdir(exist_ok=True)
        record = {"status": status, "place": self.place, "arrays": arrays, "attributes": encode(attributes)}
        write_record(self.target / _COMMIT, record)
        sync_folder(self.target / _COMMIT)
        if not self._committed:
            self._committed, self.replaces = True, None
            sync_folder(self.target)
            with suppress(OSError):  # what is left is removed by the next run
                self._leave_one()

    def _leave_one(self) -> None:
        """Remove the older result; the marker of the store has the attributes of the one that counts."""
        _clear(self.target / (_PLACES[1] if self.place == _PLACES[0] else _PLACES[0]))
        if self.place:
            write_record(self.target, read_record(self.folder))

    def abandon(self, *, empty: bool = False) -> None:
        """Release the lock; what was not committed is removed, and with `empty` a store that was made for nothing."""
        if self._lock.held and (not self._committed or (empty and self._made)):
            with suppress(OSError, ValueError):
                if self._begun:
                    _clear(self.folder)
                if self.replaces:
                    write_record(self.target, read_record(self.target / self.replaces))
                if self._made:
                    _remove_records(self.target)
        self.release()

    def release(self) -> None:
        self._open = False
        self._lock.release()


def _clear(folder: Path) -> None:
    """Remove what we wrote to a place, and nothing else; the marker of the store stays."""
    clear_columns(folder)
    files = folder / _FILES
    if files.is_dir():
        for path in files.iterdir():
            if _OURS.fullmatch(path.name) and path.is_file():
                path.unlink()
        with suppress(OSError):
            files.rmdir()
    if folder.name == _PLACES[1]:
        _unlink(folder / "zarr.json")
        _unlink(folder / "zarr.json.partial")
        with suppress(OSError):
            folder.rmdir()


def _remove_records(target: Path) -> None:
    """Remove the last of a store that holds nothing else."""
    for folder in (target / _COMMIT, target):
        for name in ("zarr.json", "zarr.json.partial"):
            _unlink(folder / name)
        with suppress(OSError):
            folder.rmdir()


def _unlink(path: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()


def _commit_of(folder: Path) -> dict[str, Any]:
    """The commit record, if it has the parts that it must have; else `ValueError`."""
    commit = read_record(folder / _COMMIT)
    shape = {"status": str, "place": str, "arrays": dict, "attributes": dict}
    if any(not isinstance(commit.get(key), kind) for key, kind in shape.items()) or commit["place"] not in _PLACES:
        raise ValueError("it is not one that dalembert writes")
    return commit


def read_records(folder: Path) -> tuple[dict[str, Any], dict[str, Any], Path]:
    """Header, commit record and the place that it names."""
    _read_header(folder, folder)
    try:
        commit = _commit_of(folder)
    except ValueError as error:
        if not (folder / _COMMIT / "zarr.json").exists():
            raise StoreError(
                f"{folder}: commit record: {error}: the run was killed before it wrote a state, or damaged"
            ) from None
        raise corrupt(folder, f"commit record: {error}") from None
    place = folder / commit["place"]
    return _read_header(folder, place), commit, place


def _read_header(folder: Path, place: Path) -> dict[str, Any]:
    with translate_os_errors(folder, "read"):
        if not folder.exists():
            beside = [other.name for other in folder.parent.glob("*.zarr")]
            raise StoreError(f"{folder}: there is no such path; {nearest(folder.name, beside) if beside else 'check the name'}")
        if not folder.is_dir():
            raise StoreError(f"{folder}: is a file; a dalembert result is a folder written by save()")
    try:
        header = read_record(place)
    except ValueError as error:
        raise StoreError(f"{folder}: not a dalembert result, or a damaged one: {error}; {ADVICE}") from None
    if header.get("format") != FORMAT:
        advice = "it holds a sweep, for da.load and `dalembert plot`" if header.get("format") == SWEEP else "check the path"
        raise StoreError(f"{folder}: not a dalembert result: its format marker is not '{FORMAT}'; {advice}")
    version = header.get("format_version")
    if version != FORMAT_VERSION:
        raise StoreError(
            f"{folder}: written in format version {ascii(version)[:20]}; this dalembert reads version {FORMAT_VERSION}; "
            "read it with the dalembert version that wrote it, or a newer one"
        )
    if not isinstance(header.get("attributes"), dict):
        raise StoreError(f"{folder}: not a dalembert result, or a damaged one: it has no attributes; {ADVICE}")
    return header


def corrupt(folder: Path, what: str) -> StoreError:
    return StoreError(f"{folder}: the result is corrupt or truncated: {what}; {ADVICE}")


def check_suffix(target: Path, what: str = "a result") -> None:
    """Refuse a name of what a store is not: it would be a folder that is called like a file."""
    store, name = f"{target.stem}.zarr", target.name
    written = {
        **dict.fromkeys((".csv", ".nc", ".parquet"), ("a table", f"`dalembert export {store} {name}`, or solution.export")),
        **dict.fromkeys((".png", ".svg", ".pdf"), ("a figure", f"`dalembert plot {store} --out {name}`")),
        **dict.fromkeys((".html", ".gif", ".mp4"), ("what moves", f"`dalembert export {store} {name}`")),
        **dict.fromkeys((".yaml", ".yml"), ("its model", f"`dalembert export {store} {name}`")),
        **dict.fromkeys((".json", ".txt", ".xlsx"), ("a table", f"`dalembert export {store} {target.stem}.csv`")),
    }.get(target.suffix.lower())
    if written is not None:
        fix = "give a path that ends in .zarr"
        if what == "a sweep":
            raise StoreError(f"{target}: {what} is stored as a folder; {fix}")
        raise StoreError(f"{target}: {what} is stored as a folder, {written[0]} is written from it; {fix}, then {written[1]}")


def check_target(target: Path, overwrite: bool, *, locked: bool = False) -> None:
    """Raise a `StoreError` when something is in the way that must not be replaced, or another run writes there.

    locked : the lock is not asked for
    """
    check_parent(target)
    check_suffix(target)
    with translate_os_errors(target, "write"):
        if not os.path.lexists(target) or (target.is_dir() and not os.listdir(target)):
            return
        killed = target.is_dir() and not (target / _COMMIT / "zarr.json").exists()  # before its first commit
    if not overwrite and not killed:
        raise StoreError(f"{target}: already exists; give another path, or overwrite=True to replace it")
    try:
        _read_header(target, target)
    except StoreError as problem:
        if "format version" in str(problem):
            raise StoreError(f"{problem}; or move it away") from None
        raise StoreError(f"{target}: exists and is not a dalembert result; move it away or give another path") from None
    if not locked:
        with translate_os_errors(target, "write"):
            FolderLock(target).release()
