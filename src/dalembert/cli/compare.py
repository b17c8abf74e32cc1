"""dalembert compare"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalembert.cli.console import (
    Answer,
    Code,
    Formulations,
    ModelName,
    Set,
    complain,
    names_in,
    number_option,
    reported_errors,
    show_measured,
)
from dalembert.cli.method import Coordinates, grouped, known_kind
from dalembert.errors import ModelError

FORMATS = (".png", ".svg", ".pdf", ".html", ".json")

TEnd = Annotated[float | None, number_option("End of the runs in seconds; default: what the model's file or gallery says.")]
Integrators = Annotated[str | None, typer.Option(help="Names with commas between, like dop853,rk4; default: all.")]
Tolerances = Annotated[str | None, typer.Option(help="Of adaptive runs, rtol = atol; default 1e-4,1e-6,1e-8,1e-10.")]
Steps = Annotated[str | None, typer.Option(help="Fixed step sizes in seconds; default: four around those of the reference.")]
Repeats = Annotated[int, typer.Option(help="How often each run is timed.", min=1)]
Budget = Annotated[float, number_option("CPU seconds, without compilation, after which no further run is begun.")]
Error = Annotated[float | None, number_option("An error that you can allow: says which setting reaches it fastest.")]
Out = Annotated[list[Path] | None, typer.Option(help=f"File to write: {', '.join(FORMATS)}; may be repeated.")]


@grouped
def compare(
    model: ModelName,
    set_: Set = None,
    t_end: TEnd = None,
    formulations: Formulations = None,
    integrators: Integrators = None,
    tolerances: Tolerances = None,
    steps: Steps = None,
    coordinates: Coordinates = None,
    repeats: Repeats = 3,
    budget: Budget = 25.0,
    error: Error = None,
    out: Out = None,
    *,
    answer: Answer,
) -> None:
    """Simulate a model by several formulations and integrators; compare error, drift, energy, work and time.

    Errors are measured against a tight run that a second formulation checks. Ctrl-C ends it with what was measured.

    Exit codes:
    0 = done; 1 = nothing can run the model; 2 = bad input (model, option, path); 130 = interrupted.
    """
    with reported_errors(answer.voice):
        from dalembert.cli.source import end_of_run, find_model

        known_kind(coordinates)
        ladders = {"tolerances": _numbers("--tolerances", tolerances), "steps": _numbers("--steps", steps)}
        for path in out or []:
            _check_path(path)
        if error is not None and not 0 < error < float("inf"):
            raise ModelError(f"option --error is {error:g}; give a number above 0")
        source = find_model(model, set_)
        end = end_of_run(source, t_end)
        from dalembert.comparison.compare import compare as compare_model

        result = compare_model(
            source.bodies,
            end,
            formulations=names_in(formulations),
            integrators=names_in(integrators),
            coordinates=coordinates,  # type: ignore[arg-type]
            repeats=repeats,
            budget=budget,
            progress=answer.progress,
            **{key: value for key, value in ladders.items() if value is not None},
        )
        for path in out or []:
            result.save(path)
        advice = "" if error is None else result.advice(error)
        show_measured(answer, result, out, "runs were made", advice)
        if all(run.problem for run in result.measurements):
            complain("no run was completed; see the reasons above")
            raise typer.Exit(Code.FAILED)


def _numbers(option: str, text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise ModelError(f"option {option} is {text!r}; give numbers with commas between") from None
    for value in values:
        if not 0 < value < float("inf"):
            raise ModelError(f"option {option} has {value:g}; give numbers above 0")
    return sorted(values, reverse=True)


def _check_path(path: Path) -> None:
    """Refuse before the runs what could not be written after them."""
    from dalembert.files import check_parent
    from dalembert.plot import check_picture_path

    if path.suffix not in FORMATS:
        raise ModelError(f"{path}: unknown suffix '{path.suffix}'; give a path that ends in one of {', '.join(FORMATS)}")
    if path.suffix in (".html", ".json"):
        check_parent(path)
    else:
        check_picture_path(path)
