"""What a model file may hold: one record per verb of `Model`, derived from the verb. The JSON Schema comes from here.

A record's type is the verb without `add_`; its keys are the verb's arguments, so `joints: {A: {type: revolute, ...}}` is
`model.add_revolute("A", ...)`: defaults are those of its signature, kinds of value follow from its annotations (`_VALUES`), and
descriptions are those of its docstring, or of the class that has it. Beside them, bodies take `solid` and joints take `frames`.
A verb that needs a function has no record: files hold no code.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, Union, get_origin

from pydantic import Discriminator, Field, Tag, create_model

from dalembert.model.file import values
from dalembert.model.file.solids import SHAPES, SOLIDS, Shape, Solid
from dalembert.model.file.values import MOTIONS, AxisAngle, Frames, Number, Positive, Record, RollPitchYaw, Vector
from dalembert.model.joints import JOINTS
from dalembert.model.model import Model
from dalembert.model.store import SECTIONS

SCHEMA_FILE = "dalembert-model.schema.json"
VERSION = 2  # until 1, torques were in body axes unless said

JOINT_TYPES = {"planar_joint": "planar"}  # where the verb and the joint type have different names
DEFAULT_TYPES = {"bodies": "body", "drivers": "driver", "markers": "marker"}  # of a record that does not say its type
_BODY, _JOINT = "name of a body, or ground", "name of a joint"
# annotation of an argument -> value in a file; two or three kinds of vectors are told by the name of the argument
_VALUES: dict[str, Any] = {
    "str": str,
    "bool": bool,
    "int": int,
    "float": Number,
    "npt.ArrayLike": Vector,
    "Pair": values.Pair,
    "Plane": values.Pair,
    "Initial": values.Initial | None,
    "MotionLike": values.Motion,
    "Table": values.Motion,
    "Six": values.Six,
    "Frames": values.Frames,
    "Axes": values.Rotation,
    "Rotation": values.BodyRotation,
    "BodyRef": str,
    "JointRef": str,
    "Factors": dict[str, Number],
    "Sequence[float]": list[Number],
    "Sequence[BodyPoint]": list[Annotated[tuple[str, Vector], Field(strict=False)]],  # a file has lists
    "Profile": list[Number],
    "dict[str, object]": Shape,
    "None": None,
}
_BY_NAME: dict[str, Any] = {
    "inertia": values.Inertia,
    **dict.fromkeys(("axes", "vectors"), values.Vectors),
    **dict.fromkeys(("angular_velocity", "torque"), values.Turn),
}
_PLACES = ("position", "start", "end", "centre", "point", "at", "between", "contact")  # of the pose, unless in some axes
_ROTATIONS = (values.Rotation, values.BodyRotation)
_CODE = ("UserFunction", "Parameters", "JointRefs", "Coordinates")  # what no file holds
_ARGUMENT = re.compile(r"(?:^ *|;  )((?:\w+, )*\w+) : ", re.MULTILINE)


def described(text: str | None) -> dict[str, str]:
    """Argument -> what a docstring says of it: lines `a, b : text`, several on one behind `;  `."""
    found: dict[str, str] = {}
    for part in inspect.cleandoc(text or "").split("\n\n"):
        pieces = _ARGUMENT.split(part)
        for names, said in zip(pieces[1::2], pieces[2::2], strict=True):
            found |= dict.fromkeys(names.split(", "), " ".join(said.split()))
    return found


def _verbs() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Section, type and verb of everything that can be added; other names of a verb are left out."""
    for name, verb in (item for cls in Model.__mro__ for item in vars(cls).items()):
        if name.startswith("add_") and verb.__name__ == name:
            verb = inspect.unwrap(verb)
            for word in verb.__annotations__["return"].split(" | "):  # one verb may make a joint or a force
                made = verb.__globals__[word]
                yield next(section for section, (_, cls) in SECTIONS.items() if issubclass(made, cls)), name[4:], verb


def _argument(verb: Callable[..., Any], parameter: inspect.Parameter, place: bool) -> Any:
    """What a file may give for an argument, None where only code would do;  place : whether it is a point of the pose"""
    parts = [part for part in parameter.annotation.split(" | ") if part not in _CODE]
    kinds = []
    for part in parts:
        alias = verb.__globals__.get(part)
        kinds.append(alias if get_origin(alias) is Literal else _VALUES[part])
    if place:
        of_pose: dict[Any, Any] = {Vector: values.Place, values.Pair: values.Places}
        kinds = [of_pose.get(kind, kind) for kind in kinds]
    turned = any(kind in _ROTATIONS for kind in kinds)
    if parameter.name in _BY_NAME and not turned and kinds[0] is not Number:
        kinds[0] = _BY_NAME[parameter.name]
    if values.Motion in kinds or turned:  # which numbers and vectors are, too
        kinds = [kind for kind in kinds if kind not in (Number, Vector)]
    return Union[tuple(kinds)] if any(kind is not None for kind in kinds) else None  # noqa: UP007


