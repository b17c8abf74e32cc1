"""Constraints for the oracle: per joint type the residual of positions and the rates of all rows, written by hand.

`rate` is the exact time derivative of `position`, followed by rows of velocities alone; both take complex arguments, so that
one can be checked against the other and differentiated by a complex step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np


def dot(a: Any, b: Any) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Any, b: Any) -> Any:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def matvec(R: Any, p: Any) -> Any:
    return R[:, 0] * p[0] + R[:, 1] * p[1] + R[:, 2] * p[2]


@dataclass
class View:
    """A body: r, v, w (3, ..., B) in world axes, R (3, 3, ..., B); a user's constraint sees the same."""

    r: Any
    R: Any
    v: Any
    w: Any

    def direction(self, a: Any) -> Any:
        return matvec(self.R, a)

    def point(self, p: Any) -> Any:
        return self.r + matvec(self.R, p)

    def velocity(self, p: Any) -> Any:
        return self.v + cross(self.w, matvec(self.R, p))

    def velocity_at(self, x: Any) -> Any:
        return self.v + cross(self.w, x - self.r)

    def turning(self, a: Any) -> Any:
        """Rate of a body-fixed direction."""
        return cross(self.w, matvec(self.R, a))


Position = Callable[[View, View, Any, Any], list[Any]]
Rate = Callable[[View, View, Any, Any, Any], list[Any]]


Pair = tuple[Position, Rate]


@dataclass
class Row:
    """One primitive of a joint or driver; motions : one per model, f(t) of them enters;  data : arguments of `law`."""

    first: str
    second: str
    motions: list[Any]
    law: Callable[..., Pair]
    data: tuple[Any, ...]


@dataclass
class Group:
    """Primitives of one law, evaluated at once: arrays get an axis before the last, one entry per primitive."""

    first: list[str]
    second: list[str]
    motions: list[list[Any]]
    position: Position
    rate: Rate


def grouped(rows: list[Row]) -> list[Group]:
    made = []
    for law in dict.fromkeys(row.law for row in rows):
        same = [row for row in rows if row.law is law]
        data = [np.stack(parts, axis=-2) for parts in zip(*(row.data for row in same), strict=True)]
        made.append(Group([r.first for r in same], [r.second for r in same], [r.motions for r in same], *law(*data)))
    return made


def coincidence(p: Any, q: Any) -> Pair:
    return (
        lambda a, b, f, t: list(b.point(q) - a.point(p)),
        lambda a, b, f, f1, t: list(b.velocity(q) - a.velocity(p)),
    )


def perpendicular(x: Any, y: Any) -> Pair:
    return (
        lambda a, b, f, t: [dot(a.direction(x), b.direction(y))],
        lambda a, b, f, f1, t: [dot(a.turning(x), b.direction(y)) + dot(a.direction(x), b.turning(y))],
    )


def in_plane(x: Any, p: Any, q: Any, offset: Any) -> Pair:
    return (
        lambda a, b, f, t: [dot(a.direction(x), b.point(q) - a.point(p)) - offset - f],
        lambda a, b, f, f1, t: [
            dot(a.turning(x), b.point(q) - a.point(p)) + dot(a.direction(x), b.velocity(q) - a.velocity(p)) - f1
        ],
    )


def distance(p: Any, q: Any, offset: Any) -> Pair:
    def position(a: View, b: View, f: Any, t: Any) -> list[Any]:
        d = b.point(q) - a.point(p)
        return [(dot(d, d) - (offset + f) ** 2) / 2]

    def rate(a: View, b: View, f: Any, f1: Any, t: Any) -> list[Any]:
        return [dot(b.point(q) - a.point(p), b.velocity(q) - a.velocity(p)) - (offset + f) * f1]

    return position, rate


def angle(x: Any, normal: Any, y: Any) -> Pair:
    """sin(angle - f) of y (second body) about the normal, counted from x (first body): s cos f - c sin f."""
    side = cross(normal, x)

    def position(a: View, b: View, f: Any, t: Any) -> list[Any]:
        e = b.direction(y)
        return [dot(a.direction(side), e) * np.cos(f) - dot(a.direction(x), e) * np.sin(f)]

    def rate(a: View, b: View, f: Any, f1: Any, t: Any) -> list[Any]:
        e, e1 = b.direction(y), b.turning(y)
        s, c = dot(a.direction(side), e), dot(a.direction(x), e)
        s1, c1 = (dot(a.turning(z), e) + dot(a.direction(z), e1) for z in (side, x))
        return [(s1 - c * f1) * np.cos(f) - (c1 + s * f1) * np.sin(f)]

    return position, rate


