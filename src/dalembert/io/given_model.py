"""A model given to `load` in place of the stored one: the same in everything but user functions, which a file cannot hold."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from dalembert.errors import StoreError
from dalembert.io.meshes import portable
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model
from dalembert.model.motions import Function, leaves
from dalembert.model.serialise import MissingFunction, is_function_record


def check_given(where: object, given: object, stored: Mapping[str, Any], stored_hash: str) -> Model | LagrangianSystem:
    """The given model, if it is the one that ran; warns when its functions read otherwise than those that ran."""
    if not isinstance(given, Model | LagrangianSystem):
        raise StoreError(f"{where}: model is {given!r}; give the Model or LagrangianSystem that was simulated")
    data, given_hash, _ = portable(given.to_dict())
    if given_hash == stored_hash:
        return given
    if data.get("format") != stored.get("format"):
        raise StoreError(f"{where}: the run is of another kind of model than {given!r}; give the model that was simulated")
    changed = []
    for path, mine, theirs in _differences("", data, stored):
        if not (is_function_record(mine) and is_function_record(theirs)):
            raise StoreError(
                f"{where}: the given model is not the one that ran: {path} is {_short(mine)}, stored {_short(theirs)};"
                " build it with the same numbers, only functions may be given again"
            )
        if mine.get("source") != theirs.get("source") or mine.get("constants") != theirs.get("constants"):
            changed.append(path)
    if changed:
        warnings.warn(
            f"{where}: the functions at {', '.join(changed)} read otherwise than those that ran; saved outputs are those of the"
            " run, dense output is by the given functions",
            RuntimeWarning,
            stacklevel=4,
        )
    return given


def gallery_model(stored: Mapping[str, Any], stored_hash: str) -> Model | None:
    """The gallery's model that ran, if it is one of these: the same in everything, functions included."""
    from dalembert.gallery import GALLERY

    for entry in GALLERY.values():
        model = entry.build()
        if isinstance(model, Model) and model.name == stored.get("name") and model.hash == stored_hash:
            return model
    return None


def missing_functions(model: Model | LagrangianSystem) -> bool:
    """Whether a constraint or a motion of the model needs a function that a file could not hold."""
    if not isinstance(model, Model):
        return False
    rows = [*(row for joint in model.joints for row in joint.primitives), *(driver.primitive for driver in model.drivers)]
    motions = [*(row.motion for row in rows), *(motion for f in model.forces for motion in f.motions)]
    of_time = (leaf.function for motion in motions for leaf in leaves(motion) if isinstance(leaf, Function))
    return any(isinstance(function, MissingFunction) for function in (*(row.function for row in rows), *of_time))


def missing_forces(model: Model | LagrangianSystem) -> bool:
    """Whether a force of the model is such a function: what the store does not hold cannot be evaluated then."""
    forces = model.forces if isinstance(model, Model) else ()
    return any(isinstance(force.function, MissingFunction) for force in forces)


def _differences(path: str, a: Any, b: Any) -> Iterator[tuple[str, Any, Any]]:
    """Where two trees of plain data differ; function records count as leaves."""
    if is_function_record(a) or is_function_record(b):
        if a != b:
            yield path, a, b
    elif isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() == b.keys():
        for key in a:
            yield from _differences(f"{path}.{key}" if path else str(key), a[key], b[key])
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for k, (one, other) in enumerate(zip(a, b, strict=True)):
            name = one.get("name") if isinstance(one, Mapping) else None
            yield from _differences(f"{path}[{k if name is None else repr(name)}]", one, other)
    elif a != b:
        yield path, a, b


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
