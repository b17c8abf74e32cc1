"""Jet: absolute or planar coordinates, exact projection onto everything that must hold [JetMultibody, 3-6]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array, IntArray
from dalembert.compilation.by_formula import Made
from dalembert.compilation.callbacks import Callbacks
from dalembert.compilation.catalogue import Kernel
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.lagrangian import GeneratedCode, LagrangianMechanism
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import new_workspace
from dalembert.errors import ModelError
from dalembert.formulations.base import Formulation, seams, set_tolerances
from dalembert.formulations.invariants import Invariants, check_invariants, invariant_functions, with_invariants
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T
from dalembert.model.validation import check_literals

_STAGES = {"none": 0, "constraints": 1, "all": 2}
SWEEPS = 2  # of refinement, where masses differ by orders of magnitude


@dataclass(frozen=True, kw_only=True)
class Jet(Formulation):
    """Constraints by multipliers in the equations of motion and by projection of every step.

    projection : "quasi-orthogonal" (Algorithms 5.3-5.5), "orthogonal" (full iteration on (5.2), slower, for comparison), or
        "none": the constraints hold for accelerations only, and positions drift away
    invariants : None, "energy" (T + U - external work stays constant) or functions f(t, q, u) that must stay constant
    stages : which Runge-Kutta stage points are projected too: "none", "constraints", or "all" (and invariants)
    metric : the projection's norm, "euclidean" in (r, theta) as in the paper, or "mass"
    solver : "block" (block-sparse factorisation of S) or "cg" (conjugate gradients, as in the paper)
    tolerance, velocity_tolerance : residual left after projection [m or rad], [m/s or rad/s]
    invariant_tolerance : |f - f_0| left, relative to max(|f_0|, 1), for the energy to the largest of T, |U|, |W_ext| and what
        weights and springs give and take over the size of the mechanism (1 J where there are none)
    max_newton : Newton iterations before a step is refused
    baumgarte : (alpha, beta) [1/s] of G u' + zeta + 2 alpha (G u + g_t) + beta^2 g = 0, with projection="none", for comparison
        with programs that do so. It takes tuning, can make the run unstable (explicit steps need h alpha, h beta well below
        1), and leaves a deviation, a compliance that no joint has [ConstraintNotes, 4.2]: projection has none of this
    """

    projection: Literal["quasi-orthogonal", "orthogonal", "none"] = "quasi-orthogonal"
    invariants: Invariants = None
    stages: Literal["none", "constraints", "all"] = "none"
    metric: Literal["euclidean", "mass"] = "euclidean"
    solver: Literal["block", "cg"] = "block"
    tolerance: float = 1e-11
    velocity_tolerance: float = 1e-11
    invariant_tolerance: float = 1e-13
    max_newton: int = 50
    baumgarte: tuple[float, float] | None = None

    coordinates: ClassVar[tuple[str, ...]] = ("absolute", "planar", "generalised")
    citations: ClassVar[tuple[str, ...]] = ("JetMultibody",)
    by_multipliers: ClassVar[bool] = True
    differentiable: ClassVar[bool] = True
    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("jet", "formulations.jet", 6.8, "equations of motion and projection", optional=False),
        Kernel("lagrangian", "coordinates.lagrangian", 1.7, "LagrangianSystem"),
        Kernel("correct_invariants", "formulations.invariants", 2.4, "--invariants energy"),
        Kernel("correct_lagrangian", "formulations.lagrangian_invariants", 0.8, "LagrangianSystem with invariants"),
        Kernel("project_orthogonal", "formulations.orthogonal", 1.3, "--projection orthogonal"),
        Kernel("baumgarte", "formulations.baumgarte", 1.4, 'Jet(projection="none")'),
        Kernel("jet_rate_by_cg", "formulations.conjugate_gradient", 1.8, 'Jet(solver="cg")'),
    )

    def __post_init__(self) -> None:
        check_literals(self)
        check_invariants("Jet", self.invariants)
        self.check_positive("tolerance", "velocity_tolerance", "invariant_tolerance", "max_newton")
        self._check_baumgarte()

    def _check_baumgarte(self) -> None:
        if self.baumgarte is not None:
            try:
                gains = np.asarray(self.baumgarte, dtype=float)
            except (TypeError, ValueError):
                gains = np.zeros(0)
            if gains.shape != (2,) or not np.all((gains >= 0) & np.isfinite(gains)):
                raise ModelError(f"Jet: baumgarte is {self.baumgarte!r}; give (alpha, beta), two numbers that are not negative")
            object.__setattr__(self, "baumgarte", (float(gains[0]), float(gains[1])))
            if self.projection != "none":
                raise ModelError(f"Jet: baumgarte with projection={self.projection!r} corrects twice; give projection='none'")
        if self.projection == "none":
            for label, only in (("invariants", None), ("stages", "none"), ("solver", "block")):
                if getattr(self, label) != only:
                    raise ModelError(f"Jet: projection='none' goes with {label}={only!r}, not {getattr(self, label)!r}")

    def needs(self, mechanism: Compiled) -> set[str]:
        return set(self._names(mechanism))

    def _names(self, mechanism: Compiled) -> tuple[str, str, str]:
        """Kernels of the rates, of the projection and of what corrects invariants."""
        kept = self.invariants is not None
        if mechanism.coordinates == "generalised":
            return "lagrangian", "lagrangian", "correct_lagrangian" if kept else "no_correction"
        projection = {"orthogonal": "project_orthogonal", "none": "baumgarte"}.get(self.projection, "jet")
        rates = "jet_rate_by_cg" if self.solver == "cg" else "baumgarte" if self.projection == "none" else "jet"
        return rates, projection, "correct_invariants" if kept else "no_correction"

    @classmethod
    def suits(cls, mechanism: Compiled) -> str:
        """Light bodies cost it nothing, because its multipliers are refined: with 1e-9 kg between bodies of 1 kg it is
        4e-10 rad off after 2 s, `MovingFrame` 2e-7 rad. Over the gallery and random mechanisms both are equally right, and
        `MovingFrame` needs a third of the time (benchmarks/campaigns/default_formulation.py)."""
        return "it runs every model in all coordinates"

    @classmethod
    def refinements(cls, options: Mapping[str, Any]) -> int:
        return SWEEPS if options.get("solver") == "block" else 0

    def prepare(self, mechanism: Compiled) -> Run:
        self.refuse_other_coordinates(mechanism)
        return self._of_bodies(mechanism) if isinstance(mechanism, Mechanism) else self._of_lagrangian(mechanism)

    def _of_lagrangian(self, mechanism: Compiled) -> Run:
        """The same on generalised coordinates, in dense algebra."""
        assert isinstance(mechanism, LagrangianMechanism)
        for label, only in (("projection", "quasi-orthogonal"), ("solver", "block")):
            if getattr(self, label) != only:
                raise ModelError(f"Jet: {label}={getattr(self, label)!r} is for bodies; a Lagrangian system takes {only!r}")
        I, F = self._settings(mechanism)
        I[T.MASS_METRIC] = int(self.metric == "mass")
        functions = invariant_functions(self.invariants)
        code = GeneratedCode(mechanism.model, functions, energy=True) if self.invariants else mechanism.code
        kernels = seams(*self._names(mechanism))
        run = Run(mechanism, I, F, mechanism.workspace(), *kernels, _STAGES[self.stages], code)
        return with_invariants(run, self.invariants)

    def _settings(self, mechanism: Compiled) -> tuple[IntArray, Array]:
        I, F = mechanism.I.copy(), mechanism.F.copy()
        set_tolerances(self, I, F)
        return I, F

    def refilled(self, run: Run, made: Made) -> tuple[Array, Array, npt.NDArray[np.bool_]] | None:
        if self.invariants is not None:
            return None
        F = made.F.copy()
        set_tolerances(self, run.I, F.T)
        F[:, T.ALPHA], F[:, T.BETA] = self.baumgarte or (0.0, 0.0)
        return F, made.x_0.copy(), np.ones(len(F), dtype=bool)

    def _of_bodies(self, mechanism: Mechanism) -> Run:
        I, F = self._settings(mechanism)
        if self.metric == "mass":
            I[T.METRIC_F] = I[T.MASS_F]
        names, orthogonal = self._names(mechanism), self.projection == "orthogonal"
        F[T.ALPHA], F[T.BETA] = self.baumgarte or (0.0, 0.0)
        if not orthogonal:  # room of their own is behind the workspace
            I[T.W_BEND] = I[T.W_A]
        rows: Literal["", "bends"] = "bends" if orthogonal or self.invariants else ""
        if names[0] == "jet" and mechanism.uneven:
            I[T.REFINE] = SWEEPS
        functions = Callbacks(mechanism, invariant_functions(self.invariants), rows=rows)
        derived = "formulations.jet_derivatives" if names[0] == "jet" and not I[T.NCHOICE] else ""
        workspace, stages = new_workspace(I, dense=orthogonal), _STAGES[self.stages]
        run = Run(mechanism, I, F, workspace, *seams(*names), stages, functions, derived=derived)
        return with_invariants(run, self.invariants)
