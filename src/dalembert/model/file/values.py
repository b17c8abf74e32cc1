"""The kinds of value in a model file: numbers (or arithmetic), vectors, matrices, motions, each with its JSON Schema."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

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
)
from pydantic_core import PydanticCustomError

from dalembert.errors import ModelError
from dalembert.model.file.expression import evaluate
from dalembert.model.validation import as_float, shown

_EXPRESSION = {"anyOf": [{"type": "number"}, {"type": "string"}]}


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


Number = Annotated[float, BeforeValidator(_number), WithJsonSchema(_EXPRESSION)]
Positive = Annotated[Number, AfterValidator(_positive)]
Vector = Annotated[list[Number], Len(3, 3)]
Quaternion = Annotated[list[Number], Len(4, 4)]
Matrix = Annotated[list[Vector], Len(3, 3)]
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

    rpy: Annotated[Vector, Field(description="roll, pitch, yaw [rad]")]


def _rotation_form(value: Any) -> str:
    form = _form(value)
    return ("roll-pitch-yaw" if "rpy" in value else "axis-angle") if form == "mapping" else form


Inertia = Annotated[
    Annotated[Vector, Tag("list")] | Annotated[Matrix, Tag("matrix")],
    Discriminator(lambda value: "matrix" if _form(value) == "matrix" else "list"),
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
Initial = Annotated[
    Annotated[Number, Tag("single")] | Annotated[list[Number | None], Len(0, 20), Tag("list")],
    Discriminator(lambda value: "list" if isinstance(value, list) else "single"),
]


class ConstantRecord(Record):
    """f(t) = value"""

    type: Literal["constant"]
    value: Number


class PolynomialRecord(Record):
    """f(t) = c0 + c1 t + c2 t^2 + ...;  coefficients in rising order"""

    type: Literal["polynomial"]
    coefficients: Annotated[list[Number], Len(1), FailFast()]


class HarmonicRecord(Record):
    """f(t) = offset + amplitude sin(omega t + phase);  omega in rad/s"""

    type: Literal["harmonic"]
    amplitude: Number
    omega: Number
    phase: Number = 0.0
    offset: Number = 0.0


class SmoothStepRecord(Record):
    """From start to stop between t_start and t_stop, with continuous first and second derivatives"""

    type: Literal["smooth_step"]
    start: Number
    stop: Number
    t_start: Number
    t_stop: Number


class TableRecord(Record):
    """Cubic spline through (times, values); outside the table it goes on with the end slope, holds (clamp) or repeats"""

    type: Literal["table"]
    times: Annotated[list[Number], FailFast()]
    values: Annotated[list[Number], FailFast()]
    periodic: bool = False
    clamp: bool = False


class SumRecord(Record):
    """f(t) = sum of its parts: numbers and motions"""

    type: Literal["sum"]
    parts: Annotated[list[Motion], Len(1, 100)]


class ProductRecord(Record):
    """f(t) = product of its parts: numbers and motions"""

    type: Literal["product"]
    parts: Annotated[list[Motion], Len(1, 100)]


def _motion_form(value: Any) -> Any:
    return value.get("type") if isinstance(value, Mapping) else "number"


Motion = Annotated[
    Annotated[Number, Tag("number")]
    | Annotated[ConstantRecord, Tag("constant")]
    | Annotated[PolynomialRecord, Tag("polynomial")]
    | Annotated[HarmonicRecord, Tag("harmonic")]
    | Annotated[SmoothStepRecord, Tag("smooth_step")]
    | Annotated[TableRecord, Tag("table")]
    | Annotated[SumRecord, Tag("sum")]
    | Annotated[ProductRecord, Tag("product")],
    Discriminator(_motion_form),
]
SumRecord.model_rebuild()
ProductRecord.model_rebuild()


def by_type(*records: type[Record]) -> dict[str, type[Record]]:
    """Records by what they say under `type`."""
    return {get_args(record.model_fields["type"].annotation)[0]: record for record in records}


MOTIONS = by_type(*(get_args(kind)[0] for kind in get_args(get_args(Motion)[0])[1:]))
