"""What a model file says, checked, -> Model: each record calls its verb, and problems are told at their lines."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from dalembert.errors import ModelError
from dalembert.model.elements import Joint
from dalembert.model.file.arguments import as_argument, body_arguments
from dalembert.model.file.problems import MAX_PROBLEMS, ModelFileError, Problem
from dalembert.model.file.schema import JOINT_TYPES, RECORDS, REFERENCES, described
from dalembert.model.file.syntax import Document
from dalembert.model.file.values import Record
from dalembert.model.joint_verbs import ORIGINS
from dalembert.model.joints import JOINTS
from dalembert.model.model import Model
from dalembert.model.rotation import ORTHOGONAL
from dalembert.model.store import SECTIONS
from dalembert.model.validation import numbers, vector


def add_records(model: Model, document: Document, checked: Any, folder: Path) -> None:
    """Call the verb of each record; one that fails takes those with it that refer to it, not the others."""
    problems: list[Problem] = []
    broken: set[str] = set()
    for section in RECORDS:
        for name, record in getattr(checked, section).items():
            given = {key: getattr(record, key) for key in record.model_fields_set}
            if any(given.get(key) in broken for key in REFERENCES[record.type]):
                broken.add(name)
                continue
            try:
                if checked.dalembert == 1 and record.type == "torque" and "frame" not in given:
                    raise ModelError(f"torque {name!r}: frame is missing; version 1 meant body axes, say so: frame: body")
                add_record(model, name, record, given, folder)
            except ModelError as problem:
                broken.add(name)
                problems.append(_build_problem(document, section, name, given, str(problem)))
                if len(problems) > MAX_PROBLEMS:
                    raise ModelFileError(document.name, problems) from None
    if problems:
        raise ModelFileError(document.name, problems)


def _build_problem(document: Document, section: str, name: str, given: Mapping[str, Any], text: str) -> Problem:
    """A verb's complaint, at the key it speaks of."""
    about = text.partition(": ")[2].replace("[", " ").split()
    key = about[0].rstrip(":=") if about else ""
    if key in given:
        return document.problem((section, name, key), text)
    text = text if repr(name) in text else f"{SECTIONS[section][0]} {name!r}: {text}"
    return document.problem((section, name), text, key=True)


def add_record(model: Model, name: str, record: Record, given: dict[str, Any], folder: Path) -> None:
    """model.add_<type>(name, **given)."""
    kind = str(getattr(record, "type"))  # noqa: B009
    given.pop("type", None)
    if given.get("frames") is not None and JOINT_TYPES.get(kind, kind) in JOINTS:
        _add_by_frames(model, name, JOINT_TYPES.get(kind, kind), given)
        return
    verb = getattr(Model, f"add_{kind}")
    for key, parameter in list(signature(verb).parameters.items())[2:]:
        if kind != "body" and parameter.default is parameter.empty and given.get(key) is None:
            raise ModelError(f"{kind} {name!r}: got no {key}; give {key}: {described(verb.__doc__).get(key, key)}")
    arguments = {
        key: as_argument(f"{kind} {name!r}", key, value, folder, model.plane)
        for key, value in given.items()
        if value is not None
    }
    if kind == "body":
        arguments = body_arguments(name, arguments)
    getattr(model, f"add_{kind}")(name, **arguments)


def _add_by_frames(model: Model, name: str, kind: str, given: dict[str, Any]) -> Joint:
    """A joint by its exact frames, as `to_yaml` writes those that no shorter form gives back bit for bit."""
    owner, i, j = model._start(name, kind, given["first"], given["second"])
    others = [key for key in ("point", "axis", "axes", "vectors", "direction") if given.get(key) is not None]
    if others:
        raise ModelError(f"{owner}: frames says all that {others[0]} could; give one of them")
    points = given.get("points", ORIGINS if kind == "perpendicular" else None)
    if points is None:
        raise ModelError(f"{owner}: frames goes with points; give the joint point in the axes of each body")
    frames = tuple(numbers(owner, "frames", E, (3, 3)) for E in given["frames"])
    for E in frames:
        error = float(abs(E.T @ E - [[1, 0, 0], [0, 1, 0], [0, 0, 1]]).max())
        if error > ORTHOGONAL:
            raise ModelError(f"{owner}: frames misses orthogonality by {error:.2g}; give orthonormal right-handed axes")
    place = tuple(vector(owner, "points", p) for p in points)
    values = given.get("coordinate"), given.get("rate")
    return model._finish(
        name, kind, i, j, (place[0], place[1]), (frames[0], frames[1]), *values, offset=given.get("offset", 0.0)
    )
