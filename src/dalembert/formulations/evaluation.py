"""What saved states imply: multipliers, accelerations, residuals and energies, evaluated after a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import SimulationError
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T


@dataclass(frozen=True, eq=False)
class Evaluated:
    """lam (nt, m), accelerations (nt, 6 nb or n), g (nt, m_all), g_dot (nt, m), energy (nt, 2) at the saved states."""

    lam: Array
    acceleration: Array
    g: Array
    g_dot: Array
    energy: Array


def evaluate(run: Run, t: Array, x: Array) -> Evaluated:
    """Outputs of the equations of motion at given states of a run."""
    from dalembert.compilation.loops import compiled

    mechanism = run.mechanism
    nt = len(t)
    m_all = int(mechanism.I[T.M_ALL])
    out = Evaluated(
        np.full((nt, mechanism.m), np.nan),
        np.full((nt, mechanism.acceleration_size), np.nan),
        np.full((nt, m_all), np.nan),
        np.full((nt, mechanism.m), np.nan),
        np.full((nt, 2), np.nan),
    )
    status = compiled("evaluate_states")(
        np.ascontiguousarray(t), np.ascontiguousarray(x), np.zeros(x.shape[1]), out.lam, out.acceleration, out.g, out.g_dot,
        out.energy, run.view,
    )  # fmt: skip
    if run.callbacks.error is not None:
        (name, problem), run.callbacks.error = run.callbacks.error, None
        raise SimulationError(f"user function {name!r} raised {problem!r}") from problem
    if status not in (T.OK, T.NON_FINITE):
        raise SimulationError("the saved states could not be evaluated")
    return out
