"""Functions that a user might write, for library and oracle alike: of components, so that arrays of models go through them."""

from __future__ import annotations

from typing import Any

import numpy as np


def gust(t: Any, r: Any, v: Any, R: Any, w: Any) -> Any:
    """A force that depends on everything."""
    return np.sin(3.0 * t) - 0.2 * v[0], 0.5 * R[0, 1] - 0.1 * v[1], 0.1 * w[1] - 0.4 * r[2]


def stir(t: Any) -> Any:
    """A torque of time alone."""
    return 0.3 * np.cos(4.0 * t), 0.2 * t, -0.1


def drifting(b: Any, t: Any) -> Any:
    """One nonholonomic row that depends on time."""
    return b.v[0] - 0.4 * b.r[1] * b.w[2] + 0.3 * np.sin(2.0 * t)


def geared(a: Any, b: Any, t: Any) -> Any:
    """A nonholonomic row between two bodies."""
    return a.w[2] - 0.5 * b.w[1] + 0.2 * (a.r[0] - b.r[0]) * b.v[1]


def wave(b: Any, t: Any) -> Any:
    """The centre of mass on a moving surface."""
    return b.r[2] - 0.2 * np.sin(2.0 * b.r[0] - 3.0 * t)


def wave_rate(b: Any, t: Any) -> Any:
    return b.v[2] - 0.2 * np.cos(2.0 * b.r[0] - 3.0 * t) * (2.0 * b.v[0] - 3.0)


wave.rate = wave_rate  # type: ignore[attr-defined]
