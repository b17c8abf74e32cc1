"""MovingFrame: relative coordinates of a tree, O(n), loops closed by multipliers on cut joints [MovingFrame, 2-3]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalembert.callbacks import Callbacks
from dalembert.errors import ModelError
from dalembert.formulations.run import Run
from dalembert.kernels import tables as T
from dalembert.mechanism import Compiled, Mechanism, new_workspace
from dalembert.tree import make_tree


@dataclass(frozen=True, kw_only=True)
class MovingFrame:
    """Joint coordinates of a spanning tree; no constraint is left for a model without loops, so nothing can drift.

    cut : joints to keep as constraint rows; the others are cut where the tree would close a loop (breadth first from ground)
    tolerance, velocity_tolerance : residual left in cut joints after projection [m or rad], [m/s or rad/s]
    max_newton : Newton iterations before a step is refused
    """

    cut: tuple[str, ...] = ()
    tolerance: float = 1e-11
    velocity_tolerance: float = 1e-11
    max_newton: int = 50

    coordinates: ClassVar[tuple[str, ...]] = ("absolute",)
    citations: ClassVar[tuple[str, ...]] = ("MovingFrame", "Featherstone2008")

    def __post_init__(self) -> None:
        object.__setattr__(self, "cut", tuple(self.cut))
        for label in ("tolerance", "velocity_tolerance", "max_newton"):
            if not getattr(self, label) > 0:
                raise ModelError(f"MovingFrame: {label} is {getattr(self, label)!r}; give a positive number")

    def prepare(self, mechanism: Compiled) -> Run:
        """Tables of the tree with this formulation's settings, a workspace, and compiled slots."""
        if not isinstance(mechanism, Mechanism):
            raise ModelError("MovingFrame works on bodies and joints; a Lagrangian system takes Jet")
        from dalembert.kernels.moving_frame import moving_frame
        from dalembert.kernels.slots import as_system, no_correction

        tree = make_tree(mechanism, self.cut)
        I, F = tree.I.copy(), tree.F.copy()
        I[T.MAX_NEWTON] = self.max_newton
        F[T.TOL_POSITION], F[T.TOL_VELOCITY] = self.tolerance, self.velocity_tolerance
        system = as_system(moving_frame)
        return Run(
            mechanism=mechanism,
            I=I,
            F=F,
            W=new_workspace(I),
            system=system,
            project=system,
            correct=as_system(no_correction),
            stages=0,
            callbacks=Callbacks(mechanism),
            tree=tree,
        )
