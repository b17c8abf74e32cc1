"""Model file -> Model: check everything, then `build` it. All problems are found before any is raised."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dalembert.errors import ModelError, UnknownParameter, warn
from dalembert.model.elements import GROUND
from dalembert.model.file.build import add_records
from dalembert.model.file.expression import OF_THE_MOTION, Names, check_name, evaluate
from dalembert.model.file.problems import MAX_PROBLEMS, ModelFileError, Problem, pin_of_several
from dalembert.model.file.schema import CODE, DEFAULT_TYPES, RECORDS, REFERENCES, ModelFile, record_at
from dalembert.model.file.solids import SOLIDS
from dalembert.model.file.syntax import Document, Path_, parse, read_text
from dalembert.model.file.values import MOTION_CLASSES
from dalembert.model.model import Model
from dalembert.model.plane import PLANES
from dalembert.model.store import SECTIONS
from dalembert.model.validation import near, nearest, number, shown

_NOUN = {section: noun for section, (noun, _) in SECTIONS.items()}
MAX_KEYS = 200
_VECTORS = ("position", "velocity", "start", "end", "centre", "point", "points", "at", "between", "force", "origin")


@dataclass(frozen=True)
class FromFile:
    """A model, how long its file suggests to simulate [s], and the names of the file's parameters."""

    model: Model
    t_end: float | None
    parameters: tuple[str, ...]


def read_model(path: str | os.PathLike[str], given: Mapping[str, float] | None = None, *, masses: bool = False) -> FromFile:
    """The model in a YAML file; raises `ModelFileError` with every problem that was found.

    given : values of parameters instead of those in the file;  masses : bodies without are problems
    """
    target = Path(path)
    return read_string(read_text(target), str(target), target.parent, given, masses=masses)


def read_string(
    text: str, name: str, folder: Path, given: Mapping[str, float] | None = None, *, masses: bool = False
) -> FromFile:
    """The model in a YAML text; mesh files are looked for in `folder`."""
    document = parse(text, name)
    if not isinstance(document.data, dict):
        got = "the file is empty" if document.data is None else f"the file holds {shown(document.data)}"
        raise ModelFileError(name, [Problem(1, 1, f"{got}; a model begins with 'bodies:' (see `dalembert new`)")])
    data = {
        key: {} if value is None and key in (*RECORDS, "parameters", "points") else value
        for key, value in document.data.items()
    }
    if given:
        known: Any = data.get("parameters")
        known = known if isinstance(known, dict) else {}
        for key in given:
            if key not in known:
                raise UnknownParameter(f"{name}: has no parameter {key!r}; {nearest(key, known)}", key)
        data["parameters"] = known | {key: number(f"parameter {key!r}", "value", value) for key, value in given.items()}
    checked: dict[str, Any] = {}
    parameters = Names()
    problems = list(islice(_problems(document, data, checked, parameters), MAX_PROBLEMS + 1))
    if problems:
        raise ModelFileError(name, problems)
    model = ModelFile.model_construct(**checked)
    made = Model(model.gravity if "gravity" in model.model_fields_set else None, name=model.name, plane=model.plane)
    add_records(made, document, model, folder)
    if light := [body.name for body in made.bodies if masses and not body.mass]:
        fix = "give a link its mass, another body mass and inertia or a solid (only kinematics goes without)"
        raise ModelFileError(
            name, [document.problem(("bodies", one), f"body {one!r}: has no mass; {fix}", key=True) for one in light]
        )
    for slip in _slips(document, data, made, parameters):
        warn(f"{name}:{slip.line}:{slip.column}: {slip.text}")
    return FromFile(made, model.t_end, tuple(data.get("parameters", ())))


def _slips(document: Document, data: Mapping[str, Any], made: Model, parameters: Names) -> Iterator[Problem]:
    """What is no mistake in a file, but not likely to be meant: its names say otherwise."""
    for name in (name for name in parameters if name in data.get("parameters", {}) and name not in parameters.used):
        text = f"parameter {name!r} is not used: what it is changes nothing"
        yield document.problem(("parameters", name), text, key=True)
    for name, record in data.get("joints", {}).items():
        point = record.get("point")
        if isinstance(point, str) and point != name and name in data.get("points", {}):
            text = f"joint {name!r} is at the point {point!r}, and there is a point {name!r}"
            yield document.problem(("joints", name, "point"), text)
    for body in (body for body in made.bodies if body.name in parameters):
        shape: dict[str, Any] = body.shape or {}
        value, length = parameters[body.name], shape.get("length", 0.0)
        same = (math.isclose(value, size, rel_tol=1e-3) for size in (length, shape.get("radius", 0.0), body.mass))
        if shape.get("type") == "rod" and not any(same):
            text = f"body {body.name!r} is {length:.4g} m long, the parameter of this name is {value:.4g}"
            yield document.problem(("bodies", body.name), text, key=True)


