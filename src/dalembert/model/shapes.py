"""Mass and inertia of homogeneous solids, about the centre of mass, in body axes.

A solid fills three keywords of a body: `model.add_body("link", **da.rod(1.0, 0.5).body(), position=(0.25, 0, 0))`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, overload

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError
from dalembert.model.mesh import enclosed, read_mesh
from dalembert.model.rotation import turning
from dalembert.model.validation import by_name, choice, file_path, number, several, shown, vector

Axis = Literal["x", "y", "z"]

THIN = 1e-4  # axial over transverse inertia of a rod without radius


class BodyProperties(TypedDict):
    """The keywords of `Model.add_body` that a solid fills."""

    mass: float
    inertia: tuple[float, float, float]
    shape: dict[str, object]


class PlacedProperties(BodyProperties):
    """Those that a solid between points of the world fills."""

    position: tuple[float, ...]
    rotation: tuple[float, ...]


class MeshProperties(TypedDict):
    """Those that a mesh fills."""

    mass: float
    inertia: tuple[tuple[float, ...], ...]
    shape: dict[str, object]
    position: tuple[float, ...]


@dataclass(frozen=True)
class Solid:
    """A homogeneous solid: mass [kg], principal moments of inertia (I_x, I_y, I_z) [kg m^2], shape for the viewer."""

    mass: float
    inertia: tuple[float, float, float]
    shape: dict[str, object]

    def body(self) -> BodyProperties:
        """Keywords for `Model.add_body(name, **solid.body(), ...)`."""
        return {"mass": self.mass, "inertia": self.inertia, "shape": dict(self.shape)}


@dataclass(frozen=True)
class PlacedSolid(Solid):
    """One with a place in the world: position of its centre of mass [m], rotation as a quaternion, scalar first."""

    position: tuple[float, ...]
    rotation: tuple[float, ...]

    def body(self) -> PlacedProperties:
        """Keywords for `Model.add_body(name, **solid.body())`."""
        return {**super().body(), "position": self.position, "rotation": self.rotation}


@dataclass(frozen=True)
class MeshSolid:
    """What a mesh encloses: mass [kg], inertia (3x3) [kg m^2] about its centre of mass, in the file at `position` [m]."""

    mass: float
    inertia: tuple[tuple[float, ...], ...]
    shape: dict[str, object]
    position: tuple[float, ...]

    def body(self) -> MeshProperties:
        """Keywords for `Model.add_body(name, **solid.body())`."""
        return {"mass": self.mass, "inertia": self.inertia, "shape": dict(self.shape), "position": self.position}


def _round(owner: str, mass: float, axial: float, transverse: float, axis: Axis, shape: dict[str, object]) -> Solid:
    """A solid of revolution: the moment about `axis`, and the one about the two others."""
    choice(owner, "axis", axis, ("x", "y", "z"))
    x, y, z = (axial if axis == name else transverse for name in "xyz")
    return Solid(mass, (x, y, z), shape | {"axis": axis})


@overload
def rod(mass: float, length: float, axis: Axis = "x", radius: float = 0.0) -> Solid: ...
@overload
def rod(mass: float, *, axis: Axis = "x", radius: float = 0.0, between: Sequence[npt.ArrayLike]) -> PlacedSolid: ...
@by_name
def rod(
    mass: float,
    length: float | None = None,
    axis: Axis = "x",
    radius: float = 0.0,
    *,
    between: Sequence[npt.ArrayLike] | None = None,
) -> Solid:
    """A round rod along `axis` [m, kg], of a length or between two world points, which then place the body as well.

    Without a radius it is the ideal thin rod, m l^2 / 12 across; about its own axis it gets 1e-4 of that, because a
    rigid body needs three positive moments.

        model.add_body("link", **da.rod(1.0, between=(A, B)).body())
    """
    if (length is None) == (between is None):
        got = "neither length nor between" if length is None else "both length and between"
        raise ModelError(f"rod: got {got}; give the length, or between=(A, B) in world coordinates")
    if between is not None:
        A, B = (vector("rod", "between", x) for x in several("rod", "between", between, (2,), "a pair of world points"))
        length = number("rod", "length", np.linalg.norm(B - A))
        if length == 0.0:
            raise ModelError(f"rod: between holds {shown(A)} twice; give two different points")
        choice("rod", "axis", axis, ("x", "y", "z"))
        turn = turning(np.eye(3)["xyz".index(axis)], (B - A) / length)
        bar = rod(mass, length, axis, radius)
        return PlacedSolid(bar.mass, bar.inertia, bar.shape, tuple((0.5 * (A + B)).tolist()), tuple(turn.tolist()))
    m, length = number("rod", "mass", mass, above=0.0), number("rod", "length", length, above=0.0)
    if number("rod", "radius", radius, least=0.0) > 0.0:
        return cylinder(m, radius, length, axis)
    across = m * length**2 / 12.0
    return _round("rod", m, THIN * across, across, axis, {"type": "rod", "length": length})


@by_name
def cylinder(mass: float, radius: float, length: float, axis: Axis = "z") -> Solid:
    """A full cylinder along `axis`: m r^2 / 2 about it, m (3 r^2 + l^2) / 12 across [m, kg]."""
    m, r = number("cylinder", "mass", mass, above=0.0), number("cylinder", "radius", radius, above=0.0)
    length = number("cylinder", "length", length, above=0.0)
    across = m * (3.0 * r**2 + length**2) / 12.0
    return _round("cylinder", m, 0.5 * m * r**2, across, axis, {"type": "cylinder", "radius": r, "length": length})


@by_name
def disc(mass: float, radius: float, axis: Axis = "z") -> Solid:
    """A thin disc normal to `axis`: m r^2 / 2 about it, m r^2 / 4 across [m, kg]."""
    m, r = number("disc", "mass", mass, above=0.0), number("disc", "radius", radius, above=0.0)
    return _round("disc", m, 0.5 * m * r**2, 0.25 * m * r**2, axis, {"type": "disc", "radius": r})


@by_name
def box(mass: float, size: npt.ArrayLike) -> Solid:
    """A box with edges (s_x, s_y, s_z): I_x = m (s_y^2 + s_z^2) / 12 and so on [m, kg]."""
    m = number("box", "mass", mass, above=0.0)
    x, y, z = vector("box", "size", size).tolist()
    if min(x, y, z) <= 0.0:
        raise ModelError(f"box: size is {shown([x, y, z])}; give three edges greater than 0")
    moments = (m * (y * y + z * z) / 12.0, m * (x * x + z * z) / 12.0, m * (x * x + y * y) / 12.0)
    return Solid(m, moments, {"type": "box", "size": [x, y, z]})


@by_name
def sphere(mass: float, radius: float) -> Solid:
    """A full sphere: 2/5 m r^2 [m, kg]."""
    m, r = number("sphere", "mass", mass, above=0.0), number("sphere", "radius", radius, above=0.0)
    moment = 0.4 * m * r**2
    return Solid(m, (moment, moment, moment), {"type": "sphere", "radius": r})


@by_name
def mesh(file: str | os.PathLike[str], *, density: float, scale: float = 1.0) -> MeshSolid:
    """What a closed mesh of an STL or OBJ file encloses, filled evenly. The axes of the file are those of the body.

        model.add_body("bracket", **da.mesh("bracket.stl", density=2700, scale=1e-3).body())

    density : [kg/m^3];  scale : metres in a unit of the file, 1e-3 for one in millimetres

    The body lies where the file has it: its centre of mass, in coordinates of the file, becomes its position in the world.
    """
    rho, s = number("mesh", "density", density, above=0.0), number("mesh", "scale", scale, above=0.0)
    path = file_path("mesh", "file", file)
    V, centre, second = enclosed(f"mesh: file {path!r}", s * read_mesh("mesh", path).triangles.astype(float))
    J = rho * (np.trace(second) * np.eye(3) - second)
    shape: dict[str, object] = {"type": "mesh", "file": path, "scale": s, "position": [-float(x) for x in centre]}
    rows = tuple(tuple(float(x) for x in row) for row in 0.5 * (J + J.T))
    return MeshSolid(rho * V, rows, shape, tuple(map(float, centre)))
