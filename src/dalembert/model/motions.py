"""Prescribed functions of time with exact first and second derivatives: drivers, motors, force factors.

Motions add and multiply: `2 * Harmonic(...) + Polynomial(...)`. A function of t is traced, so that its rates are exact, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.validation import by_name, count, is_number, number, several, shown

_MOST_TERMS = 1000  # of a product of sums


class _Arithmetic:
    """Sums and products with other motions, numbers and functions of t."""

    __array_ufunc__ = None  # a NumPy number leaves its product with a motion to the motion

    def __add__(self, other: object) -> Sum:
        return Sum((*_parts_of(self, Sum), *_parts_of(other, Sum)))

    def __radd__(self, other: object) -> Sum:
        return Sum((*_parts_of(other, Sum), *_parts_of(self, Sum)))

    def __mul__(self, other: object) -> Product:
        return Product((*_parts_of(self, Product), *_parts_of(other, Product)))

    def __rmul__(self, other: object) -> Product:
        return Product((*_parts_of(other, Product), *_parts_of(self, Product)))

    def __neg__(self) -> Product:
        return -1.0 * self

    def __sub__(self, other: object) -> Sum:
        return self + -1.0 * as_motion("a sum of motions", "its part", other)

    def __rsub__(self, other: object) -> Sum:
        return other + -self


def _parts_of(value: object, kind: type[Sum] | type[Product]) -> tuple[Motion, ...]:
    return value.parts if isinstance(value, kind) else (as_motion(f"a {kind.__name__.lower()} of motions", "its part", value),)


def _check_numbers(motion: Motion) -> None:
    """Turn every number of a motion into finite Python floats, or tuples of them."""
    owner = type(motion).__name__
    for item in fields(motion):
        value = getattr(motion, item.name)
        if item.type == "bool":
            if not isinstance(value, bool):
                raise ModelError(f"{owner}: {item.name} is {shown(value)}; give True or False")
            continue
        if item.type == "float":
            checked: float | tuple[float, ...] = number(owner, item.name, value)
        else:
            speed = is_number(value) and item.name == "coefficients"
            wanted = f"a sequence, as (0, {shown(value)}) for a speed" if speed else "at least one number"
            entries = several(owner, item.name, value, (max(count(value), 1),), wanted)
            checked = tuple(number(owner, f"{item.name}[{k}]", entry) for k, entry in enumerate(entries))
        object.__setattr__(motion, item.name, checked)


class _OfNumbers(_Arithmetic):
    def __post_init__(self: Any) -> None:
        _check_numbers(self)


@dataclass(frozen=True)
class Constant(_OfNumbers):
    """f(t) = value"""

    value: float


@dataclass(frozen=True)
class Polynomial(_OfNumbers):
    """f(t) = c0 + c1 t + c2 t^2 + ...

    coefficients : c0, c1, ... in rising order: the value at t = 0 [rad or m], its rate [rad/s or m/s], ...
    """

    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class Harmonic(_OfNumbers):
    """f(t) = offset + amplitude sin(omega t + phase)

    amplitude, offset : [rad], of a length [m];  phase : [rad]
    omega : 2 pi times the frequency in Hz [rad/s]
    """

    amplitude: float
    omega: float
    phase: float = 0.0
    offset: float = 0.0


@dataclass(frozen=True)
class SmoothStep(_OfNumbers):
    """From `start` to `stop` between t_start and t_stop by 10 s^3 - 15 s^4 + 6 s^5: f, f', f'' are continuous.

    start, stop : values [rad], of a length [m];  t_start, t_stop : times [s]
    """

    start: float
    stop: float
    t_start: float
    t_stop: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.t_stop > self.t_start:
            raise ModelError(f"SmoothStep: t_stop is {self.t_stop:g}; give a time after t_start = {self.t_start:g}")


@dataclass(frozen=True)
class Table(_OfNumbers):
    """Cubic spline through (times, values), f, f' and f'' continuous everywhere.

    A natural spline, which goes on with its end slopes outside the table; with `clamp` it begins and ends with f' = f'' = 0
    and holds its end values outside; with `periodic` it repeats, and its last value must be its first. With `monotone`, for
    loads, it rises and falls with its values and never goes beyond them, and f'' jumps from piece to piece.
    """

    times: tuple[float, ...]
    values: tuple[float, ...]
    periodic: bool = False
    clamp: bool = False
    monotone: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.times) != len(self.values) or len(self.times) < 2:
            raise ModelError(f"Table: {len(self.times)} times and {len(self.values)} values; give as many of each, at least 2")
        for k, (before, after) in enumerate(zip(self.times, self.times[1:], strict=False)):
            if not after > before:
                raise ModelError(f"Table: times[{k + 1}] = {after:g} after {before:g}; give strictly increasing times")
        if self.periodic and self.clamp:
            raise ModelError("Table: periodic and clamp are both True; outside the table it can repeat or hold, not both")
        if self.periodic and self.values[0] != self.values[-1]:
            first, last = self.values[0], self.values[-1]
            raise ModelError(f"Table: periodic, but values begin with {first:g} and end with {last:g}; give the same number")

    def spline(self) -> tuple[Array, Array]:
        """Knots (n + 1,) and coefficients (n, 4) of the pieces, in rising order."""
        from scipy.interpolate import CubicSpline, PPoly, make_interp_spline

        x, y = np.array(self.times), np.array(self.values)
        if self.monotone:
            return self._monotone(x, y)
        if not self.clamp:
            made: Any = CubicSpline(x, y, bc_type="periodic" if self.periodic else "natural")
            return x, np.array(made.c[::-1].T)
        # two more knots, so that two more conditions can be met
        more = [0.5 * (x[0] + x[1]), 0.5 * (x[-2] + x[-1])] if len(x) > 2 else [(2 * x[0] + x[1]) / 3, (x[0] + 2 * x[1]) / 3]
        knots = np.concatenate([[x[0]] * 4, np.sort([*x[1:-1], *more]), [x[-1]] * 4])
        at_rest = [(1, 0.0), (2, 0.0)]
        made = PPoly.from_spline(make_interp_spline(x, y, k=3, t=knots, bc_type=(at_rest, at_rest)))
        pieces = np.diff(made.x) > 0
        coefficients = np.vstack([made.c[::-1, pieces].T, [y[-1], 0.0, 0.0, 0.0]])  # a last piece at rest: held to the bit
        coefficients[0, :3] = y[0], 0.0, 0.0
        return np.concatenate([made.x[:-1][pieces], [x[-1], 2 * x[-1] - x[-2]]]), coefficients

    def _monotone(self, x: Array, y: Array) -> tuple[Array, Array]:
        """The same by slopes of Fritsch and Carlson, SIAM J. Numer. Anal. 17 (1980) 238, at rest at the ends with `clamp`."""
        from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

        turn = x[-1] - x[0]
        around = [x[:-1] - turn, x, x[1:] + turn] if self.periodic else [x]
        slopes = PchipInterpolator(np.concatenate(around), np.concatenate([y[:-1], y, y[1:]] if self.periodic else [y]))(x, 1)
        if not self.clamp:
            return x, np.array(CubicHermiteSpline(x, y, slopes).c[::-1].T)
        slopes[[0, -1]] = 0.0
        pieces = CubicHermiteSpline(x, y, slopes).c[::-1].T
        return np.append(x, 2 * x[-1] - x[-2]), np.vstack([pieces, [y[-1], 0.0, 0.0, 0.0]])


for _kind in (Constant, Polynomial, Harmonic, SmoothStep, Table):
    setattr(_kind, "__init__", by_name(_kind.__init__, _kind.__name__))  # noqa: B010


@dataclass(frozen=True)
class Function(_Arithmetic):
    """f(t) = function(t), written with NumPy functions; f' and f'' are found by tracing it."""

    function: Callable[..., Any]


