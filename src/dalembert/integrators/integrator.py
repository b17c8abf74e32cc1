"""What every integrator has: options of the step, a tableau, a compiled time loop with its work arrays."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dalembert.compilation.compiled_loops import compiled
from dalembert.errors import ModelError
from dalembert.integrators.tableau import Tableau
from dalembert.model.validation import check_literals, is_number, shown

if TYPE_CHECKING:
    from dalembert.formulations.run import Run

_SEAMS = {"iterate_newton": "newton", "filtered_error": "filtered", "iterate": "sweeps"}  # others make the step itself
_INTEGERS = (int, np.integer)  # a union would be made anew at every call
RESOLUTION = 5e-7  # of a fixed step, to which its times must be told apart: half of what the time loop allows


@dataclass(frozen=True, kw_only=True)
class Integrator(ABC):
    """Common options.

    step : fixed step size [s]; None = adaptive, where the method has an error estimate
    rtol, atol : local error per step, RMS over q and u of err / (atol + rtol |x|)
    first_step : first step size of an adaptive run [s], None = chosen;  max_step : largest [s]
    safety, factor_min, factor_max : the standard controller's constants [HairerNorsettWanner1993, II.4]
    max_steps : a run that needs more stops with its partial solution
    """

    step: float | None = None
    rtol: float = 1e-9
    atol: float = 1e-9
    first_step: float | None = None
    max_step: float = math.inf
    safety: float = 0.9
    factor_min: float = 0.2
    factor_max: float = 5.0
    max_steps: int = 100_000_000

    estimates_error: ClassVar[bool]
    implicit: ClassVar[bool] = False
    by_formulation: ClassVar[bool] = False  # the formulation makes the step
    loop: ClassVar[str] = "runge_kutta"  # name of the kernel with the step
    citations: ClassVar[tuple[str, ...]] = ("HairerNorsettWanner1993",)

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_literals(self)
        if self.step is None and not self.estimates_error:
            raise ModelError(f"{name} has no error estimate: give a step size, {name}(step=...)")
        self._positive("step", "first_step", "max_step", "rtol", "atol", "safety", "factor_min")
        if not is_number(self.factor_max) or not self.factor_max > 1:
            raise ModelError(f"{name}: factor_max is {shown(self.factor_max)}; give a number above 1")
        if isinstance(self.max_steps, bool) or not isinstance(self.max_steps, _INTEGERS) or self.max_steps < 1:
            raise ModelError(f"{name}: max_steps is {shown(self.max_steps)}; give a positive whole number")

    def _positive(self, *labels: str) -> None:
        for label in labels:
            value = getattr(self, label)
            if value is not None and (not is_number(value) or not value > 0 or (label == "step" and value == math.inf)):
                raise ModelError(f"{type(self).__name__}: {label} is {shown(value)}; give a positive number")

    @property
    @abstractmethod
    def tableau(self) -> Tableau:
        """Coefficients of the method."""

    @property
    def order(self) -> int:
        """Order of convergence."""
        return self.tableau.order

    @property
    def adaptive(self) -> bool:
        """True when the step size follows the error estimate."""
        return self.step is None

    def check_times(self, t_0: float, t_end: float) -> None:
        """Refuse fixed steps where times are so large that multiples of the step cannot be told from those beside them."""
        if self.step is not None and np.spacing(far := max(abs(t_0), abs(t_end))) > RESOLUTION * self.step:
            raise ModelError(
                f"{type(self).__name__}: step is {self.step:g} s, but numbers at t = {far:g} s are {np.spacing(far):.1g} s"
                " apart; start at t = 0 and let functions of time add what is missing, or take longer steps"
            )

    @property
    def error_law(self) -> int:
        """How the time loop estimates errors: 0 not at all, 1 plain, 2 with a companion of lower order."""
        return len(self.tableau.e) if self.adaptive else 0

    @property
    def stage_settings(self) -> tuple[int, float]:
        """Solver and tolerance of implicit stages."""
        return 0, 0.0

    @property
    def rate_rows(self) -> tuple[int, int, int]:
        """Rows of the stages with the rates at both ends for dense output, and one that is free when a step is done."""
        return 0, self.tableau.stages, 1

    def workspace(self, run: Run) -> dict[str, Any]:
        """Work arrays of the time loop for states of this run, by their names in kernels/time/records.py."""
        tableau, n = self.tableau, run.state_size
        return {"stages": np.zeros((len(tableau.c), n)), "dense": np.zeros((len(tableau.d) + 4, n))}

    def needs(self) -> set[str]:
        """Names of the kernels that its steps call."""
        return {self.loop}

    def compiled_parts(self) -> dict[str, Any]:
        """What the time loop calls, compiled, by the names of the seams in kernels/time/steps.py."""
        return {_SEAMS.get(name, "attempt"): compiled(name) for name in self.needs()}


def register(name: str, made: type[Any], base: type[Any], known: dict[str, Any]) -> None:
    """Enter a class of options under a name that no other has."""
    noun = base.__name__.lower()
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ModelError(f"the name of a {noun} is {name!r}; give words of small letters and digits, with '-' between")
    if not isinstance(made, type) or not issubclass(made, base) or not is_dataclass(made):
        raise ModelError(f"{noun} {name!r} is {made!r}; give a dataclass that inherits from {base.__name__}")
    for other, cls in known.items():
        same = (cls.__module__, cls.__qualname__) == (made.__module__, made.__qualname__)  # as where a module is run again
        if (other == name) != same or (cls.__name__ == made.__name__ and not same):
            raise ModelError(f"{noun} {name!r}: {cls.__name__} is registered as {other!r} already; choose another name")
    known[name] = made
