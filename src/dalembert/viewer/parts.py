"""What a body looks like: its shape as boxes, cylinders, capsules, spheres, ellipsoids and meshes in body axes.

A body without a shape gets links between its joint points, and the homogeneous solid with its mass and inertia where
those do not say enough. Links thinner than the eye can see are thickened: pictures only, nothing here is mechanics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.model.elements import Body
from dalembert.model.mesh import Mesh, read_mesh
from dalembert.model.rotation import Rotation, matrix_to_quaternion

Kind = Literal["box", "cylinder", "cone", "capsule", "ring", "sphere", "ellipsoid", "mesh"]
Pin = tuple[Array, Array, bool]  # point and axis of a hinge in body axes, whether another body's eye is around that of this one

LINK = 0.013  # radius of a link between joints, over the size of the mechanism
STEM = 0.005  # radius of a stem from a joint point to a shape that does not reach it
SMALLEST = 0.045  # least edge of an equivalent solid
_THIN, _SLIM = 0.004, 4.0  # least radius of a bar, over the size of the mechanism; it is so many times longer than wide
_POINT = 2.4, 4.2  # radius of a point mass, from a light one to one that is all, over that of a link: a pin does not hide it
_AROUND, _SPOKES = 24, 8  # corners of a plate's eye, spokes of a wheel

_TO_Z = {"x": (0.5, 0.5, 0.5, 0.5), "y": (0.5, -0.5, -0.5, -0.5), "z": (1.0, 0.0, 0.0, 0.0)}  # turn z into the axis


@dataclass(frozen=True, eq=False)
class Part:
    """One solid of a body's picture.

    size : box (x, y, z); cylinder, capsule (radius, length) along z, caps included; cone (radius, length), its tip towards z;
        ring (radius, half its thickness) about z; sphere (radius,); ellipsoid (a, b, c) half axes; mesh (scale,) [m]
    at, turn : its place in body axes [m], unit quaternion scalar first;  colour : its own, None for the body's
    fixed : in the world instead of the body: what the body stands or floats on;  clear : seen through
    """

    kind: Kind
    size: tuple[float, ...]
    at: Array = field(default_factory=lambda: np.zeros(3))
    turn: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    mesh: Mesh | None = None
    colour: str | None = None
    fixed: bool = False
    clear: bool = False

    @property
    def half(self) -> Array:
        """(3,) half edges of the box around it, in its own axes [m]."""
        if self.kind == "box":
            return 0.5 * np.array(self.size)
        if self.kind in ("cylinder", "cone", "capsule"):
            return np.array([self.size[0], self.size[0], 0.5 * self.size[1]])
        if self.kind == "ring":
            radius, thick = self.size
            return np.array([radius + thick, radius + thick, thick])
        if self.mesh is not None:
            return np.asarray(self.size[0] * np.abs(self.mesh.triangles).max(axis=(0, 1)), dtype=float)
        return np.array(self.size) if self.kind == "ellipsoid" else np.full(3, self.size[0])

    @property
    def matrix(self) -> Array:
        """(3, 3) part -> body axes."""
        return Rotation(self.turn).matrix

    def reach(self, direction: Array) -> Array:
        """How far the part goes from its centre along unit vectors (..., 3) in its own axes [m]."""
        u = np.abs(direction)
        if self.kind in ("sphere", "ellipsoid"):
            return np.asarray(np.linalg.norm(u * self.half, axis=-1))
        if self.kind in ("cylinder", "cone"):
            return np.asarray(self.half[0] * np.linalg.norm(u[..., :2], axis=-1) + self.half[2] * u[..., 2])
        if self.kind == "capsule":
            return np.asarray(self.size[0] + (self.half[2] - self.size[0]) * u[..., 2])
        return np.asarray(u @ self.half)

    def gap(self, point: Array) -> float:
        """How far a point in body axes is outside the box around the part [m]."""
        local = self.matrix.T @ (point - self.at)
        return float(np.linalg.norm(np.maximum(np.abs(local) - self.half, 0.0)))


@dataclass(frozen=True, eq=False)
class Picture:
    """The parts of a body, and how thick it is at each of its joint points [m]."""

    parts: tuple[Part, ...]
    thickness: tuple[float, ...]


def picture_of(
    body: Body,
    anchors: Sequence[Array],
    scale: float,
    rolling: Sequence[Part] = (),
    pins: Sequence[Pin] = (),
    share: float = 0.0,
) -> Picture:
    """What to draw for a body; where a bar turns on a pin it has an eye.

    anchors : joint points in body axes;  scale : size of the mechanism [m];  rolling : the form on which it rolls, if it does
    pins : its hinges;  share : of all mass, which point masses are drawn by
    """
    picture = _without_eyes(body, anchors, scale, rolling, share)
    eyes = [eye for pin in pins for eye in _eyes(picture.parts, *pin)]
    return Picture((*picture.parts, *eyes), picture.thickness)


def _eyes(parts: Sequence[Part], point: Array, axis: Array, inner: bool) -> Iterator[Part]:
    """Around a pin across the end of a bar; that of the other body is around it, so that both are seen."""
    for part in parts:
        if part.kind in ("capsule", "cylinder") and part.size[1] > 6.0 * part.size[0] and not part.fixed:
            along = part.matrix[:, 2]
            ends = (part.at + side * 0.5 * part.size[1] * along for side in (-1, 1))
            if abs(along @ axis) < 0.5 and any(np.linalg.norm(end - point) < 1.6 * part.size[0] for end in ends):
                radius, length = (1.5, 3.1) if inner else (1.8, 2.3)
                size = (radius * part.size[0], length * part.size[0])
                yield Part("cylinder", size, point, along_z(axis), colour=part.colour)
                return


def _without_eyes(body: Body, anchors: Sequence[Array], scale: float, rolling: Sequence[Part], share: float) -> Picture:
    if body.shape is not None or rolling:
        form = tuple(rolling) if body.shape is None else given_parts(body.name, body.shape, scale)
        whole = body.shape is not None and body.shape.get("type") == "compound"  # nothing is missing from it
        return _with_stems(form, anchors, STEM * scale, not whole)
    if body.kind == "point":
        radius = _POINT[0] + (_POINT[1] - _POINT[0]) * np.cbrt(share)
        return Picture((Part("sphere", (float(radius) * LINK * scale,)),), tuple(1.2 * LINK * scale for _ in anchors))
    links = _links(anchors, LINK * scale)
    solid = equivalent_solid(body, SMALLEST * scale) if len(links) < 2 and _spread(anchors) < 2 else None
    parts = (*links, solid) if solid else links
    thickness = LINK * scale if links or solid is None else min(LINK * scale, float(min(solid.half)))
    return Picture(tuple(parts), tuple(thickness for _ in anchors))


def given_parts(owner: str, shape: Mapping[str, Any], scale: float) -> tuple[Part, ...]:
    """The parts that a shape record describes, see `model.shape_records`, where it was checked."""
    return tuple(_placed(_seen(part, scale), shape) for part in _parts(owner, shape, scale))


def _seen(part: Part, scale: float) -> Part:
    """A bar that is too thin to be seen in a mechanism of this size, thicker."""
    thin, wide, long = np.sort(part.half).tolist()
    least = min(_THIN * scale, 0.4 * long)
    if part.kind not in ("box", "cylinder") or long < _SLIM * wide or thin >= least:
        return part
    size = [max(edge, 2.0 * least) for edge in part.size] if part.kind == "box" else [max(part.size[0], least), part.size[1]]
    return replace(part, size=tuple(size))


def _parts(owner: str, shape: Mapping[str, Any], scale: float) -> tuple[Part, ...]:
    turn, at = np.array(_TO_Z[str(shape.get("axis", "z"))]), np.zeros(3)
    match kind := shape["type"]:
        case "box":
            x, y, z = (float(edge) for edge in shape["size"])
            return (Part("box", (x, y, z)),)
        case "cylinder" | "cone":
            return (Part(kind, (float(shape["radius"]), float(shape["length"])), at, turn),)
        case "rod":
            length = float(shape["length"])
            # a long one is the thinner, so that it does not hide a short one in the same place
            radius = min(LINK * (scale - 0.15 * min(length, scale)), 0.12 * length)
            return (Part("cylinder", (radius, length), at, turn),)
        case "disc":
            radius = float(shape["radius"])
            return (Part("cylinder", (radius, 0.06 * radius), at, turn),)
        case "sphere":
            return (Part("sphere", (float(shape["radius"]),)),)
        case "ellipsoid":
            a, b, c = (float(length) for length in shape["semi_axes"])
            return (Part("ellipsoid", (a, b, c)),)
        case "plate":
            return (_plate(np.array(shape["points"], dtype=float), float(shape["radius"]), float(shape["thickness"]), turn),)
        case "wheel":
            return tuple(_wheel(float(shape["radius"]), 0.5 * float(shape["width"]), turn))
        case "mesh":
            return (Part("mesh", (float(shape.get("scale", 1.0)),), mesh=read_mesh(f"body {owner!r}", str(shape["file"]))),)
    return tuple(part for inner in shape["parts"] for part in given_parts(owner, inner, scale))


def _placed(part: Part, shape: Mapping[str, Any]) -> Part:
    """A part with what the record says beside its form: position, rotation, colour, whether it is fixed in the world."""
    turn = Rotation(shape.get("rotation", (1.0, 0.0, 0.0, 0.0)))
    at = np.asarray(shape.get("position", (0.0, 0.0, 0.0)), dtype=float) + turn.apply(part.at)
    said: Any = {key: shape[key] for key in ("colour", "fixed", "clear") if key in shape}
    return replace(part, at=at, turn=(turn * Rotation(part.turn)).quaternion, **said)


def _plate(points: Array, radius: float, thick: float, turn: Array) -> Part:
    """A plate across `turn` z, as tight as a belt around eyes of this radius at the points (n, 3)."""
    from scipy.spatial import ConvexHull

    local = points @ Rotation(turn).matrix
    angles = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    rims = local[:, None, :2] + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rim = rims.reshape(-1, 2)[ConvexHull(rims.reshape(-1, 2)).vertices]
    middle = 0.5 * (rim.min(axis=0) + rim.max(axis=0))
    at = Rotation(turn).apply((*middle, local[:, 2].mean()))
    return Part("mesh", (1.0,), at, turn, Mesh(extruded(rim - middle, thick)))


def extruded(rim: Array, thick: float) -> npt.NDArray[np.float32]:
    """(n, 3, 3) triangles of a plate around the origin with this rim (n, 2), all of which the origin sees."""
    a = np.column_stack([rim, np.full(len(rim), 0.5 * thick)])
    b, low = np.roll(a, -1, axis=0), np.array([1.0, 1.0, -1.0])
    top = np.tile([0.0, 0.0, 0.5 * thick], (len(a), 1))
    faces = [(top, a, b), (top * low, b * low, a * low), (a, a * low, b * low), (a, b * low, b)]
    return np.concatenate([np.stack(face, axis=1) for face in faces]).astype(np.float32)


def _wheel(radius: float, half: float, turn: Array) -> Iterator[Part]:
    """Tyre, hub and spokes about `turn` z; half : of the tyre's width."""
    yield Part("ring", (radius - half, half), turn=turn)
    yield Part("cylinder", (1.5 * half, 4.0 * half), turn=turn)
    for angle in 2.0 * np.pi * np.arange(_SPOKES) / _SPOKES:
        out = Rotation(turn).apply((np.cos(angle), np.sin(angle), 0.0))
        yield Part("cylinder", (0.3 * half, radius - 2.0 * half), 0.5 * radius * out, along_z(out))


