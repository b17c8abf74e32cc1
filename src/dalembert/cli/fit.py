"""dalembert fit"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.console import Answer, Code, ModelName, number_option, print_json, reported_errors
from dalembert.cli.method import Method, grouped
from dalembert.cli.run import Picture
from dalembert.cli.words import report_in_options
from dalembert.errors import ModelError

if TYPE_CHECKING:
    from dalembert.arrays import Array

_HOW = "NAME=START or NAME=START:LOW:HIGH, an argument of `build(...)`, or a parameter of a YAML file"
Data = Annotated[
    Path,
    typer.Option(
        help="CSV file, as in --data measured.csv: a line of names, 't' [s] and outputs such as 'slider.x', 'A'; then numbers."
    ),
]
Set = Annotated[list[str] | None, typer.Option("--set", help=f"What to fit, and where to start: {_HOW}; repeated.")]
Sigma = Annotated[list[str] | None, typer.Option(help="Noise of an output, NAME=VALUE, repeated; default: estimated.")]
Confidence = Annotated[float, number_option("Level of the intervals.")]


@grouped
def fit(
    model: ModelName,
    data: Data,
    method: Method,
    set_: Set = None,
    sigma: Sigma = None,
    confidence: Confidence = 0.95,
    plot: Picture = None,
    *,
    answer: Answer,
) -> None:
    """Fit parameters (--set) of a model to measured motion (--data): estimates, standard errors, and a report on them.

    Exit codes:
    0 = all verdicts pass; 1 = a verdict failed, or a run failed; 2 = bad input (model, option, path).
    """
    with reported_errors(answer.voice):
        from dalembert.cli.source import Builder
        from dalembert.plot import check_picture_path
        from dalembert.questions.fit import fit as fitted

        build = Builder(model)
        coordinates = method.make_coordinates()
        if plot is not None:
            check_picture_path(plot)
        starts, bounds = _starts(set_ or [])
        found = fitted(
            build,
            read_csv(data),
            starts,
            bounds=bounds,
            sigma=dict(_named("--sigma", text) for text in sigma) if sigma else None,
            confidence=confidence,
            formulation=method.make_formulation(),
            integrator=method.make_integrator(),
            coordinates=coordinates,
        )
        report = found.report()
        if plot is not None:
            from dalembert.plot.style import save_figure

            save_figure(found.plot.residuals(), plot)
        if answer.as_json:
            print_json({**found.to_dict(), "report": report.to_dict()})
        else:
            for part in (found, report_in_options(report)):
                answer.voice.show(part)
                answer.voice.say("")
    raise typer.Exit(Code.PASSED if report.passed else Code.FAILED)


def _starts(given: list[str]) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    if not given:
        raise ModelError("fit: what? give --set NAME=START, or --set NAME=START:LOW:HIGH")
    starts: dict[str, float] = {}
    bounds: dict[str, tuple[float, float]] = {}
    for text in given:
        name, _, rest = text.partition("=")
        first, *limits = rest.split(":")
        if name in starts:
            raise ModelError(f"option --set: {name!r} is given twice; give each once")
        starts[name] = _named("--set", f"{name}={first}")[1]
        if len(limits) not in (0, 2):
            raise ModelError(f"option --set is {text!r}; give {_HOW}")
        if limits:
            low, high = (_named("--set", f"{name}={limit}")[1] for limit in limits)
            bounds[name] = (low, high)
    return starts, bounds


def _named(option: str, text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    try:
        if not (equals and name):
            raise ValueError
        return name, float(value)
    except ValueError:
        raise ModelError(f"option {option} is {text!r}; give NAME=NUMBER") from None


def read_csv(path: Path) -> dict[str, Array]:
    """Columns by the names of the first line."""
    import csv

    import numpy as np

    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows: list[Any] = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError) as problem:
        raise ModelError(f"{path}: cannot be read ({problem}); give a CSV file") from None
    if len(rows) < 2:
        raise ModelError(f"{path}: has no data; give a line of names, then lines of numbers")
    names = [cell.strip() for cell in rows[0]]
    if len(set(names)) < len(names):
        raise ModelError(f"{path}: a name is there twice: {', '.join(names)}")
    for k, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise ModelError(f"{path}, line {k}: {len(row)} values, there are {len(names)} names")
    try:
        table = np.array([[float(cell) for cell in row] for row in rows[1:]])
    except ValueError as problem:
        raise ModelError(f"{path}: {problem}; after the names, give numbers") from None
    return {name: table[:, k] for k, name in enumerate(names)}
