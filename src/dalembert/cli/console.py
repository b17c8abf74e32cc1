"""What commands share: exit codes, where text goes, errors as one line."""

from __future__ import annotations

import errno
import inspect
import io
import json
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from dalembert.cli.words import in_options
from dalembert.errors import DalembertError, ModelError, SimulationError, UnknownParameter
from dalembert.kernels.base.told import GENERATED, LISTENERS

if TYPE_CHECKING:
    from rich.console import Console

ROUNDING = 1e-12  # of the largest number of a table
WIDTH = 110  # columns, where there is no terminal


class Code(IntEnum):
    """How a command ends."""

    PASSED, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


ModelName = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Gallery name (`dalembert gallery`), YAML file (`dalembert new`), or Python file with `model` or `build()`.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="NAME=VALUE of a parameter of a YAML file, of `build(...)`, of a gallery function; repeated."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors (and JSON, if asked for).")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Also show settings, versions and counters.")]
Formulations = Annotated[str | None, typer.Option(help="Names with commas between, like jet,moving-frame; default: all.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs: JSON on standard output.")]


def number_of(text: str) -> float:
    """A number, or the value of arithmetic, as in model files: 2/3, 1e-3, 60/90."""
    try:
        return float(text)
    except ValueError:
        from dalembert.model.file.expression import evaluate

        if text.isidentifier():
            raise ModelError(f"{text!r} is no number; give one, or arithmetic such as 2/3") from None
        return evaluate(text, {})


def _checked_number(text: str) -> float:
    try:
        return number_of(text)
    except ModelError as problem:
        raise typer.BadParameter(str(problem)) from None


def number_option(help: str, *names: str) -> Any:
    """An option that takes one."""
    return typer.Option(*names, help=help, parser=_checked_number, metavar="<float>")


@dataclass(frozen=True)
class Answer:
    """How a command answers, as options that several share."""

    as_json: AsJson = False
    quiet: Quiet = False

    @cached_property
    def voice(self) -> Voice:
        return Voice(quiet=self.quiet, to_stderr=self.as_json)

    @property
    def progress(self) -> bool | None:
        """Of what takes long: None for a bar on terminals."""
        return False if self.quiet else None


class _PlainFlags:
    """Help in which options that take no value show no type."""

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for option in found:
            if getattr(option, "is_flag", False):
                option.metavar = ""
        return found


class PlainCommand(_PlainFlags, TyperCommand):
    """A command."""

    def invoke(self, ctx: Any) -> Any:
        _flags[:] = [flag for option in self.params for flag in option.opts]
        return super().invoke(ctx)


_flags: list[str] = []  # of the command that is called


class OneLineErrors(_PlainFlags, TyperGroup):
    """Usage errors as one line instead of a page."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command and leave with its exit code; output that nobody takes changes neither."""
        if not options.pop("standalone_mode", True):
            return super().main(*args, **{**options, "standalone_mode": False})
        options["standalone_mode"] = False
        _occupy_closed_streams()
        try:
            result = super().main(*args, **options)
        except Exception as problem:
            if not hasattr(problem, "format_message"):
                raise
            text = " ".join(problem.format_message().split())
            what = getattr(getattr(problem, "param", None), "help", None) if text.startswith("Missing") else None
            complain(f"{text.removesuffix('.')}: {what}" if what else _meant_option(problem) or text)
            sys.exit(Code.BAD_INPUT)
        code = result if isinstance(result, int) else Code.PASSED
        sys.exit(code or (Code.FAILED if _output_lost else Code.PASSED))


_OTHERS = {  # names of options in other tools
    **dict.fromkeys(("--dt", "--step", "--interval"), ("--every", "--save-every")),
    **dict.fromkeys(("--time", "--duration", "--end", "--tend", "--t"), ("--t-end", "--times")),
    **dict.fromkeys(("-o", "--output", "--file"), ("--out",)),
    **dict.fromkeys(("--deg",), ("--degrees",)),
    **dict.fromkeys(("--param", "--parameter", "-p"), ("--set",)),
}


