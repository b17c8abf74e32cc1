"""Consistent states around one, and derivatives along them: what equilibria and linear models are made of.

With bases P and V of the displacements and velocities that the constraints allow (P has more columns than V where rows are
nonholonomic), both orthonormal in the masses, states around x_0 are

    x(y) = project(x_0 (+) (P a, V b)),      y = (a, b)

A derivative along y is a central difference of order eight over x(k h e_i), k = -4 ... 4, good to about 1e-12.
The chart that goes with them, and its rates:

    Y = (P^T M (r - r_0, log R_0^T R), V^T M (v, w_B))      Y' = (P^T M (v, w_B + phi x w_B / 2), V^T M (v', w_B'))

(the rate of a rotation vector phi up to what has no first derivative at phi = 0).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import dense_rows
from dalembert.compilation.trajectory import Trajectory, cross
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations.evaluation import Evaluated, evaluate
from dalembert.formulations.jet import Jet
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T
from dalembert.questions.equations import body_matrix, null_space, twist_map
from dalembert.questions.size import size_of

Array = npt.NDArray[np.float64]

CLOSED = 1e-13  # of constraints, as far as double precision goes
STEPS = (0.02, 0.005, 0.00125)  # of the largest rotation [rad] or displacement over the mechanism's size, and of their rates
_WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # of (f(k h) - f(-k h)) / h, order eight
_CHECK = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60, 4: 0.0}  # order six
POINTS = tuple(sign * k for k in _WEIGHTS for sign in (1, -1))
SURE, UNSURE = 1e-9, 1e-4  # of a derivative, between the two orders


class Neighbourhood:
    """Around a state at a time.

    x : the state, projected;  positions, velocities : (6 nb, .) P and V;  states : x(k h e_i), direction after direction
    evaluated, rates : (n, .) what the states around imply, and Y' there
    moving : whether directions in which velocities change are there, too
    rough : one length of steps, whatever differences of another order say: enough on the way to a solution
    """

    def __init__(
        self, owner: str, mechanism: Mechanism, t: float, x: Array, *, moving: bool = True, rough: bool = False
    ) -> None:
        self.owner, self.mechanism, self.t = owner, mechanism, t
        self.run = reference_run(mechanism)
        self.x = self.consistent(x[None])[0]
        self.mass = body_matrix(mechanism)
        self.positions, self.velocities = self._bases()
        e = self.velocities.T if moving else np.zeros((0, 6 * mechanism.nb))
        self._directions = self.positions.T, e
        self._lengths = np.concatenate([self._length(self.positions.T), self._length(e)])
        self._choose_step(STEPS[1:2] if rough else STEPS, np.inf if rough else UNSURE)

    def _choose_step(self, lengths: tuple[float, ...], unsure_at: float) -> None:
        """The longest step for which differences of two orders agree, else the one for which they agree best."""
        best = np.inf
        for step in lengths:
            steps = step / self._lengths
            states = self._around(steps)
            rates = self._chart_rates(states, (found := self._evaluated(states)).acceleration)
            first, second = _differences(rates, steps)
            unsure = np.abs(first - second).max(initial=0.0) / (np.abs(first).max(initial=0.0) or 1.0)
            if unsure < best:
                best, self.steps, self.states, self.evaluated, self.rates = unsure, steps, states, found, rates
            if unsure < SURE:
                return
        if best > unsure_at:
            raise SimulationError(
                f"{self.owner}: accelerations at t = {self.t:g} s have no derivative that differences could find: they bend"
                f" within {4 * STEPS[-1]:g} rad of the state; a force has a kink there, or the pose is singular",
                time=self.t,
            )

    def _around(self, steps: Array) -> Array:
        d, e = self._directions
        along = np.zeros((2, len(d) + len(e), d.shape[1]))
        along[0, : len(d)], along[1, len(d) :] = d, e
        factors = np.array([k * step for step in steps for k in POINTS])[:, None]
        both = np.repeat(along, len(POINTS), axis=1) * factors
        return self.consistent(displaced(self.mechanism, np.tile(self.x, (len(factors), 1)), *both))

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
        return np.asarray(self._chart_rates(self.x[None], self.centre.acceleration)[0])

    def chart(self) -> Array:
        """(n, .) Y at the states around."""
        r, _, v, w_B = self.bodies(self.states)
        _, _, v_0, w_0 = self.bodies(self.x[None])
        where = np.concatenate([r - self.bodies(self.x[None])[0], self.turned(self.states)], axis=2)
        moved = np.concatenate([v - v_0, w_B - w_0], axis=2)
        return self.in_chart(where, moved)

    def in_chart(self, positions: Array, velocities: Array) -> Array:
        """(n, .) components of (n, nb, 6) displacements and velocities."""
        n, P, V = len(positions), self.positions, self.velocities
        both = positions.reshape(n, -1) @ self.mass @ P, velocities.reshape(n, -1) @ self.mass @ V
        return np.concatenate(both, axis=1)

    def derivative(self, values: Array) -> Array:
        """(m, k) derivative along each direction of the values (n, m) at the states around."""
        return _differences(values, self.steps)[0]

    def moved(self, y: Array) -> Array:
        """x(y)."""
        k = self.positions.shape[1]
        d = self.positions @ y[:k]
        e = self.velocities @ y[k:] if len(y) > k else np.zeros_like(d)
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
                raise SimulationError(
                    f"{self.owner}: a state near this one cannot be assembled; the pose is singular", time=self.t
                )
        return states

    def bodies(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """(n, nb, .) r, R, v, w_B of all bodies."""
        series = self.mechanism.trajectory(np.full(len(x), self.t), x)
        names = self.mechanism.body_names
        r, R, v = (np.stack([f(name) for name in names], axis=1) for f in (series.position, series.rotation, series.velocity))
        return r, R, v, np.stack([series.angular_velocity(name, "body") for name in names], axis=1)

    def turned(self, x: Array) -> Array:
        """(n, nb, 3) log R_0^T R in body axes."""
        R_0, R = self.bodies(self.x[None])[1], self.bodies(x)[1]
        return small_rotation_vectors(np.swapaxes(R_0, 2, 3) @ R)

    def _chart_rates(self, x: Array, acceleration: Array) -> Array:
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
        for rows in (G[~rates_only], G):
            basis = B @ null_space(np.vstack([rows, held]))
            factor = np.linalg.cholesky(basis.T @ self.mass @ basis)
            bases.append(np.linalg.solve(factor, basis.T).T)
        return bases[0], bases[1]

    def _length(self, directions: Array) -> Array:
        """(k,) of (k, 6 nb) twists: the largest rotation, or displacement over the size."""
        each = directions.reshape(len(directions), self.mechanism.nb, 6)
        lengths = np.maximum(np.linalg.norm(each[..., :3], axis=2) / self.size, np.linalg.norm(each[..., 3:], axis=2))
        return np.asarray(lengths.max(axis=1, initial=0.0))

    @cached_property
    def size(self) -> float:
        return size_of(self.mechanism, self.x)


def reference_run(mechanism: Mechanism) -> Run:
    """Projection and accelerations as exact as they get."""
    return Jet(tolerance=CLOSED, velocity_tolerance=CLOSED).prepare(mechanism)


def _differences(values: Array, steps: Array) -> tuple[Array, Array]:
    """(m, k) of values (n, m), by both orders."""
    each = values.reshape(len(steps), len(POINTS), -1)
    first, second = (
        np.einsum("p,kpm->mk", [np.sign(k) * weights[abs(k)] for k in POINTS], each) / steps for weights in (_WEIGHTS, _CHECK)
    )
    return np.asarray(first), np.asarray(second)


def refuse_massless(owner: str, mechanism: Mechanism) -> None:
    """Masses say how much a motion counts."""
    for body in mechanism.model.bodies:
        if not body.mass > 0 or (body.kind == "rigid" and not np.linalg.eigvalsh(body.inertia)[0] > 0):
            raise ModelError(f"{owner}: body {body.name!r} has no mass or moment of inertia; give positive ones")


def displaced(mechanism: Mechanism, x: Array, d: Array, e: Array) -> Array:
    """(n, nx) states moved by (n, 6 nb) displacements (dr, dphi_B) and changes (dv, dw_B) of velocities."""
    x, nq = x.copy(), mechanism.nq
    table = mechanism.I[mechanism.I[T.BODY_I] :][: T.BODY_I_W * (mechanism.nb + 1)].reshape(-1, T.BODY_I_W)[1:]
    for b, (kind, q, u) in enumerate(table):
        u += nq
        dr, turn, dv, dw = (
            d[:, 6 * b : 6 * b + 3],
            d[:, 6 * b + 3 : 6 * b + 6],
            e[:, 6 * b : 6 * b + 3],
            e[:, 6 * b + 3 : 6 * b + 6],
        )
        if kind == T.PLANAR:
            plane = mechanism.plane
            assert plane is not None
            at = int(mechanism.I[T.BODY_F]) + T.BODY_F_W * (b + 1) + T.BF_NORMAL
            normal = mechanism.F[at : at + 3]
            x[:, q : q + 3] += np.column_stack([dr @ plane.e1, dr @ plane.e2, turn @ normal])
            x[:, u : u + 3] += np.column_stack([dv @ plane.e1, dv @ plane.e2, dw @ normal])
            continue
        x[:, q : q + 3] += dr
        x[:, u : u + 3] += dv
        if kind == T.RIGID:
            half = 0.5 * np.linalg.norm(turn, axis=1, keepdims=True)
            s = np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * turn], axis=1)
            x[:, q + 3 : q + 7] = _product(x[:, q + 3 : q + 7], s)
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
