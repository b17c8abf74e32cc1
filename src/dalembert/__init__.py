"""dalembert: constrained multibody dynamics. Describe a mechanism once, simulate it, and see why to trust the result."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dalembert.errors import AssemblyError, DalembertError, ModelError, SimulationError, StoreError, ViewerError
from dalembert.model.later import LATER
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Harmonic, Polynomial, SmoothStep, Table
from dalembert.model.rotation import Rotation
from dalembert.model.shapes import box, cylinder, disc, mesh, rod, sphere

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
    from dalembert.integrators.collocation import GaussLegendre, RadauIIA
    from dalembert.integrators.explicit_rk import DOP853, DormandPrince, Euler, ExplicitRungeKutta, Midpoint, RungeKutta4
    from dalembert.integrators.fixed_step import FixedStep
    from dalembert.integrators.integrator import Integrator
    from dalembert.integrators.partitioned import StoermerVerlet, SymplecticEuler
    from dalembert.integrators.tableau import explicit_tableau
    from dalembert.lagrangian.system import LagrangianSystem
    from dalembert.model.assembly import Assembly
    from dalembert.questions.eigenvalue_curves import EigenvalueCurves, eigenvalue_curves
    from dalembert.questions.equations import Equations, equations
    from dalembert.questions.equilibrium import Equilibrium, equilibrium
    from dalembert.questions.fit import Fit, fit
    from dalembert.questions.gradient import Gradient, gradient
    from dalembert.questions.inverse import InverseDynamics, inverse_dynamics
    from dalembert.questions.kinematics import kinematics
    from dalembert.questions.linear_model import LinearModel
    from dalembert.questions.linearise import linearise
    from dalembert.questions.objectives import integral, largest, smallest
    from dalembert.questions.optimise import Optimum, optimise
    from dalembert.questions.unknowns import PhysicalInertia
    from dalembert.results.citation import cite
    from dalembert.results.rolling_integrals import jellett, routh
    from dalembert.run.actions import Change, Close, Free, Lock, Push, Unlock
    from dalembert.run.events import Event
    from dalembert.simulation.ensemble import Ensemble, simulate_many
    from dalembert.simulation.load import load
    from dalembert.simulation.parameters import grid, sample
    from dalembert.simulation.pieces import concatenate
    from dalembert.simulation.simulate import simulate
    from dalembert.simulation.solution import LagrangianSolution, Solution
    from dalembert.simulation.sweep import Sweep

# module and names imported on first use, so that `import dalembert` stays fast
_LAZY = """
    bring_your_own             constrain project
    comparison.compare         compare
    comparison.table           Comparison
    compilation.compile        compile
    compilation.mechanism      Mechanism
    formulations               Formulation register_formulation
    formulations.impulse       Impulse
    formulations.jet           Jet
    formulations.minimal       Minimal
    formulations.moving_frame  MovingFrame
    formulations.soft          Soft
    formulations.variational   Variational
    integrators                Integrator register_integrator
    integrators.explicit_rk    DOP853 DormandPrince Euler ExplicitRungeKutta Midpoint RungeKutta4
    integrators.fixed_step     FixedStep
    integrators.collocation    GaussLegendre RadauIIA
    integrators.partitioned    StoermerVerlet SymplecticEuler
    integrators.tableau        explicit_tableau
    lagrangian.system          LagrangianSystem
    model.assembly             Assembly
    questions.eigenvalue_curves EigenvalueCurves eigenvalue_curves
    questions.equations        Equations equations
    questions.equilibrium      Equilibrium equilibrium
    questions.fit              Fit fit
    questions.gradient         Gradient gradient
    questions.inverse          InverseDynamics inverse_dynamics
    questions.kinematics       kinematics
    questions.linear_model     LinearModel
    questions.linearise        linearise
    questions.objectives       integral largest smallest
    questions.optimise         Optimum optimise
    questions.unknowns         PhysicalInertia
    results.citation           cite
    results.rolling_integrals  jellett routh
    run.actions                Change Close Free Lock Push Unlock
    run.events                 Event
    simulation.ensemble        Ensemble simulate_many
    simulation.load            load
    simulation.parameters      grid sample
    simulation.pieces          concatenate
    simulation.simulate        simulate
    simulation.solution        LagrangianSolution Solution
    simulation.sweep           Sweep
