"""Which instants a picture shows, and the poses at them.

Saved states are kept where they are about as dense as a screen shows them, thinned where they are denser, and filled
by cubic Hermite interpolation, with the velocities at hand, where they are further apart.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dalembert.solution import Solution
from dalembert.trajectory import Trajectory

Array = npt.NDArray[np.float64]

DENSEST = 100.0  # frames per second
SPARSEST = 50.0
LEAST = 300  # frames of a short run, whatever its length
BUDGET = 1_500_000  # numbers in a page, 4 bytes each


@dataclass(frozen=True)
class Rates:
    """Frames per second: states closer than 1/densest are thinned, those further apart than 1/sparsest are filled."""

    densest: float
    sparsest: float


def rates_of(span: float, numbers_per_frame: int) -> Rates:
    """Rates that show a run of `span` seconds well and keep its page small."""
    span = max(span, 1e-12)
    most = BUDGET / max(numbers_per_frame, 1) / span
    return Rates(min(max(DENSEST, LEAST / span), most), min(max(SPARSEST, LEAST / span), most))


def usable(solution: Solution) -> npt.NDArray[np.intp]:
    """Indices of states that can be drawn: finite, at increasing times."""
    finite = np.isfinite(solution.q).all(axis=1) & np.isfinite(solution.u).all(axis=1)
    later = np.diff(solution.t, prepend=-np.inf) > 0
    return np.flatnonzero(finite & later)


def thinned(t: Array, densest: float) -> npt.NDArray[np.intp]:
    """Indices of at most about `densest` times per second, the first and last among them."""
    if len(t) < 2:
        return np.arange(len(t))
    _, first = np.unique(np.floor((t - t[0]) * densest * (1 + 1e-9)), return_index=True)
    return np.unique(np.append(first, len(t) - 1))


def filled(t: Array, sparsest: float) -> Array:
    """The same times, and evenly spaced ones in gaps longer than 1/sparsest."""
    pieces = np.maximum(1, np.ceil(np.diff(t) * sparsest * (1 - 1e-9))).astype(int)
    starts, steps = np.repeat(t[:-1], pieces), np.repeat(np.diff(t) / pieces, pieces)
    within = np.arange(len(starts)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return np.append(starts + within * steps, t[-1:])


def poses(motion: Trajectory, times: Array) -> Array:
    """(len(times), nb, 7) positions and unit quaternions, scalar last, at times within the motion."""
    values, rates = [], []
    for body in motion.mechanism.body_names:
        q = motion.quaternion(body)
        values += [motion.position(body), q]
        rates += [motion.velocity(body), _quaternion_rates(q, motion.angular_velocity(body, "body"))]
    if not values:
        return np.zeros((len(times), 0, 7))
    y = np.concatenate(values, axis=1)
    if len(times) != len(motion.t):
        from scipy.interpolate import CubicHermiteSpline

        y = np.asarray(CubicHermiteSpline(motion.t, y, np.concatenate(rates, axis=1))(times))
    y = y.reshape(len(times), -1, 7)
    y[:, :, 3:] /= np.linalg.norm(y[:, :, 3:], axis=2, keepdims=True)
    return y[:, :, [0, 1, 2, 4, 5, 6, 3]]


def _quaternion_rates(q: Array, w_B: Array) -> Array:
    """theta' = 1/2 theta (0, w_B)."""
    s, v = q[:, :1], q[:, 1:]
    return 0.5 * np.concatenate([-np.sum(v * w_B, axis=1, keepdims=True), s * w_B + np.cross(v, w_B)], axis=1)


def packed(values: npt.ArrayLike, kind: str = "<f4") -> str:
    """Numbers as base64 text, little-endian: float32 unless said."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")
