"""What acts between two bodies with force and torque: bushings, laws of the user. Action equals reaction by construction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.calls import Call, Parameter, Parameters, UserFunction, parameters_of
from dalembert.model.elements import BetweenPoints, Body, Force, ForceRecord, Glyph, Joints, States, turned_far
from dalembert.model.frames import aligned_at_pose, locate, rotation_matrix
from dalembert.model.joint_verbs import ORIGINS, BodyRef, Pair
from dalembert.model.rotation import Rotation, matrix_to_quaternion, quaternion_to_matrix, unit_quaternion
from dalembert.model.store import ElementStore
from dalembert.model.validation import SLACK, count, frozen, numbers, several, shown

Six = npt.ArrayLike  # six numbers, or 6 x 6
Axes = Rotation | npt.ArrayLike
Frames = tuple[npt.ArrayLike, npt.ArrayLike]
_FORMS = {5: "law(t, r, R, v, w)"}
_PLANE = 1e-9  # of what leaves the plane, as in compilation/planarity.py


@dataclass(frozen=True, eq=False, repr=False)
class Interaction(BetweenPoints):
    """Force and torque on the second body by a law of its motion as seen from the first, and their reaction on the first.

    law : `law(t, r, R, v, w)` returning force [N] and torque [N m], all in the axes of the first body: r from its point to that
    of the second, R = (3, 3) second -> first, v = r', w = relative angular velocity; the force acts at the second's point
    """

    law: UserFunction
    parameters: tuple[Parameter, ...] = ()
    verb: ClassVar[str] = "interaction"
    glyph: ClassVar[Glyph] = "link"

    @property
    def call(self) -> Call:
        return Call(self.law, ((3,), (3, 3), (3,), (3,)), (2, 3), self.parameters)

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        numbers = self.call.numbers
        return (ForceRecord("INTERACTION", self.first, self.second, p_i=self.p_i, p_j=self.p_j, numbers=numbers),)

    def leaving(self, states: States, normal: Array) -> Array:
        """Whatever pushes along the normal of the plane or turns across it."""
        R_i, R_j = states.rotation(self.first), states.rotation(self.second)
        w_i, w_j = states.angular_velocity(self.first), states.angular_velocity(self.second)
        x_i, x_j = states.point(self.first, self.p_i), states.point(self.second, self.p_j)
        v = states.velocity(self.second, self.p_j) - states.velocity(self.first, self.p_i) - np.cross(w_i, x_j - x_i)
        back = np.swapaxes(R_i, 1, 2)
        r, v, w = (np.einsum("tij,tj->ti", back, vector) for vector in (x_j - x_i, v, w_j - w_i))
        rows = zip(states.t, r, back @ R_j, v, w, strict=True)
        returned = (self.call(float(t), *map(np.ascontiguousarray, row)) for t, *row in rows)
        owner, more = f"{self.noun} {self.name!r}", ", in a plane too"
        given = np.array([self.call.checked(owner, value, more) for value in returned], dtype=float)
        values = np.einsum("tij,tkj->tki", R_i, given)
        along = values @ normal
        out = np.abs(along[:, 0]) + np.linalg.norm(values[:, 1] - along[:, 1, None] * normal, axis=1)
        return np.where(out > _PLANE * (1.0 + np.linalg.norm(values, axis=(1, 2))), out, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class Bushing(BetweenPoints):
    """An elastic joint of six degrees of freedom, slack where the frames (point, axes) in both bodies coincide.

    z = (d, phi): translation and rotation vector from the first frame to the second, in axes half way between them. Efforts
    along z are -stiffness z - damping z'; the energy stored is 1/2 z . stiffness z; see kernels/mechanics/bushing.py.

    stiffness, damping : (6, 6) symmetric, without negative eigenvalues [N/m, N, N m/rad], times s
    """

    E_i: Array
    E_j: Array
    stiffness: Array
    damping: Array
    verb: ClassVar[str] = "bushing"
    glyph: ClassVar[Glyph] = "bushing"
    point: ClassVar[None] = None  # what a model file leaves out: points and frames say it
    axes: ClassVar[None] = None

    @property
    def frames(self) -> tuple[Array, Array]:
        return self.E_i, self.E_j

    @property
    def coordinates(self) -> int:
        return 6

    @property
    def works(self) -> bool:
        return bool(self.damping.any())

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        numbers = (*self.stiffness.ravel().tolist(), *self.damping.ravel().tolist())
        ends = self.first, self.second
        head = ForceRecord("BUSHING", *ends, p_i=self.p_i, p_j=self.p_j, E_i=self.E_i, E_j=self.E_j, numbers=numbers)
        return head, *(ForceRecord("BUSHING", *ends) for _ in range(5))

    def deflection(self, states: States) -> Array:
        """(nt, 6) z."""
        A_i, A_j = states.rotation(self.first) @ self.E_i, states.rotation(self.second) @ self.E_j
        d = np.einsum("tji,tj->ti", A_i, states.point(self.second, self.p_j) - states.point(self.first, self.p_i))
        theta = matrix_to_quaternion(np.swapaxes(A_i, 1, 2) @ A_j)
        sine = np.linalg.norm(theta[:, 1:], axis=1)
        turn = 2.0 * np.arctan2(sine, theta[:, 0])
        n = theta[:, 1:] / np.where(sine > 0.0, sine, 1.0)[:, None]
        c, s = np.cos(turn / 2)[:, None], np.sin(turn / 2)[:, None]
        seen = c * d - s * np.cross(n, d) + (1.0 - c) * np.sum(n * d, axis=1, keepdims=True) * n
        return np.concatenate([seen, turn[:, None] * n], axis=1)

    def stored(self, states: States, joints: Joints, reach: float) -> tuple[Array, Array]:
        z = self.deflection(states)
        U, size = 0.5 * np.einsum("ti,ij,tj->t", z, self.stiffness, z), np.array([reach] * 3 + [np.pi] * 3)
        return U, U + np.abs(z) @ np.abs(self.stiffness) @ size

    def energy_scale(self, size: float) -> float:
        return float(np.trace(self.stiffness[:3, :3]) * size**2 + np.trace(self.stiffness[3:, 3:]))

    def leaving(self, states: States, normal: Array) -> Array:
        """How far motion in the plane and efforts out of it hang together."""
        n = np.einsum("tji,j->ti", states.rotation(self.first) @ self.E_i, normal)
        line, plane = n[:, :, None] * n[:, None, :], np.eye(3) - n[:, :, None] * n[:, None, :]
        within, across = np.zeros((2, len(n), 6, 6))
        within[:, :3, :3], within[:, 3:, 3:] = plane, line
        across[:, :3, :3], across[:, 3:, 3:] = line, plane
        coupled = [np.abs(across @ matrix @ within).max(axis=(1, 2)) for matrix in (self.stiffness, self.damping)]
        z = self.deflection(states)
        shifted = np.abs(np.einsum("tij,jk,tk->ti", across, self.stiffness, z)).max(axis=1)
        limit = _PLANE * (1.0 + np.abs(self.stiffness).max() + np.abs(self.damping).max())
        return np.where((out := coupled[0] + coupled[1] + shifted) > limit, out, 0.0)

    def remark(self, states: States, joints: Joints) -> str:
        return turned_far(np.linalg.norm(self.deflection(states)[:, 3:], axis=1))


class BetweenVerbs(ElementStore):
    """Elements between two bodies, which are given by handle or name; SI units."""

    def add_interaction(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        law: UserFunction,
        *,
        point: npt.ArrayLike | None = None,
        points: Pair | None = None,
        parameters: Parameters | None = None,
    ) -> Interaction:
        """Force [N] and torque [N m] on the second body by law(t, r, R, v, w), and their reaction on the first.

        law : returns force and torque, three numbers each, in the axes of the first body; the force acts at the second's point.
            r [m] from the first's point to the second's, R (3, 3) the rotation second -> first, v = r' as seen from the first
            [m/s], w the relative angular velocity [rad/s], all in the axes of the first
        point : in both bodies, world coordinates of the model pose [m]
        points : (p_first, p_second) in the axes of each body [m]; default: the centres of mass
        parameters : numbers or arrays by name, given to the law as keyword arguments; may change without compiling anew
        """
        instead = "add_spring_damper(..., force=law) acts along the line between two points"
        owner, i, j = self._turning_bodies(Interaction, name, first, second, instead)
        p_i, p_j = locate(owner, i, j, point, ORIGINS if point is None and points is None else points)
        given = parameters_of(owner, law, _FORMS, parameters)
        return self._add(Interaction(name, i.name, j.name, p_i, p_j, law, given))

    def add_bushing(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        stiffness: Six,
        damping: Six = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        point: npt.ArrayLike | None = None,
        points: Pair | None = None,
        axes: Axes | None = None,
        frames: Frames | None = None,
    ) -> Bushing:
        """An elastic joint of six degrees of freedom between frames in two bodies, the same whichever body comes first.

        stiffness : three numbers along the axes [N/m] and three about them [N m/rad], or a symmetric 6 x 6 matrix of
            (translation, rotation);  damping : likewise [N s/m], [N m s/rad]
        point : of the unloaded bushing, world coordinates of the model pose [m]
        points : or (p_first, p_second) in the axes of each body [m]
        axes : of the bushing in the model pose, a rotation (quaternion, or matrix whose columns they are); default: the world's
        frames : or a pair of such matrices in the axes of each body

        Rotations may be large, below 180 degrees.
        """
        instead = "use add_spring_damper, or give it an inertia with add_body"
        owner, i, j = self._turning_bodies(Bushing, name, first, second, instead)
        p_i, p_j = locate(owner, i, j, point, points)
        if frames is None:
            E_i, E_j = aligned_at_pose(i, j)
            if axes is not None:
                E = quaternion_to_matrix(unit_quaternion(owner, axes, "axes"))
                E_i, E_j = frozen(rotation_matrix(i).T @ E), frozen(rotation_matrix(j).T @ E)
        elif axes is not None:
            raise ModelError(
                f"{owner}: got both axes= and frames=; give axes= (world) or frames=(E_first, E_second) (body-fixed)"
            )
        else:
            pair = several(owner, "frames", frames, (2,), "a pair of 3x3 matrices, one fixed in each body")
            E_i, E_j = (_frame(owner, f"frames[{k}]", pair[k]) for k in (0, 1))
        gains = _gains(owner, "stiffness", stiffness), _gains(owner, "damping", damping)
        if not gains[0].any() and not gains[1].any():
            raise ModelError(f"{owner}: stiffness and damping are 0; give one of them")
        return self._add(Bushing(name, i.name, j.name, p_i, p_j, E_i, E_j, *gains))

    def _turning_bodies(
        self, cls: type[Force], name: str, first: object, second: object, instead: str
    ) -> tuple[str, Body, Body]:
        """What messages call a new element, and its two bodies, which take a torque."""
        owner = self._new_name(cls.noun, name)
        i, j = self._two_bodies(owner, first, second)
        for body in (i, j):
            if body.kind == "point":
                text = f"point mass {body.name!r} cannot turn, and a torque on it would be lost; {instead}"
                raise ModelError(f"{owner}: {text}")
        return owner, i, j


def _frame(owner: str, label: str, value: object) -> Array:
    matrix = numbers(owner, label, value, (3, 3))
    turned = quaternion_to_matrix(unit_quaternion(owner, matrix, label))
    return matrix if np.abs(matrix - turned).max() < 1e-14 else frozen(turned)


def _gains(owner: str, label: str, value: npt.ArrayLike) -> Array:
    """(6, 6) from six numbers or a symmetric matrix that gives no energy."""
    rows = isinstance(value, Sequence | np.ndarray) and count(value) and count(value[0])
    matrix = numbers(owner, label, value, (6, 6)) if rows else np.diag(numbers(owner, label, value, (6,)))
    size = float(np.abs(matrix).max())
    if float(np.abs(matrix - matrix.T).max()) > SLACK * size:
        raise ModelError(
            f"{owner}: {label} is not symmetric and has no potential; give a symmetric 6x6 matrix, or use add_interaction"
        )
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -SLACK * size:
        raise ModelError(f"{owner}: {label} has the eigenvalue {shown(round(least, 6))}; give a matrix without negative ones")
    return frozen(0.5 * (matrix + matrix.T))
