"""Explicit Runge-Kutta integrators as options; the time loop itself is kernels/runge_kutta.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dalembert.errors import ModelError
from dalembert.integrators import tableau
from dalembert.integrators.tableau import Tableau


@dataclass(frozen=True, kw_only=True)
class ExplicitRungeKutta:
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

    tableau: ClassVar[Tableau]
    citations: ClassVar[tuple[str, ...]] = ("HairerNorsettWanner1993",)

    def __post_init__(self) -> None:
        name = type(self).__name__
        if self.step is None and not len(self.tableau.e):
            raise ModelError(f"{name} has no error estimate: give a step size, {name}(step=...)")
        for label in ("step", "first_step", "max_step", "rtol", "atol", "safety", "factor_min"):
            value = getattr(self, label)
            if value is not None and not value > 0:
                raise ModelError(f"{name}: {label} is {value!r}; give a positive number")
        if not self.factor_max > 1:
            raise ModelError(f"{name}: factor_max is {self.factor_max!r}; give a number above 1")

    @property
    def order(self) -> int:
        """Order of convergence."""
        return self.tableau.order

    @property
    def adaptive(self) -> bool:
        """True when the step size follows the error estimate."""
        return self.step is None


@dataclass(frozen=True, kw_only=True)
class Euler(ExplicitRungeKutta):
    """Explicit Euler, order 1. Fixed step."""

    tableau: ClassVar[Tableau] = tableau.EULER


@dataclass(frozen=True, kw_only=True)
class Midpoint(ExplicitRungeKutta):
    """Explicit midpoint rule, order 2. Fixed step."""

    tableau: ClassVar[Tableau] = tableau.MIDPOINT


@dataclass(frozen=True, kw_only=True)
class RungeKutta4(ExplicitRungeKutta):
    """The classical method of order 4. Fixed step."""

    tableau: ClassVar[Tableau] = tableau.RUNGE_KUTTA_4


@dataclass(frozen=True, kw_only=True)
class DormandPrince(ExplicitRungeKutta):
    """Dormand-Prince 5(4) [DormandPrince1980]: order 5, fixed or adaptive, dense output of order 4."""

    tableau: ClassVar[Tableau] = tableau.DORMAND_PRINCE
    citations: ClassVar[tuple[str, ...]] = ("DormandPrince1980", "HairerNorsettWanner1993")


@dataclass(frozen=True, kw_only=True)
class DOP853(ExplicitRungeKutta):
    """Dormand-Prince 8(5,3): order 8, fixed or adaptive, dense output of order 7. The default."""

    tableau: ClassVar[Tableau] = tableau.DOP853


INTEGRATORS: dict[str, type[ExplicitRungeKutta]] = {
    "euler": Euler,
    "midpoint": Midpoint,
    "rk4": RungeKutta4,
    "dormand-prince": DormandPrince,
    "dop853": DOP853,
}
