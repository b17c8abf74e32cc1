"""Quantities that a formulation keeps constant by correcting the state: the energy balance, functions of the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rank import arm_length
from dalembert.errors import ModelError
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T
from dalembert.model.validation import argument_count

Invariant = Callable[..., float]
Invariants = Literal["energy"] | Sequence[Invariant] | None


def check_invariants(owner: str, invariants: Invariants) -> None:
    """Refuse what is neither None, "energy" nor functions f(t, q, u)."""
    if invariants != "energy" if isinstance(invariants, str) else not isinstance(invariants, Sequence | None):
        raise ModelError(f"{owner}: invariants is {invariants!r}; give None, 'energy' or a list of functions")
    for function in invariant_functions(invariants):
        if not callable(function) or argument_count(function) not in (3, -1):
            raise ModelError(f"{owner}: invariants holds {function!r}; give functions f(t, q, u) that return a number")


def invariant_functions(invariants: Invariants) -> tuple[Invariant, ...]:
    """The user's functions."""
    return () if invariants is None or isinstance(invariants, str) else tuple(invariants)


def with_invariants(run: Run, invariants: Invariants) -> Run:
    """The run with their values at the start, which it keeps."""
    if invariants is None:
        return run
    if run.mechanism.degrees_of_freedom == 0 and invariants:
        kept = "the energy" if invariants == "energy" else "invariants"
        raise ModelError(
            f"invariants={invariants!r}: no freedom is left to correct {kept} (0 degrees of freedom); leave it out:"
            " the report shows the energy balance"
        )
    x_0 = run.mechanism.x_0
    T_0, U_0 = run.mechanism.energies(x_0, run.mechanism.t_0)
    W_0 = float(x_0[run.mechanism.nq + run.mechanism.nu])  # of a run that goes on
    run.I[T.ENERGY] = int(invariants == "energy")
    run.F[T.ENERGY_0], run.F[T.ENERGY_SCALE] = T_0 + U_0 - W_0, max(abs(T_0), abs(U_0), min(_at_stake(run), 1.0)) or 1.0
    values = []
    for k, function in enumerate(invariant_functions(invariants)):
        values.append(run.callbacks.invariant(k, run.mechanism.t_0, x_0))
        if not np.isfinite(values[-1]):
            name = getattr(function, "__name__", f"invariant {k}")
            raise ModelError(f"invariant {name!r} is {values[-1]} at the start; give a function that is finite there")
    run.I[T.NINVARIANT], run.I[T.INVARIANT_F] = len(values), len(run.F)
    return replace(run, F=np.concatenate([run.F, values]))


def _at_stake(run: Run) -> float:
    """The energy [J] that weights and springs give and take over the size of a mechanism."""
    mechanism = run.mechanism
    if not isinstance(mechanism, Mechanism):
        return 1.0
    places = np.array([body.position for body in mechanism.model.bodies])
    size = arm_length(mechanism) + float(np.max(np.ptp(places, axis=0)))
    weight = float(np.linalg.norm(mechanism.model.gravity)) * sum(body.mass for body in mechanism.model.bodies)
    return weight * size + sum(force.energy_scale(size) for force in mechanism.model.forces)
