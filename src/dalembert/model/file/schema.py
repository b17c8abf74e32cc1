"""What a model file may hold: one record per verb of `Model`, with the verb's own keywords. The JSON Schema comes from here.

A record's type is the verb without `add_`; its keys are the verb's arguments, so `joints: {A: {type: revolute, ...}}` is
`model.add_revolute("A", ...)`. Beside them, bodies take `solid` and joints take `frames`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import Discriminator, Field, Tag

from dalembert.model.file.solids import SHAPES, SOLIDS, Shape, Solid
from dalembert.model.file.values import (
    MOTIONS,
    AxisAngle,
    Frames,
    Inertia,
    Initial,
    Motion,
    Number,
    Pair,
    Record,
    RollPitchYaw,
    Rotation,
    Vector,
    Vectors,
)

SCHEMA_FILE = "dalembert-model.schema.json"
VERSION = 1

BodyName = Annotated[str, Field(description="name of a body, or ground")]
JointName = Annotated[str, Field(description="name of a joint")]
Flag = Annotated[bool, Field(description="assembly leaves the initial pose and velocities alone")]
Component = Annotated[int, Field(description="which of the joint's coordinates, counted from 0")]
Frame = Literal["world", "body"]


class BodyRecord(Record):
    """A rigid body, its axes in the centre of mass. Give `solid`, or `mass` and `inertia`."""

    type: Literal["body"] = "body"
    solid: Annotated[Solid | None, Field(description="a homogeneous solid: sets mass, inertia and shape")] = None
    mass: Annotated[Number | None, Field(description="kg")] = None
    inertia: Annotated[Inertia | None, Field(description="about the centre of mass, body axes, 3 or 3x3 [kg m^2]")] = None
    position: Annotated[Vector, Field(description="centre of mass, world [m]")] = [0.0, 0.0, 0.0]
    rotation: Annotated[
        Rotation, Field(description="body to world: quaternion (scalar first), 3x3, {axis, angle} or {rpy}")
    ] = [1.0, 0.0, 0.0, 0.0]
    velocity: Annotated[Vector | None, Field(description="of the centre of mass, world [m/s]")] = None
    angular_velocity: Annotated[Vector | None, Field(description="world axes [rad/s]")] = None
    shape: Annotated[Shape | None, Field(description="how the viewer draws it")] = None
    fixed: Flag = False


class PointMassRecord(Record):
    """A particle: three coordinates, no rotation."""

    type: Literal["point_mass"]
    mass: Annotated[Number, Field(description="kg")]
    position: Annotated[Vector, Field(description="world [m]")] = [0.0, 0.0, 0.0]
    velocity: Annotated[Vector | None, Field(description="world [m/s]")] = None
    shape: Annotated[Shape | None, Field(description="how the viewer draws it")] = None
    fixed: Flag = False


class Between(Record):
    """What connects two bodies."""

    first: BodyName
    second: BodyName


class JointRecord(Between):
    points: Annotated[Pair | None, Field(description="the joint point in the axes of each body [m]")] = None


class FramedRecord(Between):
    """`frames` holds the joint's exact frames, body-fixed, columns x, y, z; `to_yaml` writes them where it has to."""

    frames: Annotated[Frames | None, Field(description="exact joint frames as 3x3 in the axes of each body")] = None


class PlacedRecord(JointRecord, FramedRecord):
    point: Annotated[Vector | None, Field(description="the joint point, world, model pose [m]")] = None


class MovableRecord(PlacedRecord):
    coordinate: Annotated[Initial | None, Field(description="initial joint coordinates [rad or m], null = free")] = None
    rate: Annotated[Initial | None, Field(description="initial rates [rad/s or m/s], null = free")] = None


class OneAxisRecord(MovableRecord):
    axis: Annotated[Vector | None, Field(description="joint axis or plane normal, world, model pose")] = None
    axes: Annotated[Vectors | None, Field(description="the axis in the axes of each body")] = None


class AxisRecord(OneAxisRecord):
    vectors: Annotated[Vectors | None, Field(description="(a_i, b_i, a_j[, b_j]), body-fixed, as tabulated")] = None


class SphericalRecord(PlacedRecord):
    type: Literal["spherical"]


