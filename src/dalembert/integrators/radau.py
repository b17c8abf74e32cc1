"""Radau IIA integrators as options; the time loop itself is kernels/time/implicit_runge_kutta.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalembert.integrators.collocation import Collocation
from dalembert.integrators.collocation_tableau import radau_tableau
from dalembert.integrators.tableau import Tableau

_NEWTON = 2
MAX_STAGES = 5


@dataclass(frozen=True, kw_only=True)
class RadauIIA(Collocation):
    """Radau IIA collocation with 1 to 5 stages [HairerWanner1996, IV.8]: order 2 stages - 1, implicit, L-stable.

    For stiff forces: what is faster than the steps is damped, and the steps follow what is left. Fixed or adaptive; the error
    estimate and dense output have order stages + 1. Stage equations by simplified Newton's method with Jacobian
    matrices of the right-hand side, made anew only where they no longer contract: the first ones by central differences, in
    longer runs exact ones, whose kernels are then compiled.

    stages : 1 to 5
    stage_tolerance : change of the state at which the stage equations count as solved, relative to max(1, |x|). Default 1e-15,
        with adaptive steps a hundredth of the smaller of rtol and atol
    Other options as in `Integrator`.
    """

    most_stages: ClassVar[int] = MAX_STAGES
    citations: ClassVar[tuple[str, ...]] = ("HairerWanner1996",)

    @property
    def tableau(self) -> Tableau:
        return radau_tableau(self.stages)

    @property
    def stage_settings(self) -> tuple[int, float]:
        default = 0.01 * min(self.rtol, self.atol) if self.adaptive else 1e-15
        return _NEWTON, self.stage_tolerance or default

    @property
    def rate_rows(self) -> tuple[int, int, int]:
        """At the start the rate of the polynomial through the stages, in the spare row."""
        return 2 * self.stages + 2, self.stages, self.stages + 2
