"""MovingFrame: relative coordinates of a tree, O(n), loops closed by multipliers on cut joints [MovingFrame, 2-3]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.by_formula import Made
from dalembert.compilation.callbacks import Callbacks
from dalembert.compilation.catalogue import Kernel
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import new_workspace
from dalembert.compilation.tree import make_tree
from dalembert.compilation.tree_variants import tree_variants
from dalembert.formulations.base import Formulation, seams, set_tolerances
from dalembert.formulations.invariants import Invariants, check_invariants, invariant_functions, with_invariants
from dalembert.formulations.run import Run
from dalembert.model.validation import choice


@dataclass(frozen=True, kw_only=True)
class MovingFrame(Formulation):
    """Joint coordinates of a spanning tree; no constraint is left for a model without loops, so nothing can drift.

    cut : joints to keep as constraint rows; the others are cut where the tree would close a loop (breadth first from ground)
    path : "fast" (articulated-body recursion, O(n)) or "reference" (the source's matrices B, B' and M*, for comparison)
    invariants : None, "energy" (T + U - external work stays constant) or functions f(t, q, u) that must stay constant, of
        the q and u that a solution has
    tolerance, velocity_tolerance : residual left in cut joints after projection [m or rad], [m/s or rad/s]
    invariant_tolerance : |f - f_0| left, relative to max(|f_0|, 1), for the energy see `Jet`
    max_newton : Newton iterations before a step is refused
    """

    cut: tuple[str, ...] = ()
    path: Literal["fast", "reference"] = "fast"
    invariants: Invariants = None
    tolerance: float = 1e-11
    velocity_tolerance: float = 1e-11
    invariant_tolerance: float = 1e-13
    max_newton: int = 50

    coordinates: ClassVar[tuple[str, ...]] = ("absolute", "tree")
    citations: ClassVar[tuple[str, ...]] = ("MovingFrame", "Featherstone2008")
    differentiable: ClassVar[bool] = True
    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("moving_frame", "formulations.moving_frame", 1.9, "--formulation moving-frame"),
        Kernel("moving_frame_reference", "formulations.moving_frame_reference", 2.8, 'MovingFrame(path="reference")'),
        Kernel("correct_tree_invariants", "formulations.tree_invariants", 2.4, "moving-frame --invariants energy"),
    )

    def __post_init__(self) -> None:
        self.check_cut(self.cut)
        choice("MovingFrame", "path", self.path, ("fast", "reference"))
        check_invariants("MovingFrame", self.invariants)
        self.check_positive("tolerance", "velocity_tolerance", "invariant_tolerance", "max_newton")

    def needs(self, mechanism: Compiled) -> set[str]:
        return {"tree_states", *self._names()}

    def _names(self) -> tuple[str, str, str]:
        """Kernels of the rates, of the projection and of what corrects invariants."""
        equations = "moving_frame" if self.path == "fast" else "moving_frame_reference"
        return equations, equations, "no_correction" if self.invariants is None else "correct_tree_invariants"

    @classmethod
    def suits(cls, mechanism: Compiled) -> str:
        return "it is O(n) in the coordinates of the joints" if mechanism.coordinates == "tree" else ""

    def prepare(self, mechanism: Compiled) -> Run:
        self.refuse_other_coordinates(mechanism)
        assert isinstance(mechanism, Mechanism)
        tree = make_tree(mechanism, self.cut, world=self.path == "fast")
        I, F = tree.I.copy(), tree.F.copy()
        set_tolerances(self, I, F)
        W, functions = new_workspace(I, dense=self.path == "reference"), invariant_functions(self.invariants)
        run = Run(mechanism, I, F, W, *seams(*self._names()), 0, Callbacks(mechanism, functions), tree)
        return with_invariants(run, self.invariants)

    def refilled(self, run: Run, made: Made) -> tuple[Array, Array, npt.NDArray[np.bool_]] | None:
        if self.invariants is not None:
            return None
        assert run.tree is not None
        F, x, right = tree_variants(run.tree, made.F, made.x_0, made.frames)
        set_tolerances(self, run.I, F.T)
        return F, x, right
