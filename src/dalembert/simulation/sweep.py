"""Sweeps: many runs into a store that survives what interrupts them, and the store as a dataset that is read on demand."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dalembert.compilation.user_functions import content
from dalembert.errors import DalembertError, ModelError, StoreError
from dalembert.io.column import as_bytes
from dalembert.io.lock import FolderLock
from dalembert.io.sweep_store import SweepStore, create_sweep, is_sweep, moved_aside
from dalembert.model.model import Model
from dalembert.model.references import references
from dalembert.model.validation import nearest, shown
from dalembert.results.html_parts import runs_html, table
from dalembert.results.plain import encode
from dalembert.results.signal_names import OVER_TIME, meant
from dalembert.results.versions import current_versions
from dalembert.run.progress import Progress, ProgressFunction
from dalembert.run.settings import to_data
from dalembert.simulation.parameters import RUN, Table
from dalembert.simulation.start import as_compiled
from dalembert.simulation.sweep_block import PER_RUN, STATES, STATUS, Job, Outputs, layouts
from dalembert.simulation.sweep_drive import Drive

if TYPE_CHECKING:
    import xarray

    from dalembert.plot.sweeps import SweepPlots

Array = npt.NDArray[Any]
BLOCK = 256  # runs that are read together
_TOLD = 6  # outputs
_MOST_READ = 1_000_000  # numbers of an output, for what a notebook shows
_LOOKED_AT = 8  # runs, spread over the sweep, whose models go into the hash of the settings; the first that runs tells shapes


def run_sweep(
    model: Any,
    t_end: float,
    table: Table,
    dims: Mapping[str, int],
    *,
    out: str | os.PathLike[str],
    outputs: Any,
    client: Any,
    block: int,
    overwrite: bool,
    times: Array,
    threads: int | None,
    progress: bool | ProgressFunction | None,
    options: dict[str, Any],
) -> Sweep:
    """What `simulate_many(..., out=...)` does. table : parameters by name, or starts under the name ""; dims : of a grid"""
    if isinstance(block, bool) or not isinstance(block, int) or block < 1:
        raise ModelError(f"block is {shown(block)}; give a positive whole number of runs")
    path, runs = Path(out), len(next(iter(table.values())))
    if "" in table and not callable(model):
        model = as_compiled(model, options["coordinates"], options["formulation"])  # once, not in every block
    job = Job(model, t_end, times, named_outputs(outputs, table), options, path.absolute())
    _check_names(job, table)
    settings = _settings(job, table, dims, block)
    hash = hashlib.sha256(json.dumps(encode(settings), sort_keys=True).encode()).hexdigest()
    free = not os.path.lexists(path) or (path.is_dir() and not os.listdir(path))
    store = None if free else _same(path, hash, settings, overwrite)
    if store is None:
        kinds, name = _first_look(job, table)
        columns = {name: ((RUN, *(f"{name}_{k}" for k in range(values.ndim - 1))), values) for name, values in table.items()}
        columns = {name or "initial_states": column for name, column in columns.items()} | {"time": (("time",), times)}
        about = {"model": name, "dims": dict(dims), "parameters": [n for n in table if n], "versions": current_versions()}
        with moved_aside(path):
            store = create_sweep(path, runs, block, columns, kinds, settings, hash, about)
    lock = FolderLock(path)
    try:
        store.remove_partial()
        store.unmark_broken()
        drive = Drive(job, store, table, client, threads)
        with Progress(progress, "sweeping", "{task.completed:.0f} of {task.total:.0f} runs") as bar:
            finished = drive.go(bar)
        if finished:
            store.remove_partial()  # of workers that were killed on the way
    finally:
        lock.release()
    return Sweep(path, interrupted=not finished)


def named_outputs(outputs: Any, table: Mapping[str, Any]) -> Outputs:
    """Outputs by name: signals have theirs, functions that of their definition, or that of a dict."""
    if outputs is None:
        named: Outputs = dict.fromkeys(STATES)
    elif isinstance(outputs, Mapping):
        named = dict(outputs)
    elif isinstance(outputs, str) or not isinstance(outputs, Sequence):
        raise ModelError(f"outputs are {shown(outputs)}; give a list of signals and functions, or a dict of them by name")
    else:
        named = dict(_named(item) for item in outputs)
        if len(named) < len(outputs):
            raise ModelError("outputs: two have the same name; give a dict with a name for each")
    for name, item in named.items():
        if not isinstance(item, str) and not callable(item) and outputs is not None:
            raise ModelError(f"output {name!r} is {shown(item)}; give a signal such as 'slider.x', or a function of a solution")
        if name in (*PER_RUN, *table, RUN, "time", "message", "initial_states") or not name:
            raise ModelError(
                f"output {name!r} has the name of a parameter, or of what a sweep has anyway; give a dict with another"
            )
    return named


def _named(item: Any) -> tuple[str, Any]:
    """An output with its name, ("travel [m]", function) as it is."""
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) and callable(item[1]):
        return item
    if isinstance(item, str) or callable(item):
        return item if isinstance(item, str) else str(getattr(item, "__name__", type(item).__name__)), item
    raise ModelError(
        f"outputs: {shown(item)} is none; give a signal such as 'slider.x', a function of a solution, or both,"
        ' ("travel [m]", function)'
    )


def _settings(job: Job, table: Table, dims: Mapping[str, int], block: int) -> dict[str, Any]:
    """All that the bits of a result follow from."""
    numbers = {name: _numbers(values) for name, values in table.items()}
    options = {name: to_data(value) if hasattr(value, "__dataclass_fields__") else value for name, value in job.options.items()}
    return {
        "dalembert": current_versions()["dalembert"],
        "model": _models(job.model, table),
        "parameters": numbers,
        "grid": dict(dims),
        "t_end": job.t_end,
        "save_at": job.times,
        **options,
        "outputs": {name: _fingerprint(output) if callable(output) else output for name, output in job.outputs.items()},
        "block": block,
    }


def _numbers(values: Array) -> str:
    data = repr(values.tolist()).encode() if values.dtype.hasobject else as_bytes(np.ascontiguousarray(values))
    return f"{values.dtype.str} {values.shape} {hashlib.sha256(data).hexdigest()}"


def _models(model: Any, table: Table) -> list[str]:
    """What is run: the function that builds it, and some of the models that it builds."""
    if not callable(model):
        return [model.hash if hasattr(model, "hash") else model.model.hash]
    found = [_fingerprint(model)]
    for run in _spread(len(next(iter(table.values())))):
        try:
            found.append(model(**{name: values[run] for name, values in table.items()}).hash)
        except Exception as problem:  # such runs fail alone
            found.append(type(problem).__name__)
    return found


def _fingerprint(function: Any) -> str:
    """What a function computes, as far as it can be told in another process."""
    known = getattr(function, "fingerprint", None) or content(function)
    if known is None and hasattr(function, "__code__"):
        parts = [function.__code__, function.__defaults__, tuple((function.__kwdefaults__ or {}).items())]
        parts += [part for pair in references(function) for part in pair]
        kept = (list, dict, set)  # what a function may fill while it runs
        told = [
            type(part).__qualname__ if isinstance(part, kept) else content(part) or type(part).__qualname__ for part in parts
        ]
        known = hashlib.sha256(" ".join(told).encode()).hexdigest()
    return str(known or f"{type(function).__module__}.{getattr(function, '__qualname__', type(function).__qualname__)}")


def _check_names(job: Job, table: Table) -> None:
    """Refuse signals that the model does not have, before anything is compiled."""
    names = [output for output in job.outputs.values() if isinstance(output, str)]
    model = getattr(job.model, "model", job.model)
    if names and callable(model):
        try:
            model = model(**{name: values[0] for name, values in table.items()})
        except Exception:  # such runs fail alone; others tell
            return
    for name in names if isinstance(model, Model) else ():
        meant(model.structure, name)


def _spread(runs: int) -> list[int]:
    return sorted({round(k * (runs - 1) / max(1, _LOOKED_AT - 1)) for k in range(_LOOKED_AT)})


def _first_look(job: Job, table: Table) -> tuple[dict[str, Any], str]:
    """Shapes of the outputs and the model's name, from the first run, or another if that does not get to its end."""
    problem: Exception | None = None
    for run in _spread(len(next(iter(table.values())))):
        try:
            ensemble = job.simulate({name: values[run : run + 1] for name, values in table.items()}, 1)
        except Exception as found:
            problem = problem or found
            continue
        if ensemble.status[0] == "interrupted":
            raise KeyboardInterrupt
        if ensemble.status[0] == "failed":
            problem = problem or ModelError(f"run {run}: {ensemble.message[0]}")
            continue
        solution = ensemble.solution(0)
        if len(solution.t) > len(job.times):
            solution.t, solution.x = solution.t[1:], solution.x[1:]
        return layouts(job, solution), solution.mechanism.model.name or ""
    assert problem is not None
    if isinstance(problem, DalembertError):
        raise problem
    raise ModelError(f"no run of those tried gets to its end; the first: {problem!r}") from problem


