"""A model as plain data that JSON holds exactly, and back: Python writes floats so that they read back the same.

User functions are stored by name and source, for the reader; they cannot be called after reading.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn

import numpy as np

from dalembert.errors import ModelError
from dalembert.model import motions
from dalembert.model.elements import (
    Body,
    Driver,
    Joint,
    JointMotor,
    JointSpringDamper,
    PointForce,
    Primitive,
    SpringDamper,
    Torque,
)
from dalembert.model.validation import argument_count, numbers, plain_function, shown

FORMAT = "dalembert-model"
VERSION = 1

_CLASSES: dict[str, Any] = {
    c.__name__: c
    for c in (
        *(Body, Joint, Driver, Primitive, PointForce, Torque, SpringDamper, JointSpringDamper, JointMotor),
        *(motions.Constant, motions.Polynomial, motions.Harmonic, motions.SmoothStep, motions.Table),
    )
}
_SHAPES: dict[str, tuple[int, ...]] = {"inertia": (3, 3), "E_i": (3, 3), "E_j": (3, 3), "rotation": (4,)}


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


def _constants(values: Mapping[str, object]) -> dict[str, object]:
    """The numbers, strings and arrays among the values that a function refers to."""
    kept: dict[str, object] = {}
    for name, value in sorted(values.items()):
        if isinstance(value, np.ndarray | np.generic):
            kept[name] = value.tolist()
        elif isinstance(value, int | float | str):
            kept[name] = value
    return kept


def _function_record(function: Any) -> dict[str, object]:
    """Name, source and the constants that the source refers to: enough to tell two user functions apart."""
    if isinstance(function, MissingFunction):
        return function.record
    plain = plain_function(function)
    try:
        source: str | None = inspect.getsource(plain)
    except (OSError, TypeError):
        source = None
    try:
        outer = inspect.getclosurevars(plain)
        used = _constants({**outer.globals, **outer.nonlocals})
    except (TypeError, ValueError):
        used = {}
    name = f"{getattr(plain, '__module__', '')}.{getattr(plain, '__qualname__', type(plain).__qualname__)}"
    return {"function": name, "source": source, "constants": used, "arguments": argument_count(function)}


def is_function_record(data: Any) -> bool:
    """Whether plain data stands for a user function."""
    return isinstance(data, Mapping) and data.keys() == {"function", "source", "constants", "arguments"}


def encode(value: Any) -> Any:
    """An element, or a part of one, as dicts, lists, strings and numbers."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return {"class": type(value).__name__} | {f.name: encode(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [encode(v) for v in value]
    if callable(value):
        return _function_record(value)
    return value


def decode(data: Any, owner: str = "model data") -> Any:
    """What `encode` made, as the element it was; arrays and tuples by the type of the field."""
    kind = data.get("class") if isinstance(data, Mapping) else None
    if kind not in _CLASSES:
        known = ", ".join(_CLASSES)
        raise ModelError(f"{owner}: found {shown(data)}; expected a dict whose 'class' is one of {known}")
    owner = f"{kind} {data['name']!r}" if "name" in data else owner
    made = {}
    for item in fields(_CLASSES[kind]):
        if item.name not in data:
            raise ModelError(f"{owner}: the entry {item.name!r} is missing; give the data of Model.to_dict() unchanged")
        made[item.name] = _decode_field(owner, item.name, str(item.type), data[item.name])
    return _CLASSES[kind](**made)


def _decode_field(owner: str, name: str, type_: str, value: Any) -> Any:
    if type_.startswith("Array") and not isinstance(value, Mapping):
        return numbers(owner, name, value, _SHAPES.get(name, (3,)))
    if type_.startswith("tuple") and isinstance(value, list):
        return tuple(decode(v, owner) if isinstance(v, Mapping) else v for v in value)
    if isinstance(value, Mapping) and not type_.startswith("dict"):
        return decode(value, owner) if "class" in value else MissingFunction(owner, dict(value))
    return value
