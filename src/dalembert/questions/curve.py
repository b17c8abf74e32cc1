"""The curve g(q, t) = 0 of a driven mechanism, by its length: through dead centres, where t turns back, and change points.

With J = [G, g_t] and its null vector (d, d_t), the curve goes on along the latter; corrections are the shortest with
J delta = -g. At a dead centre d_t changes its sign; at a change point two curves cross, J loses rank, and
det [J; (d, d_t)] changes its sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import dense_rows, move
from dalembert.questions.equations import twist_map

_NEWTON = 20
_CLOSED = 1e-13


@dataclass(frozen=True, eq=False)
class Point:
    """On the curve: time, state, and the unit direction (d, d_t) in which it goes on; sign : of det [J; (d, d_t)]."""

    t: float
    x: Array
    direction: Array
    sign: float

    @property
    def rate(self) -> float:
        """dt along the curve."""
        return float(self.direction[-1])


class Curve:
    """length : what a radian is worth [m]"""

    def __init__(self, mechanism: Mechanism, length: float) -> None:
        self.mechanism = mechanism
        self._twists = twist_map(mechanism)
        self._rows = np.array([row.index for row in mechanism.rows if row.index < mechanism.m], dtype=np.int64)
        self._scale = np.ones(self._twists.shape[1] + 1)  # of d and d_t, so that metres and radians count alike
        turning = np.abs(self._twists[np.arange(len(self._twists)) % 6 >= 3]).max(axis=0, initial=0.0) > 0
        self._scale[:-1][~turning] = length
        self._independent: npt.NDArray[np.int64] | None = None

    def point(self, t: float, x: Array, ahead: Array | float) -> Point:
        """The point at a state on the curve; ahead : a direction that goes the same way, or the sign of dt."""
        J, _ = self._extended(t, x)
        direction = np.linalg.svd(J)[2][-1]
        along = direction[-1] * ahead if isinstance(ahead, float) else direction @ ahead
        direction = direction if along >= 0 else -direction
        if self._independent is None:
            from scipy.linalg import qr

            self._independent = np.sort(qr(J.T, mode="economic", pivoting=True)[2][: J.shape[1] - 1])
        sign = float(np.linalg.slogdet(np.vstack([J[self._independent], direction]))[0])
        return Point(t, x, direction, sign)

    def beyond(self, start: Point, distance: float) -> Point | None:
        """The point at a distance along the direction of another, None where Newton's method does not get there."""
        x, t = start.x.copy(), start.t
        step = distance * start.direction
        for _ in range(_NEWTON):
            x, t = self._moved(x, t, step)
            J, g = self._extended(t, x)
            if np.abs(g).max(initial=0.0) <= _CLOSED * max(1.0, float(self._scale.max())):
                return self.point(t, x, start.direction)
            square = np.vstack([J, start.direction])  # across the direction
            step = np.linalg.lstsq(square, np.append(-g, 0.0), rcond=1e-10)[0]
            if not np.abs(step).max() < 0.5:
                return None
        return self.point(t, x, start.direction) if np.abs(g).max() < 1e-10 else None

    def root(self, start: Point, distance: float, quantity: str) -> Point:
        """Where the rate of t, or the sign of the determinant, changes between a point and the one at a distance."""
        low, high, value = 0.0, distance, getattr(start, quantity)
        found = start
        for _ in range(60):
            middle = 0.5 * (low + high)
            at = self.beyond(start, middle)
            if at is None:
                break
            found = at
            if getattr(at, quantity) * value > 0:
                low = middle
            else:
                high = middle
            if high - low < 1e-13 * max(distance, 1e-3):
                break
        return found

    def _moved(self, x: Array, t: float, step: Array) -> tuple[Array, float]:
        scaled, moved = self._scale * step, x.copy()
        d = self._twists @ scaled[:-1]
        move(self.mechanism, moved, d, np.zeros_like(d))
        return moved, t + float(scaled[-1])

    def _extended(self, t: float, x: Array) -> tuple[Array, Array]:
        """J = [G, g_t] in scaled directions and g, rows of unit length."""
        G, g, g_t, _ = (part[self._rows] for part in dense_rows(self.mechanism, t, x))
        J = np.column_stack([G @ self._twists, g_t]) * self._scale
        lengths = np.linalg.norm(J, axis=1)
        lengths[lengths == 0.0] = 1.0
        return J / lengths[:, None], g / lengths
