"""compare: one model by several formulations and integrators, each over a ladder of tolerances or step sizes.

    comparison = da.compare(model, t_end=5.0)
    print(comparison)                     # error, drift, energy, steps, work and time of every run
    comparison.save("work.png"); comparison.save("work.html")

Errors are measured against a tight run of the first formulation, which a second formulation checks, and a run with fixed steps:
adaptive runs step over the same short pulses. The largest difference is the accuracy of the reference, and errors below it are
marked as such. CPU times are those inside the compiled time loop; runs are repeated in turns, so that a busy moment of the
machine hits all methods alike, and the median counts.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.comparison.table import NOT_RUN, Comparison, Excluded, Measurement, Reference
from dalembert.compilation.compile import compile
from dalembert.compilation.compiled import Coordinates
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.trajectory import Trajectory, angles_between
from dalembert.errors import DalembertError, ModelError, SimulationError
from dalembert.formulations import FORMULATIONS
from dalembert.integrators import INTEGRATORS
from dalembert.model.model import Model
from dalembert.model.validation import by_name, nearest, number
from dalembert.results.dense import integrate_to
from dalembert.results.solution import BodyResult
from dalembert.results.versions import current_versions
from dalembert.run.progress import Progress, ProgressFunction
from dalembert.simulation.simulate import simulate

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
STEP_RATIOS = (4.0, 1.0, 1.0 / 4.0, 1.0 / 16.0)  # of the median step of the reference
TIGHT = 1e-13
SAMPLES = 24  # steps of a run at which its error is measured
AGREES = 1e-8  # a second run this close to the reference is good enough a check
FIXED_STEPS = 4000  # of the run with fixed steps, which sees what adaptive steps jump over
SHORT = 0.01  # runs below this CPU time are timed several times in a row [s]


@by_name
def compare(
    model: Model | Mechanism,
    t_end: float,
    *,
    formulations: Sequence[Any] | None = None,
    integrators: Sequence[Any] | None = None,
    tolerances: Sequence[float] = TOLERANCES,
    steps: Sequence[float] | None = None,
    coordinates: Coordinates | None = None,
    repeats: int = 3,
    budget: float = 25.0,
    progress: bool | ProgressFunction | None = None,
) -> Comparison:
    """Simulate a model in many ways and measure error, drift, energy error, work and CPU time of each.

    formulations, integrators : names of the registries or options objects; default: all there are
    tolerances : rtol = atol of adaptive runs;  steps : sizes of fixed steps [s], default 4, 1, 1/4 and 1/16 of the
    reference's median step;  repeats : how often runs are timed;  coordinates : as in `compile`
    budget : CPU seconds, without those of compilation, after which no further run is begun
    A formulation or integrator that cannot run the model is listed with the reason. Ctrl-C returns what was measured.
    """
    begin = time.perf_counter()
    number("compare", "t_end", t_end, above=0.0)
    for label, values in (("tolerances", tolerances), ("steps", steps or ())):
        for value in values:
            number("compare", label, value, above=0.0)
    mechanism = model if isinstance(model, Mechanism) else compile(model, coordinates)
    ways = _named(formulations, FORMULATIONS, "formulation", lambda cls: cls())
    methods = _named(integrators, INTEGRATORS, "integrator", _loose)
    reference, solution = _reference(mechanism, t_end)
    ladder = tuple(steps) if steps else _step_ladder(solution)
    pairs, excluded = _pairs(mechanism, ways, methods, tuple(tolerances), ladder)
    jobs = [job for rung in range(max(len(tolerances), len(ladder))) for pair in pairs for job in pair.rungs[rung : rung + 1]]
    interrupted = _measure(mechanism, t_end, jobs, repeats, time.process_time() + budget, progress)
    error = _Errors(solution, [job for job in jobs if job.samples is not None])
    return Comparison(
        name=mechanism.model.name or "model",
        t_end=float(t_end),
        reference=dataclasses.replace(reference, size=error.size),
        measurements=tuple(_result(job, error, reference.accuracy) for job in jobs),
        excluded=tuple(excluded),
        settings={
            "coordinates": mechanism.coordinates,
            "tolerances": [float(value) for value in tolerances],
            "steps": [float(value) for value in ladder],
            "repeats": max([len(job.times) for job in jobs], default=0),
            "model_hash": mechanism.model.hash,
        },
        versions=current_versions(),
        interrupted=interrupted,
        seconds=time.perf_counter() - begin,
    )


@dataclass
class _Job:
    """One run to make: its pair, its rung of the ladder, and what came out."""

    formulation: str
    integrator: str
    way: Any
    method: Any
    setting: str
    value: float
    times: list[float] = field(default_factory=list)
    samples: Trajectory | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    problem: str = NOT_RUN


@dataclass
class _Pair:
    rungs: list[_Job]


def _loose(cls: Any) -> Any:
    """An integrator with a step or a tolerance that the ladder will replace."""
    return cls() if cls.estimates_error else cls(step=1.0)


def _named(given: Sequence[Any] | None, known: dict[str, Any], noun: str, make: Any) -> dict[str, Any]:
    """Label -> options object, for names, objects or, by default, everything there is."""
    if isinstance(given, str) or (given is not None and not isinstance(given, Iterable)):
        given = [given]
    made: dict[str, Any] = {}
    for item in known if given is None else given:
        if isinstance(item, str):
            if item not in known:
                raise ModelError(f"compare: there is no {noun} {item!r}; {nearest(item, known)}")
            made[item] = make(known[item])
        elif isinstance(item, tuple(known.values())):
            made[_label(item, known)] = item
        else:
            raise ModelError(f"compare: {item!r} is no {noun}; give one of {', '.join(known)} or an object of theirs")
    if not made:
        raise ModelError(f"compare: no {noun} given; give one of {', '.join(known)}")
    return made


def _label(options: Any, known: dict[str, Any]) -> str:
    """The registry's name, with the options that are not the default ones."""
    name = next(name for name, cls in known.items() if type(options) is cls)
    skipped = ("rtol", "atol", "step")
    changed = [f for f in dataclasses.fields(options) if f.name not in skipped and getattr(options, f.name) != f.default]
    listed = ", ".join(f"{f.name}={getattr(options, f.name)}" for f in changed)
    return f"{name} ({listed})" if listed else name


