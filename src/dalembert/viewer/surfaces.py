"""Parts as flat faces, for pictures made without a graphics card: (n, 4, 3) corners in body axes, outward normals by
the right hand. Triangles repeat their last corner. Long faces are cut, so that sorting them by depth comes out right.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from dalembert.viewer.parts import Part

Array = npt.NDArray[np.float64]

_AROUND = 16
_PIECES = 10  # along the longest direction


def faces_of(part: Part) -> Array:
    """The surface of a part in body axes."""
    match part.kind:
        case "box":
            faces = _box(np.array(part.size))
        case "cylinder":
            faces = _turned([(0.0, -0.5), (1.0, -0.5), *_side(part.size), (1.0, 0.5), (0.0, 0.5)], *part.size)
        case "capsule":
            radius, length = part.size
            bend = np.linspace(-np.pi / 2, 0, 4)
            low = [(np.cos(a), -0.5 + (1 + np.sin(a)) * radius / length) for a in bend]
            faces = _turned([*low, *((r, -z) for r, z in reversed(low))], radius, length)
        case "sphere":
            angles = np.linspace(-np.pi / 2, np.pi / 2, 9)
            faces = _turned([(np.cos(a), 0.5 * np.sin(a)) for a in angles], part.size[0], 2 * part.size[0])
        case _:
            assert part.mesh is not None
            triangles = part.size[0] * part.mesh.triangles.astype(float)
            faces = np.concatenate([triangles, triangles[:, 2:]], axis=1)
    return part.at + faces @ part.matrix.T


def _side(size: tuple[float, ...]) -> list[tuple[float, float]]:
    pieces = _pieces(size[1], 2 * size[0])
    return [(1.0, -0.5 + k / pieces) for k in range(1, pieces)]


def _pieces(length: float, width: float) -> int:
    return int(np.clip(np.ceil(length / (2 * max(width, 1e-12))), 1, _PIECES))


def _turned(profile: list[tuple[float, float]], radius: float, length: float) -> Array:
    """A profile (r, z), in units of radius and length, turned about z."""
    angles = np.linspace(0, 2 * np.pi, _AROUND + 1)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    faces = []
    for (r_0, z_0), (r_1, z_1) in itertools.pairwise(profile):
        for a, b in itertools.pairwise(circle):
            faces.append([(*(r_0 * a), z_0), (*(r_0 * b), z_0), (*(r_1 * b), z_1), (*(r_1 * a), z_1)])
    return np.array(faces) * [radius, radius, length]


def _box(size: Array) -> Array:
    """Six sides, cut across the longest edge."""
    long = int(np.argmax(size))
    pieces = _pieces(size[long], float(np.sort(size)[1]))
    faces = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for sign in (-0.5, 0.5):
            cuts_u, cuts_v = (np.linspace(-0.5, 0.5, pieces + 1 if k == long else 2) for k in (u, v))
            for a, b in itertools.pairwise(cuts_u):
                for c, d in itertools.pairwise(cuts_v):
                    corners = np.zeros((4, 3))
                    corners[:, axis] = sign
                    corners[:, u], corners[:, v] = (a, b, b, a), (c, c, d, d)
                    faces.append(corners if sign > 0 else corners[::-1])
    return np.array(faces) * size
