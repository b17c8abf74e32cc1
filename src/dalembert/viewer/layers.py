"""Mechanisms in a plane are drawn in layers: of bodies that cross one is in front of the other, as in a machine, pins bridge
the gaps and rails lie behind. For the eye alone: in results all of them are in the plane.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.trajectory import Trajectory
from dalembert.model.elements import GROUND, Joint
from dalembert.viewer.glyphs import RAILS, rail_ends
from dalembert.viewer.parts import Part, along_z, between
from dalembert.viewer.slides import Forms, Span, telescope

Complex = npt.NDArray[np.complex128]

_TOGETHER = ("fixed", "spherical", "universal", "planar", "coincidence", "cam_flat", "cam_roller")  # no pin bridges a gap there
_DEEP = 0.25  # half as deep as that, over the size of the mechanism, is in no layer
_BROAD = 0.03  # half as wide in the plane, over the size of the mechanism: behind bars
_OWN = 1e-6  # off the plane by more, over the size of the mechanism: whoever gave the shape knows of depths
_LOOKS = 48  # instants at which bodies may cross
_TOUCH = 0.98  # of their size: wheels in mesh do not cross
_CLEAR = 0.002  # between layers, over the size of the mechanism


@dataclass(frozen=True, eq=False)
class Layers:
    """normal : of the plane, unit, towards who looks;  depth : how far in front of its place a body is drawn, by name [m]"""

    normal: Array = field(default_factory=lambda: np.zeros(3))
    depth: Mapping[str, float] = field(default_factory=dict)

    def of(self, body: str) -> float:
        return self.depth.get(body, 0.0)

    def offset(self, body: str) -> Array:
        """(3,) world [m]"""
        return self.of(body) * self.normal


class Layered(Trajectory):
    """A motion as it is drawn."""

    def __init__(self, motion: Trajectory, layers: Layers) -> None:
        super().__init__(motion.mechanism, motion.t, motion.x)
        self.layers = layers

    def position(self, body: object) -> Array:
        """Of a body's centre of mass, or of a marker, in its layer."""
        name = str(getattr(body, "name", body))
        shift = 0.0 if self._marker(name) is not None else self.layers.offset(name)
        return super().position(body) + shift


@dataclass(frozen=True, eq=False)
class _Outline:
    """A part as a rectangle or circle of the plane over time: (nt,) centre and direction of the longer edge, complex numbers of
    the plane; half edges."""

    centre: Complex
    along: Complex
    half: tuple[float, float]
    round: bool

    def reach(self, direction: Complex) -> Array:
        """(nt,) from the centre along unit vectors."""
        if self.round:
            return np.full(len(direction), self.half[0])
        turned = direction * self.along.conj()
        return np.asarray(self.half[0] * np.abs(turned.real) + self.half[1] * np.abs(turned.imag))

    def crosses(self, other: _Outline) -> bool:
        """Whether they overlap at some instant: no direction separates them."""
        way = other.centre - self.centre
        distance = np.abs(way)
        if distance.min() > np.hypot(*self.half) + np.hypot(*other.half):
            return False
        found = np.ones(len(way), dtype=bool)
        directions = [way / np.maximum(distance, 1e-300)]
        for one in (self, other):
            directions += [] if one.round else [one.along, 1j * one.along]
        for direction in directions:
            gap = np.abs((way * direction.conj()).real)
            found &= (gap < _TOUCH * (self.reach(direction) + other.reach(direction))) | (distance < 1e-300)
        return bool(found.any())


def _looks(motion: Trajectory) -> Trajectory:
    """Some of its states, the first among them."""
    some = np.unique(np.linspace(0, len(motion.t) - 1, _LOOKS).astype(int))
    return Trajectory(motion.mechanism, motion.t[some], motion.x[some])


def _meeting(motion: Trajectory, forms: Forms, plane: Array) -> Iterator[tuple[str, str]]:
    """Pairs of bodies that come near each other: circles around all parts of each overlap at some instant."""
    names = list(forms)
    centres = np.array([motion.position(name) @ _complex(plane) for name in names])
    radii = np.array([max(np.linalg.norm(part.at) + np.linalg.norm(part.half) for part in forms[name]) for name in names])
    for k, name in enumerate(names):
        apart = np.abs(centres[k + 1 :] - centres[k]).min(axis=1)
        yield from ((name, names[k + 1 + m]) for m in np.flatnonzero(apart < _TOUCH * (radii[k] + radii[k + 1 :])).tolist())