def _tight(way: Any) -> Any:
    """The formulation with projection tolerances of rounding."""
    names = {f.name for f in dataclasses.fields(way)} & {"tolerance", "velocity_tolerance"}
    return dataclasses.replace(way, **dict.fromkeys(names, TIGHT))


def _reference(mechanism: Mechanism, t_end: float) -> tuple[Reference, BodyResult]:
    """A tight run, and its difference from the second run that agrees with it best, or from one with fixed steps if larger.

    The first run is that of the first formulation of the registry that can; the second is another formulation's, or, where
    none agrees, the same formulation's with another integrator.
    """
    from dalembert.integrators.explicit_rk import DOP853, DormandPrince

    candidates: list[tuple[str, Any, Any]] = [(name, make, DOP853) for name, make in FORMULATIONS.items()]
    candidates += [(name, make, DormandPrince) for name, make, _ in candidates]
    first: tuple[str, BodyResult] | None = None
    best = Reference("", "nothing: no second run was possible", float("inf"))
    way: tuple[str, Any] = ("", None)
    reasons: list[str] = []
    for name, make, method in candidates:
        if best.accuracy < AGREES:
            break
        tight = 10 * TIGHT if method is DormandPrince else TIGHT
        solution = _tight_run(mechanism, t_end, name, _tight(make()), method(rtol=tight, atol=tight), reasons)
        if solution is None:
            continue
        label = f"{name}, {method.__name__}, rtol = atol = {tight:g}"
        if first is None:
            first, way = (label, solution), (name, make)
        elif (difference := _difference(first[1], solution)) < best.accuracy:
            best, way = Reference("", label, difference), (name, make)
    if first is None:
        raise SimulationError(f"compare: no formulation can run this model: {'; '.join(dict.fromkeys(reasons))}")
    h = float(f"{_fixed_step(first[1]):.2g}")
    name, make = way
    fixed = _tight_run(mechanism, t_end, name, _tight(make()), DOP853(step=h), reasons)
    check = f"{best.check}, and {name}, DOP853, h = {h:g} s"
    accuracy = best.accuracy
    if fixed is None:
        check += " (which failed)"
    elif not np.isfinite(accuracy):
        check, accuracy = f"{name}, DOP853, h = {h:g} s", _difference(first[1], fixed)
    else:
        accuracy = max(accuracy, _difference(first[1], fixed))
    return Reference(first[0], check, accuracy), first[1]


