"""Independent coordinates by name: those of joints where they suffice, then of bodies; rotations as vectors from a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.trajectory import Trajectory
from dalembert.model.elements import Joint
from dalembert.model.joints import angle_of, direction_of
from dalembert.questions.neighbourhood import Neighbourhood, small_rotation_vectors

_RANK = 1e-6  # of a pivot against the first
_CONSTANT = 1e-9  # of the largest motion of a body: a coordinate that changes less is constant


@dataclass(frozen=True, eq=False)
class Named:
    """A coordinate: its values and rates (n,) over a series of states."""

    name: str
    value: Callable[[Trajectory], Array]
    rate: Callable[[Trajectory], Array]


def independent(around: Neighbourhood) -> tuple[list[Named], list[Named]]:
    """Coordinates that describe poses near a state, and those of them whose rates describe velocities."""
    from_joints = [named for joint in around.mechanism.model.joints for named in _of_joint(around, joint)]
    n = around.positions.shape[1]
    chosen = _pivots(from_joints, [named.value for named in from_joints], around, slice(None, n), [])
    if len(chosen) < n:
        of_bodies = [named for name in around.mechanism.body_names for named in _of_body(around, name)]
        chosen = _pivots(of_bodies, [named.value for named in of_bodies], around, slice(None, n), chosen)
    moving = _pivots(chosen, [named.rate for named in chosen], around, slice(n, None), [])
    return chosen, moving


def coordinates_by_name(mechanism: Mechanism, joint: str) -> Named:
    """The coordinate of a joint that has one."""
    assert len(mechanism.model.joint(joint).coordinates) == 1
    return Named(joint, _component(joint, 0, "coordinate"), _component(joint, 0, "coordinate_rate"))


def _pivots(
    candidates: list[Named],
    functions: list[Callable[[Trajectory], Array]],
    around: Neighbourhood,
    columns: slice,
    kept: list[Named],
) -> list[Named]:
    """Those kept, and of the candidates those that add most; in the order of the model."""
    from scipy.linalg import qr

    if not candidates:
        return kept
    rows = around.derivative(np.column_stack([f(around.series) for f in functions]))[:, columns]
    if kept:
        known = around.derivative(np.column_stack([named.value(around.series) for named in kept]))[:, columns]
        basis = qr(known.T, mode="economic")[0]
        rows = rows - (rows @ basis) @ basis.T
    most = rows.shape[1] - len(kept)
    if most == 0:
        return kept
    triangle, order = qr(rows.T, mode="r", pivoting=True)
    pivots = np.abs(np.diag(triangle))[:most]
    least = max(_RANK * float(pivots[0]), _CONSTANT * min(1.0, around.size) * float(around.lengths[columns].max()))
    good = [int(k) for k, pivot in zip(order, pivots, strict=False) if pivot > least]
    return kept + [candidates[k] for k in sorted(good)]


def _of_joint(around: Neighbourhood, joint: Joint) -> list[Named]:
    found = []
    for component, label in enumerate(joint.coordinates):
        name = joint.name if len(joint.coordinates) == 1 else f"{joint.name}.{label}"
        known = angle_of(joint, component) is not None or direction_of(joint, component) is not None or label == "length"
        value = _component(joint.name, component, "coordinate") if known else _relative(around, joint, component)
        found.append(Named(name, value, _component(joint.name, component, "coordinate_rate")))
    return found


def _component(joint: str, component: int, method: str) -> Callable[[Trajectory], Array]:
    def values(states: Trajectory) -> Array:
        s = getattr(states, method)(joint)
        return np.asarray(s if s.ndim == 1 else s[:, component])

    return values


def _relative(around: Neighbourhood, joint: Joint, component: int) -> Callable[[Trajectory], Array]:
    """The rotation vector of a spherical joint from that of the state, in joint axes of the second body."""

    def turned(states: Trajectory) -> Array:
        R_i, R_j = states.rotation(joint.first) @ joint.E_i, states.rotation(joint.second) @ joint.E_j
        return np.asarray(np.swapaxes(R_i, 1, 2) @ R_j)

    start = turned(around.mechanism.trajectory(np.array([around.t]), around.x[None]))[0]
    return lambda states: small_rotation_vectors(start.T @ turned(states))[:, component]


def _of_body(around: Neighbourhood, name: str) -> list[Named]:
    R_0 = around.mechanism.trajectory(np.array([around.t]), around.x[None]).rotation(name)[0]

    def along(k: int) -> Named:
        return Named(f"{name}.{'xyz'[k]}", lambda s: s.position(name)[:, k], lambda s: s.velocity(name)[:, k])

    def about(k: int) -> Named:
        def value(states: Trajectory) -> Array:
            return small_rotation_vectors(states.rotation(name) @ R_0.T)[:, k]

        return Named(f"{name}.rotation_{'xyz'[k]}", value, lambda s: s.angular_velocity(name)[:, k])

    return [*map(along, range(3)), *map(about, range(3))]
