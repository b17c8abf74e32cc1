"""Triangles from mesh files: STL, text and binary, and OBJ. Lengths in the file are taken as metres."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError

MAX_TRIANGLES = 200_000

_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


@dataclass(frozen=True, eq=False)
class Mesh:
    """triangles : (n, 3, 3) corners [m]"""

    triangles: npt.NDArray[np.float32]


def read_mesh(owner: str, file: str) -> Mesh:
    """The mesh of body `owner`."""
    path = Path(file)
    where = f"body {owner!r}: mesh file {file!r}"
    readers = {".stl": _read_stl, ".obj": _read_obj}
    if path.suffix.lower() not in readers:
        raise ModelError(f"{where}: {path.suffix or 'no suffix'!r} is no mesh format; give one of {', '.join(readers)}")
    try:
        triangles = readers[path.suffix.lower()](path.read_bytes())
    except OSError as problem:
        raise ModelError(f"{where} cannot be read: {problem.strerror}; give a path that exists") from None
    except (ValueError, IndexError) as problem:
        raise ModelError(f"{where} is damaged: {problem}") from None
    if not 0 < len(triangles) <= MAX_TRIANGLES:
        raise ModelError(f"{where} has {len(triangles)} triangles; give 1 to {MAX_TRIANGLES}")
    if not np.all(np.isfinite(triangles)):
        raise ModelError(f"{where} has coordinates that are not finite")
    return Mesh(np.ascontiguousarray(triangles, dtype=np.float32))


def _read_stl(data: bytes) -> npt.NDArray[np.float32]:
    """Binary: 80 bytes, a count, 50 bytes per triangle. Text: the lines that start with "vertex"."""
    count = int.from_bytes(data[80:84], "little")
    if len(data) == 84 + _RECORD.itemsize * count:
        return np.asarray(np.frombuffer(data, _RECORD, count, 84)["corners"])
    lines = (line.split() for line in data.decode("ascii", errors="replace").splitlines())
    corners = [[float(number) for number in words[1:4]] for words in lines if words and words[0] == "vertex"]
    return np.array(corners, dtype=np.float32).reshape(-1, 3, 3)


def _read_obj(data: bytes) -> npt.NDArray[np.float32]:
    """Lines "v x y z" and "f i j k ...", polygons as fans; indices count from 1, negative ones from the end."""
    points: list[list[float]] = []
    triangles: list[list[list[float]]] = []
    for line in data.decode("utf-8", errors="replace").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            points.append([float(number) for number in words[1:4]])
        elif words[:1] == ["f"]:
            numbers = [int(word.split("/")[0]) for word in words[1:]]
            corners = [points[k - 1 if k > 0 else k] for k in numbers]
            triangles += [[corners[0], b, c] for b, c in itertools.pairwise(corners[1:])]
    return np.array(triangles, dtype=np.float32).reshape(-1, 3, 3)
