"""dalembert: constrained multibody dynamics. Describe a mechanism once, simulate it, and see why to trust the result."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dalembert.errors import AssemblyError, DalembertError, ModelError, SimulationError, StoreError, ViewerError
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Harmonic, Polynomial, SmoothStep, Table
from dalembert.model.rotation import Rotation
from dalembert.model.shapes import box, cylinder, disc, rod, sphere

if TYPE_CHECKING:
    from dalembert.assembly import Assembly
    from dalembert.bring_your_own import constrain, project
    from dalembert.citation import cite
    from dalembert.comparison import compare
    from dalembert.comparison_table import Comparison
    from dalembert.compilation import compile
    from dalembert.ensemble import Ensemble, simulate_many
    from dalembert.events import Event
    from dalembert.formulations.impulse import Impulse
    from dalembert.formulations.jet import Jet
    from dalembert.formulations.minimal import Minimal
    from dalembert.formulations.moving_frame import MovingFrame
    from dalembert.formulations.soft import Soft
    from dalembert.formulations.variational import Variational
    from dalembert.integrators.explicit_rk import DOP853, DormandPrince, Euler, Midpoint, RungeKutta4
    from dalembert.integrators.fixed_step import FixedStep
    from dalembert.integrators.gauss_legendre import GaussLegendre
    from dalembert.integrators.partitioned import StoermerVerlet, SymplecticEuler
    from dalembert.integrators.radau import RadauIIA
    from dalembert.io.results import load
    from dalembert.lagrangian.solution import LagrangianSolution
    from dalembert.lagrangian.system import LagrangianSystem
    from dalembert.mechanism import Mechanism
    from dalembert.rolling_integrals import jellett, routh
    from dalembert.simulation import simulate
    from dalembert.solution import Solution

# imported on first use, so that `import dalembert` stays fast
_LAZY = {
    "Assembly": "assembly",
    "Comparison": "comparison_table",
    "DOP853": "integrators.explicit_rk",
    "DormandPrince": "integrators.explicit_rk",
    "Euler": "integrators.explicit_rk",
    "Ensemble": "ensemble",
    "Event": "events",
    "FixedStep": "integrators.fixed_step",
    "GaussLegendre": "integrators.gauss_legendre",
    "Impulse": "formulations.impulse",
    "Jet": "formulations.jet",
    "LagrangianSolution": "lagrangian.solution",
    "LagrangianSystem": "lagrangian.system",
    "Mechanism": "mechanism",
    "Midpoint": "integrators.explicit_rk",
    "Minimal": "formulations.minimal",
    "MovingFrame": "formulations.moving_frame",
    "RadauIIA": "integrators.radau",
    "RungeKutta4": "integrators.explicit_rk",
    "Soft": "formulations.soft",
    "Solution": "solution",
    "StoermerVerlet": "integrators.partitioned",
    "SymplecticEuler": "integrators.partitioned",
    "Variational": "formulations.variational",
    "cite": "citation",
    "compare": "comparison",
    "compile": "compilation",
    "constrain": "bring_your_own",
    "jellett": "rolling_integrals",
    "load": "io.results",
    "project": "bring_your_own",
    "routh": "rolling_integrals",
    "simulate": "simulation",
    "simulate_many": "ensemble",
}

__version__ = "0.1.0"
__all__ = [
    "DOP853",
    "Assembly",
    "AssemblyError",
    "Comparison",
    "Constant",
    "DalembertError",
    "DormandPrince",
    "Ensemble",
    "Euler",
    "Event",
    "FixedStep",
    "GaussLegendre",
    "Harmonic",
    "Impulse",
    "Jet",
    "LagrangianSolution",
    "LagrangianSystem",
    "Mechanism",
    "Midpoint",
    "Minimal",
    "Model",
    "ModelError",
    "MovingFrame",
    "Polynomial",
    "RadauIIA",
    "Rotation",
    "RungeKutta4",
    "SimulationError",
    "SmoothStep",
    "Soft",
    "Solution",
    "StoermerVerlet",
    "StoreError",
    "SymplecticEuler",
    "Table",
    "Variational",
    "ViewerError",
    "box",
    "cite",
    "compare",
    "compile",
    "constrain",
    "cylinder",
    "disc",
    "jellett",
    "load",
    "project",
    "rod",
    "routh",
    "simulate",
    "simulate_many",
    "sphere",
]


def __getattr__(name: str) -> Any:
    if name == "gallery":
        return importlib.import_module("dalembert.gallery")
    if name in _LAZY:
        return getattr(importlib.import_module(f"dalembert.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'dalembert' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