def _problems(document: Document, data: Mapping[str, Any], checked: dict[str, Any], parameters: Names) -> Iterator[Problem]:
    """What is wrong, one after the other, so that a file of a million problems is left after the first hundred.

    checked : takes the parts that are as they must be;  parameters : takes the file's
    """
    yield from _parameters(document, data.get("parameters"), parameters)
    plane = data.get("plane")
    points = data.get("points")
    context = {"parameters": parameters, "plane": "xz" if plane and plane not in PLANES else plane, "points": ()}  # told once
    yield from _points(document, points, context)
    context["points"] = points if isinstance(points, dict) else ()
    checked.update({section: {} for section in RECORDS})
    for key, value in data.items():
        if key in ("parameters", "points"):
            continue
        whole = key not in RECORDS or not isinstance(value, dict)
        for name in (None,) if whole else value:
            part = value if name is None else {name: value[name]}
            if crowded := _crowded(part):
                where, count = crowded
                text = f"{count} keys in one place; no part of a model has more than {MAX_KEYS}"
                yield document.problem((key, *(() if name is None else (name,)), *where), text)
                continue
            try:
                found = getattr(ModelFile.model_validate({key: part}, context=context), key)
            except ValidationError as error:
                yield from _told(document, key, error, context)
                continue
            if name is None:
                checked[key] = found
            else:
                checked[key].update(found)
    yield from _missing_references(document, data)
    yield from _decimal_commas(document, plane)


def _decimal_commas(document: Document, plane: object) -> Iterator[Problem]:
    """Lists of three numbers where two would do, [0,28, 0], that may be two with a comma for a point; without any space, as
    [0,5,0], where others of the file have two."""
    found = [(path, loose, document.at(path)) for path, loose in document.commas.items() if plane]
    pairs = bool(found) and any(_is_vector(path) and len(_plain(document.at(path))) == 2 for path in document.values)
    for path, loose, value in found:
        whole = all(isinstance(part, int) for part in value) and any(value)
        if len(value) == 3 and (loose or (pairs and whole and _is_vector(path))):
            owner, label = _named(path)
            three = "if three numbers are meant, put a space after each comma"
            yield document.problem(path, f"{owner}{label} is {shown(value)}; decimals have a point, not a comma; {three}")


def _is_vector(path: Path_) -> bool:
    """Whether it leads to what two numbers do for in a plane; directions may well be those of the world."""
    return path[:1] == ("points",) or next((key for key in reversed(path) if isinstance(key, str)), "") in _VECTORS


def _plain(value: Any) -> list[Any]:
    """A list without lists in it."""
    return value if isinstance(value, list) and not any(isinstance(part, list) for part in value) else []


def _named(path: Path_) -> tuple[str, str]:
    """What a message calls the element that a path leads into, and the part of it."""
    if path[:1] == ("points",) and len(path) > 1:
        return "", f"point {str(path[1])!r}" + "".join(f"[{k}]" for k in path[2:])
    inside = len(path) > 1 and path[0] in _NOUN
    owner = f"{_NOUN[str(path[0])]} {str(path[1])!r}: " if inside else ""
    return owner, ".".join(map(str, path[2:] if inside else path))


