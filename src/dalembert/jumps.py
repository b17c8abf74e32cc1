"""Why steps collapse: a constraint's residual, or a force, that jumps just ahead."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dalembert.errors import SimulationError
from dalembert.evaluation import evaluate
from dalembert.formulations.jet import Jet
from dalembert.integrators.advance import Advance
from dalembert.kernels import tables as T

Array = npt.NDArray[np.float64]

AHEAD = 1e-11  # how far beyond the last step to look, relative to the run; smooth residuals stay below it times the speed
JUMP = 1e-6


def jumping_constraint(advance: Advance) -> tuple[str, float] | None:
    """(element, residual) of the constraint that does not hold any more where the motion goes on by itself, if there is one."""
    run, x, rate = advance.run, advance.x, np.zeros_like(advance.x)
    mechanism, slots = run.mechanism, (run.I, run.F, run.W, run.forces, run.callbacks.compiled)
    if mechanism.m == 0 or run.system(T.RATE, advance.t, x.copy(), rate, *slots) != T.OK:
        return None
    times = advance.t_end * AHEAD * np.array([1e-2, 1e-1, 1.0])
    states = np.array([run.to_absolute((x + h * rate)[None])[0] for h in times])
    try:
        g = np.abs(evaluate(Jet().prepare(mechanism), advance.t + times, states).g).max(axis=0)
    except SimulationError:
        return None
    scale = 1.0 + float(np.abs(states).max())
    row = int(np.argmax(g))
    return (mechanism.element_of_row(row), float(g[row])) if g[row] > JUMP * scale else None
