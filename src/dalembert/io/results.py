"""A solution as a result store and back: states and outputs as arrays, everything that explains them as attributes.

A store holds t and x, the outputs that need the equations of motion (so that they are there even when the model has
user functions, which a file cannot hold), the model, the settings, and how the run ended. `load` compiles the model
again but takes every state from the file.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compile import compile
from dalembert.compilation.compiled import Compiled, Coordinates
from dalembert.compilation.lagrangian import LagrangianMechanism
from dalembert.compilation.phases import Phase, next_phase, phase_of_data
from dalembert.errors import AssemblyError, DalembertError, ModelError, SimulationError, StoreError
from dalembert.formulations.evaluation import Evaluated
from dalembert.io.given_model import check_given, gallery_model, missing_forces, missing_functions
from dalembert.io.meshes import check_files, portable, with_files
from dalembert.io.run_record import check_attributes, check_times
from dalembert.io.store import ArrayLayout, StoreWriter, read_store, write_store
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.system import FORMAT, LagrangianSystem
from dalembert.model.model import Model
from dalembert.model.serialise import content_hash
from dalembert.results.lagrangian import LagrangianResult
from dalembert.results.plain import INCOMPLETE
from dalembert.results.solution import BodyResult, Result
from dalembert.results.versions import current_versions
from dalembert.run.ending import STORED, Ending
from dalembert.run.statistics import Statistics

__all__ = ["RunWriter", "read", "save"]


# An append costs about 25 ms whatever its size; more values than this are written early to bound what a crash loses.
_SECONDS_BETWEEN_APPENDS = 1.0
_VALUES_PER_APPEND = 2**19

_STEPS, _ENDING = "watched_", "ending_"
_DIMS = {
    "t": ("time",),
    "x": ("time", "state"),
    "lam": ("time", "row"),
    "acceleration": ("time", "body_velocity"),
    "g": ("time", "monitored_row"),
    "g_dot": ("time", "row"),
    "energy": ("time", "kinetic_potential"),
    "unmet": ("time", "solved_kept"),
}


def save(solution: Result, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a solution as a result store, whole or not at all; see `Solution.save`."""
    arrays = {"t": (_DIMS["t"], solution.t), "x": (_DIMS["x"], solution.x), **_outputs(solution)}
    arrays |= {name: (("time", *_dims(name, values)), values) for name, values in solution.more.items()}
    start, files = _start(solution.mechanism, solution.settings, solution.versions)
    write_store(path, arrays, {**start, **_end(solution), "status": solution.status}, overwrite=overwrite, files=files)


def read(
    path: str | os.PathLike[str],
    *,
    model: Model | LagrangianSystem | None = None,
    made_by: Callable[..., Any] | None = None,
) -> Any:
    """The run in a result store, as `made_by(mechanism, t, x, **record)` makes it; model : see `dalembert.load`."""
    folder = Path(path)
    arrays, attributes, place = read_store(folder)
    check_attributes(folder, attributes)
    try:
        solution = _rebuild(folder, place, {name: values for name, (_, values) in arrays.items()}, attributes, model, made_by)
    except DalembertError:
        raise
    except Exception as problem:  # whatever edited data bring about
        raise StoreError(
            f"{folder}: the stored run cannot be rebuilt ({type(problem).__name__}: {problem}); it was changed after it was"
            " written, or by another version"
        ) from problem
    solution.path = folder
    return solution


class RunWriter:
    """Appends states to a store while a run goes on; what is on disk is always a store that `load` reads.

    It is made before the run, and raises if the path cannot be written.
    more : what is saved beside the states, by name, as arrays of no rows
    """

    def __init__(
        self,
        mechanism: Compiled,
        settings: dict[str, Any],
        path: str | os.PathLike[str],
        overwrite: bool = False,
        more: Mapping[str, Array] | None = None,
    ) -> None:
        layout = {"t": ArrayLayout(), "x": ArrayLayout(_DIMS["x"][1:], (len(mechanism.x_0),))}
        layout |= {name: ArrayLayout(_dims(name, values), values.shape[1:]) for name, values in (more or {}).items()}
        start, files = _start(mechanism, settings, current_versions())
        self._store = StoreWriter(path, layout, start, overwrite=overwrite, files=files)
        self._blocks: dict[str, list[Array]] = {name: [] for name in layout}
        self._broken = False
        self._written = time.monotonic()

    def append(self, t: Array, x: Array, more: Mapping[str, Array] | None = None) -> None:
        """Take states (k,), (k, nx) and what is saved beside them; they reach the disk within about a second of computing."""
        if self._broken:  # `close` writes the solution whole
            return
        for name, block in {"t": t, "x": x, **(more or {})}.items():
            self._blocks[name].append(block)
        late = time.monotonic() - self._written > _SECONDS_BETWEEN_APPENDS
        if late or sum(block.size for blocks in self._blocks.values() for block in blocks) > _VALUES_PER_APPEND:
            self._flush()

    def close(self, solution: Result) -> None:
        """Write what is left, the outputs, and how the run ended."""
        self._flush()
        try:
            if self._broken:  # the disk may be free again, or an interrupt cut an append short
                self._store.abandon()
                save(solution, self._store.path, overwrite=True)
            else:
                self._store.close(solution.status, _end(solution), _outputs(solution))
        except StoreError as problem:
            self._store.abandon()
            raise SimulationError(
                f"the run ended ({solution.status}) but could not be written: {problem};"
                " it is attached: error.solution.save(another_path)",
                solution=solution,
            ) from problem

    def _flush(self) -> None:
        """Append the buffer; a disk that refuses does not end the run, `close` tries again."""
        if self._broken or not self._blocks["t"]:
            return
        self._broken = True  # an interrupt in what follows leaves it so
        blocks, self._blocks = self._blocks, {name: [] for name in self._blocks}
        try:
            self._store.append({name: np.concatenate(parts) for name, parts in blocks.items()})
        except StoreError as problem:
            warnings.warn(f"{problem}; the run goes on and is written again at its end", RuntimeWarning, stacklevel=2)
            return
        self._broken = False
        self._written = time.monotonic()


