"""Named kinematic outputs of a series of states: positions, rotations, velocities, joint coordinates."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compiled import OneState, Series, without_time
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records
from dalembert.model.cardan import CardanAngles, cardan_angles
from dalembert.model.elements import GROUND, Joint, Marker
from dalembert.model.joints import angle_of, direction_of
from dalembert.model.rotation import matrix_to_quaternion
from dalembert.model.validation import nearest, numbers

_ONE = np.eye(3)


class Trajectory(Series):
    """States of a mechanism of bodies; every output is an array over time, world axes unless said."""

    mechanism: Mechanism

    @cached_property
    def _joints(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.mechanism.model.framed}

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: k + 1 for k, name in enumerate(self.mechanism.body_names)}

    @cached_property
    def _markers(self) -> dict[str, Marker]:
        return {marker.name: marker for marker in self.mechanism.model.markers}

    def _body(self, body: object) -> int:
        name = str(getattr(body, "name", body))
        if name == GROUND:
            return 0
        if name not in self._index:
            if name in self._markers:
                raise ModelError(f"{name!r} is a marker, a point without axes; give its body {self._markers[name].body!r}")
            raise ModelError(f"there is no body {name!r}; {nearest(name, (*self._index, *self._markers))}")
        return self._index[name]

    def _marker(self, name: object) -> Marker | None:
        """The marker of this name, if it is one."""
        text = str(getattr(name, "name", name))
        known = any(marker.name == text for marker in self.mechanism.model.structure.markers)
        return self._markers.get(text) if known else None

    def _joint(self, joint: object) -> Joint:
        name = str(getattr(joint, "name", joint))
        if name not in self._joints:
            raise ModelError(f"there is no joint {name!r}; {nearest(name, self._joints)}")
        return self._joints[name]

    def _columns(self, b: int) -> tuple[int, int, int]:
        kind, q, u = records(self.mechanism.I, self.mechanism.I, T.BODY_I)[b].tolist()
        return kind, q, u

    def position(self, body: object) -> Array:
        """(nt, 3) position of a body's centre of mass, or of a marker [m]."""
        if (marker := self._marker(body)) is not None:
            return self.point(marker.body, marker.point)
        b = self._body(body)
        return self._in_space(b, self.q, 1, self.mechanism.start_in_plane(b)[0])

    def velocity(self, body: object, point: npt.ArrayLike | None = None) -> Array:
        """(nt, 3) velocity of the centre of mass, of a point given in body axes [m], or of a marker [m/s]."""
        if (marker := self._marker(body)) is not None:
            body, point = marker.body, marker.point
        v = self._in_space(self._body(body), self.u, 2, np.zeros(3))
        return v if point is None else v + cross(self.angular_velocity(body), self._arm(body, point))

    def _arm(self, body: object, point: npt.ArrayLike) -> Array:
        """(nt, 3) from the centre of mass to a point given in body axes, world axes [m]."""
        return np.asarray(self.rotation(body) @ numbers(f"body {getattr(body, 'name', body)!r}", "point", point, (3,)))

    def _in_space(self, b: int, numbers: Array, column: int, origin: Array) -> Array:
        """(nt, 3) from the coordinates or velocities of a body; origin : of those in the plane"""
        if b == 0:
            return np.zeros((len(self.t), 3))
        k, plane = self._columns(b)[column], self.mechanism.plane
        if plane is None:
            return numbers[:, k : k + 3].copy()
        return np.asarray(origin + numbers[:, [k]] * plane.e1 + numbers[:, [k + 1]] * plane.e2)

    def quaternion(self, body: object) -> Array:
        """(nt, 4) unit quaternion body -> world, scalar first."""
        b = self._body(body)
        if b and self._columns(b)[0] == T.RIGID:
            q = self._columns(b)[1]
            return self.q[:, q + 3 : q + 7].copy()
        quaternions = matrix_to_quaternion(self.rotation(body))
        flips = np.cumprod(np.where(np.sum(quaternions[1:] * quaternions[:-1], axis=1) < 0, -1.0, 1.0))
        quaternions[1:] *= flips[:, None]
        return quaternions

    def rotation(self, body: object) -> Array:
        """(nt, 3, 3) rotation body -> world."""
        b = self._body(body)
        nt = len(self.t)
        kind, q, _ = self._columns(b)
        if b == 0 or kind == T.POINT:
            return np.zeros((nt, 3, 3)) + _ONE
        if kind == T.RIGID:
            return rotation_matrices(self.q[:, q + 3 : q + 7])
        plane = self.mechanism.plane
        assert plane is not None
        half = self.q[:, [q + 2]] / 2
        turn = np.concatenate([np.cos(half), np.sin(half) * plane.normal], axis=1)
        return rotation_matrices(turn) @ self.mechanism.start_in_plane(b)[1]

    def angular_velocity(self, body: object, frame: str = "world") -> Array:
        """(nt, 3) angular velocity in "world" or "body" axes [rad/s]."""
        if frame not in ("world", "body"):
            raise ModelError(f"frame is {frame!r}; give 'world' or 'body'")
        b = self._body(body)
        kind, _, u = self._columns(b)
        if b == 0 or kind == T.POINT:
            return np.zeros((len(self.t), 3))
        if kind == T.RIGID:
            w_B = self.u[:, u + 3 : u + 6].copy()
        else:
            w_B = self.u[:, [u + 2]] * self.mechanism.start_in_plane(b)[2]
        return w_B if frame == "body" else apply(self.rotation(b and body), w_B)

    def cardan(self, body: object, sequence: str = "zyx") -> CardanAngles:
        """Cardan angles [rad]: .roll, .pitch, .yaw about x, y, z, .angles in the order of the sequence, .singular.

        "zyx" is yaw, then pitch, then roll, about axes as already turned: R = R_z R_y R_x.
        """
        return cardan_angles(self.rotation(body), sequence)

    def point(self, body: object, point: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """(nt, 3) world position of a point given in body axes [m]."""
        if self._body(body) == 0:
            return np.zeros((len(self.t), 3)) + numbers("the ground", "point", point, (3,))
        return self.position(body) + self._arm(body, point)

    def coordinate(self, joint: object) -> Array:
        """Joint coordinate(s): (nt,) for one, (nt, n) for more; angles count turns; meaning in `joints.COORDINATES`."""
        j = self._joint(joint)
        columns = [self._coordinate(j, k) for k in range(len(j.coordinates))]
        return self._stacked(j, columns)

    def coordinate_rate(self, joint: object) -> Array:
        """Rates of `coordinate`; for a spherical joint the relative angular velocity in the second body's joint axes."""
        j = self._joint(joint)
        return self._stacked(j, [self._rate(j, k) for k in range(len(j.coordinates))])

    def _stacked(self, joint: Joint, columns: list[Array]) -> Array:
        if not columns:
            raise ModelError(f"{joint.type} joint {joint.name!r} has no coordinates")
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    def _separation(self, joint: Joint) -> Array:
        """x_j - x_i of the joint points, world axes."""
        return self.point(joint.second, joint.p_j) - self.point(joint.first, joint.p_i)

    def _coordinate(self, joint: Joint, component: int) -> Array:
        key = (joint.name, component)
        if key in self.mechanism.angles:
            first = self.mechanism.nq + self.mechanism.nu + 1
            return self.x[:, first + self.mechanism.angles.index(key)].copy()
        direction = direction_of(joint, component)
        if direction is not None:
            d = self.rotation(joint.first) @ direction
            return np.asarray(np.sum(d * self._separation(joint), axis=1))
        if joint.coordinates[component] == "length":
            return np.asarray(np.linalg.norm(self._separation(joint), axis=1))
        R_i, R_j = self.rotation(joint.first) @ joint.E_i, self.rotation(joint.second) @ joint.E_j
        return rotation_vectors(np.swapaxes(R_i, 1, 2) @ R_j)[:, component]

    def _rate(self, joint: Joint, component: int) -> Array:
        angle, direction = angle_of(joint, component), direction_of(joint, component)
        if angle is not None:
            axis = self.rotation(angle.first) @ angle.n_i
            w = self.angular_velocity(angle.second) - self.angular_velocity(angle.first)
            return np.asarray(np.sum(axis * w, axis=1))
        e = self._separation(joint)
        e_dot = self.velocity(joint.second, joint.p_j) - self.velocity(joint.first, joint.p_i)
        if direction is not None:
            d = self.rotation(joint.first) @ direction
            turning = cross(self.angular_velocity(joint.first), d)
            return np.asarray(np.sum(d * e_dot + turning * e, axis=1))
        if joint.coordinates[component] == "length":
            return np.asarray(np.sum(e * e_dot, axis=1) / np.linalg.norm(e, axis=1))
        w = self.angular_velocity(joint.second) - self.angular_velocity(joint.first)
        axes = self.rotation(joint.second) @ joint.E_j
        return np.asarray(np.sum(axes[:, :, component] * w, axis=1))


class State(OneState, Trajectory):
    """One state of a mechanism of bodies."""

    def __init__(self, mechanism: Mechanism, t: float, x: Array) -> None:
        super().__init__(mechanism, t, x)
        self._over_time = Trajectory(mechanism, self.t, self.x)  # outputs that need each other keep their time axis

    def __getattribute__(self, name: str) -> object:
        if name in OUTPUTS:
            value = getattr(object.__getattribute__(self, "_over_time"), name)
            return lambda *args, **options: without_time(value(*args, **options))
        return object.__getattribute__(self, name)


OUTPUTS = (
    "position", "velocity", "quaternion", "rotation", "angular_velocity", "point", "coordinate", "coordinate_rate",
)  # fmt: skip


def apply(R: Array, v: Array) -> Array:
    """(nt, 3) rotated vectors."""
    return np.asarray(np.einsum("tij,tj->ti", R, v))


def cross(a: Array, b: Array) -> Array:
    """a x b over the last axis."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return out


def rotation_matrices(theta: Array) -> Array:
    """(nt, 3, 3) from Euler parameters of any length [JetMultibody, (2.1)]."""
    a, b, c, d = (theta / np.sqrt(np.sum(theta * theta, axis=1, keepdims=True))).T
    rows = [
        [1 - 2 * (c * c + d * d), 2 * (b * c - a * d), 2 * (b * d + a * c)],
        [2 * (b * c + a * d), 1 - 2 * (b * b + d * d), 2 * (c * d - a * b)],
        [2 * (b * d - a * c), 2 * (c * d + a * b), 1 - 2 * (b * b + c * c)],
    ]
    return np.ascontiguousarray(np.array(rows).transpose(2, 0, 1))


def angles_between(R: Array, S: Array) -> Array:
    """(nt,) [rad] of the turns from rotations (nt, 3, 3) to others."""
    chords = np.linalg.norm(R - S, axis=(1, 2))
    return np.asarray(2.0 * np.arcsin(np.minimum(chords / np.sqrt(8.0), 1.0)))


def rotation_vectors(R: Array) -> Array:
    """(nt, 3) rotation vectors with an angle in [0, pi], each from its state alone, as forces take them."""
    from dalembert.kernels.base.vectors import Mat3
    from dalembert.kernels.mechanics.rotations import rotation_vector

    return np.array([list(rotation_vector(Mat3(*row))) for row in R.reshape(len(R), 9)]).reshape(-1, 3)
