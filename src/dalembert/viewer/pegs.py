"""Springs, cables and rods of plane mechanisms that end within a deep body, as a wheel, are drawn in front of it, on pegs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.model.elements import GROUND
from dalembert.viewer.fittings import SPRING, Fitting, Line, Place
from dalembert.viewer.glyphs import RAIL
from dalembert.viewer.layers import Layered
from dalembert.viewer.parts import Part, between
from dalembert.viewer.slides import Forms

_HIDDEN = 2.0  # radii of a spring that an end is below the surface, from which on it is brought to the front
_PEG = 0.5  # radius of a peg, over that of a spring


def brought_to_front(
    motion: Layered, lines: Iterable[Line], forms: Forms, scale: float
) -> tuple[tuple[Line, ...], tuple[Fitting, ...]]:
    """The lines, and what holds those that were moved, none where there are no layers;  forms : parts of bodies that move"""
    normal, radius = motion.layers.normal, SPRING[0] * scale
    moved, pegs = [], dict[tuple[str, str, bytes], Fitting]()
    for line in lines:
        ends = (line.start, line.end)
        below = [_below(motion, end, forms, normal) for end in ends]
        if not normal.any() or max(below) < _HIDDEN * radius:
            moved.append(line)
            continue
        depths = [float(motion.point(*end)[0] @ normal) for end in ends]
        front = max(depth + under for depth, under in zip(depths, below, strict=True)) + radius
        places = []
        for (body, point), depth in zip(ends, depths, strict=True):
            before = point + (front - depth) * _in_body(motion, body, normal)
            places.append((body, before))
            pin = replace(between(point, before, _PEG * radius), colour=RAIL)
            pegs[line.tag, body, point.tobytes()] = Fitting(line.tag, body, pin)
        moved.append(replace(line, start=places[0], end=places[1]))
    return tuple(moved), tuple(pegs.values())


def _below(motion: Layered, place: Place, forms: Forms, normal: Array) -> float:
    """How far a point is below the surface of its body, towards who looks [m]."""
    body, point = place
    own = _in_body(motion, body, normal)
    return max((_to_surface(part, point, own) for part in forms.get(body, ())), default=0.0)


def _to_surface(part: Part, point: Array, direction: Array) -> float:
    """How far it is along a unit vector to the side of the box around a part; 0 from outside [m]."""
    at, along = part.matrix.T @ (point - part.at), part.matrix.T @ direction
    room = part.half - np.sign(along) * at
    if part.gap(point) > 0.0:
        return 0.0
    return float(np.min(np.divide(room, np.abs(along), out=np.full(3, np.inf), where=np.abs(along) > 1e-9)))


def _in_body(motion: Layered, body: str, normal: Array) -> Array:
    return normal if body == GROUND else motion.rotation(body)[0].T @ normal