def _meant_option(problem: Any) -> str:
    """What to say of an option that a command does not have but under another name; "" where that is not known."""
    given, context = getattr(problem, "option_name", ""), getattr(problem, "ctx", None)
    own = [flag for option in context.command.params for flag in option.opts] if given and context else []
    meant = next((flag for flag in _OTHERS.get(given, ()) if flag in own), None)
    return f"No such option: {given}; did you mean {meant}?" if meant else ""


_output_lost: list[str] = []  # why standard output took no more, other than that its reader left


def _occupy_closed_streams() -> None:
    """Files that are opened later must not become a standard stream that was closed."""
    _output_lost.clear()
    handle = os.open(os.devnull, os.O_RDWR)
    while handle <= 2:
        handle = os.dup(handle)
    os.close(handle)


def write(text: str, *, err: bool = False) -> None:
    """Text and a line end to a standard stream; one that is closed or full is not written to again."""
    stream = sys.stderr if err else sys.stdout
    try:
        typer.echo(text, err=err)
    except (OSError, ValueError) as problem:
        if isinstance(problem, OSError) and problem.errno != errno.EPIPE and not err:
            _output_lost.append(str(problem.strerror))
        silent = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        with suppress(OSError, ValueError):
            os.dup2(silent.fileno(), stream.fileno())
        if not err:
            sys.stdout = silent
            if _output_lost:
                complain(f"standard output: {_output_lost[0]}; the rest is not shown")
        else:
            sys.stderr = silent


def plain(text: object) -> str:
    """Text without what a terminal would obey: control characters as \\x1b and the like, but for line ends and tabs."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Voice:
    """Text for a person: on standard output, on standard error where that is taken by JSON, nowhere when quiet."""

    def __init__(self, *, quiet: bool = False, to_stderr: bool = False) -> None:
        self._quiet, self._to_stderr = quiet, to_stderr
        self.announced = False  # that kernels are compiled

    @property
    def _terminal(self) -> bool:
        stream = sys.stderr if self._to_stderr else sys.stdout
        return stream is not None and stream.isatty()

    @property
    def width(self) -> int:
        """Columns of what is written to."""
        return shutil.get_terminal_size().columns if self._terminal else WIDTH

    def say(self, text: object) -> None:
        """One or more lines; on a terminal they are broken between words."""
        if self._quiet:
            return
        lines = plain(in_options(text)).split("\n")
        if self._terminal:
            lines = [piece for line in lines for piece in _wrapped(line, self.width)]
        write("\n".join(lines), err=self._to_stderr)

    def compiling(self, takes: str = "a few seconds each") -> None:
        """Say that kernels are compiled, because it takes a while."""
        if not self.announced:
            self.announced = True
            self.say(f"compiling kernels, once: {takes}")

    def show(self, printable: Any) -> None:
        """A rich table, or something that prints itself to a rich console."""
        if self._quiet:
            return
        terminal = self._terminal
        text = io.StringIO()
        target = console(text, terminal)
        if not hasattr(printable, "print"):
            target.print(printable)
        elif terminal:
            printable.print(target)
        else:
            self.say(printable)
        if shown := text.getvalue():
            write("\n".join(line.rstrip() for line in shown.removesuffix("\n").split("\n")), err=self._to_stderr)


def _wrapped(line: str, width: int, more: str = "") -> list[str]:
    """Pieces of a line between words; the later ones are indented like the first, and by `more`."""
    if len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())] + more
    return textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def console(file: IO[str], terminal: bool) -> Console:
    """A rich console as wide as the terminal, or of fixed width without one; names are no markup."""
    from rich.console import Console

    if not terminal:
        return Console(file=file, width=WIDTH, markup=False, emoji=False)
    return Console(file=file, width=Console().width, force_terminal=True, markup=False, emoji=False)


def complain(text: object) -> None:
    """One line on standard error for each problem; a terminal gets it broken between words."""
    for line in in_options(text).split("\n"):
        _tell(f"error: {line}")


def warn(text: object) -> None:
    """One line on standard error, when quiet too."""
    _tell(f"warning: {in_options(text)}")


def _tell(text: str) -> None:
    line = plain(f"dalembert: {text}")
    terminal = sys.stderr is not None and sys.stderr.isatty()
    write("\n".join(_wrapped(line, shutil.get_terminal_size().columns, "  ")) if terminal else line, err=True)


def show_measured(answer: Answer, result: Any, out: Sequence[Path] | None, what: str, more: str = "") -> None:
    """A table of runs, or its JSON; what was written; an exit where it was interrupted before all of `what` was done."""
    voice = answer.voice
    if answer.as_json:
        print_json(result.to_dict())
    else:
        voice.show(result)
    if more:
        voice.say(f"\n{more}")
    if out:
        voice.say(f"\nwritten: {', '.join(map(str, out))}")
    if result.interrupted:
        complain(f"interrupted: not all {what}")
        raise typer.Exit(Code.INTERRUPTED)


def show_listed(heads: tuple[str, str, str], rows: Iterable[tuple[str, str, float]]) -> None:
    """A table of names, of what they are, and of the ends of their runs."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for k, head in enumerate(heads):
        table.add_column(Text(head), no_wrap=k != 1)
    for name, what, t_end in rows:
        table.add_row(name, Text(what), f"{t_end:g} s")
    Voice().show(table)


