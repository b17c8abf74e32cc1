"""simulate: the only time loop. Compiled steps in chunks; progress, events, interruption and saving between them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from dalembert.compilation.compile import compile, refuse_vanishing_lengths, usual_coordinates
from dalembert.compilation.compiled import KINDS, Compiled, Coordinates
from dalembert.compilation.lagrangian import LagrangianMechanism
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations import REFERENCE, Formulation
from dalembert.formulations.default import default_formulation
from dalembert.formulations.pairs import check_pair
from dalembert.integrators.advance import Advance
from dalembert.integrators.explicit_rk import DOP853
from dalembert.integrators.integrator import Integrator
from dalembert.integrators.watched import Watched
from dalembert.io.results import open_writer
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model
from dalembert.run.events import Event, Watch
from dalembert.run.failure import failure_of
from dalembert.run.jumps import STALLED, raise_if_stalled
from dalembert.run.progress import Progress, ProgressFunction
from dalembert.run.recorder import Recorder
from dalembert.run.settings import to_data
from dalembert.run.statistics import statistics_of
from dalembert.run.steps import one_step
from dalembert.simulation.solution import LagrangianSolution, Solution, note_what_happened, solution_of

Array = npt.NDArray[np.float64]

_CHUNK_SECONDS = 0.15


class Options(TypedDict, total=False):
    """Of `simulate`, by keyword."""

    formulation: Formulation | None
    integrator: Integrator | None
    coordinates: Coordinates | None
    save_at: npt.ArrayLike | None
    events: Event | Sequence[Event]
    progress: bool | ProgressFunction | None
    out: str | os.PathLike[str] | None
    overwrite: bool


@overload
def simulate(model: Model | Mechanism, t_end: float, **options: Unpack[Options]) -> Solution: ...
@overload
def simulate(model: LagrangianSystem | LagrangianMechanism, t_end: float, **options: Unpack[Options]) -> LagrangianSolution: ...
@overload
def simulate(
    model: Model | LagrangianSystem | Compiled, t_end: float, **options: Unpack[Options]
) -> Solution | LagrangianSolution: ...
def simulate(
    model: Model | LagrangianSystem | Compiled,
    t_end: float,
    *,
    formulation: Formulation | None = None,
    integrator: Integrator | None = None,
    coordinates: Coordinates | None = None,
    save_at: npt.ArrayLike | None = None,
    events: Event | Sequence[Event] = (),
    progress: bool | ProgressFunction | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Solution | LagrangianSolution:
    """Assemble, integrate from t = 0 to t_end, and return the solution with its evidence.

    formulation : how constraints enter, default see `default_formulation`;  integrator : how time advances, default `DOP853()`
    coordinates : of bodies, "absolute" (default, unless the model was written down in a plane), "planar" or "tree"
    save_at : times to save, default t = 0 and every accepted step;  events : see `Event`
    progress : True, False, a function of (t, t_end), None = a bar on a terminal after one second
    out : also write the states to this zarr store while the run goes on (readable after a crash)

    Ctrl-C returns what was computed. A run that cannot go on raises SimulationError with the partial solution attached.
    """
    integrator = DOP853() if integrator is None else integrator
    check_pair(formulation or REFERENCE(), integrator)
    t_end = duration(t_end)
    clock = _Clock()
    watched = _as_events(events)
    mechanism = as_compiled(model, coordinates, formulation)
    chosen = ""
    if formulation is None:
        formulation, chosen = default_formulation(mechanism)
    refuse_vanishing_lengths(mechanism.model, t_end)
    clock.lap("assembly")
    times = save_times(save_at, t_end)
    run = formulation.prepare(mechanism)
    settings = describe(formulation, integrator, mechanism, t_end)
    settings["plain_python"] = list(run.callbacks.slow)
    if chosen:
        settings["chosen"] = chosen
    x_0 = run.from_absolute(mechanism.x_0)
    advance = Advance(run, integrator, 0.0, x_0, t_end, times)
    advance.watched = None if times is None else Watched(run, x_0)
    clock.lap("compilation")
    opened = None if out is None else partial(open_writer, mechanism, settings, out, overwrite)
    recorder = Recorder(run, opened)
    if times is None or bool(np.any(_at_start(save_at))):
        recorder.add(np.zeros(1), x_0[None], mechanism.x_0[None])
    watch = Watch(run, watched, partial(one_step, run, integrator))
    status, message, failure = "complete", "", None
    with Progress(progress) as bar:
        try:
            status, message = _loop(advance, watch, recorder, bar, integrator.max_steps)
        except KeyboardInterrupt:
            recorder.add(*advance.saved())
            status, message = "interrupted", f"interrupted by the user at t = {advance.t:.6g} s"
        except (SimulationError, SystemError) as problem:  # Numba turns Ctrl-C in a plain Python function into the latter
            t, x = advance.saved()
            limit = problem.time if isinstance(problem, SimulationError) else None
            before = t <= (np.inf if limit is None else limit)  # an event may fail within a step
            recorder.add(t[before], x[before])
            if _by_keyboard(problem):
                status, message = "interrupted", f"interrupted by the user at t = {advance.t:.6g} s"
            elif isinstance(problem, SystemError):
                raise
            else:
                status, message, failure = "failed", str(problem), problem
    clock.lap("integration")
    t, x, more = recorder.result()
    solution = solution_of(
        mechanism,
        t,
        x,
        more=more,
        settings=settings,
        formulation=formulation,
        integrator=integrator,
        statistics=statistics_of(run, advance, clock.parts),
        status=status,
        message=message,
        events=tuple(watch.found),
    )
    if advance.watched is not None:
        solution.watched = advance.watched.result(watch.found[-1][1] if status == "event" else advance.t)
    note_what_happened(run, advance.x, solution)
    recorder.close(solution)
    if failure is not None:
        failure.solution = solution
        raise failure
    return solution


def duration(t_end: object) -> float:
    """A positive finite number of seconds."""
    if isinstance(t_end, bool) or not isinstance(t_end, int | float | np.number) or not 0 < t_end < np.inf:
        raise ModelError(f"t_end is {t_end!r}; give a positive number of seconds")
    return float(t_end)


def as_compiled(
    model: Model | LagrangianSystem | Compiled, coordinates: Coordinates | None, formulation: Formulation | None = None
) -> Compiled:
    """The model in tables; one that is already compiled stays as it is."""
    if not isinstance(model, Compiled):
        taken = KINDS if formulation is None else formulation.coordinates
        return compile(model, coordinates or usual_coordinates(model, taken))
    if coordinates not in (None, model.coordinates):
        raise ModelError(
            f"the mechanism was compiled in {model.coordinates!r} coordinates, not {coordinates!r}; give the model"
        )
    return model


def _as_events(events: Event | Sequence[Event]) -> tuple[Event, ...]:
    listed = (events,) if isinstance(events, Event) or not isinstance(events, Iterable) else tuple(events)
    for event in listed:
        if not isinstance(event, Event):
            raise ModelError(f"events holds {event!r}; give Event(function) or a list of them")
    return listed


def _by_keyboard(problem: BaseException | None) -> bool:
    """Whether Ctrl-C is what caused an exception."""
    while problem is not None and not isinstance(problem, KeyboardInterrupt):
        problem = problem.__cause__ or problem.__context__
    return problem is not None


def _at_start(save_at: npt.ArrayLike | None) -> npt.NDArray[np.bool_]:
    return np.asarray(np.atleast_1d(np.asarray([] if save_at is None else save_at, dtype=float)) == 0.0)


def save_times(save_at: npt.ArrayLike | None, t_end: float) -> Array | None:
    """The times after the start, checked."""
    if save_at is None:
        return None
    try:
        times = np.atleast_1d(np.asarray(save_at, dtype=float))
    except (TypeError, ValueError):
        raise ModelError(f"save_at is {save_at!r}; give finite times in increasing order") from None
    if times.ndim != 1 or not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0):
        raise ModelError("save_at: give finite times in increasing order")
    if times.size and (times[0] < 0 or times[-1] > t_end):
        raise ModelError(f"save_at: times from {times[0]:g} to {times[-1]:g} s; the run covers 0 to {t_end:g} s")
    return times[times > 0]


def describe(formulation: Formulation, integrator: Integrator, mechanism: Compiled, t_end: float) -> dict[str, Any]:
    """Settings of a run as plain data."""
    return {
        "t_end": float(t_end),
        "coordinates": mechanism.coordinates,
        "formulation": to_data(formulation),
        "integrator": to_data(integrator),
        "citations": list(dict.fromkeys([*formulation.citations, *integrator.citations])),
    }


def _loop(advance: Advance, watch: Watch, recorder: Recorder, bar: Progress, max_steps: int) -> tuple[str, str]:
    """Chunks of compiled steps until t_end, an event, or the step limit."""
    chunk = 1 if watch.events else 64
    watch.start(advance)
    while True:
        begin, t_before, steps = time.perf_counter(), advance.t, advance.accepted
        status = advance.steps(min(chunk, max_steps - advance.accepted))
        elapsed = time.perf_counter() - begin
        if status not in (T.OK, T.TOO_MANY_STEPS):
            raise failure_of(status, advance)
        stop = watch.check(advance)
        if stop is not None:
            t, x = advance.saved()
            recorder.add(t[t < stop[0]], x[t < stop[0]])
            recorder.add(np.array([stop[0]]), stop[1][None])
            return "event", f"stopped by event {watch.found[-1][0]!r} at t = {stop[0]:.6g} s"
        recorder.add(*advance.saved())
        bar.update(advance.t, advance.t_end)
        if advance.t >= advance.t_end:
            return "complete", ""
        if advance.accepted >= max_steps:
            raise SimulationError(
                f"{max_steps} steps reached only t = {advance.t:.6g} s; raise max_steps or loosen the tolerances",
                time=advance.t,
            )
        if advance.accepted - steps >= STALLED:
            raise_if_stalled(advance, (advance.t - t_before) / (advance.accepted - steps))
        if not watch.events and elapsed < _CHUNK_SECONDS:
            chunk = min(4 * chunk, max(1, int(chunk * _CHUNK_SECONDS / max(elapsed, 1e-6))))


class _Clock:
    """Wall time by part."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.parts[name], self._last = now - self._last, now
