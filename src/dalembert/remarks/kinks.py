"""Drivers whose speed jumps, as that of |t - 1| does: an impulse would be needed, and runs step over it as if there were none.
And angles that jump by a turn, as those of arctan2.

Only functions of the user can have a kink. A jump of f' stays what it is however closely one looks; where f is smooth, however
fast, what is left of the difference goes to zero. It is looked for where f' changes by more than f'' at both ends tells.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.pack_motions import rates_of
from dalembert.model.model import Model
from dalembert.model.motions import Function, Motion, leaves
from dalembert.remarks.driver_words import drivers_of

LOOKS = 1000  # at a motion, spread over the steps of a run
ASIDE = 0.382  # of a step: kinks are at round numbers, and so are ends of steps
PLACES = 6  # that are looked at closely
PARTS, TIMES = 16, 6  # into which each is divided, again and again, down to less than a tenth of a millionth
JUMP = 1e-3  # of the largest speed


def kinks(model: Model, steps: Array) -> Iterator[str]:
    """steps : (nt,) ends of the steps of a run"""
    spread = np.unique(np.linspace(0, len(steps) - 1, LOOKS).round().astype(np.int64))
    t = steps[spread]
    t = np.concatenate([t[:1], t[:-1] + ASIDE * np.diff(t), t[-1:]])
    for driver in drivers_of(model):
        motion, unit = driver.primitive.motion, "rad/s" if driver.primitive.kind == "A" else "m/s"
        if motion is None or len(t) < 3 or not any(isinstance(leaf, Function) for leaf in leaves(motion)):
            continue
        noun = "driver" if driver in model.drivers else "distance"
        wraps = _wraps(motion, t[0], t[-1]) if unit == "rad/s" else []
        if found := wraps or _jumps(motion, t):
            at, before, after = found[0]
            more = ", and at other times" if len(found) > 1 else ""
            if wraps:
                words = f"driver {driver.name!r} jumps from {np.degrees(before):.3g} to {np.degrees(after):.3g} degrees"
                yield f"{words} at t = {at:.4g} s{more}: give an angle that goes on, without arctan2"
                continue
            words = f"{noun} {driver.name!r} goes over from {before:.4g} to {after:.4g} {unit} at once, at t = {at:.6g} s{more}"
            yield f"{words}: that takes an impulse, which a run leaves out; round the corner, or give a SmoothStep in its place"


def _wraps(motion: Motion, begin: float, end: float) -> list[tuple[float, float, float]]:
    """Times at which an angle jumps by a turn, and its values before and after: however closely one looks."""
    at, rates = np.linspace(begin, end, LOOKS)[None], rates_of(motion)
    for _ in range(TIMES):
        f, rate = rates(at.ravel())[:, :2].T.reshape(2, *at.shape)
        jump = np.abs(np.diff(f) - 0.5 * np.diff(at) * (rate[:, 1:] + rate[:, :-1]))
        row, k = np.nonzero(np.abs(jump / (2.0 * np.pi) - 1.0) < 0.05)
        if not len(k):
            return []
        found = at[row, k + 1].tolist(), f[row, k].tolist(), f[row, k + 1].tolist()
        at = np.linspace(at[row, k], at[row, k + 1], PARTS + 1, axis=1)
    return [*zip(*found, strict=True)]


def _jumps(motion: Motion, t: Array) -> list[tuple[float, float, float]]:
    """Times within the run at which f' jumps, and its values before and after."""
    rates = rates_of(motion)
    _, rate, second = rates(t).T
    missed = np.abs(np.diff(rate) - 0.5 * np.diff(t) * (second[1:] + second[:-1]))
    missed = np.where(np.isfinite(missed), missed, np.inf)
    least = JUMP * float(np.max(np.abs(rate), where=np.isfinite(rate), initial=0.0))
    places = np.sort(np.argsort(-missed)[:PLACES])
    places = places[missed[places] > least]
    at, f = (np.stack([x[places], x[places + 1]], axis=1) for x in (t, rate))
    for _ in range(TIMES):
        if not len(at):
            return []
        at = np.linspace(at[:, 0], at[:, -1], PARTS + 1, axis=1)
        f = rates(at.ravel())[:, 1].reshape(at.shape)
        change = np.abs(np.diff(f, axis=1))
        k = np.argmax(np.where(np.isfinite(change), change, -1.0), axis=1)[:, None] + (0, 1)
        at, f = np.take_along_axis(at, k, axis=1), np.take_along_axis(f, k, axis=1)
        jumps = np.abs(f[:, 1] - f[:, 0]) > least
        at, f = at[jumps], f[jumps]
    within = at[:, 1] < t[-1]
    found = [(b if a > t[0] else a, *speeds) for (a, b), speeds in zip(at[within].tolist(), f[within].tolist(), strict=True)]
    return sorted(found, key=lambda jump: jump[0] == t[0])  # the start last
