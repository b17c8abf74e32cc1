"""Files and folders that appear whole or not at all: write a hidden sibling, then rename it into place."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dalembert.errors import StoreError

__all__ = ["rename_folder", "sibling", "translate_os_errors", "write_text", "written_whole"]


@contextmanager
def translate_os_errors(path: Path, action: str) -> Iterator[None]:
    """Turn an `OSError` into a `StoreError` that names the path the user gave and the system's reason."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(f"{path}: cannot {action}: {reason}; choose a path where files can be created") from error


def sibling(path: Path) -> Path:
    """A fresh hidden name beside `path`, on the same file system, with the same suffix."""
    return path.with_name(f".{path.stem}.{secrets.token_hex(4)}.partial{path.suffix}")


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
    """Yield a temporary path to write a file or a folder to; on success it is renamed to `path`, else removed.

    An existing file at `path` is replaced in one step. An existing folder is not: see `rename_folder`.
    """
    check_parent(path)
    temporary = sibling(path)
    with translate_os_errors(path, "write"):
        try:
            yield temporary
            if temporary.is_dir():
                rename_folder(temporary, path)
            else:
                os.replace(temporary, path)
        finally:
            _remove(temporary)


def rename_folder(source: Path, target: Path) -> None:
    """Rename the folder `source` to `target`; a folder already there is removed once the new one is in place."""
    if not target.exists():
        source.rename(target)
        return
    old = sibling(target)
    target.rename(old)
    try:
        source.rename(target)
    except BaseException:
        old.rename(target)
        raise
    _remove(old)


def write_text(path: Path, text: str) -> None:
    """Replace the text file `path` atomically: a reader sees the old text or the new one, never a part."""
    temporary = sibling(path)
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