def _tight_run(mechanism: Mechanism, t_end: float, name: str, way: Any, method: Any, reasons: list[str]) -> BodyResult | None:
    try:
        solution: BodyResult = simulate(mechanism, t_end, formulation=way, integrator=method, progress=False)
    except DalembertError as problem:
        reasons.append(f"{name}: {problem}")
        return None
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    return solution


def _difference(reference: BodyResult, solution: BodyResult) -> float:
    """Largest distance of a run from another."""
    job = _Job("", "", None, None, "", 0.0, samples=_samples(solution))
    return _Errors(reference, [job]).of(job)


def _fixed_step(solution: BodyResult) -> float:
    """A step that looks everywhere: half the median one, FIXED_STEPS in the run at least and five times as many at most."""
    t_end = float(solution.t[-1])
    return max(min(float(np.median(np.diff(solution.t))) / 2, t_end / FIXED_STEPS), t_end / (5 * FIXED_STEPS))


def _samples(solution: BodyResult) -> Trajectory:
    """Some of the saved states, evenly chosen, the last among them, the first not: where the error is measured."""
    last = len(solution.t) - 1
    chosen = np.unique(np.linspace(min(1, last), last, SAMPLES).round().astype(int))
    return Trajectory(solution.mechanism, solution.t[chosen], solution.x[chosen])


def _step_ladder(solution: BodyResult) -> tuple[float, ...]:
    middle = float(np.median(np.diff(solution.t)))
    return tuple(float(f"{ratio * middle:.2g}") for ratio in STEP_RATIOS)


class _Errors:
    """Distance of runs from the reference: max over sampled times and bodies of |r - r_ref| / L and the angle between R, R_ref.

    L : diagonal of the box that holds all centres of mass during the reference run [m]
    """

    def __init__(self, reference: BodyResult, jobs: Sequence[_Job]) -> None:
        self._bodies = reference.mechanism.body_names
        paths = np.concatenate([reference.position(body) for body in self._bodies])
        self.size = float(np.linalg.norm(np.ptp(paths, axis=0))) or 1.0
        sampled = [job.samples.t for job in jobs if job.samples is not None]
        self._times = np.unique(np.concatenate(sampled)) if sampled else np.zeros(0)
        states = integrate_to(reference, np.minimum(self._times, reference.t[-1]))
        self._exact = Trajectory(reference.mechanism, self._times, states)

    def of(self, job: _Job) -> float:
        """The error of one run."""
        assert job.samples is not None
        at = np.searchsorted(self._times, job.samples.t)
        exact = Trajectory(self._exact.mechanism, self._exact.t[at], self._exact.x[at])
        worst = 0.0
        for body in self._bodies:
            distance = np.linalg.norm(job.samples.position(body) - exact.position(body), axis=1) / self.size
            angle = angles_between(job.samples.rotation(body), exact.rotation(body))
            worst = max(worst, float(np.nanmax([distance.max(), angle.max()])))
        return worst


