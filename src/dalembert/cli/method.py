"""How a run is solved, as options that several commands share."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from dalembert.cli.console import number_option
from dalembert.compilation.compiled import KINDS
from dalembert.errors import ModelError
from dalembert.integrators import INTEGRATORS
from dalembert.model.validation import choice, nearest

Formulation = Annotated[
    str | None,
    typer.Option(help="How constraints enter: jet, moving-frame, ...; default: by model; a wrong name lists all."),
]
Coordinates = Annotated[
    str | None, typer.Option(help="absolute, planar or tree; default: absolute, planar for a model written in a plane.")
]
Integrator = Annotated[str, typer.Option(help=f"One of {', '.join(INTEGRATORS)}.")]
Rtol = Annotated[float | None, number_option("Relative error per step; default 1e-9.")]
Atol = Annotated[float | None, number_option("Absolute error per step; default 1e-9.")]
Step = Annotated[float | None, number_option("Fixed step size in seconds, instead of tolerances.")]
Stages = Annotated[int | None, typer.Option(help="Number of stages of gauss-legendre, 1 to 8, or radau, 1 to 5; default 3.")]


@dataclasses.dataclass(frozen=True)
class Method:
    """What the options say; `make_` functions check them, and are called when a Python file had time to register its own."""

    formulation: Formulation = None
    coordinates: Coordinates = None
    integrator: Integrator = "dop853"
    rtol: Rtol = None
    atol: Atol = None
    step: Step = None
    stages: Stages = None

    def make_integrator(self) -> Any:
        """The integrator that the options describe; options that would have no effect are refused."""
        name, rtol, atol, step, stages = self.integrator, self.rtol, self.atol, self.step, self.stages
        if name not in INTEGRATORS:
            raise ModelError(f"option --integrator: there is no {name!r}; {nearest(name, INTEGRATORS)}")
        cls = INTEGRATORS[name]
        given = {"rtol": rtol, "atol": atol, "step": step}
        for option, value in given.items():
            positive(f"--{option}", value)
        if step is not None and (rtol is not None or atol is not None):
            raise ModelError("option --step fixes the step size, so --rtol and --atol have no effect; give one or the other")
        if step is None and not cls.estimates_error:
            raise ModelError(f"option --integrator: {name} cannot choose its step size; give --step SECONDS")
        if stages is not None and "stages" not in {field.name for field in dataclasses.fields(cls)}:
            raise ModelError(f"option --stages has no meaning for integrator {name}; leave it out")
        options: Any = {option: value for option, value in (given | {"stages": stages}).items() if value is not None}
        return cls(**options)

    def make_formulation(self, **given: str | None) -> Any:
        """The formulation that the options describe, None for the model's own choice; given : options of one, else of the
        first that has them"""
        from dalembert.formulations import FORMULATIONS

        wanted = {option: value for option, value in given.items() if value is not None}
        if self.formulation is None and not wanted:
            return None
        fields = {name: {field.name for field in dataclasses.fields(cls)} for name, cls in FORMULATIONS.items()}
        name = self.formulation or next((name for name in fields if wanted.keys() <= fields[name]), "jet")
        if name not in FORMULATIONS:
            raise ModelError(f"option --formulation: there is no {name!r}; {nearest(name, FORMULATIONS)}")
        cls = FORMULATIONS[name]
        for option in sorted(wanted.keys() - fields[name]):
            raise ModelError(f"option --{option} has no meaning for formulation {name}; leave it out")
        options: Any = wanted
        return cls(**options)

    def make_coordinates(self) -> Any:
        """The kind of coordinates, checked."""
        return known_kind(self.coordinates)


def known_kind(coordinates: str | None) -> Any:
    """A kind of coordinates, or None where none was named."""
    if coordinates is not None:
        choice("option --coordinates", "value", coordinates, KINDS)
    return coordinates


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose arguments of the classes `Method` and `Answer` are given by the options of these, in their places."""
    own, listed = get_type_hints(command, include_extras=True), list[inspect.Parameter]()
    groups: dict[str, Any] = {name: kind for name, kind in own.items() if dataclasses.is_dataclass(kind)}
    for parameter in inspect.signature(command).parameters.values():
        kind = groups.get(parameter.name)
        types = get_type_hints(kind, include_extras=True) if kind else own
        for one in dataclasses.fields(kind) if kind else (parameter,):
            listed.append(
                inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name])
            )

    @wraps(command)
    def called(**options: Any) -> None:
        for name, kind in groups.items():
            options[name] = kind(**{field.name: options.pop(field.name) for field in dataclasses.fields(kind)})
        command(**options)

    called.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in listed}
    return called


def positive(option: str, value: float | None) -> None:
    """Refuse what is not a number above 0."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise ModelError(f"option {option} is {value:g}; give a number above 0")
