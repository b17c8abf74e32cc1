"""What a run of a Lagrangian system gives: coordinates and velocities by name, reactions by constraint."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError
from dalembert.kernels import tables as T
from dalembert.lagrangian.compiled import LagrangianMechanism
from dalembert.solution import Result
from dalembert.trajectory import Series, nearest

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

    def reaction(self, constraint: object) -> Array:
        """(nt, n) generalised forces of a constraint, one column per coordinate: A^T lam of its rows."""
        lam = self.multiplier(constraint)
        rows = self.mechanism.rows_of(str(constraint))
        return np.asarray(np.einsum("ti,tij->tj", lam, self._jacobians[:, rows]))

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
