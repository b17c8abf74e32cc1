"""Models in a plane: two numbers for a point, one for a rotation, a torque or an inertia, hinges that need no axis.

    plane "xy": e1 = x, e2 = y; normal = e1 x e2, about which angles count      a point (a, b) is a e1 + b e2

A moment of inertia J about the normal is that of a flat body: J / 2 about the two other axes, which do not matter in the plane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from dalembert.model.joints import JOINTS
from dalembert.model.rotation import Rotation
from dalembert.model.validation import Array, choice

PLANES = ("xy", "xz", "yz")
_PAIRS = ("Pair", "Plane")


@dataclass(frozen=True)
class InPlane:
    """How the verbs of a model in a plane are told."""

    name: str

    def __post_init__(self) -> None:
        choice("model", "plane", self.name, PLANES)

    @property
    def axes(self) -> Array:
        """(2, 3) e1 and e2."""
        return np.eye(3)[["xyz".index(letter) for letter in self.name]]

    @property
    def normal(self) -> Array:
        """(3,) e1 x e2."""
        return np.cross(*self.axes)

    def vector(self, value: Any) -> Any:
        """Two numbers as a vector of the world; anything else as it is."""
        try:
            flat = np.shape(value) == (2,) and np.asarray(value).dtype.kind in "iuf"
        except ValueError:
            return value
        return np.asarray(value, dtype=float) @ self.axes if flat else value

    def call(self, verb: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """A verb (of a model, its first argument) with what was said in the plane said in space."""
        try:
            given = signature(verb).bind(*arguments, **options)
        except TypeError:
            return verb(*arguments, **options)  # says what is missing
        told = given.arguments
        for key, parameter in signature(verb).parameters.items():
            if key in told and key not in ("self", "name"):
                told[key] = self._in_space(key, str(parameter.annotation), told[key])
        row = JOINTS.get(verb.__name__.removeprefix("add_").removesuffix("_joint"))
        hinge = row is not None and "angle" in row.coordinates and "translation" not in row.coordinates
        if hinge and all(told.get(key) is None for key in ("axis", "axes", "vectors")):
            told["axis"] = self.normal
        return verb(*given.args, **given.kwargs)

    def _in_space(self, key: str, annotation: str, value: Any) -> Any:
        if annotation.partition(" ")[0] in _PAIRS and isinstance(value, Sequence | np.ndarray):
            return [self.vector(part) for part in value]
        if "ArrayLike" not in annotation:
            return value
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            return self.vector(value)
        n = self.normal
        match key:
            case "inertia":
                return 0.5 * float(value) * (np.eye(3) + np.outer(n, n))
            case "angular_velocity" | "torque":
                return float(value) * n
            case "rotation":
                return Rotation.from_axis_angle(n, float(value))
        return value
