"""Explicit Runge-Kutta integrators as options; steps: kernels/time/runge_kutta.py, time loop: kernels/time/stepping.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalembert.integrators import tableau
from dalembert.integrators.integrator import Integrator
from dalembert.integrators.tableau import Tableau


@dataclass(frozen=True, kw_only=True)
class ExplicitRungeKutta(Integrator):
    """Methods that need no equations solved; options as in `Integrator`."""

    coefficients: ClassVar[Tableau]

    def __init_subclass__(cls) -> None:
        cls.estimates_error = len(cls.coefficients.e) > 0

    @property
    def tableau(self) -> Tableau:
        return self.coefficients


class Euler(ExplicitRungeKutta):
    """Explicit Euler, order 1. Fixed step."""

    coefficients = tableau.EULER


class Midpoint(ExplicitRungeKutta):
    """Explicit midpoint rule, order 2. Fixed step."""

    coefficients = tableau.MIDPOINT


class RungeKutta4(ExplicitRungeKutta):
    """The classical method of order 4. Fixed step."""

    coefficients = tableau.RUNGE_KUTTA_4


class DormandPrince(ExplicitRungeKutta):
    """Dormand-Prince 5(4) [DormandPrince1980]: order 5, fixed or adaptive, dense output of order 4.

    Options as in `Integrator`.
    """

    coefficients = tableau.DORMAND_PRINCE
    citations: ClassVar[tuple[str, ...]] = ("DormandPrince1980", "HairerNorsettWanner1993")


class DOP853(ExplicitRungeKutta):
    """Dormand-Prince 8(5,3): order 8, fixed or adaptive, dense output of order 7. The default.

    Options as in `Integrator`.
    """

    coefficients = tableau.DOP853
