"""What commands share: exit codes, where text goes, errors as one line."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from dalembert.errors import DalembertError, SimulationError

if TYPE_CHECKING:
    from rich.console import Console

PASSED, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
WIDTH = 110  # columns, where there is no terminal

ModelName = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Gallery name (`dalembert gallery`), YAML file (`dalembert new`), or Python file with `model` or `build()`.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="For programs: JSON on standard output.")]


class OneLineErrors(TyperGroup):
    """Usage errors as one line instead of a page."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command and leave with its exit code."""
        if not options.pop("standalone_mode", True):
            return super().main(*args, **{**options, "standalone_mode": False})
        options["standalone_mode"] = False
        try:
            result = super().main(*args, **options)
        except Exception as problem:
            if not hasattr(problem, "format_message"):
                raise
            complain(" ".join(problem.format_message().split()))
            sys.exit(BAD_INPUT)
        sys.exit(result if isinstance(result, int) else PASSED)


class Voice:
    """Text for a person: on standard output, on standard error where that is taken by JSON, nowhere when quiet."""

    def __init__(self, *, quiet: bool = False, to_stderr: bool = False) -> None:
        self._quiet, self._to_stderr = quiet, to_stderr

    def say(self, text: object) -> None:
        """One or more lines."""
        if not self._quiet:
            typer.echo(str(text), err=self._to_stderr)

    def show(self, printable: Any) -> None:
        """A rich table, or something that prints itself to a rich console."""
        if self._quiet:
            return
        target = console(stderr=self._to_stderr)
        if not hasattr(printable, "print"):
            target.print(printable)
        elif target.is_terminal:
            printable.print(target)
        else:
            self.say(printable)


def console(*, stderr: bool = False) -> Console:
    """A rich console as wide as the terminal, or of fixed width in a pipe."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else WIDTH)


def complain(text: object) -> None:
    """One line on standard error for each problem."""
    for line in str(text).splitlines():
        typer.echo(f"dalembert: error: {line}", err=True)


def print_json(data: Any) -> None:
    """JSON on standard output."""
    typer.echo(json.dumps(data, indent=1, allow_nan=False))


@contextmanager
def reported_errors() -> Iterator[None]:
    """Turn what goes wrong into one line and an exit code; warnings become one line, too."""

    def one_line(message: Warning | str, *_: Any, **__: Any) -> None:
        typer.echo(f"dalembert: warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = one_line
        try:
            yield
        except SimulationError as problem:
            complain(problem)
            raise typer.Exit(FAILED) from None
        except DalembertError as problem:
            complain(problem)
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(INTERRUPTED) from None
