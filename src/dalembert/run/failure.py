"""What a run that cannot go on says: what went wrong, when, and where."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rank import SINGULAR
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import SimulationError
from dalembert.formulations import FORMULATIONS
from dalembert.integrators.advance import Advance
from dalembert.integrators.slopes import NEVER
from dalembert.kernels.base import tables as T
from dalembert.remarks.doubts import likely_causes
from dalembert.remarks.row_words import beyond_reach
from dalembert.run.jumps import jumping_constraint, not_finite

KEEPING = next(cls.keeps_branch for cls in FORMULATIONS.values() if cls.keeps_branch)
MANY = 1000  # short steps, after which they go on
FINEST = 1e-13  # shortest step over the time, at which numbers are 1e-16 apart


def failure_of(status: int, advance: Advance) -> SimulationError:
    """What went wrong, when, and at which joint."""
    run, t = advance.run, advance.t
    mechanism = run.mechanism
    if run.callbacks.error is not None:
        (name, problem), run.callbacks.error = run.callbacks.error, None
        failure = SimulationError(f"user function {name!r} raised {problem!r} at t = {t:.6g} s", time=t)
        failure.__cause__ = problem
        return failure
    if status == T.NON_FINITE:
        names = ", ".join(map(repr, not_finite(advance)))
        hint = f"; check what you wrote for {names}" if names else "; check the forces, or use a smaller step"
        if short := vanishing_springs(mechanism, advance.state):
            hint = f"; {', '.join(short)} has length 0 there, and its force no direction"
        return SimulationError(f"accelerations are not finite (NaN or infinite) at t = {t:.6g} s{hint}", time=t)
    if own := run.failure(status, advance):
        return own
    stuck, condition, locking = _as_far_as_it_goes(advance)
    singular, word = condition > SINGULAR, mechanism.element_word
    where = "" if stuck == t else f" at t = {stuck:.6g} s"
    lock = f"; the configuration is singular{where} (condition {condition:.1e}): {word}s {', '.join(map(repr, locking))} lock"
    beyond = beyond_reach(mechanism, stuck, locking) if singular else ""
    causes = [*likely_causes(mechanism), *([beyond] if beyond else [])] if singular else []
    if causes:
        lock = f": {'; '.join(causes)}{lock}"
    if not beyond and isinstance(mechanism, Mechanism) and not run.passes:
        lock += f"; if branches meet there, {KEEPING} goes through on the one that it is on"
    if status == T.NEWTON_FAILED:
        joint = run.element_of_row(int(run.view.count.worst_row))
        text = f"the constraints could not be restored at t = {t:.6g} s"
        kept = f": {word} {joint!r} keeps a residual of {run.view.count.worst_value:.3g}; the step may be too large"
        return SimulationError(text + (lock if singular else kept), time=t, joint=joint)
    if status == T.STAGES_FAILED:
        advice = "" if beyond else run.stage_advice(condition)
        return _stage_failure(advance, advice or (lock if singular else ""))
    text = f"the step size collapsed at t = {t:.6g} s"
    jump = jumping_constraint(advance)
    if jump is not None:
        text += f": the residual of {word} {jump[0]!r} jumps there to {jump[1]:.3g}; residuals must be smooth along the motion"
        text += " (sin(a - b) = 0 instead of arctan2, no abs or sign of what changes)"
        return SimulationError(text, time=t, joint=jump[0])
    if singular:
        return SimulationError(text + lock, time=t, joint=locking[0])
    text += "; the motion has blown up (tighten the tolerances)"
    text += "" if advance.integrator.implicit else " or is too stiff for an explicit method"
    return SimulationError(text, time=t)


def _as_far_as_it_goes(advance: Advance) -> tuple[float, float, list[str]]:
    """Time, condition and what is almost dependent where a run ends: one of fixed steps ends before the place where it cannot
    go on, and is followed there by shorter and shorter ones; where these go on, it is the step that was too long."""
    run, t, x, h = advance.run.again(), advance.t, advance.x, advance.integrator.step
    ends = t, *run.mechanism.locking(t, advance.state)
    stuck, beyond = ends, t + 2.0 * (h or 0.0)
    while h is not None and stuck[1] <= SINGULAR and h > FINEST * abs(t):
        h *= 0.25
        short = Advance(run, replace(advance.integrator, step=h), t, x, beyond, None)
        short.bundle.at_slopes = NEVER  # nothing is compiled for it
        status, run.callbacks.error = short.steps(MANY), None
        if status in (T.OK, T.TOO_MANY_STEPS):
            return ends
        t, x = short.t, short.x
        stuck = t, *run.mechanism.locking(t, short.state)
    return stuck


def vanishing_springs(mechanism: Compiled, x: Array) -> list[str]:
    """Springs whose ends coincide."""
    if not isinstance(mechanism, Mechanism):
        return []
    state = Trajectory(mechanism, np.zeros(1), x[None])
    return [f"{force.noun} {force.name!r}" for force in mechanism.model.forces if force.undirected(state, 1e-9)]


def _stage_failure(advance: Advance, lock: str) -> SimulationError:
    t, rate = advance.t, float(advance.bundle.contraction)
    if advance.integrator.by_formulation:
        text = f"Newton's method did not solve the equations of the step at t = {t:.6g} s"
        return SimulationError(text + (lock or "; use a smaller step, or raise max_newton"), time=t)
    text = f"the stage equations could not be solved at t = {t:.6g} s"
    iterated = getattr(advance.integrator, "solver", "") == "fixed-point"
    advice = "use solver='newton' or" if iterated else "use"
    return SimulationError(text + (lock or f": an iteration changes the error by {rate:.2g}; {advice} a smaller step"), time=t)
