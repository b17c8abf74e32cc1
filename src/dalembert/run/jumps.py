"""Why steps collapse: a constraint's residual, or a force, that jumps just ahead."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import SimulationError
from dalembert.formulations import REFERENCE
from dalembert.formulations.evaluation import evaluate
from dalembert.integrators.advance import Advance
from dalembert.kernels.base import tables as T
from dalembert.model.cables import vanishing_parts

STALLED = 1000  # steps in a row that are looked at together
HOPELESS = 1e7  # steps still to be made, at the size of the last ones
AHEAD = 1e-11  # how far beyond the last step to look, relative to the run; smooth residuals stay below it times the speed
JUMP = 1e-6


def jumping_constraint(advance: Advance) -> tuple[str, float] | None:
    """(element, residual) of the constraint that does not hold any more where the motion goes on by itself, if there is one."""
    run, x, rate = advance.run, advance.x, np.zeros_like(advance.x)
    mechanism = run.mechanism
    if mechanism.m == 0 or run.rate(advance.t, x.copy(), rate) != T.OK:
        return None
    times = (advance.t_end - advance.bundle.start) * AHEAD * np.array([1e-2, 1e-1, 1.0])
    states = np.array([run.to_absolute((x + h * rate)[None])[0] for h in times])
    try:
        g = np.abs(evaluate(REFERENCE().prepare(mechanism.as_told), advance.t + times, states).g).max(axis=0)
    except SimulationError:
        return None
    reach = float(times[-1] * np.abs(rate[: run.size]).max()) + float(run.F[T.TOL_POSITION])
    limit = min(JUMP * (1.0 + float(np.abs(states).max())), 100.0 * reach)
    row = int(np.argmax(g))
    return (mechanism.element_of_row(row), float(g[row])) if g[row] > limit else None


def raise_if_stalled(advance: Advance, step: float) -> None:
    """Stop a run whose steps, of this mean size, have collapsed because a force jumps where the motion is."""
    left = (advance.t_end - advance.t) / max(step, 1e-300)
    if advance.integrator.adaptive and left > HOPELESS and _force_jumps(advance, step):
        names = ", ".join(map(repr, jumping_functions(advance, 10.0 * step)))
        text = f"steps have shrunk to {step:.1e} s at t = {advance.t:.6g} s, {left:.0e} of them to go: "
        if short := _vanishing_cables(advance):
            raise SimulationError(f"{text}{short}; stop the run by an event before", time=advance.t)
        text += "a force jumps there"
        text += f"; look at what you wrote for {names}" if names else ""
        text += "; write sign(v) of friction as tanh(v / v_0) with a small speed v_0, or use fixed steps"
        raise SimulationError(text, time=advance.t)


def _vanishing_cables(advance: Advance) -> str:
    """Parts of cables that have no direction where the motion is."""
    mechanism = advance.run.mechanism
    if not isinstance(mechanism, Mechanism):
        return ""
    here = Trajectory(mechanism, np.array([advance.t]), advance.state[None])
    return ", ".join(vanishing_parts(mechanism.model.joints, mechanism.model.forces, here, JUMP))


def _functions(advance: Advance, reach: float) -> list[dict[str, Array]]:
    """What the user's functions return where the motion was, is, and goes on by itself."""
    run, x, rate = advance.run, advance.x, np.zeros_like(advance.x)
    if advance.call(run.rate, advance.t, x.copy(), rate) != T.OK or not np.isfinite(rate).all():
        rate[:] = 0.0
    run.callbacks.error = None
    times = (-reach, 0.0, reach)
    return [run.callbacks.forces_at(advance.t + h, np.array(run.to_absolute((x + h * rate)[None])[0])) for h in times]


def jumping_functions(advance: Advance, reach: float) -> list[str]:
    """Names of the user's functions that jump around here; all of them where none does."""
    before, _, after = _functions(advance, reach)
    jumps = {name: float(np.abs(after[name] - before[name]).max()) for name in before}
    largest = max(jumps.values(), default=0.0)
    return [name for name, jump in jumps.items() if not jump <= 0.1 * largest] or list(jumps)


def not_finite(advance: Advance) -> list[str]:
    """Names of the user's functions that are not finite here or a step ahead; all of them where each is."""
    values = _functions(advance, advance.step_size or 1e-6)
    return [name for name in values[0] if not all(np.isfinite(at[name]).all() for at in values)] or list(values[0])


def _force_jumps(advance: Advance, step: float) -> bool:
    """Whether rates change as much over 20 steps as over 2000, along the motion: what is smooth changes a hundredth."""
    run, x, rate = advance.run, advance.x, np.zeros_like(advance.x)
    if run.rate(advance.t, x.copy(), rate) != T.OK:
        return False
    changes = []
    for reach in (10.0 * step, 1000.0 * step):
        ends = np.zeros((2, len(x)))
        for side, h in enumerate((-reach, reach)):
            run.rate(advance.t + h, x + h * rate, ends[side])
        changes.append(float(np.abs(ends[1] - ends[0])[: run.size].max()))
    near, far = changes
    return near > 0.3 * far and near > 1e-6 * float(np.abs(rate).max())
