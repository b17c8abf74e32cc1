"""The kinds of value in a model file: numbers (or arithmetic), vectors, matrices, motions, each with its JSON Schema."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Annotated, Any, Literal, Union

from annotated_types import Len
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    create_model,
)
from pydantic_core import PydanticCustomError

from dalembert.errors import ModelError
from dalembert.model import motions
from dalembert.model.file.expression import evaluate
from dalembert.model.plane import PLANES
from dalembert.model.validation import as_float, nearest, shown

_EXPRESSION = {"anyOf": [{"type": "number"}, {"type": "string"}]}
_VECTOR = {"type": "array", "items": _EXPRESSION, "minItems": 2, "maxItems": 3}


class Record(BaseModel):
    """A mapping of the file: unknown keys are refused, nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True)


def complaint(text: str) -> PydanticCustomError:
    """An error with a message of our own."""
    return PydanticCustomError("said", "{text}", {"text": text})


def _number(value: Any, info: ValidationInfo) -> float:
    """A finite number, or arithmetic that has one as its value."""
    if isinstance(value, str):
        try:
            return evaluate(value, (info.context or {}).get("parameters", {}))
        except ModelError as problem:
            raise complaint(f"cannot be computed: {problem}") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise complaint(f"is {shown(value)}; give a number" if value is not None else "is empty; give a number")
    number = as_float(value)
    if not math.isfinite(number):
        raise complaint(f"is {number}; give a finite number")
    return number


def _positive(value: float) -> float:
    if value <= 0.0:
        raise complaint(f"is {value:g}; give a number above 0")
    return value


def _in_space(value: list[float], info: ValidationInfo) -> list[float]:
    """Three numbers; in a file with `plane` two will do, along the axes that it names."""
    plane = (info.context or {}).get("plane")
    if len(value) == 2 and plane in PLANES:
        told = dict(zip(plane, value, strict=True))
        return [told.get(axis, 0.0) for axis in "xyz"]
    if len(value) < 3:
        also = "; two do where the file has a plane: xz" if len(value) == 2 else ""
        raise complaint(f"has {len(value)} entries, {shown(value)}; give {_how_many(plane)}{also}")
    return value


def _how_many(plane: object) -> str:
    """Numbers of a vector."""
    return f"3, or 2, along {plane[0]} and {plane[1]}" if isinstance(plane, str) and plane in PLANES else "3"


def _a_list(value: Any, info: ValidationInfo) -> Any:
    if not isinstance(value, list):
        wanted = f"a list in [ ] of numbers: {_how_many((info.context or {}).get('plane'))}"
        raise complaint(f"is {'empty' if value is None else shown(value)}; give {wanted}")
    return value


def _place(value: Any, info: ValidationInfo) -> Any:
    """A point of the file by its name: the names of its coordinates."""
    points = (info.context or {}).get("points", ())
    if not isinstance(value, str) or not points:
        return value
    if value not in points:
        raise complaint(f"is {shown(value)}, which is no point; {nearest(value, points)}, or give a list in [ ] of numbers")
    return [f"{value}.{axis}" for axis in "xyz"]


def _about_normal(wanted: str) -> AfterValidator:
    """One number where the file has a plane, for what turns about its normal; else what is wanted."""

    def check(value: float, info: ValidationInfo) -> float:
        if (info.context or {}).get("plane") not in PLANES and not math.isnan(value):  # of a parameter that is wrong
            raise complaint(f"is {value:g}; give {wanted}; one number, about its normal, does where the file has a plane: xz")
        return value

    return AfterValidator(check)


Number = Annotated[float, BeforeValidator(_number), WithJsonSchema(_EXPRESSION)]
Positive = Annotated[Number, AfterValidator(_positive)]
Triple = Annotated[list[Number], Len(3, 3)]
Vector = Annotated[
    list[Number],
    Len(0, 3),
    AfterValidator(_in_space),
    BeforeValidator(_a_list),
    WithJsonSchema(_VECTOR),
]
Place = Annotated[Vector, BeforeValidator(_place), WithJsonSchema({"anyOf": [_VECTOR, {"type": "string"}]})]
Places = Annotated[list[Place], Len(2, 2)]
Quaternion = Annotated[list[Number], Len(4, 4)]
Matrix = Annotated[list[Triple], Len(3, 3)]
Pair = Annotated[list[Vector], Len(2, 2)]
Vectors = Annotated[list[Vector], Len(1, 4)]
Frames = Annotated[list[Matrix], Len(2, 2)]
Axis = Literal["x", "y", "z"]


def _form(value: Any) -> str:
    """Which of several forms a value has: mapping, matrix, list or single value."""
    if isinstance(value, Mapping):
        return "mapping"
    if isinstance(value, list):
        return "matrix" if value and isinstance(value[0], list) else "list"
    return "single"


class AxisAngle(Record):
    """By an angle about an axis, right-handed."""

    axis: Vector
    angle: Annotated[Number, Field(description="rad")]


