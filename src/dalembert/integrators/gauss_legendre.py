"""Gauss-Legendre integrators as options; the time loop itself is kernels/time/implicit_runge_kutta.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from dalembert.errors import ModelError
from dalembert.integrators.collocation_tableau import gauss_tableau, spectrum
from dalembert.integrators.integrator import Integrator
from dalembert.integrators.loops import compiled_implicit_runge_kutta
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

    def workspace(self, run: Run) -> tuple[Any, ...]:
        """Work arrays of implicit steps."""
        return implicit_workspace(self.tableau, run)

    def compiled_loop(self) -> Any:
        """The time loop, compiled for its one signature."""
        return compiled_implicit_runge_kutta()


def implicit_workspace(tableau: Tableau, run: Run) -> tuple[Any, ...]:
    """Stages (rates, residuals or predictions, one spare row), dense output, derivatives of u' with the point where they were
    taken in the last row, factors with a vector over q and u in the last row, pivots, spectrum, blocks of q' = N(q) u, memory
    of the last sweeps."""
    table, s, nx, nqu, nu = spectrum(tableau), tableau.stages - 1, run.state_size, run.size, int(run.I[T.NU])
    pairs = table.shape[1]
    factors, pivots = np.zeros((pairs, nu + 1, nqu), dtype=np.complex128), np.zeros((pairs, nu), dtype=np.int64)
    stages, dense = np.zeros((2 * s + 3, nx)), np.zeros((len(tableau.d) + 4, nx))
    return stages, dense, np.zeros((nu + 1, nqu)), factors, pivots, table, run.velocity_map, np.zeros((7, s * nu))
