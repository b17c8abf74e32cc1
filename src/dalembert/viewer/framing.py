"""Where to look from: a camera that sees the whole motion from its broad side."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_ELEVATION, _FLAT_ELEVATION, _TURN = radians(20.0), radians(50.0), radians(28.0)
_EDGE_ON = 0.2  # a motion lower than this part of its width is seen from above


@dataclass(frozen=True, eq=False)
class Framing:
    """target : centre of the motion;  radius : of the sphere around it [m];  direction : unit, from target to camera
    up : unit;  floor : height of the ground plane along `up` [m]
    """

    target: Array
    radius: float
    direction: Array
    up: Array
    floor: float


def upward(gravity: Array) -> Array:
    """Against gravity; z where there is none."""
    size = float(np.linalg.norm(gravity))
    return -gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])


def framing(points: Array, up: Array, margin: float) -> Framing:
    """points : (n, 3) that shall be seen;  margin : how far bodies reach beyond them [m]"""
    low, high = points.min(axis=0), points.max(axis=0)
    target = 0.5 * (low + high)
    radius = float(np.linalg.norm(points - target, axis=1).max()) + margin
    heights = points @ up
    level = points - np.outer(heights, up) - (target - (target @ up) * up)
    _, sizes, axes = np.linalg.svd(level, full_matrices=False)
    across = axes[0] if sizes[0] > 1e-9 * max(radius, 1e-300) else np.eye(3)[int(np.argmin(np.abs(up)))]
    across = across - (across @ up) * up
    across /= np.linalg.norm(across)
    front = np.cross(across, up)
    # of the two broad sides the one towards -y or +x, where drawings are usually seen from
    if front @ np.array([0.35, -1.0, 0.1]) < 0:
        front = -front
    side = np.cross(up, front)
    width = float(np.ptp(level @ across))
    flat = float(np.ptp(heights)) < _EDGE_ON * width and float(np.ptp(level @ front)) > _EDGE_ON * width
    elevation = _FLAT_ELEVATION if flat else _ELEVATION
    direction = cos(elevation) * (cos(_TURN) * front + sin(_TURN) * side) + sin(elevation) * up
    return Framing(target, radius, direction, up, float(heights.min()) - margin)
