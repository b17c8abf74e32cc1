"""How time advances: the registry of integrators."""

from dalembert.integrators.explicit_rk import DOP853, DormandPrince, Euler, Midpoint, RungeKutta4
from dalembert.integrators.fixed_step import FixedStep
from dalembert.integrators.gauss_legendre import GaussLegendre
from dalembert.integrators.integrator import Integrator
from dalembert.integrators.partitioned import StoermerVerlet, SymplecticEuler
from dalembert.integrators.radau import RadauIIA

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
