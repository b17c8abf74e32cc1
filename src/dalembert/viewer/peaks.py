"""When curves are largest and smallest: between the instants that a page would show, too, so that it tells their ranges."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.results.plain import INCOMPLETE
from dalembert.results.sampling import sampled, selected, usable
from dalembert.results.signal_names import words_of
from dalembert.results.solution import BodyResult
from dalembert.viewer.channels import groups

_CLOSE = 1e-5  # of an extreme, which is shown to four digits
_TOPS, _POINTS, _ROUNDS = 4, 8, 6  # looked at more closely; instants around each in a round, which leaves 2 / 9 of a gap


def peaks(solution: BodyResult, times: Array, names: Collection[str]) -> tuple[Array, list[str]]:
    """Instants of the extremes of curves, and the names of curves that have them there.

    Around the tops of what is known at saved states and at `times`. None where nothing is known between saved states, nor of a
    run that goes on.  names : of plots and curves
    """
    states = usable(solution)
    if len(states) < 2 or solution.status == INCOMPLETE:
        return np.zeros(0), []
    part = selected(solution, states)
    t, (found, y) = part.t, _curves(part, names)
    for _ in range(_ROUNDS + 1):
        new = np.setdiff1d(np.clip(times, *t[[0, -1]]), t)
        if len(new):
            made = sampled(part, np.append(t[0], new))  # changes of energy are from the start
            if len(made.t) != len(new) + 1:
                return np.zeros(0), []
            t, order = np.unique(np.concatenate([t, new]), return_index=True)
            y = np.concatenate([y, _curves(made, names)[1][:, 1:]], axis=1)[:, order]
        times = np.concatenate([t[:1], *(_around(t, sign * column) for column in y for sign in (1.0, -1.0))])
    known = [name for name, column in zip(found, y, strict=True) if np.isfinite(column).all()]
    return np.unique(t[[*y.argmax(axis=1), *y.argmin(axis=1)]]), known


def _curves(run: Any, names: Collection[str]) -> tuple[list[str], Array]:
    """Names and values of plots, or curves, with these names."""
    series = [(name, y) for group in groups(run, names) for name, y, _ in group["series"] if {name, group["name"]} & {*names}]
    model = run.mechanism.model
    for name in (body.name for body in model.bodies):
        for kind, stem, values in (("position", "", run.position), ("velocity", "v", run.velocity)):
            if f"{kind} of {name}" in names:
                words = [words_of(model, kind, name, stem + axis)[0] for axis in "xyz"]
                series += zip(words, values(name).T, strict=True)
    return [name for name, _ in series], np.array([y for _, y in series]).reshape(len(series), len(run.t))


def _around(t: Array, y: Array) -> Array:
    """Instants around the highest tops: those that may be higher between their neighbours by more than what is shown."""
    left, right = (np.clip(np.arange(len(t)) + step, 0, len(t) - 1) for step in (-1, 1))
    up, down = y - y[left], y - y[right]
    drop = np.maximum(up, down)
    k = np.flatnonzero((up >= 0) & (down >= 0) & (drop > _CLOSE * np.abs(y)) & (y + drop > y.max()))
    least = np.finfo(float).tiny  # nothing is before the first state, and nothing after the last one
    before, after = np.maximum(t[k] - t[left[k]], least), np.maximum(t[right[k]] - t[k], least)
    rising, falling = up[k] / before, down[k] / after  # parabolas tell which of them are highest, and where
    way = 0.5 * (rising * after - falling * before) / (rising + falling)
    best = np.argsort(-y[k] - way**2 * (rising + falling) / (before + after), kind="stable")[:_TOPS]
    around = np.linspace(t[left[k[best]]], t[right[k[best]]], _POINTS + 2)
    return np.append(around, t[k[best]] + way[best])
