"""Model -> model file that reads back bit for bit: each element in the shortest of its forms that does."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.files import written_whole
from dalembert.model.cables import cable_points
from dalembert.model.editing import arguments_of, owner_of
from dalembert.model.elements import GROUND, Body, Driver, Force, Joint, Marker
from dalembert.model.file.build import add_record
from dalembert.model.file.plane_forms import as_link, flat_vector, in_plane
from dalembert.model.file.read import read_string
from dalembert.model.file.schema import DEFAULT_TYPES, JOINT_TYPES, RECORDS, SCHEMA_FILE, VERSION
from dalembert.model.file.values import MOTION_CLASSES
from dalembert.model.frames import rotation_matrix, world_point
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Function, Motion, leaves
from dalembert.model.plane import InPlane
from dalembert.model.serialise import encode
from dalembert.model.store import Element
from dalembert.model.validation import shown

Data = dict[str, Any]

_DIGITS = 12  # of positions and directions that are tried before the exact ones
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*( [A-Za-z0-9_(-][A-Za-z0-9_()-]*)*")
_WORDS = {"null", "true", "false"}
_VERBS = {kind: verb for verb, kind in JOINT_TYPES.items()}
_MOTION_TYPES = {cls: name for name, cls in MOTION_CLASSES.items()}


def write_model(model: Model, path: str | os.PathLike[str], *, t_end: float | None = None) -> None:
    """Write a model file whole or not at all; t_end : suggested end of a run [s]."""
    target = Path(path)
    text = model_text(model, target.parent, t_end=t_end)
    if read_string(text, str(target), target.parent).model.hash != model.hash:
        raise ModelError(f"{target}: the model would not read back exactly; please report this")
    with written_whole(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def model_text(model: Model, folder: Path, *, t_end: float | None = None) -> str:
    """The YAML text; mesh files are written relative to `folder`."""
    head: Data = {"dalembert": VERSION, "name": model.name, "gravity": model.gravity.tolist()}
    if model.plane is not None:
        head |= {"plane": model.plane, "gravity": flat_vector(InPlane(model.plane), head["gravity"])}
    if t_end is not None:
        head["t_end"] = float(t_end)
    lines = [f"# yaml-language-server: $schema={SCHEMA_FILE}", "# SI units: m, kg, s, rad, N"]
    lines += [f"{key}: {_flow(value)}" for key, value in head.items()]
    for section in RECORDS:
        elements: tuple[Element, ...] = getattr(model, section)
        if elements:
            lines += ["", f"{section}:"]
        for element in elements:
            lines.append(f"  {_flow(element.name)}:")
            lines += [f"    {key}: {_flow(value)}" for key, value in _shortest(model, section, element, folder).items()]
    return "\n".join(lines) + "\n"


def _shortest(model: Model, section: str, element: Element, folder: Path) -> Data:
    """The first form of an element that builds it again exactly."""
    wanted = _text(element)
    others = {name: other for name, other in model._elements.items() if name != element.name}
    for data in _shorter_first(model, element, folder):
        scratch = Model(model.gravity, plane=model.plane)
        scratch._elements = {name: other for name, other in others.items() if not isinstance(other, Driver)}
        try:
            record = RECORDS[section][data["type"]].model_validate(data, context={"plane": model.plane})
            add_record(scratch, element.name, record, {key: getattr(record, key) for key in data}, folder)
        except (ModelError, ValidationError):
            continue
        if _text(scratch._elements[element.name]) == wanted:
            return {key: value for key, value in data.items() if key != "type" or value != DEFAULT_TYPES.get(section)}
    raise ModelError(f"{owner_of(element)}: a model file cannot hold it; {_why(element)}")


# what does the same without code
_INSTEAD = {
    **dict.fromkeys(("force", "torque"), "give a vector and a factor"),
    **dict.fromkeys(("cam_flat", "cam_roller"), "give its values at equal steps of a turn"),
    "motor": "give a number or a motion",
    "spring_damper": "give a table of lengths or rates",
    "coupling": "give factors",
}


def _why(element: Element) -> str:
    motions = list(getattr(element, "motions", ()))
    motions += [row.motion for row in (*getattr(element, "primitives", ()), getattr(element, "primitive", None)) if row]
    if any(isinstance(leaf, Function) for motion in motions for leaf in leaves(motion)):
        return (
            "it follows a Python function of t, and model files hold no code: give it as harmonic, polynomial, table, sum or"
            " product, or build the model in Python"
        )
    if isinstance(element, Force) or any(row.function for row in getattr(element, "primitives", ())):
        kind = getattr(element, "verb", None) or getattr(element, "type", "")
        instead = _INSTEAD.get(str(kind))
        given = f"{instead}, or " if instead else ""
        return f"it is a Python function, and model files hold no code: {given}build the model in Python"
    if isinstance(element, Joint):
        return "its plane on a moving body does not read back exactly; put it on the ground, or build the model in Python"
    shape = getattr(element, "shape", None)
    return (
        f"its shape is {shown(shape)}; use one of the solids' shapes, or a mesh in the file's folder" if shape else "its data"
    )


def _text(element: Element) -> str:
    return json.dumps(encode(element), sort_keys=True)


def _shorter_first(model: Model, element: Element, folder: Path) -> Iterator[Data]:
    """Each form, in a plane in numbers of the plane before it is in those of space."""
    for data in _forms(model, element, folder):
        if model.plane is not None:
            yield from in_plane(InPlane(model.plane), data)
        yield data


def _forms(model: Model, element: Element, folder: Path) -> Iterator[Data]:
    match element:
        case Body():
            plane = None if model.plane is None else InPlane(model.plane)
            yield from as_link(element, _body(element, folder), plane)
            yield _body(element, folder)
        case Joint() if element.type == "skate" or element.type.startswith("rolling"):
            yield from _on_plane(model, element)
        case Joint() if element.type in ("coupling", "cable", "cam_flat", "cam_roller"):
            if all(row.function is None for row in element.primitives):
                yield _coupling(model, element)
        case Joint() if element.type != "user":
            yield from _joint(model, element)
        case Driver():
            yield _driver(model, element)
        case Marker() | Force(function=None):
            yield _arguments(element)


def _arguments(element: Force | Marker) -> Data:
    """What its verb was given, without what is the default."""
    defaults = signature(getattr(Model, f"add_{element.verb}")).parameters
    data: Data = {"type": element.verb}
    for key, value in arguments_of(element).items():
        if key != "parameters":  # of a function
            data |= _unless(key, _plain(value), _plain(defaults[key].default))
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Motion):
        return _motion(value)
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _unless(key: str, value: Any, default: Any) -> Data:
    """{key: value}, or nothing where it is the default; -0.0 is not 0.0."""
    return {} if repr(value) == repr(default) else {key: value}


def _body(body: Body, folder: Path) -> Data:
    rigid = body.kind == "rigid"
    data: Data = {"type": "body" if rigid else "point_mass", **({"mass": body.mass} if body.mass else {})}
    if rigid and body.mass:
        diagonal = np.array_equal(body.inertia, np.diag(np.diag(body.inertia)))
        data["inertia"] = (np.diag(body.inertia) if diagonal else body.inertia).tolist()
    data["position"] = body.position.tolist()
    if rigid:
        data |= _unless("rotation", body.rotation.tolist(), [1.0, 0.0, 0.0, 0.0])
    if body.given[0]:
        data["velocity"] = body.velocity.tolist()
    if rigid and body.given[1]:
        data["angular_velocity"] = body.angular_velocity.tolist()
    if body.shape is not None:
        data["shape"] = _shape(body.shape, folder)
    return data | _unless("fixed", body.fixed, False)


def _shape(shape: Mapping[str, Any], folder: Path) -> Data:
    """The shape with mesh files relative to the model file's folder."""
    data = dict(sorted(shape.items(), key=lambda item: (item[0] != "type", item[0])))
    home, file = folder.resolve(), Path(str(shape.get("file", "")))
    if shape.get("type") == "mesh" and file.is_relative_to(home):
        data["file"] = file.relative_to(home).as_posix()
    if isinstance(shape.get("parts"), list):
        data["parts"] = [_shape(part, folder) for part in shape["parts"]]
    return data


