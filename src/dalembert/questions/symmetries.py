"""Steady motion: along which actions a state moves, so that in a frame that goes along it rests.

A steady motion is x(t) = exp(t zeta) x_0 with zeta a sum of actions that change nothing but where things are: a joint
coordinate that goes on, a free body that is shifted or turned with all that hangs on it, a body that spins about an axis of its
own. With zeta(x_0) = f(x_0), the state rests in x' = f(x) - zeta(x), whose linearisation is that of the motion; it does not
depend on the chart. An action on the subtree of a link, seen from the parent body p, with axis a through a point fixed in p:

    turn    dr = a x (r - p),  dphi = a,  relative velocities turn along       shift   dr = a
    spin    dphi_B = b,  the angular velocity stays in space: dw_B = -b x w_B
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compile import compile
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import dense_rows
from dalembert.compilation.trajectory import apply, cross
from dalembert.compilation.tree import make_tree
from dalembert.kernels.base import tables as T
from dalembert.model.elements import Joint
from dalembert.model.joints import TRAVEL
from dalembert.questions.neighbourhood import Neighbourhood, displaced

_SYMMETRIC = 1e-5  # of what a symmetry leaves over, against what changes
_OFF, _AT, _WEIGHT = 0.01, (1, -1, 2, -2), (2 / 3, -2 / 3, -1 / 12, 1 / 12)  # differences of order four
Poses = tuple[Array, Array, Array, Array]  # (n, nb, .) r, R, v, w_B


@dataclass(frozen=True, eq=False)
class Action:
    """name : of a joint, "joint.angle", or "body.x", "body.about_z", "body.spin_z";  kind : "turn", "shift" or "spin"

    bodies : which move along, counted from 0;  parent : -1 for the ground;  axis, point : in its axes, of a spin in the body's
    plain : a coordinate of one joint, or a shift
    """

    name: str
    kind: str
    bodies: tuple[int, ...]
    parent: int
    axis: Array
    point: Array
    plain: bool

    def at(self, poses: Poses) -> tuple[Array, Array]:
        """(n, nb, 6) displacements (dr, dphi_B) and changes (dv, dw_B)."""
        r, R, v, w_B = poses
        n = len(r)
        moved, changed = np.zeros((2, n, r.shape[1], 6))
        p = self.parent
        r_p, v_p, w_p = (r[:, p], v[:, p], apply(R[:, p], w_B[:, p])) if p >= 0 else np.zeros((3, n, 3))
        a = R[:, p] @ self.axis if p >= 0 else np.tile(self.axis, (n, 1))
        centre = r_p + (R[:, p] @ self.point if p >= 0 else self.point)
        for b in self.bodies:
            back = np.swapaxes(R[:, b], 1, 2)
            if self.kind == "spin":
                moved[:, b, 3:] = self.axis
                changed[:, b, 3:] = -cross(self.axis, w_B[:, b])
            elif self.kind == "shift":
                moved[:, b, :3], changed[:, b, :3] = a, cross(w_p, a)
            else:
                dr = cross(a, r[:, b] - centre)
                relative = v[:, b] - v_p - cross(w_p, r[:, b] - r_p)
                moved[:, b, :3], moved[:, b, 3:] = dr, apply(back, a)
                changed[:, b, :3] = cross(w_p, dr) + cross(a, relative)
                changed[:, b, 3:] = -apply(back, cross(a, w_p))
        return moved, changed


def actions(mechanism: Mechanism) -> list[Action]:
    """Those of the joints of a spanning tree, and spins of bodies that are free or hang on two or three rotations."""
    tree = make_tree(mechanism if mechanism.coordinates != "planar" else compile(mechanism.model, "absolute"))
    children = {link.body: [other.body for other in tree.links if other.parent == link.body] for link in tree.links}
    joints = {joint.name: joint for joint in mechanism.model.joints}
    found = []
    for link in tree.links:
        turn, _, slides = link.kind
        owner = link.joint or mechanism.body_names[link.body - 1]
        branch = [link.body]
        for body in branch:  # grows while it is walked
            branch += children[body]
        bodies, parent, name = tuple(b - 1 for b in branch), link.parent - 1, mechanism.body_names[link.body - 1]
        joint = joints.get(link.joint or "")
        for axis in slides:
            label = (
                f"{owner}.{'xyz'[axis]}" if joint is None else _label(joint, next(c for c, k in TRAVEL.items() if k == axis))
            )
            found.append(Action(label, "shift", bodies, parent, link.E_p[:, axis], link.p_p, True))
        if turn == T.QUATERNION:
            for k, letter in enumerate("xyz"):
                found.append(Action(f"{owner}.about_{letter}", "turn", bodies, parent, link.E_p[:, k], link.p_p, False))
                found.append(Action(f"{name}.spin_{letter}", "spin", bodies[:1], parent, np.eye(3)[k], link.p_p, False))
        elif turn == T.ONE_ANGLE and joint is not None:
            found.append(Action(_label(joint, "angle"), "turn", bodies, parent, link.E_p[:, 2], link.p_p, True))
        elif turn == T.TWO_ANGLES and joint is not None:
            first, second = ("angle_first", "angle_second") if joint.first != name else ("angle_second", "angle_first")
            found.append(Action(_label(joint, first), "turn", bodies, parent, link.E_p[:, 0], link.p_p, True))
            found.append(Action(_label(joint, second), "spin", bodies[:1], parent, link.E_c[:, 1], link.p_p, False))
    return found


def _label(joint: Joint, coordinate: str) -> str:
    return joint.name if len(joint.coordinates) == 1 else f"{joint.name}.{coordinate}"


@dataclass(frozen=True, eq=False)
class Steady:
    """zeta = sum of rates times actions."""

    actions: Sequence[Action]
    rates: Array

    def in_chart(self, around: Neighbourhood, x: Array) -> Array:
        """(n, .) the same in the chart of a neighbourhood, at states of it."""
        moved, changed = self.at(around.bodies(x))
        moved[..., 3:] += 0.5 * cross(around.turned(x), moved[..., 3:])
        return around.in_chart(moved, changed)

    def at(self, poses: Poses) -> tuple[Array, Array]:
        """(n, nb, 6) displacements and changes of velocities."""
        moved, changed = np.zeros((2, *poses[0].shape[:2], 6))
        for action, rate in zip(self.actions, self.rates, strict=True):
            if rate != 0.0:
                d, e = action.at(poses)
                moved, changed = moved + rate * d, changed + rate * e
        return moved, changed


def columns(chosen: Sequence[Action], around: Neighbourhood, x: Array) -> Array:
    """(k, .) the actions in the chart, at one state."""
    units = np.eye(len(chosen))
    return np.array([Steady(chosen, unit).in_chart(around, x[None])[0] for unit in units]).reshape(len(chosen), -1)


def symmetries(found: Sequence[Action], around: Neighbourhood) -> Array:
    """(k + 1, .) combinations of actions, and of time going on, that leave constraints, masses and forces as they are.

    Rows stay met along zeta, and accelerations change as velocities do: a'(x) zeta = zeta_u'(x) f, at random states around.
    """
    rng = np.random.default_rng(0)
    free = np.eye(len(found) + 1)
    samples = [around.moved(_random(around, rng)) for _ in range(3)]
    free = free @ _null_space(np.vstack([_rows_along(found, around, x) for x in samples]), 1e-9 * max(1.0, around.size))
    if free.shape[1]:
        brackets = [_brackets(found, around, x, free) for x in samples]
        scale = max(float(size) for _, size in brackets)
        free = free @ _null_space(np.vstack([bracket for bracket, _ in brackets]), _SYMMETRIC * scale)
    return np.where(np.abs(free) > 1e-7, free, 0.0)


def _random(around: Neighbourhood, rng: np.random.Generator) -> Array:
    """Up to 0.1 rad away, faster or slower by up to as much per second."""
    y = rng.uniform(-1.0, 1.0, len(around.steps))
    return np.asarray(y * 0.1 / max(around.largest(y), 1e-300))


def _null_space(rows: Array, floor: float = 0.0) -> Array:
    """Orthonormal vectors that the rows do not see; floor : singular values of rounding."""
    scale = np.abs(rows).max(initial=0.0)
    if scale <= floor:
        return np.eye(rows.shape[1])
    _, values, V = np.linalg.svd(rows)
    return np.ascontiguousarray(V[int(np.sum(values > max(1e-9 * values[0], floor))) :].T)


def _rows_along(found: Sequence[Action], around: Neighbourhood, x: Array) -> Array:
    """(m, k + 1) how residuals of positions change along the actions, and in time."""
    mechanism = around.mechanism
    G, _, g_t, _ = (part[: mechanism.m] for part in dense_rows(mechanism, around.t, x))
    kept = [row.index for row in mechanism.rows if row.index < mechanism.m and not row.nonholonomic]
    poses = around.bodies(x[None])
    moved = np.array([action.at(poses)[0].ravel() for action in found]).reshape(len(found), -1)
    return np.column_stack([G @ moved.T, g_t])[kept]


def _brackets(found: Sequence[Action], around: Neighbourhood, x: Array, free: Array) -> tuple[Array, float]:
    """(6 nb, .) a' zeta - zeta_u' f of each combination, radians times the size, and the largest of both terms."""
    units = np.tile([1.0] * 3 + [around.size] * 3, around.mechanism.nb)
    poses = around.bodies(x[None])
    forward = np.concatenate([poses[2], poses[3]], axis=2).reshape(1, -1), around.accelerations(x[None])
    at, weight = np.array(_AT), np.array(_WEIGHT)
    h = _OFF / max(around.length(forward[0]), 1e-300) if np.abs(forward[0]).max() > 0.0 else _OFF
    ahead = np.vstack([displaced(around.mechanism, x[None], k * h * forward[0], k * h * forward[1]) for k in at])
    columns, largest = [], 0.0
    for combination in free.T:
        zeta = Steady(found, combination[:-1])
        d, e = (part.reshape(1, -1) for part in zeta.at(poses))
        near = np.vstack([displaced(around.mechanism, x[None], k * _OFF * d, k * _OFF * e) for k in at])
        along = weight @ around.accelerations(near, around.t + _OFF * at * combination[-1]) / _OFF
        expected = weight @ zeta.at(around.bodies(ahead))[1].reshape(len(at), -1) / h
        columns.append((along - expected) * units)
        largest = max(largest, float(np.abs(along * units).max()), float(np.abs(expected * units).max()))
    return np.array(columns).T, largest


def fitted(found: Sequence[Action], free: Array, around: Neighbourhood) -> Steady:
    """The smallest rates of actions with which zeta(x_0) is nearest to f(x_0)."""
    rheonomic = any(row.rheonomic for row in around.mechanism.rows)
    zeta = columns(found, around, around.x).T @ free[:-1]
    heavy = 1e3 * (np.abs(zeta).max(initial=0.0) or 1.0)
    rows = np.vstack([zeta, heavy * free[-1:]]) if rheonomic else zeta
    wanted = np.append(around.rate, heavy) if rheonomic else around.rate
    rates = free[:-1] @ np.linalg.lstsq(rows, wanted, rcond=1e-10)[0]
    return Steady(tuple(found), np.where(np.abs(rates) > 1e-12 * np.abs(rates).max(initial=0.0), rates, 0.0))


def choices(found: Sequence[Action], free: Array) -> list[Array]:
    """Combinations to try, one after the other: first without turns in space, which turn the frame of the model."""
    turns = [k for k, action in enumerate(found) if action.kind == "turn" and not action.plain]
    return [free @ _null_space(free[turns], 1e-9), free] if turns else [free]
