"""The protocol of formulations: what the rest of the library asks one, and the registry in which it finds them.

A formulation of one's own is a frozen dataclass that inherits from `Formulation`, has `prepare`, and is registered by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array, IntArray
from dalembert.compilation.by_formula import Made
from dalembert.compilation.catalogue import COMMON, Kernel, compiled_kernel
from dalembert.compilation.compiled import Compiled, Series
from dalembert.errors import ModelError
from dalembert.formulations.evaluation import Evaluated
from dalembert.formulations.run import Run
from dalembert.integrators import INTEGRATORS
from dalembert.integrators.integrator import Integrator, register
from dalembert.kernels.base import tables as T
from dalembert.model.validation import is_number, shown

_PREPARED = 3  # formulations for which a mechanism keeps what they prepared


def set_tolerances(options: Any, I: IntArray, F: Array) -> None:
    """Of a formulation that projects, into the tables of a run."""
    I[T.MAX_NEWTON] = options.max_newton
    F[T.TOL_POSITION], F[T.TOL_VELOCITY] = options.tolerance, options.velocity_tolerance
    if I[T.NCHOICE]:  # by what positions are off, the rates of dependent rows differ
        F[T.TOL_POSITION] *= 0.01
    F[T.TOL_INVARIANT] = options.invariant_tolerance


@dataclass(frozen=True, kw_only=True)
class Formulation(ABC):
    """How constraints enter the equations of motion.

    coordinates : kinds it takes, of "absolute", "planar", "tree" and "generalised" (of a Lagrangian system)
    steps : "any" integrator makes them, only an "explicit" one with a fixed step, or the formulation's "own" (`FixedStep`)
    largest_order : that a run can have, None where it is the integrator's
    saves : what it saves beside the states, by name;  kernels : its own, beside those of the reference
    compliant : joints give way, and reactions are its own: `evaluate` finds them
    by_multipliers : accelerations come from a factor of G M^-1 G^T, and lose digits where masses differ
    keeps_branch : how to stay on a branch where several meet, as a user would write it
    differentiable : rates, projections and corrections of its runs take numbers with derivatives, and sensitivities go with it
    """

    coordinates: ClassVar[tuple[str, ...]]
    citations: ClassVar[tuple[str, ...]] = ()
    steps: ClassVar[Literal["any", "explicit", "own"]] = "any"
    largest_order: ClassVar[int | None] = None
    saves: ClassVar[tuple[str, ...]] = ()
    kernels: ClassVar[tuple[Kernel, ...]] = ()
    compliant: ClassVar[bool] = False
    by_multipliers: ClassVar[bool] = False
    keeps_branch: ClassVar[str] = ""
    differentiable: ClassVar[bool] = False

    def check_positive(self, *labels: str) -> None:
        """Refuse options that are not positive numbers."""
        for label in labels:
            value = getattr(self, label)
            if not is_number(value) or not value > 0:
                raise ModelError(f"{type(self).__name__}: {label} is {shown(value)}; give a positive number")

    def check_cut(self, cut: object) -> None:
        """Keep the names of joints as a tuple."""
        if not isinstance(cut, tuple) and (isinstance(cut, str | bytes) or not isinstance(cut, Sequence)):
            raise ModelError(f"{type(self).__name__}: cut is {shown(cut)}; give a list of names of joints")
        object.__setattr__(self, "cut", tuple(cut))

    @abstractmethod
    def prepare(self, mechanism: Compiled) -> Run:
        """Tables with this formulation's settings, a workspace, and compiled slots."""

    def refilled(self, run: Run, made: Made) -> tuple[Array, Array, npt.NDArray[np.bool_]] | None:
        """Constants and first states of runs like `run` of other models of its structure, and for which of them they are right;
        None where each is to be prepared by itself."""
        return None

    def needs(self, mechanism: Compiled) -> set[str]:
        """Names of the kernels that a run calls, beside those of the reference."""
        return {kernel.name for kernel in self.kernels}

    def takes(self, integrator: Integrator) -> str | None:
        """None where the integrator can advance it; else what to change, or "" where nothing helps."""
        if (self.steps == "own") != integrator.by_formulation or (self.steps == "explicit" and integrator.implicit):
            return ""
        if self.steps == "explicit" and integrator.adaptive:
            name, method = type(self).__name__, type(integrator).__name__
            return (
                f"{name} corrects velocities once per step, which no error estimate of {method} covers: give a step size, "
                f"{method}(step=...)"
            )
        return None

    def evaluate(self, mechanism: Compiled, t: Array, x: Array, more: Mapping[str, Array]) -> Evaluated:
        """Multipliers, accelerations and energies at saved states, of one that is `compliant`."""
        name = type(self).__name__
        raise ModelError(f"{name} says that it is compliant, but not what its multipliers are: give it a method `evaluate`")

    def warnings(self, run: Run, x: Array, states: Series) -> tuple[str, ...]:
        """What a reader of the run should know; x : where it ended, states : those saved."""
        return ()

    @classmethod
    def suits(cls, mechanism: Compiled) -> str:
        """Why it is the one to take for a mechanism where none is named; "" for no reason."""
        return ""

    @classmethod
    def refinements(cls, options: Mapping[str, Any]) -> int:
        """How often a solve by multipliers is refined, with these options."""
        return 0

    def refuse_other_coordinates(self, mechanism: Compiled) -> None:
        """Raise where the mechanism is compiled in coordinates that it does not take."""
        if mechanism.coordinates not in self.coordinates:
            others = (cls for cls in FORMULATIONS.values() if cls is not type(self))
            taking = ", ".join(cls.__name__ for cls in others if mechanism.coordinates in cls.coordinates)
            name = type(self).__name__ + (" with these options" if self.coordinates != type(self).coordinates else "")
            what = f"does not take {mechanism.coordinates!r} coordinates; a model in these"
            if mechanism.coordinates == "generalised":
                what = "works on bodies and joints; a Lagrangian system"
            raise ModelError(f"{name} {what} takes one of {taking}")