def _joint(model: Model, joint: Joint) -> Iterator[Data]:
    """World point and axis, short and exact; then body-fixed points, with the axis or axes; then the frames themselves."""
    i, j = model.body(joint.first), model.body(joint.second)
    head: Data = {"type": _VERBS.get(joint.type, joint.type), "first": joint.first, "second": joint.second}
    tail: Data = {}
    for key, values in (("coordinate", joint.coordinate), ("rate", joint.rate)):
        if any(value is not None for value in values):
            tail[key] = values[0] if len(values) == 1 else list(values)
    points: Data = {"points": [joint.p_i.tolist(), joint.p_j.tolist()]}
    row = joint.primitives[0]
    if joint.type == "distance":
        yield {**head, **points, "length": row.offset if row.motion is None else _motion(row.motion)}
    if joint.type in ("in_plane", "perpendicular"):
        a_i, a_j = joint.E_i[:, 2].tolist(), joint.E_j[:, 2].tolist()
        points = points if joint.type == "in_plane" else {}
        tail = {"offset": row.offset} if joint.type == "in_plane" else {}
        yield {**head, **points, **({"direction": a_i} if points else {"axes": [a_i, a_j]}), **tail}
    world = [rotation_matrix(b) @ E for b, E in ((i, joint.E_i), (j, joint.E_j))]
    for place in (world_point(i, joint.p_i), world_point(j, joint.p_j)):
        for near in (_near, np.ndarray.tolist):
            directions = _world_directions(joint, world, near)
            yield {**head, "point": near(place), **directions, **tail}
    yield {**head, **points, **_world_directions(joint, world, _near), **tail}
    yield {**head, **points, **_body_directions(joint), **tail}
    yield {**head, **points, "frames": [joint.E_i.tolist(), joint.E_j.tolist()], **tail}