def _told(document: Document, key: str, error: ValidationError, context: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with a part; of a record whose type is not known what is wrong as one of the type that was meant, too."""
    for item in error.errors(include_url=False):
        yield _problem(document, dict(item))
        name, of_record = item["loc"][-1], item["type"] == "union_tag_invalid" and len(item["loc"]) == 2
        meant = _meant(item["ctx"]["tag"], RECORDS[key], item["input"]) if of_record else None
        try:
            ModelFile.model_validate({key: {name: {**item["input"], "type": meant}}} if meant else {}, context=context)
        except ValidationError as inside:
            yield from _told(document, key, inside, context)


def _meant(tag: str, tags: Collection[str], record: object) -> str | None:
    """The type that is spelt most like it, of what has a joint that on joints; None for functions and where none is near."""
    close = None if tag in CODE else near(tag, tags)
    on_joint = f"joint_{close}" if isinstance(record, dict) and "joint" in record else ""
    return on_joint if on_joint in tags else close


def _crowded(part: Any) -> tuple[Path_, int] | None:
    """Where a mapping has more keys than any record, which would be as many problems."""
    level: list[tuple[Path_, Any]] = [((), part)]
    while level:
        below: list[tuple[Path_, Any]] = []
        for path, value in level:
            if isinstance(value, dict):
                if len(value) > MAX_KEYS:
                    return path, len(value)
                below += [((*path, key), item) for key, item in value.items() if isinstance(item, dict | list)]
            elif isinstance(value, list):
                below += [((*path, k), item) for k, item in enumerate(value) if isinstance(item, dict | list)]
        level = below
    return None


def _parameters(document: Document, given: object, values: dict[str, float]) -> Iterator[Problem]:
    """The file's parameters into `values`; each may use those above it."""
    if not isinstance(given, Mapping):
        if given is not None:
            yield document.problem(("parameters",), f"parameters is {shown(given)}; give 'name: number' lines")
        return
    for name, value in given.items():
        try:
            check_name("parameter", name)
            owner = f"parameter {name!r}"
            values[name] = evaluate(value, values) if isinstance(value, str) else number(owner, "value", value)
        except ModelError as problem:
            values.setdefault(name, math.nan)  # its uses are not wrong because of it
            text = f"{'' if str(problem).startswith('parameter') else f'parameter {name!r}: '}{problem}"
            yield document.problem(("parameters", name), text)


def _points(document: Document, given: object, context: dict[str, Any]) -> Iterator[Problem]:
    """The coordinates of the file's points among its parameters, B.x; each may use those above it."""
    for name, value in given.items() if isinstance(given, dict) else ():
        coordinates = [math.nan] * 3  # of one that is wrong: its uses are not, because of it
        try:
            check_name("point", name)
            coordinates = ModelFile.model_validate({"points": {name: value}}, context=context).points[name]
        except ModelError as problem:
            yield document.problem(("points", name), str(problem))
        except ValidationError as error:
            yield from _told(document, "points", error, context)
        context["parameters"] |= {f"{name}.{axis}": x for axis, x in zip("xyz", coordinates, strict=True)}
    if given is not None and not isinstance(given, dict):
        yield document.problem(("points",), f"points is {shown(given)}; give 'name: [x, y, z]' lines")


def _problem(document: Document, error: dict[str, Any]) -> Problem:
    """One of pydantic's errors in our words, at its place."""
    place: tuple[str | int, ...] = error["loc"]
    members = RECORDS.get(str(place[0]), ()) if len(place) > 2 else ()
    if len(members) == 1:  # no union of members, which would say its member here
        place = (*place[:2], *members, *place[2:])
    path = _path_in(document.data, place)
    owner, label = _named(path)
    value, context = error.get("input"), error.get("ctx", {})
    at_key = False
    match error["type"]:
        case "extra_forbidden":
            text, at_key = f"there is no key {str(place[-1])!r}; {_of_key(document.data, place, path)}", True
        case "missing":
            inside = f"{label}: " if label else ""
            text, at_key = f"{inside}the key {str(place[-1])!r} is missing", True
        case "union_tag_not_found":
            text = f"{label}: the key 'type' is missing; give one of {', '.join(_expected(place))}"
            text, at_key = text.removeprefix(": "), True
        case "union_tag_invalid":
            tags = [tag.strip("' ") for tag in context["expected_tags"].split(",")]
            hint = nearest(_meant(context["tag"], tags, value) or context["tag"], tags)
            hint += f"; {OF_THE_MOTION}" * ("harmonic" in tags and hint.startswith("known"))
            text = f"there is no type {context['tag']!r}; {hint}"
            if context["tag"] in CODE:
                text = f"{context['tag']!r} is a Python function, and model files hold no code; build the model in Python"
            text, path = f"{label}: {text}".removeprefix(": "), (*path, "type")
        case "literal_error":
            options = [option.strip("' ") for option in context["expected"].replace(" or ", ", ").split(", ")]
            text = f"{label} is {shown(value)}; {nearest(value, options)}"
        case "too_short" | "too_long":
            wanted = context.get("min_length", context.get("max_length"))
            least = "at least " * (wanted == 1)
            text = f"{label} has {context['actual_length']} entries, {shown(value)}; give {least}{wanted}"
            text += "; decimals have a point, not a comma" * (
                path in document.commas and (wanted == 3 or document.commas[path])
            )
        case "said":
            text = f"{label} {context['text']}"
        case "string_type" if path[0] == "joints" and isinstance(value, list) and len(value) > 1:
            text = f"{label} is {shown(value)}; give one body: {pin_of_several(document.at(path[:-1]), label, value)}"
        case kind:
            got = "empty" if value is None else shown(value)
            text = f"{label} is {got}; give {_WANTED.get(kind, error['msg'])}".lstrip()
    return document.problem(path, owner + text.lstrip(), key=at_key)


def _of_key(data: Any, place: tuple[str | int, ...], path: Path_) -> str:
    """What was meant by a key that there is not."""
    key, known = str(place[-1]), [field for field in record_at(place[:-1]).model_fields if field != "frames"]
    name, colon, value = key.partition(":")
    for part in path[:-1]:
        data = data[part]
    before = list(data)[: list(data).index(key)][-1:]
    if key == "frequency" and "omega" in known:
        return "it is called 'omega', in rad/s as before"
    if len(path) == 3 and key in RECORDS.get(str(place[0]), ()):
        return f"did you mean 'type: {key}'?"
    if len(path) == 1 and (section := next((section for section, noun in _NOUN.items() if noun == key.lower()), None)):
        return f"did you mean {section!r}?"
    if key.isdigit() and data[key] is None and before and isinstance(data[before[0]], int):
        return f"decimals have a point, not a comma: '{before[0]}: {data[before[0]]}.{key}'"
    if colon and name in known:
        return f"a space is missing after the colon: '{name}: {value}'"
    return nearest(key, known)


_WANTED = {
    "dict_type": "'name: ...' lines",
    **dict.fromkeys(("model_type", "model_attributes_type"), "'key: value' lines"),
    "list_type": "a list in [ ]",
    "string_type": "text (a name of digits goes in quotes)",
    "bool_type": "true or false",
    "int_type": "a whole number",
}


def _expected(place: tuple[str | int, ...]) -> list[str]:
    if len(place) == 2 and place[0] in RECORDS:
        return list(RECORDS[str(place[0])])
    return list(SOLIDS) if place[-1] in ("solid", "shape") else list(MOTION_CLASSES)


def _path_in(data: Any, place: tuple[str | int, ...]) -> Path_:
    """pydantic's place without the names of unions' members, which are not in the file."""
    path: list[str | int] = []
    for k, part in enumerate(place):
        if k == 2 and place[0] in RECORDS:
            continue  # the record's type, which may be a key, too
        if (isinstance(data, dict) and part in data) or (isinstance(data, list) and isinstance(part, int) and part < len(data)):
            data = data[part]  # type: ignore[index]
            path.append(part)
    return tuple(path)


def _missing_references(document: Document, data: Mapping[str, Any]) -> Iterator[Problem]:
    """Bodies and joints that elements name and the file does not have."""
    if not all(isinstance(data.get(section, {}), dict) for section in RECORDS):
        return
    names: dict[str, Mapping[str, Any]] = {section: data.get(section, {}) for section in RECORDS}
    known: dict[str, Mapping[str, Any]] = {"body": {**names["bodies"], GROUND: None}, "joint": names["joints"]}
    misspelt = any(key not in ModelFile.model_fields for key in data)  # what is under it is not missing
    lost = {noun for noun, section in (("body", "bodies"), ("joint", "joints")) if misspelt and section not in data}
    for section, kinds in RECORDS.items():
        every = {key: noun for kind in kinds for key, noun in REFERENCES[kind].items()}  # where the type is wrong
        for name, record in names[section].items():
            kind = record.get("type", DEFAULT_TYPES.get(section)) if isinstance(record, dict) else None
            for key, noun in (REFERENCES[kind] if kind in (*kinds,) else every).items() if isinstance(record, dict) else ():
                value, there = record.get(key), known[noun]
                if isinstance(value, str) and value not in there and noun not in lost:
                    owner = f"{_NOUN[section]} {name!r}"
                    text = f"{owner}: there is no {noun} {value!r}; {nearest(value, there)}"
                    yield document.problem((section, name, key), text)
