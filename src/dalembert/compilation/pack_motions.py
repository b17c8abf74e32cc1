"""Motions of a model: their values, the times at which steps end because of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.writer import Writer
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import CALL
from dalembert.kernels.base.views import System
from dalembert.kernels.mechanics.motion import follow
from dalembert.lagrangian.body_rows import plain
from dalembert.lagrangian.source import write_source
from dalembert.lagrangian.time_functions import motion_parts
from dalembert.model.model import Model
from dalembert.model.motions import (
    Constant,
    Function,
    Harmonic,
    Motion,
    Polynomial,
    SmoothStep,
    Table,
    leaves,
)

_LOOKS = 2000  # at a motion that has no formula for its zeros


def motions_of(model: Model) -> Iterator[tuple[str, Motion | None]]:
    """Functions of time, with the names of what follows them."""
    yield from motions_of_rows(model)
    yield from ((force.name, motion) for force in model.forces for motion in force.motions)


def motions_of_rows(model: Model) -> Iterator[tuple[str, Motion | None]]:
    """Those that constraints follow."""
    yield from ((joint.name, row.motion) for joint in model.joints for row in joint.primitives)
    yield from ((driver.name, driver.primitive.motion) for driver in model.drivers)


def function_numbers(motions: Iterable[Motion | None]) -> dict[Callable[..., Any], int]:
    """The functions of time among motions, with the numbers of their code in the callback."""
    found = (leaf.function for motion in motions for leaf in leaves(motion) if isinstance(leaf, Function))
    return {function: T.FIRST_MOTION + k for k, function in enumerate(dict.fromkeys(found))}


def breakpoints(I: list[int], F: list[float], motions: Iterable[int]) -> tuple[list[float], list[float]]:
    """Times at which a higher derivative of a motion jumps, increasing: steps end there; (time, period) of those that come
    again and again. f, f' and f'' are continuous in all motions, so that rates go on as they are."""
    times: list[float] = []
    again: list[float] = []
    for m in motions:
        for leaf in _leaves_at(I, m):
            kind, k, n = I[leaf : leaf + 3]
            if kind == T.SMOOTH_STEP:  # its middle too, so that no step hides that something moved
                start, stop = F[k + 2 : k + 4]
                times += [start, 0.5 * (start + stop), stop]
            elif kind == T.TABLE:
                times += F[k : k + n + 1]
            elif kind == T.PERIODIC_TABLE:
                again += [entry for knot in F[k : k + n] for entry in (knot, F[k + n] - F[k])]
    return sorted(times), again


def _leaves_at(I: list[int], m: int) -> Iterator[int]:
    if I[m] != T.COMPOSED:
        yield m
        return
    at = m + 2
    for _ in range(I[m + 1]):
        yield from I[at + 1 : at + 1 + I[at]]
        at += 1 + I[at]


def stops_between(I: npt.NDArray[np.int64], F: Array, begin: float, end: float) -> Array:
    """Breakpoints of all motions of a mechanism after `begin` and before `end`, increasing."""
    stops = F[I[T.STOP_F] :]
    times = [stops[: I[T.NSTOP]]]
    for first, period in stops[I[T.NSTOP] :][: 2 * I[T.NAGAIN]].reshape(-1, 2):
        times.append(first + period * np.arange(np.floor((begin - first) / period), np.ceil((end - first) / period) + 1.0))
    found = np.unique(np.concatenate(times))
    return np.asarray(found[(found > begin) & (found < end)])


def rates_of(motion: Motion | None) -> Callable[[npt.ArrayLike], Array]:
    """Function of times (nt,): (nt, 3) f, f' and f'' of a motion there, zero for none."""
    out = Writer(function_numbers([motion]))
    at = out.motion(motion)
    code = plain(write_source(motion_parts(out.functions), {})) if out.functions else None
    record = System(out.I, out.F, [0.0] * CALL.width, code)

    def rates(t: npt.ArrayLike) -> Array:
        times = np.atleast_1d(np.asarray(t, dtype=float))
        with np.errstate(all="ignore"):
            return np.array([[*follow(at, time, record)] for time in times.tolist()]) if at >= 0 else np.zeros((len(times), 3))

    return rates


def motion_rates(motion: Motion | None, t: npt.ArrayLike) -> Array:
    """(nt, 3): f, f' and f'' of a motion at given times, zero for none."""
    return rates_of(motion)(t)


def motion_values(motion: Motion | None, t: npt.ArrayLike) -> Array:
    """(nt,): f(t) of a motion at given times, zero for none."""
    return motion_rates(motion, t)[:, 0]


def vanishes(motion: Motion, begin: float, end: float) -> float | None:
    """When a length prescribed by `motion` first reaches zero within a run, None if it does not."""
    match motion:
        case Polynomial(coefficients):
            roots = np.roots(coefficients[::-1])
            times = roots[np.abs(roots.imag) < 1e-9 * np.abs(roots).max(initial=1.0)].real
        case Table(periodic=False, clamp=False):
            from scipy.interpolate import PPoly

            knots, pieces = motion.spline()
            times = PPoly(pieces.T[::-1], knots).roots(extrapolate=False)
        case Constant() | Harmonic() | SmoothStep():
            return None  # `lower_bound` is theirs for all times
        case _:
            return _first_zero(motion, begin, end)
    times = times[(times >= begin) & (times <= end)]
    return float(times.min()) if times.size else None


def _first_zero(motion: Motion, begin: float, end: float) -> float | None:
    """By looking closely, and closer where values have a minimum."""
    times = np.linspace(begin, end, _LOOKS + 1)
    values = motion_values(motion, times)
    for k in np.flatnonzero((values[1:-1] <= values[:-2]) & (values[1:-1] <= values[2:])) + 1:
        times = np.concatenate([times, np.linspace(times[k - 1], times[k + 1], 201)])
    times = np.unique(times)
    below = np.flatnonzero(~(motion_values(motion, times) > 0.0))
    return float(times[below[0]]) if len(below) else None
