"""Singular configurations that a run in minimal coordinates was refused or has passed: when, which joints, what condition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import Series
from dalembert.errors import SimulationError
from dalembert.formulations.minimal import MinimalRun
from dalembert.integrators.advance import Advance
from dalembert.integrators.explicit_rk import RungeKutta4
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import MARKS, N_PASSAGES
from dalembert.kernels.base.views import Numbers
from dalembert.remarks.doubts import likely_causes
from dalembert.remarks.row_words import beyond_reach


def refused(run: MinimalRun, advance: Advance) -> SimulationError:
    """Why a step with Minimal(singular="stop") was refused."""
    t, x = advance.t, advance.x.copy()
    looking = replace(run, I=run.I.copy())
    looking.places.passing = 1
    ahead = max(2.0 * advance.step_size, 1e-9 * (advance.t_end - t))  # no step may have been accepted, or only a tiny one

    at, condition, joints = _worst(run, lambda at: _state_at(looking, ahead / 8, t, x, at), x, t, t + ahead)
    text = f"the step from t = {t:.6g} s was refused: it leads to a singular configuration at t = {at:.6g} s (condition"
    text += f" {condition:.1e}), where joints {', '.join(map(repr, joints))} lock and branches may meet;"
    advice = "Minimal(singular='pass') goes through on the branch it is on"
    if run.places.passing:
        advice = "no smooth branch through it was found, and rounding hides the motion there"
    advice = "; ".join([*likely_causes(run.mechanism), beyond_reach(run.mechanism, at, joints) or advice])
    return SimulationError(f"{text} {advice}", time=t, joint=joints[0])


def _regular_before(run: MinimalRun, states: Series, t_0: float) -> tuple[float, Array]:
    """(time, state of the run) saved last before t_0, or before that where the saved one is itself singular."""
    for k in range(int(np.searchsorted(states.t, t_0, side="right")) - 1, -1, -1):
        try:
            return float(states.t[k]), run.from_absolute(states.x[k], float(states.t[k]))
        except SimulationError:
            continue
    return 0.0, run.from_absolute(run.mechanism.x_0)


def passed(run: MinimalRun, x_end: Array, states: Series) -> tuple[str, ...]:
    """One text for each of the last singular configurations that the run went through."""
    texts = []
    count, where = run.passed(x_end), Numbers(run.marks(x_end), MARKS.width)
    for k in range(max(0, count - N_PASSAGES), count):
        entry = 2 * (k % N_PASSAGES)
        t_0, t_1 = float(where[entry]), float(where[entry + 1])
        h = (t_1 - t_0) / 8
        begin, first = _regular_before(run, states, t_0)
        start = _state_at(run, h, begin, first, t_0)
        start, t_0 = (first, begin) if start is None else (start, t_0)

        def state(at: float, t_0: float = t_0, start: Array = start, h: float = h) -> Array | None:
            return _state_at(run, h, t_0, start, at)

        at, condition, joints = _worst(run, state, start, t_0, t_1)
        texts.append(
            f"a singular configuration was passed at t = {at:.6g} s (condition {condition:.1e}): joints"
            f" {', '.join(map(repr, joints))} lock there, other branches meet the one that was followed"
        )
    if count > N_PASSAGES:
        texts.insert(0, f"{count - N_PASSAGES} singular configurations were passed before those named")
    return tuple(texts)


def _state_at(run: MinimalRun, h: float, t_0: float, x_0: Array, t: float) -> Array | None:
    """The run's state at t by fixed steps, which do not shrink where they meet trouble; None where they end in it."""
    if t <= t_0:
        return x_0.copy()
    short = Advance(run, RungeKutta4(step=h), t_0, x_0, t, None)
    return short.x if short.to_the_end() == T.OK else None


def _worst(
    run: MinimalRun, state: Callable[[float], Array | None], x_0: Array, t_0: float, t_1: float
) -> tuple[float, float, list[str]]:
    """(time, condition, joints) where the smallest pivot is smallest between two times; no state found counts as zero."""
    from scipy.optimize import minimize_scalar

    found = [(t_0, x_0)]

    def pivot(t: float) -> float:
        for at in (t, t - 1e-5 * (t_1 - t_0), t + 1e-5 * (t_1 - t_0)):  # at the very spot there may be no state
            if (x := state(at)) is not None:
                found.append((at, x))
                return float(run.marks(x).pivot)
        return 0.0

    minimize_scalar(pivot, bounds=(t_0, t_1), method="bounded", options={"xatol": 1e-9 * (t_1 - t_0), "maxiter": 40})
    at, x = min(found, key=lambda item: float(run.marks(item[1]).pivot))
    return at, *run.mechanism.locking(at, np.array(run.to_absolute(x[None])[0]))
