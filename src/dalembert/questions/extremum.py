"""The largest value of an output between the saved times of a run, from its dense output: no curve through saved values, which
swings beyond them where they are far apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.simulation.solution import AnySolution

_INTERVALS, _PIECES = 128, 4  # between saved times that are looked into, the most promising ones; least pieces of each
_PEAKS, _POINTS, _ROUNDS = 3, 9, 4  # that are looked at more closely, with so many times in each round


def is_dense(solution: Any) -> bool:
    """Whether states between saved times are had: not of poses of `kinematics`, nor of steps whose forces belong to them.

    A run with sensitivities, and those beside it, are taken at saved times, where their derivatives are known.
    """
    if not isinstance(solution, AnySolution) or solution.beside or solution.sensitivities is not None or len(solution.t) < 2:
        return False
    return not (solution.settings.get("kinematics") or solution.formulation_type.compliant or np.any(np.diff(solution.t) <= 0))


def true_maximum(solution: Any, y: Array, values: Callable[[Any], Array]) -> float:
    """y : (nt,) at saved times;  values : of an output of a solution, one for each of its times"""
    t, y = _finer(solution, y, values)
    for _ in range(_ROUNDS):
        inner = np.arange(1, len(t) - 1)
        tops = inner[(y[inner] >= y[inner - 1]) & (y[inner] >= y[inner + 1])]
        best = np.unique(np.append(tops[np.argsort(-y[tops])][:_PEAKS], np.argmax(y)))
        times = [np.linspace(t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)], _POINTS + 2) for k in best]
        t, y = _joined(solution, t, y, np.concatenate(times), values)
    return float(np.max(y))


def _finer(solution: Any, y: Array, values: Callable[[Any], Array]) -> tuple[Array, Array]:
    """Times and values, with more of them in those intervals that may reach highest by their ends and curvature."""
    t = np.asarray(solution.t, dtype=float)
    bend = np.pad(np.abs(np.diff(y, 2)), 1, mode="edge") if len(y) > 2 else np.zeros(len(y))
    reach = np.maximum(y[:-1] + bend[:-1], y[1:] + bend[1:])
    chosen = np.argsort(-reach, kind="stable")[:_INTERVALS]
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
