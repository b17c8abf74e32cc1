"""Quantities of a run that should stay constant: by name, by the user's functions, with what their change is compared with.

    solution.invariant("angular momentum z")                            a Model: also "energy", "linear momentum", ... x, y, z
    solution.invariant("momentum theta")                                a LagrangianSystem: conjugate to a coordinate
    solution.invariant(lambda solution: solution.momentum.about((1, 0, 0)).angular[:, 2])
    solution.invariant(lambda q, v, p: p.m * (q.x * v.y - q.y * v.x))   a LagrangianSystem: traced, arguments by name
    solution.report(invariants=[...]);  solution.plot.invariants([...])

Which of them a model conserves is the user's to state; nothing is guessed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, ModelError, SimulationError
from dalembert.formulations.invariants import invariant_functions
from dalembert.model.validation import nearest, shown

if TYPE_CHECKING:
    from dalembert.results.solution import Result


@dataclass(frozen=True, eq=False)
class Invariant:
    """values : (nt,), or (nt, 3) of a vector;  scale : what a change is compared with;  unit : of values and scale"""

    name: str
    values: Array
    scale: float
    unit: str = ""

    @property
    def deviation(self) -> Array:
        """(nt,) |f - f(first state)| / scale."""
        change = self.values - self.values[:1]
        return np.asarray(np.linalg.norm(change.reshape(len(change), -1), axis=1) / (self.scale or 1.0))


Monitored = str | Callable[..., Any] | Invariant


def as_list(which: Monitored | Sequence[Monitored]) -> Sequence[Monitored]:
    """One or several."""
    return (which,) if isinstance(which, str | Invariant) or callable(which) else which


def make_invariant(solution: Result, what: Monitored, name: str | None, scale: float | None) -> Invariant:
    """What `Result.invariant` returns."""
    if isinstance(what, Invariant):
        made = what
    elif isinstance(what, str):
        known = solution.named_invariants()
        if what not in known:
            raise ModelError(f"there is no invariant {what!r}; {nearest(what, known)}, or give a function")
        made = known[what](what)
    elif callable(what):
        own = getattr(what, "__name__", "function")
        values = _values(solution, what, name or own)
        made = Invariant(own, values, float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0)))
    else:
        raise ModelError(f"an invariant is {shown(what)}; give a name, a function or an Invariant")
    return Invariant(name or made.name, made.values, made.scale if scale is None else float(scale), made.unit)


def _values(solution: Result, function: Callable[..., Any], name: str) -> Array:
    """(nt,) or (nt, n) values of a user's function."""
    try:
        values = solution.values_of(function)
    except DalembertError:
        raise
    except Exception as problem:
        raise SimulationError(f"invariant {name!r} raised {problem!r}") from problem
    if values.shape[:1] != solution.t.shape or values.ndim > 2:
        raise ModelError(
            f"invariant {name!r} returned values of shape {values.shape}; return one number or vector for each of the"
            f" {len(solution.t)} states"
        )
    return values


def kept_invariants(solution: Result) -> list[Invariant]:
    """The functions that the run's formulation kept constant, with the scale that it uses; a stored run has lost them."""
    made = []
    for function in invariant_functions(getattr(solution.formulation, "invariants", None)):
        values = solution.kept_values(function)
        scale = max(1.0, abs(float(values[0]))) if len(values) else 1.0
        made.append(Invariant(getattr(function, "__name__", "function"), values, scale))
    return made


def required_arguments(function: Callable[..., Any]) -> list[str]:
    """Names of the arguments that a function must be given."""
    listed = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in listed if parameter.default is parameter.empty]