def _plain(value: Any) -> Any:
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _record(kind: str, verb: Callable[..., Any]) -> type[Record] | None:
    """The record of a verb."""
    owner = next(cls for cls in Model.__mro__ if verb.__name__ in vars(cls))
    said, shared = described(verb.__doc__), described(owner.__doc__)
    row = JOINTS.get(JOINT_TYPES.get(kind, kind))
    framed = row is not None and row.framed
    fields: dict[str, Any] = {"type": (Literal[kind], kind if kind in DEFAULT_TYPES.values() else ...)}
    for parameter in list(inspect.signature(verb).parameters.values())[2:]:
        key, needed = parameter.name, parameter.default is parameter.empty
        fixed = {"BodyRef": _BODY, "JointRef": _JOINT}.get(parameter.annotation)
        text = said.get(key) or (fixed if key in ("first", "second") else shared.get(key, fixed))
        value = _argument(verb, parameter, key in _PLACES and "axes" not in str(text))
        if value is None:
            if needed:
                return None
            continue
        # frames say what axes would, and solids what masses would
        if needed and ((framed and fixed is None) or (kind == "body")):
            value, needed = value | None, False
        default = ... if needed else _plain(None if parameter.default is parameter.empty else parameter.default)
        fields[key] = (Annotated[value, Field(description=text)], default)
    if framed:
        text = "exact joint frames as 3x3 in the axes of each body, columns x, y, z; `to_yaml` writes them where it has to"
        fields["frames"] = (Annotated[Frames | None, Field(description=text)], None)
    if kind == "body":
        text = "a homogeneous solid: sets mass, inertia and shape"
        fields["solid"] = (Annotated[Solid | None, Field(description=text)], None)
    name = "".join(word.capitalize() for word in kind.split("_")) + "Record"
    summary = inspect.cleandoc(verb.__doc__ or "").partition("\n")[0]
    made: type[Record] = create_model(name, __base__=Record, __doc__=summary, **fields)
    return made


def _records() -> tuple[dict[str, dict[str, type[Record]]], dict[str, dict[str, str]], set[str]]:
    """Section -> type -> record; type -> key -> "body" or "joint" that the key names; types that only code has."""
    records: dict[str, dict[str, type[Record]]] = {section: {} for section in SECTIONS}
    names: dict[str, dict[str, str]] = {}
    code = set()
    for section, kind, verb in _verbs():
        record = _record(kind, verb)
        if record is None:
            code.add(kind)
            continue
        records[section][kind] = record
        nouns = {"BodyRef": "body", "JointRef": "joint"}
        names[kind] = {key: nouns[a] for key, a in verb.__annotations__.items() if a in nouns}
    return records, names, code


RECORDS, REFERENCES, CODE = _records()
PARTS: dict[str, type[Record]] = {**MOTIONS, **SOLIDS, "axis-angle": AxisAngle, "roll-pitch-yaw": RollPitchYaw}


class _Head(Record):
    dalembert: Annotated[Literal[1, 2], Field(description="version of the file format")] = 2
    name: Annotated[str, Field(description="what reports call the model")] = ""
    gravity: Annotated[Vector, Field(description="world axes [m/s^2]")] = [0.0, 0.0, -9.81]
    plane: Annotated[
        Literal["xy", "xz", "yz"] | None,
        Field(description="runs are in planar coordinates, vectors may have two numbers; gravity: along its second axis"),
    ] = None
    t_end: Annotated[Positive | None, Field(description="suggested end of a run [s]; the command line's default")] = None
    parameters: Annotated[dict[str, Number], Field(description="numbers that expressions may use by name")] = {}
    points: Annotated[
        dict[str, Vector],
        Field(description="of the model pose [m], for every key that takes one; in expressions B.x, B.y, B.z are coordinates"),
    ] = {}


def _section(section: str) -> Any:
    """Name -> one of the section's records."""
    records, default = RECORDS[section], DEFAULT_TYPES.get(section)
    if default is None:
        return dict[str, Annotated[Union[tuple(records.values())], Field(discriminator="type")]]  # type: ignore[misc]  # noqa: UP007
    if len(records) == 1:  # pydantic 2.9 to 2.12 takes no union of one
        return dict[str, next(iter(records.values()))]  # type: ignore[misc]
    tagged = tuple(Annotated[record, Tag(kind)] for kind, record in records.items())
    chosen = Discriminator(lambda value: value.get("type", default) if isinstance(value, Mapping) else default)
    return dict[str, Annotated[Union[tagged], chosen]]  # type: ignore[valid-type]  # noqa: UP007


_DOC = "A dalembert model: its elements by name. SI units; positions and velocities in world axes."
_sections: dict[str, Any] = {section: (_section(section), {}) for section in SECTIONS}
ModelFile: Any = create_model("ModelFile", __base__=_Head, __doc__=_DOC, **_sections)


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
    schema: dict[str, Any] = ModelFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "dalembert model", **schema}