def flowing(doc: str | None) -> str:
    """A command's text for --help, which breaks lines by itself; exit codes keep theirs."""
    paragraphs = inspect.cleandoc(doc or "").split("\n\n")
    return "\n\n".join(one if one.startswith("Exit codes:") else " ".join(one.split()) for one in paragraphs)


def names_in(text: str | None) -> list[str] | None:
    """Names with commas between."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def print_json(data: Any) -> None:
    """JSON on standard output."""
    write(json.dumps(data, indent=1, allow_nan=False))


def rounded(value: float, among: Iterable[float]) -> str:
    """A number of a table for a person: 0 where it is rounding beside the largest of those it is compared with."""
    return f"{value if abs(value) > ROUNDING * max(map(abs, among), default=0.0) else 0:.6g}"


def say_written(*paths: Path | None) -> None:
    for path in paths:
        if path is not None:
            Voice().say(f"written: {path}")


def _as_option(name: str) -> str:
    """What is no parameter of a model may be an option of the command."""
    flag = f"--{name.replace('_', '-')}"
    return f"; {flag} is an option of its own: give {flag} VALUE, without --set" if flag in _flags else ""


@contextmanager
def reported_errors(voice: Voice | None = None) -> Iterator[None]:
    """Turn what goes wrong into one line and an exit code; warnings become one line, too. What is compiled meanwhile is told,
    on standard error without a voice."""
    speaker = voice or Voice(to_stderr=True)

    def compiling(label: str) -> None:
        if not label.startswith(GENERATED):  # users' functions are short
            speaker.compiling()

    def one_line(message: Warning | str, *_: Any, **__: Any) -> None:
        warn(message)

    with warnings.catch_warnings():
        warnings.showwarning = one_line
        LISTENERS.append(compiling)
        try:
            yield
        except SimulationError as problem:
            complain(problem)
            raise typer.Exit(Code.FAILED) from None
        except UnknownParameter as problem:
            complain(f"{problem}{_as_option(problem.name)}")
            raise typer.Exit(Code.BAD_INPUT) from None
        except DalembertError as problem:
            complain(problem)
            raise typer.Exit(Code.BAD_INPUT) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(Code.INTERRUPTED) from None
        finally:
            LISTENERS.remove(compiling)
