"""The largest value of an output between the saved times of a run, from its dense output: no curve through saved values, which
swings beyond them where they are far apart. Its derivative is that of the output at the time when it is largest, to which a run
with sensitivities has states and their derivatives as well: `peaks`."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from dalembert.arrays import Array, IntArray
from dalembert.simulation.solution import AnySolution

_INTERVALS, _PIECES = 128, 4  # between saved times that are looked into, the most promising ones; least pieces of each
_BELOW, _QUARTIC, _SMOOTH = 1e-5, 4, 1e-2  # of the range of the output; degree; how well it goes through
_PEAKS, _ROUNDS = 3, 4  # highest and earliest ones looked at more closely
_POINTS = 10  # in each round; even: the middle is there already, and a time beside it by rounding would be a top of its own
_EARLIEST = 16  # intervals that may reach as high as the highest value
EQUAL = 1e-8  # of the largest size: peaks of a motion that repeats itself, of which the first counts


def is_dense(solution: Any) -> bool:
    """Whether states between saved times are had: not of poses of `kinematics`, nor of steps whose forces belong to them.

    Those beside a run, for its derivatives, are taken at its peaks.
    """
    if not isinstance(solution, AnySolution) or solution.beside is not None or len(solution.t) < 2:
        return False
    return not (solution.settings.get("kinematics") or solution.formulation_type.compliant or np.any(np.diff(solution.t) <= 0))


def first_of(y: Array) -> int:
    """Which of some values in order of time is the first top among the largest ones."""
    edges = np.concatenate([[-np.inf], y, [-np.inf]])
    top = (y >= edges[:-2]) & (y >= edges[2:])
    return int(np.argmax(top & (y >= np.max(y) - EQUAL * np.max(np.abs(y)))))


def at_peak(solution: Any, values: Callable[[Any], Array]) -> tuple[float, float] | None:
    """When the output of a run is largest, and its value then of states beside those; None where there are none there."""
    if getattr(solution, "peaks", None) is None:
        return None
    there = solution.beside.sensitivities.peaks()
    k = int(np.argmax(values(there)))
    return float(there.t[k]), float(values(solution.peaks)[k])


def true_maximum(solution: Any, values: Callable[[Any], Array], key: Hashable) -> tuple[float, float]:
    """When, and how much.

    values : of an output of a solution, one for each of its times;  key : by which a run with sensitivities remembers it
    """
    known = None if solution.sensitivities is None else solution.sensitivities.largest
    if known is not None and key in known:
        when, value = known[key]
        return float(when), float(value)
    t, y = _finer(solution, values(solution), values)
    for _ in range(_ROUNDS):
        inner = np.arange(1, len(t) - 1)
        tops = inner[(y[inner] >= y[inner - 1]) & (y[inner] >= y[inner + 1])]
        high = tops[y[tops] + 2.0 * _rise(t, y, tops) >= np.max(y) - EQUAL * np.max(np.abs(y))]
        best = np.unique([*tops[np.argsort(-y[tops])][:_PEAKS], *high[:_PEAKS], np.argmax(y)])
        times = [np.linspace(t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)], _POINTS + 2) for k in best]
        t, y = _joined(solution, t, y, np.concatenate(times), values)
    if known is not None and (top := _top(t, y)) is not None:
        t, y = np.array([top]), values(solution(np.array([top])))
    found = float(t[first_of(y)]), float(np.max(y))
    if known is not None:
        known[key] = found
    return found


def _rise(t: Array, y: Array, k: IntArray) -> Array:
    """How far parabolas through tops and the values beside them rise above these."""
    before, after = t[k] - t[k - 1], t[k + 1] - t[k]
    up, down = (y[k] - y[k - 1]) / before, (y[k] - y[k + 1]) / after
    steep = np.maximum(up + down, np.finfo(float).tiny)
    return np.asarray((up * after - down * before) ** 2 / (4.0 * (before + after) * steep))


def _top(t: Array, y: Array) -> float | None:
    """Where the slope vanishes at the largest of the values, by a polynomial through those around it that lie below it by more
    than they are off; None at an end, and where there is a kink."""
    k = first_of(y)
    low = y < y[k] - _BELOW * float(np.ptp(y))
    before, after = np.flatnonzero(low[:k]), np.flatnonzero(low[k:])
    if not (len(before) and len(after)):
        return None
    around = slice(int(before[-1]), k + int(after[0]) + 1)
    size = float(np.ptp(t[around]))
    p, rest, *_ = np.polyfit((t[around] - t[k]) / size, y[around] - y[k], _QUARTIC, full=True)
    roots = np.roots(np.polyder(p))
    roots = roots[np.isreal(roots)].real
    top = float(roots[np.argmin(np.abs(roots))]) if len(roots) else np.inf
    smooth = len(rest) == 0 or float(rest[0]) < (_SMOOTH * float(np.ptp(y[around]))) ** 2
    found = float(t[k] + size * top)
    return found if smooth and t[around.start] < found < t[around.stop - 1] else None


def _finer(solution: Any, y: Array, values: Callable[[Any], Array]) -> tuple[Array, Array]:
    """Times and values, with more of them in those intervals that may reach highest by their ends and curvature."""
    t = np.asarray(solution.t, dtype=float)
    bend = np.pad(np.abs(np.diff(y, 2)), 1, mode="edge") if len(y) > 2 else np.zeros(len(y))
    reach = np.maximum(y[:-1] + bend[:-1], y[1:] + bend[1:])
    early = np.flatnonzero(reach >= np.max(y))[:_EARLIEST]
    chosen = np.union1d(np.argsort(-reach, kind="stable")[:_INTERVALS], early)
    pieces = max(_PIECES, _INTERVALS * _PIECES // len(chosen))
    parts = np.arange(1, pieces) / pieces
    return _joined(solution, t, y, (t[chosen, None] + np.diff(t)[chosen, None] * parts).ravel(), values)


def _joined(solution: Any, t: Array, y: Array, times: Array, values: Callable[[Any], Array]) -> tuple[Array, Array]:
    new = np.setdiff1d(times, t)
    if not len(new):
        return t, y
    together = np.concatenate([t, new])
    order = np.argsort(together)
    return together[order], np.concatenate([y, values(solution(new))])[order]
