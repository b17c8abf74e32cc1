"""Outputs by name: what a solution has, as columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError
from dalembert.model.validation import nearest, shown
from dalembert.results.efforts import Effort
from dalembert.results.reactions import Reaction
from dalembert.results.signal_names import effort_kind, meant, words_of
from dalembert.results.signals import label_and_unit, signal, title_of
from dalembert.simulation.solution import Solution

METHODS = (
    *("position", "velocity", "acceleration", "angular_velocity", "point", "effort", "coordinate", "coordinate_rate"),
    *("reaction", "multiplier", "quaternion", "rotation", "angular_acceleration"),
)
_LOADS = ("N", "N", "N", "N m", "N m", "N m")
_KINDS = {  # of signals that have the unit of a method
    **{"position": "position", "point": "position", "velocity": "velocity", "acceleration": "acceleration"},
    **{"angular_velocity": "spin", "angular_acceleration": "spin rate", "coordinate": "coordinate", "coordinate_rate": "rate"},
}


@dataclass(frozen=True, eq=False)
class Output:
    """label : what its columns are called;  units : of each column, or one of all, "" where it is not known"""

    label: str
    function: Callable[[Solution], object]
    units: tuple[str, ...] = ("",)

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

    def columns(self, solution: Solution) -> list[tuple[str, str]]:
        """Name and unit of each."""
        count = self.values(solution).shape[1]
        parts = {1: ("",), 3: (".x", ".y", ".z"), 6: (".fx", ".fy", ".fz", ".tx", ".ty", ".tz")}
        units = self.units if len(self.units) == count else (self.units if len(self.units) == 1 else ("",)) * count
        named = parts.get(count, tuple(f".{k}" for k in range(count)))
        return [(self.label + part, unit) for part, unit in zip(named, units, strict=True)]


def output_of(mechanism: Mechanism, wanted: object) -> Output:
    """A joint or a signal by name, (method, *arguments) of a solution, or a function, alone or ("travel [m]", function)."""
    model: Any = mechanism.model.structure
    if isinstance(wanted, str):
        joint = next((joint for joint in model.joints if joint.name == wanted and joint.coordinates), None)
        if joint is not None:
            units = tuple(words_of(model, "coordinate", wanted, part)[1] for part in joint.coordinates)
            return Output(wanted, lambda solution: solution.coordinate(wanted), units)
        try:
            unit = words_of(model, *meant(model, wanted))[1]
        except ModelError as problem:
            raise ModelError(
                f'output {wanted!r}: {problem}; for others give ("position", body) and so on, {", ".join(METHODS)}'
            ) from None
        return Output(wanted, lambda solution: signal(solution, wanted).values, (unit,))
    if isinstance(wanted, tuple) and len(wanted) == 2 and isinstance(wanted[0], str) and callable(wanted[1]):
        label, unit = label_and_unit(wanted[0])
        return Output(label, wanted[1], (unit,))
    if isinstance(wanted, tuple) and wanted and isinstance(wanted[0], str):
        method, *arguments = wanted
        if method not in METHODS:
            raise ModelError(f"output {wanted!r}: a solution has no {method!r}; {nearest(method, METHODS)}")
        names = [str(getattr(argument, "name", argument)) for argument in arguments]
        return Output(
            f"{method}({', '.join(names)})",
            lambda solution: getattr(solution, method)(*arguments),
            _units(model, method, names),
        )
    if callable(wanted):
        return Output(title_of(wanted), wanted)
    raise ModelError(
        f'output {shown(wanted)}: give a signal by name, ("position", "link"), or a function of a solution, alone or named,'
        ' ("travel [m]", function)'
    )


def _units(model: Any, method: str, names: list[str]) -> tuple[str, ...]:
    """Of what a method of a solution gives."""
    if method == "effort" and names:
        along, unit = effort_kind(model, names[0])
        return (unit,) if along else _LOADS
    if method == "reaction":
        return _LOADS
    if method not in _KINDS or not names:
        return ("",)
    parts = next((joint.coordinates for joint in model.joints if joint.name == names[0]), ("x",))
    return tuple(words_of(model, _KINDS[method], names[0], part)[1] for part in parts) or ("",)
