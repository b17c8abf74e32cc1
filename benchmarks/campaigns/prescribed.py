"""Prescribed motions for the oracle: value and two derivatives, times where higher derivatives jump."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline


def value(motion: Any, t: float) -> tuple[float, float, float]:
    """f, f', f'' by the definition in the motion's docstring."""
    match type(motion).__name__:
        case "NoneType":
            return 0.0, 0.0, 0.0
        case "Constant":
            return motion.value, 0.0, 0.0
        case "Polynomial":
            return _polynomial(motion.coefficients, t)
        case "Harmonic":
            a, w, x = motion.amplitude, motion.omega, motion.omega * t + motion.phase
            return motion.offset + a * math.sin(x), a * w * math.cos(x), -a * w * w * math.sin(x)
        case "SmoothStep":
            width = motion.t_stop - motion.t_start
            s = min(max((t - motion.t_start) / width, 0.0), 1.0)
            (p, p1, p2), rise = _polynomial((0, 0, 0, 10, -15, 6), s), motion.stop - motion.start
            return motion.start + rise * p, rise * p1 / width, rise * p2 / width**2
        case "Table":
            spline = _spline(motion.times, motion.values)
            inside = min(max(t, motion.times[0]), motion.times[-1])
            f, f1, f2 = (float(spline(inside, k)) for k in range(3))
            return (f, f1, f2) if inside == t else (f + f1 * (t - inside), f1, 0.0)
    raise TypeError(f"{motion!r} is no motion the oracle knows")


def _polynomial(c: tuple[float, ...], t: float) -> tuple[float, float, float]:
    powers = [t**k for k in range(len(c))]
    f = sum(a * x for a, x in zip(c, powers, strict=True))
    f1 = sum(k * c[k] * powers[k - 1] for k in range(1, len(c)))
    return f, f1, sum(k * (k - 1) * c[k] * powers[k - 2] for k in range(2, len(c)))


_SPLINES: dict[Any, CubicSpline] = {}


def _spline(times: tuple[float, ...], values: tuple[float, ...]) -> CubicSpline:
    if (times, values) not in _SPLINES:
        if len(_SPLINES) > 1000:
            _SPLINES.clear()
        _SPLINES[times, values] = CubicSpline(times, values, bc_type="natural")
    return _SPLINES[times, values]


def values_at(motions: list[Any], t: float) -> Any:
    """(3, B) values, first and second derivatives, of one motion per model."""
    if all(m is None for m in motions):
        return np.zeros((3, len(motions)))
    return np.array([value(m, t) for m in motions]).T


def breakpoints(model: Any) -> set[float]:
    """Times at which a motion of the model is not smooth."""
    motions = [p.motion for j in model.joints for p in j.primitives]
    motions += [d.primitive.motion for d in model.drivers]
    motions += [getattr(f, name) for f in model.forces for name in ("factor", "effort") if hasattr(f, name)]
    times: set[float] = set()
    for motion in motions:
        if type(motion).__name__ == "SmoothStep":
            times |= {motion.t_start, motion.t_stop}
        elif type(motion).__name__ == "Table":
            times |= set(motion.times)
    return times
