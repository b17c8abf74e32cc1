"""A model as a function of parameters: what it compiles to for given values, and how its tables depend on them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.by_formula import ByFormula, Made, split
from dalembert.compilation.compiled import KINDS, Compiled, Coordinates
from dalembert.compilation.family import Family, family_of
from dalembert.compilation.user_functions import content, identity
from dalembert.errors import AssemblyError, ModelError
from dalembert.formulations import Formulation
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model
from dalembert.model.validation import nearest, shown
from dalembert.results.sensitivities import LEVELS, STEP, Neighbours, extrapolated
from dalembert.simulation.tree_tangents import as_inertias, tangent_of

_ROUGH = 1e-5  # of a derivative, and of an entry over its parameter: what differences with h and h/2 may differ by
_SMALL = 1e-3  # entries below that are not looked at more closely: they may be rounding of larger ones
# differences with a step of _NEAR alone: what steps _FAR times as long may tell of their error, beside rounding
_NEAR, _FAR, _FINE, _ROUNDING = 2e-5, 3.0, 1e-9, 2e-14
_KINK = 0.1  # of a derivative: what it may differ by on both sides
_Models = Callable[[int], Compiled]


@dataclass(frozen=True, eq=False)
class Parametrised:
    """family : compiles models;  values : of all their parameters;  names : those to differentiate by"""

    family: Family
    values: Mapping[str, Any]
    names: tuple[str, ...]
    t_start: float

    def at(self, **changed: float) -> Compiled:
        """Compiled for other values of some parameters."""
        return self.family.mechanism({**self.values, **changed})

    @property
    def first(self) -> Compiled | None:
        """Compiled for the values themselves, where formulas give it with all that is beside it."""
        return None if self.around is None else self.around[0](-1)

    @cached_property
    def around(self) -> tuple[_Models, Made] | None:
        """Models of `changes`, then that of the values themselves, where formulas have an answer for all."""
        return self._by_formulas([*self.changes, {}])

    @cached_property
    def steps(self) -> dict[str, float]:
        return {name: _NEAR * (abs(float(self.values[name])) or 1.0) for name in self.names}

    @cached_property
    def changes(self) -> list[dict[str, float]]:
        """On both sides of each parameter; then, farther, of all at once."""
        values, both = {name: float(self.values[name]) for name in self.names}, (1.0, -1.0)
        near = [{name: values[name] + s * step} for name, step in self.steps.items() for s in both]
        return [*near, *({name: values[name] + s * _FAR * step for name, step in self.steps.items()} for s in both)]

    def all_at(self, changes: Sequence[Mapping[str, float]]) -> _Models:
        """`at` several values, by their numbers; at once where formulas have an answer for all."""
        try:
            found = self._by_formulas(changes)
            return [self.at(**changed) for changed in changes].__getitem__ if found is None else found[0]
        except (ModelError, AssemblyError) as problem:
            listed = ", ".join(f"{name} = {self.values[name]:g}" for name in dict.fromkeys(n for one in changes for n in one))
            problem.args = (f"sensitivities need models on both sides of {listed}: {problem}",)
            raise

    def _by_formulas(self, changes: Sequence[Mapping[str, float]]) -> tuple[_Models, Made] | None:
        every: list[dict[str, Any]] = [{**self.values, **changed} for changed in changes]
        given, fixed = zip(*map(split, every), strict=True)
        self.family.begin()
        for formulas in self.family.formulas:
            if all(numbers.keys() == set(formulas.names) for numbers in given) and all(f == formulas.fixed for f in fixed):
                _, can, made = formulas.many([np.array([numbers[name] for numbers in given]) for name in formulas.names])
                if made is not None and can.all():
                    return _models(formulas, every, made), made
        return None

    def neighbours(self, name: str, step: float) -> Neighbours:
        """Compiled models on both sides of a parameter, with LEVELS of a step."""
        p, steps = float(self.values[name]), [step * level for level in LEVELS]
        made = self.all_at([{name: p + s * h} for h in steps for s in (1.0, -1.0)])
        return Neighbours(lambda: tuple(pair for k, h in enumerate(steps) for pair in _pair(_half(p, h), made, k)))


def _models(formulas: ByFormula, every: Sequence[Mapping[str, Any]], made: Made) -> _Models:
    return cache(lambda k: formulas.mechanism(every[k], made.of([k])))


def _pair(h: float, models: _Models, k: int) -> tuple[tuple[float, Compiled, Compiled]]:
    return ((h, models(2 * k), models(2 * k + 1)),)


def _half(p: float, h: float) -> float:
    """Half the distance of p + h and p - h as they are rounded."""
    return 0.5 * ((p + h) - (p - h))


def parametrised(
    build: object,
    values: Mapping[str, Any] | None,
    names: Sequence[str],
    coordinates: Coordinates | None,
    formulation: Formulation | None,
    t_start: float,
) -> Parametrised:
    """A model with values of its parameters; those to differentiate by are checked: known, and numbers."""
    if isinstance(build, LagrangianSystem):
        defaults: dict[str, Any] = dict(build.parameters)
    elif callable(build) and not isinstance(build, Model):
        arguments = inspect.signature(build).parameters.values()
        defaults = {p.name: p.default for p in arguments if p.default is not p.empty}
    else:
        raise ModelError(
            "sensitivities go with a LagrangianSystem or with a function that returns a Model, def build(length, mass): ...;"
            f" got {shown(build)}"
        )
    all_of, listed = {**defaults, **(values or {})}, (names,) if isinstance(names, str) else tuple(names)
    for name in listed:
        if name not in all_of:
            raise ModelError(f"sensitivities: the model has no parameter {name!r}; {nearest(str(name), all_of)}")
        value = all_of[name]
        if isinstance(value, bool) or not isinstance(value, float | int | np.number) or not np.isfinite(value):
            raise ModelError(f"sensitivities: parameter {name!r} is {shown(value)}; derivatives go by finite numbers")
    if len(set(listed)) < len(listed):
        raise ModelError(f"sensitivities: {', '.join(listed)} names a parameter twice; give each once")
    taken = KINDS if formulation is None else formulation.coordinates
    return Parametrised(family_of(build, coordinates, t_start, taken=taken), all_of, listed, t_start)


@dataclass(frozen=True, eq=False)
class TableTangents:
    """dx : (n, p) of the run's first state;  dF, dW : (len(F), p), (len(W), p);  neighbours : by parameter, the models used"""

    dx: Array
    dF: Array
    dW: Array
    neighbours: Mapping[str, Neighbours]