def _same(path: Path, hash: str, settings: Mapping[str, Any], overwrite: bool) -> SweepStore | None:
    """The store of an earlier call, if it was the same; None where another is to be replaced."""
    if not is_sweep(path):
        raise StoreError(f"{path}: exists and is not a sweep of dalembert; move it away or give another path")
    store = SweepStore(path)
    if store.hash != hash and overwrite:
        store.check_own()
        return None
    if store.hash != hash:
        new, old = encode(dict(settings)), store.settings
        differs = [key.replace("_", " ") for key in {**new, **old} if new.get(key) != old.get(key)]
        mend = "give another path, call it as it was called, or give overwrite=True (--overwrite) to replace it"
        raise StoreError(f"{path}: holds a sweep with other settings ({', '.join(differs)}); {mend}")
    return store


class Sweep:
    """Many runs in a store, read on demand.

    `sweep["slider.x"]` is a DataArray over (run, time) with the parameters as coordinates, `sweep.dataset` all of them;
    position_drift, velocity_drift, energy_error and steps tell of every run how far to trust it.

    t : (nt,) times saved;  status : (runs,) "complete", "failed" or "missing";  message : what stopped a run, by run
    interrupted : whether Ctrl-C ended the call that made it; the same call goes on
    """

    def __init__(self, path: str | os.PathLike[str], interrupted: bool = False) -> None:
        self.path, self.interrupted = Path(path), interrupted
        self._store = SweepStore(path)

    def __len__(self) -> int:
        return self._store.runs

    def __repr__(self) -> str:
        counts = ", ".join(f"{np.sum(self.status == word)} {word}" for word in STATUS if (self.status == word).any())
        kept = ", ".join(list(self.settings["outputs"])[:_TOLD]) + (", ..." if len(self.settings["outputs"]) > _TOLD else "")
        model = self._store.attributes["model"] or "model"
        return f"<Sweep {str(self.path)!r} of {model!r}: {len(self)} runs, {counts}; it keeps {kept}>"

    def _repr_html_(self) -> str:
        """For a notebook: how many runs ended how, what stopped the others, and between what the numbers of all runs lie."""
        held = {str(name): self.dataset[name] for name in (*self.dataset.coords, *self.dataset.data_vars)}
        kept = {name: a for name, a in held.items() if a.dims == ("run",) and (a.dtype.kind == "f" or name == "steps")}
        kept |= {f"{name} over time": a for name, a in held.items() if "time" in a.dims[1:] and a.size <= _MOST_READ}
        ranges = [(name, f"{np.nanmin(a):.6g}", f"{np.nanmax(a):.6g}") for name, a in kept.items() if np.isfinite(a).any()]
        numbers = table(("of all runs", "least", "largest"), ranges)
        return runs_html(repr(self).strip("<>"), self.status.tolist(), self.message) + numbers

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """All arrays over (run, time, ...), read where they are used; NaN where a run did not get, or is missing."""
        from dalembert.simulation.sweep_dataset import to_dataset

        return to_dataset(self._store)

    def __getitem__(self, name: str) -> xarray.DataArray:
        """An array by its name; of a series over time also "slider.x.max", .min, .peak (largest size), .range, .mean, .rms of a
        run, at the times that were saved; an output lambda s: da.largest(s, "slider.x") is that between them."""
        if name not in self.dataset:
            series, _, kind = name.rpartition(".")
            if kind in OVER_TIME and series in self.dataset and "time" in self.dataset[series].dims:
                return self._over_time(self.dataset[series], kind)
            known = nearest(name, [str(variable) for variable in self.dataset.variables])
            if series in self.dataset and "time" in self.dataset[series].dims:
                known = f"of {series!r} there are {', '.join(f'{series}.{kind}' for kind in OVER_TIME)}"
            raise ModelError(f"the sweep has no {name!r}, it keeps what outputs= (--output) names; {known}")
        return self.dataset[name]

    def _over_time(self, series: xarray.DataArray, kind: str) -> xarray.DataArray:
        """(run, ...) one number of each run."""
        if len(self.t) < 3:
            kept = f"the sweep kept {len(self.t)} instants, too few for it; give save_at= (--save-every)"
            raise ModelError(f"{series.name}.{kind}: {kept}")
        parts = (series[k : k + BLOCK].values for k in range(0, len(self), BLOCK))
        label, number = OVER_TIME[kind]
        made = series.isel(time=0, drop=True).copy(data=np.concatenate([number(part, self.t) for part in parts]))
        return made.assign_attrs(long_name=label.format(series.attrs.get("long_name", series.name)))

    @property
    def t(self) -> Array:
        return np.asarray(self.dataset["time"].values)

    @cached_property
    def status(self) -> npt.NDArray[np.str_]:
        return np.asarray(np.array(STATUS)[self._store.over_runs("status")])  # the dataset has all parameters and starts

    @cached_property
    def message(self) -> dict[int, str]:
        return self._store.messages()

    @property
    def failed(self) -> npt.NDArray[np.int64]:
        """Runs that could not go on."""
        return np.flatnonzero(self.status == "failed")

    @property
    def settings(self) -> dict[str, Any]:
        """What the bits of the results follow from."""
        return dict(self._store.settings)

    def unstack(self, *names: str) -> xarray.Dataset:
        """The outputs, or some of them, over the dimensions of the grid that the parameters are combinations of; in memory."""
        import xarray

        dims = self._store.attributes["dims"]
        if not dims:
            raise ModelError("unstack: the runs are no grid; give parameters=grid(...) or a Dataset with several dimensions")
        given = self.dataset
        along = {n: given[n].values.reshape(tuple(dims.values())) for n in self._store.attributes["parameters"]}
        coordinates: dict[str, Any] = {"time": given["time"]}
        for k, name in enumerate(dims):
            if name in along:
                coordinates[name] = np.moveaxis(along.pop(name), k, 0).reshape(dims[name], -1)[:, 0]
        coordinates |= {name: (tuple(dims), values) for name, values in along.items()}
        variables = {}
        for name in names or [str(n) for n in given.data_vars]:
            array = self[name]
            values = array.values.reshape((*dims.values(), *array.shape[1:]))
            variables[name] = ((*dims, *array.dims[1:]), values, array.attrs)
        return xarray.Dataset(variables, coordinates, given.attrs)

    def export(self, path: str | os.PathLike[str]) -> None:
        """A table with one row per run (.csv): parameters, status, and of each output its last value, .min and .max."""
        from dalembert.simulation.sweep_table import export_sweep

        export_sweep(self, path)

    @property
    def plot(self) -> SweepPlots:
        """Plots by name: sweep.plot.map("slider.x"), sweep.plot.fan("slider.x")."""
        from dalembert.plot.sweeps import SweepPlots

        return SweepPlots(self)
