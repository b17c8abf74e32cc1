"""The runs of an ensemble before they start: variants of a model that differ in numbers, or many starts of one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.at_state import RowsAtState
from dalembert.compilation.compile import refuse_vanishing_lengths
from dalembert.compilation.compiled import Compiled, Coordinates
from dalembert.compilation.family import family_of
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.phases import MEETS
from dalembert.compilation.rows import dense_rows, measured
from dalembert.errors import DalembertError, ModelError
from dalembert.formulations import Formulation
from dalembert.formulations.run import Run
from dalembert.lagrangian.system import LagrangianSystem

_MANY = 64  # starts whose angles are measured by compiled code


def variants(
    model: Any,
    parameters: Mapping[str, npt.NDArray[Any]],
    coordinates: Coordinates | None,
    formulation: Formulation,
    t_end: float,
) -> tuple[list[Compiled], list[Run], dict[int, str]]:
    """The model compiled and prepared for every row of the table, and by run what kept one from being made.

    In the place of such a run stands another, that will not be run. Where none can be made, the first problem is raised.
    """
    rows = [dict(zip(parameters, map(_plain, row), strict=True)) for row in zip(*parameters.values(), strict=True)]
    if not isinstance(model, LagrangianSystem) and not callable(model):
        raise ModelError(
            "parameters go with a LagrangianSystem or with a function that returns a Model, "
            f"def model({', '.join(parameters)}): ...; got {type(model).__name__}"
        )
    family = family_of(model, coordinates, taken=formulation.coordinates)
    made: dict[int, tuple[Compiled, Run]] = {}
    problems: dict[int, DalembertError] = {}
    codes: dict[int, int] = {}
    for k, row in enumerate(rows):
        try:
            mechanism = family.mechanism(row)
            refuse_vanishing_lengths(mechanism.model, 0.0, t_end)
            made[k] = mechanism, formulation.prepare(mechanism)
            codes.setdefault(id(made[k][1].callbacks.compiled), k)
            if mechanism.functions and len(codes) == 2 and codes[id(made[k][1].callbacks.compiled)] == k:
                warnings.warn(
                    f"run {k} has user-written functions that do not compute what those of run {min(codes.values())} do, and"
                    " each is compiled by itself: where a parameter is a constant in them, give it to the element,"
                    " parameters={...}",
                    RuntimeWarning,
                    stacklevel=3,
                )
        except DalembertError as problem:
            shown = ", ".join(f"{name} = {value}" for name, value in row.items())
            problem.args = (f"run {k} with {shown}: {problem}",)
            problems[k] = problem
    if not made:
        raise problems[0]
    stand_in = next(iter(made.values()))
    pairs = [made.get(k, stand_in) for k in range(len(rows))]
    return [m for m, _ in pairs], [run for _, run in pairs], {k: str(problem) for k, problem in problems.items()}


def _plain(value: Any) -> Any:
    """A number of Python for one of NumPy."""
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class FromStarts(Sequence[Compiled]):
    """A mechanism for each of many starts, made where it is asked for."""

    base: Compiled
    starts: Sequence[Array]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, k: Any) -> Any:
        return replace(self.base, x_0=self.starts[k])


def groups_of(runs: Sequence[Run]) -> list[npt.NDArray[np.int64]]:
    """The numbers of the runs that one compiled loop can take: they share integer tables and the code of user functions."""
    keys: dict[int, tuple[object, ...]] = {}
    found: dict[tuple[object, ...], list[int]] = {}
    for k, run in enumerate(runs):
        if id(run) not in keys:
            keys[id(run)] = type(run), run.I.tobytes(), len(run.F), len(run.W), id(run.callbacks.compiled)
        found.setdefault(keys[id(run)], []).append(k)
    return [np.array(numbers) for numbers in found.values()]


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
        counting = {joint.name for joint in mechanism.model.joints if joint.coupled}
        rows = [row.index for row in mechanism.rows if row.element in counting]
        tables: Any = mechanism
        if len(full) >= _MANY:
            quick = {"row_source": mechanism.row_source, "quick": RowsAtState(mechanism)}
            tables = SimpleNamespace(I=mechanism.I, F=mechanism.F.copy(), **quick)  # the mechanism's own is read-only
        for k, x in enumerate(full):
            x[n + 1 :] = measured(tables, x)
            if not rows:
                continue
            g = np.abs(dense_rows(tables, mechanism.t_0, x)[1][rows])
            if g.max(initial=0.0) > MEETS * (1.0 + float(np.abs(x[: mechanism.nq]).max())):
                name = mechanism.element_of_row(rows[int(np.argmax(g))])
                raise ModelError(
                    f"initial_states of run {k} miss {name!r} by {g.max():.3g}: q and u do not tell how many turns its angles"
                    f" have made; give whole states, (runs, {nx}) rows as in solution.x"
                )
    return full


def starts_of(runs: Sequence[Run], given: Sequence[Array]) -> Array:
    """(runs, n) states of the runs of a group from those of their mechanisms."""
    run = runs[0]
    if type(run) is Run and all(other is run for other in runs):
        return np.ascontiguousarray(run.from_absolute(np.array(given)))
    return np.array([r.from_absolute(x) for r, x in zip(runs, given, strict=True)])
