"""Joint frames: from what the user gives (world or body-fixed) to a point and a triad in each of the two bodies.

p_i, p_j : (3,) body-fixed points;  E_i, E_j : (3, 3), columns x, y, z in body axes, right-handed
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.lagrangian.recorded import root
from dalembert.model.elements import Body
from dalembert.model.rotation import cross
from dalembert.model.validation import PERPENDICULAR, frozen, several, shown, size_of, unit_vector, vector

WORLD_POINTS = ("at", "between")  # arguments that stand for points of bodies, in world coordinates of the model pose
_AXES = np.eye(3)
PARALLEL = 1e-6  # smallest sine between two directions that must span a plane


def rotation_matrix(body: Body) -> Array:
    """(3, 3) body -> world at the model pose."""
    return body.matrix


def world_point(body: Body, p: Array) -> Array:
    """x = r + R p at the model pose."""
    x: Array = body.position + rotation_matrix(body) @ p
    return x


def any_normal(z: Array) -> Array:
    """A unit vector normal to z: the coordinate axis least aligned with z (the first such), made normal to it."""
    x = _AXES[int(np.argmin(np.abs(z)))]
    return _normal_part(x, z)


def _normal_part(x: Array, z: Array) -> Array:
    x = x - (x @ z) * z
    part: Array = x / root(x @ x)
    return part


def _triad(x: Array, z: Array) -> Array:
    """Columns x, z cross x, z of perpendicular unit vectors."""
    return frozen(np.array([x, cross(z, x), z]).T)


def locate(owner: str, i: Body, j: Body, point: object, points: object) -> tuple[Array, Array]:
    """The joint point in both bodies, from a world point of the model pose or from a body-fixed pair."""
    if (point is None) == (points is None):
        got = "neither point= nor points=" if point is None else "both point= and points="
        raise ModelError(f"{owner}: got {got}; give point= (world) or points=(p_first, p_second) (body-fixed)")
    if points is not None:
        pair = several(owner, "points", points, (2,), "a pair of 3-vectors, one fixed in each body")
        p = [vector(owner, f"points[{k}]", pair[k]) for k in (0, 1)]
        hint = "put the point of a point mass at (0, 0, 0)"
    else:
        x = vector(owner, "point", point)
        p = [frozen(rotation_matrix(body).T @ (x - body.position)) for body in (i, j)]
        hint = "put the joint point where the point mass is"
    for k, body in enumerate((i, j)):
        if body.kind == "point":
            if size_of(p[k]) > 1e-12 * (1.0 + size_of(body.position)):
                off = f"{float(np.linalg.norm(p[k])):.4g} m off point mass {body.name!r}"
                raise ModelError(f"{owner}: the point is {off}; {hint}")
            p[k] = frozen(np.zeros(3))
    return p[0], p[1]


def own_points(owner: str, i: Body, j: Body, points: object, between: object) -> tuple[Array, Array]:
    """A point in the axes of each body, from points= (body axes) or between= (world coordinates); default: the origins."""
    if points is not None and between is not None:
        raise ModelError(f"{owner}: got both points= and between=; give points= (body axes) or between= (world)")
    if between is None:
        return locate(owner, i, j, None, ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)) if points is None else points)
    a, b = several(owner, "between", between, (2,), "a pair of 3-vectors, the world points on the first and second body")
    return own_point(owner, i, None, a, "between[0]"), own_point(owner, j, None, b, "between[1]")


def own_point(owner: str, body: Body, point: object, at: object, label: str = "at") -> Array:
    """A point in body axes, from point= (body axes) or at= (world coordinates of the model pose); default: the origin."""
    if point is not None and at is not None:
        raise ModelError(f"{owner}: got both point= and at=; give point= (body axes) or at= (world)")
    if at is None:
        p = vector(owner, "point", (0.0, 0.0, 0.0) if point is None else point)
    else:
        p = frozen(rotation_matrix(body).T @ (vector(owner, label, at) - body.position))
    if body.kind != "point":
        return p
    if size_of(p) > (0.0 if at is None else 1e-12 * (1.0 + size_of(body.position))):
        where, fix = ("point", "(0, 0, 0)") if at is None else (label, f"{shown(body.position)}, where it is")
        given = p if at is None else at
        raise ModelError(f"{owner}: {where} is {shown(given)} on point mass {body.name!r}; give {fix}")
    return frozen(np.zeros(3))


def own_axes() -> tuple[Array, Array]:
    """The bodies' own axes as joint frames."""
    return frozen(np.eye(3)), frozen(np.eye(3))


def aligned_at_pose(i: Body, j: Body) -> tuple[Array, Array]:
    """Frames along the world axes of the model pose."""
    return frozen(rotation_matrix(i).T), frozen(rotation_matrix(j).T)


def along(owner: str, label: str, direction: object) -> Array:
    """A triad with z along a direction."""
    z = unit_vector(owner, label, direction)
    return _triad(any_normal(z), z)


def seen_from_both(i: Body, j: Body, E_i: Array) -> tuple[Array, Array]:
    """A frame of body i, and the same frame at the model pose in the axes of body j."""
    return E_i, frozen(rotation_matrix(j).T @ rotation_matrix(i) @ E_i)


