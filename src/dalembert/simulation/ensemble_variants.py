"""The runs of an ensemble before they start: variants of a model that differ in numbers, or many starts of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.compilation.compile import refuse_vanishing_lengths
from dalembert.compilation.compiled import Compiled, Coordinates
from dalembert.compilation.family import Family
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import measured
from dalembert.errors import DalembertError, ModelError
from dalembert.formulations import Formulation
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.system import LagrangianSystem

Array = npt.NDArray[np.float64]


def variants(
    model: Any, parameters: Mapping[str, npt.ArrayLike], coordinates: Coordinates | None, formulation: Formulation, t_end: float
) -> tuple[list[Compiled], list[Run], dict[int, str]]:
    """The model compiled and prepared for every row of the table, and by run what kept one from being made.

    In the place of such a run stands another, that will not be run. Where none can be made, the first problem is raised.
    """
    table = {name: np.asarray(values) for name, values in parameters.items()}
    lengths = {name: (len(values) if values.ndim else 0) for name, values in table.items()}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        raise ModelError(f"parameters: give one value per run for each name; got lengths {lengths or 'of nothing'}")
    rows = [{name: _plain(values[k]) for name, values in table.items()} for k in range(next(iter(lengths.values())))]
    if not isinstance(model, LagrangianSystem) and not callable(model):
        raise ModelError(
            "parameters go with a LagrangianSystem or with a function that returns a Model, "
            f"def model({', '.join(table)}): ...; got {type(model).__name__}"
        )
    family = Family(model, coordinates, taken=formulation.coordinates)
    made: dict[int, tuple[Compiled, Run]] = {}
    problems: dict[int, DalembertError] = {}
    for k, row in enumerate(rows):
        try:
            mechanism = family.mechanism(row)
            refuse_vanishing_lengths(mechanism.model, 0.0, t_end)
            made[k] = mechanism, formulation.prepare(mechanism)
        except DalembertError as problem:
            shown = ", ".join(f"{name} = {value}" for name, value in row.items())
            problem.args = (f"run {k} with {shown}: {problem}",)
            problems[k] = problem
    if not made:
        raise problems[0]
    _check_same({k: run for k, (_, run) in made.items()})
    stand_in = next(iter(made.values()))
    pairs = [made.get(k, stand_in) for k in range(len(rows))]
    return [m for m, _ in pairs], [run for _, run in pairs], {k: str(problem) for k, problem in problems.items()}


def _plain(value: Any) -> Any:
    """A number of Python for one of NumPy."""
    return value.item() if isinstance(value, np.generic) else value


def _check_same(runs: Mapping[int, Run]) -> None:
    """All runs share the integer tables and the code of user functions, so that one compiled loop can take them."""
    number, first = next(iter(runs.items()))
    sweeps = max(int(run.I[T.REFINE]) for run in runs.values())  # those of the most uneven masses serve all
    for k, run in runs.items():
        run.I[T.REFINE] = sweeps
        if run.callbacks.compiled is not first.callbacks.compiled:
            raise ModelError(
                f"run {k} has user-written functions that do not compute what those of run {number} do: a parameter is a"
                " constant in them; make it a number of the model (a stiffness, a mass, a point), or give initial_states"
            )
        if len(run.F) != len(first.F) or not np.array_equal(run.I, first.I):
            raise ModelError(f"run {k} has another structure than run {number}; parameters may change numbers only")


def full_states(mechanism: Compiled, initial: npt.ArrayLike | None) -> Array:
    """(runs, nx) states from rows (q, u) or whole states."""
    try:
        states = np.atleast_2d(np.asarray(initial, dtype=float))
    except (TypeError, ValueError):
        raise ModelError("initial_states: give an array (runs, nq + nu)") from None
    n, nx = mechanism.nq + mechanism.nu, len(mechanism.x_0)
    if states.ndim != 2 or states.shape[1] not in (n, nx) or not len(states):
        raise ModelError(f"initial_states have the shape {states.shape}; give (runs, {n}): q and u of every run")
    bad = np.flatnonzero(~np.isfinite(states).all(axis=1))
    if len(bad):
        raise ModelError(f"initial_states of run {bad[0]} are not finite")
    if states.shape[1] == nx:
        return states.copy()
    full = np.tile(mechanism.x_0, (len(states), 1))
    full[:, :n] = states
    if isinstance(mechanism, Mechanism) and mechanism.angles:
        for x in full:
            x[n + 1 :] = measured(mechanism, x)
    return full


def starts_of(runs: list[Run], given: Array) -> Array:
    """(runs, n) states of the runs from those of their mechanisms."""
    run = runs[0]
    if type(run) is Run and all(other is run for other in runs):
        return np.ascontiguousarray(run.from_absolute(given))
    return np.array([r.from_absolute(x) for r, x in zip(runs, given, strict=True)])