FORMULATIONS: dict[str, type[Formulation]] = {}  # in the order of their registration, the reference first


def seams(rates: str, project: str, correct: str = "no_correction") -> tuple[Any, Any, Any]:
    """What fills the seams of a run, compiled: kernels of formulations by name."""
    known = [*COMMON, *(kernel for cls in FORMULATIONS.values() for kernel in cls.kernels)]
    return compiled_kernel(rates, known), compiled_kernel(project, known), compiled_kernel(correct, known)


def register_formulation(name: str, formulation: type[Formulation]) -> type[Formulation]:
    """Make a formulation known by name to `compare`, stored runs, the command line and the contract tests."""
    register(name, formulation, Formulation, FORMULATIONS)
    return formulation


def prepared(formulation: Formulation, mechanism: Compiled) -> Run:
    """A run with a workspace of its own; what was prepared for the same formulation before serves again."""
    known: list[tuple[Formulation, Run]] = mechanism.prepared
    for other, run in known:
        if _same(other, formulation) and run.callbacks.current:
            return run.again()
    run = formulation.prepare(mechanism)
    with suppress(Exception):  # options that cannot be copied, as a function that holds a file, are not kept
        known[:] = [(deepcopy(formulation), run.again()), *known[: _PREPARED - 1]]  # a copy: a dict may change
    return run


def _same(one: Formulation, other: Formulation) -> bool:
    try:
        return bool(one == other)
    except ValueError:  # options that are arrays
        return False


def default_formulation(mechanism: Compiled) -> tuple[Formulation, str]:
    """The formulation, and why: of those that suit the mechanism, the last that was registered."""
    chosen = [(cls, why) for cls in FORMULATIONS.values() if (why := cls.suits(mechanism))]
    cls, why = chosen[-1]
    return _usual(cls), why


@cache
def _usual(cls: type[Formulation]) -> Formulation:
    return cls()


def check_pair(formulation: object, integrator: object) -> None:
    """Raise unless the integrator can advance what the formulation sets up."""
    reason: str | None = ""
    for label, value, example in (("formulation", formulation, "Jet()"), ("integrator", integrator, "DOP853(rtol=1e-9)")):
        if isinstance(value, str):
            raise ModelError(f"{label} is {value!r}; give an object, as {label}=da.{example}; there are {_pairs()}")
    if isinstance(formulation, Formulation) and isinstance(integrator, Integrator):
        reason = formulation.takes(integrator)
    if reason is not None:
        raise ModelError(reason or f"{_named(formulation)} with {_named(integrator)} has no meaning; pairs that do: {_pairs()}")


def _pairs() -> str:
    """Formulations with the integrators that they take, those with the same ones together."""
    groups: dict[str, list[str]] = {}
    for cls in FORMULATIONS.values():
        taken = [m for m in INTEGRATORS.values() if m.by_formulation == (cls.steps == "own")]
        taken = [m for m in taken if not (cls.steps == "explicit" and m.implicit)]
        text = _joined([m.__name__ for m in taken]) + (" of fixed step" if cls.steps == "explicit" else "")
        groups.setdefault(text, []).append(cls.__name__)
    return "; ".join(f"{_joined(names)} with {methods}" for methods, names in groups.items())


def _joined(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def _named(options: object) -> str:
    return f"the class {options.__name__} itself" if isinstance(options, type) else type(options).__name__
