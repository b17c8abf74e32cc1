"""Integrators with implicit stages: Gauss-Legendre and Radau IIA; the step itself is kernels/time/implicit_runge_kutta.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from dalembert.errors import ModelError
from dalembert.integrators.collocation_tableau import gauss_tableau, radau_tableau, spectrum
from dalembert.integrators.integrator import Integrator
from dalembert.integrators.tableau import Tableau
from dalembert.kernels.base import tables as T

if TYPE_CHECKING:
    from dalembert.formulations.run import Run


@dataclass(frozen=True, kw_only=True)
class Collocation(Integrator):
    """Stages that are solved for, by Newton's method unless a method has another one."""

    stages: int = field(default=3, kw_only=False)
    stage_tolerance: float | None = None

    most_stages: ClassVar[int]
    estimates_error: ClassVar[bool] = True
    implicit: ClassVar[bool] = True
    loop: ClassVar[str] = "implicit_runge_kutta"

    def __post_init__(self) -> None:
        if isinstance(self.stages, bool) or not isinstance(self.stages, int) or not 1 <= self.stages <= self.most_stages:
            raise ModelError(
                f"{type(self).__name__}: stages is {self.stages!r}; give a whole number from 1 to {self.most_stages}"
            )
        super().__post_init__()
        self._positive("stage_tolerance")

    def needs(self) -> set[str]:
        return {self.loop, "iterate_newton", "filtered_error"}

    def workspace(self, run: Run) -> dict[str, Any]:
        """Stages: rates, residuals or predictions, one more rate, a spare row; the others as in kernels/time/records.py."""
        tableau = self.tableau
        table, s, nx, nqu, nu = spectrum(tableau), tableau.stages - 1, run.state_size, run.size, int(run.I[T.NU])
        pairs = table.shape[1]
        return {
            "stages": np.zeros((2 * s + 4, nx)),
            "dense": np.zeros((len(tableau.d) + 4, nx)),
            "jacobian": np.zeros((nu + 1, nqu)),
            "factors": np.zeros((pairs, 2, nu + 1, nqu)),
            "pivots": np.zeros((pairs, nu), dtype=np.int64),
            "spectrum": table,
            "velocity_map": run.velocity_map,
            "memory": np.zeros((7, s * nu)),
        }


_SOLVERS = ("auto", "fixed-point", "newton")


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

    most_stages: ClassVar[int] = 8
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


@dataclass(frozen=True, kw_only=True)
class RadauIIA(Collocation):
    """Radau IIA collocation with 1 to 5 stages [HairerWanner1996, IV.8]: order 2 stages - 1, implicit, L-stable.

    For stiff forces: what is faster than the steps is damped, and the steps follow what is left. Fixed or adaptive; the error
    estimate has order stages + 1, dense output min(2 stages - 1, stages + 2). Stage equations by simplified Newton's method
    with Jacobian matrices of the right-hand side, made anew only where they no longer contract: the first ones by central
    differences, in longer runs exact ones, whose kernels are then compiled.

    stages : 1 to 5
    stage_tolerance : change of the state at which the stage equations count as solved, relative to max(1, |x|). Default 1e-15,
        with adaptive steps a hundredth of the smaller of rtol and atol, with up to three stages 0.03 of it
    Other options as in `Integrator`.
    """

    most_stages: ClassVar[int] = 5
    citations: ClassVar[tuple[str, ...]] = ("HairerWanner1996",)

    @property
    def tableau(self) -> Tableau:
        return radau_tableau(self.stages)

    @property
    def stage_settings(self) -> tuple[int, float]:
        part = 0.03 if self.stages <= 3 else 0.01  # more stages leave less than their error estimate says
        default = part * min(self.rtol, self.atol) if self.adaptive else 1e-15
        return _SOLVERS.index("newton"), self.stage_tolerance or default

    @property
    def rate_rows(self) -> tuple[int, int, int]:
        """At the start k_s of the step before."""
        return 2 * self.stages + 2, self.stages, self.stages + 2
