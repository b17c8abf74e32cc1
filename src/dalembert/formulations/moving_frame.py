"""MovingFrame: relative coordinates of a tree, O(n), loops closed by multipliers on cut joints [MovingFrame, 2-3]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from dalembert.compilation.callbacks import Callbacks
from dalembert.compilation.catalogue import Kernel
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import new_workspace
from dalembert.compilation.tree import make_tree
from dalembert.formulations.base import Formulation, set_tolerances
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
    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("moving_frame", "formulations.moving_frame", "system", 9.0, "--formulation moving-frame"),
        Kernel("moving_frame_reference", "formulations.moving_frame_reference", "system", 6.0, 'MovingFrame(path="reference")'),
        Kernel("correct_tree_invariants", "formulations.tree_invariants", "system", 5.0, "moving-frame --invariants energy"),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "cut", tuple(self.cut))
        choice("MovingFrame", "path", self.path, ("fast", "reference"))
        check_invariants("MovingFrame", self.invariants)
        self.check_positive("tolerance", "velocity_tolerance", "invariant_tolerance", "max_newton")

    def needs(self, mechanism: Compiled) -> set[str]:
        names = {"tree_states", "moving_frame" if self.path == "fast" else "moving_frame_reference"}
        return names | ({"correct_tree_invariants"} if self.invariants is not None else set())

    @classmethod
    def suits(cls, mechanism: Compiled) -> str:
        return "it is O(n) in the coordinates of the joints" if mechanism.coordinates == "tree" else ""

    def prepare(self, mechanism: Compiled) -> Run:
        """Tables of the tree with this formulation's settings, a workspace, and compiled slots."""
        self.refuse_other_coordinates(mechanism)
        assert isinstance(mechanism, Mechanism)
        from dalembert.kernels.base.slots import as_system, no_correction

        tree = make_tree(mechanism, self.cut)
        I, F = tree.I.copy(), tree.F.copy()
        set_tolerances(self, I, F)
        correct = no_correction
        if self.path == "fast":
            from dalembert.kernels.formulations.moving_frame import moving_frame as equations
        else:
            from dalembert.kernels.formulations.moving_frame_reference import moving_frame_reference as equations
        if self.invariants is not None:
            from dalembert.kernels.formulations.tree_invariants import correct_tree_invariants as correct
        system = as_system(equations)
        W, functions = new_workspace(I, dense=self.path == "reference"), invariant_functions(self.invariants)
        run = Run(mechanism, I, F, W, system, system, as_system(correct), 0, Callbacks(mechanism, functions), tree)
        return with_invariants(run, self.invariants)
