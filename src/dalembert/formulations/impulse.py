"""Impulse: an unconstrained step, then the impulses that the constraints need at velocity level [ConstraintNotes, 3-4]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.callbacks import Callbacks
from dalembert.compilation.catalogue import Kernel
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.lagrangian import GeneratedCode, LagrangianMechanism
from dalembert.compilation.lagrangian_start import without_inertia
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import new_workspace
from dalembert.compilation.tree import make_tree
from dalembert.errors import ModelError
from dalembert.formulations.base import Formulation, seams
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import BLOCKS
from dalembert.model.validation import check_literals

_STABILISATION = {None: T.NO_STABILISATION, "baumgarte": T.BAUMGARTE, "projection": T.PROJECTION}

_KERNELS = {"generalised": "lagrangian_impulse", "tree": "impulse_tree"}  # by coordinates, those of bodies have "impulse"


class VelocityLevel(Formulation):
    """Constraints at the end of a step alone, which any explicit integrator makes without them."""

    coordinates: ClassVar[tuple[str, ...]] = ("absolute", "planar", "generalised")
    citations: ClassVar[tuple[str, ...]] = ("ConstraintNotes",)
    steps: ClassVar[Literal["any", "explicit", "own"]] = "explicit"
    saves: ClassVar[tuple[str, ...]] = ("step", "impulse")
    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("impulse", "formulations.impulse", 6.4, "--formulation impulse or soft"),
        Kernel("impulse_tree", "formulations.impulse_tree", 4.4, "--formulation impulse --coordinates tree"),
        Kernel("lagrangian_impulse", "formulations.lagrangian_impulse", 4.0, "LagrangianSystem, impulse or soft"),
    )

    def needs(self, mechanism: Compiled) -> set[str]:
        states = {"tree_states"} if mechanism.coordinates == "tree" else set()
        return {_KERNELS.get(mechanism.coordinates, "impulse"), *states}


@dataclass(frozen=True, kw_only=True)
class Impulse(VelocityLevel):
    """Any explicit integrator steps as if there were no constraints; impulses then restore A u + b = 0, with a fixed step.

    stabilisation : "projection" of positions after the step, "baumgarte" at velocity level, or None
    metric : norm of the projection, "euclidean" in (r, theta), or "mass": the least kinetic energy; velocities are always
        corrected by impulses
    tau : Baumgarte's time constant in steps; an error decays by 1 - 1/tau per step, below 1/2 the run is unstable
    predict : the reaction at its start acts during a step: order 2 with integrators of order 2 and more. False: as printed,
        order 1 with any integrator, and the better choice for Euler
    tolerance : residual left after projection [m or rad]
    max_newton : Newton iterations before the run stops

    In coordinates of a tree only the joints that close loops need impulses, and `metric` is always that of the kinetic energy.
    `Solution.impulse(joint)` has the impulses and mean reactions of the steps, NaN for joints of a tree; `Solution.reaction`
    what the saved states imply, of all of them.
    """

    stabilisation: Literal["projection", "baumgarte"] | None = "projection"
    metric: Literal["euclidean", "mass"] = "euclidean"
    tau: float = 5.0
    predict: bool = True
    tolerance: float = 1e-11
    max_newton: int = 50

    coordinates: ClassVar[tuple[str, ...]] = ("absolute", "planar", "tree", "generalised")
    largest_order: ClassVar[int | None] = 2
    by_multipliers: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.stabilisation, str | None) or self.stabilisation not in _STABILISATION:
            raise ModelError(f"Impulse: stabilisation is {self.stabilisation!r}; give 'projection', 'baumgarte' or None")
        check_literals(self)
        self.check_positive("tau", "tolerance", "max_newton")

    def prepare(self, mechanism: Compiled) -> ImpulseRun:
        self.refuse_other_coordinates(mechanism)
        run = prepare_velocity_level("Impulse", mechanism)
        run.I[T.STABILISE], run.I[T.PREDICT] = _STABILISATION[self.stabilisation], int(self.predict)
        run.I[T.MAX_NEWTON] = self.max_newton
        run.F[T.TAU] = self.tau
        run.F[T.TOL_POSITION], run.F[T.TOL_VELOCITY] = self.tolerance, np.inf  # velocities are left to the impulse
        if self.metric == "mass":
            run.I[T.METRIC_F], run.I[T.MASS_METRIC] = run.I[T.MASS_F], 1
        return run


class ImpulseRun(Run):
    """The state goes on behind that of the mechanism with a memory of the last step (kernels/base/layout.py)."""

    @property
    def state_size(self) -> int:
        """Number of all components of the state."""
        return int(int(self.I[T.NX]) + BLOCKS["memory"].length(m=self.I[T.M], nq=self.I[T.NQ], nu=self.I[T.NU]))

    def from_absolute(self, x: Array, t: float = 0.0) -> Array:
        """The state of a run that has made no step."""
        return np.ravel(self.remembering(super().from_absolute(x)[None], np.zeros(1), np.zeros((1, int(self.I[T.M])))))

    def to_absolute(self, x: Array) -> Array:
        """(nt, nx) states of the mechanism for (nt, n) states of the run."""
        return super().to_absolute(np.ascontiguousarray(x[:, : self.I[T.NX]]))

    def more(self, x: Array) -> dict[str, Array]:
        """step (nt,) and impulse (nt, m) of the step that ended in each state."""
        done, impulse = (int(self.I[T.MEMORY_X]) + BLOCKS["memory"].offset(label) for label in ("done", "impulse"))
        found = x[:, impulse : impulse + int(self.I[T.M])]
        if self.tree is not None:
            rows = [row.index for row in self.mechanism.rows if row.element in self.tree.cut]
            own, found = found, np.full((len(x), self.mechanism.m), np.nan)
            found[:, rows] = own
        return {"step": x[:, done], "impulse": found}

    def remembering(self, x: Array, step: Array, impulse: Array) -> Array:
        """(nt, n) states of the run at the ends of steps."""
        q = x[:, : int(self.I[T.NQ])]
        clock, lam, rest = (np.zeros((len(x), n)) for n in (1, impulse.shape[1], 3 * int(self.I[T.NU]) + 1))
        return np.concatenate([x, clock, step[:, None], impulse, lam, q, rest], axis=1)


def prepare_velocity_level(owner: str, mechanism: Compiled) -> ImpulseRun:
    """A run of rigid impulses, not stabilised, whose state remembers the last step."""
    tree = make_tree(mechanism, world=True) if isinstance(mechanism, Mechanism) and mechanism.coordinates == "tree" else None
    I, F = (mechanism.I.copy(), mechanism.F.copy()) if tree is None else (tree.I.copy(), tree.F.copy())
    I[T.MEMORY_X] = I[T.NX]
    callbacks: Callbacks | GeneratedCode
    if isinstance(mechanism, LagrangianMechanism):
        if F[T.AUGMENT] > 0:
            raise ModelError(
                f"{owner} steps as if there were no constraints, and without them the velocity {without_inertia(mechanism)} has"
                " no inertia; use Jet, Minimal or Variational, or coordinates that all carry kinetic energy"
            )
        callbacks = mechanism.code
    else:
        assert isinstance(mechanism, Mechanism)
        callbacks = Callbacks(mechanism)
    kernel = _KERNELS.get(mechanism.coordinates, "impulse")
    W = mechanism.workspace() if tree is None else new_workspace(I)
    return ImpulseRun(mechanism, I, F, W, *seams(kernel, kernel), 0, callbacks, tree)
