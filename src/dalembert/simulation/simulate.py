"""simulate: the only time loop. Compiled steps in chunks; progress, events, interruption and saving between them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from typing import Any, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled, Coordinates, Series
from dalembert.compilation.lagrangian import LagrangianMechanism
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.phases import as_data
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations import REFERENCE, Formulation
from dalembert.formulations.base import check_pair, default_formulation, prepared
from dalembert.formulations.run import Run
from dalembert.integrators.advance import LOOKS, Advance, Watched
from dalembert.integrators.explicit_rk import DOP853
from dalembert.integrators.integrator import Integrator
from dalembert.io.results import RunWriter
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model
from dalembert.model.validation import by_name, file_path, is_number, number, shown
from dalembert.run.ending import Ending
from dalembert.run.events import Event, Watch
from dalembert.run.failure import failure_of
from dalembert.run.jumps import STALLED, raise_if_stalled
from dalembert.run.progress import Clock, Progress, ProgressFunction
from dalembert.run.recorder import Recorder
from dalembert.run.settings import to_data
from dalembert.run.statistics import statistics_of
from dalembert.simulation.acts import Acts
from dalembert.simulation.parametrised import parametrised
from dalembert.simulation.pieces import joined
from dalembert.simulation.second_run import error_against_second_run
from dalembert.simulation.seen import Sight
from dalembert.simulation.sensitivities import Carried
from dalembert.simulation.solution import AnySolution, LagrangianSolution, Solution, note_what_happened, solution_of
from dalembert.simulation.start import WHOLE, Start, refuse_coarse_times, refuse_vanishing_lengths, start_of, variant_of

_CHUNK_SECONDS = 0.15
_USUAL = DOP853()


class Options(TypedDict, total=False):
    """Of `simulate`, by keyword."""

    parameters: Mapping[str, Any] | None
    t_start: float | None
    initial: Series | None
    formulation: Formulation | None
    integrator: Integrator | None
    coordinates: Coordinates | None
    save_at: npt.ArrayLike | None
    events: Event | Sequence[Event]
    free: Sequence[str]
    progress: bool | ProgressFunction | None
    out: str | os.PathLike[str] | None
    overwrite: bool
    estimate_error: bool
    sensitivities: Sequence[str]


@overload
def simulate(model: Model | Mechanism | Solution | Callable[..., Model], t_end: float, **more: Unpack[Options]) -> Solution: ...
@overload
def simulate(
    model: LagrangianSystem | LagrangianMechanism | LagrangianSolution, t_end: float, **options: Unpack[Options]
) -> LagrangianSolution: ...
@overload
def simulate(
    model: Model | LagrangianSystem | Compiled | AnySolution | Callable[..., Model], t_end: float, **options: Unpack[Options]
) -> Solution | LagrangianSolution: ...
@by_name
def simulate(
    model: Model | LagrangianSystem | Compiled | AnySolution | Callable[..., Model],
    t_end: float,
    *,
    parameters: Mapping[str, Any] | None = None,
    t_start: float | None = None,
    initial: Series | None = None,
    formulation: Formulation | None = None,
    integrator: Integrator | None = None,
    coordinates: Coordinates | None = None,
    save_at: npt.ArrayLike | None = None,
    events: Event | Sequence[Event] = (),
    free: Sequence[str] = (),
    progress: bool | ProgressFunction | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    estimate_error: bool = False,
    sensitivities: Sequence[str] = (),
) -> Solution | LagrangianSolution:
    """Assemble, integrate to t_end, and return the solution with its evidence.

    model : a solution, too: then its run goes on from its end, with its formulation and integrator where none are given; the
        solution has what is new (`concatenate` puts both together). Or a function that returns a Model: what is compiled for
        one set of its arguments serves all that differ in numbers only
    parameters : arguments of that function by name, or parameters of a LagrangianSystem, where they differ from its own
    t_start : when initial data hold and drivers start [s], default 0
    initial : a state of another run, solution(t), of a model with the same bodies and joints; t_start is then its time
    formulation : how constraints enter, default see `default_formulation`;  integrator : how time advances, default `DOP853()`
    coordinates : of bodies, "absolute" (default, unless the model was written down in a plane), "planar" or "tree"
    save_at : times to save, default the start and every accepted step;  events : see `Event`
    free : joints and drivers that are out of force until an event closes them
    progress : True, False, a function of (t, t_end), None = a bar on a terminal after one second
    out : also write the states to this zarr store while the run goes on (readable after a crash)
    estimate_error : run it again, tighter and by another formulation; the report says how far the two are apart
    sensitivities : parameters by which the motion is differentiated, see `solution.derivative`

    Ctrl-C returns what was computed. A run that cannot go on raises SimulationError with the partial solution attached.
    """
    if formulation is not None or integrator is not None:
        check_pair(REFERENCE() if formulation is None else formulation, _USUAL if integrator is None else integrator)
    goes_on = isinstance(model, AnySolution)
    t_end = number("simulate", "t_end", t_end) if goes_on or t_start is not None or initial is not None else duration(t_end)
    watched, clock, free, sensitivities = _as_events(events), Clock(), _names(free), _names(sensitivities)
    if sensitivities and (initial is not None or free):
        raise ModelError("sensitivities: the run starts as the model is built; leave out initial and free")
    varied = parametrised(model, parameters, sensitivities, coordinates, formulation, t_start or 0.0) if sensitivities else None
    variant: Any = None if varied is None else varied.first
    if variant is None:
        variant = variant_of(model, parameters, coordinates, formulation, t_start, compiled=not free and initial is None)
    start = start_of(variant, coordinates, formulation, t_start, initial, free)
    if not t_end > start.t:
        raise ModelError(f"t_end is {t_end:g}; give a time after the start of the run, t = {start.t:g} s")
    for event in watched:
        event.check(start.model)
    chosen, formulation = "", formulation or start.formulation
    if formulation is None:
        formulation, chosen = default_formulation(start.mechanism)
    integrator = integrator or start.integrator or _USUAL
    check_pair(formulation, integrator)
    refuse_vanishing_lengths(start.mechanism, start.t, t_end)
    refuse_coarse_times(start.mechanism, integrator, start.t, t_end)
    clock.lap("assembly")
    times = save_times(save_at, t_end, start.t)
    if out is not None and any(event.action is not None for event in watched):
        raise ModelError("out: a run with events that act is in pieces; leave it out, and save each of solution.pieces")
    store = None if out is None else (file_path("simulate", "out", out), overwrite)
    carried = None if varied is None else Carried(varied, formulation, integrator)
    made = _Runs(formulation, integrator, chosen, t_end, times, watched, clock, store, carried)
    with Progress(progress) as bar:
        made.all_of(start, bar)
    solution: Solution | LagrangianSolution = joined(made.pieces, times)
    if made.failure is not None:
        made.failure.solution = solution
        if len(solution.t):
            made.failure.add_note(f"what was computed up to t = {solution.t[-1]:.6g} s is kept: error.solution")
        raise made.failure
    acting = [replace(event, stop=False) for event in watched if event.action is not None]
    if carried is not None:
        solution.sensitivities = carried.of(solution, partial(simulate, events=acting))
    if estimate_error:
        solution.settings["trajectory_error"] = error_against_second_run(
            solution,
            lambda way, method: simulate(
                model,
                t_end if acting else float(solution.t[-1]),
                parameters=parameters,
                t_start=t_start,
                initial=initial,
                formulation=way,
                integrator=method,
                coordinates=coordinates,
                save_at=solution.t,
                events=watched if acting else (),
                free=free,
                progress=progress,
            ),
        )
        if out is not None:
            solution.save(out, overwrite=True)
    return solution


@dataclass(eq=False)
class _Runs:
    """A run, in pieces where events act."""

    formulation: Formulation
    integrator: Integrator
    chosen: str
    t_end: float
    times: Array | None
    events: tuple[Event, ...]
    clock: Clock
    out: tuple[str | os.PathLike[str], bool] | None
    carried: Carried | None
    pieces: list[Solution | LagrangianSolution] = field(default_factory=list)
    failure: SimulationError | None = None

    def all_of(self, start: Start, bar: Progress) -> None:
        """Pieces until the end, or until something fails."""
        largest: list[float] = []
        resting: dict[int, float] = {}
        acts = Acts()
        while True:
            watch = self.piece(start, bar, largest, resting)
            piece = self.pieces[-1]
            if self.carried is not None:
                self.carried.acted = watch.acting, [watch.largest[self.events.index(event)] for event in watch.acting]
            if piece.status != "event" or self.failure is not None or all(e.action is None for e in watch.acting):
                return
            piece.message = f"event {watch.acting[0].name!r} acted at t = {piece.end_time:.6g} s"
            try:
                start, piece.acted = acts.after(start, watch, piece)
            except (ModelError, SimulationError) as problem:
                piece.status, piece.message = "failed", str(problem)
                self.failure = SimulationError(str(problem), time=piece.end_time)
                return
            largest, resting = watch.largest, watch.resting
            if any(event.stop for event in watch.acting) or not start.t < self.t_end:
                return

    def piece(self, start: Start, bar: Progress, largest: list[float], resting: dict[int, float]) -> Watch:
        """From a start to the end, to an event that stops it or acts, or as far as it can go."""
        mechanism, formulation, integrator = start.mechanism, self.formulation, self.integrator
        passed = 0 if self.times is None else int(self.times.searchsorted(start.t, "right"))
        times = None if self.times is None else self.times[passed:]
        run = prepared(formulation, mechanism) if self.carried is None else self.carried.along(start, self.pieces)
        settings = describe(formulation, integrator, mechanism, self.t_end, start.t)
        settings["plain_python"] = list(run.callbacks.slow)
        if start.phase != WHOLE:
            settings["phase"] = as_data(start.phase)
        if self.chosen:
            settings["chosen"] = self.chosen
        advance, x_0 = advance_from(start, formulation, integrator, run, self.t_end, times)
        run = advance.run
        advance.watched = None if times is None else Watched(run, x_0, start.t)
        self.clock.lap("compilation")
        recorder = Recorder(run, None if self.out is None else partial(RunWriter, mechanism, settings, *self.out))
        if times is None or passed or self.pieces or any(event.action is not None for event in self.events):
            recorder.add(np.array([start.t]), x_0[None], mechanism.x_0[None])
        made = partial(solution_of, settings=settings, formulation=formulation, integrator=integrator)
        sight = Sight(run, made, start.model, start.phase)
        watch = Watch(run, self.events, sight, list(largest), dict(resting))
        try:
            status, message = _loop(advance, watch, recorder, bar, integrator.max_steps)
        except (KeyboardInterrupt, SimulationError, SystemError) as problem:  # the last: Ctrl-C in plain Python
            t, x = advance.saved()
            limit = problem.time if isinstance(problem, SimulationError) else None
            before = t <= (np.inf if limit is None else limit)  # an event may fail within a step
            recorder.add(t[before], x[before])
            if _by_keyboard(problem):
                status, message = "interrupted", f"interrupted by the user at t = {advance.t:.6g} s"
            elif isinstance(problem, SimulationError):
                status, message, self.failure = "failed", str(problem), problem
            else:
                raise
        self.clock.lap("integration")
        if watch.went_on:
            settings["went_on"] = watch.went_on
        t, x, more = recorder.result()
        advance.forget_saved()
        cost, found = partial(statistics_of, run, advance, dict(self.clock.parts)), tuple(watch.found)
        solution = made(mechanism, t, x, more=more, statistics=cost, status=status, message=message, events=found)
        solution.model, solution.phase = start.model, start.phase
        if status == "event":
            t_stop, state = watch.stopped
            x_stop, own = np.array(run.to_absolute(state[None])[0]), state[: run.plain.state_size]
            solution.ending = Ending(t_stop, float(advance.bundle.start), x_stop, own)
        else:
            solution.ending = partial(Ending.of, advance)
        if self.events or self.carried is not None:  # the run goes on to be asked
            solution.settle()
        if self.carried is not None:
            self.carried.ended(recorder.tangents(), run.tangents(state[None] if status == "event" else advance.x[None])[0])
        if advance.watched is not None:
            solution.watched = partial(advance.watched.result, advance.t if status != "event" else t_stop)
        note_what_happened(run.plain, advance.x[: run.plain.state_size], solution)
        recorder.close(solution)
        self.pieces.append(solution)
        return watch


def advance_from(
    start: Start, formulation: Formulation, integrator: Integrator, run: Run, t_end: float, times: Array | None
) -> tuple[Advance, Array]:
    """An integration from a start, with all that the run before remembers where it is the same method; its first state."""
    ending = start.ending if formulation == start.formulation else None
    if ending is not None and run.state_size != len(ending.state):
        ending = None
    x_0 = run.from_absolute(start.mechanism.x_0, start.t) if ending is None else ending.state.copy()
    if ending is not None and run.tree is not None:  # its angles may count turns, and so half turns of quaternions
        run = replace(run, tree=run.tree.signed(x_0))
    advance = Advance(run, integrator, start.t, x_0, t_end, times)
    if run.callbacks.of_time:
        advance.bundle.look = (t_end - start.t) / LOOKS
    if ending is not None and integrator == start.integrator:
        advance.bundle.start = ending.start
        if ending.fits(advance):
            ending.resume(advance)
    return advance, x_0


def duration(t_end: object) -> float:
    """A positive finite number of seconds."""
    if not is_number(t_end) or not 0 < t_end < np.inf:
        raise ModelError(f"t_end is {t_end!r}; give a positive number of seconds")
    return number("simulate", "t_end", t_end)


def _as_events(events: Event | Sequence[Event]) -> tuple[Event, ...]:
    listed = _listed(events, Event)
    for event in listed:
        if not isinstance(event, Event):
            raise ModelError(f"events holds {event!r}; give Event(function) or a list of them")
    return listed


def _by_keyboard(problem: BaseException | None) -> bool:
    """Whether Ctrl-C is what caused an exception."""
    while problem is not None and not isinstance(problem, KeyboardInterrupt):
        problem = problem.__cause__ or problem.__context__
    return problem is not None


def _names(given: object) -> tuple[str, ...]:
    return tuple([str(getattr(name, "name", name)) for name in _listed(given, str)])


def _listed(given: object, one: type) -> tuple[Any, ...]:
    """Several as they are, one alone."""
    if isinstance(given, tuple):
        return given
    return (given,) if isinstance(given, one) or not isinstance(given, Iterable) else tuple(given)


def save_times(save_at: npt.ArrayLike | None, t_end: float, t_start: float = 0.0) -> Array | None:
    """The times asked for, checked."""
    if save_at is None:
        return None
    try:
        times = np.array(save_at, dtype=float, ndmin=1)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"save_at is {shown(save_at)}; give finite times in increasing order") from None
    increasing = times.ndim == 1 and (times.size < 2 or (times[1:] > times[:-1]).all())  # as NaN never is
    if not increasing or (times.size and not isfinite(times[0] - times[-1])):
        raise ModelError("save_at: give finite times in increasing order")
    if times.size and (times[0] < t_start or times[-1] > t_end):
        raise ModelError(f"save_at: times from {times[0]:g} to {times[-1]:g} s; the run covers {t_start:g} to {t_end:g} s")
    return times


def describe(
    formulation: Formulation, integrator: Integrator, mechanism: Compiled, t_end: float, t_start: float = 0.0
) -> dict[str, Any]:
    """Settings of a run as plain data."""
    return {
        "t_start": float(t_start),
        "t_end": float(t_end),
        "coordinates": mechanism.coordinates,
        "formulation": to_data(formulation),
        "integrator": to_data(integrator),
        "citations": list(dict.fromkeys([*formulation.citations, *integrator.citations])),
    }


def _loop(advance: Advance, watch: Watch, recorder: Recorder, bar: Progress, max_steps: int) -> tuple[str, str]:
    """Chunks of compiled steps until t_end, an event, or the step limit."""
    single = bool(watch.events) or advance.run.moving
    chunk = 1 if single else 64
    watch.start(advance)
    t, accepted = advance.t, advance.accepted
    while True:
        begin, t_before, steps = time.perf_counter(), t, accepted
        status = advance.steps(min(chunk, max_steps - steps))
        elapsed, t, accepted = time.perf_counter() - begin, advance.t, advance.accepted
        if status not in (T.OK, T.TOO_MANY_STEPS):
            raise failure_of(status, advance)
        advance.run.pass_break(advance)
        stop = watch.check(advance)
        if stop is not None:
            watch.stopped = stop
            times, x = advance.saved()
            recorder.add(times[times < stop[0]], x[times < stop[0]])
            recorder.add(np.array([stop[0]]), stop[1][None])
            return "event", f"stopped by event {watch.acting[0].name!r} at t = {stop[0]:.6g} s"
        recorder.add(*advance.saved())
        bar.update(t, advance.t_end)
        if t >= advance.t_end:
            return "complete", ""
        if accepted >= max_steps:
            text = f"{max_steps} steps reached only t = {t:.6g} s; raise max_steps or loosen the tolerances"
            raise SimulationError(text, time=t)
        if accepted - steps >= STALLED:
            raise_if_stalled(advance, (t - t_before) / (accepted - steps))
        if not single and elapsed < _CHUNK_SECONDS:
            chunk = min(4 * chunk, max(1, int(chunk * _CHUNK_SECONDS / max(elapsed, 1e-6))))
