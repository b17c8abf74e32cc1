"""Options of a run as plain data and back: what a result file stores and a command line sets."""

from __future__ import annotations

import dataclasses
import math
from functools import cache, lru_cache
from typing import Any

from dalembert.errors import ModelError


def to_data(options: Any) -> dict[str, Any]:
    """{"type": class name, "options": {field: value}}; functions become their names."""
    try:
        plain = dict(_kept(options))
    except TypeError:  # something that may change
        plain = _options(options)
    return {"type": type(options).__name__, "options": plain}


def _options(options: Any) -> dict[str, Any]:
    kind: Any = type(options)
    return {name: _plain(getattr(options, name)) for name in _fields(kind)}


_kept = lru_cache(maxsize=32)(_options)


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in dataclasses.fields(kind))


def from_data(data: dict[str, Any], known: dict[str, type[Any]]) -> Any:
    """The options object that `to_data` described, one of the classes in `known`."""
    classes = {cls.__name__: cls for cls in known.values()}
    if data["type"] not in classes:
        raise ModelError(f"unknown type {data['type']!r}; known are {', '.join(classes)}")
    options = dict(data["options"])
    if isinstance(options.get("invariants"), list):
        raise ModelError("this run used functions that a file cannot hold; simulate it again to go on from its states")
    return classes[data["type"]](**{name: math.inf if value == "inf" else value for name, value in options.items()})


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return "inf" if value == math.inf else value
    if isinstance(value, list | tuple):
        return [item if isinstance(item, str | int | float) else getattr(item, "__name__", repr(item)) for item in value]
    if callable(value):
        return getattr(value, "__name__", repr(value))
    return value