@dataclass(frozen=True)
class _Composed(_Arithmetic):
    parts: tuple[Motion, ...]

    def __post_init__(self: Any) -> None:
        _check_parts(self)


@dataclass(frozen=True)
class Sum(_Composed):
    """f(t) = sum of its parts"""


@dataclass(frozen=True)
class Product(_Composed):
    """f(t) = product of its parts"""


Motion = Constant | Polynomial | Harmonic | SmoothStep | Table | Function | Sum | Product
MotionLike = Motion | Callable[[Any], Any]  # or a function of t


def _check_parts(motion: Sum | Product) -> None:
    kind = type(motion).__name__
    given = motion.parts if isinstance(motion.parts, tuple | list) else ()
    if not given:
        raise ModelError(f"{kind}: parts is {shown(motion.parts)}; give a list of motions and numbers")
    object.__setattr__(motion, "parts", tuple(as_motion(kind, f"parts[{k}]", part) for k, part in enumerate(given)))
    if len(terms(motion)) > _MOST_TERMS:
        raise ModelError(f"{kind}: multiplied out it has more than {_MOST_TERMS} terms; write it as a function of t")


def as_motion(owner: str, label: str, value: object) -> Motion:
    """A motion, a number, which is a constant motion, or a function of t, which is traced once to see that it can be."""
    if isinstance(value, Motion):
        return value
    if is_number(value):
        return Constant(number(owner, label, value))
    if callable(value):
        from dalembert.lagrangian.time_functions import traced_rates
        from dalembert.lagrangian.tracer import warn_if_rough

        name = f"{owner}: the function of its {label.removeprefix('its ')}"
        warn_if_rough(name, traced_rates(name, value)[:1])
        return Function(value)
    kinds = "a number, Constant, Polynomial, Harmonic, SmoothStep, Table, a sum or product of them, or a function of t"
    raise ModelError(f"{owner}: {label} is {shown(value)}; give {kinds}")


def as_path(owner: str, label: str, value: object) -> Motion:
    """A motion that a constraint follows: f'' is an acceleration, which may not jump unseen."""
    motion = as_motion(owner, label, value)
    if any(isinstance(leaf, Table) and leaf.monotone for leaf in leaves(motion)):
        raise ModelError(f"{owner}: {label} has a monotone table, whose f'' jumps: that is for loads; leave monotone out")
    return motion


def terms(motion: Motion) -> list[tuple[Motion, ...]]:
    """The motion multiplied out: a sum of products of motions that are neither."""
    match motion:
        case Sum(parts):
            return [term for part in parts for term in terms(part)]
        case Product(parts):
            made: list[tuple[Motion, ...]] = [()]
            for part in parts:
                made = [(*before, *term) for before in made for term in terms(part)]
                if len(made) > _MOST_TERMS:
                    break
            return made
    return [(motion,)]


def leaves(motion: Motion | None) -> Iterator[Motion]:
    """What a motion is made of, neither sums nor products."""
    if isinstance(motion, Sum | Product):
        for part in motion.parts:
            yield from leaves(part)
    elif motion is not None:
        yield motion


def lower_bound(motion: Motion) -> float | None:
    """A value that a length prescribed by `motion` starts from, or never falls below; None where only a run can tell."""
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
    return None
