"""How many instants a page shows, the poses at them, and numbers as text."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.trajectory import Trajectory

USUAL = 50.0  # frames per second
LEAST = 300  # frames of a short run, whatever its length
BUDGET = 900_000  # numbers in a page, 4 bytes each: below 6 MB as text


@dataclass(frozen=True)
class Rates:
    """Frames per second: where nothing bends, and at most. States twice as dense as needed are thinned."""

    usual: float
    most: float


def rates_of(span: float, numbers_per_frame: int) -> Rates:
    """Rates that show a run of `span` seconds well and keep its page small."""
    span = max(span, 1e-12)
    most = 0.5 * BUDGET / max(numbers_per_frame, 1) / span
    return Rates(min(max(USUAL, LEAST / span), most), most)


def poses(motion: Trajectory, times: Array) -> Array:
    """(len(times), bodies and markers, 7) positions and unit quaternions, scalar last, at times within the motion.

    Between its states by cubic Hermite interpolation, with the velocities at hand.
    """
    values, rates = [], []
    model = motion.mechanism.model
    for name, body in (*((b.name, b.name) for b in model.bodies), *((m.name, m.body) for m in model.markers)):
        q = _continuous(motion.quaternion(body))
        values += [motion.position(name), q]
        rates += [motion.velocity(name), _quaternion_rates(q, motion.angular_velocity(body, "body"))]
    if not values:
        return np.zeros((len(times), 0, 7))
    y = np.concatenate(values, axis=1)
    if not np.array_equal(times, motion.t):
        from scipy.interpolate import CubicHermiteSpline

        y = np.asarray(CubicHermiteSpline(motion.t, y, np.concatenate(rates, axis=1))(times))
    y = y.reshape(len(times), -1, 7)
    y[:, :, 3:] /= np.linalg.norm(y[:, :, 3:], axis=2, keepdims=True)
    return y[:, :, [0, 1, 2, 4, 5, 6, 3]]


def _continuous(q: Array) -> Array:
    """Of q and -q, which are the same rotation, the one that is nearer to the quaternion before."""
    flips = np.where(np.sum(q[1:] * q[:-1], axis=1) < 0, -1.0, 1.0)
    return np.concatenate([q[:1], q[1:] * np.cumprod(flips)[:, None]])


def _quaternion_rates(q: Array, w_B: Array) -> Array:
    """theta' = 1/2 theta (0, w_B)."""
    s, v = q[:, :1], q[:, 1:]
    return 0.5 * np.concatenate([-np.sum(v * w_B, axis=1, keepdims=True), s * w_B + np.cross(v, w_B)], axis=1)


def packed(values: npt.ArrayLike, kind: str = "<f4") -> str:
    """Numbers as base64 text, little-endian: float32 unless said."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")