class UniversalRecord(MovableRecord):
    type: Literal["universal"]
    axes: Annotated[Vectors | None, Field(description="axis on the first body, axis on the second, perpendicular")] = None


class RevoluteRecord(AxisRecord):
    type: Literal["revolute"]


class CylindricalRecord(AxisRecord):
    type: Literal["cylindrical"]


class PrismaticRecord(AxisRecord):
    type: Literal["prismatic"]


class PlanarRecord(AxisRecord):
    type: Literal["planar_joint"]


class FixedRecord(PlacedRecord):
    type: Literal["fixed"]


class DistanceRecord(JointRecord):
    type: Literal["distance"]
    length: Annotated[Motion | None, Field(description="m, or a motion; default: the distance in the model pose")] = None


class PointOnLineRecord(OneAxisRecord):
    type: Literal["point_on_line"]


class PointOnPlaneRecord(OneAxisRecord):
    type: Literal["point_on_plane"]


class CoincidenceRecord(JointRecord):
    type: Literal["coincidence"]


class PerpendicularRecord(FramedRecord):
    type: Literal["perpendicular"]
    axes: Annotated[Vectors | None, Field(description="body-fixed vectors that stay perpendicular")] = None


class InPlaneRecord(JointRecord, FramedRecord):
    type: Literal["in_plane"]
    direction: Annotated[Vector | None, Field(description="the plane's normal in the axes of the first body")] = None
    offset: Annotated[Number, Field(description="m")] = 0.0


class OnPlaneRecord(Record):
    body: BodyName
    plane: Annotated[Pair, Field(description="[point, normal], world, model pose; default: the floor z = 0")] = [
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0],
    ]
    on: Annotated[str, Field(description="the body that carries the plane")] = "ground"


class RollingSphereRecord(OnPlaneRecord):
    type: Literal["rolling_sphere"]
    radius: Annotated[Number, Field(description="m")]
    centre: Annotated[Vector, Field(description="body axes [m]")] = [0.0, 0.0, 0.0]


class RollingDiscRecord(OnPlaneRecord):
    type: Literal["rolling_disc"]
    radius: Annotated[Number, Field(description="m")]
    axis: Annotated[Vector, Field(description="of the disc, body axes")] = [0.0, 0.0, 1.0]
    centre: Annotated[Vector, Field(description="body axes [m]")] = [0.0, 0.0, 0.0]


class RollingEllipsoidRecord(OnPlaneRecord):
    type: Literal["rolling_ellipsoid"]
    semi_axes: Annotated[Vector, Field(description="along the body's axes [m]")]
    centre: Annotated[Vector, Field(description="body axes [m]")] = [0.0, 0.0, 0.0]


class SkateRecord(OnPlaneRecord):
    type: Literal["skate"]
    direction: Annotated[Vector, Field(description="along the blade, body axes")]
    point: Annotated[Vector, Field(description="body axes [m]")] = [0.0, 0.0, 0.0]


class DriverRecord(Record):
    type: Literal["driver"] = "driver"
    joint: JointName
    motion: Annotated[Motion, Field(description="rad or m")]
    component: Component = 0


class PointDriverRecord(Record):
    type: Literal["point_driver"]
    body: BodyName
    direction: Vector
    motion: Annotated[Motion, Field(description="m")]
    point: Vector = [0.0, 0.0, 0.0]
    reference: BodyName = "ground"
    origin: Vector = [0.0, 0.0, 0.0]


class ForceRecord(Record):
    type: Literal["force"]
    body: BodyName
    force: Annotated[Vector, Field(description="N, times factor(t) if given")]
    point: Annotated[Vector, Field(description="body axes [m]")] = [0.0, 0.0, 0.0]
    frame: Frame = "world"
    factor: Motion | None = None


class TorqueRecord(Record):
    type: Literal["torque"]
    body: BodyName
    torque: Annotated[Vector, Field(description="N m, times factor(t) if given")]
    frame: Frame = "body"
    factor: Motion | None = None


class SpringDamperRecord(Between):
    type: Literal["spring_damper"]
    stiffness: Annotated[Number, Field(description="N/m")]
    damping: Annotated[Number, Field(description="N s/m")] = 0.0
    length: Annotated[Number | None, Field(description="when slack [m]; default: the distance in the model pose")] = None
    points: Annotated[Pair | None, Field(description="ends, body-fixed [m]; default: the centres of mass")] = None


