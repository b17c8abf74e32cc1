"""Which kernels there are, and which a run needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dalembert.compilation.catalogue import COMMON, Kernel, common_kernels
from dalembert.formulations import FORMULATIONS, REFERENCE

SPREAD = 1.5  # how much faster or slower than the machine of `Kernel.seconds` others are
# those of formulations first: others take what is compiled of them, and would compile it with their own options
KERNELS = tuple({k.name: k for k in (*(k for cls in FORMULATIONS.values() for k in cls.kernels), *COMMON)}.values())


def needed(mechanism: Any, formulation: Any, integrator: Any) -> list[Kernel]:
    """The kernels that a run will call."""
    known = {kernel.name: kernel for kernel in (*KERNELS, *formulation.kernels)}
    wanted = common_kernels(mechanism, integrator.needs()) | REFERENCE().needs(mechanism) | formulation.needs(mechanism)
    if {"tree_states", "choosing_bodies"} <= wanted:  # a run on a tree, beside the reference on bodies
        wanted.add("choosing_cut_joints")
    return [kernel for name, kernel in known.items() if name in wanted]


def not_compiled(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Those that have to be compiled first."""
    return [kernel for kernel in kernels if kernel.state == "not compiled"]


def duration(kernels: Iterable[Kernel]) -> str:
    """How long it takes to compile them, in words."""
    seconds = sum(kernel.seconds for kernel in kernels)
    return f"{max(1.0, seconds / SPREAD):.0f} to {max(2.0, seconds * SPREAD):.0f} s"
