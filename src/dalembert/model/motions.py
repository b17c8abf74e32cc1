"""Prescribed functions of time with exact first and second derivatives: drivers, motors, force factors."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from dalembert.errors import ModelError
from dalembert.model.validation import number, several, shown


def _check_numbers(motion: Motion) -> None:
    """Turn every field of a motion into finite Python floats, or tuples of them."""
    owner = type(motion).__name__
    for item in fields(motion):
        value = getattr(motion, item.name)
        if item.type == "float":
            checked: float | tuple[float, ...] = number(owner, item.name, value)
        else:
            length = len(value) if hasattr(value, "__len__") else 0
            entries = several(owner, item.name, value, (max(length, 1),), "at least one number")
            checked = tuple(number(owner, f"{item.name}[{k}]", entry) for k, entry in enumerate(entries))
        object.__setattr__(motion, item.name, checked)


@dataclass(frozen=True)
class Constant:
    """f(t) = value"""

    value: float

    def __post_init__(self) -> None:
        _check_numbers(self)


@dataclass(frozen=True)
class Polynomial:
    """f(t) = c0 + c1 t + c2 t^2 + ...;  coefficients in rising order"""

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_numbers(self)


@dataclass(frozen=True)
class Harmonic:
    """f(t) = offset + amplitude sin(frequency t + phase);  frequency in rad/s"""

    amplitude: float
    frequency: float
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        _check_numbers(self)


@dataclass(frozen=True)
class SmoothStep:
    """From `start` to `stop` between t_start and t_stop by 10 s^3 - 15 s^4 + 6 s^5: f, f', f'' are continuous."""

    start: float
    stop: float
    t_start: float
    t_stop: float

    def __post_init__(self) -> None:
        _check_numbers(self)
        if not self.t_stop > self.t_start:
            raise ModelError(f"SmoothStep: t_stop is {self.t_stop:g}; give a time after t_start = {self.t_start:g}")


@dataclass(frozen=True)
class Table:
    """Natural cubic spline through (times, values); outside the table it goes on with the end slope."""

    times: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_numbers(self)
        if len(self.times) != len(self.values) or len(self.times) < 2:
            raise ModelError(f"Table: {len(self.times)} times and {len(self.values)} values; give as many of each, at least 2")
        for k, (before, after) in enumerate(zip(self.times, self.times[1:], strict=False)):
            if not after > before:
                raise ModelError(f"Table: times[{k + 1}] = {after:g} after {before:g}; give strictly increasing times")


Motion = Constant | Polynomial | Harmonic | SmoothStep | Table


def as_motion(owner: str, label: str, value: object) -> Motion:
    """A motion, or a number, which is a constant motion."""
    if isinstance(value, Motion):
        return value
    if isinstance(value, int | float | np.integer | np.floating):
        return Constant(number(owner, label, value))
    raise ModelError(f"{owner}: {label} is {shown(value)}; give a number, Constant, Polynomial, Harmonic, SmoothStep or Table")


def lower_bound(motion: Motion) -> float:
    """A value that a length prescribed by `motion` starts from, or never falls below: used to refuse lengths <= 0."""
    match motion:
        case Constant(value):
            return value
        case Polynomial(coefficients):
            return coefficients[0]
        case Harmonic(amplitude, _, _, offset):
            return offset - abs(amplitude)
        case SmoothStep(start, stop):
            return min(start, stop)
        case Table():
            return min(motion.values)


def vanishes(motion: Motion, t_end: float) -> float | None:
    """When a length prescribed by `motion` first reaches zero within a run, None if it does not."""
    match motion:
        case Polynomial(coefficients):
            roots = np.roots(coefficients[::-1])
            times = roots[np.abs(roots.imag) < 1e-9 * np.abs(roots).max(initial=1.0)].real
        case Table():
            from scipy.interpolate import CubicSpline

            times = CubicSpline(motion.times, motion.values, bc_type="natural").roots(extrapolate=False)
        case _:
            return None  # `lower_bound` is theirs for all times
    times = times[(times >= 0.0) & (times <= t_end)]
    return float(times.min()) if times.size else None
