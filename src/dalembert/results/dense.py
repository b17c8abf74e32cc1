"""Dense output: states between the saved ones, integrated from the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.formulations import FORMULATIONS
from dalembert.integrators import INTEGRATORS
from dalembert.run.settings import from_data
from dalembert.run.steps import one_step

if TYPE_CHECKING:
    from dalembert.results.solution import Result


NEAR = 1e-14  # of a time: too short for a step


def times_of(t: float | npt.ArrayLike) -> Array:
    """(nt,) times that are asked for."""
    if isinstance(t, str):
        raise ModelError(f"solution({t!r}): give a time, for the state then; solution.signal({t!r}) has values at all times")
    return np.atleast_1d(np.asarray(t, dtype=float))


def methods_of(solution: Result) -> tuple[Any, Any]:
    """Formulation and integrator of a run, of a stored one too."""
    formulation = solution.formulation or from_data(solution.settings["formulation"], FORMULATIONS)
    return formulation, solution.integrator or from_data(solution.settings["integrator"], INTEGRATORS)


def integrate_to(solution: Result, times: Array) -> Array:
    """States of a solution at any times within its run, from the saved state before each."""
    formulation, integrator = methods_of(solution)
    run = formulation.prepare(solution.mechanism)
    states = np.zeros((len(times), solution.x.shape[1]))
    for k, t in enumerate(times):
        at = int(np.searchsorted(solution.t, t, side="right")) - 1
        states[k] = solution.x[at]
        if t - solution.t[at] > NEAR * abs(t):
            begin = float(solution.t[at])
            x = one_step(run, integrator, begin, run.from_absolute(solution.x[at], begin), float(t))
            states[k] = run.to_absolute(x[None])[0]
            near = states[k - 1] if k and begin < times[k - 1] < t else solution.x[at]
            states[k] = solution.mechanism.with_signs_of(near, states[k])
    return states
