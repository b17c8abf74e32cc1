"""Models in a plane: two numbers for a point, one for a rotation, a torque or an inertia, hinges that need no axis.

    plane "xy": e1 = x, e2 = y; normal = e1 x e2, about which angles count      a point (a, b) is a e1 + b e2

A moment of inertia J about the normal is that of a flat body: J / 2 about the two other axes, which do not matter in the plane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from inspect import Parameter, signature
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.lagrangian.recorded import is_recorded
from dalembert.model.joints import JOINTS
from dalembert.model.rotation import Rotation
from dalembert.model.shapes import Axis, PlacedSolid, rod
from dalembert.model.validation import ABOUT_NORMAL, PLANE, as_float, choice, is_number

PLANES = ("xy", "xz", "yz")
_PAIRS = ("Pair", "Plane")
_FLAT = 1e-9  # sine of the angle between a bar and the plane


@cache
def _annotations(verb: Callable[..., Any]) -> tuple[int, dict[str, str]]:
    """Of the arguments of a verb, by name, and how many of them need no name."""
    parameters = signature(verb).parameters
    named = sum(parameter.kind is Parameter.KEYWORD_ONLY for parameter in parameters.values())
    return len(parameters) - named, {key: str(parameter.annotation) for key, parameter in parameters.items()}


@dataclass(frozen=True)
class InPlane:
    """How the verbs of a model in a plane are told."""

    name: str

    def __post_init__(self) -> None:
        choice("model", "plane", self.name, PLANES)

    @cached_property
    def axes(self) -> Array:
        """(2, 3) e1 and e2."""
        return np.eye(3)[["xyz".index(letter) for letter in self.name]]

    @cached_property
    def normal(self) -> Array:
        """(3,) e1 x e2."""
        return np.cross(*self.axes)

    def bar(self, mass: float, radius: float, ends: Sequence[Array]) -> PlacedSolid:
        """A rod between two points: its body axes are those of the plane turned by its angle, the first of the plane along it.

        So two numbers in body axes are along and across it, in every plane and whichever way it points. A shaft along the
        normal is one as in space.
        """
        along = ends[1] - ends[0]
        flat = abs(self.normal @ along) <= _FLAT * np.linalg.norm(along)
        axis: Axis = "y" if flat and self.name == "yz" else "x"
        made = rod(mass, radius=radius, axis=axis, between=ends)
        if not flat or made.rotation[0]:
            return made
        half_turn = Rotation.from_axis_angle(self.normal, np.arctan2(*(self.axes @ along)[::-1]))  # not about any axis
        return replace(made, rotation=tuple(half_turn.quaternion.tolist()))

    def vector(self, value: Any) -> Any:
        """Two numbers as a vector of the world; anything else as it is."""
        try:
            flat = np.shape(value) == (2,) and (np.asarray(value).dtype.kind in "iuf" or is_recorded(np.asarray(value)))
        except ValueError:
            return value
        return np.asarray(value) @ self.axes + 0.0 if flat else value  # no -0.0 across the plane

    @contextmanager
    def words(self) -> Iterator[None]:
        """Within, what should be given is said in numbers of the plane."""
        token = PLANE.set(self.name)
        try:
            yield
        finally:
            PLANE.reset(token)

    def call(self, verb: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """A verb (of a model, its first argument) with what was said in the plane said in space."""
        count, known = _annotations(verb)
        told = dict(zip(known, arguments, strict=False)) | options
        if len(arguments) > count or len(told) < len(arguments) + len(options) or not told.keys() <= known.keys():
            return verb(*arguments, **options)  # says what is wrong
        for key, value in told.items():
            if key not in ("self", "name"):
                told[key] = self._in_space(key, known[key], value)
        row = JOINTS.get(verb.__name__.removeprefix("add_").removesuffix("_joint"))
        hinge = row is not None and "angle" in row.coordinates and "translation" not in row.coordinates
        if hinge and all(told.get(key) is None for key in ("axis", "axes", "vectors")):
            told["axis"] = self.normal
        if verb.__name__ == "add_cam":
            told = {"axis": self.normal, "zero": self.axes[0]} | told
        with self.words():
            return verb(**told)

    def _in_space(self, key: str, annotation: str, value: Any) -> Any:
        if annotation.partition(" ")[0] in _PAIRS and isinstance(value, Sequence | np.ndarray):
            return [self.vector(part) for part in value]
        if annotation == "Sequence[BodyPoint]" and isinstance(value, Sequence):
            return [tuple(map(self.vector, pair)) if isinstance(pair, tuple | list) else pair for pair in value]
        if "ArrayLike" not in annotation:
            return value
        if not is_number(value):
            return value if key in (*ABOUT_NORMAL, "rotation") else self.vector(value)
        n = self.normal
        match key:
            case "inertia":
                return 0.5 * as_float(value) * (np.eye(3) + np.outer(n, n))
            case "angular_velocity" | "torque":
                return as_float(value) * n
            case "rotation":
                return Rotation.from_axis_angle(n, value)
        return value
