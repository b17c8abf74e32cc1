"""Consistent states around one, and derivatives along them: what equilibria and linear models are made of.

With bases P and V of the displacements and velocities that the constraints allow (P has more columns than V where rows are
nonholonomic), both orthonormal in the masses, states around x_0 are

    x(y) = project(x_0 (+) (P a, V b + e(a))),      y = (a, b)

The chart that goes with them, and its rates:

    Y = (P^T M (r - r_0, log R_0^T R), V^T M (v, w_B))      Y' = (P^T M (v, w_B + phi x w_B / 2), V^T M (v', w_B'))

(the rate of a rotation vector phi up to what has no first derivative at phi = 0); D Y = 1 at x_0. D Y' is exact, by numbers of
formulations/derivatives.py. Displacements change velocities by e, so that c(q, u) = G u + g_t stays 0:

    G e + c_q P a = 0,      V^T M e = 0

Derivatives of other functions are central differences of order eight over x(k h e_i), k = -4 ... 4, good to about 1e-12.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import dense_rows
from dalembert.compilation.trajectory import Trajectory, cross
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations.derivatives import Derivatives
from dalembert.formulations.evaluation import LOST, Evaluated, evaluate
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T
from dalembert.questions.equations import body_matrix, null_space, twist_map
from dalembert.questions.rows import places_of_rows
from dalembert.questions.state import closing, size_of

STEP = 0.005  # of the largest rotation [rad] or displacement over the mechanism's size, and of their rates
_WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # of (f(k h) - f(-k h)) / h, order eight
POINTS = tuple(sign * k for k in _WEIGHTS for sign in (1, -1))
SMALL, UNSURE = 1e-5, 1e-5  # step of a difference that tells a kink; what it may be off, as part of the largest derivative
LEAST = 1e-13  # what the masses may leave of a direction that is not along others
_NO_DERIVATIVE = "a force has a kink or a jump there, or the pose is singular"


def bodies_of(series: Trajectory) -> tuple[Array, Array, Array, Array]:
    """(nt, nb, .) r, R, v, w_B of all bodies."""
    names = series.mechanism.body_names
    r, R, v = (np.stack([f(name) for name in names], axis=1) for f in (series.position, series.rotation, series.velocity))
    return r, R, v, np.stack([series.angular_velocity(name, "body") for name in names], axis=1)


class Neighbourhood:
    """Around a state at a time.

    x : the state, projected;  positions, velocities : (6 nb, .) P and V
    moving : whether directions in which velocities change are there, too
    lengths : of each direction: the largest rotation, or displacement over the mechanism's size, or their rates
    """

    def __init__(self, owner: str, mechanism: Mechanism, t: float, x: Array, *, moving: bool = True) -> None:
        self.owner, self.mechanism, self.t = owner, mechanism, t
        self.run = reference_run(mechanism)
        self.x = self.consistent(x[None])[0]
        self.mass = body_matrix(mechanism)
        self.positions, self.velocities = self._bases()
        self.moving = moving
        self.lengths = self._length(np.hstack([self.positions, self.velocities if moving else self.velocities[:, :0]]).T)
        self.steps = STEP / self.lengths

    @cached_property
    def _slopes(self) -> tuple[Array, Array]:
        """Derivatives of u' (nu, nq + nu) and of c (m, nq + nu) by q and u, exact."""
        mechanism, nq, nu = self.mechanism, self.mechanism.nq, self.mechanism.nu
        rows, columns, places = places_of_rows(self.run)
        behind = np.append(places, int(self.run.I[T.W_GT]) + np.arange(mechanism.m))
        try:
            f_x = Derivatives(self.run).jacobian(self.t, self.x, np.arange(nq + nu), behind)[1]
        except SimulationError as problem:
            raise SimulationError(f"{self.owner}: {problem}; {_NO_DERIVATIVE}", time=self.t) from None
        by_entries, by_time = np.split(f_x[len(self.x) :], [len(places)])
        np.add.at(by_time, rows, (twist_map(mechanism) @ self.x[nq : nq + nu])[columns, None] * by_entries)
        return f_x[nq : nq + nu], by_time

    @cached_property
    def _tangents(self) -> tuple[Array, Array]:
        """(k, 6 nb) displacements and changes of velocities along each direction."""
        d, e, B = self.positions.T, self.velocities.T, twist_map(self.mechanism)
        if not self.moving:
            return d, np.zeros_like(d)
        nq, nu = self.mechanism.nq, self.mechanism.nu
        change = displaced(self.mechanism, np.tile(self.x, (len(d), 1)), d, np.zeros_like(d), linear=True)[:, : nq + nu]
        G = dense_rows(self.mechanism, self.t, self.x)[0][: self.mechanism.m] @ B
        bent = (B @ np.linalg.lstsq(G, -self._slopes[1] @ change.T, rcond=1e-10)[0]).T
        return np.vstack([d, np.zeros_like(e)]), np.vstack([bent - bent @ self.mass @ e.T @ e, e])

    @cached_property
    def rates_derivative(self) -> Array:
        """(m, k) derivative of Y' along each direction, exact."""
        mechanism, (d, e) = self.mechanism, self._tangents
        nq, nu, nb = mechanism.nq, mechanism.nu, mechanism.nb
        tangent = displaced(mechanism, np.tile(self.x, (len(d), 1)), d, e, linear=True)[:, : nq + nu]
        acceleration = (tangent @ self._slopes[0].T) @ twist_map(mechanism).T
        rates = e.reshape(-1, nb, 6).copy()
        rates[..., 3:] += 0.5 * cross(d.reshape(-1, nb, 6)[..., 3:], self.bodies(self.x[None])[3])
        return np.asarray(self.in_chart(rates, acceleration).T)

    def refuse_kinks(self) -> None:
        """Numbers with derivatives go on along the branch that the state is on; differences over it tell whether it ends."""
        steps = SMALL / self.lengths
        states = self._around(steps, (1, -1))
        evaluated = self._evaluated(states)
        rates = self.chart_rates(states, evaluated.acceleration)
        found = (rates[::2] - rates[1::2]).T / (2.0 * steps)
        wrong = np.abs(found - self.rates_derivative) - self._rounding(evaluated.acceleration) / steps
        if wrong.max(initial=0.0) > UNSURE * (np.abs(self.rates_derivative).max(initial=0.0) or 1.0):
            lost = float(evaluated.unmet[:, 0].max()) > LOST
            reason = self._far_apart() if lost else f"have no derivative; {_NO_DERIVATIVE}"
            raise SimulationError(f"{self.owner}: accelerations at t = {self.t:g} s {reason}", time=self.t)

    def _rounding(self, acceleration: Array) -> Array:
        """(m, 1) what rounding of accelerations, and of those that balance gravity, leaves of chart rates."""
        size = np.abs(acceleration).max(initial=0.0) + np.abs(self.mechanism.model.gravity).max()
        V = np.abs(self.mass @ self.velocities).sum(axis=0)
        return np.asarray(1e-15 * size * np.append(np.zeros(self.positions.shape[1]), V)[:, None])

    def _far_apart(self) -> str:
        bodies = sorted(self.mechanism.model.bodies, key=lambda body: body.mass)
        light, heavy = bodies[0], bodies[-1]
        return (
            "are lost in rounding: masses and moments of inertia are too far apart, or too far from the mechanism's size"
            f" (body {light.name!r} has {light.mass:.3g} kg, {heavy.name!r} {heavy.mass:.3g} kg); bring them closer together"
        )

    def _around(self, steps: Array, points: tuple[int, ...]) -> Array:
        factors = np.array([k * step for step in steps for k in points])[:, None]
        both = (np.repeat(along, len(points), axis=0) * factors for along in self._tangents)
        return self.consistent(displaced(self.mechanism, np.tile(self.x, (len(factors), 1)), *both))

    @cached_property
    def states(self) -> Array:
        """x(k h e_i), direction after direction."""
        return self._around(self.steps, POINTS)

    @cached_property
    def evaluated(self) -> Evaluated:
        """What the states around imply."""
        return self._evaluated(self.states)

    @cached_property
    def series(self) -> Trajectory:
        """The states around, with their outputs by name."""
        return self.mechanism.trajectory(np.full(len(self.states), self.t), self.states)

    @cached_property
    def centre(self) -> Evaluated:
        """Of the state itself."""
        return self._evaluated(self.x[None])

    @cached_property
    def rate(self) -> Array:
        """Y' at the state itself."""
        return np.asarray(self.chart_rates(self.x[None], self.centre.acceleration)[0])

    def in_chart(self, positions: Array, velocities: Array) -> Array:
        """(n, .) components of (n, nb, 6) displacements and velocities."""
        n, P, V = len(positions), self.positions, self.velocities
        both = positions.reshape(n, -1) @ self.mass @ P, velocities.reshape(n, -1) @ self.mass @ V
        return np.concatenate(both, axis=1)

    def derivative(self, values: Array) -> Array:
        """(m, k) derivative along each direction of the values (n, m) at the states around."""
        each = values.reshape(len(self.steps), len(POINTS), -1)
        return np.array([central(one, h) for one, h in zip(each, self.steps, strict=True)]).reshape(len(each), -1).T

    def moved(self, y: Array) -> Array:
        """x(y)."""
        d, e = (y @ along[: len(y)] for along in self._tangents)
        return np.asarray(self.consistent(displaced(self.mechanism, self.x[None], d[None], e[None]))[0])

    def largest(self, y: Array) -> float:
        """What a step does to the poses: the largest rotation [rad], or displacement over the mechanism's size."""
        return float(self._length((self.positions @ y[: self.positions.shape[1]])[None])[0])

    def length(self, twists: Array) -> float:
        """The same of (1, 6 nb) displacements, or per second of velocities."""
        return float(self._length(twists)[0])

    def consistent(self, states: Array) -> Array:
        """The states projected onto the constraints."""
        states, view = states.copy(), self.run.view
        nothing = np.zeros(states.shape[1])
        for x in states:
            if self.run.project(T.PROJECT, self.t, x, nothing, view) != T.OK or not np.isfinite(x).all():
                raise self.refused("a state near this one cannot be assembled")
        return states

    def refused(self, what: str) -> SimulationError:
        return SimulationError(f"{self.owner}: {what}; the pose is singular", time=self.t)

    def bodies(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """(n, nb, .) r, R, v, w_B of all bodies."""
        return bodies_of(self.mechanism.trajectory(np.full(len(x), self.t), x))

    def turned(self, x: Array) -> Array:
        """(n, nb, 3) log R_0^T R in body axes."""
        R_0, R = self.bodies(self.x[None])[1], self.bodies(x)[1]
        return small_rotation_vectors(np.swapaxes(R_0, 2, 3) @ R)

    def chart(self, x: Array) -> Array:
        """(n, .) Y"""
        r, _, v, w_B = self.bodies(x)
        moved = np.concatenate([r - self.bodies(self.x[None])[0], self.turned(x)], axis=2)
        return self.in_chart(moved, np.concatenate([v, w_B], axis=2))

    def chart_rates(self, x: Array, acceleration: Array) -> Array:
        """(n, .) Y'"""
        _, _, v, w_B = self.bodies(x)
        turned = w_B + 0.5 * cross(self.turned(x), w_B)
        return self.in_chart(np.concatenate([v, turned], axis=2), acceleration.reshape(len(x), -1, 6))

    def accelerations(self, x: Array, t: Array | None = None) -> Array:
        """(n, 6 nb) v' and w_B' of all bodies."""
        return self._evaluated(x, t).acceleration

    def _evaluated(self, x: Array, t: Array | None = None) -> Evaluated:
        found = evaluate(self.run, np.full(len(x), self.t) if t is None else t, x)
        if not np.isfinite(found.acceleration).all():
            raise SimulationError(
                f"{self.owner}: accelerations at t = {self.t:g} s are not finite; the pose is singular, or a force is",
                time=self.t,
            )
        return found

    def _bases(self) -> tuple[Array, Array]:
        mechanism = self.mechanism
        B = twist_map(mechanism)
        G = dense_rows(mechanism, self.t, self.x)[0][: mechanism.m] @ B
        idle = np.array([np.abs(B[:, k]).max(initial=0.0) == 0.0 for k in range(B.shape[1])], dtype=bool)
        if mechanism.coordinates == "planar":
            for b, body in enumerate(mechanism.model.bodies):
                idle[3 * b + 2] |= body.kind == "point"
        rates_only = np.zeros(mechanism.m, dtype=bool)
        for row in mechanism.rows:
            if row.index < mechanism.m:
                rates_only[row.index] = row.nonholonomic
        held = np.eye(len(idle))[idle]
        bases = []
        for rows in (G[~rates_only], G) if rates_only.any() else (G,):
            basis = B @ null_space(np.vstack([rows, held]))
            for _ in range(2):  # once alone, masses far apart leave as much of it
                metric = basis.T @ self.mass @ basis
                metric = 0.5 * (metric + metric.T)
                lengths = np.sqrt(np.diag(metric))
                if np.linalg.eigvalsh(metric / lengths / lengths[:, None]).min(initial=1.0) < LEAST:
                    raise SimulationError(f"{self.owner}: directions of motion {self._far_apart()}", time=self.t)
                basis = np.linalg.solve(np.linalg.cholesky(metric), basis.T).T
            bases.append(basis)
        return bases[0], bases[-1]

    def _length(self, directions: Array) -> Array:
        """(k,) of (k, 6 nb) twists: the largest rotation, or displacement over the size."""
        each = directions.reshape(len(directions), self.mechanism.nb, 6)
        lengths = np.maximum(np.linalg.norm(each[..., :3], axis=2) / self.size, np.linalg.norm(each[..., 3:], axis=2))
        return np.asarray(lengths.max(axis=1, initial=0.0))

    @cached_property
    def size(self) -> float:
        return size_of(self.mechanism, self.x)


def central(values: Array, h: float) -> Array:
    """(m,) derivative from (8, m) values at k h, k of POINTS."""
    return np.array([np.sign(k) * _WEIGHTS[abs(k)] for k in POINTS]) @ values / h


def reference_run(mechanism: Mechanism) -> Run:
    """Projection and accelerations as exact as they get."""
    return closing(size_of(mechanism, mechanism.x_0)).prepare(mechanism)


def refuse_massless(owner: str, mechanism: Mechanism) -> None:
    """Masses say how much a motion counts."""
    for body in mechanism.model.bodies:
        if not body.mass > 0 or (body.kind == "rigid" and not np.linalg.eigvalsh(body.inertia)[0] > 0):
            raise ModelError(f"{owner}: body {body.name!r} has no mass or moment of inertia; give positive ones")


def displaced(mechanism: Mechanism, x: Array, d: Array, e: Array, *, linear: bool = False) -> Array:
    """(n, nx) states moved by (n, 6 nb) displacements (dr, dphi_B) and changes (dv, dw_B) of velocities.

    linear : only by how much, to first order
    """
    start, x, nq = x, np.zeros_like(x) if linear else x.copy(), mechanism.nq
    for b, (kind, q, u) in enumerate(mechanism.body_columns):
        u += nq
        dr, turn = d[:, 6 * b : 6 * b + 3], d[:, 6 * b + 3 : 6 * b + 6]
        dv, dw = e[:, 6 * b : 6 * b + 3], e[:, 6 * b + 3 : 6 * b + 6]
        if kind == T.PLANAR:
            plane, (_, _, normal) = mechanism.plane, mechanism.start_in_plane(b + 1)
            assert plane is not None
            x[:, q : q + 3] += np.column_stack([dr @ plane.e1, dr @ plane.e2, turn @ normal])
            x[:, u : u + 3] += np.column_stack([dv @ plane.e1, dv @ plane.e2, dw @ normal])
            continue
        x[:, q : q + 3] += dr
        x[:, u : u + 3] += dv
        if kind == T.RIGID:
            half = 0.5 * np.linalg.norm(turn, axis=1, keepdims=True)
            s = np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * turn], axis=1)
            if linear:
                s = np.concatenate([np.zeros_like(half), 0.5 * turn], axis=1)
            x[:, q + 3 : q + 7] = _product(start[:, q + 3 : q + 7], s)
            x[:, u + 3 : u + 6] += dw
    return x


def _product(p: Array, q: Array) -> Array:
    a, v, b, w = p[:, :1], p[:, 1:], q[:, :1], q[:, 1:]
    real = a * b - np.sum(v * w, axis=1, keepdims=True)
    return np.concatenate([real, a * w + b * v + cross(v, w)], axis=1)


def small_rotation_vectors(R: Array) -> Array:
    """(..., 3) of rotations that are small: sin(phi) n from the skew part, phi by it."""
    axial = 0.5 * np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    sine = np.linalg.norm(axial, axis=-1, keepdims=True)
    phi = np.arctan2(sine, 0.5 * (np.trace(R, axis1=-2, axis2=-1)[..., None] - 1.0))
    return np.asarray(axial * np.where(sine > 0, phi / np.where(sine > 0, sine, 1.0), 1.0))
