"""The command line. Each command is one file; what is heavy is imported inside commands, so that --help stays fast."""

from __future__ import annotations

from typing import Annotated

import typer

from dalembert import __version__
from dalembert.cli import (
    benchmark,
    check,
    compare,
    doctor,
    export,
    fit,
    gallery,
    inverse,
    kinematics,
    modes,
    new,
    plot,
    run,
    sweep,
    view,
    warmup,
)
from dalembert.cli.console import OneLineErrors, PlainCommand, flowing

app = typer.Typer(name="dalembert", cls=OneLineErrors, pretty_exceptions_enable=False, add_completion=False)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dalembert {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")] = False,
) -> None:
    """Constrained multibody dynamics: simulate a mechanism and see why to trust the result.

    Exit codes:
    0 = done, all verdicts pass; 1 = a verdict failed or the run failed;
    2 = bad input (model, option, path); 130 = interrupted.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMANDS = (
    *(run.run, view.view, plot.plot, compare.compare, kinematics.kinematics, modes.equilibrium),
    *(modes.modes, inverse.inverse, sweep.sweep, fit.fit, gallery.gallery, new.new, check.check),
    *(export.export, benchmark.benchmark, warmup.warmup, doctor.doctor),
)
for command in COMMANDS:
    app.command(cls=PlainCommand, help=flowing(command.__doc__))(command)
