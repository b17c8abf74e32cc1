"""Which kernels there are, what each is for, and whether its machine code is already on disk."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np


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
    optional: bool = False

    @property
    def function(self) -> Any:
        return getattr(importlib.import_module(f"dalembert.kernels.{self.module}"), self.name)

    def compile(self) -> None:
        """Compile it, or load it from the cache."""
        from dalembert.integrators import loops
        from dalembert.kernels import slots

        if self.name == "ensemble":  # for the default integrator
            matrix = np.zeros((1, 1))
            loops.compiled_ensemble(loops.compiled_runge_kutta(), (matrix, matrix))
        elif self.seam == "loop":
            getattr(loops, f"compiled_{self.name}")()
        else:
            bind: Any = getattr(slots, f"as_{self.seam}")
            bind(self.function)

    @property
    def state(self) -> Literal["cached", "not compiled", "plain Python"]:
        """Where its machine code is; plain Python means that NUMBA_DISABLE_JIT is set."""
        from dalembert.kernels.compiler import JIT

        function = self.function
        if not JIT:
            return "plain Python"
        return "cached" if function._cache.ready(function.targetctx) else "not compiled"


KERNELS = (
    Kernel("no_callback", "slots", "callback", 0.5, "stands in for user functions"),
    Kernel("no_forces", "slots", "forces", 0.1, "stands in for force elements"),
    Kernel("no_correction", "slots", "system", 0.1, "stands in for invariants"),
    Kernel("jet", "jet", "system", 9.5, "equations of motion and projection"),
    Kernel("combine", "stepping", "loop", 0.4, "sums over stages"),
    Kernel("runge_kutta", "runge_kutta", "loop", 4.0, "time steps"),
    Kernel("implicit_runge_kutta", "implicit_runge_kutta", "loop", 12.0, "implicit time steps", optional=True),
    Kernel("evaluate_states", "outputs", "loop", 0.5, "energies, residuals, multipliers"),
    Kernel("force_elements", "forces", "forces", 3.0, "forces, torques, springs, motors", optional=True),
    Kernel("forces_and_rows", "traced_rows", "forces", 4.0, "rolling, constraints written as functions", optional=True),
    Kernel("choosing_bodies", "choosing", "forces", 6.0, "redundant joints", optional=True),
    Kernel("choosing_cut_joints", "choosing", "forces", 6.0, "redundant joints, moving-frame", optional=True),
    Kernel("correct_invariants", "invariants", "system", 5.0, "--invariants energy", optional=True),
    Kernel("project_orthogonal", "orthogonal", "system", 5.0, "--projection orthogonal", optional=True),
    Kernel("moving_frame", "moving_frame", "system", 9.0, "--formulation moving-frame", optional=True),
    Kernel("moving_frame_reference", "moving_frame_reference", "system", 6.0, 'MovingFrame(path="reference")', optional=True),
    Kernel("tree_states", "tree_states", "loop", 1.5, "--formulation moving-frame", optional=True),
    Kernel("correct_tree_invariants", "tree_invariants", "system", 5.0, "moving-frame --invariants energy", optional=True),
    Kernel("minimal", "minimal", "system", 9.0, "--formulation minimal", optional=True),
    Kernel("minimal_step", "minimal_step", "system", 14.0, "--formulation minimal", optional=True),
    Kernel("minimal_across", "bridge", "system", 14.0, 'Minimal(singular="pass")', optional=True),
    Kernel("minimal_tree", "minimal_tree", "system", 8.0, 'Minimal(velocities="joints")', optional=True),
    Kernel("minimal_tree_step", "minimal_tree_step", "system", 9.0, 'Minimal(velocities="joints")', optional=True),
    Kernel("impulse", "impulse", "system", 9.0, "--formulation impulse or soft", optional=True),
    Kernel("baumgarte", "baumgarte", "system", 8.0, 'Jet(projection="none")', optional=True),
    Kernel("lagrangian", "lagrangian", "system", 3.0, "LagrangianSystem", optional=True),
    Kernel("lagrangian_impulse", "lagrangian_impulse", "system", 5.0, "LagrangianSystem, impulse or soft", optional=True),
    Kernel("lagrangian_minimal", "lagrangian_minimal", "system", 9.0, "LagrangianSystem, minimal", optional=True),
    Kernel("correct_lagrangian", "lagrangian_invariants", "system", 1.5, "LagrangianSystem with invariants", optional=True),
    Kernel("variational", "variational", "system", 6.0, "LagrangianSystem, --formulation variational", optional=True),
    Kernel("variational_bodies", "variational_bodies", "system", 8.0, "--formulation variational", optional=True),
    Kernel("own_steps", "own_steps", "loop", 1.5, "--integrator fixed-step", optional=True),
    Kernel("partitioned", "partitioned", "loop", 2.0, "--integrator symplectic-euler or stoermer-verlet", optional=True),
    Kernel("ensemble", "ensemble", "loop", 2.5, "simulate_many", optional=True),
    Kernel("tree_lanes", "tree_lanes", "system", 8.0, "simulate_many with moving-frame", optional=True),
    Kernel("jet_rate_by_cg", "conjugate_gradient", "system", 2.0, 'Jet(solver="cg")', optional=True),
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
    from dalembert.kernels import tables as T

    wanted = {kernel.name for kernel in KERNELS if not kernel.optional}
    wanted = wanted - {"runge_kutta"} | {integrator.loop}
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
