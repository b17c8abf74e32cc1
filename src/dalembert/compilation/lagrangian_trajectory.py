"""States of a Lagrangian system by the names of its coordinates."""

from __future__ import annotations

from typing import Any

from dalembert.arrays import Array
from dalembert.compilation.compiled import OneState, Series
from dalembert.compilation.lagrangian import LagrangianMechanism
from dalembert.errors import ModelError
from dalembert.model.validation import nearest


class LagrangianTrajectory(Series):
    """States of a Lagrangian system: trajectory["x"], trajectory["x'"] are (nt,)."""

    mechanism: LagrangianMechanism

    def __getitem__(self, name: object) -> Array:
        """A coordinate "x", a velocity "x'"; SymPy's symbols serve as well as names."""
        key = key_of(name)
        columns = [*self.mechanism.model.coordinates, *(f"{c}'" for c in self.mechanism.model.coordinates)]
        if key not in columns:
            raise ModelError(f"there is no coordinate or velocity {key!r}; {nearest(key, columns)}")
        return self.x[:, columns.index(key)].copy()


class LagrangianState(OneState, LagrangianTrajectory):
    """One state: state["x"] is a number."""

    def __getitem__(self, name: object) -> Any:
        return float(super().__getitem__(name)[0])


def key_of(name: object) -> str:
    """The name of a coordinate or velocity, of SymPy's symbols too."""
    if isinstance(name, str):
        return name
    from dalembert.lagrangian.sympy_tree import is_expression, symbol_name

    if is_expression(name):
        made: Any = name
        return f"{symbol_name(made.expr)}'" if made.is_Derivative else symbol_name(made)
    return str(name)
