"""Files that appear whole or not at all: write a hidden sibling, bring it to the disk, rename it into place."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dalembert.errors import StoreError

__all__ = ["read_regular", "replace_file", "sync_folder", "translate_os_errors", "written_whole"]


@contextmanager
def translate_os_errors(path: Path, action: str) -> Iterator[None]:
    """Turn an `OSError` into a `StoreError` that names the path the user gave and the system's reason."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(f"{path}: cannot {action}: {reason}; choose a path where files can be created") from error


def check_parent(path: Path) -> None:
    """Raise a `StoreError` unless `path` can be created inside an existing folder."""
    parent = path.parent
    with translate_os_errors(path, "write"):
        if parent.is_dir():
            return
        exists = parent.exists()
    if exists:
        raise StoreError(f"{path}: cannot write: '{parent}' is a file, not a folder; choose another path")
    raise StoreError(f"{path}: cannot write: the folder '{parent}' does not exist; create it or choose another path")


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write a file to; on success it replaces `path` in one step, else it is removed."""
    check_parent(path)
    with translate_os_errors(path, "write"):
        _remove_orphans(path)
        temporary = path.with_name(f".{path.stem}.{os.getpid()}-{secrets.token_hex(4)}.partial{path.suffix}")
        try:
            yield temporary
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def _remove_orphans(path: Path) -> None:
    """Remove what writers of `path` left behind that were killed."""
    name = re.compile(rf"\.{re.escape(path.stem)}\.(\d+)-[0-9a-f]{{8}}\.partial{re.escape(path.suffix)}")
    for entry in os.listdir(path.parent):
        if (match := name.fullmatch(entry)) and not _is_alive(int(match[1])):
            (path.parent / entry).unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def replace_file(path: Path, data: bytes, *, sync: bool = True, through: Path | None = None) -> None:
    """Replace a file in one step: a reader sees the old bytes or the new ones, with `sync` also after a loss of power.

    Its name is on the disk for certain only after `sync_folder` of its folder. through : where it is written first
    """
    temporary = through or path.with_name(f"{path.name}.partial")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with suppress(PermissionError):  # Windows opens no folders
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_regular(path: Path, limit: int) -> bytes:
    """The bytes of a regular file; `OSError` for a pipe, a device or a folder, `ValueError` above `limit` bytes."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(None, "is not a regular file")
        if status.st_size > limit:
            raise ValueError(f"has {status.st_size / 1e6:.0f} MB, more than {limit / 1e6:.0f} MB")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"has more than {limit / 1e6:.0f} MB")
    return data
