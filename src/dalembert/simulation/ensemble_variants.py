"""The runs of an ensemble before they start: variants of a model that differ in numbers, or many starts of one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.at_state import RowsAtState
from dalembert.compilation.by_formula import ByFormula, Made
from dalembert.compilation.compiled import Compiled, Coordinates
from dalembert.compilation.family import Family, family_of
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.phases import MEETS
from dalembert.compilation.rows import dense_rows, measured
from dalembert.errors import DalembertError, ModelError
from dalembert.formulations import Formulation
from dalembert.formulations.evaluation import Evaluated, evaluate_variants
from dalembert.formulations.run import Run
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.simulation.parameters import run_named
from dalembert.simulation.start import refuse_vanishing_lengths

_MANY = 64  # starts whose angles are measured by compiled code


class OnDemand(Sequence[Any]):
    """One of something for each run, made where it is asked for.

    made : what there is, or functions that make it
    """

    def __init__(self, made: list[Any]) -> None:
        self._made = made

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(self._made[k], partial):
            self._made[k] = self._made[k]()
        return self._made[k]

    def __getstate__(self) -> dict[str, Any]:
        return {"_made": list(self)}


@dataclass(frozen=True, eq=False)
class RunGroup:
    """Runs that one compiled loop can take.

    numbers : which;  run : the first;  tables : constants and fresh workspaces, one row for all or one for each
    starts : (runs, n) states of the runs
    """

    numbers: npt.NDArray[np.int64]
    run: Run
    tables: tuple[Array, Array]
    starts: Array

    def told(self, x: Array, runs: Sequence[Run], given: Sequence[Array]) -> Array:
        """(runs, nx) states of the mechanisms for (runs, n) states of the runs; given : those at the start"""
        if type(self.run) is not Run:
            return np.array([runs[k].to_absolute(one[None])[0] for k, one in zip(self.numbers, x, strict=True)])
        if self.run.tree is None or len(self.tables[0]) == 1:
            return self.run.to_absolute(x)
        fresh = (x == self.starts).all(axis=1)  # an assembled start that no projection has touched
        return np.array(
            [given[k] if f else runs[k].to_absolute(one[None])[0] for k, f, one in zip(self.numbers, fresh, x, strict=True)]
        )

    def evaluated(self, saved: Callable[[int], tuple[Array, Array]]) -> list[Evaluated | None]:
        """Outputs at saved states, None where a run has to be evaluated by itself; `run` is of the reference formulation."""
        if not self.run.as_told:
            return [None] * len(self.numbers)
        F = np.broadcast_to(self.tables[0], (len(self.numbers), self.tables[0].shape[1]))
        return evaluate_variants(self.run, F, [saved(k) for k in self.numbers.tolist()])


@dataclass(eq=False)
class Variants:
    """Models of all runs compiled and prepared, and by run what kept one from being made.

    given : initial states of the mechanisms
    """

    mechanisms: Sequence[Compiled]
    runs: Sequence[Run]
    groups: list[RunGroup]
    given: list[Array]
    problems: dict[int, str]


def variants(
    model: Any,
    parameters: Mapping[str, npt.NDArray[Any]],
    coordinates: Coordinates | None,
    formulation: Formulation,
    t_end: float,
) -> Variants:
    """The model compiled and prepared for every row of the table: by formulas, many at once, where it can be.

    In the place of a run that cannot be made stands another, that will not be run. Where none can, the first problem is raised.
    """
    if not isinstance(model, LagrangianSystem) and not callable(model):
        raise ModelError(
            "parameters go with a LagrangianSystem or with a function that returns a Model, "
            f"def model({', '.join(parameters)}): ...; got {type(model).__name__}"
        )
    making = _Making(family_of(model, coordinates, taken=formulation.coordinates), parameters, formulation, t_end)
    todo = np.arange(making.count)
    making.family.begin()
    while len(todo):  # the first as it is, which leaves formulas for those that are built like it
        making.one(int(todo[0]))
        todo = making.many(todo[1:])
    return making.result()


class _Making:
    """Models of many runs on their way."""

    def __init__(self, family: Family, table: Mapping[str, npt.NDArray[Any]], formulation: Formulation, t_end: float) -> None:
        self.family, self._table, self._formulation, self._t_end = family, table, formulation, t_end
        self.count = len(next(iter(table.values())))
        self._mechanisms: list[Any] = [None] * self.count
        self._runs: list[Any] = [None] * self.count
        self._given: list[Any] = [None] * self.count
        self._parts: dict[tuple[object, ...], list[RunGroup]] = {}
        self._problems: dict[int, DalembertError] = {}
        self._codes: dict[int, int] = {}

    def one(self, k: int) -> None:
        """A run by itself."""
        self._prepared(k, lambda: self.family.mechanism(_row(self._table, k), within=True))

    def _prepared(self, k: int, made: Callable[[], Compiled]) -> None:
        try:
            self._take(k, made())
        except DalembertError as problem:
            problem.args = (f"{run_named(k, _row(self._table, k))}: {problem}",)
            self._problems[k] = problem

    def _take(self, k: int, mechanism: Compiled) -> None:
        refuse_vanishing_lengths(mechanism, 0.0, self._t_end)
        run = self._formulation.prepare(mechanism)
        self._mechanisms[k], self._runs[k], self._given[k] = mechanism, run, mechanism.x_0
        code = id(run.callbacks.compiled)
        if mechanism.functions and code not in self._codes and len(self._codes) == 1:
            warnings.warn(
                f"run {k} has user-written functions that do not compute what those of run {min(self._codes.values())} do, and"
                " each is compiled by itself: where a parameter is a constant in them, give it to the element,"
                " parameters={...}",
                RuntimeWarning,
                stacklevel=6,
            )
        self._codes.setdefault(code, k)
        self._add(_alone(k, run, mechanism.x_0))

    def _add(self, group: RunGroup) -> None:
        self._parts.setdefault(_kind(group.run), []).append(group)

    def many(self, todo: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Runs that formulas have an answer for, and those that they should have one for by themselves; which are left."""
        for formulas in self.family.formulas if len(todo) else ():
            floats = {name for name, values in self._table.items() if values.dtype == np.float64}
            told = floats == set(formulas.names) and self._table.keys() - floats == formulas.fixed.keys()
            if not told or any(values.ndim > 1 for values in self._table.values()):
                continue
            mine = np.ones(len(todo), dtype=bool)
            for name, value in formulas.fixed.items():
                mine &= self._table[name][todo] == value
            at = todo[mine]
            holds, can, made = formulas.many([self._table[name][at] for name in formulas.names])
            if made is not None:
                for which in (made.uneven, ~made.uneven):
                    if which.any():
                        self._filled(formulas, at[can][which], made.of(which))
            for k in at[holds & ~can]:
                self.one(int(k))
            todo = np.setdiff1d(todo, at[holds])
        return todo

    def _filled(self, formulas: ByFormula, numbers: npt.NDArray[np.int64], made: Made) -> None:
        """Runs of models that differ in numbers only."""
        for j, k in enumerate(numbers.tolist()):
            self._mechanisms[k] = partial(_mechanism, formulas, self._table, k, made, j)  # not self: it has this list
            self._given[k] = made.x_0[j]
        mechanisms, filled, right = OnDemand(self._mechanisms), None, np.zeros(len(numbers), dtype=bool)
        first = mechanisms[int(numbers[0])]
        with suppress(DalembertError):  # told run by run
            run = self._formulation.prepare(first)
            filled = None if first.prescribes_lengths else self._formulation.refilled(run, made)
        if filled is not None:
            F, starts, right = filled
            self._add(RunGroup(numbers[right], run, (F[right], run.W[None]), starts[right]))
        for k, done in zip(numbers.tolist(), right, strict=True):
            if done:
                self._runs[k] = partial(_run, self._formulation, mechanisms, k)
            else:
                self._prepared(k, partial(mechanisms.__getitem__, k))

    def result(self) -> Variants:
        """All of them."""
        made = [k for k in range(self.count) if k not in self._problems]
        if not made:  # tracebacks hold this and all runs: what it keeps of them would wait for the collector
            self._problems = {0: self._problems[0]}
            raise self._problems.pop(0)
        mechanism, run = OnDemand(self._mechanisms)[made[0]], OnDemand(self._runs)[made[0]]
        for k in self._problems:
            self._mechanisms[k], self._runs[k], self._given[k] = mechanism, run, mechanism.x_0
            self._add(_alone(k, run, mechanism.x_0))
        groups = sorted(map(_together, self._parts.values()), key=lambda group: int(group.numbers[0]))
        problems = {k: str(problem) for k, problem in sorted(self._problems.items())}
        self._problems.clear()
        return Variants(OnDemand(self._mechanisms), OnDemand(self._runs), groups, self._given, problems)


