"""A model as plain data that JSON holds exactly, and back: Python writes floats so that they read back the same.

User functions are stored by name and source, for the reader; they cannot be called after reading.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import ModelError
from dalembert.model import motions
from dalembert.model.calls import Parameter
from dalembert.model.elements import FORCES, Body, Driver, Joint, Marker, Primitive
from dalembert.model.references import constants, source_of
from dalembert.model.shape_records import shape_record
from dalembert.model.validation import argument_count, choice, number, numbers, plain_function, shown

FORMAT = "dalembert-model"
VERSION = 1

_CLASSES: dict[str, Any] = {
    c.__name__: c
    for c in (
        *(Body, Joint, Driver, Marker, Primitive, Parameter),
        *(motions.Constant, motions.Polynomial, motions.Harmonic, motions.SmoothStep, motions.Table, motions.Function),
        *(motions.Sum, motions.Product),
    )
}
_LATER = ("members", "coupled", "parts", "numbers", "meshed", "monotone")  # that most elements do not have: left out if empty
_ARRAY = get_origin(NDArray[np.float64])  # np.ndarray, or from NumPy 2.5 on an alias of its own
_SHAPES: dict[str, tuple[int, ...]] = {"inertia": (3, 3), "E_i": (3, 3), "E_j": (3, 3), "rotation": (4,)} | dict.fromkeys(
    ("stiffness", "damping"), (6, 6)
)


class MissingFunction:
    """Stands for a user function that was read from a file: it knows its name and source, and raises when called."""

    def __init__(self, owner: str, record: dict[str, object]) -> None:
        self.owner = owner
        self.record = record
        count = record.get("arguments")
        names = ("t", "r", "v", "R", "w")[: count if isinstance(count, int) else 1]
        self.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names])

    def __call__(self, *state: object) -> NoReturn:
        raise ModelError(
            f"{self.owner}: the user function {self.record.get('function')!r} was not stored, only its source; "
            "build the model again with the function itself"
        )


def _function_record(function: Any) -> dict[str, object]:
    """Name, source and what the source refers to: enough to tell two user functions apart."""
    if isinstance(function, MissingFunction):
        return function.record
    plain = plain_function(function)
    name = f"{getattr(plain, '__module__', '')}.{getattr(plain, '__qualname__', type(plain).__qualname__)}"
    return {"function": name, "source": source_of(plain), "constants": constants(plain), "arguments": argument_count(function)}


def is_function_record(data: Any) -> bool:
    """Whether plain data stands for a user function."""
    return isinstance(data, Mapping) and data.keys() == {"function", "source", "constants", "arguments"}


def content_hash(data: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of plain data: equal for equal data, in every process."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def encode(value: Any) -> Any:
    """An element, or a part of one, as dicts, lists, strings and numbers."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        told = {f.name: getattr(value, f.name) for f in fields(value)}
        told = {name: part for name, part in told.items() if name != "meshed" and (name not in _LATER or part)}  # its offset is
        return {"class": type(value).__name__} | {name: encode(part) for name, part in told.items()}
    if isinstance(value, tuple):
        return [encode(v) for v in value]
    if callable(value):
        return _function_record(value)
    return value


def decode(data: Any, owner: str = "model data") -> Any:
    """What `encode` made, as the element it was; every part must be of its field's type."""
    kind = data.get("class") if isinstance(data, Mapping) else None
    classes = _CLASSES | FORCES
    if not isinstance(kind, str) or kind not in classes:
        known = ", ".join(classes)
        raise ModelError(f"{owner}: found {shown(data)}; expected a dict whose 'class' is one of {known}")
    owner = f"{kind} {shown(data['name'])}" if "name" in data else owner
    made = {}
    hints = _hints(classes[kind])
    for name, hint in hints.items():
        if name not in data and name in _LATER:
            continue
        if name not in data:
            raise ModelError(f"{owner}: the entry {name!r} is missing; give the data of Model.to_dict() unchanged")
        made[name] = _decode_as(owner, name, hint, data[name])
    if data.keys() - hints.keys() != {"class"}:
        raise ModelError(f"{owner}: there are entries beyond {', '.join(hints)}; give the data of Model.to_dict() unchanged")
    return classes[kind](**made)


@cache
def _hints(cls: Any) -> dict[str, Any]:
    """Field -> type; what a file may hold in its place."""
    found = get_type_hints(cls)
    return {item.name: found[item.name] for item in fields(cls)}


def _decode_as(owner: str, name: str, hint: Any, value: Any) -> Any:
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _decode_union(owner, name, inside, value)
    if origin is _ARRAY:
        return numbers(owner, name, value, _SHAPES.get(name, (3,)))
    if origin is Literal:
        choice(owner, name, value, inside)
        return value
    if origin is dict:
        return shape_record(owner, value)
    if origin is Callable and is_function_record(value):
        return MissingFunction(owner, dict(value))
    if origin is tuple and isinstance(value, list):
        kinds = inside[:1] * len(value) if inside[1:] == (...,) else inside
        if len(kinds) == len(value):
            return tuple(_decode_as(owner, name, kind, item) for kind, item in zip(kinds, value, strict=True))
    if is_dataclass(hint) and isinstance(value, Mapping):
        made = decode(value, owner)
        if isinstance(made, hint):  # type: ignore[arg-type]
            return made
    if hint is float:
        number(owner, name, value)
        return value
    if hint in (str, int, bool) and type(value) is hint:
        return value
    raise ModelError(f"{owner}: {name} is {shown(value)}; expected {getattr(hint, '__name__', hint)}")


def _decode_union(owner: str, name: str, kinds: tuple[Any, ...], value: Any) -> Any:
    """None, an element of one of the classes, a function's record, or what is left."""
    if value is None and NoneType in kinds:
        return None
    if is_function_record(value) and any(get_origin(kind) is Callable for kind in kinds):
        return MissingFunction(owner, dict(value))
    if isinstance(value, Mapping) and value.get("class") in [getattr(kind, "__name__", "") for kind in kinds]:
        return decode(value, owner)
    for kind in kinds:
        if kind is not NoneType and not is_dataclass(kind) and get_origin(kind) is not Callable:
            return _decode_as(owner, name, kind, value)
    raise ModelError(f"{owner}: {name} is {shown(value)}; give the data of Model.to_dict() unchanged")
