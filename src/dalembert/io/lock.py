"""One writer for a folder: the system holds the lock, so that one of a killed process is gone with it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dalembert.errors import StoreError

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: only the runs of one process are kept apart
    fcntl = None

__all__ = ["FolderLock", "one_at_a_time"]


class FolderLock:
    """Held from creation to `release`; raises `StoreError` at once when another run holds it.

    A run that ended with an exception may not have released its lock: one of this thread, or of a thread that ended, is taken.
    """

    _held: dict[tuple[int, int], FolderLock] = {}  # noqa: RUF012
    _guard = threading.Lock()

    def __init__(self, folder: Path) -> None:
        status = os.stat(folder)
        self._key = (status.st_dev, status.st_ino)
        self._thread = threading.current_thread()
        self._handle = -1
        with self._guard:
            other = self._held.get(self._key)
            if other is not None and other._thread is not self._thread and other._thread.is_alive():
                raise _busy(folder)
            if other is not None:
                other._close()
            if fcntl is not None:
                self._handle = os.open(folder, os.O_RDONLY)
                try:
                    fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    self._close()
                    raise _busy(folder) from None
                except OSError:  # a file system without locks
                    pass
            self._held[self._key] = self

    def release(self) -> None:
        with self._guard:
            if self._held.get(self._key) is self:
                del self._held[self._key]
            self._close()

    @property
    def held(self) -> bool:
        return self._held.get(self._key) is self

    def _close(self) -> None:
        if self._handle >= 0:
            with suppress(OSError):
                fcntl.flock(self._handle, fcntl.LOCK_UN)  # closing is not enough where a forked process has it, too
            os.close(self._handle)
            self._handle = -1


@contextmanager
def one_at_a_time(folder: Path | None) -> Iterator[None]:
    """Wait until no other process of this machine is inside, where the system can."""
    if fcntl is None or folder is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _busy(folder: Path) -> StoreError:
    return StoreError(f"{folder}: another run is writing it; wait for its end, or give another path")
