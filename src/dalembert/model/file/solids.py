"""Solids that give a body its mass, inertia and look, and shapes that only give it a look, as records of a model file."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import FailFast, Field

from dalembert.model.file.values import Axis, Number, Pair, Quaternion, Record, Vector, by_type


class RodRecord(Record):
    """Round rod along its axis; without a radius the ideal thin rod."""

    type: Literal["rod"]
    mass: Number
    length: Number | None = None
    axis: Axis = "x"
    radius: Number = 0.0
    between: Annotated[Pair | None, Field(description="instead of length: world points that place the body as well [m]")] = None


class CylinderRecord(Record):
    """Full cylinder along its axis."""

    type: Literal["cylinder"]
    mass: Number
    radius: Number
    length: Number
    axis: Axis = "z"


class DiscRecord(Record):
    """Thin disc normal to its axis."""

    type: Literal["disc"]
    mass: Number
    radius: Number
    axis: Axis = "z"


class BoxRecord(Record):
    """Box with edges along the body's axes."""

    type: Literal["box"]
    mass: Number
    size: Vector


class SphereRecord(Record):
    """Full sphere."""

    type: Literal["sphere"]
    mass: Number
    radius: Number


class MeshRecord(Record):
    """What a closed mesh of a file encloses, filled evenly; the body lies where the file has it."""

    type: Literal["mesh"]
    file: Annotated[str, Field(description="STL or OBJ file in the model file's folder")]
    density: Annotated[Number, Field(description="kg/m^3")]
    scale: Annotated[Number, Field(description="metres in a unit of the file")] = 1.0


Solid = Annotated[RodRecord | CylinderRecord | DiscRecord | BoxRecord | SphereRecord | MeshRecord, Field(discriminator="type")]
SOLIDS = by_type(*get_args(get_args(Solid)[0]))


class ShapeRecord(Record):
    """How the viewer draws a body; mechanics does not know of it."""

    position: Annotated[Vector | None, Field(description="of the shape in body axes [m]")] = None
    rotation: Annotated[Quaternion | None, Field(description="of the shape in body axes, scalar first")] = None
    colour: Annotated[str | None, Field(description="its own, else that of the body")] = None
    fixed: Annotated[bool, Field(description="in the world instead of the body")] = False
    clear: Annotated[bool, Field(description="seen through")] = False


class _AlongAxis(ShapeRecord):
    length: Number
    axis: Axis = "z"


class RodShape(_AlongAxis):
    type: Literal["rod"]


class CylinderShape(_AlongAxis):
    type: Literal["cylinder"]
    radius: Number


class ConeShape(_AlongAxis):
    type: Literal["cone"]
    radius: Number


class DiscShape(ShapeRecord):
    type: Literal["disc"]
    radius: Number
    axis: Axis = "z"


class BoxShape(ShapeRecord):
    type: Literal["box"]
    size: Vector


class SphereShape(ShapeRecord):
    type: Literal["sphere"]
    radius: Number


class EllipsoidShape(ShapeRecord):
    type: Literal["ellipsoid"]
    semi_axes: Vector


class PlateShape(ShapeRecord):
    type: Literal["plate"]
    points: Annotated[list[Vector], FailFast(), Field(description="of its eyes, in body axes and across the axis [m]")]
    radius: Annotated[Number, Field(description="of the eyes")]
    thickness: Number
    axis: Axis = "z"


class WheelShape(ShapeRecord):
    type: Literal["wheel"]
    radius: Number
    width: Annotated[Number, Field(description="of the tyre")]
    axis: Axis = "z"


class MeshShape(ShapeRecord):
    type: Literal["mesh"]
    file: Annotated[str, Field(description="STL or OBJ, in the model file's folder or below it")]
    scale: Annotated[Number, Field(description="of the file's lengths to metres")] = 1.0


class CompoundShape(ShapeRecord):
    type: Literal["compound"]
    parts: Annotated[list[Shape], FailFast()]


Shape = Annotated[
    RodShape
    | CylinderShape
    | ConeShape
    | DiscShape
    | BoxShape
    | SphereShape
    | EllipsoidShape
    | PlateShape
    | WheelShape
    | MeshShape
    | CompoundShape,
    Field(discriminator="type"),
]
CompoundShape.model_rebuild()

SHAPES = by_type(*get_args(get_args(Shape)[0]))
