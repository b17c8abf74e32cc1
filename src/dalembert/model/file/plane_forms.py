"""Shorter forms of the data of an element, for files: bars from point to point; in a plane two numbers for a vector, one for
an angle, a torque or an inertia. Whether they read back exactly is for who tries them to see."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model.elements import Body
from dalembert.model.frames import rotation_matrix
from dalembert.model.plane import InPlane
from dalembert.model.rotation import Rotation
from dalembert.model.shapes import rod

Data = dict[str, Any]

_VECTORS = (
    *("position", "velocity", "start", "end", "centre", "point", "at"),
    *("axis", "direction", "force", "origin", "normal", "zero"),
)
_SEVERAL = ("points", "axes", "vectors", "between")
_HINGES = ("revolute", "planar_joint")
_ROUNDING = 1e-15  # of a direction across the plane
_DIGITS = 12  # of points and angles that are tried before the exact ones


def as_link(body: Body, data: Data, plane: InPlane | None) -> Iterator[Data]:
    """A bar along its x axis, or the first of the plane, by its ends; data : the same as a body"""
    shape: Data = dict(body.shape or {})
    if body.kind != "rigid" or shape.get("type") not in ("rod", "cylinder") or shape.get("axis") not in ("x", "y"):
        return
    kept: Data = {key: data[key] for key in ("mass", "velocity", "angular_velocity", "fixed") if key in data}
    thick = {"radius": shape["radius"]} if "radius" in shape else {}
    offset = np.array(shape.get("position", np.zeros(3)))
    heavy = {"inertia": float(body.inertia[2, 2])} if body.mass else {}
    along = rotation_matrix(body)[:, "xyz".index(shape["axis"])]
    for start, end in _ends(body, float(shape["length"]) * along, offset):
        bar = rod(1.0, between=(start, end)) if plane is None else plane.bar(1.0, 0.0, (start, end))
        ends = {"start": start.tolist(), "end": end.tolist()}
        if bar.rotation == tuple(body.rotation) and offset.any():
            yield {"type": "link", **ends, **kept, **thick, "centre": body.position.tolist(), **heavy}
        elif bar.rotation == tuple(body.rotation) and bar.position == tuple(body.position):
            yield {"type": "link", **ends, **kept, **thick}
            yield {"type": "link", **ends, **kept, **thick, **heavy}


def _ends(body: Body, whole: Array, offset: Array) -> Iterator[tuple[Array, Array]]:
    """Both in few digits, or one of them, or where rounding may have had them.

    whole : from one to the other, world axes;  offset : of the middle, body axes
    """
    middle = body.position + rotation_matrix(body) @ offset
    half = 0.5 * np.where(np.abs(whole) < _ROUNDING * np.abs(whole).max(), 0.0, whole)
    start, end = (np.round(middle + s * half, _DIGITS) + 0.0 for s in (-1.0, 1.0))
    yield from ((start, end), (start, 2.0 * middle - start), (2.0 * middle - end, end))
    exact = middle - half
    for steps in product(*((0, 1, -1, 2, -2) if x else (0,) for x in exact)):
        near = exact + steps * np.spacing(exact)
        yield near, 2.0 * middle - near


def in_plane(plane: InPlane, data: Data) -> Iterator[Data]:
    """The same in numbers of the plane, with an angle for a rotation where there is one."""
    flat = {key: _flat(plane, key, value) for key, value in data.items()}
    if data.get("type") in _HINGES and data.get("axis") == plane.normal.tolist():
        del flat["axis"]
    theta = data.get("rotation")
    if theta is not None:
        angle = 2.0 * float(np.arctan2(plane.normal @ theta[1:], theta[0]))
        near = [round(angle, _DIGITS), angle, np.nextafter(angle, np.inf), np.nextafter(angle, -np.inf)]
        alike = (float(a) for a in near if np.array_equal(Rotation.from_axis_angle(plane.normal, a).quaternion, theta))
        yield from ({**flat, "rotation": angle} for angle in alike)
    yield flat


def flat_vector(plane: InPlane, value: list[float]) -> list[float]:
    """Two numbers where the third is zero."""
    return value if plane.normal @ value else (plane.axes @ value).tolist()


def _flat(plane: InPlane, key: str, value: Any) -> Any:
    n = plane.normal
    if key in _VECTORS:
        return flat_vector(plane, value)
    if key in _SEVERAL:
        return [flat_vector(plane, v) if not isinstance(v[0], str) else [v[0], flat_vector(plane, v[1])] for v in value]
    if key in ("angular_velocity", "torque") and not np.any(plane.axes @ value):
        return float(n @ value)
    if key == "inertia" and np.ndim(value) == 1:  # of a flat body
        J = float(np.abs(n) @ value)
        return J if np.array_equal(np.diag(value), 0.5 * J * (np.eye(3) + np.outer(n, n))) else value
    return value
