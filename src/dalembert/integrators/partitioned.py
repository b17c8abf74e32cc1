"""Symplectic Euler and Stoermer-Verlet as options; steps: kernels/time/partitioned.py, time loop: kernels/time/stepping.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dalembert.integrators.integrator import Integrator
from dalembert.integrators.tableau import EULER, Tableau

if TYPE_CHECKING:
    from dalembert.formulations.run import Run


@dataclass(frozen=True, kw_only=True)
class Partitioned(Integrator):
    """Coordinates and velocities advance in turns; options as in `Integrator`, with a fixed step."""

    number: ClassVar[int]
    order_of: ClassVar[int]
    estimates_error: ClassVar[bool] = False
    loop: ClassVar[str] = "partitioned"
    citations: ClassVar[tuple[str, ...]] = ("HairerLubichWanner2006",)

    @property
    def tableau(self) -> Tableau:
        """One step without stages, the cubic of Hermite between its ends."""
        return replace(EULER, order=self.order_of, error_order=self.order_of)

    @property
    def stage_settings(self) -> tuple[int, float]:
        """Which of the methods."""
        return self.number, 0.0

    def workspace(self, run: Run) -> dict[str, Any]:
        """Rates at both ends and in between, dense output."""
        return {"stages": np.zeros((3, run.state_size)), "dense": np.zeros((4, run.state_size))}


class SymplecticEuler(Partitioned):
    """Positions by the old velocities, velocities by the new positions: order 1. Fixed step.

    Symplectic for forces that depend on positions alone; with constraints and projection it is only a method of order 1, and
    `Variational(curve="symplectic-euler")` is the one that keeps its long-time behaviour.
    """

    number: ClassVar[int] = 0
    order_of: ClassVar[int] = 1
    citations: ClassVar[tuple[str, ...]] = ("Variational", "HairerLubichWanner2006")


class StoermerVerlet(Partitioned):
    """Half a kick, a drift, half a kick: order 2. Fixed step.

    Symplectic for forces that depend on positions alone. RATTLE, its form for holonomic constraints, is
    `Variational(curve="verlet")`; here the end of a step is projected.
    """

    number: ClassVar[int] = 1
    order_of: ClassVar[int] = 2