def rolling(shape: str, p: Any, n: Any, q: Any, size: Any, radius: Any) -> Pair:
    """The lowest point of the second body lies in the plane (p, n) of the first, and both have one velocity there."""

    def contact(a: View, b: View) -> tuple[Any, Any]:
        normal = a.direction(n)
        if shape == "sphere":
            return normal, b.point(q) - radius * normal
        if shape == "disc":
            axis = b.direction(size)
            down = dot(normal, axis) * axis - normal
            return normal, b.point(q) + radius / np.sqrt(dot(down, down)) * down
        m = [dot(b.R[:, k], normal) for k in range(3)]
        reach = np.sqrt(sum((size[k] * m[k]) ** 2 for k in range(3)))
        return normal, b.point(q) - matvec(b.R, [size[k] ** 2 * m[k] / reach for k in range(3)])

    def position(a: View, b: View, f: Any, t: Any) -> list[Any]:
        normal, x = contact(a, b)
        return [dot(normal, x - a.point(p))]

    def rate(a: View, b: View, f: Any, f1: Any, t: Any) -> list[Any]:
        normal, x = contact(a, b)
        slip = b.velocity_at(x) - a.velocity_at(x)
        return [dot(normal, slip), *slip]  # the first is the rate of the height; one of the four is redundant

    return position, rate


def skate(n: Any, q: Any, edge: Any) -> Pair:
    def rate(a: View, b: View, f: Any, f1: Any, t: Any) -> list[Any]:
        x = b.point(q)
        return [dot(cross(a.direction(n), b.direction(edge)), b.velocity_at(x) - a.velocity_at(x))]

    return lambda a, b, f, t: [], rate


sphere, disc, ellipsoid = (partial(rolling, shape) for shape in ("sphere", "disc", "ellipsoid"))


def user(function: Any, ground: bool, nonholonomic: bool) -> Callable[[], Pair]:
    """A user's function; one of positions carries its rate, written by hand, as `function.rate`."""

    def call(g: Any, a: View, b: View, t: Any) -> list[Any]:
        found = g(b, t) if ground else g(a, b, t)
        return list(found) if isinstance(found, tuple | list) else [found]

    rate = function if nonholonomic else function.rate
    return lambda: (
        lambda a, b, f, t: [] if nonholonomic else call(function, a, b, t),
        lambda a, b, f, f1, t: call(rate, a, b, t),
    )


def stacked(same: list[Any], name: str) -> Any:
    """A field of equal elements of all models, components first."""
    return np.moveaxis(np.array([getattr(e, name) for e in same], dtype=float), 0, -1)


def rows_of(models: list[Any], *, drivers: bool = True) -> list[Group]:
    """The rows of all joints, and of all drivers."""
    rows = []
    for k, joint in enumerate(models[0].joints):
        same = [m.joints[k] for m in models]
        assert all((j.type, j.first, j.second) == (joint.type, joint.first, joint.second) for j in same)
        rows += joint_pairs(joint, same)
    for k, driver in enumerate(models[0].drivers if drivers else ()):
        p = [m.drivers[k].primitive for m in models]
        vectors = {name: stacked(p, name) for name in ("p_i", "p_j", "a_i", "a_j", "n_i")}
        law, data = angle, (vectors["a_i"], vectors["n_i"], vectors["a_j"])
        if p[0].kind != "A":
            law, data = in_plane, (vectors["a_i"], vectors["p_i"], vectors["p_j"], stacked(p, "offset"))
        rows.append(Row(driver.first, driver.second, [x.motion for x in p], law, data))
    return grouped(rows)


def joint_pairs(joint: Any, same: list[Any]) -> list[Row]:
    p, q = stacked(same, "p_i"), stacked(same, "p_j")
    E, D = stacked(same, "E_i"), stacked(same, "E_j")
    (x, y, z), (_, v, w) = np.moveaxis(E, 1, 0), np.moveaxis(D, 1, 0)
    leading = [j.primitives[0] for j in same]
    offset = stacked(leading, "offset")
    size = stacked(leading, "a_j")
    zero = 0.0 * offset
    at_point = [(coincidence, p, q)]
    parallel = [(perpendicular, x, w), (perpendicular, y, w)]
    no_turn = [(perpendicular, x, v)]
    on_line = [(in_plane, x, p, q, zero), (in_plane, y, p, q, zero)]
    table: dict[str, list[tuple[Any, ...]]] = {
        "spherical": at_point,
        "coincidence": at_point,
        "universal": [*at_point, *no_turn],
        "revolute": [*at_point, *parallel],
        "cylindrical": [*parallel, *on_line],
        "prismatic": [*parallel, *no_turn, *on_line],
        "fixed": [*at_point, *parallel, *no_turn],
        "planar": [*parallel, (in_plane, z, p, q, zero)],
        "point_on_line": on_line,
        "point_on_plane": [(in_plane, z, p, q, zero)],
        "in_plane": [(in_plane, z, p, q, offset)],
        "perpendicular": [(perpendicular, z, w)],
        "distance": [(distance, p, q, offset)],
        "rolling_sphere": [(sphere, p, z, q, size, offset)],
        "rolling_disc": [(disc, p, z, q, size, offset)],
        "rolling_ellipsoid": [(ellipsoid, p, z, q, size, offset)],
        "skate": [(skate, z, q, size)],
    }
    if joint.type == "user":
        pairs: list[tuple[Any, ...]] = [(user(leading[0].function, joint.first == "ground", leading[0].kind == "V"),)]
    else:
        pairs = table[joint.type]
    return [Row(joint.first, joint.second, [a.motion for a in leading], law, data) for law, *data in pairs]
