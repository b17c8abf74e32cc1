"""How time advances: the registry of integrators. Adding one is a file, or a tableau in one, and a row here."""

from dalembert.integrators.collocation import GaussLegendre, RadauIIA
from dalembert.integrators.explicit_rk import DOP853, DormandPrince, Euler, Midpoint, RungeKutta4
from dalembert.integrators.fixed_step import FixedStep
from dalembert.integrators.integrator import Integrator, register
from dalembert.integrators.partitioned import StoermerVerlet, SymplecticEuler

INTEGRATORS: dict[str, type[Integrator]] = {
    "euler": Euler,
    "midpoint": Midpoint,
    "rk4": RungeKutta4,
    "dormand-prince": DormandPrince,
    "dop853": DOP853,
    "gauss-legendre": GaussLegendre,
    "radau": RadauIIA,
    "symplectic-euler": SymplecticEuler,
    "stoermer-verlet": StoermerVerlet,
    "fixed-step": FixedStep,
}


def register_integrator(name: str, integrator: type[Integrator]) -> type[Integrator]:
    """Make an integrator known by name to `compare`, stored runs, the command line and the contract tests."""
    register(name, integrator, Integrator, INTEGRATORS)
    return integrator
