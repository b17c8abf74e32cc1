"""Run a user's plain NumPy function once on graph nodes: what it computes becomes a graph.

Arguments are chosen by name: q coordinates, v velocities, t time, p parameters. `q`, `v` and `p` give their entries by number
(q[0]), by unpacking (x, y = q), and by name (q.x, p.mass, p["mass"]).
"""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dalembert.errors import ModelError
from dalembert.lagrangian.graph import Graph, Node, TraceError, reachable
from dalembert.model.validation import nearest, plain_function, shown

ARGUMENTS = {
    "q": "q", "v": "v", "t": "t", "p": "p", "h": "h", "step": "h",
    "u": "v", "qdot": "v", "qd": "v", "dq": "v", "time": "t", "parameters": "p", "params": "p",
}  # fmt: skip
_WORDS = {"q": "coordinates", "v": "velocities", "p": "parameters"}


class Named(NDArrayOperatorsMixin):
    """Values by number and by name; arithmetic takes them as one array."""

    def __init__(self, kind: str, values: Mapping[str, Any]) -> None:
        self._kind = kind
        self._values = dict(values)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._values:
                raise TraceError(f"uses {self._kind}.{key}, but among the {_WORDS[self._kind]} {nearest(key, self._values)}")
            return self._values[key]
        return self._array()[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values.values())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._array()

    def _array(self) -> Any:
        values = list(self._values.values())
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*(x._array() if isinstance(x, Named) else x for x in inputs), **options)


def shaped(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the name of a parameter, arrays put together from their entries "name[i,j]"."""
    made: dict[str, Any] = {}
    for key, value in entries.items():
        name, bracket, places = key.partition("[")
        if not bracket:
            made[name] = value
            continue
        made.setdefault(name, {})[tuple(int(k) for k in places[:-1].split(","))] = value
    for name, value in made.items():
        if isinstance(value, dict):
            made[name] = np.empty([k + 1 for k in max(value)], dtype=object)
            for place, entry in value.items():
                made[name][place] = entry
    return made


def argument_names(owner: str, function: Callable[..., Any], allowed: Sequence[str]) -> list[str]:
    """What each argument of a user function stands for."""
    meanings, listed = [], ", ".join(allowed)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: its arguments cannot be known; give a function of arguments chosen from {listed}") from None
    for parameter in parameters:
        if parameter.default is not parameter.empty:
            continue
        meaning = ARGUMENTS.get(parameter.name, "")
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise ModelError(
                f"{owner}: its argument {parameter.name!r} has no place of its own (*args, keyword-only); give one"
            )
        if meaning not in allowed:
            hint = "; a constraint on velocities is nonholonomic" if meaning == "v" else ""
            raise ModelError(f"{owner}: its argument {parameter.name!r} is not known; arguments are chosen from {listed}{hint}")
        meanings.append(meaning)
    return meanings


def trace(
    owner: str, function: Callable[..., Any], given: Mapping[str, Any], graph: Graph, written: Callable[..., Any] | None = None
) -> list[Node]:
    """The values that a function returns, flattened; a number becomes a constant.

    written : what the user wrote, where `function` only calls it; messages name its line
    """
    meanings = argument_names(owner, function, tuple(given))
    written = function if written is None else written
    try:
        result = function(*(given[name] for name in meanings))
    except TraceError as problem:
        raise ModelError(f"{owner}{_line(written, problem)} {problem}") from None
    except Exception as problem:
        raise ModelError(
            f"{owner}{_line(written, problem)} raised {type(problem).__name__}: {problem}; it is run once on symbols to find"
            " its derivatives: use names that exist, and NumPy functions of numbers and arrays (no np.linalg.solve,"
            " no loops until convergence)"
        ) from problem
    values = np.asarray(result, dtype=object).ravel()
    return [_as_node(owner, value, graph) for value in values]


def warn_if_rough(owner: str, rows: Sequence[Node]) -> None:
    """Say which operations in the residuals of a constraint are not smooth everywhere."""
    used = {node.op for node in reachable(rows)} & {"arctan2", "abs", "sign"}
    if used:
        text = f"{owner} uses {', '.join(sorted(used))}, which is not smooth everywhere; residuals must be smooth along the"
        text += " motion, or the run stops where one jumps (arctan2 at half a turn: write sin(a - b) = 0 instead of a - b = 0)"
        warnings.warn(text, stacklevel=2)


def _as_node(owner: str, value: Any, graph: Graph) -> Node:
    if isinstance(value, Node):
        return value
    if isinstance(value, int | float | np.number) and np.isfinite(value):
        return graph.constant(float(value))
    raise ModelError(f"{owner} returned {shown(value)}; return a number or an array of numbers")


def _line(written: Callable[..., Any], problem: BaseException) -> str:
    """ ", line n:" of the user's own function."""
    code = getattr(inspect.unwrap(plain_function(written)), "__code__", None)
    lines = [line for frame, line in traceback.walk_tb(problem.__traceback__) if frame.f_code is code]
    return f", line {lines[-1]}:" if lines else ""
