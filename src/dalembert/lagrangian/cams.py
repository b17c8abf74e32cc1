"""A cam that a flat or a roller always touches, as a traced row. The first body carries the cam, the second the follower.

    flat     g = m . (x_j - x_i) - f(psi)      m the normal of the flat, away from the cam (R_j a_j);  psi the angle of m
    roller   g = |e| - f(psi)                  e = x_j - x_i normal to the axis, x_j the roller's centre;  psi the angle of e

psi is counted on the cam, about its axis n_i from a_i. f is the support function of the cam for a flat, the pitch curve (path
of the roller's centre) for a roller: a function of a user, or a Fourier series

    f = c_0 + sum_k (c_k cos k psi + s_k sin k psi)      numbers: c_0, c_1, s_1, ..., then what it was laid through

The multiplier is the force along grad g: where it is negative, the follower lifts off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dalembert.lagrangian.laws import Data, TracedBody, cross
from dalembert.lagrangian.tracer import trace

FLAT, ROLLER = "cam flat", "cam roller"


def _measured(law: str, d: Data, bodies: Sequence[TracedBody]) -> tuple[Any, Any, Any]:
    """Distance, and the components of what it is measured along on the cam, along a_i and n_i x a_i."""
    cam, follower = bodies
    e = follower.point(d.p_j) - cam.point(d.p_i)
    m = cam.R.T @ (follower.direction(d.a_j) if law == FLAT else e)
    x, y = d.a_i @ m, cross(d.n_i, d.a_i) @ m
    return follower.direction(d.a_j) @ e if law == FLAT else (x * x + y * y) ** 0.5, x, y


def written_cam(owner: str, function: Any, law: str, d: Data, bodies: Sequence[TracedBody]) -> list[Any]:
    """g with a user's f(psi)."""
    distance, x, y = _measured(law, d, bodies)
    psi = np.arctan2(y, x)

    def called(t: Any) -> Any:
        return function(psi)

    (f,) = trace(owner, called, {"t": psi}, psi.graph, function)
    return [distance - f]


def tabulated_cam(law: str) -> Callable[[Sequence[str], Data, Sequence[TracedBody]], list[Any]]:
    """g with a Fourier series."""

    def cam(parts: Sequence[str], d: Data, bodies: Sequence[TracedBody]) -> list[Any]:
        distance, x, y = _measured(law, d, bodies)
        r = (x * x + y * y) ** 0.5
        c_1, s_1 = x / r, y / r
        f, c, s = d.numbers[0], c_1, s_1
        for k in range(1, len(d.numbers) - len(d.numbers) // 2, 2):
            f = f + d.numbers[k] * c + d.numbers[k + 1] * s
            c, s = c * c_1 - s * s_1, s * c_1 + c * s_1
        return [distance - f]

    return cam
