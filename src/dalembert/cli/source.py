"""Where a model comes from: a name of the gallery, a YAML file, or a Python file; where a result comes from: a store."""

from __future__ import annotations

import hashlib
import inspect
import math
import os
import re
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from dalembert.cli.console import warn
from dalembert.errors import DalembertError, ModelError, UnknownParameter
from dalembert.gallery import GALLERY, build
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model
from dalembert.model.validation import nearest
from dalembert.results.solution import Result

YAML, PYTHON = (".yaml", ".yml"), ".py"
_LONG = 3.0  # to make a model [s]
_NO_BUILD = "{}: defines no function `build(...)` with arguments to set; add one that returns the model"


@dataclass(frozen=True)
class Source:
    """A model, what to call it, and how long its author suggests to simulate [s]."""

    model: Model | LagrangianSystem
    name: str
    t_end: float | None = None

    @property
    def bodies(self) -> Model:
        """The model, for commands that need bodies and joints."""
        if not isinstance(self.model, Model):
            raise ModelError(f"{self.name}: a Lagrangian system has no bodies; only `dalembert run` takes it")
        return self.model


def find_model(text: str, given: Sequence[str] | None = None, *, masses: bool = True) -> Source:
    """The model that the command line names; of files, only one that ends in .py is executed.

    given : NAME=VALUE of its parameters;  masses : a file whose bodies have none is refused, with its lines
    """
    path, values = Path(text), _values(given or ())
    if text in GALLERY:
        entry = GALLERY[text]
        return Source(_called(partial(entry.function, **entry.options), text, values), text, entry.t_end)
    suffix = path.suffix.lower()
    if suffix in YAML:
        from dalembert.model.file.read import read_model

        if not os.path.lexists(path) and path.parent.is_dir():
            raise ModelError(f"{text}: there is no such file; {_files_near(path, YAML) or '`dalembert new` writes one'}")
        found = read_model(path, values, masses=masses)
        return Source(found.model, found.model.name or path.stem, found.t_end)
    if suffix != PYTHON and os.sep not in text and not os.path.lexists(path):
        try:
            build(text)
        except ModelError as problem:
            raise ModelError(f"{problem} `dalembert gallery` lists them; files end in .yaml or .py") from None
    if not path.is_file():
        missing = "is a folder" if path.is_dir() else "is no file" if os.path.lexists(path) else "there is no such file"
        hint = "" if os.path.lexists(path) else _files_near(path, (PYTHON,))
        raise ModelError(f"{text}: {missing}; {hint or 'give a YAML file, a Python file or a gallery name'}")
    if suffix != PYTHON:
        raise ModelError(f"{text}: files of models end in .yaml, .yml or .py, which is executed; rename it to what it is")
    model = _from_python(path, values)
    return Source(model, model.name or path.stem)


def _files_near(path: Path, suffixes: tuple[str, ...]) -> str:
    """Which files there are where one is missing."""
    folder = path.parent.iterdir() if path.parent.is_dir() else ()
    there = sorted(other.name for other in folder if other.suffix.lower() in suffixes)
    return nearest(path.name, there) if there else ""


def _values(given: Sequence[str]) -> dict[str, Any]:
    """Values of parameters by name: numbers or arithmetic, else words."""
    values: dict[str, Any] = {}
    for text in given:
        name, _, value = text.partition("=")
        if not (name.isidentifier() and value) or name in values:
            raise ModelError(f"option --set is {text!r}; give NAME=VALUE, as in crank=0.12, each name once")
        if {",", ":"} & set(re.sub(r"\(.*\)", "", value)):
            raise ModelError(f"option --set is {text!r}; give one value (`dalembert sweep` takes several)")
        values[name] = int(value) if value.isdecimal() else value_of(text, value)
    return values


def value_of(text: str, value: str) -> float | str:
    """A number, the value of arithmetic, or a word.  text : of the option, for messages"""
    from dalembert.model.file.expression import evaluate

    try:
        return evaluate(value, {})
    except ModelError as problem:
        if re.fullmatch(r"[A-Za-z_][\w-]*", value):
            return value
        raise ModelError(f"option --set is {text!r}: {problem}") from None


def _called(function: Callable[..., Any], name: str, values: Mapping[str, Any]) -> Any:
    """What a function makes of values, once their names are found right."""
    if values:
        from dalembert.simulation.parameters import check_names

        check_names(function, values, name)
    return function(**values)