class RollPitchYaw(Record):
    """R = Rz(yaw) Ry(pitch) Rx(roll): about the world's x, then y, then z."""

    rpy: Annotated[Triple, Field(description="roll, pitch, yaw [rad]")]


def _rotation_form(value: Any) -> str:
    form = _form(value)
    return ("roll-pitch-yaw" if "rpy" in value else "axis-angle") if form == "mapping" else form


def _form_or_list(value: Any) -> str:
    return "list" if value is None else _form(value).replace("mapping", "list")


Inertia = Annotated[
    Annotated[Number, _about_normal("3 of them in [ ], or a 3x3 matrix"), Tag("single")]
    | Annotated[Triple, Tag("list")]
    | Annotated[Matrix, Tag("matrix")],
    Discriminator(_form_or_list),
]
Turn = Annotated[
    Annotated[Number, _about_normal("3 of them in [ ]"), Tag("single")] | Annotated[Vector, Tag("list")],
    Discriminator(lambda value: _form_or_list(value).replace("matrix", "list")),
]
_Row = Annotated[list[Number], Len(6, 6)]
Six = Annotated[
    Annotated[_Row, Tag("list")] | Annotated[list[_Row], Len(6, 6), Tag("matrix")],
    Discriminator(lambda value: "matrix" if _form(value) == "matrix" else "list"),
]
Rotation = Annotated[
    Annotated[Quaternion, Tag("list")]
    | Annotated[Matrix, Tag("matrix")]
    | Annotated[AxisAngle, Tag("axis-angle")]
    | Annotated[RollPitchYaw, Tag("roll-pitch-yaw")],
    Discriminator(lambda value: "list" if _form(value) == "single" else _rotation_form(value)),
]
BodyRotation = Annotated[
    Annotated[Number, _about_normal("a quaternion (scalar first), {axis: ..., angle: ...} or {rpy: ...}"), Tag("single")]
    | Annotated[Rotation, Tag("other")],
    Discriminator(lambda value: "single" if _form_or_list(value) == "single" else "other"),
]
Initial = Annotated[
    Annotated[Number, Tag("single")] | Annotated[list[Number | None], Len(0, 20), Tag("list")],
    Discriminator(lambda value: "list" if isinstance(value, list) else "single"),
]


def derived(
    kind: str,
    name: str,
    defaults: Mapping[str, Any],
    text: str | None,
    kinds: Mapping[str, Any],
    said: Mapping[str, str],
    base: type[Record] = Record,
) -> type[Record]:
    """The record of something that code makes; text : what it is.

    defaults : by key, `...` for what must be given;  kinds : of values by key, else numbers;  said : what keys mean
    """
    fields: dict[str, Any] = {"type": (Literal[kind], ...)}
    for key, default in defaults.items():
        value = kinds.get(key, Number)
        value = value | None if default is None else value
        fields[key] = (Annotated[value, Field(description=said.get(key))], default)
    first_line = inspect.cleandoc(text or "").partition("\n")[0]
    made: type[Record] = create_model(name, __base__=base, __module__=__name__, __doc__=first_line, **fields)
    return made


MOTION_CLASSES = {
    "constant": motions.Constant,
    "polynomial": motions.Polynomial,
    "harmonic": motions.Harmonic,
    "smooth_step": motions.SmoothStep,
    "table": motions.Table,
    "sum": motions.Sum,
    "product": motions.Product,
}
_MOTION_KINDS = {
    "coefficients": Annotated[list[Number], Len(1), FailFast()],
    **dict.fromkeys(("times", "values"), Annotated[list[Number], FailFast()]),
    **dict.fromkeys(("periodic", "clamp", "monotone"), bool),
    "parts": Annotated[list["Motion"], Len(1, 100)],
}
_OF_MOTIONS = {
    "periodic": "repeats outside the table",
    "clamp": "at rest at its ends, and holds its end values outside the table, which else goes on with its end slopes",
    "monotone": "rises and falls with its values, never beyond them: of loads",
    "parts": "numbers and motions",
}


def _motion(kind: str, made: Any) -> type[Record]:
    defaults = {field.name: ... if field.default is MISSING else field.default for field in fields(made)}
    return derived(kind, f"{made.__name__}Record", defaults, made.__doc__, _MOTION_KINDS, _OF_MOTIONS)


def _motion_form(value: Any) -> Any:
    return value.get("type") if isinstance(value, Mapping) else "number"


MOTIONS = {kind: _motion(kind, made) for kind, made in MOTION_CLASSES.items()}
_FORMS = (Annotated[Number, Tag("number")], *(Annotated[record, Tag(kind)] for kind, record in MOTIONS.items()))
Motion: Any = Annotated[Union[_FORMS], Discriminator(_motion_form)]  # noqa: UP007
for _record in (MOTIONS["sum"], MOTIONS["product"]):
    _record.model_rebuild()
