"""Where to look from: a camera that sees the whole motion from its broad side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, radians, sin

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.trajectory import Trajectory
from dalembert.model.plane import InPlane

_ELEVATION, _FLAT_ELEVATION, _TURN = radians(20.0), radians(50.0), radians(28.0)
VIEWS = ("front", "back", "left", "right", "top", "bottom", "iso")
_UPRIGHT = 1e-4  # off straight down, so that a camera knows what is upright
UPRIGHT = 0.1  # cosine between the normal of a plane and what is up, up to which the plane is upright
_USUAL = np.array([0.35, -1.0, 0.1])  # of two sides the one towards -y or +x, where drawings are usually seen from
_OFF = 1e-6  # what leaves a plane, over what does not
_DEEP = 0.6  # a motion deeper than this part of its size is no plane one to look at
_EDGE_ON = 0.2  # a motion lower than this part of its width is seen from above


@dataclass(frozen=True, eq=False)
class Framing:
    """target : centre of the picture [m];  direction : unit, from target to camera;  up : unit
    axes : (3, 3) rows to the right, upright and towards the camera
    extent : (3,) half of what is seen across, upright and in depth;  radius : of the sphere around the motion [m]
    normal, floor : of the ground plane, unit, and its height along it [m]
    sheet : normal and height of what has the grid and the shadows, where that is a sheet behind a mechanism in a plane
    parallel : seen as drawings show it, what is farther is as large; else in perspective
    """

    target: Array
    extent: Array
    radius: float
    axes: Array
    up: Array
    normal: Array
    floor: float
    parallel: bool = False
    sheet: tuple[Array, float] | None = None

    @property
    def direction(self) -> Array:
        return np.asarray(self.axes[2])

    @property
    def ground(self) -> tuple[Array, float]:
        """Of the grid and the shadows: normal and height."""
        return self.sheet or (self.normal, self.floor)


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


def widened(look: Framing, points: Array) -> Framing:
    """The same that shows points (n, 3), too."""
    seen = np.concatenate([(points - look.target) @ look.axes.T, [-look.extent, look.extent]])
    low, high = seen.min(axis=0), seen.max(axis=0)
    way = look.axes.T @ (0.5 * (low + high))
    farthest = np.linalg.norm(points - look.target - way, axis=1).max(initial=0.0)
    radius = max(look.radius + float(np.linalg.norm(way)), float(farthest))
    return replace(look, target=look.target + way, extent=0.5 * (high - low), radius=radius)


def plane_normal(motion: Trajectory) -> Array | None:
    """Unit, across the plane in which all bodies move, which have hinges across it alone; None where there is none."""
    model = motion.mechanism.model
    if model.plane is not None:
        return InPlane(model.plane).normal
    hinges = [(motion.rotation(joint.first)[0] @ joint.E_i)[:, 2] for joint in model.joints if joint.type == "revolute"]
    normal = hinges[0] if hinges else np.zeros(3)
    paths, turns = (np.array([of(body.name) for body in model.bodies]) for of in (motion.position, motion.angular_velocity))
    across = np.ptp(paths @ normal, axis=1).max() > _OFF * np.ptp(paths, axis=1).max()
    tilted = np.abs(np.cross(turns, normal)).max() > _OFF * np.abs(turns).max()
    parallel = all(abs(axis @ normal) > 1.0 - _OFF for axis in hinges)
    return normal if hinges and parallel and not (across or tilted) else None


def to_viewer(normal: Array, up: Array) -> Array:
    """Of the normals of a plane that towards which it is usually seen; never from below the floor."""
    return normal if normal @ (up if abs(normal @ up) > UPRIGHT else _USUAL) > 0 else -normal


def broad_side(points: Array, up: Array, normal: Array | None = None) -> Array:
    """From the side on which the motion is widest, a little turned and from above; from far above where it is flat; straight at
    the plane with this normal, where there is one, so that lengths look true."""
    if normal is not None and np.ptp(points @ normal) < _DEEP * np.linalg.norm(np.ptp(points, axis=0)):
        facing = to_viewer(normal, up)
        return _from(front_of(up), up, 0.0, 0.5 * np.pi - _UPRIGHT) if abs(facing @ up) > 1.0 - 1e-9 else facing
    centre = points.mean(axis=0)
    heights = (points - centre) @ up
    level = points - centre - np.outer(heights, up)
    _, sizes, axes = np.linalg.svd(level, full_matrices=False)
    across = axes[0] if sizes[0] > 1e-9 else np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))])
    front = np.cross(across, up)
    front /= np.linalg.norm(front)
    if front @ _USUAL < 0:
        front = -front
    side = np.cross(up, front)
    width, depth = float(np.ptp(level @ side)), float(np.ptp(level @ front))
    flat = float(np.ptp(heights)) < _EDGE_ON * width and depth > _EDGE_ON * width
    return _from(front, up, _TURN, _FLAT_ELEVATION if flat else _ELEVATION)


def _from(front: Array, up: Array, turn: float, elevation: float) -> Array:
    """Unit, from this side, turned to the right and from above."""
    side = np.cross(up, front) / np.linalg.norm(np.cross(up, front))
    return np.asarray(cos(elevation) * (cos(turn) * np.cross(side, up) + sin(turn) * side) + sin(elevation) * up)
