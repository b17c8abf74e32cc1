"""Gauss-Legendre integrators as options; the time loop itself is kernels/time/implicit_runge_kutta.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from dalembert.integrators.collocation import Collocation
from dalembert.integrators.collocation_tableau import gauss_tableau
from dalembert.integrators.tableau import Tableau

_SOLVERS = ("auto", "fixed-point", "newton")
MAX_STAGES = 8


@dataclass(frozen=True, kw_only=True)
class GaussLegendre(Collocation):
    """Gauss collocation with 1 to 8 stages: order 2 stages, implicit, symmetric, symplectic, A-stable; fixed or adaptive.

    Keeps quadratic invariants such as the length of Euler parameters [HairerLubichWanner2006, IV.2]. Symmetry is lost where
    steps are projected: energy errors then grow, slowly. Dense output of order min(2 stages, stages + 2).

    stages : 1 to 8
    stage_tolerance : change of the state at which the stage equations count as solved, relative to max(1, |x|); what they
        leave adds up over the steps, and unit length and energy show it. Default 1e-15, with adaptive steps 1e-13
    solver : of the stage equations: "fixed-point" (functional iteration, accelerated), "newton" (simplified Newton's method,
        for stiff forces), or "auto": functional iteration while it halves the error, else Newton, and now and then a retry
    Other options as in `Integrator`.
    """

    solver: Literal["auto", "fixed-point", "newton"] = "auto"

    most_stages: ClassVar[int] = MAX_STAGES
    citations: ClassVar[tuple[str, ...]] = ("HairerLubichWanner2006", "HairerWanner1996", "WalkerNi2011")

    @property
    def tableau(self) -> Tableau:
        return gauss_tableau(self.stages)

    @property
    def stage_settings(self) -> tuple[int, float]:
        default = 1e-13 if self.adaptive else 1e-15
        return _SOLVERS.index(self.solver), self.stage_tolerance or default

    @property
    def rate_rows(self) -> tuple[int, int, int]:
        return 0, self.stages + 1, self.stages + 2

    def needs(self) -> set[str]:
        newton = super().needs() if self.solver != "fixed-point" else {self.loop}
        return newton | ({"iterate"} if self.solver != "newton" else set())
