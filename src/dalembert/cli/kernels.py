"""Which kernels there are, what each is for, and whether its machine code is already on disk."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Kernel:
    """A compiled entry point.

    seam : the function type it is compiled for;  seconds : what compiling takes, about
    optional : not needed by a run with default options
    """

    name: str
    module: str
    seam: Literal["callback", "forces", "system", "loop"]
    seconds: float
    purpose: str
    optional: bool = True

    @property
    def function(self) -> Any:
        return getattr(importlib.import_module(f"dalembert.kernels.{self.module}"), self.name)

    def compile(self) -> None:
        """Compile it, or load it from the cache."""
        from dalembert.integrators import loops
        from dalembert.kernels.base import slots

        if self.seam == "loop":
            getattr(loops, f"compiled_{self.name}")()
        else:
            bind: Any = getattr(slots, f"as_{self.seam}")
            bind(self.function)

    @property
    def state(self) -> Literal["cached", "not compiled", "plain Python"]:
        """Where its machine code is; plain Python means that NUMBA_DISABLE_JIT is set."""
        from dalembert.kernels.base.compiler import JIT

        function = self.function
        if not JIT:
            return "plain Python"
        return "cached" if function._cache.ready(function.targetctx) else "not compiled"


KERNELS = (
    Kernel("no_callback", "base.slots", "callback", 0.5, "stands in for user functions", optional=False),
    Kernel("no_forces", "base.slots", "forces", 0.1, "stands in for force elements", optional=False),
    Kernel("no_correction", "base.slots", "system", 0.1, "stands in for invariants", optional=False),
    Kernel("jet", "formulations.jet", "system", 9.5, "equations of motion and projection", optional=False),
    Kernel("combine", "time.stepping", "loop", 0.4, "sums over stages", optional=False),
    Kernel("march", "time.stepping", "loop", 1.5, "the time loop", optional=False),
    Kernel("runge_kutta", "time.runge_kutta", "loop", 1.5, "time steps", optional=False),
    Kernel("inside_step", "time.saving", "loop", 2.0, "states at given times, events, forces that are functions"),
    Kernel("implicit_runge_kutta", "time.implicit_runge_kutta", "loop", 2.0, "implicit time steps"),
    Kernel("iterate", "time.functional_iteration", "loop", 2.0, "implicit stages by functional iteration"),
    Kernel("iterate_newton", "time.simplified_newton", "loop", 5.0, "implicit stages by Newton's method"),
    Kernel("filtered_error", "time.simplified_newton", "loop", 1.0, "their errors"),
    Kernel("evaluate_states", "time.outputs", "loop", 0.5, "energies, residuals, multipliers", optional=False),
    Kernel("force_elements", "mechanics.forces", "forces", 3.0, "forces, torques, springs, motors"),
    Kernel("forces_and_rows", "mechanics.traced_rows", "forces", 4.0, "rolling, constraints written as functions"),
    Kernel("choosing_bodies", "coordinates.choosing", "forces", 6.0, "redundant joints"),
    Kernel("choosing_cut_joints", "coordinates.choosing", "forces", 6.0, "redundant joints, moving-frame"),
    Kernel("correct_invariants", "formulations.invariants", "system", 5.0, "--invariants energy"),
    Kernel("project_orthogonal", "formulations.orthogonal", "system", 5.0, "--projection orthogonal"),
    Kernel("moving_frame", "formulations.moving_frame", "system", 9.0, "--formulation moving-frame"),
    Kernel("moving_frame_reference", "formulations.moving_frame_reference", "system", 6.0, 'MovingFrame(path="reference")'),
    Kernel("tree_states", "coordinates.tree_states", "loop", 1.5, "--formulation moving-frame"),
    Kernel("correct_tree_invariants", "formulations.tree_invariants", "system", 5.0, "moving-frame --invariants energy"),
    Kernel("minimal", "formulations.minimal", "system", 9.0, "--formulation minimal"),
    Kernel("minimal_step", "formulations.minimal_step", "system", 14.0, "--formulation minimal"),
    Kernel("minimal_across", "formulations.bridge", "system", 14.0, 'Minimal(singular="pass")'),
    Kernel("minimal_tree", "formulations.minimal_tree", "system", 8.0, 'Minimal(velocities="joints")'),
    Kernel("minimal_tree_step", "formulations.minimal_tree_step", "system", 9.0, 'Minimal(velocities="joints")'),
    Kernel("impulse", "formulations.impulse", "system", 9.0, "--formulation impulse or soft"),
    Kernel("baumgarte", "formulations.baumgarte", "system", 8.0, 'Jet(projection="none")'),
    Kernel("lagrangian", "coordinates.lagrangian", "system", 3.0, "LagrangianSystem"),
    Kernel("lagrangian_impulse", "formulations.lagrangian_impulse", "system", 5.0, "LagrangianSystem, impulse or soft"),
    Kernel("lagrangian_minimal", "formulations.lagrangian_minimal", "system", 9.0, "LagrangianSystem, minimal"),
    Kernel("correct_lagrangian", "formulations.lagrangian_invariants", "system", 1.5, "LagrangianSystem with invariants"),
    Kernel("variational", "formulations.variational", "system", 6.0, "LagrangianSystem, --formulation variational"),
    Kernel("variational_bodies", "formulations.variational_bodies", "system", 8.0, "--formulation variational"),
    Kernel("own_steps", "time.own_steps", "loop", 1.5, "--integrator fixed-step"),
    Kernel("partitioned", "time.partitioned", "loop", 2.0, "--integrator symplectic-euler or stoermer-verlet"),
    Kernel("ensemble", "time.ensemble", "loop", 2.5, "simulate_many"),
    Kernel("tree_lanes", "coordinates.tree_lanes", "system", 8.0, "simulate_many with moving-frame"),
    Kernel("jet_rate_by_cg", "formulations.conjugate_gradient", "system", 2.0, 'Jet(solver="cg")'),
)


_BY_FORMULATION = {
    "Impulse": {"impulse"},
    "Soft": {"impulse"},
}


_GENERALISED = {"Minimal": "lagrangian_minimal", "Impulse": "lagrangian_impulse", "Soft": "lagrangian_impulse"}


def needed(mechanism: Any, formulation: Any, integrator: Any) -> list[Kernel]:
    """The kernels that a run will call."""
    from dalembert.formulations.jet import Jet
    from dalembert.formulations.minimal import Minimal
    from dalembert.formulations.moving_frame import MovingFrame
    from dalembert.formulations.variational import Variational
    from dalembert.kernels.base import tables as T

    wanted = {kernel.name for kernel in KERNELS if not kernel.optional}
    wanted = wanted - {"runge_kutta"} | {integrator.loop}
    if integrator.loop == "implicit_runge_kutta":
        solver = getattr(integrator, "solver", "newton")
        wanted |= set() if solver == "newton" else {"iterate"}
        wanted |= set() if solver == "fixed-point" else {"iterate_newton", "filtered_error"}
    if mechanism.functions:
        wanted.add("inside_step")
    if mechanism.I[T.NTRACED]:
        wanted.add("forces_and_rows")
    elif mechanism.I[T.NFORCE] or mechanism.I[T.NMOTION]:
        wanted.add("force_elements")
    if isinstance(formulation, MovingFrame):
        wanted |= {"tree_states", "moving_frame" if formulation.path == "fast" else "moving_frame_reference"}
        wanted |= {"correct_tree_invariants"} if formulation.invariants is not None else set()
    elif isinstance(formulation, Jet) and mechanism.coordinates == "generalised":
        wanted ^= {"jet", "lagrangian"}
        wanted |= {"correct_lagrangian"} if formulation.invariants is not None else set()
    elif isinstance(formulation, Jet):
        wanted |= {"correct_invariants"} if formulation.invariants is not None else set()
        wanted |= {"project_orthogonal"} if formulation.projection == "orthogonal" else set()
        wanted |= {"baumgarte"} if formulation.projection == "none" else set()
    elif isinstance(formulation, Variational):
        wanted |= {"lagrangian", "variational"} if mechanism.coordinates == "generalised" else {"variational_bodies"}
    elif mechanism.coordinates == "generalised" and type(formulation).__name__ in _GENERALISED:
        wanted = wanted - {"jet"} | {"lagrangian", _GENERALISED[type(formulation).__name__]}
    elif isinstance(formulation, Minimal) and formulation.velocities == "joints":
        wanted |= {"minimal_tree", "minimal_tree_step"}
    elif isinstance(formulation, Minimal):
        wanted |= {"minimal" if formulation.singular == "stop" else "minimal_across", "minimal_step"}
        wanted |= {"correct_invariants"} if formulation.invariants is not None else set()
    else:
        wanted |= _BY_FORMULATION[type(formulation).__name__]
    return [kernel for kernel in KERNELS if kernel.name in wanted]


def not_compiled(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Those that have to be compiled first."""
    return [kernel for kernel in kernels if kernel.state == "not compiled"]
