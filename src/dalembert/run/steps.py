"""A few steps by themselves: to a time inside a step, between saved states, once more with another step size."""

from __future__ import annotations

from dalembert.arrays import Array
from dalembert.formulations.run import Run
from dalembert.integrators.advance import Advance
from dalembert.integrators.integrator import Integrator
from dalembert.kernels.base import tables as T
from dalembert.run.failure import failure_of


def one_step(run: Run, integrator: Integrator, t_0: float, x_0: Array, t: float) -> Array:
    """Integrate from a state of the run to a nearby time: its state there."""
    if t <= t_0:
        return x_0.copy()
    short = Advance(run, integrator, t_0, x_0, t, None)
    if (status := short.to_the_end()) != T.OK:
        raise failure_of(status, short)
    return short.x
