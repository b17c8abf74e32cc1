"""A run at the instants that a picture shows, for curves, trails, animations and the viewer alike.

Saved states are kept where they are about as dense as a picture needs them, thinned where they are denser, and filled by
the dense output where they are further apart.
"""

from __future__ import annotations

from dataclasses import fields
from math import floor, log10
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import DalembertError
from dalembert.formulations.evaluation import Evaluated
from dalembert.results.solution import Result

CURVE = 600.0  # instants over the width of a figure
SAGITTA = 5e-4  # a path leaves the chord between two instants by less, over the size of the whole motion
ANGLE = 1.0  # a body turns by less between two instants [rad]
_CROWD = 16  # instants between two saved states from which on some of them start from others


def usable(solution: Result) -> npt.NDArray[np.intp]:
    """Indices of states that can be drawn: finite, at increasing times."""
    finite = np.isfinite(solution.q).all(axis=1) & np.isfinite(solution.u).all(axis=1)
    later = np.diff(solution.t, prepend=-np.inf) > 0
    return np.flatnonzero(finite & later)


def needed(motion: Any, least: float, most: float) -> Array:
    """(nt,) how many instants a picture needs up to each state: `least` per second, more where paths bend and bodies turn.

    A chord leaves a path by |a| dt^2 / 8, so that sqrt(|a| / (8 SAGITTA size)) instants per second keep to the sagitta.
    """
    dt = np.diff(motion.t)
    rate = np.full(len(dt), least)
    bodies = motion.mechanism.body_names if isinstance(motion, Trajectory) else ()
    size = max((float(np.ptp(motion.position(body), axis=0).max()) for body in bodies), default=0.0)
    for body in bodies:
        acceleration = np.linalg.norm(np.diff(motion.velocity(body), axis=0), axis=1) / dt
        bends = np.sqrt(acceleration / (8.0 * SAGITTA * size)) if size > 0 else 0.0
        turns = np.linalg.norm(motion.angular_velocity(body, "body")[1:], axis=1) / ANGLE
        rate = np.maximum(rate, np.maximum(bends, turns))
    return np.concatenate([[0.0], np.cumsum(np.minimum(rate, most) * dt)])


def thinned(clock: Array, densest: float) -> npt.NDArray[np.intp]:
    """Indices of at most about `densest` readings of a rising clock per unit, the first and last among them."""
    if len(clock) < 2:
        return np.arange(len(clock))
    _, first = np.unique(np.floor((clock - clock[0]) * densest * (1 + 1e-9)), return_index=True)
    return np.unique(np.append(first, len(clock) - 1))


def filled(t: Array, clock: Array) -> Array:
    """The same times, and evenly spaced ones in gaps in which the clock goes on by more than 1."""
    pieces = np.maximum(1, np.ceil(np.diff(clock) * (1 - 1e-9))).astype(int)
    starts, steps = np.repeat(t[:-1], pieces), np.repeat(np.diff(t) / pieces, pieces)
    within = np.arange(len(starts)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return np.append(starts + within * steps, t[-1:])


def selected(solution: Any, states: npt.NDArray[np.intp]) -> Any:
    """The same run with only some of its states; outputs that are known already are kept."""
    known = solution.__dict__.get("evaluated")
    evaluated = None if known is None else Evaluated(*(getattr(known, f.name)[states] for f in fields(Evaluated)))
    more = {name: values[states] for name, values in solution.more.items()}
    return _with_states(solution, solution.t[states], solution.x[states], evaluated=evaluated, more=more)


def sampled(solution: Any, times: Array) -> Any:
    """The run at rising times of its span by its dense output, the saved states where they are among them.

    The run as it is where it has no dense output: its functions are not in the file, soft joints remember their steps.
    """
    at = np.minimum(np.searchsorted(solution.t, times), len(solution.t) - 1)
    saved = solution.t[at] == times
    if saved.all():
        return selected(solution, at)
    if solution.formulation_type.compliant:
        return solution
    if np.bincount(at[~saved]).max() > _CROWD:
        first = sampled(solution, np.union1d(solution.t, times[::8]))
        return sampled(first, times) if len(first.t) > len(solution.t) else solution
    x = solution.x[at]
    try:
        x[~saved] = solution(times[~saved]).x
    except DalembertError:
        return solution
    return _with_states(solution, times, x)


def curve(solution: Any) -> Any:
    """The run as smooth curves show it."""
    states = usable(solution)
    if len(states) < 2:
        return selected(solution, states)
    run = selected(solution, states)
    rate = CURVE / float(np.ptp(run.t))
    return sampled(run, filled(run.t, needed(run, rate, 5.0 * rate)))


def _with_states(solution: Any, t: Array, x: Array, **more: Any) -> Any:
    made = type(solution)(
        solution.mechanism,
        t,
        x,
        settings=solution.settings,
        formulation=solution.formulation,
        integrator=solution.integrator,
        status=solution.status,
        **more,
    )
    made.source = solution.source or solution
    return made


def usual_speed(span: float) -> float:
    """Seconds of a run in one second on the clock: real time, unless it were over in a blink or lasted more than a minute.

    Then about ten seconds, in round numbers: 1, 2 or 5 times a power of ten.
    """
    if 1.0 <= span <= 60.0 or not span > 0.0:
        return 1.0
    power = floor(log10(span / 10.0))
    round_ones = [float(f"{digit}e{power}") for digit in (1, 2, 5, 10)]
    return min(round_ones, key=lambda speed: abs(log10(10.0 * speed / span)))