def _pairs(
    mechanism: Mechanism,
    ways: dict[str, Any],
    methods: dict[str, Any],
    tolerances: tuple[float, ...],
    steps: tuple[float, ...],
) -> tuple[list[_Pair], list[Excluded]]:
    """The pairs that run, compiled, and those that do not."""
    pairs, excluded = [], []
    for way_name, way in ways.items():
        reasons: dict[str, str] = {}
        for method_name, method in methods.items():
            made = _warmed(mechanism, way_name, way, method_name, method, tolerances, steps)
            if isinstance(made, _Pair):
                pairs.append(made)
            else:
                reasons[method_name] = made
        if len(reasons) == len(methods):
            excluded.append(Excluded(way_name, "every integrator", next(iter(reasons.values()))))
        else:
            excluded += [Excluded(way_name, method_name, reason) for method_name, reason in reasons.items()]
    if not pairs:
        listed = "; ".join(f"{item.formulation}: {item.reason}" for item in excluded)
        raise SimulationError(f"compare: nothing can run this model: {listed}")
    return pairs, excluded


def _warmed(
    mechanism: Mechanism, way_name: str, way: Any, method_name: str, method: Any, tolerances: Any, steps: Any
) -> _Pair | str:
    """A run of one vanishing step, which compiles.

    Adaptive where the pair can be, else with fixed steps; the reason where it can be neither.
    """
    ladders: list[tuple[str, Any, Any]] = [("h", steps, lambda value: {"step": value})]
    if method.estimates_error:
        ladders.insert(0, ("rtol", tolerances, lambda value: {"step": None, "rtol": value, "atol": value}))
    reason = ""
    for setting, values, options in ladders:
        try:
            rungs = [dataclasses.replace(method, **options(value)) for value in values]
            simulate(mechanism, 1e-9 * min(steps), formulation=way, integrator=rungs[0], progress=False)
        except DalembertError as problem:
            reason = reason or str(problem)
            continue
        jobs = zip(values, rungs, strict=True)
        return _Pair([_Job(way_name, method_name, way, rung, setting, float(value)) for value, rung in jobs])
    return reason


def _measure(
    mechanism: Mechanism,
    t_end: float,
    jobs: list[_Job],
    repeats: int,
    deadline: float,
    progress: bool | ProgressFunction | None,
) -> bool:
    """Run all jobs in turns, `repeats` times, until the deadline; whether the user broke it off."""
    total = repeats * len(jobs)
    with Progress(progress, "comparing", "run {task.completed:.0f} of {task.total:.0f}") as bar, warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # of coarse steps, whose errors the table has; the reference tells its own
        for done in range(total):
            job = jobs[done % len(jobs)]
            if time.process_time() > deadline:
                return False
            if done >= len(jobs) and not job.times:
                continue
            try:
                for _ in range(3):
                    solution = simulate(mechanism, t_end, formulation=job.way, integrator=job.method, progress=False)
                    if solution.status == "interrupted":
                        return True
                    if not job.times:
                        _evaluate(job, solution)
                    job.times.append(solution.statistics.cpu_time)
                    if job.times[-1] > SHORT:
                        break
            except SimulationError as problem:
                job.problem = str(problem)
            except KeyboardInterrupt:
                return True
            bar.update(done + 1, total)
    return False


def _evaluate(job: _Job, solution: BodyResult) -> None:
    """What a run's own report would say of it."""
    energy, work = solution.energy, solution.statistics
    job.samples, job.problem = _samples(solution), ""
    job.figures = {
        "energy_error": float(np.abs(energy.total - energy.total[0]).max() / energy.scale),
        "position_drift": float(solution.drift.position.max()),
        "velocity_drift": float(solution.drift.velocity.max()),
        "steps": work.accepted,
        "rejected": work.rejected,
        "rate_evaluations": work.rate_evaluations,
    }


def _result(job: _Job, error: _Errors, accuracy: float) -> Measurement:
    head = (job.formulation, job.integrator, job.setting, job.value)
    if job.samples is None:
        return Measurement(*head, problem=job.problem)
    value = error.of(job)
    return Measurement(
        *head,
        **job.figures,
        error=value,
        resolved=bool(value > accuracy),
        time=statistics.median(job.times),
        timed=len(job.times),
    )
