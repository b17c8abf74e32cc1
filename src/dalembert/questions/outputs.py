"""Outputs by name: what a solution has, as columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError
from dalembert.model.validation import nearest, shown
from dalembert.results.efforts import Effort
from dalembert.results.reactions import Reaction
from dalembert.simulation.solution import Solution

METHODS = (
    *("position", "velocity", "acceleration", "angular_velocity", "point", "effort", "coordinate", "coordinate_rate"),
    *("reaction", "multiplier", "quaternion", "rotation", "angular_acceleration"),
)


@dataclass(frozen=True, eq=False)
class Output:
    """label : what its columns are called"""

    label: str
    function: Callable[[Solution], object]

    def values(self, solution: Solution) -> Array:
        """(nt, n)"""
        found = self.function(solution)
        if isinstance(found, Reaction):
            found = np.hstack([found.force, found.torque])
        if isinstance(found, Effort):
            found = found.value if found.value is not None else np.hstack([found.force, found.torque])
        try:
            values = np.asarray(found, dtype=float)
        except (TypeError, ValueError):
            values = np.zeros(0)
        if values.ndim < 1 or len(values) != len(solution.t):
            raise ModelError(
                f"output {self.label!r} gave {shown(found)}; give one value, or several, for each time of the solution"
            )
        return values.reshape(len(values), -1)

    def names(self, solution: Solution) -> tuple[str, ...]:
        count = self.values(solution).shape[1]
        parts = {1: ("",), 3: (".x", ".y", ".z"), 6: (".fx", ".fy", ".fz", ".tx", ".ty", ".tz")}
        return tuple(self.label + part for part in parts.get(count, tuple(f".{k}" for k in range(count))))


def output_of(mechanism: Mechanism, wanted: object) -> Output:
    """A joint by name, (method, *arguments) of a solution, or a function of it."""
    if isinstance(wanted, str):
        joints = [joint.name for joint in mechanism.model.joints if joint.coordinates]
        if wanted not in joints:
            raise ModelError(
                f"output {wanted!r}: there is no such joint with coordinates; {nearest(wanted, joints)}; "
                f'for others give ("position", body) and so on, {", ".join(METHODS)}'
            )
        return Output(wanted, lambda solution: solution.coordinate(wanted))
    if isinstance(wanted, tuple) and wanted and isinstance(wanted[0], str):
        method, *arguments = wanted
        if method not in METHODS:
            raise ModelError(f"output {wanted!r}: a solution has no {method!r}; {nearest(method, METHODS)}")
        label = f"{method}({', '.join(str(getattr(argument, 'name', argument)) for argument in arguments)})"
        return Output(label, lambda solution: getattr(solution, method)(*arguments))
    if callable(wanted):
        return Output(getattr(wanted, "__name__", "output"), wanted)
    raise ModelError(f'output {shown(wanted)}: give a joint by name, ("position", "link"), or a function of a solution')
