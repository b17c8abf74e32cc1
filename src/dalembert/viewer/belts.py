"""Belts around two wheels, open or crossed. A model knows them as couplings whose factors are radii; where those are the radii
with which wheels are drawn, and these do not touch, it is a belt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import acos, pi

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.model.elements import Joint
from dalembert.model.mesh import Mesh
from dalembert.model.model import Model
from dalembert.model.rotation import matrix_to_quaternion
from dalembert.viewer.parts import Part, given_parts
from dalembert.viewer.wheels import Wheel, wheel_forms, wheels_of

_ALIKE = 1.25  # a wheel is at most as many times larger than its pitch circle, or smaller
_APART = 1.02  # from centre to centre, over both radii
_AROUND = 24  # corners of half a turn
_COLOUR = "#3d434d"


def belt_of(model: Model, joint: Joint) -> tuple[str, str, Part] | None:
    """(carrier, first wheel, the belt in axes of the carrier); None where a coupling is no belt."""
    mesh = wheels_of(model, joint)
    if mesh is None or len(mesh[1]) != 2:
        return None
    carrier, (first, second) = mesh
    factors, axes, ways = ([getattr(wheel, name) for wheel in mesh[1]] for name in ("factor", "axis", "way"))
    forms = wheel_forms(model)
    discs = [_disc(model, wheel, forms) for wheel in mesh[1]]
    gap = second.centre - first.centre
    across = gap - (gap @ axes[0]) * axes[0]
    distance, facing = float(np.linalg.norm(across)), float(axes[0] @ axes[1])
    radii = [radius for radius, _ in discs]
    alike = all(r > 0.0 and 1.0 / _ALIKE < abs(c) / r < _ALIKE for r, c in zip(radii, factors, strict=True))
    if not alike or abs(facing) < 1.0 - 1e-9 or distance < _APART * sum(radii):
        return None
    # c_1 s_1 + c_2 s_2 is constant; the wheels turn by s_k about the first axis, or against it
    crossed = factors[0] * factors[1] * ways[0] * ways[1] * facing > 0.0
    thick, wide = 0.07 * min(radii), max(2.4 * min(half for _, half in discs), 0.15 * min(radii))
    frame = np.column_stack([across / distance, np.cross(axes[0], across / distance), axes[0]])
    loop = _loop(radii[0] + 0.5 * thick, radii[1] + 0.5 * thick, distance, crossed)
    middle = 0.5 * (loop.min(axis=0) + loop.max(axis=0))
    at, band = first.centre + frame @ (*middle, 0.0), Mesh(_band(loop - middle, thick, wide))
    return carrier, first.name, Part("mesh", (1.0,), at, matrix_to_quaternion(frame), band, colour=_COLOUR)


def _disc(model: Model, wheel: Wheel, forms: Mapping[str, Sequence[Part]]) -> tuple[float, float]:
    """Radius and half width of a body about its hinge, 0 where it is not round [m]; forms : of those without a shape"""
    shape = model.body(wheel.name).shape
    parts = forms.get(wheel.name, ()) if shape is None else given_parts(wheel.name, shape, 0.0)
    round_ = (p for p in parts if p.kind in ("cylinder", "ring") and _is_along(p, wheel.along))
    return max(((float(p.half[0]), float(p.half[2])) for p in round_), default=(0.0, 0.0))


def _is_along(part: Part, axis: Array) -> bool:
    return not part.fixed and abs(float(part.matrix[:, 2] @ axis)) > 0.999


def _loop(a: float, b: float, distance: float, crossed: bool) -> Array:
    """(n, 2) closed line around a circle of radius a at 0 and one of radius b at (distance, 0)."""
    bend = acos((a + b if crossed else a - b) / distance)
    first = np.linspace(bend, 2.0 * pi - bend, 2 * _AROUND)
    last = np.linspace(pi - bend, bend - pi, 2 * _AROUND) if crossed else np.linspace(-bend, bend, 2 * _AROUND)
    arcs = [r * np.stack([np.cos(angle), np.sin(angle)], axis=1) for r, angle in ((a, first), (b, last))]
    return np.concatenate([arcs[0], arcs[1] + (distance, 0.0)])


def _band(loop: Array, thick: float, wide: float) -> npt.NDArray[np.float32]:
    """(n, 3, 3) triangles of a belt along a closed line."""
    along = np.roll(loop, -1, axis=0) - np.roll(loop, 1, axis=0)
    side = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.linalg.norm(along, axis=1, keepdims=True)
    corners = [
        np.column_stack([loop + n * 0.5 * thick * side, np.full(len(loop), z * 0.5 * wide)])
        for n, z in ((1, 1), (-1, 1), (-1, -1), (1, -1))
    ]
    faces = []
    for here, there in zip(corners, (*corners[1:], corners[0]), strict=True):
        next_here, next_there = np.roll(here, -1, axis=0), np.roll(there, -1, axis=0)
        faces += [np.stack([here, there, next_there], axis=1), np.stack([here, next_there, next_here], axis=1)]
    return np.concatenate(faces).astype(np.float32)