def _outline(motion: Trajectory, body: str, part: Part, plane: Array) -> _Outline:
    """plane : (3, 3) rows: two directions in it and its normal"""
    R = motion.rotation(body)
    normal = R[0].T @ plane[2]
    edges = part.half[:, None] * (part.matrix.T - np.outer(part.matrix.T @ normal, normal))
    longest = edges[int(np.argmax(np.linalg.norm(edges, axis=1)))]
    along = longest / max(float(np.linalg.norm(longest)), 1e-300)
    half = float(np.abs(edges @ along).sum()), float(np.abs(edges @ np.cross(normal, along)).sum())
    is_round = part.kind == "sphere" or (part.kind in ("cylinder", "ring") and abs(part.matrix[:, 2] @ normal) > 0.99)
    centre, flat = motion.point(body, part.at), _complex(plane)
    return _Outline(centre @ flat, (R @ along) @ flat, (half[0], half[0]) if is_round else half, is_round)


def _thickness(motion: Trajectory, body: str, parts: Sequence[Part], normal: Array) -> Span:
    """From where to where a body is along the normal, in the world [m]."""
    own = motion.rotation(body)[0].T @ normal
    at = float(motion.position(body)[0] @ normal)
    reach = [(float(part.at @ own), float(part.reach(part.matrix.T @ own))) for part in parts]
    return at + min(middle - half for middle, half in reach), at + max(middle + half for middle, half in reach)


def layers_of(motion: Trajectory, joints: Sequence[Joint], forms: Forms, normal: Array, scale: float) -> Layers:
    """Depths with short pins; none where shapes have depths of their own.

    joints : where they are seen;  forms : parts of bodies that move;  normal : towards who looks
    """
    own = {name: motion.rotation(name)[0].T @ normal for name in forms}
    if any(abs(part.at @ own[name]) > _OWN * scale for name, parts in forms.items() for part in parts):
        return Layers()
    plane, motion = _axes(normal), _looks(motion)
    groups = _groups(joints, forms)
    ranges = {name: _thickness(motion, name, parts, normal) for name, parts in forms.items()}
    spans = {g: (min(ranges[b][0] for b in g), max(ranges[b][1] for b in g)) for g in groups}
    outlines = {name: [_outline(motion, name, part, plane) for part in parts] for name, parts in forms.items()}
    deep = {g for g in groups if spans[g][1] - spans[g][0] > 2.0 * _DEEP * scale}
    group = {name: g for g in groups for name in g}
    crossing = {
        frozenset((group[i], group[j]))
        for i, j in _meeting(motion, forms, plane)
        if group[i] != group[j]
        and not {group[i], group[j]} & deep
        and any(a.crosses(b) for a in outlines[i] for b in outlines[j])
    }
    placed = dict.fromkeys(deep, 0.0)
    for g in 2 * _order([g for g in groups if g not in deep], outlines, joints, scale):  # again, when the others are there
        others = [h for h in placed if frozenset((g, h)) in crossing]
        placed[g] = _best(g, others, placed, spans, joints, _CLEAR * scale)
    return Layers(normal, {name: depth for g, depth in placed.items() for name in g})


Group = tuple[str, ...]


def _groups(joints: Sequence[Joint], forms: Forms) -> list[Group]:
    """Bodies that have to be in one layer."""
    group: dict[str, Group] = {name: (name,) for name in forms}
    for joint in joints:
        tube = any(telescope(joint, forms, (0.0, 0.0)))
        if joint.first in group and joint.second in group and (joint.type in _TOGETHER or tube):
            both = tuple(dict.fromkeys((*group[joint.first], *group[joint.second])))
            group |= dict.fromkeys(both, both)
    return list(dict.fromkeys(group.values()))


def _order(groups: list[Group], outlines: Mapping[str, list[_Outline]], joints: Sequence[Joint], scale: float) -> list[Group]:
    """What is broad first, the broadest at the very back; then from the ground outwards."""
    away = {GROUND: 0}
    for _ in groups:
        for joint in joints:
            ends = [away.get(name) for name in (joint.first, joint.second)]
            for name, other in ((joint.first, ends[1]), (joint.second, ends[0])):
                if other is not None and name not in away:
                    away[name] = other + 1

    def rank(group: Group) -> tuple[float, int]:
        broad = max(min(outline.half) for name in group for outline in outlines[name])
        return -broad if broad > _BROAD * scale else 0.0, min(away.get(name, len(away)) for name in group)

    return sorted(groups, key=rank)


