"""A model as a function of parameters: what it compiles to for given values, and how its tables depend on them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import KINDS, Compiled, Coordinates
from dalembert.compilation.family import Family, family_of
from dalembert.compilation.user_functions import content
from dalembert.errors import ModelError
from dalembert.formulations import Formulation
from dalembert.formulations.run import Run
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model
from dalembert.model.validation import nearest, shown
from dalembert.results.sensitivities import LEVELS, STEP, Neighbours
from dalembert.simulation.tree_tangents import as_inertias, tangent_of

_ROUGH = 1e-5  # of a derivative, and of an entry over its parameter: what differences with h and h/2 may differ by
_SMALL = 1e-3  # entries below that are not looked at more closely: they may be rounding of larger ones


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

    def neighbours(self, name: str, step: float) -> Neighbours:
        """Compiled models on both sides of a parameter."""
        p = float(self.values[name])
        pairs = []
        for h in (step * level for level in LEVELS):
            above, below = p + h, p - h
            pairs.append((0.5 * (above - below), self.at(**{name: above}), self.at(**{name: below})))
        return Neighbours(tuple(pairs))


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
    """dx : (n, p) of the run's first state;  dF : (len(F), p);  neighbours : by parameter, the models used"""

    dx: Array
    dF: Array
    neighbours: Mapping[str, Neighbours]


def table_tangents(model: Parametrised, formulation: Formulation, run: Run, x_0: Array) -> TableTangents:
    """How the tables of a run and its first state depend on parameters: by extrapolated differences, which are checked."""
    columns, kept = [], {}
    for name in model.names:
        column, kept[name] = _column(model, name, formulation, run, x_0)
        columns.append(column)
    both = np.array(columns).T.reshape(len(run.F) + len(x_0), len(columns))
    return TableTangents(both[len(run.F) :], both[: len(run.F)], kept)


def _column(model: Parametrised, name: str, formulation: Formulation, run: Run, x_0: Array) -> tuple[Array, Neighbours]:
    value = float(model.values[name])
    base, t = run.mechanism, model.t_start
    own = np.concatenate([as_inertias(run, run.F), x_0])

    def numbers(mechanism: Compiled) -> Array:
        other = formulation.prepare(mechanism)
        _check_same(name, run, other)
        start = other.from_absolute(mechanism.with_signs_of(base.x_0, mechanism.x_0), t)
        return np.concatenate([as_inertias(other, other.F), start])

    step, rough = STEP * (abs(value) or 1.0), np.inf
    for _ in range(4):  # nearer, where something in the model is curved
        beside = model.neighbours(name, step)
        found, change = beside.derivative(numbers)
        scale = (np.abs(own) + _SMALL) / (abs(value) or 1.0) + np.abs(found)
        rough = float(np.max(change / scale, initial=0.0))
        if rough <= _ROUGH:
            if not found.any() and all(above.model.hash == base.model.hash for _, above, _ in beside.pairs):
                raise ModelError(
                    f"parameter {name!r} has no influence: the model is the same for {value:g} and {value + step:g};"
                    " leave it out"
                )
            return np.concatenate([tangent_of(run, found[: len(run.F)], name), found[len(run.F) :]]), beside
        step *= 0.125
    raise ModelError(
        f"parameter {name!r}: the model has no derivative at {value:g}: its tables jump, or bend by {rough:.1e}, within"
        f" {step:.1e} of it; start beside that value, or in another pose"
    )


def _check_same(name: str, run: Run, other: Run) -> None:
    """A parameter may change numbers only."""
    mine, theirs = ([content(f.call.function) for f in r.mechanism.functions if f.call is not None] for r in (run, other))
    if mine != theirs:
        raise ModelError(
            f"parameter {name!r} is a constant in a function of the model, which tables do not see; give it to the function by"
            f" parameters={{{name!r}: {name}}} of the element"
        )
    if len(run.F) != len(other.F) or len(run.I) != len(other.I):
        raise ModelError(f"parameter {name!r} changes the structure of the model; derivatives go by numbers only")
