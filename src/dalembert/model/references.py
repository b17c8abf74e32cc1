"""What a function takes from outside itself: closure values, globals, helpers, and these in a record that JSON holds."""

from __future__ import annotations

import hashlib
import inspect
import linecache
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from dalembert.model.validation import plain_function

LIBRARIES = ("numpy", "math", "cmath", "scipy", "numba", "builtins")  # their values do not change under their name
_DEEPEST = 8  # collections and helpers within each other; objects count for several
_LONGEST = 10_000  # entries of an array that is told entry by entry
_NAME = 60  # letters of what a function is called, at most


def names_in(code: CodeType) -> set[str]:
    """Global names and attributes that code refers to, that of inner functions included."""
    inner = (names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def references(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Name and value of what a function takes from outside: closure cells, globals, attributes of the user's modules."""
    names, given, seen, cells = names_in(function.__code__), function.__globals__, set[int](), {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not assigned yet
            cells[name] = cell.cell_contents
    spaces = [("", {name: given[name] for name in names & given.keys()}), ("", cells)]
    while spaces:
        prefix, space = spaces.pop()
        for name, value in sorted(space.items(), key=lambda item: item[0]):
            library = not isinstance(value, ModuleType) or value.__name__.partition(".")[0] in LIBRARIES
            if not library and id(value) not in seen:
                seen.add(id(value))
                spaces.append((f"{prefix}{name}.", {key: vars(value)[key] for key in names & vars(value).keys()}))
            yield prefix + name, value


def source_of(function: Any) -> str | None:
    """The text of a function, None where it has none."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return None


def called(function: Any) -> str:
    """What a function of a solution is called in legends and tables: its name; of a lambda what it computes, signals in it by
    their names: `lambda s: s.signal("A") - s.signal("B")` is A - B."""
    name = str(getattr(function, "__name__", type(function).__name__))
    if name != "<lambda>":
        return name
    code = getattr(function, "__code__", None)
    if code is None:  # made of a lambda by another, as np.vectorize does
        return "function"
    places = [(*place[::2], *place[1::2]) for place in code.co_positions() if None not in place and place[2:] != (0, 0)]
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not (places and lines):
        return "function"
    (first, start), (last, end) = min(place[:2] for place in places), max(place[2:] for place in places)
    encoded = [line.encode() for line in lines[first - 1 : last]]
    encoded[-1] = encoded[-1][:end]
    encoded[0] = encoded[0][start:]
    text = " ".join(b" ".join(encoded).decode().split())
    text = re.sub(r"""\b\w+\.signal\((["'])(.*?)\1\)""", r"\2", text)
    return text if len(text) <= _NAME else f"{text[: _NAME - 3]}..."


def constants(function: Any, depth: int = 0) -> dict[str, object]:
    """What a function refers to by name: numbers, texts, arrays, collections of these, helpers as source and constants."""
    if isinstance(function, FunctionType):
        parts = dict(references(function))
    elif isinstance(function, MethodType):
        parts = {"self": function.__self__, "function": function.__func__}
    elif isinstance(function, partial):
        parts = {"function": function.func, "arguments": function.args, "keywords": function.keywords}
    else:  # an object that can be called
        parts = {**getattr(function, "__dict__", {}), "__call__": type(function).__call__}
    told = {name: _told(value, depth) for name, value in sorted(parts.items()) if value is not function}
    return {name: value for name, value in told.items() if value is not None}


def _told(value: Any, depth: int) -> Any:
    """A value as JSON holds it, None where only its identity tells it from others."""
    plain = plain_function(value)
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        long = value.size > _LONGEST
        return f"sha256 {hashlib.sha256(value.tobytes()).hexdigest()}" if long else _told(value.tolist(), depth)
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, complex):
        return repr(value)
    if depth >= _DEEPEST or isinstance(value, ModuleType | type):
        return None
    if isinstance(value, Mapping):
        return {repr(key): _told(part, depth + 1) for key, part in sorted(value.items(), key=lambda pair: repr(pair[0]))}
    if isinstance(value, list | tuple):
        return [_told(part, depth + 1) for part in value]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if isinstance(plain, FunctionType) and plain.__module__.partition(".")[0] not in LIBRARIES:
        return {"source": source_of(plain), "constants": constants(plain, depth + 1)}
    inside = getattr(value, "__dict__", None)
    home = type(value).__module__.partition(".")[0]
    return None if not isinstance(inside, dict) or home in LIBRARIES else _told(inside, depth + _DEEPEST // 2)
