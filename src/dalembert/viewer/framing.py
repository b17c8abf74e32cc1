"""Where to look from: a camera that sees the whole motion from its broad side."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np

from dalembert.arrays import Array

_ELEVATION, _FLAT_ELEVATION, _TURN = radians(20.0), radians(50.0), radians(28.0)
VIEWS = ("front", "back", "left", "right", "top", "bottom", "iso")
_EDGE_ON = 0.2  # a motion lower than this part of its width is seen from above


@dataclass(frozen=True, eq=False)
class Framing:
    """target : centre of the picture [m];  direction : unit, from target to camera;  up : unit
    axes : (3, 3) rows to the right, upright and towards the camera
    extent : (3,) half of what is seen across, upright and in depth;  radius : of the sphere around the motion [m]
    normal, floor : of the ground plane, unit, and its height along it [m]
    """

    target: Array
    extent: Array
    radius: float
    axes: Array
    up: Array
    normal: Array
    floor: float

    @property
    def direction(self) -> Array:
        return np.asarray(self.axes[2])


def upward(gravity: Array) -> Array:
    """Against gravity; z where there is none."""
    size = float(np.linalg.norm(gravity))
    return -gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])


def front_of(up: Array) -> Array:
    """From where drawings are usually seen, as in the viewer: -y where z is up, +z where y is."""
    usual = next(axis for axis in np.array([(0.0, -1.0, 0.0), (0.0, 0.0, 1.0)]) if abs(axis @ up) < 0.9)
    level = usual - (usual @ up) * up
    return np.asarray(level / np.linalg.norm(level))


def standard_view(name: str, up: Array) -> Array:
    """Unit, to the camera, of one of VIEWS; "iso" shows front, right and top alike."""
    front = front_of(up)
    right = np.cross(up, front)
    sides = {"front": front, "back": -front, "left": -right, "right": right, "top": up, "bottom": -up}
    return np.asarray(sides[name] if name in sides else (front + right + up) / np.sqrt(3.0))


def framing(points: Array, up: Array, margin: float, direction: Array, normal: Array, floor: float) -> Framing:
    """points : (n, 3) that shall be seen;  margin : left around them [m];  direction : unit, to the camera"""
    right = np.cross(up, direction)
    if np.linalg.norm(right) < 1e-6:  # from straight above or below
        right = np.cross(up, front_of(up))
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(direction, right), direction])
    seen = points @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    target = axes.T @ (0.5 * (low + high))
    extent = 0.5 * (high - low) + margin
    radius = float(np.linalg.norm(points - target, axis=1).max()) + margin
    return Framing(target, extent, radius, axes, up, normal, floor)


def broad_side(points: Array, up: Array) -> Array:
    """From the side on which the motion is widest, a little turned and from above; from far above where it is flat."""
    centre = points.mean(axis=0)
    heights = (points - centre) @ up
    level = points - centre - np.outer(heights, up)
    _, sizes, axes = np.linalg.svd(level, full_matrices=False)
    across = axes[0] if sizes[0] > 1e-9 else np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))])
    front = np.cross(across, up)
    front /= np.linalg.norm(front)
    # of the two broad sides the one towards -y or +x, where drawings are usually seen from
    if front @ np.array([0.35, -1.0, 0.1]) < 0:
        front = -front
    side = np.cross(up, front)
    width, depth = float(np.ptp(level @ side)), float(np.ptp(level @ front))
    flat = float(np.ptp(heights)) < _EDGE_ON * width and depth > _EDGE_ON * width
    elevation = _FLAT_ELEVATION if flat else _ELEVATION
    return np.asarray(cos(elevation) * (cos(_TURN) * front + sin(_TURN) * side) + sin(elevation) * up)
