"""Gauss-Legendre integrators as options; the time loop itself is kernels/gauss_legendre.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from dalembert.errors import ModelError
from dalembert.integrators.gauss_tableau import gauss_tableau, spectrum
from dalembert.integrators.integrator import Integrator
from dalembert.integrators.loops import compiled_gauss_legendre
from dalembert.integrators.tableau import Tableau
from dalembert.kernels import tables as T

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
    loop: ClassVar[str] = "gauss_legendre"
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
        """Stages (rates, residuals or predictions, one spare row), dense output, Jacobian, factors with a right-hand side
        in their last row, pivots, spectrum, blocks of q' = N(q) u, memory of the last sweeps."""
        table, s, nx, nqu = spectrum(self.stages), self.stages, run.state_size, run.size
        pairs = table.shape[1]
        dense = super().workspace(run)[1]
        factors = np.zeros((pairs, nqu + 1, nqu), dtype=np.complex128)
        pivots = np.zeros((pairs, nqu), dtype=np.int64)
        memory = np.zeros((7, s * int(run.I[T.NU])))
        return np.zeros((2 * s + 3, nx)), dense, np.zeros((nqu, nqu)), factors, pivots, table, run.velocity_map, memory

    def compiled_loop(self) -> Any:
        """The time loop, compiled for its one signature."""
        return compiled_gauss_legendre()
