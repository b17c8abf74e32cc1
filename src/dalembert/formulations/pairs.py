"""Which formulation goes with which integrator: a pair without meaning raises and names those that have one."""

from __future__ import annotations

from dalembert.errors import ModelError
from dalembert.formulations import FORMULATIONS, Formulation
from dalembert.integrators import INTEGRATORS
from dalembert.integrators.integrator import Integrator


def check_pair(formulation: object, integrator: object) -> None:
    """Raise unless the integrator can advance what the formulation sets up."""
    reason: str | None = ""
    if isinstance(formulation, Formulation) and isinstance(integrator, Integrator):
        reason = formulation.takes(integrator)
    if reason is not None:
        raise ModelError(reason or f"{_named(formulation)} with {_named(integrator)} has no meaning; {_pairs()}")


def _pairs() -> str:
    """Formulations with the integrators that they take, those with the same ones together."""
    groups: dict[str, list[str]] = {}
    for cls in FORMULATIONS.values():
        taken = [m for m in INTEGRATORS.values() if m.by_formulation == (cls.steps == "own")]
        taken = [m for m in taken if not (cls.steps == "explicit" and m.implicit)]
        text = _joined([m.__name__ for m in taken]) + (" of fixed step" if cls.steps == "explicit" else "")
        groups.setdefault(text, []).append(cls.__name__)
    return "pairs that do: " + "; ".join(f"{_joined(names)} with {methods}" for methods, names in groups.items())


def _joined(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def _named(options: object) -> str:
    return f"the class {options.__name__} itself" if isinstance(options, type) else type(options).__name__
