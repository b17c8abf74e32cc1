"""Rotations of the model pose: quaternions (scalar first), matrices, axis and angle. Body -> world throughout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.lagrangian.recorded import Number, root
from dalembert.model.validation import PLANE, ROUNDING, frozen, number, numbers, shown, size_of, unit_vector, vector

UNIT_LENGTH = 1e-3  # published tables are rounded to 3 digits [JetMultibody, Tables 3 and 6]
ORTHOGONAL = 1e-6


def cross(a: Array, b: Array) -> Array:
    """a x b of two 3-vectors; NumPy's own takes ten times as long."""
    (a_x, a_y, a_z), (b_x, b_y, b_z) = a.tolist(), b.tolist()
    return np.array([a_y * b_z - a_z * b_y, a_z * b_x - a_x * b_z, a_x * b_y - a_y * b_x])


def quaternion_to_matrix(theta: Array) -> Array:
    """R = H~(theta) H(theta)^T of a unit quaternion theta, (4,) scalar first -> (3, 3)."""
    w, x, y, z = theta.tolist()
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def matrix_to_quaternion(R: Array) -> Array:
    """Unit quaternions of rotation matrices, (..., 3, 3) -> (..., 4) scalar first, scalar part >= 0.

    4 theta theta^T is a linear function of R; its column with the largest diagonal entry loses no digits.
    """
    (a, b, c), (d, e, f), (g, h, i) = R.tolist() if R.ndim == 2 else np.moveaxis(R, (-2, -1), (0, 1))
    K = [
        [1 + a + e + i, h - f, c - g, d - b],
        [h - f, 1 + a - e - i, b + d, c + g],
        [c - g, b + d, 1 - a + e - i, f + h],
        [d - b, c + g, f + h, 1 - a - e + i],
    ]
    if R.ndim == 2:  # NumPy takes twenty times as long for one
        best = K[max(range(4), key=lambda k: K[k][k])]
        length = math.hypot(*best) * (-1.0 if best[0] < 0.0 else 1.0)
        return np.array([part / length for part in best])
    largest = np.argmax([K[k][k] for k in range(4)], axis=0)
    column = np.moveaxis(np.take_along_axis(np.array(K), largest[None, None], axis=1)[:, 0], 0, -1)
    theta: Array = column / np.linalg.norm(column, axis=-1, keepdims=True)
    return np.where(theta[..., :1] < 0.0, -theta, theta)


def turning(a: Array, b: Array) -> Array:
    """The shortest turn of one unit vector onto another, (4,) unit quaternion: (1 + a . b, a x b), normalised."""
    scalar: Any = 1.0 + a @ b
    axis = cross(a, b)
    if scalar < 1e-12:  # half a turn, about any normal
        scalar, axis = 0.0, cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
    theta = np.array([scalar, *axis])
    return np.asarray(theta / np.linalg.norm(theta))


def unit_quaternion(owner: str, value: object, label: str = "rotation") -> Array:
    """A unit quaternion from a quaternion, a rotation matrix or a `Rotation`.

    A quaternion is normalised when its length is within 1e-3 of one; a matrix must be orthogonal within 1e-6.
    """
    if isinstance(value, Rotation):
        return value.quaternion
    try:
        shape = np.asarray(value).shape
    except ValueError:
        shape = ()
    if shape == (3, 3):
        R = numbers(owner, label, value, (3, 3))
        error = size_of(R.T @ R - np.eye(3))
        if error > ORTHOGONAL:
            raise ModelError(
                f"{owner}: {label} is a matrix that misses orthogonality by {error:.2g}; "
                f"give one with R^T R = 1 within {ORTHOGONAL:g}"
            )
        if np.linalg.det(R) < 0.0:
            raise ModelError(f"{owner}: {label} is a matrix with determinant -1, a reflection; change a column's sign")
        return frozen(matrix_to_quaternion(R))
    if shape != (4,):
        wanted = "an angle [rad], " * bool(PLANE.get()) + "a quaternion (4 numbers, scalar first), a 3x3 matrix or a Rotation"
        raise ModelError(f"{owner}: {label} is {shown(value)}; give {wanted}")
    theta = numbers(owner, label, value, (4,))
    length = root(theta @ theta)
    if abs(length - 1.0) > UNIT_LENGTH:
        raise ModelError(
            f"{owner}: {label} is a quaternion of length {length:.6g}; give a unit quaternion (within {UNIT_LENGTH:g})"
        )
    return theta if abs(length - 1.0) <= ROUNDING else frozen(theta / length)


class Rotation:
    """A rotation, body -> world. `a * b` applies b first: `(a * b).apply(v) == a.apply(b.apply(v))`."""

    __slots__ = ("_theta",)

    def __init__(self, quaternion: npt.ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        self._theta = unit_quaternion("Rotation", quaternion)

    @classmethod
    def from_quaternion(cls, quaternion: npt.ArrayLike) -> Rotation:
        """From four numbers, scalar first, of length one within 1e-3."""
        return cls(numbers("Rotation", "quaternion", quaternion, (4,)))

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike) -> Rotation:
        """From a 3x3 matrix whose columns are the body's axes in world axes."""
        return cls(numbers("Rotation", "matrix", matrix, (3, 3)))

    @classmethod
    def from_axis_angle(cls, axis: npt.ArrayLike, angle: float) -> Rotation:
        """By `angle` [rad] about `axis` (any length but zero), right-handed."""
        half: Any = 0.5 * number("Rotation", "angle", angle)
        n = unit_vector("Rotation", "axis", axis)
        c, s = (half.cos(), half.sin()) if isinstance(half, Number) else (math.cos(half), math.sin(half))
        return cls(np.array([c, *(s * n)]))

    @classmethod
    def from_rpy(cls, roll: float, pitch: float, yaw: float) -> Rotation:
        """R = Rz(yaw) Ry(pitch) Rx(roll), angles in rad: about the world's x, then y, then z."""
        x = cls.from_axis_angle((1.0, 0.0, 0.0), roll)
        y = cls.from_axis_angle((0.0, 1.0, 0.0), pitch)
        return cls.from_axis_angle((0.0, 0.0, 1.0), yaw) * y * x

    @property
    def quaternion(self) -> Array:
        """(4,) unit, scalar first."""
        return self._theta

    @property
    def matrix(self) -> Array:
        """(3, 3) body -> world."""
        return quaternion_to_matrix(self._theta)

    def inverse(self) -> Rotation:
        """The rotation that undoes this one."""
        return Rotation(self._theta * np.array([1.0, -1.0, -1.0, -1.0]))

    def apply(self, v: npt.ArrayLike) -> Array:
        """R v: a vector given in body axes, in world axes."""
        rotated: Array = self.matrix @ vector("Rotation", "vector", v)
        return rotated

    def __mul__(self, other: Rotation) -> Rotation:
        if not isinstance(other, Rotation):
            return NotImplemented
        (w, *_), (s, *_) = self._theta, other._theta
        a, b = self._theta[1:], other._theta[1:]
        return Rotation(np.array([w * s - a @ b, *(w * b + s * a + cross(a, b))]))

    def __repr__(self) -> str:
        return f"Rotation({tuple(self._theta.tolist())})"