def _best(
    group: Group,
    others: Sequence[Group],
    placed: Mapping[Group, float],
    spans: Mapping[Group, Span],
    joints: Sequence[Joint],
    gap: float,
) -> float:
    """Of the depths in which it is clear of the others, that with the shortest pins, rather in front."""
    low, high = spans[group]
    ranges = [(placed[h] + spans[h][0], placed[h] + spans[h][1]) for h in others]
    free = [0.0, *(last - low + gap for _, last in ranges), *(first - high - gap for first, _ in ranges)]
    slack = 1e-3 * gap  # what touches is clear
    free = [d for d in free if all(d + low > last - slack or d + high < first + slack for first, last in ranges)]
    depths = {name: depth for h, depth in placed.items() for name in h}

    def cost(depth: float) -> float:
        pins = 0.0
        for joint in joints:
            ends = [name for name in (joint.first, joint.second) if name not in group]
            if joint.type == "revolute" and len(ends) == 1:
                pins += 0.5 * abs(depth) if ends[0] == GROUND else abs(depth - depths.get(ends[0], depth))
        return pins + 0.25 * abs(depth) - 1e-3 * depth

    return min(free, key=cost)


def pin_gap(motion: Layered, joint: Joint) -> float:
    """How far the second body's layer is from the first one's along the axis of a hinge [m]."""
    layers = motion.layers
    facing = float((motion.rotation(joint.first)[0] @ joint.E_i[:, 2]) @ layers.normal)
    return facing * (layers.of(joint.second) - layers.of(joint.first))


def passes(motion: Trajectory, parts: Sequence[tuple[str, Part]], still: Part, normal: Array) -> bool:
    """Whether parts of bodies pass before or behind what stands still, seen along a normal."""
    plane, looks = _axes(normal), _looks(motion)
    behind = _outline(looks, GROUND, still, plane)
    return any(behind.crosses(_outline(looks, body, part, plane)) for body, part in parts)


def seated(motion: Layered, joint: Joint, forms: Forms, radius: float, travel: Span | None) -> tuple[Joint, list[Part]]:
    """A joint that slides, its rail behind all that passes if it is the ground's, else in the layer of the first body; and what
    leads from there to the second body."""
    normal, parts = motion.layers.normal, forms.get(joint.second, ())
    if joint.type not in RAILS or not normal.any() or not parts or any(telescope(joint, forms, travel)):
        return joint, []
    depth = float(motion.point(joint.first, joint.p_i)[0] @ normal)
    low, high = _thickness(motion, joint.second, parts, normal)
    if joint.first == GROUND:
        plane, (start, end) = _axes(normal), rail_ends(radius, travel)
        size, at = (radius, radius, end - start), joint.p_i + 0.5 * (start + end) * joint.E_i[:, 2]
        looks = _looks(motion)
        rail = _outline(looks, GROUND, Part("box", size, at, along_z(joint.E_i[:, 2])), plane)
        passing = [b for b in forms if any(rail.crosses(_outline(looks, b, part, plane)) for part in forms[b])]
        depth = min(_thickness(motion, b, forms[b], normal)[0] for b in (*passing, joint.second)) - 0.9 * radius
    here = [motion.point(body, p)[0] @ normal for body, p in ((joint.first, joint.p_i), (joint.second, joint.p_j))]
    own = [motion.rotation(body)[0].T @ normal for body in (joint.first, joint.second)]
    p_i, p_j = (p + (depth - at) * n for p, at, n in zip((joint.p_i, joint.p_j), here, own, strict=True))
    gap = low - depth if depth < low else min(high - depth, 0.0)
    neck = [between(p_j, p_j + gap * own[1], 0.5 * radius)] if abs(gap) > radius else []
    return replace(joint, p_i=p_i, p_j=p_j), neck


def _complex(plane: Array) -> Complex:
    """What vectors are multiplied by to be numbers of the plane."""
    return np.asarray(plane[0] + 1j * plane[1])


def _axes(normal: Array) -> Array:
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first), normal])
