"""Radau IIA integrators as options; the time loop itself is kernels/time/implicit_runge_kutta.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from dalembert.compilation.loops import compiled_implicit_runge_kutta
from dalembert.errors import ModelError
from dalembert.integrators.collocation_tableau import radau_tableau
from dalembert.integrators.gauss_legendre import implicit_workspace, newton_parts
from dalembert.integrators.integrator import Integrator
from dalembert.integrators.tableau import Tableau

if TYPE_CHECKING:
    from dalembert.formulations.run import Run

_NEWTON = 2
MAX_STAGES = 5


@dataclass(frozen=True, kw_only=True)
class RadauIIA(Integrator):
    """Radau IIA collocation with 1 to 5 stages [HairerWanner1996, IV.8]: order 2 stages - 1, implicit, L-stable.

    For stiff forces: what is faster than the steps is damped, and the steps follow what is left. Fixed or adaptive; the error
    estimate and dense output have order stages + 1. Stage equations by simplified Newton's method with Jacobian
    matrices of the right-hand side by central differences, made anew only where they no longer contract.

    stages : 1 to 5
    stage_tolerance : change of the state at which the stage equations count as solved, relative to max(1, |x|). Default 1e-15,
        with adaptive steps a hundredth of the smaller of rtol and atol
    Other options as in `Integrator`.
    """

    stages: int = field(default=3, kw_only=False)
    stage_tolerance: float | None = None

    estimates_error: ClassVar[bool] = True
    implicit: ClassVar[bool] = True
    loop: ClassVar[str] = "implicit_runge_kutta"
    citations: ClassVar[tuple[str, ...]] = ("HairerWanner1996",)

    def __post_init__(self) -> None:
        if isinstance(self.stages, bool) or not isinstance(self.stages, int) or not 1 <= self.stages <= MAX_STAGES:
            raise ModelError(f"RadauIIA: stages is {self.stages!r}; give a whole number from 1 to {MAX_STAGES}")
        super().__post_init__()
        self._positive("stage_tolerance")

    @property
    def tableau(self) -> Tableau:
        """Coefficients of the method."""
        return radau_tableau(self.stages)

    @property
    def stage_settings(self) -> tuple[int, float]:
        """Solver and tolerance of implicit stages."""
        default = 0.01 * min(self.rtol, self.atol) if self.adaptive else 1e-15
        return _NEWTON, self.stage_tolerance or default

    @property
    def rate_rows(self) -> tuple[int, int, int]:
        """See `Integrator`; at the start the rate of the polynomial through the stages, in the spare row."""
        return 2 * self.stages + 2, self.stages, self.stages + 2

    def needs(self) -> set[str]:
        """Names of the kernels that its steps call."""
        return {self.loop, "iterate_newton", "filtered_error"}

    def workspace(self, run: Run) -> dict[str, Any]:
        """Work arrays of implicit steps."""
        return implicit_workspace(self.tableau, run)

    def compiled_parts(self) -> dict[str, Any]:
        """The step and what solves its stages."""
        return {"attempt": compiled_implicit_runge_kutta(), **newton_parts()}
