"""Loads of the model as arrows: what pictures and pages (web/arrows.js) show at first, proportional to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10

import numpy as np

from dalembert.arrays import Array
from dalembert.results.solution import BodyResult
from dalembert.viewer.channels import Load, applied
from dalembert.viewer.framing import Framing, widened
from dalembert.viewer.layers import Layered
from dalembert.viewer.parts import Part, along_z
from dalembert.viewer.stage import Stage
from dalembert.viewer.surfaces import arc, faces_of

COLOUR = "#23893c"
_UNITS = {"force": "N", "torque": "N m"}
_WIDEST = {"force": 90.0, "torque": 34.0}  # arrows that tell the scale [px]
_USUAL = 0.98  # of instants at which a load acts, at which an arrow is not longer: peaks do not shrink all others
_NOTHING = 1e-6  # of the largest size, up to which a load does not act
_MOST = 1.5  # a full arrow is, over the usual one
_LEAST = 0.006  # shortest one that is drawn, over the size of the mechanism


@dataclass(frozen=True, eq=False)
class Arrow:
    """A load over time; vectors : (nt, 3) of the world, from where it acts, or about which it turns, as long as drawn [m]"""

    load: Load
    vectors: Array

    def faces(self, at: Array, vector: Array, scale: float) -> tuple[Array, Array]:
        """(n, 4, 3) of it at a point of the world, and where its tip is; scale : size of the mechanism [m]"""
        length = float(np.linalg.norm(vector))
        if not length > _LEAST * scale:
            return np.zeros((0, 4, 3)), at
        along, sharp = vector / length, min(1.0, length / (0.08 * scale))
        thin, tip = 0.0055 * scale * sharp, (0.015 * scale * sharp, 0.04 * scale * sharp)
        if self.load.what == "force":
            body = length - tip[1]
            shaft, end = faces_of(Part("cylinder", (thin, body), at + 0.5 * body * along, along_z(along))), at + body * along
        else:
            shaft, end, along = arc(at, along, 0.5 * length, thin)
        head = faces_of(Part("cone", tip, end + 0.5 * tip[1] * along, along_z(along)))
        return np.concatenate([shaft, head]), end + tip[1] * along

    def number_at(self, at: Array, tip: Array, vector: Array, right: Array, scale: float) -> Array:
        """(3,) where its number begins: at its tip, or outside its circle, as in pages;  right : of the picture, unit"""
        if self.load.what == "force":
            return tip
        around = 0.5 * float(np.linalg.norm(vector)) + 0.015 * scale
        return np.asarray(at + (-around if right @ (tip - at) < 0.0 else around) * right)

    def told(self, value: float) -> str:
        """Its size, as pages write it."""
        return f"{float(f'{value:.3g}'):g} {_UNITS[self.load.what]}"


@dataclass(frozen=True)
class Key:
    """An arrow that tells the scale of a picture; pixels : its length, or the width of its circle"""

    what: str
    pixels: float
    text: str


def arrows_of(run: BodyResult, scale: float, radius: float) -> tuple[list[Arrow], dict[str, float]]:
    """Arrows of all forces and torques on bodies that the model says, and what a metre of them means [N/m, N m/m].

    scale : size of the mechanism [m];  radius : of the sphere around the motion [m]
    """
    loads = list(applied(run))
    usual = {what: max((_large(load.values) for load in loads if load.what == what), default=0.0) for what in _UNITS}
    longest = longest_of(scale, radius)
    arrows = [Arrow(load, _drawn(load.values / (usual[load.what] or 1.0), longest)) for load in loads]
    return arrows, {what: size / longest for what, size in usual.items() if size}


def keys_of(scales: Mapping[str, float], pixels: float) -> list[Key]:
    """Round numbers, and how long their arrows are; scales : as of `arrows_of`;  pixels : of a metre"""
    keys = []
    for what, per_metre in scales.items():
        most = per_metre * _WIDEST[what] / pixels
        power = 10.0 ** floor(log10(most))
        value = max(step * power for step in (1.0, 2.0, 5.0) if step * power <= most)
        factor, prefix = next((f, p) for f, p in ((1e6, "M"), (1e3, "k"), (1.0, "")) if value >= 10.0 * f or not p)
        keys.append(Key(what, value / per_metre * pixels, f"{value / factor:g} {prefix}{_UNITS[what]}"))
    return keys


def longest_of(scale: float, radius: float) -> float:
    """How long a full arrow is [m]: a fifth of the picture."""
    return 0.22 * min(2.0 * radius, 1.6 * scale)


def look_at(stage: Stage, run: BodyResult, arrows: Sequence[Arrow]) -> Framing:
    """The camera of a stage that sees these arrows, too."""
    shown = Layered(run, stage.layers)
    ends = reach_of(arrows, [shown.point(arrow.load.body, arrow.load.point) for arrow in arrows])
    return stage.look if stage.follow else widened(stage.look, ends)


def _drawn(values: Array, longest: float) -> Array:
    size = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values * longest * np.minimum(1.0, _MOST / np.maximum(size, 1e-300)))


def _large(values: Array) -> float:
    sizes = np.linalg.norm(values, axis=1)
    sizes = np.sort(sizes[np.isfinite(sizes)])
    sizes = sizes[sizes > _NOTHING * sizes.max(initial=0.0)]
    return float(sizes[int(_USUAL * (len(sizes) - 1))]) if len(sizes) else 0.0


def reach_of(arrows: Sequence[Arrow], places: Sequence[Array]) -> Array:
    """(n, 3) where arrows end; places : (nt, 3) of each where it begins"""
    ends = [np.zeros((0, 3)), *(place + arrow.vectors for arrow, place in zip(arrows, places, strict=True))]
    found = np.concatenate(ends)
    return found[np.isfinite(found).all(axis=1)]
