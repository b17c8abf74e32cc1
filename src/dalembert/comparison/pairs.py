"""Which formulation goes with which integrator: a pair without meaning raises and names those that have one."""

from __future__ import annotations

from dalembert.errors import ModelError
from dalembert.formulations import FORMULATIONS, Formulation
from dalembert.formulations.impulse import Impulse
from dalembert.formulations.minimal import Minimal
from dalembert.formulations.soft import Soft
from dalembert.formulations.variational import Variational
from dalembert.integrators import INTEGRATORS
from dalembert.integrators.integrator import Integrator

# one impulse per step: what ends a step is not a smooth function of its size, so no error estimate holds for it
VELOCITY_LEVEL = (Impulse, Soft)


def check_pair(formulation: object, integrator: object) -> None:
    """Raise unless the integrator can advance what the formulation sets up."""
    if not isinstance(formulation, Formulation) or not isinstance(integrator, Integrator):
        raise ModelError(f"{_named(formulation)} with {_named(integrator)} has no meaning; {_pairs()}")
    if isinstance(formulation, Variational) != integrator.by_formulation:
        raise ModelError(f"{_named(formulation)} with {_named(integrator)} has no meaning; {_pairs()}")
    if isinstance(formulation, Minimal) and formulation.singular == "pass" and not integrator.adaptive:
        better = _named(integrator) if integrator.estimates_error else "DOP853"
        raise ModelError(
            "Minimal(singular='pass') needs an integrator that chooses its steps: how near to a singular configuration a fixed "
            f"step ends is chance, and so is what rounding does there; give {better}() without a step"
        )
    if isinstance(formulation, VELOCITY_LEVEL):
        if integrator.implicit:
            raise ModelError(f"{_named(formulation)} with {_named(integrator)} has no meaning; {_pairs()}")
        if integrator.adaptive:
            name, cls = _named(formulation), _named(integrator)
            raise ModelError(
                f"{name} corrects velocities once per step, which no error estimate of {cls} covers: give a step size, "
                f"{cls}(step=...)"
            )


def _pairs() -> str:
    level = [cls.__name__ for cls in VELOCITY_LEVEL]
    other = [cls.__name__ for cls in FORMULATIONS.values() if cls not in (*VELOCITY_LEVEL, Variational)]
    methods = [cls for cls in INTEGRATORS.values() if not cls.by_formulation]
    return (
        f"pairs that do: {_joined(other)} with {_joined([cls.__name__ for cls in methods])};"
        f" {_joined(level)} with {_joined([cls.__name__ for cls in methods if not cls.implicit])} of fixed step;"
        " Variational with FixedStep"
    )


def _joined(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def _named(options: object) -> str:
    return f"the class {options.__name__} itself" if isinstance(options, type) else type(options).__name__
