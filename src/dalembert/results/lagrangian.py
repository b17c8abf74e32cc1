"""What a run of a Lagrangian system gives: coordinates and velocities by name, reactions by constraint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.lagrangian import invariant_node
from dalembert.compilation.lagrangian_trajectory import LagrangianTrajectory, key_of
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.graph import Node, evaluate
from dalembert.lagrangian.tracer import ARGUMENTS
from dalembert.model.validation import nearest
from dalembert.results.invariants import Invariant, required_arguments
from dalembert.results.solution import Result


class LagrangianResult(Result, LagrangianTrajectory):
    """A run of a Lagrangian system: solution["x"], solution["x'"], solution["x''"], energy, drift, reactions by constraint."""

    elements: ClassVar[str] = "constraint"

    def __getitem__(self, name: object) -> Array:
        """A coordinate "x", a velocity "x'" or an acceleration "x''" over time."""
        key = key_of(name)
        if key.endswith("''") and key[:-2] in self.mechanism.model.coordinates:
            return self.evaluated.acceleration[:, self.mechanism.model.coordinates.index(key[:-2])].copy()
        return super().__getitem__(key)

    @cached_property
    def _jacobians(self) -> Array:
        """(nt, m, n) rows of the constraints."""
        mechanism = self.mechanism
        rows = [mechanism.evaluate(T.ROWS_PART, float(t), x).A for t, x in zip(self.t, self.x, strict=True)]
        return np.array(rows).reshape(len(self.t), mechanism.m, mechanism.nu)

    def _generalised(self, constraint: object, values: Array) -> Array:
        """(nt, n) A^T of a constraint's columns in (nt, m) values."""
        rows = self.mechanism.rows_of(str(constraint))
        return np.asarray(np.einsum("ti,tij->tj", self._rows_of(constraint, values), self._jacobians[:, rows]))

    def reaction(self, constraint: object) -> Array:
        """(nt, n) generalised forces of a constraint, one column per coordinate: A^T lam of its rows.

        They follow from the saved states; with `Soft` they are the compliant forces of the step to the state.
        """
        return self._generalised(constraint, self.evaluated.lam)

    def impulse(self, constraint: object) -> Array:
        """(nt, n) generalised impulses of a constraint in the step to each saved state, of `Impulse` and `Soft`."""
        return self._generalised(constraint, self.impulses)

    def mean_reaction(self, constraint: object) -> Array:
        """(nt, n) `impulse` divided by the step; NaN at the start."""
        return self.impulse(constraint) / np.where(self.more["step"] > 0, self.more["step"], np.nan)[:, None]

    def conjugate_momentum(self, coordinate: object) -> Array:
        """(nt,) dL/dv of a coordinate's velocity; constant where L, forces and constraints do not involve the coordinate."""
        key, names = key_of(coordinate), self.mechanism.model.coordinates
        if key not in names:
            raise ModelError(f"there is no coordinate {key!r}; {nearest(key, names)}")
        return np.array(self._evaluate([self.mechanism.model.equations.L_v[names.index(key)]])[0])

    def _evaluate(self, nodes: Sequence[Node]) -> Array:
        """(len(nodes), nt) values of graph nodes at the saved states."""
        system = self.mechanism.model
        inputs = dict(zip(system.equations.inputs, (*self.q.T, *self.u.T, *system.parameters.values()), strict=True))
        return np.broadcast_to(evaluate(nodes, inputs | {"t": self.t}).T, (len(self.t), len(nodes))).T

    def named_invariants(self) -> dict[str, Callable[[str], Invariant]]:
        momenta = {f"momentum {name}": partial(self._momentum_invariant, name) for name in self.mechanism.model.coordinates}
        return super().named_invariants() | momenta

    def _momentum_invariant(self, coordinate: str, name: str) -> Invariant:
        """Compared with the largest sum of |M_ij v_j|, or with itself where that is larger."""
        e = self.mechanism.model.equations
        k = e.names.index(coordinate)
        values = self.conjugate_momentum(coordinate)
        terms = np.abs(self._evaluate([entry * e.v[j] for j, entry in e.M[k].items()])).sum(axis=0)
        return Invariant(name, values, float(np.max([np.abs(values), terms], initial=0.0)))

    def values_of(self, function: Callable[..., Any]) -> Array:
        names = required_arguments(function)
        known = [name in ARGUMENTS for name in names]
        if len(names) == 1 and not known[0]:
            return np.asarray(function(self), dtype=float)
        return np.array(self._evaluate([invariant_node(self.mechanism.model, function, by_name=all(known))])[0])

    def kept_values(self, function: Callable[..., Any]) -> Array:
        return np.array(self._evaluate([invariant_node(self.mechanism.model, function, by_name=False)])[0])