def _on_plane(model: Model, joint: Joint) -> Iterator[Data]:
    """Rolling and skates: the plane in world coordinates, short and exact."""
    carrier, row, centre = model.body(joint.first), joint.primitives[0], joint.p_j.tolist()
    of_type: dict[str, Data] = {
        "rolling_sphere": {"radius": row.offset, "centre": centre},
        "rolling_disc": {"radius": row.offset, "axis": row.a_j.tolist(), "centre": centre},
        "rolling_ellipsoid": {"semi_axes": row.a_j.tolist(), "centre": centre},
        "skate": {"direction": row.a_j.tolist(), "point": centre},
    }
    head = {"type": joint.type, "body": joint.second, **of_type[joint.type]}
    for near in (_near, np.ndarray.tolist):
        plane = [near(world_point(carrier, joint.p_i)), near(rotation_matrix(carrier) @ joint.E_i[:, 2])]
        yield {**head, "plane": plane, **_unless("on", joint.first, GROUND)}


def _coupling(model: Model, joint: Joint) -> Data:
    """Couplings, cables and cams, whose data are their bodies' own."""
    row = joint.primitives[0]
    if joint.type == "coupling":
        found = [(model.joint(name), component) for name, component in joint.coupled]
        names = [j.name if len(j.coordinates) == 1 else f"{j.name}.{j.coordinates[component]}" for j, component in found]
        return {"type": "coupling", "relation": dict(zip(names, row.numbers[::10], strict=True)), "offset": row.offset}
    if joint.type == "cable":
        points = [[body, point.tolist()] for body, point in cable_points(joint)]
        return {"type": "cable", "points": points, "length": row.offset}
    values = list(row.numbers)
    given: Data = {"support": values, "normal": row.a_j.tolist()} if joint.type == "cam_flat" else {"pitch": values}
    head = {"type": "cam", "cam": joint.first, "follower": joint.second, **given, "point": row.p_j.tolist()}
    return {**head, "centre": row.p_i.tolist(), "axis": row.n_i.tolist(), "zero": row.a_i.tolist()}


def _near(v: Array) -> list[float]:
    return [float(x) for x in np.round(v, _DIGITS) + 0.0]


def _world_directions(joint: Joint, world: list[Array], near: Any) -> Data:
    if joint.type == "universal":
        return {"axes": [near(world[0][:, 0]), near(world[1][:, 1])]}
    return {} if joint.type in ("spherical", "fixed") else {"axis": near(world[0][:, 2])}


def _body_directions(joint: Joint) -> Data:
    match joint.type:
        case "spherical" | "fixed" | "coincidence":
            return {}
        case "universal":
            return {"axes": [joint.E_i[:, 0].tolist(), joint.E_j[:, 1].tolist()]}
        case "point_on_line" | "point_on_plane":
            return {"axes": [joint.E_i[:, 2].tolist()]}
    return {"axes": [joint.E_i[:, 2].tolist(), joint.E_j[:, 2].tolist()]}


def _driver(model: Model, driver: Driver) -> Data:
    row = driver.primitive
    motion = _number_or_motion(row.motion or Constant(0.0))
    if driver.joint is not None:
        component = model.joint(driver.joint).coordinates.index(row.labels[0])
        return {"type": "driver", "joint": driver.joint, "motion": motion, **_unless("component", component, 0)}
    return {
        **{"type": "point_driver", "body": driver.second, "direction": row.a_i.tolist(), "motion": motion},
        **_unless("point", row.p_j.tolist(), [0.0, 0.0, 0.0]),
        **_unless("reference", driver.first, GROUND),
        **_unless("origin", row.p_i.tolist(), [0.0, 0.0, 0.0]),
    }


def _number_or_motion(motion: Motion) -> Any:
    return motion.value if isinstance(motion, Constant) else _motion(motion)


def _motion(motion: Motion) -> Data:
    data: Data = {"type": _MOTION_TYPES.get(type(motion), "function")}  # of which files have none
    for item in fields(motion):
        value = getattr(motion, item.name)
        if item.name == "parts":
            value = [_number_or_motion(part) for part in value]
        data |= _unless(item.name, list(value) if isinstance(value, tuple) else value, item.default)
    return data


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        short = value.is_integer() and abs(value) < 1e15 and repr(value) != "-0.0"
        return str(int(value)) if short else repr(value)
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f]", lambda match: f"\\x{ord(match[0]):02x}", quoted)