"""
_PLACES = {name: module for module, *names in map(str.split, _LAZY.strip().splitlines()) for name in names}

LATER |= {"assemble": "dalembert.compilation.assembly", "compile": "dalembert.compilation.compile"}
LATER |= {"explained": "dalembert.remarks.contradictions", "model_html": "dalembert.viewer.notebook"}
LATER |= {"read_model": "dalembert.model.file.read", "write_model": "dalembert.model.file.write"}
LATER |= {"off_rates": "dalembert.questions.steady"}

_MEANT = dict.fromkeys(
    ("ConstantSpeed", "ConstantVelocity", "Speed", "Velocity", "Rate", "Linear", "Ramp", "rpm", "RPM"),
    "; a constant speed is the motion Polynomial((0, omega)), in rad/s: 60 rpm are 60 * pi / 30",
)
_MEANT |= dict.fromkeys(
    ("Step", "Bump", "Pulse"),
    "; da.SmoothStep(0, 0.1, 0.5, 0.6) goes from 0 to 0.1, and with - SmoothStep(0, 0.1, 0.7, 0.8) back",
)
_MEANT |= dict.fromkeys(
    ("Sine", "Sin", "Cosine", "Sinusoid"),
    "; Harmonic(0.5, omega) is 0.5 sin(omega t), omega in rad/s, 2 pi times the frequency",
)
_MEANT |= dict.fromkeys(
    ("inverse_kinematics", "ik"), "; add_point_driver moves a point, da.kinematics(model, t) finds the joints; or sweep= one"
)
_MEANT |= dict.fromkeys(("modes", "frequencies", "eigenvalues"), "; da.linearise(model) has .modes, .frequencies, .eigenvalues")
_MEANT |= dict.fromkeys(
    ("animate", "animation", "view", "show"), '; solution.view() shows a run, .export_animation("run.gif") writes a film'
)
_MEANT |= dict.fromkeys(("wheel", "Wheel"), "; da.disc and da.cylinder have mass and inertia of wheels")
_MEANT |= dict.fromkeys(("solid", "Solid"), "; solids are da.box, da.cylinder, da.disc, da.rod, da.sphere, da.mesh")
_MEANT |= {"save": '; solution.save("run.zarr") writes a run, da.load reads it'}

__version__ = "0.2.0.dev0"
__all__ = [
    "DOP853",
    "Assembly",
    "AssemblyError",
    "Change",
    "Close",
    "Comparison",
    "Constant",
    "DalembertError",
    "DormandPrince",
    "EigenvalueCurves",
    "Ensemble",
    "Equations",
    "Equilibrium",
    "Euler",
    "Event",
    "ExplicitRungeKutta",
    "Fit",
    "FixedStep",
    "Formulation",
    "Free",
    "GaussLegendre",
    "Gradient",
    "Harmonic",
    "Impulse",
    "Integrator",
    "InverseDynamics",
    "Jet",
    "LagrangianSolution",
    "LagrangianSystem",
    "LinearModel",
    "Lock",
    "Mechanism",
    "Midpoint",
    "Minimal",
    "Model",
    "ModelError",
    "MovingFrame",
    "Optimum",
    "PhysicalInertia",
    "Polynomial",
    "Push",
    "RadauIIA",
    "Rotation",
    "RungeKutta4",
    "SimulationError",
    "SmoothStep",
    "Soft",
    "Solution",
    "StoermerVerlet",
    "StoreError",
    "Sweep",
    "SymplecticEuler",
    "Table",
    "Unlock",
    "Variational",
    "ViewerError",
    "box",
    "cite",
    "compare",
    "compile",
    "concatenate",
    "constrain",
    "cylinder",
    "disc",
    "eigenvalue_curves",
    "equations",
    "equilibrium",
    "explicit_tableau",
    "fit",
    "gradient",
    "grid",
    "integral",
    "inverse_dynamics",
    "jellett",
    "kinematics",
    "largest",
    "linearise",
    "load",
    "mesh",
    "optimise",
    "project",
    "register_formulation",
    "register_integrator",
    "rod",
    "routh",
    "sample",
    "simulate",
    "simulate_many",
    "smallest",
    "sphere",
]


def __getattr__(name: str) -> Any:
    if name == "gallery":
        return importlib.import_module("dalembert.gallery")
    if name in _PLACES:
        found = globals()[name] = getattr(importlib.import_module(f"dalembert.{_PLACES[name]}"), name)
        return found
    for registry in ("formulations", "integrators") if name[:1].isupper() else ():  # of those that were added since
        found = vars(importlib.import_module(f"dalembert.{registry}")).get(name)
        if isinstance(found, type):
            return found
    hint = _MEANT.get(name, "")
    if not (hint or name.startswith("_")):
        from dalembert.model.validation import near
        from dalembert.results.signal_names import OF_A_RUN

        verb = f"; it is a verb of models, model.{name}(...)" if name.startswith("add_") else ""
        close = near(name, __all__)
        hint = f"; {OF_A_RUN[name]}" if name in OF_A_RUN else f"; did you mean {close!r}?" if close else verb
    raise AttributeError(f"module 'dalembert' has no attribute {name!r}{hint}", name=name, obj=None)


def __dir__() -> list[str]:
    return sorted(__all__)
