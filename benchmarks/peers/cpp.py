"""C++ of this folder, compiled by g++ where it is there."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from shutil import which

import numpy as np

from dalembert.integrators.tableau import DOP853

FLAGS = ("-O3", "-march=native", "-DNDEBUG", "-std=c++17", "-shared", "-fPIC")


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


_A, _C, _E = (np.ascontiguousarray(v) for v in (DOP853.a, DOP853.c, DOP853.e))


def tableau() -> tuple[ctypes.c_void_p, ...]:
    """What `dop853` in dop853.hpp takes."""
    return pointer(_A), pointer(_C), pointer(_E)


def compiled(name: str, more: Sequence[str] = (), stamp: str = "") -> ctypes.CDLL | None:
    """A source of this folder as a library, compiled where it is not known yet; None without g++, or where that fails."""
    if which("g++") is None:
        return None
    source = Path(__file__).with_name(name)
    texts = source.read_bytes() + source.with_name("dop853.hpp").read_bytes() + " ".join((*FLAGS, *more, stamp)).encode()
    target = Path(tempfile.gettempdir()) / f"peers-{os.getuid()}" / f"{source.stem}-{hashlib.sha256(texts).hexdigest()[:16]}.so"
    if not target.exists():
        target.parent.mkdir(mode=0o700, exist_ok=True)
        if subprocess.run(["g++", *FLAGS, str(source), *more, "-o", str(target)], capture_output=True).returncode != 0:
            return None
    return ctypes.CDLL(str(target))
