"""What a run of a Lagrangian system gives: coordinates and velocities by name, reactions by constraint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.compiled import LagrangianMechanism, invariant_node
from dalembert.lagrangian.graph import Node, evaluate
from dalembert.lagrangian.tracer import ARGUMENTS
from dalembert.results.invariants import Invariant, required_arguments
from dalembert.results.solution import Result
from dalembert.results.trajectory import Series, nearest

if TYPE_CHECKING:
    import xarray

    from dalembert.plot.coordinates import CoordinatePlots

Array = npt.NDArray[np.float64]


class LagrangianTrajectory(Series):
    """States of a Lagrangian system: trajectory["x"], trajectory["x'"] are (nt,)."""

    mechanism: LagrangianMechanism

    def __getitem__(self, name: object) -> Array:
        """A coordinate "x", a velocity "x'"; SymPy's symbols serve as well as names."""
        key = _key(name)
        columns = [*self.mechanism.model.coordinates, *(f"{c}'" for c in self.mechanism.model.coordinates)]
        if key not in columns:
            raise ModelError(f"there is no coordinate or velocity {key!r}{nearest(key, columns)}")
        return self.x[:, columns.index(key)].copy()


class LagrangianState(LagrangianTrajectory):
    """One state: state["x"] is a number."""

    def __init__(self, mechanism: LagrangianMechanism, t: float, x: Array) -> None:
        super().__init__(mechanism, np.array([t]), np.asarray(x)[None, :])

    @property
    def time(self) -> float:
        """[s]"""
        return float(self.t[0])

    def __getitem__(self, name: object) -> Any:
        return float(super().__getitem__(name)[0])


class LagrangianSolution(Result, LagrangianTrajectory):
    """A run of a Lagrangian system: solution["x"], solution["x'"], solution["x''"], energy, drift, reactions by constraint."""

    elements: ClassVar[str] = "constraint"

    def __getitem__(self, name: object) -> Array:
        """A coordinate "x", a velocity "x'" or an acceleration "x''" over time."""
        key = _key(name)
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
        key, names = _key(coordinate), self.mechanism.model.coordinates
        if key not in names:
            raise ModelError(f"there is no coordinate {key!r}{nearest(key, names)}")
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

    @property
    def plot(self) -> CoordinatePlots:
        """Plots by name: solution.plot.coordinates(), .energy(), .drift(), ..."""
        from dalembert.plot.coordinates import CoordinatePlots

        return CoordinatePlots(self)

    def to_xarray(self) -> xarray.Dataset:
        """Coordinates, velocities, accelerations, multipliers, energy and drift with named dimensions."""
        from dalembert.io.lagrangian_dataset import to_dataset

        return to_dataset(self)


def _key(name: object) -> str:
    if isinstance(name, str):
        return name
    from dalembert.lagrangian.sympy_tree import is_expression, symbol_name

    if is_expression(name):
        made: Any = name
        return f"{symbol_name(made.expr)}'" if made.is_Derivative else symbol_name(made)
    return str(name)
