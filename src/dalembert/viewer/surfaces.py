"""Parts as flat faces, for pictures made without a graphics card: (n, 4, 3) corners in body axes, outward normals by
the right hand. Triangles repeat a corner.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.rotation import quaternion_to_matrix
from dalembert.viewer.parts import Part, along_z

_AROUND = 24
_WINDINGS = 10  # of a spring
_ROUND, _BENDS = 0.12, 2  # of the edges of a box: radius over its shortest edge, faces of half of it


def faces_of(part: Part, around: int = _AROUND) -> Array:
    """The surface of a part in body axes; around : corners around what is round"""
    match part.kind:
        case "box":
            # what has a colour of its own is sharp, as in pages (web/actor.js)
            faces = _box() * part.size if part.colour else _rounded(np.array(part.size))
        case "cylinder":
            faces = _turned([(0.0, -0.5), (1.0, -0.5), (1.0, 0.5), (0.0, 0.5)], *part.size, around=around)
        case "cone":
            faces = _turned([(0.0, -0.5), (1.0, -0.5), (0.0, 0.5)], *part.size, around=around)
        case "ring":
            radius, thick = part.size
            tube = np.linspace(0, 2 * np.pi, around // 2 + 1)
            faces = _turned([(radius + thick * np.cos(a), thick * np.sin(a)) for a in tube], 1.0, 1.0, around=around)
        case "capsule":
            radius, length = part.size
            bend = np.linspace(-np.pi / 2, 0, 4)
            low = [(np.cos(a), -0.5 + (1 + np.sin(a)) * radius / length) for a in bend]
            faces = _turned([*low, *((r, -z) for r, z in reversed(low))], radius, length)
        case "ellipsoid" | "sphere":
            angles = np.linspace(-np.pi / 2, np.pi / 2, around // 2 + 1)
            faces = _turned([(np.cos(a), np.sin(a)) for a in angles], 1.0, 1.0, around=around) * part.half
        case _:
            assert part.mesh is not None
            triangles = part.size[0] * part.mesh.triangles.astype(float)
            faces = np.concatenate([triangles, triangles[:, 2:]], axis=1)
    return np.asarray(part.at + faces @ part.matrix.T)


def coil(start: Array, end: Array, radius: float, wire: float) -> Array:
    """A spring from one point to another, wound as in the page (web/solids.js): straight at its ends; wire : its radius"""
    s = np.linspace(0.0, 1.0, _WINDINGS * _AROUND + 1)
    wound = np.clip((s - 0.1) / 0.8, 0.0, 1.0)
    away, angle = radius * np.minimum(1.0, 12.0 * np.minimum(wound, 1.0 - wound)), 2.0 * np.pi * _WINDINGS * wound
    out = np.stack([np.cos(angle), np.sin(angle), 0.0 * s], axis=1)
    middle = away[:, None] * out + np.outer(s * np.linalg.norm(end - start), [0.0, 0.0, 1.0])
    faces = _tube(middle, out, wire)
    return np.asarray(start + faces @ quaternion_to_matrix(along_z(end - start)).T)


def arc(at: Array, axis: Array, radius: float, wire: float) -> tuple[Array, Array, Array]:
    """Three quarters of a turn about an axis, the place of its end and the direction there."""
    angle = np.linspace(0.0, 1.5 * np.pi, 2 * _AROUND)
    out = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    turn = quaternion_to_matrix(along_z(axis))
    return at + _tube(radius * out, out, wire) @ turn.T, at - radius * turn[:, 1], turn[:, 0]


def _tube(middle: Array, out: Array, wire: float) -> Array:
    """Around a line (n, 3); out : (n, 3) about across it"""
    along = np.gradient(middle, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    out = out - np.sum(out * along, axis=1, keepdims=True) * along
    out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-300)
    side = np.cross(along, out)
    corners = np.stack([middle + wire * (np.cos(a) * out + np.sin(a) * side) for a in np.linspace(0, 2 * np.pi, 7)])
    return np.stack([corners[:-1, :-1], corners[1:, :-1], corners[1:, 1:], corners[:-1, 1:]], axis=2).reshape(-1, 4, 3)


def _turned(profile: list[tuple[float, float]], radius: float, length: float, *, around: int = _AROUND) -> Array:
    """A profile (r, z), in units of radius and length, turned about z."""
    angles = np.linspace(0, 2 * np.pi, around + 1)
    r, z = np.array(profile).T[:, :, None]
    rings = np.stack([r * np.cos(angles), r * np.sin(angles), z + 0.0 * angles], axis=2)
    corners = [rings[:-1, :-1], rings[:-1, 1:], rings[1:, 1:], rings[1:, :-1]]
    return np.stack(corners, axis=2).reshape(-1, 4, 3) * [radius, radius, length]


def _rounded(size: Array) -> Array:
    """A box whose edges are as round as in pages (web/solids.js)."""
    radius = _ROUND * float(size.min())
    inner = 0.5 * size - radius
    bend = np.tan(np.linspace(-np.pi / 4, np.pi / 4, 2 * _BENDS + 1))
    faces = []
    for side in _box():
        axis = int(np.argmin(np.ptp(side, axis=0)))
        u, v = (axis + 1) % 3, (axis + 2) % 3
        grid = np.zeros((len(bend) + 1, len(bend) + 1, 3))  # directions; the middle one twice: the flat part is between
        ends, flat = np.insert(bend, _BENDS, 0.0), np.repeat([-1.0, 1.0], _BENDS + 1)
        grid[..., u], grid[..., v], grid[..., axis] = ends[:, None], ends[None, :], 2.0 * side[0, axis]
        centre = np.zeros_like(grid)
        centre[..., u], centre[..., v], centre[..., axis] = flat[:, None], flat[None, :], 2.0 * side[0, axis]
        points = centre * inner + radius * grid / np.linalg.norm(grid, axis=-1, keepdims=True)
        quads = np.stack([points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]], axis=2).reshape(-1, 4, 3)
        faces.append(quads if side[0, axis] > 0 else quads[:, ::-1])
    return np.concatenate(faces)


def _box() -> Array:
    """Six sides of the unit cube."""
    faces = []
    for axis in range(3):
        for sign in (-0.5, 0.5):
            corners = np.zeros((4, 3))
            corners[:, axis] = sign
            corners[:, (axis + 1) % 3], corners[:, (axis + 2) % 3] = (-0.5, 0.5, 0.5, -0.5), (-0.5, -0.5, 0.5, 0.5)
            faces.append(corners if sign > 0 else corners[::-1])
    return np.array(faces)