class JointSpringDamperRecord(Record):
    type: Literal["joint_spring_damper"]
    joint: JointName
    stiffness: Annotated[Number, Field(description="N m/rad or N/m")] = 0.0
    damping: Annotated[Number, Field(description="N m s/rad or N s/m")] = 0.0
    law: Literal["coordinate", "rotation-vector", "euler-321"] | None = None
    reference: Annotated[Number, Field(description="rad or m")] = 0.0
    component: Component = 0


class MotorRecord(Record):
    type: Literal["motor"]
    joint: JointName
    effort: Annotated[Motion, Field(description="N m or N")]
    component: Component = 0


BodyUnion = Annotated[
    Annotated[BodyRecord, Tag("body")] | Annotated[PointMassRecord, Tag("point_mass")],
    Discriminator(lambda value: value.get("type", "body") if isinstance(value, Mapping) else "body"),
]
JointUnion = Annotated[
    SphericalRecord | UniversalRecord | RevoluteRecord | CylindricalRecord | PrismaticRecord | PlanarRecord | FixedRecord
    | DistanceRecord | PointOnLineRecord | PointOnPlaneRecord | CoincidenceRecord | PerpendicularRecord | InPlaneRecord
    | RollingSphereRecord | RollingDiscRecord | RollingEllipsoidRecord | SkateRecord,
    Field(discriminator="type"),
]  # fmt: skip
DriverUnion = Annotated[
    Annotated[DriverRecord, Tag("driver")] | Annotated[PointDriverRecord, Tag("point_driver")],
    Discriminator(lambda value: value.get("type", "driver") if isinstance(value, Mapping) else "driver"),
]
ForceUnion = Annotated[
    ForceRecord | TorqueRecord | SpringDamperRecord | JointSpringDamperRecord | MotorRecord,
    Field(discriminator="type"),
]


class ModelFile(Record):
    """A dalembert model: bodies, joints, drivers, forces by name. SI units; positions and velocities in world axes."""

    dalembert: Annotated[Literal[1], Field(description="version of the file format")] = 1
    name: Annotated[str, Field(description="what reports call the model")] = ""
    gravity: Annotated[Vector, Field(description="world axes [m/s^2]")] = [0.0, 0.0, -9.81]
    t_end: Annotated[Number | None, Field(description="suggested end of a run [s]; the command line's default")] = None
    parameters: Annotated[dict[str, Number], Field(description="numbers that expressions may use by name")] = {}
    bodies: dict[str, BodyUnion] = {}
    joints: dict[str, JointUnion] = {}
    drivers: dict[str, DriverUnion] = {}
    forces: dict[str, ForceUnion] = {}


def _tagged(*records: Any) -> dict[str, type[Record]]:
    return {get_args(record.model_fields["type"].annotation)[0]: record for record in records}


RECORDS: dict[str, dict[str, type[Record]]] = {
    "bodies": _tagged(BodyRecord, PointMassRecord),
    "joints": _tagged(*get_args(get_args(JointUnion)[0])),
    "drivers": _tagged(DriverRecord, PointDriverRecord),
    "forces": _tagged(*get_args(get_args(ForceUnion)[0])),
}
PARTS: dict[str, type[Record]] = {**MOTIONS, **SOLIDS, "axis-angle": AxisAngle, "roll-pitch-yaw": RollPitchYaw}


def record_at(place: tuple[str | int, ...]) -> type[Record]:
    """The record that a place of pydantic's errors lies in: ("joints", "A", "revolute", "motion", "harmonic") -> the last."""
    found: type[Record] = ModelFile
    if len(place) > 2 and place[0] in RECORDS:
        found = RECORDS[str(place[0])].get(str(place[2]), found)
        known = PARTS | SHAPES if "shape" in place[3:] else PARTS
        for part in place[3:]:
            found = known.get(str(part), found)
    return found


def json_schema() -> dict[str, Any]:
    """The JSON Schema of model files, for editors."""
    from dalembert.model.model import Model

    schema = ModelFile.model_json_schema()
    for records in RECORDS.values():
        for kind, record in records.items():
            verb = getattr(Model, f"add_{kind}")
            schema["$defs"][record.__name__]["description"] = (verb.__doc__ or "").strip().splitlines()[0]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "dalembert model", **schema}