def _dims(name: str, values: Array) -> tuple[str, ...]:
    """Dimensions after time of an array that a formulation saves beside the states."""
    return tuple(f"{name}_{k}" for k in range(values.ndim - 1))


def _start(mechanism: Compiled, settings: dict[str, Any], versions: dict[str, str]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Attributes known before the run, and the files that go with them."""
    model, model_hash, files = portable((mechanism.whole or mechanism.model).to_dict())
    attributes = {
        "model": model,
        "model_hash": model_hash,
        "coordinates": mechanism.coordinates,
        "x_0": mechanism.x_0,
        "given_at": mechanism.given_at,
        "settings": settings,
        "versions": versions,
        "bodies": mechanism.body_names,
        "rows": mechanism.row_names(),
        "monitored_rows": mechanism.residual_names(),
    }
    return attributes, files


def _end(solution: Result) -> dict[str, Any]:
    """Attributes known after the run."""
    return {
        "statistics": asdict(solution.statistics),
        "message": solution.message,
        "events": solution.events,
        "warnings": solution.warnings,
    }


def _outputs(solution: Result) -> dict[str, tuple[tuple[str, ...], Array]]:
    """The evaluated outputs; none where they cannot be computed, which is said again by who asks for them."""
    made = _watched(solution) | _ending_arrays(solution)
    try:
        evaluated = solution.evaluated
    except DalembertError:
        return made
    return made | {f.name: (_DIMS[f.name], getattr(evaluated, f.name)) for f in fields(Evaluated)}


def _watched(solution: Result) -> dict[str, tuple[tuple[str, ...], Array]]:
    """The steps that the report checks where other states are saved."""
    if solution.watched is None:
        return {}
    t, x, more = solution.watched
    arrays = {"t": t, "x": x, **more}
    return {f"{_STEPS}{name}": (("step", *_dims(f"{_STEPS}{name}", a)), a) for name, a in arrays.items()}


def _ending_arrays(solution: Result) -> dict[str, tuple[tuple[str, ...], Array]]:
    """Where the run ended, with what the next one needs to go on with it."""
    end = solution.ending
    if end is None:
        return {}
    kept = {name: end.kept[name] for name in STORED if name in end.kept}
    arrays = {"x": end.x, "state": end.state, "t": np.array([end.t, end.start]), **kept}
    return {f"{_ENDING}{name}": (_dims(f"{_ENDING}{name}", a[None]), a) for name, a in arrays.items()}


def _ending(arrays: Mapping[str, Array]) -> Ending | None:
    parts = {name.removeprefix(_ENDING): values for name, values in arrays.items() if name.startswith(_ENDING)}
    if not {"t", "x", "state"} <= parts.keys() or parts["t"].shape != (2,):
        return None
    t, start = parts.pop("t").tolist()
    return Ending(t, start, parts.pop("x"), parts.pop("state"), parts)


def _rebuild(
    folder: Path,
    place: Path,
    arrays: Mapping[str, Array],
    attributes: Mapping[str, Any],
    given: Model | LagrangianSystem | None,
    made_by: Callable[..., Any] | None,
) -> Result:
    versions = dict(attributes["versions"])
    mechanism = _recompile(folder, place, attributes, given)
    check_times(folder, arrays["t"])
    _check_shapes(folder, mechanism, arrays)
    t, x = arrays["t"], arrays["x"]
    status, message = attributes["status"], attributes.get("message", "")
    if status == INCOMPLETE:
        end = f"t = {t[-1]:.6g} s" if len(t) else "the start"
        message = f"the run was killed, or is still going: its states are stored up to {end}"
    kind = LagrangianResult if isinstance(mechanism, LagrangianMechanism) else BodyResult
    solution: Result = (made_by or kind)(
        mechanism,
        t,
        x,
        settings=dict(attributes["settings"]),
        statistics=Statistics(**attributes.get("statistics", {})),
        status=status,
        message=message,
        events=tuple((str(name), float(at)) for name, at in attributes.get("events", ())),
        evaluated=_evaluated(arrays),
        versions=versions,
        warnings=tuple(attributes.get("warnings", ())),
        more={n: values for n, values in arrays.items() if n not in _DIMS and not n.startswith((_STEPS, _ENDING))},
    )
    solution.ending = _ending(arrays)
    if mechanism.whole is not None:
        solution.model = mechanism.whole
        solution.phase = phase_of_data(mechanism.whole, attributes["settings"]["phase"])
    steps = {name.removeprefix(_STEPS): values for name, values in arrays.items() if name.startswith(_STEPS)}
    if steps and not missing_forces(mechanism.model):
        solution.watched = steps.pop("t"), steps.pop("x"), steps
    return solution


def _recompile(folder: Path, place: Path, attributes: Mapping[str, Any], given: Model | LagrangianSystem | None) -> Compiled:
    """The mechanism of the stored model, with the stored initial state; raises unless it is the one that ran."""
    wrote = str(attributes["versions"].get("dalembert", "?"))
    fix = f"read it with dalembert {wrote}, which wrote it"
    if wrote == current_versions()["dalembert"]:
        fix = f"this dalembert, {wrote}, wrote it: the file was changed since, or this is an error of dalembert; run it again"
    try:
        data = attributes["model"]
        check_files(folder, data)
        model = LagrangianSystem.from_dict(data) if data.get("format") == FORMAT else Model.from_dict(data)
        if attributes["model_hash"] not in (model.hash, content_hash(data)):  # older data tell defaults that are left out now
            raise StoreError(f"{folder}: the stored model does not match its hash; {fix}")
        if given is not None:
            model = check_given(folder, given, data, attributes["model_hash"])
        elif missing_functions(model) and (known := gallery_model(data, attributes["model_hash"])):
            model = known
        elif missing_functions(model):
            raise StoreError(
                f"{folder}: the run has constraints or motions written as functions, which the file does not hold; in"
                " Python build the model again and give it, load(path, model=...); a page of that, .export_html(page), opens"
                " without them"
            )
        elif isinstance(model, Model):
            model = with_files(model, place)
        kind: Coordinates = "absolute" if isinstance(model, LagrangianSystem) else attributes["coordinates"]
        data_of_phase, t_start = attributes["settings"].get("phase"), float(attributes["settings"].get("t_start", 0.0))
        part = model
        if data_of_phase is not None and isinstance(model, Model):
            part = Phase(phase_of_data(model, data_of_phase).free).of(model)
        mechanism: Any = compile(part, kind, t_start=float(attributes.get("given_at", 0.0)))
    except (ModelError, AssemblyError) as problem:
        raise StoreError(f"{folder}: the stored model does not compile: {problem}; {fix}") from problem
    x_0 = np.asarray(attributes["x_0"], dtype=float)
    x_0.flags.writeable = False
    if data_of_phase is not None and isinstance(model, Model):
        mechanism = next_phase(model, phase_of_data(model, data_of_phase), mechanism, t_start, x_0)
    same_rows = mechanism.row_names() == attributes["rows"]
    if not (same_rows and mechanism.residual_names() == attributes["monitored_rows"]):
        raise StoreError(f"{folder}: the stored model compiles to other constraint rows than those that ran; {fix}")
    made: Compiled = replace(mechanism, x_0=x_0, t_0=t_start)
    return made


def _evaluated(arrays: Mapping[str, Array]) -> Evaluated | None:
    names = [f.name for f in fields(Evaluated)]
    return Evaluated(*(arrays[name] for name in names)) if set(names) <= arrays.keys() else None


def _check_shapes(folder: Path, mechanism: Compiled, arrays: Mapping[str, Array]) -> None:
    m, m_all = mechanism.m, int(mechanism.I[T.M_ALL])
    widths = {"lam": m, "acceleration": mechanism.acceleration_size, "g": m_all, "g_dot": m, "energy": 2}
    expected = {"t": (), "x": (int(mechanism.I[T.NX]),), **{name: (width,) for name, width in widths.items()}}
    for name, values in arrays.items():
        if values.dtype != np.float64:
            raise StoreError(f"{folder}: array '{name}' holds {values.dtype}; a run writes float64")
        if name.startswith(_ENDING):
            if name == f"{_ENDING}x" and values.shape != mechanism.x_0.shape:
                raise StoreError(f"{folder}: array '{name}' has shape {values.shape}, the stored model {mechanism.x_0.shape}")
            continue
        steps = name.startswith(_STEPS)
        width = expected.get(name.removeprefix(_STEPS), values.shape[1:])
        shape = (len(arrays[f"{_STEPS}t" if steps else "t"]), *width)
        if values.shape != shape:
            raise StoreError(f"{folder}: array '{name}' has shape {values.shape}; the stored model needs {shape}")
    if len(mechanism.x_0) != int(mechanism.I[T.NX]):
        raise StoreError(f"{folder}: the initial state does not fit the stored model; run the simulation again")