def orient(
    owner: str, i: Body, j: Body, axis: object, axes: object, vectors: object, *, on_second: bool = True, otherwise: str = ""
) -> tuple[Array, Array]:
    """Triads with z along the joint axis, from exactly one of axis= (world), axes= or vectors= (body-fixed).

    on_second : whether the joint has an axis on the second body too; if not, axes = (a_first,)
    otherwise : what else may be done where none is given
    """
    given = [name for name, value in (("axis=", axis), ("axes=", axes), ("vectors=", vectors)) if value is not None]
    if len(given) != 1:
        raise ModelError(
            f"{owner}: got {' and '.join(given) or 'no axis'}; give axis= (world, model pose) or "
            + ("axes=(a_first, a_second) or vectors=(a_i, b_i, a_j[, b_j])" if on_second else "axes=(a_first,)")
            + " (body-fixed)"
            + ("" if given else otherwise)
        )
    if axis is not None:
        E = along(owner, "axis", axis)
        return frozen(rotation_matrix(i).T @ E), frozen(rotation_matrix(j).T @ E)
    if axes is not None and not on_second:
        (a_i,) = several(owner, "axes", axes, (1,), "(a_first,), one 3-vector fixed in the first body")
        return seen_from_both(i, j, along(owner, "axes[0]", a_i))
    if axes is not None:
        pair = several(owner, "axes", axes, (2,), "a pair of 3-vectors, one fixed in each body")
        return _matched(i, j, along(owner, "axes[0]", pair[0]), unit_vector(owner, "axes[1]", pair[1]))
    return _tabulated(owner, i, j, vectors)


def _matched(i: Body, j: Body, E_i: Array, z_j: Array) -> tuple[Array, Array]:
    """E_j with z along +-z_j, turned to agree with E_i as well as it can at the model pose."""
    seen = rotation_matrix(j).T @ rotation_matrix(i) @ E_i  # E_i in the axes of body j
    if seen[:, 2] @ z_j < 0.0:
        z_j = -z_j
    x = seen[:, 0] if np.linalg.norm(cross(seen[:, 0], z_j)) > PARALLEL else any_normal(z_j)
    return E_i, _triad(_normal_part(x, z_j), z_j)


def _tabulated(owner: str, i: Body, j: Body, vectors: object) -> tuple[Array, Array]:
    """Joint vectors as the literature tabulates them [JetMultibody, 6.2], body-fixed.

    a_i, b_i perpendicular and normal to the axis, in body i; a_j the axis in body j; b_j parallel to b_i, in body j.
    x_i = a_i, y_i = +-b_i, z_i along the axis; the signs of z_i and b_j follow a_j and b_i at the model pose.
    """
    rows = several(owner, "vectors", vectors, (3, 4), "(a_i, b_i, a_j) or (a_i, b_i, a_j, b_j)")
    names = ("a_i", "b_i", "a_j", "b_j")
    a_i, b_i, a_j, *rest = (unit_vector(owner, f"vectors {name}", row) for name, row in zip(names, rows, strict=False))
    _perpendicular(owner, "a_i, b_i", a_i, b_i)
    z_i = cross(a_i, b_i)
    turn = rotation_matrix(j).T @ rotation_matrix(i)
    if (turn @ z_i) @ a_j < 0.0:
        z_i = -z_i
    E_i = _triad(a_i, z_i / np.linalg.norm(z_i))
    if not rest:
        return _matched(i, j, E_i, a_j)
    b_j = rest[0] if (turn @ E_i[:, 1]) @ rest[0] >= 0.0 else -rest[0]
    _perpendicular(owner, "a_j, b_j", a_j, b_j)
    return E_i, _triad(_normal_part(cross(b_j, a_j), a_j), a_j)


def _perpendicular(owner: str, names: str, a: Array, b: Array) -> None:
    if abs(a @ b) > PERPENDICULAR:
        raise ModelError(f"{owner}: vectors {names} have cosine {float(a @ b):.3g}; give perpendicular ones")


def cross_axes(owner: str, i: Body, j: Body, axes: object, *, world: bool) -> tuple[Array, Array]:
    """Frames of a universal joint: x_i along the axis on body i, y_j along the one on body j, z = x cross y.

    axes : two directions, world vectors of the model pose or one in each body's axes; equal frames if perpendicular
    """
    pair = several(owner, "axes", axes, (2,), "a pair of 3-vectors (axis on the first body, axis on the second)")
    R_i, R_j = rotation_matrix(i), rotation_matrix(j)
    a_i, a_j = (unit_vector(owner, f"axes[{k}]", pair[k]) for k in (0, 1))
    x, y = (a_i, a_j) if world else (R_i @ a_i, R_j @ a_j)
    z = cross(x, y)
    sine = root(z @ z)
    if sine < PARALLEL:
        raise ModelError(f"{owner}: axes are parallel at the model pose; give two perpendicular axes of the cross")
    z = z / sine
    E_i = np.array([x, cross(z, x), z]).T
    E_j = np.array([cross(y, z), y, z]).T
    return frozen(R_i.T @ E_i), frozen(R_j.T @ E_j)