def _row(table: Mapping[str, npt.NDArray[Any]], k: int) -> dict[str, Any]:
    return {name: _plain(values[k]) for name, values in table.items()}


def _mechanism(formulas: ByFormula, table: Mapping[str, npt.NDArray[Any]], k: int, made: Made, j: int) -> Mechanism:
    return formulas.mechanism(_row(table, k), made.of([j]))


def _run(formulation: Formulation, mechanisms: Sequence[Compiled], k: int) -> Run:
    return formulation.prepare(mechanisms[k])


def _together(parts: list[RunGroup]) -> RunGroup:
    """Groups of one kind as one, in the order of their runs: those that share steps follow from this order alone."""
    order = np.argsort(np.concatenate([part.numbers for part in parts]))
    F, starts = (np.concatenate(of)[order] for of in zip(*((part.tables[0], part.starts) for part in parts), strict=True))
    W, numbers = parts[0].run.W[None], np.sort(np.concatenate([part.numbers for part in parts]))
    if not all(np.array_equal(part.run.W, W[0]) for part in parts):
        W = np.concatenate([np.tile(part.run.W, (len(part.numbers), 1)) for part in parts])[order]
    return RunGroup(numbers, parts[0].run, (F, W), starts)


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


def groups_of(runs: Sequence[Run], given: Sequence[Array]) -> list[RunGroup]:
    """Runs from initial states of their mechanisms, by integer tables and code of user functions."""
    run = runs[0]
    if type(run) is Run and all(other is run for other in runs):
        starts = np.ascontiguousarray(run.from_absolute(np.array(given)))
        return [RunGroup(np.arange(len(runs)), run, (run.F[None], run.W[None]), starts)]
    found: dict[tuple[object, ...], list[RunGroup]] = {}
    for k, (run, x) in enumerate(zip(runs, given, strict=True)):
        found.setdefault(_kind(run), []).append(_alone(k, run, x))
    return [_together(parts) for parts in found.values()]


def _kind(run: Run) -> tuple[object, ...]:
    """What runs share that one compiled loop can take."""
    return type(run), run.I.tobytes(), len(run.F), len(run.W), id(run.callbacks.compiled)


def _alone(k: int, run: Run, x_0: Array) -> RunGroup:
    return RunGroup(np.array([k]), run, (run.F[None], run.W[None]), np.asarray(run.from_absolute(x_0))[None])


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
