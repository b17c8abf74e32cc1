"""Which kernels there are, and which a run needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dalembert.compilation.catalogue import COMMON, Kernel, common_kernels
from dalembert.formulations import FORMULATIONS, REFERENCE

KERNELS = tuple({k.name: k for k in (*COMMON, *(k for cls in FORMULATIONS.values() for k in cls.kernels))}.values())


def needed(mechanism: Any, formulation: Any, integrator: Any) -> list[Kernel]:
    """The kernels that a run will call."""
    known = {kernel.name: kernel for kernel in (*KERNELS, *formulation.kernels)}
    wanted = common_kernels(mechanism, integrator.needs()) | REFERENCE().needs(mechanism) | formulation.needs(mechanism)
    return [kernel for name, kernel in known.items() if name in wanted]


def not_compiled(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Those that have to be compiled first."""
    return [kernel for kernel in kernels if kernel.state == "not compiled"]
