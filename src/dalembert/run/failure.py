"""What a run that cannot go on says: what went wrong, when, and where."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rank import SINGULAR
from dalembert.compilation.row_words import beyond_reach
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import SimulationError
from dalembert.integrators.advance import Advance
from dalembert.kernels.base import tables as T
from dalembert.run.jumps import jumping_constraint, not_finite


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
        hint = f"; check the user function(s) {names}" if names else "; check the forces, or use a smaller step"
        if short := vanishing_springs(mechanism, advance.state):
            hint = f"; {', '.join(short)} has length 0 there, and its force no direction"
        return SimulationError(f"accelerations are not finite (NaN or infinite) at t = {t:.6g} s{hint}", time=t)
    if own := run.failure(status, advance):
        return own
    condition, locking = mechanism.locking(t, advance.state)
    singular, word = condition > SINGULAR, mechanism.element_word
    lock = f"; the configuration is singular (condition {condition:.1e}): {word}s {', '.join(map(repr, locking))} lock"
    if singular and (beyond := beyond_reach(mechanism, t, locking)):
        lock = f": {beyond}{lock}"
    if status == T.NEWTON_FAILED:
        joint = run.element_of_row(int(run.view.count.worst_row))
        text = f"the constraints could not be restored at t = {t:.6g} s: {word} {joint!r} keeps a residual of"
        text += f" {run.view.count.worst_value:.3g}"
        return SimulationError(text + (lock if singular else "; the step may be too large"), time=t, joint=joint)
    if status == T.STAGES_FAILED:
        return _stage_failure(advance, run.stage_advice(condition) or (lock if singular else ""))
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
    text = f"the stage equations could not be solved at t = {t:.6g} s: an iteration changes the error by {rate:.2g}"
    iterated = getattr(advance.integrator, "solver", "") == "fixed-point"
    advice = "use solver='newton' or" if iterated else "use"
    return SimulationError(text + (lock or f"; {advice} a smaller step"), time=t)
