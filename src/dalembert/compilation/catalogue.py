"""Compiled entry points: what each is for, and whether its machine code is already on disk. Formulations add their own."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from dalembert.compilation.compiled import Compiled
from dalembert.compilation.compiled_loops import compiled
from dalembert.kernels.base import tables as T


@dataclass(frozen=True)
class Kernel:
    """A compiled entry point.

    seam : the function type it is compiled for;  seconds : of processor time that compiling took, on one machine
    optional : not needed by a run with default options
    """

    name: str
    module: str
    seconds: float
    purpose: str
    seam: Literal["callback", "forces", "system", "loop"] = "system"
    optional: bool = True

    @property
    def function(self) -> Any:
        return getattr(importlib.import_module(f"dalembert.kernels.{self.module}"), self.name)

    def compile(self) -> Any:
        """It, compiled for its seam or loaded from the cache."""
        return _compiled(self)

    @property
    def state(self) -> Literal["cached", "not compiled", "plain Python"]:
        """Where its machine code is; plain Python means that NUMBA_DISABLE_JIT is set."""
        from dalembert.kernels.base.cache import DiskCache
        from dalembert.kernels.base.compiler import JIT

        function = self.function
        if not JIT:
            return "plain Python"
        on_disk = isinstance(function._cache, DiskCache) and function._cache.ready(function.targetctx)
        return "cached" if on_disk else "not compiled"


@cache
def _compiled(kernel: Kernel) -> Any:
    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.base.slots import CALLBACK_SIGNATURE, EQUATIONS_SIGNATURE, FORCES_SIGNATURE

    signatures = {"callback": CALLBACK_SIGNATURE, "forces": FORCES_SIGNATURE, "system": EQUATIONS_SIGNATURE}
    return compiled(kernel.name) if kernel.seam == "loop" else bind(kernel.function, signatures[kernel.seam])


COMMON = (
    Kernel("no_callback", "base.slots", 0.2, "stands in for user functions", "callback", optional=False),
    Kernel("no_forces", "base.slots", 0.1, "stands in for force elements", "forces", optional=False),
    Kernel("no_correction", "base.slots", 0.1, "stands in for invariants", optional=False),
    Kernel("march", "time.stepping", 1.2, "the time loop", "loop", optional=False),
    Kernel("runge_kutta", "time.runge_kutta", 1.4, "time steps", "loop", optional=False),
    Kernel("inside_step", "time.saving", 1.5, "states at given times, events, forces that are functions", "loop"),
    Kernel("implicit_runge_kutta", "time.implicit_runge_kutta", 1.0, "implicit time steps", "loop"),
    Kernel("iterate", "time.functional_iteration", 1.0, "implicit stages by functional iteration", "loop"),
    Kernel("iterate_newton", "time.simplified_newton", 6.0, "implicit stages by Newton's method", "loop"),
    Kernel("filtered_error", "time.simplified_newton", 0.4, "their errors", "loop"),
    Kernel("own_steps", "time.own_steps", 0.2, "--integrator fixed-step", "loop"),
    Kernel("partitioned", "time.partitioned", 0.5, "--integrator symplectic-euler or stoermer-verlet", "loop"),
    Kernel("evaluate_states", "time.outputs", 0.2, "energies, residuals, multipliers", "loop", optional=False),
    Kernel("evaluate_forces", "time.outputs", 0.3, "what force elements do: solution.effort", "loop"),
    Kernel("force_elements", "mechanics.forces", 1.3, "forces, torques, springs, motors", "forces"),
    Kernel("force_laws", "mechanics.laws", 1.0, "bushings, laws between bodies or of joint coordinates", "forces"),
    Kernel("forces_and_rows", "mechanics.traced_rows", 1.1, "rolling, constraints written as functions", "forces"),
    Kernel("choosing_bodies", "coordinates.choosing", 3.2, "redundant joints", "forces"),
    Kernel("choosing_cut_joints", "coordinates.choosing", 1.8, "redundant joints, moving-frame", "forces"),
    Kernel("tree_states", "coordinates.tree_states", 0.6, "--formulation moving-frame", "loop"),
    Kernel("follow_poses", "time.poses", 3.2, "kinematics", "loop"),
    Kernel("at_state", "coordinates.at_state", 0.7, "variants of parameters", "loop"),
    Kernel("ensemble", "time.ensemble", 0.6, "simulate_many", "loop"),
    Kernel("tree_lanes", "coordinates.tree_lanes", 2.4, "simulate_many with moving-frame"),
    Kernel("jet_lanes", "formulations.jet_lanes", 6.4, "simulate_many with jet"),
    Kernel("closed_lanes", "coordinates.tree_lanes", 6.8, "simulate_many of loops with moving-frame"),
)


def compiled_kernel(name: str, known: Iterable[Kernel] = COMMON) -> Any:
    """A kernel by name, compiled for its seam."""
    return next(kernel for kernel in known if kernel.name == name).compile()


def common_kernels(mechanism: Compiled, loops: set[str]) -> set[str]:
    """Names of the kernels that a run calls whatever its formulation; loops : those of the integrator."""
    names = {kernel.name for kernel in COMMON if not kernel.optional and kernel.name != "runge_kutta"} | loops
    if mechanism.functions:
        names.add("inside_step")
    if mechanism.I[T.NLAW]:
        names.add("force_laws")
    slots = ("force_elements", "forces_and_rows", "choosing_bodies")  # each calls the one before it
    redundant, written, acting = (mechanism.I[k] > 0 for k in (T.NCHOICE, T.NTRACED, T.NFORCE))
    return names | {*slots[: 3 if redundant else 2 if written else 1 if acting or mechanism.I[T.NMOTION] else 0]}
