"""Triangles from mesh files: STL, text and binary, and OBJ; the body that a closed one encloses.

With the tetrahedra from the origin to each triangle (a, b, c), d = a . (b x c), s = a + b + c:

    V = sum d / 6,    V c = sum d s / 24,    integral x x^T = sum d (s s^T + a a^T + b b^T + c c^T) / 120

Those of triangles that look to the origin count as negative.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError

MAX_TRIANGLES = 200_000

_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


@dataclass(frozen=True, eq=False)
class Mesh:
    """triangles : (n, 3, 3) corners [m]"""

    triangles: npt.NDArray[np.float32]


def read_mesh(owner: str, file: str) -> Mesh:
    """The mesh in a file; owner : whose it is, for messages."""
    path = Path(file)
    where = f"{owner}: mesh file {file!r}"
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


def enclosed(where: str, triangles: npt.NDArray[np.float64]) -> tuple[float, Array, Array]:
    """Volume [m^3], centroid (3,) [m] and central second moments (3, 3) of x x^T [m^5] of what a closed mesh encloses."""
    corners, number = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    faces = number.reshape(-1, 3)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there, back = (np.sort(a * len(corners) + b) for a, b in (edges.T, edges.T[::-1]))  # every edge is passed both ways
    if not np.array_equal(there, back):
        alone = len(np.setdiff1d(there, back))
        raise ModelError(
            f"{where} is not closed, or not all its triangles look outwards ({alone} edges lack their other side); mend it, or"
            " give mass and inertia"
        )
    middle = corners.mean(axis=0)  # nearer than the origin, so that no digits are lost
    a, b, c = np.moveaxis(triangles - middle, 1, 0)
    d, s = np.einsum("ti,ti->t", a, np.cross(b, c)), a + b + c
    V = float(d.sum()) / 6.0
    if V == 0.0:
        raise ModelError(f"{where} encloses nothing; give a mesh with a volume, or mass and inertia")
    centre = d @ s / (24.0 * V)
    second = sum(np.einsum("t,ti,tj->ij", d, x, x) for x in (s, a, b, c)) / 120.0 - V * np.outer(centre, centre)
    return abs(V), np.asarray(middle + centre), np.sign(V) * second


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
