"""From methods to times at equal accuracy: scan the settings, choose, time what was chosen in interleaved rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from benchmarks.peers.problems import Method, Outcome

LONGEST = 3.0  # s: no setting beyond the first that takes longer is tried
BEYOND = 10.0  # scanning ends when two settings in a row are this much better than the tightest accuracy asked for
ROUNDS, SHORT = 7, 3  # repetitions of what takes less than BRIEF, and of the rest
BRIEF = 0.3  # s


@dataclass
class Point:
    """One setting. error : distance to the reference [m];  reason : why there is no error"""

    setting: float
    outcome: Outcome | None
    error: float
    reason: str = ""


@dataclass
class Curve:
    """A method and its settings tried, from loose to tight."""

    method: Method
    points: list[Point] = field(default_factory=list)

    def choose(self, accuracy: float) -> float | None:
        """The loosest setting that meets the accuracy and whose tighter ones all do; None if there is none."""
        chosen = None
        for point in reversed(self.points):
            if not point.error <= accuracy:
                break
            chosen = point.setting
        return chosen

    @property
    def best(self) -> float:
        return min((p.error for p in self.points), default=np.inf)

    @property
    def longest(self) -> float:
        """Seconds of the tightest setting tried."""
        return max((p.outcome.seconds for p in self.points if p.outcome is not None), default=0.0)


def scan(method: Method, reference: np.ndarray, tightest: float) -> Curve:
    """Errors of one method over its settings."""
    curve, good = Curve(method), 0
    for setting in method.settings:
        try:
            outcome = method.solve(setting)
        except Exception as problem:
            curve.points.append(Point(setting, None, np.inf, f"{type(problem).__name__}: {problem}"[:200]))
            continue
        error = float(np.linalg.norm(outcome.point - reference))
        curve.points.append(Point(setting, outcome, error if np.isfinite(error) else np.inf))
        good = good + 1 if error < tightest / BEYOND else 0
        if outcome.seconds > LONGEST or good == 2:
            break
    while curve.points and curve.points[-1].outcome is None:  # failed at the tight end: does not speak against looser ones
        curve.points.pop()
    return curve


@dataclass
class Time:
    """Of one method at one accuracy: the setting, the median of the rounds [s], and the run itself."""

    curve: Curve
    accuracy: float
    setting: float
    seconds: float
    fastest: float
    outcome: Outcome


def race(curves: Sequence[Curve], accuracies: Sequence[float]) -> list[Time]:
    """The chosen settings of all methods, one run of each per round."""
    entries = [(c, a, s) for c in curves for a in accuracies if (s := c.choose(a)) is not None]
    seconds: list[list[float]] = [[] for _ in entries]
    outcomes: list[Outcome | None] = [None] * len(entries)
    for turn in range(ROUNDS):
        for k, (curve, _, setting) in enumerate(entries):
            if turn < SHORT or seconds[k][0] < BRIEF:
                outcome = curve.method.solve(setting)
                outcomes[k] = outcome
                seconds[k].append(outcome.seconds)
    return [
        Time(c, a, s, median(t), min(t), o) for (c, a, s), t, o in zip(entries, seconds, outcomes, strict=True) if o is not None
    ]


def best_per_program(times: Sequence[Time], accuracy: float) -> dict[str, Time]:
    """The fastest method of every program at one accuracy."""
    best: dict[str, Time] = {}
    for time in times:
        name = time.curve.method.program
        if time.accuracy == accuracy and (name not in best or time.seconds < best[name].seconds):
            best[name] = time
    return best
