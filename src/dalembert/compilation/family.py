"""Variants of a model: a structure is compiled once, a further model of it fills the number tables and finds its start.

What a structure is: integer tables, rows and their names, the code of traced constraints, the plane, the rank. Rank, redundant
rows and rows that vanish in the plane are those of the first model. That they are those of another is seen at its start. A
model that differs is compiled as any other.

A variant starts where `compile` starts it, from the pose in its own model and never from that of the variant before: so it does
not depend on the order in which variants are asked for, and on what branch it is, its model says.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from inspect import Parameter, signature
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.assembly import assembled_from, assembly_tables
from dalembert.compilation.at_state import RowsAtState
from dalembert.compilation.by_formula import VANISHES, ByFormula, Make, same, split
from dalembert.compilation.compile import compile, held_bodies, initial_state, refuse_forces, usual_coordinates
from dalembert.compilation.compiled import KINDS, Compiled, Coordinates
from dalembert.compilation.flatten import FlatModel
from dalembert.compilation.lagrangian import GeneratedCode, LagrangianMechanism
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.pack import Packed, arranged
from dalembert.compilation.planarity import Plane, check_held, find_plane
from dalembert.compilation.rank import analyse
from dalembert.compilation.rows import dense_rows
from dalembert.compilation.user_functions import Surroundings
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.recorded import TraceError
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.assembly import Assembly
from dalembert.model.model import Model
from dalembert.model.validation import nearest, shown

Build = Callable[..., Model | LagrangianSystem] | LagrangianSystem
_KEPT = 8  # structures of a family that are tried, and families that are remembered
_TRIES = 2  # at recording a function that cannot be recorded


class Family:
    """Models that a function of parameters builds, or a LagrangianSystem with other parameters.

    build : f(**parameters) -> Model or LagrangianSystem;  coordinates, t_start : as in `compile`
    taken : kinds of coordinates that may be chosen where none are named
    structures : how many were compiled so far;  formulas : by which further models are made
    """

    def __init__(
        self,
        build: Build,
        coordinates: Coordinates | None = None,
        t_start: float = 0.0,
        *,
        taken: Container[str] = KINDS,
    ) -> None:
        self._build, self._coordinates, self._t_0, self._taken = build, coordinates, t_start, taken
        self._names = _names_of(build)
        self._known: list[_Structure] = []
        self._codes: list[tuple[object, GeneratedCode]] = []
        self.formulas: list[ByFormula] = []
        self._outside: Any = None
        self._tries = _TRIES
        self.structures = 0

    def model(self, parameters: Mapping[str, Any]) -> Model | LagrangianSystem:
        """The model of one set of parameters."""
        names, build = self._names, self._build
        if not isinstance(parameters, Mapping):
            raise ModelError(f"parameters is {shown(parameters)}; give a dict of values by name")
        if isinstance(build, LagrangianSystem):
            return build.replace(parameters=parameters)
        for name in parameters:
            if names is not None and name not in names:
                raise ModelError(f"parameters: {shown(build)} has no argument {name!r}; {nearest(name, names)}")
        made = build(**parameters)
        if not isinstance(made, Model | LagrangianSystem):
            raise ModelError(f"parameters: the function returned {shown(made)}; return a Model or a LagrangianSystem")
        return made

    def begin(self) -> None:
        """Forget formulas of a function that may give something else by now; what is asked next belongs together."""
        if self.formulas and not (self._outside.known and self._outside.unchanged()):
            self.formulas, self._tries = [], _TRIES

    def mechanism(self, parameters: Mapping[str, Any], *, within: bool = False) -> Compiled:
        """The model of one set of parameters, compiled: by formulas where these have an answer.

        within : what was asked for since `begin`, while nothing else can have changed
        """
        if not within:
            self.begin()
        known = False
        for formulas in self.formulas:
            holds, made = formulas.one(parameters)
            known |= holds
            if made is not None:
                return made
        model = self.model(parameters)
        if isinstance(model, LagrangianSystem):
            return self._lagrangian(model)
        structure, compiled = self._compiled(model)
        recorded = None if known else self._recorded(structure, compiled, parameters, within)
        return compiled if recorded is None else recorded.one(parameters)[1] or compiled

    def mechanisms(self, rows: Sequence[Mapping[str, Any]]) -> list[Compiled]:
        """Models of several sets of parameters, compiled."""
        self.begin()
        made: list[Compiled | None] = [None] * len(rows)
        for formulas in self.formulas:
            left = [k for k, row in enumerate(rows) if made[k] is None and formulas.takes(row)]
            if len(left) > 1:
                table = [np.array([float(rows[k][name]) for k in left]) for name in formulas.names]
                _, can, found = formulas.many(table)
                for j, k in enumerate(np.array(left)[can].tolist()):
                    assert found is not None
                    made[k] = formulas.mechanism(rows[k], found.of([j]))
        return [self.mechanism(row, within=True) if one is None else one for row, one in zip(rows, made, strict=True)]

    def _compiled(self, model: Model) -> tuple[_Structure, Mechanism]:
        """A model as it is, with what is known of its structure."""
        coordinates = self._coordinates or usual_coordinates(model, self._taken)
        for structure in self._known:
            if structure.coordinates == coordinates and (made := structure.variant(model)) is not None:
                return structure, made
        first = compile(model, coordinates, t_start=self._t_0)
        self.structures += 1
        self._known = [_Structure(first), *self._known[: _KEPT - 1]]
        return self._known[0], self._known[0].variant(model) or first

    def _recorded(
        self, structure: _Structure, compiled: Mechanism, parameters: Mapping[str, Any], within: bool
    ) -> ByFormula | None:
        """Formulas of the models that are built like this one; None where they cannot be had, or do not give this one."""
        numbers, fixed = split(parameters)
        if not numbers or self._tries == 0 or len(self.formulas) >= _KEPT:
            return None
        self._outside = self._outside if self.formulas else Surroundings(self._build)
        if not (within or self._outside.known) or not all(isinstance(value, int | str | None) for value in fixed.values()):
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = structure.by_formula(self.model, parameters, self._outside)
                aside = made.aside(parameters)  # where a function that looks at what kind of number it got is found out
                beside = self.model(aside)
                other = structure.variant(beside) if isinstance(beside, Model) else None
            if other is None or not made.agrees(compiled, parameters) or not made.agrees(other, aside):
                raise TraceError("depends on more than its parameters")
        except Exception:  # whatever the user's function does with numbers that are not plain
            self._tries -= 1
            return None
        self.formulas = [*self.formulas, made]
        return made

    def _lagrangian(self, model: LagrangianSystem) -> LagrangianMechanism:
        """Tables and start are made anew; the generated code belongs to the equations."""
        made = compile(model, t_start=self._t_0)
        known = next((code for equations, code in self._codes if equations is model.equations), None)
        if known is None:
            self.structures += 1
            self._codes = [(model.equations, made.code), *self._codes[: _KEPT - 1]]
        else:
            made.__dict__["code"] = known
        return made


_families: OrderedDict[tuple[object, ...], Family] = OrderedDict()


def family_of(
    build: Build, coordinates: Coordinates | None = None, t_start: float = 0.0, *, taken: Sequence[str] = KINDS
) -> Family:
    """The family of a function, as it was when it was asked for last: what it compiled then is still good."""
    key = (build, coordinates, t_start, tuple(taken))
    try:
        family = _families.pop(key, None) or Family(build, coordinates, t_start, taken=taken)
    except TypeError:  # it cannot be hashed
        return Family(build, coordinates, t_start, taken=taken)
    _families[key] = family
    if len(_families) > _KEPT:
        _families.popitem(last=False)
    return family


def _names_of(build: Build) -> list[str] | None:
    """Arguments that a function takes by name, None where it takes any."""
    if isinstance(build, LagrangianSystem):
        return list(build.parameters)
    try:
        parameters = signature(build).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is Parameter.VAR_KEYWORD for p in parameters):
        return None
    return [p.name for p in parameters if p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]


class _Structure:
    """What the models of a structure share."""

    def __init__(self, first: Mechanism) -> None:
        self.coordinates, self._first = first.coordinates, first
        flat, self._tables, given = assembly_tables(first.model, first.t_0)
        self._tables = replace(self._tables, quick=RowsAtState(self._tables))
        _, placed, tables = assembled_from(flat, self._tables, given)
        self._vanishing = frozenset((row.primitive, row.component) for row in first.out_of_plane)
        self._packed = self._arranged(tables, placed, first.plane)
        if self._packed.quick is None:
            self._packed = replace(self._packed, quick=RowsAtState(self._packed))
        self._held = None if first.plane is None else held_bodies(placed, first.plane, tables)
        self._report = analyse(self._packed, initial_state(placed, self._packed, first.plane))

    def variant(self, model: Model) -> Mechanism | None:
        """Another model of this structure; None where it has another one, or may have."""
        first, model = self._first, model.copy()  # what is added to the user's model later was not compiled
        flat, tables, given = assembly_tables(model, first.t_0)
        if not same(tables, self._tables):
            return None
        assembly, placed, tables = assembled_from(flat, replace(tables, quick=self._tables.quick), given)
        plane = self._plane(model, placed, assembly)
        if (plane is None) != (first.plane is None):
            return None
        packed = self._arranged(tables, placed, plane)
        if not same(packed, self._packed):
            return None
        packed = replace(packed, quick=self._packed.quick)
        x_0 = initial_state(placed, packed, plane)
        if not self._same_rank(packed, x_0):
            return None
        for array in (packed.F, x_0):
            array.flags.writeable = False
        singular = first.warnings[len(first.assembly.warnings) :]
        made = replace(
            first,
            model=model,
            F=packed.F,
            x_0=x_0,
            plane=plane,
            functions=packed.functions,
            assembly=assembly,
            moved=assembly.changed,
            completed=assembly.completed,
            warnings=assembly.warnings + singular,
        )
        refuse_forces(made)
        return made

    def by_formula(self, make: Make, parameters: Mapping[str, Any], outside: Surroundings) -> ByFormula:
        """Formulas of models of this structure, recorded at these parameters."""
        if self._held is not None and not self._held.all():
            raise TraceError("has bodies that only its numbers keep in the plane")
        return ByFormula(self._first, self._packed, self._tables, self._report, make, parameters, outside)

    def _arranged(self, tables: Packed, placed: FlatModel, plane: Plane | None) -> Packed:
        """Tables in the plane, if there is one; in space assembly has made them."""
        return tables if plane is None else arranged(tables, placed, plane, self._vanishing)

    def _plane(self, model: Model, placed: FlatModel, assembly: Assembly) -> Plane | None:
        """Where a variant moves; None for one that is not that of the others."""
        first = self._first.plane
        if first is None:
            return None
        plane = find_plane(model, assembly.bodies)
        assert self._held is not None
        check_held(model, placed.bodies, plane, self._held)
        same = all(np.abs(a - b).max() < VANISHES for a, b in zip(vars(plane).values(), vars(first).values(), strict=True))
        return plane if same else None

    def _same_rank(self, packed: Packed, x_0: Array) -> bool:
        """Whether rank, redundant rows and rows that vanish in the plane are those of the structure."""
        if self._vanishing:
            g = dense_rows(packed, packed.t_0, x_0)[1][packed.I[T.M] :]
            size = 1.0 + float(np.abs(x_0[: packed.I[T.NQ]]).max(initial=0.0))
            if not np.abs(g).max(initial=0.0) <= VANISHES * size:
                return False
        return analyse(packed, x_0) == self._report