def _with_stems(parts: tuple[Part, ...], anchors: Sequence[Array], radius: float, wanted: bool) -> Picture:
    """If wanted, a stem from the centre of mass to every joint point that the shape does not reach."""
    stems, thickness = [], []
    for anchor in anchors:
        near = min((part for part in parts if not part.fixed), key=lambda part: part.gap(anchor))
        if near.gap(anchor) > 2.0 * radius:
            stems += [between(np.zeros(3), anchor, radius)] if wanted else []
            thickness.append(radius if wanted else LINK / STEM * radius)
        else:
            thickness.append(float(np.sort(near.half)[0 if near.kind == "mesh" else 1]))
    return Picture((*parts, *stems), tuple(thickness))


def between(start: Array, end: Array, radius: float) -> Part:
    """A capsule from point to point."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    return Part("capsule", (radius, length + 2.0 * radius), 0.5 * (start + end), along_z(axis))


def along_z(axis: Array) -> Array:
    """A quaternion that turns z into the direction of a vector."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    return matrix_to_quaternion(np.column_stack([x, np.cross(z, x), z]))


def _links(anchors: Sequence[Array], radius: float) -> list[Part]:
    """One straight link where two joint points and the centre of mass are in line, else links from the centre."""
    ends = [a for k, a in enumerate(anchors) if np.linalg.norm(a) > radius and not _known(a, anchors[:k], radius)]
    if len(ends) == 2:
        a, b = ends
        off_line = np.linalg.norm(np.cross(a, b)) / np.linalg.norm(b - a)
        if off_line < radius and a @ b < 0:
            return [between(a, b, radius)]
    return [between(np.zeros(3), end, radius) for end in ends]


