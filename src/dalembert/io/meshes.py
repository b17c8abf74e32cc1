"""Mesh files of a model go with its result: copied beside the arrays, named by their content, and read from nowhere else."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dalembert.errors import StoreError
from dalembert.files import read_regular
from dalembert.model.model import Model
from dalembert.model.validation import shown

MAX_BYTES = 100_000_000
FOLDER = "meshes"
_NAME = re.compile(rf"{FOLDER}/([0-9a-f]{{32}}\.(?:stl|obj))")


def portable(data: dict[str, Any]) -> tuple[dict[str, Any], str, dict[str, bytes]]:
    """The data of a model with mesh files by content, their hash, and the files; a mesh that cannot be read is left out."""
    files: dict[str, bytes] = {}
    elements = [
        {**element, "shape": _packed(element["shape"], files)} if isinstance(element.get("shape"), Mapping) else element
        for element in data.get("elements", [])
    ]
    made = {**data, "elements": elements} if "elements" in data else data
    text = json.dumps(made, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return made, hashlib.sha256(text.encode()).hexdigest(), files


def _packed(shape: Mapping[str, Any], files: dict[str, bytes]) -> dict[str, Any] | None:
    made = dict(shape)
    if isinstance(shape.get("parts"), list):
        parts = [_packed(part, files) if isinstance(part, Mapping) else part for part in shape["parts"]]
        made["parts"] = [part for part in parts if part is not None]
    if "file" in shape:
        path = Path(str(shape["file"]))
        suffix = path.suffix.lower()
        try:
            content = read_regular(path, MAX_BYTES)
        except (OSError, ValueError):
            return None
        if suffix not in (".stl", ".obj"):
            return None
        name = hashlib.blake2b(content, digest_size=16).hexdigest() + suffix
        files[name] = content
        made["file"] = f"{FOLDER}/{name}"
    return made


def check_files(where: Path, data: Mapping[str, Any]) -> None:
    """Raise a `StoreError` for a shape that names a file outside the result."""
    for element in data.get("elements") or ():
        if isinstance(element, Mapping) and isinstance(element.get("shape"), Mapping):
            _check_shape(where, str(element.get("name")), element["shape"])


def _check_shape(where: Path, owner: str, shape: Mapping[str, Any]) -> None:
    if "file" in shape and not (isinstance(shape["file"], str) and _NAME.fullmatch(shape["file"])):
        raise StoreError(
            f"{where}: body {owner!r}: shape file is {shown(shape['file'])}, outside the result, which is not read"
        )
    for part in shape["parts"] if isinstance(shape.get("parts"), list) else ():
        if isinstance(part, Mapping):
            _check_shape(where, owner, part)


def with_files(model: Model, place: Path) -> Model:
    """The model with its mesh files found in the place where its result lies; a link to elsewhere raises `StoreError`."""
    made = model.copy()
    for body in model.bodies:
        if body.shape is not None:
            made._elements[body.name] = replace(body, shape=_found(body.shape, place.resolve()))
    return made


def _found(shape: Mapping[str, Any], place: Path) -> dict[str, Any]:
    made = dict(shape)
    if "file" in shape:
        file = place / str(shape["file"])
        if file.resolve() != file:
            raise StoreError(f"{file}: is a link to a file outside the result, which is not read")
        made["file"] = str(file)
    if isinstance(shape.get("parts"), list):
        made["parts"] = [_found(part, place) for part in shape["parts"]]
    return made