class Builder:
    """What makes variants of the model that the command line names, in this process and in others."""

    def __init__(self, text: str) -> None:
        suffix = Path(text).suffix.lower()
        file = Path(text).resolve() if suffix in (*YAML, PYTHON) else None
        self.text, self.__name__ = (text if file is None else str(file)), Path(text).stem
        self.t_end: float | None = None
        self.parameters: tuple[str, ...] | None = None  # of a YAML file, all of them numbers
        self._function: Any
        if file is None or not file.is_file():
            source = find_model(text)  # complains
            self._function, self.t_end = partial(GALLERY[text].function, **GALLERY[text].options), source.t_end
            self.fingerprint = text
            return
        self.fingerprint = hashlib.sha256(file.read_bytes()).hexdigest()
        if suffix in YAML:
            from dalembert.model.file.read import read_string
            from dalembert.model.file.syntax import read_text

            made = partial(read_string, read_text(file), file.name, file.parent)  # the same name in messages of every process
            self.t_end, self.parameters = (found := made()).t_end, found.parameters
            self._function = lambda **given: made(given).model
            return
        with _blaming(file), _importing_from(file.parent):
            build = _executed(file).get("build")
        if not callable(build):
            raise ModelError(_NO_BUILD.format(text))
        self._function = build

    def __call__(self, **given: Any) -> Any:
        return self._function(**given)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function)

    def __reduce__(self) -> tuple[type[Builder], tuple[str]]:
        return Builder, (self.text,)


def check_result(text: str) -> None:
    """Refuse a model where the result of a run is asked for, and say how to get one."""
    path = Path(text)
    if (path.is_file() and path.suffix.lower() in (*YAML, PYTHON)) or (text in GALLERY and not path.exists()):
        raise ModelError(f"{text} is a model; first `dalembert run {text} --out {path.stem}.zarr`")


def end_of_run(source: Source | Builder, t_end: float | None) -> float:
    """What --t-end says, else what the model's author suggests."""
    if t_end is not None and not (math.isfinite(t_end) and t_end > 0):
        raise ModelError(f"option --t-end is {t_end:g}; give a number above 0")
    end, name = (source.t_end if t_end is None else t_end), getattr(source, "name", "the model")
    if end is None:
        raise ModelError(f"{name}: how long? give --t-end SECONDS")
    if not end > 0:
        raise ModelError(f"{name}: t_end is {end:g}; give a number above 0")
    return end


def _from_python(path: Path, values: Mapping[str, Any]) -> Model | LagrangianSystem:
    """Run a file; its `model`, or what its `build()` returns, which takes the values if there are any."""
    with _blaming(path), _importing_from(path.parent):
        names = _executed(path)
        model = None if values else names.get("model")
        built = model is None and callable(names.get("build"))
        if built:
            model = _called(names["build"], "build", values)
    if built and model is None:
        raise ModelError(f"{path}: `build()` returned None; end it with `return model`")
    if model is None and values:
        raise ModelError(_NO_BUILD.format(path))
    if model is None:
        held = [repr(name) for name, value in names.items() if isinstance(value, Model | LagrangianSystem)]
        several = f"it has models named {', '.join(held)}; call one of them 'model'"
        fix = several if held[1:] else f"it has a model named {held[0]}; call it 'model'" if held else "add one of them"
        raise ModelError(f"{path}: defines neither `model` nor a function `build()`; {fix}")
    if not isinstance(model, Model | LagrangianSystem):
        raise ModelError(f"{path}: `model` is a {type(model).__name__}; make it a dalembert.Model")
    return model


def _executed(path: Path) -> dict[str, Any]:
    """What a file defines; who has it simulate as well is told how to leave that out."""
    begin = perf_counter()
    names = runpy.run_path(str(path), run_name=path.stem)
    if perf_counter() - begin > _LONG or any(isinstance(value, Result) for value in names.values()):
        rest = 'put what shall not run now below `if __name__ == "__main__":`'
        warn(f"{path} was executed whole to get its model, with all that it simulates and writes; {rest}")
    return names


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """The file's folder on the import path, as when Python runs it; what it prints is no answer of a command."""
    sys.path.insert(0, str(folder.resolve()))
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.path.pop(0)


@contextmanager
def _blaming(path: Path) -> Iterator[None]:
    """Turn what the user's file raises into one line with its line number."""
    try:
        yield
    except SyntaxError as problem:
        raise ModelError(f"{path}, line {problem.lineno}: {problem.msg}") from None
    except UnknownParameter as problem:
        raise UnknownParameter(f"{path}: {problem}", problem.name) from None
    except (Exception, SystemExit) as problem:
        kind = "" if isinstance(problem, DalembertError) else f"{type(problem).__name__}: "
        raise ModelError(f"{path}{_line_in(path, problem)}: {kind}{problem}") from None


def _line_in(path: Path, problem: Any) -> str:
    lines = [f.lineno for f in traceback.extract_tb(problem.__traceback__) if f.filename == str(path)]
    return f", line {lines[-1]}" if lines else ""
