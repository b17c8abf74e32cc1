"""dalembert: constrained multibody dynamics. Describe a mechanism once, simulate it, and see why to trust the result."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dalembert.errors import AssemblyError, DalembertError, ModelError, SimulationError, StoreError, ViewerError
from dalembert.model.later import LATER
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Harmonic, Polynomial, SmoothStep, Table
from dalembert.model.rotation import Rotation
from dalembert.model.shapes import box, cylinder, disc, rod, sphere

if TYPE_CHECKING:
    from dalembert.bring_your_own import constrain, project
    from dalembert.comparison.compare import compare
    from dalembert.comparison.table import Comparison
    from dalembert.compilation.compile import compile
    from dalembert.compilation.mechanism import Mechanism
    from dalembert.formulations.base import Formulation, register_formulation
    from dalembert.formulations.impulse import Impulse
    from dalembert.formulations.jet import Jet
    from dalembert.formulations.minimal import Minimal
    from dalembert.formulations.moving_frame import MovingFrame
    from dalembert.formulations.soft import Soft
    from dalembert.formulations.variational import Variational
    from dalembert.integrators import register_integrator
    from dalembert.integrators.explicit_rk import DOP853, DormandPrince, Euler, ExplicitRungeKutta, Midpoint, RungeKutta4
    from dalembert.integrators.fixed_step import FixedStep
    from dalembert.integrators.gauss_legendre import GaussLegendre
    from dalembert.integrators.integrator import Integrator
    from dalembert.integrators.partitioned import StoermerVerlet, SymplecticEuler
    from dalembert.integrators.radau import RadauIIA
    from dalembert.integrators.tableau import explicit_tableau
    from dalembert.lagrangian.system import LagrangianSystem
    from dalembert.model.assembly import Assembly
    from dalembert.questions.equations import Equations, equations
    from dalembert.questions.inverse import InverseDynamics, inverse_dynamics
    from dalembert.questions.kinematics import kinematics
    from dalembert.results.citation import cite
    from dalembert.results.rolling_integrals import jellett, routh
    from dalembert.run.events import Event
    from dalembert.simulation.ensemble import Ensemble, simulate_many
    from dalembert.simulation.load import load
    from dalembert.simulation.simulate import simulate
    from dalembert.simulation.solution import LagrangianSolution, Solution

# imported on first use, so that `import dalembert` stays fast
_LAZY = {
    "Assembly": "model.assembly",
    "Comparison": "comparison.table",
    "DOP853": "integrators.explicit_rk",
    "DormandPrince": "integrators.explicit_rk",
    "Equations": "questions.equations",
    "Euler": "integrators.explicit_rk",
    "Ensemble": "simulation.ensemble",
    "Event": "run.events",
    "ExplicitRungeKutta": "integrators.explicit_rk",
    "FixedStep": "integrators.fixed_step",
    "Formulation": "formulations",
    "GaussLegendre": "integrators.gauss_legendre",
    "Impulse": "formulations.impulse",
    "Integrator": "integrators",
    "InverseDynamics": "questions.inverse",
    "Jet": "formulations.jet",
    "LagrangianSolution": "simulation.solution",
    "LagrangianSystem": "lagrangian.system",
    "Mechanism": "compilation.mechanism",
    "Midpoint": "integrators.explicit_rk",
    "Minimal": "formulations.minimal",
    "MovingFrame": "formulations.moving_frame",
    "RadauIIA": "integrators.radau",
    "RungeKutta4": "integrators.explicit_rk",
    "Soft": "formulations.soft",
    "Solution": "simulation.solution",
    "StoermerVerlet": "integrators.partitioned",
    "SymplecticEuler": "integrators.partitioned",
    "Variational": "formulations.variational",
    "cite": "results.citation",
    "compare": "comparison.compare",
    "compile": "compilation.compile",
    "constrain": "bring_your_own",
    "equations": "questions.equations",
    "explicit_tableau": "integrators.tableau",
    "inverse_dynamics": "questions.inverse",
    "jellett": "results.rolling_integrals",
    "kinematics": "questions.kinematics",
    "load": "simulation.load",
    "project": "bring_your_own",
    "register_formulation": "formulations",
    "register_integrator": "integrators",
    "routh": "results.rolling_integrals",
    "simulate": "simulation.simulate",
    "simulate_many": "simulation.ensemble",
}

LATER |= {"assemble": "dalembert.compilation.assembly", "compile": "dalembert.compilation.compile"}

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
    "Equations",
    "Euler",
    "Event",
    "ExplicitRungeKutta",
    "FixedStep",
    "Formulation",
    "GaussLegendre",
    "Harmonic",
    "Impulse",
    "Integrator",
    "InverseDynamics",
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
    "equations",
    "explicit_tableau",
    "inverse_dynamics",
    "jellett",
    "kinematics",
    "load",
    "project",
    "register_formulation",
    "register_integrator",
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