def table_tangents(model: Parametrised, formulation: Formulation, run: Run, x_0: Array) -> TableTangents:
    """How the tables of a run and its first state depend on parameters: by extrapolated differences, which are checked."""
    base, kept = run.mechanism, run.W[_parameters(run)]
    own = np.concatenate([as_inertias(run, run.F), kept, x_0])

    def numbers(name: str, mechanism: Compiled) -> Array:
        other = formulation.prepare(mechanism)
        _check_same(name, run, other)
        start = other.from_absolute(mechanism.with_signs_of(base.x_0, mechanism.x_0), model.t_start)
        return np.concatenate([as_inertias(other, other.F), other.W[_parameters(other)], other.beside(start, x_0)])

    def at_once(like: Compiled, made: Made) -> Array | None:
        """Of models by formulas, which have nothing but numbers of their own."""
        alike = run.tree is None and np.array_equal(like.I, base.I) and not like.prescribes_lengths
        filled = formulation.refilled(run, made) if alike else None
        return None if filled is None else np.hstack([filled[0], [base.with_signs_of(base.x_0, x) for x in filled[1]]])

    sizes = np.concatenate([np.ones(len(run.F) + len(kept)), np.full(len(x_0), 1.0 + np.abs(x_0).max(initial=0.0))])
    found = _together(model, numbers, at_once, own, _ROUNDING * sizes)
    if found is None:
        found = [_alone(model, name, partial(numbers, name), own) for name in model.names]
    neighbours, columns = {}, []
    for name, (column, beside) in zip(model.names, found, strict=True):
        if not column.any() and all(above.model.hash == base.model.hash for _, above, _ in beside.pairs):
            raise ModelError(
                f"parameter {name!r} has no influence: the model is the same for {model.values[name]:g} and a value beside it;"
                " leave it out"
            )
        neighbours[name] = beside
        columns.append(np.concatenate([tangent_of(run, column[: len(run.F)], name), column[len(run.F) :]]))
    dF, some, dx = np.split(np.array(columns).T.reshape(len(own), -1), np.cumsum([len(run.F), len(kept)]))
    dW = np.zeros((len(run.W), len(columns)))
    dW[_parameters(run)] = some
    return TableTangents(dx, dF, dW, neighbours)


