"""What integrators with implicit stages share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dalembert.errors import ModelError
from dalembert.integrators.collocation_tableau import spectrum
from dalembert.integrators.integrator import Integrator
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
        """Stages: rates, residuals or predictions, one spare row; the others as in kernels/time/steps.py."""
        tableau = self.tableau
        table, s, nx, nqu, nu = spectrum(tableau), tableau.stages - 1, run.state_size, run.size, int(run.I[T.NU])
        pairs = table.shape[1]
        return {
            "stages": np.zeros((2 * s + 3, nx)),
            "dense": np.zeros((len(tableau.d) + 4, nx)),
            "jacobian": np.zeros((nu + 1, nqu)),
            "factors": np.zeros((pairs, 2, nu + 1, nqu)),
            "pivots": np.zeros((pairs, nu), dtype=np.int64),
            "spectrum": table,
            "velocity_map": run.velocity_map,
            "memory": np.zeros((7, s * nu)),
        }
