"""Values of a model file as the verbs of a model take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import ModelError
from dalembert.model import shapes
from dalembert.model.file.values import MOTION_CLASSES, Record
from dalembert.model.plane import InPlane
from dalembert.model.rotation import Rotation
from dalembert.model.validation import shown


def as_argument(owner: str, key: str, value: Any, folder: Path, plane: str | None) -> Any:
    """A value of the file as the verbs take it;  plane : that the model is told in."""
    if key in ("rotation", "axes") and isinstance(value, Record):
        given = value.model_dump()
        return Rotation.from_rpy(*given["rpy"]) if "rpy" in given else Rotation.from_axis_angle(given["axis"], given["angle"])
    if key == "solid":
        options = {field: getattr(value, field) for field in value.model_fields_set if field != "type"}
        if "file" in options:
            options["file"] = str(_mesh_file(owner, "solid", options["file"], folder))
        if plane and value.type == "rod" and "between" in options and not {"length", "axis"} & options.keys():
            return InPlane(plane).bar(value.mass, options.get("radius", 0.0), [*map(np.array, value.between)]).body()
        return getattr(shapes, value.type)(**options).body()
    if key == "shape":
        return _shape(owner, value, folder)
    return _motion(value) if isinstance(value, Record) else value


def _motion(value: Any) -> Any:
    """A motion, or a number, as Python has it."""
    if not isinstance(value, Record):
        return value
    given = {field: getattr(value, field) for field in type(value).model_fields if field != "type"}
    if "parts" in given:
        given["parts"] = [_motion(part) for part in given["parts"]]
    return MOTION_CLASSES[value.type](**given)  # type: ignore[attr-defined]


def _shape(owner: str, record: Record, folder: Path) -> dict[str, Any]:
    """A shape as the viewer takes it, mesh files found."""
    shape = {field: getattr(record, field) for field in record.model_fields_set}
    if "file" in shape:
        shape["file"] = str(_mesh_file(owner, "shape", shape["file"], folder))
    if "parts" in shape:
        shape["parts"] = [_shape(owner, part, folder) for part in shape["parts"]]
    return shape


def body_arguments(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Mass and inertia from the solid, or as given."""
    solid = given.pop("solid", None)
    if solid is not None and ("mass" in given or "inertia" in given):
        raise ModelError(f"body {name!r}: solid goes without mass and inertia, which follow from it; give one or the other")
    twice = [key for key in ("position", "rotation") if key in given and key in (solid or {})]
    if twice:
        raise ModelError(f"body {name!r}: the solid lies between two points, which say its {twice[0]}; give one or the other")
    missing = [key for key in ("mass", "inertia") if key not in given]
    if solid is None and len(missing) == 1:
        raise ModelError(f"body {name!r}: the key {missing[0]!r} is missing; give mass and inertia, or a solid")
    return {**(solid or {}), **given}


def _mesh_file(owner: str, key: str, file: str, folder: Path) -> Path:
    """A mesh below the model file's folder, symbolic links followed; a model file reaches nothing else."""
    home = folder.resolve()
    try:
        target = (home / file).resolve()
        target.is_file()
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise ModelError(
            f"{owner}: {key} has the mesh file {shown(file)}, which cannot be a name: {why}; give the name of a file"
        ) from None
    if Path(file).is_absolute() or not target.is_relative_to(home):
        raise ModelError(f"{owner}: {key} has the mesh file {shown(file)}; give a path in the model file's folder or below it")
    if not target.is_file():
        raise ModelError(f"{owner}: {key} has the mesh file {shown(file)}, which does not exist in the model file's folder")
    return target
