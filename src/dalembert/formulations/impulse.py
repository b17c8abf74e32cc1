"""Impulse: an unconstrained step, then the impulses that the constraints need at velocity level [ConstraintNotes, 3-4]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from dalembert.callbacks import Callbacks
from dalembert.errors import ModelError
from dalembert.formulations.run import Run
from dalembert.kernels import tables as T
from dalembert.mechanism import Mechanism, new_workspace

_STABILISATION = {None: T.NO_STABILISATION, "baumgarte": T.BAUMGARTE, "projection": T.PROJECTION}


@dataclass(frozen=True, kw_only=True)
class Impulse:
    """Any explicit integrator steps as if there were no constraints; impulses then restore A u + b = 0, with a fixed step.

    stabilisation : "projection" of positions and velocities after the step, "baumgarte" at velocity level, or None
    metric : norm of the projection, "euclidean" in (r, theta), or "mass": the least kinetic energy
    tau : Baumgarte's time constant in steps; an error decays by 1 - 1/tau per step, below 1/2 the run is unstable
    predict : the last mean reaction acts during the unconstrained step: order 2 with an integrator of order 2 or more.
        False: as printed, order 1 with any integrator
    tolerance, velocity_tolerance : residual left after projection [m or rad], [m/s or rad/s]
    max_newton : Newton iterations before the run stops

    `Solution.impulse(joint)` has the impulses and mean reactions of the steps; `Solution.reaction` what the saved states imply.
    """

    stabilisation: Literal["projection", "baumgarte"] | None = "projection"
    metric: Literal["euclidean", "mass"] = "euclidean"
    tau: float = 5.0
    predict: bool = True
    tolerance: float = 1e-11
    velocity_tolerance: float = 1e-11
    max_newton: int = 50

    coordinates: ClassVar[tuple[str, ...]] = ("absolute", "planar")
    citations: ClassVar[tuple[str, ...]] = ("ConstraintNotes",)

    def __post_init__(self) -> None:
        if self.stabilisation not in _STABILISATION:
            raise ModelError(f"Impulse: stabilisation is {self.stabilisation!r}; give 'projection', 'baumgarte' or None")
        if self.metric not in ("euclidean", "mass"):
            raise ModelError(f"Impulse: metric is {self.metric!r}; give one of euclidean, mass")
        for label in ("tau", "tolerance", "velocity_tolerance", "max_newton"):
            if not getattr(self, label) > 0:
                raise ModelError(f"Impulse: {label} is {getattr(self, label)!r}; give a positive number")

    def prepare(self, mechanism: Mechanism) -> Run:
        """Tables with this formulation's settings, a workspace, and compiled slots."""
        run = prepare_velocity_level(mechanism)
        run.I[T.STABILISE], run.I[T.PREDICT] = _STABILISATION[self.stabilisation], int(self.predict)
        run.I[T.MAX_NEWTON] = self.max_newton
        run.F[T.TAU] = self.tau
        run.F[T.TOL_POSITION], run.F[T.TOL_VELOCITY] = self.tolerance, self.velocity_tolerance
        if self.metric == "mass":
            run.I[T.METRIC_F] = run.I[T.MASS_F]
        return run


def prepare_velocity_level(mechanism: Mechanism) -> Run:
    """A run of rigid impulses, not stabilised, whose state remembers the last step."""
    from dalembert.kernels.impulse import impulse
    from dalembert.kernels.slots import as_system, no_correction

    I = mechanism.I.copy()
    I[T.MEMORY_X] = I[T.NX]
    system = as_system(impulse)
    return Run(
        mechanism=mechanism,
        I=I,
        F=mechanism.F.copy(),
        W=new_workspace(I),
        system=system,
        project=system,
        correct=as_system(no_correction),
        stages=0,
        callbacks=Callbacks(mechanism),
        remembers=True,
    )