def _parameters(run: Run) -> slice:
    """Where those of a Lagrangian system are in the workspace, which is where its code reads them."""
    system, first = run.mechanism.model, int(run.I[T.W_CALL]) + 2 * int(run.I[T.NQ])
    return slice(first, first + len(system.parameters)) if isinstance(system, LagrangianSystem) else slice(0)


def _together(
    model: Parametrised, numbers: Callable[..., Array], at_once: Callable[..., Array | None], own: Array, rounding: Array
) -> list[tuple[Array, Neighbours]] | None:
    """One pair of models for each parameter, and one for all with longer steps, which shows what short ones leave out:
    (_FAR^3 - _FAR) times as much. None where that is too much, or where something bends."""
    found, allowed, ahead = [], rounding.copy(), np.zeros(len(own))
    beside = model.all_at(model.changes) if model.around is None else model.around[0]
    told: Any = None if model.around is None else at_once(beside(-1), model.around[1])
    if told is None:
        told = [numbers(next(iter(changed)), beside(k)) for k, changed in enumerate(model.changes)]
    for k, (name, step) in enumerate(model.steps.items()):
        value, after, before = float(model.values[name]), told[2 * k], told[2 * k + 1]
        h = _half(value, step)
        column = (after - before) / (2.0 * h)
        scale = h * ((np.abs(own) + _SMALL) / (abs(value) or 1.0) + np.abs(column))
        if np.any(np.abs(after - 2.0 * own + before) > _KINK * scale):
            return None
        found.append((column, Neighbours(partial(_pair, h, beside, k))))
        allowed += (_FAR**3 - _FAR) * _FINE * scale
        ahead += _FAR * h * column
    return None if np.any(np.abs(0.5 * (told[2 * len(found)] - told[2 * len(found) + 1]) - ahead) > allowed) else found


def _alone(model: Parametrised, name: str, numbers: Callable[[Compiled], Array], own: Array) -> tuple[Array, Neighbours]:
    """Two pairs of models, extrapolated."""
    value = float(model.values[name])
    step, rough = STEP * (abs(value) or 1.0), np.inf
    for _ in range(4):  # nearer, where something in the model is curved
        beside = model.neighbours(name, step)
        ends = [(h, numbers(above), numbers(below)) for h, above, below in beside.pairs]
        found, change = extrapolated([(after - before) / (2.0 * h) for h, after, before in ends])
        scale = (np.abs(own) + _SMALL) / (abs(value) or 1.0) + np.abs(found)
        rough = float(np.max(change / scale, initial=0.0))
        h, after, before = ends[-1]
        if rough <= _ROUGH and np.all(np.abs(after - 2.0 * own + before) <= _KINK * h * scale):
            return found, beside
        step *= 0.125
    raise ModelError(
        f"parameter {name!r}: the model has no derivative at {value:g}: its tables jump, have a kink, or bend by {rough:.1e},"
        f" within {step:.1e} of it; start beside that value, or in another pose"
    )


def _check_same(name: str, run: Run, other: Run) -> None:
    """A parameter may change numbers only."""
    mine, theirs = (
        [content(f.call.function) or identity(f.call.function) for f in r.mechanism.functions if f.call is not None]
        for r in (run, other)
    )
    if mine != theirs:
        raise ModelError(
            f"parameter {name!r} is a constant in a function of the model, or may be, which tables do not see; give it to the"
            f" function by parameters={{{name!r}: {name}}} of the element"
        )
    if run.callbacks.traced != other.callbacks.traced:
        raise ModelError(
            f"parameter {name!r} is a constant in a function of the model that became code (of a motion, a constraint, a"
            " coupling, a cam, a Lagrangian), which tables do not see; say a motion by Polynomial, Harmonic, SmoothStep or"
            " Table, and give a LagrangianSystem its numbers by parameters={...}"
        )
    if len(run.F) != len(other.F) or len(run.I) != len(other.I):
        raise ModelError(f"parameter {name!r} changes the structure of the model; derivatives go by numbers only")
