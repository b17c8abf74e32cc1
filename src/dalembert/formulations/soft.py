"""Soft: constraints as springs and dampers, implicit in the new velocity, stable for any stiffness [ConstraintNotes, 5]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled
from dalembert.errors import ModelError
from dalembert.formulations.evaluation import Evaluated, evaluate
from dalembert.formulations.impulse import ImpulseRun, VelocityLevel, prepare_velocity_level
from dalembert.kernels.base import tables as T
from dalembert.model.validation import nearest

Gain = float | Mapping[str, float]
DEFAULT = "default"
_HELD = 1e8  # damping of rows that constrain velocities alone [N s/m]


@dataclass(frozen=True, kw_only=True)
class Soft(VelocityLevel):
    """Compliant constraints lam = -(kp g + kd g'): any explicit integrator for the rest, a fixed step, order 1.

    stiffness, damping : kp [N/m, N m/rad] and kd [N s/m, N m s/rad], one number for every row, or by joint or driver name,
        "default" for those not named; directions that a joint constrains twice (redundant rows) count once
    Rows of velocities (rolling, a knife edge) have no g: damping alone holds them, 1e8 N s/m where none is given.

    A joint that gives way is not an error here: the report notes the deflection. `Solution.reaction` is the compliant force;
    `energy.external_work` holds all that it does, what the springs store included.
    """

    stiffness: Gain = 1e8
    damping: Gain = 0.0

    largest_order: ClassVar[int | None] = 1
    compliant: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for label in ("stiffness", "damping"):
            given = getattr(self, label)
            if isinstance(given, Mapping):
                object.__setattr__(self, label, dict(given))
            for name, value in given.items() if isinstance(given, Mapping) else ((None, given),):
                where = f"Soft: {label}" + ("" if name is None else f" of {name!r}")
                if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
                    raise ModelError(f"{where} is {value!r}; give a finite number that is not negative")

    def prepare(self, mechanism: Compiled) -> ImpulseRun:
        self.refuse_other_coordinates(mechanism)
        run = prepare_velocity_level("Soft", mechanism)
        kp, kd = self.gains(mechanism)
        for row, name in enumerate(mechanism.row_names()):
            if kp[row] + kd[row] == 0:
                raise ModelError(f"Soft: {name!r} has neither stiffness nor damping; give one of them, or leave the joint out")
        run.I[T.SOFT_F] = len(run.F)
        run.I[T.NCHOICE] = run.I[T.NIDLE] = 0  # compliant rows all act, redundant or not
        return replace(run, F=np.concatenate([run.F, kp, kd]))

    def evaluate(self, mechanism: Compiled, t: Array, x: Array, more: Mapping[str, Array]) -> Evaluated:
        """By the force that acted, not the one that rigid joints would need."""
        run = self.prepare(mechanism)
        return evaluate(run, t, run.remembering(x, more["step"], more["impulse"]))

    def gains(self, mechanism: Compiled) -> tuple[Array, Array]:
        """kp and kd of every independent row."""
        return self._by_row("stiffness", mechanism), self._by_row("damping", mechanism)

    def _by_row(self, label: str, mechanism: Compiled) -> Array:
        given = getattr(self, label)
        moving = [row.index for row in mechanism.rows if row.nonholonomic and row.index < mechanism.m]
        if not isinstance(given, Mapping):
            values = np.full(mechanism.m, float(given))
            if label == "stiffness" or given == 0:
                values[moving] = 0.0 if label == "stiffness" else _HELD
            return values
        known = dict.fromkeys(row.element for row in mechanism.rows)
        for name in given:
            if name != DEFAULT and name not in known:
                raise ModelError(f"Soft: {label} names {name!r}; {nearest(name, known)}")
        default = 0.0 if label == "damping" else type(self).stiffness
        assert not isinstance(default, Mapping)
        values = np.full(mechanism.m, float(given.get(DEFAULT, default)))
        if label == "damping" and DEFAULT not in given:
            values[moving] = _HELD
        for row in mechanism.rows:
            if row.element in given and row.index < mechanism.m:
                values[row.index] = given[row.element]
        if label == "stiffness":
            values[moving] = 0.0
        return values
