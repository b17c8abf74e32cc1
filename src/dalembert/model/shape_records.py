"""How the viewer draws a body, as a record that JSON holds: checked when it is given, long before anybody looks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.lagrangian.recorded import Number, is_recorded
from dalembert.model.rotation import unit_quaternion
from dalembert.model.validation import choice, nearest, number, numbers, shown

DEEPEST = 16  # compounds within compounds

# type -> what it must have; what it may have
SHAPES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "box": (("size",), ()),
    "cylinder": (("radius", "length"), ("axis",)),
    "cone": (("radius", "length"), ("axis",)),
    "rod": (("length",), ("axis",)),
    "disc": (("radius",), ("axis",)),
    "sphere": (("radius",), ()),
    "ellipsoid": (("semi_axes",), ()),
    "plate": (
        ("points", "radius", "thickness"),
        ("axis",),
    ),  # around eyes of that radius at points of the body, across the axis
    "wheel": (("radius", "width"), ("axis",)),  # with spokes
    "mesh": (("file",), ("scale",)),
    "compound": (("parts",), ()),
}
_ANY = ("position", "rotation", "colour", "fixed", "clear")  # place and colour; in the world, not the body; seen through
_RECORDED = " recorded"


def shape_record(owner: str, shape: object) -> dict[str, object] | None:
    """The viewer's description of a body: a dict that JSON can hold, arrays and tuples as lists, numbers as floats."""
    if shape is None:
        return None
    recorded: list[Number] = []

    def plain(value: Any) -> Any:
        if isinstance(value, Number):  # a text has no place for it
            recorded.append(value)
            return {_RECORDED: len(recorded) - 1}
        own = isinstance(value, np.ndarray) and is_recorded(value)
        return value.tolist() if own else np.asarray(value, dtype=float).tolist()

    try:
        if not isinstance(shape, dict):
            raise TypeError
        text = json.dumps(shape, allow_nan=False, default=plain)
    except (TypeError, ValueError, RecursionError):
        raise ModelError(f"{owner}: shape is {shown(shape)}; give a dict of numbers, strings and lists") from None
    back: Any = (lambda part: recorded[int(part[_RECORDED])] if _RECORDED in part else part) if recorded else None
    record: dict[str, object] = json.loads(text, parse_int=float, object_hook=back)
    _check(owner, record, 0)
    return record


def _check(owner: str, shape: object, depth: int) -> None:
    if not isinstance(shape, Mapping) or "type" not in shape:
        raise ModelError(f"{owner}: shape is {shown(shape)}; give a dict with a 'type', one of {', '.join(SHAPES)}")
    kind = shape["type"]
    if not isinstance(kind, str) or kind not in SHAPES:
        raise ModelError(f"{owner}: there is no shape {shown(kind)}; {nearest(kind, SHAPES)}")
    needed, optional = SHAPES[kind]
    for key in needed:
        if key not in shape:
            raise ModelError(f"{owner}: the shape {kind!r} has no {key!r}; give {', '.join(needed)}")
    known = ("type", *needed, *optional, *_ANY)
    owner = f"{owner}, shape {kind!r}"
    for key, value in shape.items():
        if key not in known:
            raise ModelError(f"{owner}: there is no key {key!r}; {nearest(key, known)}")
        if key in _CHECKS:
            _CHECKS[key](owner, key, value)
    if kind == "wheel" and not shape["width"] < shape["radius"]:
        raise ModelError(f"{owner}: width is {shape['width']:g}; give one smaller than the radius, {shape['radius']:g}")
    if kind == "plate":
        along = [point["xyz".index(shape.get("axis", "z"))] for point in shape["points"]]
        if max(along) - min(along) > shape["thickness"]:
            raise ModelError(f"{owner}: points are {shown(shape['points'])}; give points of a plane across the axis")
    if kind == "compound":
        parts = shape["parts"]
        if not isinstance(parts, list) or depth == DEEPEST:
            raise ModelError(f"{owner}: parts is {shown(parts)}; give a list of shapes, not more than {DEEPEST} deep")
        for part in parts:
            _check(owner.partition(", shape")[0], part, depth + 1)


def _three(owner: str, key: str, value: Any) -> Array:
    return numbers(owner, key, value, (3,))


def _edges(owner: str, key: str, value: Any) -> None:
    if not (_three(owner, key, value) > 0.0).all():
        raise ModelError(f"{owner}: {key} is {shown(value)}; give three lengths greater than 0")


def _points(owner: str, key: str, value: Any) -> None:
    if not isinstance(value, list) or not value:
        raise ModelError(f"{owner}: {key} is {shown(value)}; give a list of points in body axes")
    for point in value:
        _three(owner, key, point)


def _text(owner: str, key: str, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ModelError(f"{owner}: {key} is {shown(value)}; give a non-empty string")


def _flag(owner: str, key: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ModelError(f"{owner}: {key} is {shown(value)}; give True or False")


_CHECKS: dict[str, Callable[[str, str, Any], object]] = {
    **dict.fromkeys(("size", "semi_axes"), _edges),
    **dict.fromkeys(
        ("radius", "length", "scale", "thickness", "width"), lambda owner, key, value: number(owner, key, value, above=0.0)
    ),
    **dict.fromkeys(("file", "colour"), _text),
    "axis": lambda owner, key, value: choice(owner, key, value, ("x", "y", "z")),
    "points": _points,
    "position": _three,
    "rotation": lambda owner, key, value: unit_quaternion(owner, value),
    **dict.fromkeys(("fixed", "clear"), _flag),
}
