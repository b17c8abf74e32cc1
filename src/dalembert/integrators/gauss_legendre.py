"""Gauss-Legendre integrators as options; the time loop itself is kernels/time/implicit_runge_kutta.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from dalembert.compilation.loops import (
    compiled_filtered_error,
    compiled_implicit_runge_kutta,
    compiled_iterate,
    compiled_iterate_newton,
)
from dalembert.errors import ModelError
from dalembert.integrators.collocation_tableau import gauss_tableau, spectrum
from dalembert.integrators.integrator import Integrator
from dalembert.integrators.tableau import Tableau
from dalembert.kernels.base import tables as T

if TYPE_CHECKING:
    from dalembert.formulations.run import Run

_SOLVERS = ("auto", "fixed-point", "newton")
MAX_STAGES = 8


@dataclass(frozen=True, kw_only=True)
class GaussLegendre(Integrator):
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

    stages: int = field(default=3, kw_only=False)
    stage_tolerance: float | None = None
    solver: Literal["auto", "fixed-point", "newton"] = "auto"

    estimates_error: ClassVar[bool] = True
    implicit: ClassVar[bool] = True
    loop: ClassVar[str] = "implicit_runge_kutta"
    citations: ClassVar[tuple[str, ...]] = ("HairerLubichWanner2006", "HairerWanner1996", "WalkerNi2011")

    def __post_init__(self) -> None:
        if isinstance(self.stages, bool) or not isinstance(self.stages, int) or not 1 <= self.stages <= MAX_STAGES:
            raise ModelError(f"GaussLegendre: stages is {self.stages!r}; give a whole number from 1 to {MAX_STAGES}")
        if self.solver not in _SOLVERS:
            raise ModelError(f"GaussLegendre: solver is {self.solver!r}; give one of {', '.join(_SOLVERS)}")
        super().__post_init__()
        self._positive("stage_tolerance")

    @property
    def tableau(self) -> Tableau:
        """Coefficients of the method."""
        return gauss_tableau(self.stages)

    @property
    def stage_settings(self) -> tuple[int, float]:
        """Solver and tolerance of implicit stages."""
        default = 1e-13 if self.adaptive else 1e-15
        return _SOLVERS.index(self.solver), self.stage_tolerance or default

    @property
    def rate_rows(self) -> tuple[int, int, int]:
        """See `Integrator`."""
        return 0, self.stages + 1, self.stages + 2

    def needs(self) -> set[str]:
        """Names of the kernels that its steps call."""
        newton = {"iterate_newton", "filtered_error"} if self.solver != "fixed-point" else set()
        return {self.loop} | newton | ({"iterate"} if self.solver != "newton" else set())

    def workspace(self, run: Run) -> dict[str, Any]:
        """Work arrays of implicit steps."""
        return implicit_workspace(self.tableau, run)

    def compiled_parts(self) -> dict[str, Any]:
        """The step and what solves its stages."""
        parts = {"attempt": compiled_implicit_runge_kutta()}
        parts |= {} if self.solver == "newton" else {"sweeps": compiled_iterate()}
        return parts if self.solver == "fixed-point" else parts | newton_parts()


def newton_parts() -> dict[str, Any]:
    """What solves stages by Newton's method."""
    return {"newton": compiled_iterate_newton(), "filtered": compiled_filtered_error()}


def implicit_workspace(tableau: Tableau, run: Run) -> dict[str, Any]:
    """Stages: rates, residuals or predictions, one spare row; the others as in kernels/time/steps.py."""
    table, s, nx, nqu, nu = spectrum(tableau), tableau.stages - 1, run.state_size, run.size, int(run.I[T.NU])
    pairs = table.shape[1]
    return {
        "stages": np.zeros((2 * s + 3, nx)),
        "dense": np.zeros((len(tableau.d) + 4, nx)),
        "jacobian": np.zeros((nu + 1, nqu)),
        "factors": np.zeros((pairs, nu + 1, nqu), dtype=np.complex128),
        "pivots": np.zeros((pairs, nu), dtype=np.int64),
        "spectrum": table,
        "velocity_map": run.velocity_map,
        "memory": np.zeros((7, s * nu)),
    }
