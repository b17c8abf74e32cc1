"""Assembly of many models of one structure at once, where every body is placed as its joints want it.

Positions stay, velocities are completed as in `assembly.py`. A model that needs more is left to that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.assembly import POSITION_TOLERANCE, VELOCITY_TOLERANCE, rows_for
from dalembert.compilation.at_state import RowsAtState
from dalembert.compilation.flatten import FlatModel
from dalembert.compilation.least_change import least_change
from dalembert.compilation.pack import Packed
from dalembert.compilation.rank import dependent_rows, diagonals, far_from_dependent, longest_arms, unit
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records
from dalembert.model.assembly import ROUNDING

Mask = npt.NDArray[np.bool_]


class Fitting:
    """flat, packed : of one of the models, with `quick`"""

    def __init__(self, flat: FlatModel, packed: Packed) -> None:
        assert isinstance(packed.quick, RowsAtState)
        I = packed.I
        self._I, self._at, self._t = I, packed.quick, packed.t_0
        self._positions, self._velocities = rows_for(packed)
        self._movable = np.repeat([not body.fixed for body in flat.bodies], 6)
        untold = np.repeat([not given for body in flat.bodies for given in body.given], 3) & self._movable
        self._free = untold if untold.any() else self._movable
        table = records(I, I, T.BODY_I)[1:].tolist()
        self._places = np.array([[q, q + 1, q + 2] for _, q, _ in table])
        self._turns = np.array([[q + 3, q + 4, q + 5, q + 6] for kind, q, _ in table if kind == T.RIGID], dtype=np.int64)
        own = [(I[T.NQ] + u + k, 6 * b + k) for b, (kind, _, u) in enumerate(table) for k in range(6 if kind == T.RIGID else 3)]
        self._u, self._of_u = np.array(own, dtype=np.int64).T
        self.counters = int(I[T.NANGLE])
        self._chosen: npt.NDArray[np.int64] | None = None

    def __call__(self, F: Array, x: Array) -> tuple[Mask, Array, Array, Array]:
        """Which of (runs, ..) tables and states fit, the states with joint angles and velocities, unit rows of the constraints,
        and (runs, bodies, 2) by how much velocities and angular velocities changed, 0 for rounding."""
        I, x = self._I, x.copy()
        angles = slice(I[T.NX] - I[T.NANGLE], None)
        if I[T.NANGLE]:
            x[:, angles] = self._at.many(F, self._t, x).angles
        rows = self._at.many(F, self._t, x)
        G, g, g_t, old = rows.G, rows.g, rows.g_t, rows.twist
        arm, far = longest_arms(I, F)
        far = np.maximum(far, np.abs(x[:, self._places]).max(axis=(1, 2), initial=0.0))
        metres = np.minimum(1.0, np.maximum(arm, 1e-3 * far))[:, None]
        turn = np.tile(np.hstack([np.repeat(metres, 3, axis=1), np.ones((len(F), 3))]), int(I[T.NB]))
        sizes = np.clip(np.linalg.norm(G * turn[:, None], axis=2), metres, 1.0)
        at, near = self._positions, POSITION_TOLERANCE * np.maximum(1.0, far)[:, None]
        fits = np.isfinite(G.sum(axis=(1, 2)) + g.sum(axis=1) + g_t.sum(axis=1))
        fits &= (np.abs(g[:, at]) <= near * sizes[:, at]).all(axis=1)

        pace = 1.0 + (np.abs(old) / turn).max(axis=1, initial=0.0)[:, None]
        at = self._velocities
        G_v, g_v, small = G[:, at], g_t[:, at], VELOCITY_TOLERANCE * pace * sizes[:, at]
        mass = diagonals(self.masses(F)).reshape(len(F), -1) ** -0.5 * self._movable
        scale = mass * self._free
        twist = old.copy()
        r = (G_v @ twist[:, :, None])[:, :, 0] + g_v
        off = fits & (np.abs(r) > small).any(axis=1)
        if off.any():
            if self._chosen is None:  # rows that imply the others, which must hold by themselves then
                A = G_v[off][0] * scale[off][0]
                self._chosen = np.setdiff1d(np.arange(len(A)), dependent_rows(A, range(len(A))))
            G_c, g_c, s = G_v[off][:, self._chosen], g_v[off][:, self._chosen], scale[off]
            A, length = unit(G_c * s[:, None])
            A_T = np.ascontiguousarray(np.swapaxes(A, 1, 2))
            gram = A @ A_T
            healthy = far_from_dependent(gram)
            gram[~healthy] = np.eye(gram.shape[1])
            u = twist[off]
            for _ in range(2):  # the second takes back what squaring the rows has cost
                z = np.linalg.solve(gram, ((G_c @ u[:, :, None])[:, :, 0] + g_c)[:, :, None] / length[:, :, None])
                u -= s * (A_T @ z)[:, :, 0]
            twist[off] = u
            r = (G_v @ twist[:, :, None])[:, :, 0] + g_v
            off[off] = ~healthy
            for k in np.flatnonzero(off | (fits & (np.abs(r) > small).any(axis=1))):  # velocities that were given must change
                twist[k], r[k] = self._mended(G_v[k], g_v[k], old[k], mass[k], small[k] / VELOCITY_TOLERANCE)
        fits &= (np.abs(r) <= small).all(axis=1)
        x[:, self._u] = twist[:, self._of_u]
        change, before = ((v.reshape(len(F), -1, 2, 3) ** 2).sum(axis=3) ** 0.5 for v in (twist - old, old))
        weigh = np.stack([metres, np.ones_like(metres)], axis=2)
        change[change / weigh <= ROUNDING * (1.0 + (before / weigh).sum(axis=2, keepdims=True))] = 0.0
        return fits, x, G, change

    def _mended(self, G: Array, g_t: Array, u: Array, scale: Array, sizes: Array) -> tuple[Array, Array]:
        """Velocities of one model, and what they leave of its rows."""
        A = G * scale / sizes[:, None]
        for _ in range(3):
            r = G @ u + g_t
            if (np.abs(r) <= VELOCITY_TOLERANCE * sizes).all():
                break
            u = u - scale * least_change(A, r / sizes, self._free)
        return u, G @ u + g_t

    def masses(self, F: Array) -> Any:
        """(runs, bodies) records of masses and inertias, and their inverses."""
        return records(self._I, F, T.MASS_F)[:, 1:]

    def motion(self, x: Array) -> tuple[Array, Array, Array]:
        """(runs, bodies, 3) positions, velocities, angular velocities in body axes."""
        twist = np.zeros((len(x), len(self._movable)))
        twist[:, self._of_u] = x[:, self._u]
        parts = twist.reshape(len(x), -1, 2, 3)
        return x[:, self._places], parts[:, :, 0], parts[:, :, 1]

    def turns(self, x: Array) -> Array:
        """(runs, rigid bodies, 4) quaternions."""
        return x[:, self._turns]


def independent(I: npt.NDArray[np.int64], F: Array, G: Array) -> Mask:
    """Whether rows are so far from dependent that they are independent, as `rank.analyse` sees it."""
    arm = longest_arms(I, F)[0][:, None]
    radians = np.tile(np.hstack([np.repeat(arm, 3, axis=1), np.ones((len(F), 3))]), int(I[T.NB]))
    A, _ = unit(G[:, : I[T.M]] * radians[:, None])
    return far_from_dependent(A @ np.swapaxes(A, 1, 2))
