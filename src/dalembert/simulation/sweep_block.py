"""A block of a sweep: its runs together, in one process, and what is kept of them.

Runs of a block may start from each other's pose and share steps, so that the bits of a result follow from the block alone:
which process computes it, with how many threads, after which others, does not matter.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.errors import DalembertError, ModelError, SimulationError
from dalembert.formulations.evaluation import Evaluated
from dalembert.io.lock import one_at_a_time
from dalembert.io.sweep_store import Layout, SweepStore
from dalembert.results.quantities import Energy
from dalembert.results.signals import label_and_unit, signal
from dalembert.simulation.parameters import Table

Array = npt.NDArray[Any]
Outputs = dict[str, str | Callable[[Any], Any] | None]

STATUS = ("missing", "complete", "failed")
COMPLETE, FAILED = 1, 2
PER_RUN = {
    "status": Layout((), (), "|i1", "", ", ".join(f"{k}: {word}" for k, word in enumerate(STATUS))),
    "steps": Layout((), (), "<i8", "", "accepted steps"),
    "position_drift": Layout((), (), "<f8", "m or 1", "largest constraint residual of the saved states, position level"),
    "velocity_drift": Layout((), (), "<f8", "m/s or 1/s", "largest constraint residual of the saved states, velocity level"),
    "energy_error": Layout((), (), "<f8", "", "largest |E - E(0)| of the saved states by the energy that moves"),
}
STATES = {"q": "coordinate", "u": "velocity"}  # kept where no outputs are asked for


@dataclass(frozen=True)
class Job:
    """What every block of a sweep needs; it goes to other processes. options : of simulate_many"""

    model: Any
    t_end: float
    times: Array
    outputs: Outputs
    options: dict[str, Any]
    path: Path

    def simulate(self, rows: Table, threads: int | None) -> Any:
        """An ensemble of the runs with these parameters or starts; its times begin with 0."""
        from dalembert.simulation.ensemble import simulate_many

        given: dict[str, Any] = rows if "" not in rows else {}
        starts = rows.get("")
        times = self.times if self.times[0] == 0.0 else np.concatenate([[0.0], self.times])
        what: dict[str, Any] = {"initial_states": starts} if starts is not None else {"parameters": given}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # what kept runs from starting is told run by run
            return simulate_many(self.model, self.t_end, **what, **self.options, save_at=times, threads=threads, progress=False)


def layouts(job: Job, solution: Any) -> dict[str, Layout]:
    """What the store of a sweep holds of each run, as one that ended tells."""
    made = dict(PER_RUN)
    for name, output in job.outputs.items():
        if output is None:
            made[name] = Layout(("time", STATES[name]), getattr(solution, name).shape, meaning=f"state {name}")
        elif isinstance(output, str):
            found = signal(solution, output)
            made[name] = Layout(("time",), found.values.shape, units=found.unit, meaning=found.label)
        else:
            shape = _called(name, output, solution).shape
            over = shape[:1] == (len(solution.t),)
            inner = tuple(f"{name}_{k}" for k in range(len(shape) - over))
            label, unit = label_and_unit(name)
            made[name] = Layout(("time",) * over + inner, shape, units=unit, meaning=f"{label} of the run")
    return made


def compute(
    job: Job, rows: Table, first: int, kinds: Mapping[str, Layout], threads: int | None
) -> tuple[dict[str, Array], dict[int, str]]:
    """All arrays of a block, and messages of runs that failed by their number in the sweep; first : number of its first run

    KeyboardInterrupt where Ctrl-C ended it before all runs had.
    """
    count = len(next(iter(rows.values())))
    try:
        ensemble = job.simulate(rows, threads)
    except DalembertError as problem:
        if count == 1:
            arrays = empty(kinds, 1)
            arrays["status"][:] = FAILED
            return arrays, {first: _numbered(str(problem), first)}
        # no run can be made, or they differ in more than numbers: each by itself
        parts = [compute(job, {n: v[k : k + 1] for n, v in rows.items()}, first + k, kinds, threads) for k in range(count)]
        joined = {name: np.concatenate([part[name] for part, _ in parts]) for name in kinds}
        return joined, {run: text for _, messages in parts for run, text in messages.items()}
    if (ensemble.status == "interrupted").any():
        raise KeyboardInterrupt
    arrays, messages = empty(kinds, count), {first + k: _numbered(text, first + k) for k, text in ensemble.message.items()}
    arrays["status"][:] = np.where(ensemble.status == "complete", COMPLETE, FAILED)
    arrays["steps"][:] = ensemble.steps
    known: Sequence[Evaluated | None] = [None] * count
    with suppress(DalembertError):  # of a function that raises: run by run it is told which
        known = ensemble.evaluated_together()
    counters, states = any(map(callable, job.outputs.values())), not any(job.outputs.values())
    for k, evaluated in enumerate(known):
        try:
            if states and evaluated is not None:
                run: Any = _States(str(ensemble.status[k]), evaluated, *ensemble.states(k))
            else:
                run = ensemble.solution(k, evaluated, counters=counters)
            _keep(job, run, kinds, {name: values[k : k + 1] for name, values in arrays.items()})
        except DalembertError as problem:
            arrays["status"][k] = FAILED
            messages.setdefault(first + k, str(problem))
    return arrays, messages


def run_blocks(job: Job, work: list[tuple[int, Table, dict[int, str]]], threads: int | None) -> tuple[int, float]:
    """Compute and write blocks, a task of a worker: (number, parameters, runs to leave out with why). Runs done, seconds."""
    if threads == 1:
        warm_up(job, work[0][1])
    begin, store, done = time.perf_counter(), SweepStore(job.path), 0
    for block, rows, left_out in work:
        first, last = store.rows(block)
        kept = np.array([run not in left_out for run in range(first, last)])
        good = np.flatnonzero(kept)
        if len(good):  # in the place of a run that is left out stands another
            stand_in = np.where(kept, np.arange(len(kept)), good[0])
            arrays, messages = compute(job, {n: v[stand_in] for n, v in rows.items()}, first, store.arrays, threads)
        else:
            arrays, messages = empty(store.arrays, len(kept)), {}
        for name, fresh in empty(store.arrays, len(kept)).items():
            arrays[name][~kept] = fresh[~kept]
        arrays["status"][~kept] = FAILED
        store.write(block, arrays, messages | left_out)
        done += last - first
    return done, time.perf_counter() - begin


def try_runs(job: Job, rows: Table, first: int) -> None:
    """Compute runs and keep nothing, to find the one at fault in a block."""
    compute(job, rows, first, SweepStore(job.path).arrays, 1)


def empty(kinds: Mapping[str, Layout], count: int) -> dict[str, Array]:
    """Arrays of runs of which nothing is known."""
    return {n: np.full((count, *k.shape), np.nan if "f" in k.dtype else 0, np.dtype(k.dtype)) for n, k in kinds.items()}


@dataclass(frozen=True, eq=False)
class _States:
    """What is kept of a run of which no outputs are asked for: a solution would take a mechanism."""

    status: str
    evaluated: Evaluated
    t: Array
    q: Array
    u: Array
    work: Array

    @property
    def energy(self) -> Energy:
        return Energy(self.evaluated.energy[:, 0], self.evaluated.energy[:, 1], self.work)


def _keep(job: Job, solution: Any, kinds: Mapping[str, Layout], into: dict[str, Array]) -> None:
    """What is kept of one run; of one that failed, series as far as it went and nothing that a function makes of the whole."""
    if not len(solution.t):
        return
    complete = solution.status == "complete"
    energy, evaluated = solution.energy, solution.evaluated
    into["position_drift"][0] = np.abs(evaluated.g).max(initial=0.0)
    into["velocity_drift"][0] = np.abs(evaluated.g_dot).max(initial=0.0)
    into["energy_error"][0] = np.abs(energy.total - energy.total[0]).max() / energy.scale
    if job.times[0] != 0.0:
        solution = _without_start(solution)
    for name, output in job.outputs.items():
        if callable(output) and not complete:
            continue
        if callable(output):
            values = _called(name, output, solution)
        else:
            values = getattr(solution, name) if output is None else signal(solution, output).values
        if complete and values.shape != kinds[name].shape:
            raise ModelError(
                f"output {name!r} has the shape {values.shape}, in other runs {kinds[name].shape}; make it the same"
            )
        into[name][(0, slice(len(values))) if values.ndim else 0] = values


def _called(name: str, function: Callable[[Any], Any], solution: Any) -> Array:
    """What a user's function makes of a run."""
    try:
        return np.asarray(function(solution), dtype=float)
    except Exception as problem:
        raise SimulationError(f"output {name!r} raised {problem!r}") from problem


def _without_start(solution: Any) -> Any:
    """The solution at the times that were asked for."""
    if isinstance(solution, _States):
        return replace(solution, q=solution.q[1:], u=solution.u[1:])
    made = copy(solution)
    known = solution.evaluated
    for name in ("energy", "drift"):
        made.__dict__.pop(name, None)
    made.t, made.x, made.more = solution.t[1:], solution.x[1:], {n: v[1:] for n, v in solution.more.items()}
    made.__dict__["evaluated"] = Evaluated(*(getattr(known, field.name)[1:] for field in fields(Evaluated)))
    return made


def _numbered(text: str, run: int) -> str:
    """A message of a run within its block, with its number in the sweep."""
    return re.sub(r"^run \d+ ", f"run {run} ", text)


_warm: set[Path] = set()  # sweeps whose kernels this process has


def warm_up(job: Job, rows: Table) -> None:
    """The first run of a process: processes of one machine go one after the other, so that only one of them compiles."""
    if job.path in _warm:
        return
    from dalembert.kernels.base.cache import CACHE

    with one_at_a_time(CACHE), suppress(Exception):  # what is wrong with it is told where it counts
        job.simulate({name: values[:1] for name, values in rows.items()}, 1)
    _warm.add(job.path)
