"""States that no run gave, as a `Solution` with all its outputs."""

from __future__ import annotations

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.formulations.evaluation import Evaluated
from dalembert.formulations.jet import Jet
from dalembert.integrators.explicit_rk import DOP853
from dalembert.simulation.simulate import describe
from dalembert.simulation.solution import Solution


def solution_of_states(mechanism: Mechanism, t: Array, x: Array, evaluated: Evaluated | None = None) -> Solution:
    """(nt, nx) states at times t."""
    settings = describe(Jet(), DOP853(), mechanism, float(t[-1]))
    return Solution(mechanism, t, x, settings=settings, evaluated=evaluated, formulation=Jet(), integrator=DOP853())
