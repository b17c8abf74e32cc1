"""Values as plain data that JSON holds, for stores, datasets and reports; words for how a run ended."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.errors import StoreError

FLOAT = "__float__"  # JSON has no infinity and no NaN
INCOMPLETE, DAMAGED = "incomplete", "damaged"


def encode(value: Any, where: str = "attributes") -> Any:
    """A copy of `value` in plain JSON types; tuples and arrays become lists. `where` names the value in errors."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return encode(value.tolist(), where)
    if isinstance(value, float):
        return value if math.isfinite(value) else {FLOAT: repr(value)}
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or key == FLOAT:
                raise StoreError(f"{where}: key {key!r} cannot be stored; keys are text other than '{FLOAT}'")
        return {key: encode(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
    kind = type(value).__name__
    raise StoreError(f"{where}: a {kind} cannot be stored; give numbers, text, lists and dictionaries")


def duration(seconds: float) -> str:
    """A time for a person."""
    return f"{1e3 * seconds:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def without_nan(value: Any) -> Any:
    """None for a number that is none, which JSON has not, in dicts and lists too."""
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