def _known(point: Array, others: Sequence[Array], radius: float) -> bool:
    return any(np.linalg.norm(point - other) < 0.1 * radius for other in others)


def _spread(anchors: Sequence[Array]) -> int:
    """Number of distinct joint points that are not the centre of mass."""
    return sum(bool(np.linalg.norm(a) > 1e-9) and not _known(a, anchors[:k], 1e-8) for k, a in enumerate(anchors))


def equivalent_solid(body: Body, least: float) -> Part:
    """The homogeneous cylinder (two equal moments) or box with the body's mass and inertia; edges are at least `least`.

    Box: s_x^2 = 6 (I_y + I_z - I_x) / m. Cylinder: r^2 = 2 I_a / m, l^2 = 12 I_t / m - 3 r^2.
    """
    moments, axes = np.linalg.eigh(body.inertia)
    if np.linalg.det(axes) < 0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    for axial in (2, 0):
        others = [k for k in range(3) if k != axial]
        equal = np.ptp(moments[others]) < 0.01 * moments[2]
        radius_2 = 2.0 * moments[axial] / body.mass
        length_2 = 12.0 * moments[others].mean() / body.mass - 3.0 * radius_2
        if equal and np.ptp(moments) > 0.01 * moments[2] and length_2 > 0.0:
            order = [*others, axial]
            frame = axes[:, order]
            frame = frame * np.array([1.0, 1.0, np.sign(np.linalg.det(frame))])
            size = (max(float(np.sqrt(radius_2)), 0.5 * least), max(float(np.sqrt(length_2)), 0.5 * least))
            return Part("cylinder", size, turn=matrix_to_quaternion(frame))
    edges = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / body.mass, 0.0))
    x, y, z = (max(float(edge), least) for edge in edges)
    return Part("box", (x, y, z), turn=matrix_to_quaternion(axes))
