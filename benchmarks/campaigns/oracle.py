"""An independent solution of a model: dense, plain NumPy, no code of the library; many models of one structure at once.

Unknowns are world velocities and world angular velocities of all bodies. Each joint writes its residual and the rate of it by
hand (`joint_rows`); columns of the Jacobian are rates at unit velocities, its bias is the complex-step derivative of the rate
along the motion. Accelerations and multipliers come from the full KKT matrix of rows chosen by a pivoted QR; time advances by
SciPy's DOP853 between the breakpoints of prescribed motions. Of the model only declared data are read.

Arrays are component first: r (3, ..., B), R (3, 3, ..., B) with B models last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.integrate
import scipy.linalg

from benchmarks.campaigns.applied import forces_of
from benchmarks.campaigns.joint_rows import Group, View, cross, dot, matvec, rows_of
from benchmarks.campaigns.prescribed import breakpoints, values_at

TINY = 1e-30  # complex step
MOST_EVALUATIONS = 900
DEPENDENT = 1e-9  # pivots of QR below this share of the largest are dependent rows


class Unsuitable(Exception):
    """These models are no good case: immobile, of different rank, or near a singular pose."""


class Violent(Unsuitable):
    """One model, `member`, takes too many steps: it comes near a singular pose."""

    def __init__(self, member: int) -> None:
        super().__init__(f"member {member} takes too many steps")
        self.member = member


@dataclass
class State:
    """r, v, w : (3, n, B), world axes;  theta : (4, n, B) scalar first"""

    r: Any
    theta: Any
    v: Any
    w: Any

    def flat(self) -> Any:
        return np.concatenate([np.ravel(part) for part in (self.r, self.theta, self.v, self.w)])

    @classmethod
    def of(cls, y: Any, n: int, B: int) -> State:
        parts = np.split(y, np.cumsum([3 * n * B, 4 * n * B, 3 * n * B]))
        return cls(*(part.reshape(-1, n, B) for part in parts))


def rotation(theta: Any) -> Any:
    """(3, 3, ...) body -> world by a quaternion of any length."""
    a, b, c, d = theta / np.sqrt((theta * theta).sum(axis=0))
    return np.array(
        [
            [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
            [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
            [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
        ]
    )


def turned(w: Any, R: Any) -> Any:
    """dR/dt = w x R, column by column."""
    return np.stack([cross(w, R[:, k]) for k in range(3)], axis=1)


class Oracle:
    """Models of one structure: same bodies, joints, forces in the same order; numbers differ."""

    def __init__(self, models: list[Any], *, drivers: bool = True) -> None:
        first = models[0]
        self.names = [b.name for b in first.bodies]
        self.index = {name: k for k, name in enumerate(self.names)}
        self.n, self.B = len(self.names), len(models)
        self.size = sum(6 if b.kind == "rigid" else 3 for b in first.bodies)  # a point's rotation stands still
        bodies = [[m.bodies[k] for m in models] for k in range(self.n)]
        self.mass = np.array([[b.mass for b in same] for same in bodies])
        inertia = [[b.inertia if b.kind == "rigid" else np.eye(3) for b in same] for same in bodies]
        self.inertia = np.moveaxis(np.array(inertia), (0, 1), (2, 3))
        self.gravity = np.array([m.gravity for m in models]).T
        self.start = State(
            *(
                np.moveaxis(np.array([[getattr(b, name) for b in same] for same in bodies], dtype=float), 2, 0)
                for name in ("position", "rotation", "velocity", "angular_velocity")
            )
        )
        self.rows: list[Group] = rows_of(models, drivers=drivers)
        self.forces = forces_of(models)
        self.breaks = sorted({t for m in models for t in breakpoints(m)})

    def view(self, name: str, s: State, R: Any) -> View:
        if name not in self.index:
            zero = np.zeros((3, self.B))
            return View(zero, np.broadcast_to(np.eye(3)[:, :, None], (3, 3, self.B)), zero, zero)
        k = self.index[name]
        return View(s.r[:, k], R[:, :, k], s.v[:, k], s.w[:, k])

    def views(self, names: list[str], s: State, R: Any) -> View:
        """Several bodies, one after the other on the axis before the last; the ground is the last entry."""
        k = [self.index.get(name, self.n) for name in names]
        r, v, w = (np.concatenate([x, np.zeros((3, 1, self.B))], axis=1)[:, k] for x in (s.r, s.v, s.w))
        ground = np.broadcast_to(np.eye(3)[:, :, None, None], (3, 3, 1, self.B))
        return View(r, np.concatenate([R, ground], axis=2)[:, :, k], v, w)

    def residual(self, t: float, s: State) -> Any:
        """(rows of positions, B)"""
        R, found = rotation(s.theta), [np.zeros((0, self.B))]
        for rows in self.rows:
            f = np.stack([values_at(m, t) for m in rows.motions], axis=1)
            found += rows.position(self.views(rows.first, s, R), self.views(rows.second, s, R), f[0], t)
        return np.concatenate(found)

    def velocity_rows(self, t: float, s: State) -> tuple[Any, Any, Any]:
        """A (rows, 6 n, B), b and zeta (rows, B): rates A u + b, their derivative A u' + zeta."""
        n, B, R = self.n, self.B, rotation(s.theta)
        units = np.zeros((2, 6, 13, 1, 1))  # (v, w) of both bodies in column k, none in the last
        units[0, range(6), range(6)] = 1.0
        units[1, range(6), range(6, 12)] = 1.0
        blocks, biases, zetas = [np.zeros((0, 6 * n, B))], [np.zeros((0, B))], [np.zeros((0, B))]
        for rows in self.rows:
            P, ends = len(rows.first), [self.views(names, s, R) for names in (rows.first, rows.second)]
            f, f1, f2 = np.stack([values_at(m, t) for m in rows.motions], axis=1)
            still = [View(e.r[:, None], e.R[:, :, None], u[:3], u[3:]) for e, u in zip(ends, units, strict=True)]
            moved = [View(e.r + 1j * TINY * e.v, e.R + 1j * TINY * turned(e.w, e.R), e.v, e.w) for e in ends]
            bends = rows.rate(*moved, f + 1j * TINY * f1, f1 + 1j * TINY * f2, t + 1j * TINY)
            for x, bend in zip(rows.rate(*still, f, f1, t), bends, strict=True):
                rates = np.broadcast_to(x, (13, P, B))
                A = np.zeros((P, n + 1, 6, B))  # the last place is for the ground
                for names, columns in ((rows.first, slice(0, 6)), (rows.second, slice(6, 12))):
                    k = [self.index.get(name, n) for name in names]
                    A[range(P), k] += np.moveaxis(rates[columns] - rates[12:], 0, 1)
                blocks.append(A[:, :n].reshape(P, 6 * n, B))
                biases.append(rates[12])
                zetas.append(np.broadcast_to(np.imag(bend) / TINY, (P, B)))
        return np.concatenate(blocks), np.concatenate(biases), np.concatenate(zetas)

    def independent(self, A: Any) -> Any:
        """(rank, B) indices of independent rows."""
        chosen = []
        for k in range(self.B):
            _, upper, order = scipy.linalg.qr(A[:, :, k].T, mode="economic", pivoting=True)
            size = np.abs(np.diag(upper))
            chosen.append(order[: int((size > DEPENDENT * size[0]).sum())] if len(size) else order)
        if len({len(c) for c in chosen}) > 1:
            raise Unsuitable("ranks differ")
        return np.array(chosen).T.reshape(-1, self.B)

    def conditioning(self, t: float, s: State) -> tuple[int, Any]:
        """Degrees of freedom, and per model the smallest singular value of the rank over the largest (rows of length 1)."""
        A, _, _ = self.velocity_rows(t, s)
        if not len(A):
            return self.size, np.ones(self.B)
        rank = len(self.independent(A))
        values = [np.linalg.svd(A[:, :, k], compute_uv=False) for k in range(self.B)]
        return self.size - rank, np.array([v[rank - 1] / v[0] for v in values])

    def consistent(self, s: State) -> State:
        """The nearest velocities that obey the rows at t = 0."""
        A, b, _ = self.velocity_rows(0.0, s)
        v, w = s.v.copy(), s.w.copy()
        for k in range(self.B):
            u = np.concatenate([v[:, :, k], w[:, :, k]]).T.ravel()
            u -= np.linalg.lstsq(A[:, :, k], A[:, :, k] @ u + b[:, k], rcond=1e-9)[0]
            v[:, :, k], w[:, :, k] = u.reshape(self.n, 6).T.reshape(2, 3, self.n)
        return State(s.r, s.theta, v, w)

    def accelerations(self, t: float, s: State, chosen: Any) -> Any:
        """(6 n, B) of (r'', w') by the KKT matrix of the chosen rows."""
        n, B, R = self.n, self.B, rotation(s.theta)
        A, _, zeta = self.velocity_rows(t, s)
        A = np.take_along_axis(A, chosen[:, None, :], axis=0)
        zeta = np.take_along_axis(zeta, chosen, axis=0)
        m = len(A)
        K, h = np.zeros((B, 6 * n + m, 6 * n + m)), np.zeros((B, 6 * n + m))
        wrench = np.zeros((6, n, B))
        wrench[:3] = self.gravity[:, None] * self.mass
        for force in self.forces:
            ends = [self.view(name, s, R) for name in (force.first, force.second)]
            for name, F, x, torque in force.loads(*ends, t):
                if name in self.index:
                    k = self.index[name]
                    wrench[:3, k] += F
                    wrench[3:, k] += torque + cross(x - s.r[:, k], F)
        J = np.einsum("ijnb,jknb,lknb->ilnb", R, self.inertia, R)
        wrench[3:] -= cross(s.w, matvec(J, s.w))
        for k in range(n):
            at = 6 * k
            K[:, range(at, at + 3), range(at, at + 3)] = self.mass[k][:, None]
            K[:, at + 3 : at + 6, at + 3 : at + 6] = np.moveaxis(J[:, :, k], 2, 0)
            h[:, at : at + 6] = wrench[:, k].T
        K[:, 6 * n :, : 6 * n] = np.moveaxis(A, 2, 0)
        K[:, : 6 * n, 6 * n :] = -np.moveaxis(A, 2, 0).transpose(0, 2, 1)
        h[:, 6 * n :] = -zeta.T
        return np.linalg.solve(K, h[:, :, None])[:, : 6 * n, 0].T

    def rates(self, t: float, y: Any, chosen: Any) -> Any:
        s = State.of(y, self.n, self.B)
        a = self.accelerations(t, s, chosen).reshape(self.n, 6, self.B).transpose(1, 0, 2)
        w, scalar, axis = s.w, s.theta[0], s.theta[1:]
        theta = 0.5 * np.concatenate([-dot(w, axis)[None], scalar * w + cross(w, axis)])  # theta' = 1/2 (0, w) theta
        return State(s.v, theta, a[:3], a[3:]).flat()

    def run(self, t_end: float, tolerance: float = 1e-11, start: State | None = None) -> tuple[State, float]:
        """The state at t_end, and the largest residual of positions and rates that is left."""
        s, t = self.start if start is None else start, 0.0
        stops = (*(x for x in self.breaks if 0.0 < x < t_end), t_end)
        for stop in stops:
            chosen = self.independent(self.velocity_rows(t, s)[0])
            used, most = 0, MOST_EVALUATIONS // len(stops)

            def rates(t: float, y: Any, chosen: Any = chosen, most: int = most) -> Any:
                nonlocal used
                used += 1
                f = self.rates(t, y, chosen)
                if used > most:
                    raise Violent(int(np.argmax(np.abs(f.reshape(-1, self.B)).max(axis=0))))
                return f

            run = scipy.integrate.DOP853(rates, t, s.flat(), stop, rtol=tolerance, atol=tolerance)
            while run.status == "running":
                run.step()
            if run.status == "failed":
                raise Unsuitable("the oracle's step became too small")
            s, t = State.of(run.y, self.n, self.B), stop
        A, b, _ = self.velocity_rows(t, s)
        u = np.concatenate([s.v, s.w]).transpose(1, 0, 2).reshape(6 * self.n, self.B)
        left = np.abs(np.concatenate([self.residual(t, s), np.einsum("ijb,jb->ib", A, u) + b]))
        return s, float(left.max(initial=0.0))
