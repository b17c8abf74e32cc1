"""Runs problems by every formulation: error, drift, energy, CPU time, verdict.

Formulations that an adaptive method of high order can drive must meet the values. Those of one impulse or one discrete step,
of order 1 or 2, run twice, with a step and its double, and must approach the values with their order.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, log2
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.benchmark.problem import Problem, Way
from dalembert.benchmark.problems import make_problems
from dalembert.benchmark.record import CANNOT, FAILED, PASSED, Curves, Outcome, ProblemResult, Run, SuiteResult
from dalembert.compilation.compile import compile
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations import FORMULATIONS
from dalembert.formulations.base import check_pair
from dalembert.integrators.explicit_rk import DOP853, RungeKutta4
from dalembert.integrators.fixed_step import FixedStep
from dalembert.model.validation import nearest
from dalembert.results.versions import current_versions
from dalembert.run.progress import Progress, ProgressFunction
from dalembert.simulation.simulate import simulate

TOLERANCE = 1e-12  # rtol = atol of adaptive runs
DRIFT = 1e-10  # largest position residual of a formulation that must meet the values [m or rad]
ENERGY = 1e-8  # largest energy error, likewise, relative to `Energy.scale`
ROUGH = 0.2  # above this error no order is observed
ORDER_SLACK = 0.35  # an observed order may be smaller than the method's by so much
PLOT_POINTS = 200
QUICK = 0.3  # CPU seconds below which a run is timed three times

_SHORT = {"GaussLegendre": "Gauss", "RungeKutta4": "RK4", "FixedStep": "own"}


def run_suite(
    names: Sequence[str] | None = None,
    *,
    formulations: Sequence[str] | None = None,
    progress: bool | ProgressFunction | None = None,
    after_each: Callable[[SuiteResult], None] | None = None,
) -> SuiteResult:
    """Run problems by formulations, by default all of both except long problems; Ctrl-C returns what was finished.

    after_each : called with all results so far whenever a problem is finished
    """
    known = make_problems()
    problems = _chosen(names or [name for name, problem in known.items() if not problem.long], known, "problem")
    ways = _chosen(formulations, FORMULATIONS, "formulation")
    begin, cpu = time.perf_counter(), time.process_time()
    results: list[ProblemResult] = []
    interrupted = False

    def so_far() -> SuiteResult:
        return SuiteResult(
            tuple(results), current_versions(), interrupted, time.perf_counter() - begin, time.process_time() - cpu
        )

    with Progress(progress, "benchmark", "run {task.completed:.0f} of {task.total:.0f}") as bar:
        for k, problem in enumerate(problems.values()):
            report = _Share(bar, k, len(problems), len(ways))
            runs: list[tuple[Run, Any]] = []
            try:
                for name in ways:
                    runs.append(run_problem(problem, name, report.of_run))
                    report.next()
            except KeyboardInterrupt:
                interrupted = True
            results.append(_gathered(problem, runs, sum(cls.largest_order is None for cls in ways.values()), interrupted))
            if after_each is not None:
                after_each(so_far())
            if interrupted:
                break
    return so_far()


class _Share:
    """Progress of the suite from that of one run."""

    def __init__(self, bar: Progress, problem: int, problems: int, ways: int) -> None:
        self._bar, self._done, self._total = bar, problem * ways, problems * ways

    def of_run(self, t: float, t_end: float) -> None:
        self._bar.update(self._done + min(t / t_end, 1.0), self._total)

    def next(self) -> None:
        self._done += 1
        self._bar.update(self._done, self._total)


def _chosen(names: Sequence[str] | None, known: dict[str, Any], noun: str) -> dict[str, Any]:
    for name in names or ():
        if name not in known:
            raise ModelError(f"benchmark: there is no {noun} {name!r}; {nearest(name, known)}")
    return {name: value for name, value in known.items() if names is None or name in names}


def _gathered(problem: Problem, runs: list[tuple[Run, Any]], asked: int, interrupted: bool) -> ProblemResult:
    met = [(run.formulation, solution) for run, solution in runs if run.verdict == PASSED and run.by == "values"]
    evidence = problem.evidence(met) if problem.evidence is not None and met else []
    return ProblemResult(
        problem=problem,
        runs=tuple(run for run, _ in runs),
        required=min(problem.required, asked),
        evidence=tuple(evidence),
        interrupted=interrupted,
    )


def run_problem(problem: Problem, name: str, progress: ProgressFunction | None = None) -> tuple[Run, Any]:
    """One problem by one formulation: what came of it, and the solution."""
    cls: Any = FORMULATIONS[name]
    way = problem.ways.get(name) or Way(cls())
    order = cls.largest_order
    if order is None:
        usual = DOP853(rtol=TOLERANCE, atol=TOLERANCE)
        return _attempt(problem, name, replace(way, integrator=way.integrator or usual), progress)
    problem = problem.shortened()
    method = FixedStep if cls.steps == "own" else RungeKutta4
    step = problem.t_end / problem.steps
    fine, solution = _attempt(problem, name, replace(way, integrator=method(step=step)), progress)
    if not fine.outcomes:
        return fine, solution
    coarse, _ = _attempt(problem, name, replace(way, integrator=method(step=2 * step)), None)
    if not coarse.outcomes:
        return replace(
            fine, by="order", order_wanted=order, verdict=FAILED, reason=f"with the double step: {coarse.reason}"
        ), solution
    observed = log2(coarse.error / fine.error) if fine.error > 0 else inf
    converges = (observed >= order - ORDER_SLACK and fine.error <= ROUGH) or fine.error <= fine.bound
    reason = "" if converges else f"errors {coarse.error:.1e}, {fine.error:.1e} with a step half as long: order {observed:.2f}"
    verdict = PASSED if converges else FAILED
    return replace(fine, by="order", order=observed, order_wanted=order, verdict=verdict, reason=reason), solution


def _attempt(problem: Problem, name: str, way: Way, progress: ProgressFunction | None) -> tuple[Run, Any]:
    """Compile, run, measure. What the library refuses, and what is known to break down here, is no failure."""
    blank = Run(problem.name, name, _settings(way), way.note, t_end=problem.t_end)
    options: dict[str, Any] = {"formulation": way.formulation, "integrator": way.integrator}
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            check_pair(way.formulation, way.integrator)
            model = (way.model or problem.model)()
            mechanism = compile(model, way.coordinates) if hasattr(model, "bodies") else model.compile()
            early = 1e-7 * problem.t_end
            _finished(simulate(mechanism, early, save_at=[0.0, early], progress=False, **options)).energy  # noqa: B018
            blank = replace(blank, compile_time=time.process_time() - begin)
            if name in problem.cannot:
                return replace(blank, verdict=CANNOT, reason=problem.cannot[name]), None
            times = _save_times(problem, way)
            solution: Any = None
            cpu: list[float] = []
            while not cpu or (len(cpu) < 3 and max(cpu) < QUICK):
                begin = time.process_time()
                again = simulate(mechanism, problem.t_end, save_at=times, progress=progress or False, **options)
                progress = None  # once is enough
                cpu.append(time.process_time() - begin)
                solution = _finished(again)
        except ModelError as problem_found:
            return replace(blank, verdict=CANNOT, reason=str(problem_found)), None
        except SimulationError as problem_found:
            return replace(blank, verdict=FAILED, reason=str(problem_found)), None
        return _measured(problem, blank, solution, min(cpu)), solution


def _finished(solution: Any) -> Any:
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    return solution


def _settings(way: Way) -> str:
    method = way.integrator
    stages = getattr(method, "stages", "")
    name = _SHORT.get(type(method).__name__, type(method).__name__)
    how = f"rtol {method.rtol:g}" if method.adaptive else f"h {method.step:.3g} s"
    return f"{name}{stages} {how}" + ("" if way.coordinates == "absolute" else f" {way.coordinates}")


def _save_times(problem: Problem, way: Way) -> Array:
    """Times of the expected values, of the drawing, and, except with steps of low order, those that evidence needs."""
    wanted = [np.linspace(0.0, problem.t_end, PLOT_POINTS + 1), *(e.t for e in problem.expected)]
    if way.formulation.largest_order is None or problem.extra_always:
        wanted.append(np.array(problem.extra))
    times = np.sort(np.concatenate(wanted))
    keep = np.concatenate([[True], np.diff(times) > 1e-12 * problem.t_end])
    return np.asarray(times[keep])


def _measured(problem: Problem, blank: Run, solution: Any, cpu: float) -> Run:
    outcomes = []
    made = {name: np.asarray(of(solution)) for name, of in problem.outputs.items()}
    for expected in problem.expected:
        at = np.array([int(np.argmin(np.abs(solution.t - t))) for t in expected.t])
        errors = {}
        for name, values in expected.values.items():
            scale = float(np.abs(values).max()) or 1.0
            errors[name] = float(np.abs(made[name][at] - values).max() / scale)
        worst = max(errors, key=lambda name: errors[name] if np.isfinite(errors[name]) else np.inf)
        outcomes.append(Outcome(expected.origin, errors[worst], expected.bound, worst))
    energy, drift, work = solution.energy, solution.drift, solution.statistics
    energy_error = np.abs(energy.total - energy.total[0]) / energy.scale
    passed = all(outcome.passed for outcome in outcomes)
    reasons = [f"{o.quantity} is {o.error:.1e} off ({o.origin})" for o in outcomes if not o.passed]
    if (largest := float(drift.position.max(initial=0.0))) > DRIFT:
        passed, reasons = False, [*reasons, f"drift {largest:.1e}"]
    if not float(energy_error.max()) <= ENERGY:
        passed, reasons = False, [*reasons, f"energy error {energy_error.max():.1e}"]
    return replace(
        blank,
        verdict=PASSED if passed else FAILED,
        reason="; ".join(reasons),
        outcomes=tuple(outcomes),
        position_drift=largest,
        velocity_drift=float(drift.velocity.max(initial=0.0)),
        energy_error=float(energy_error.max()),
        steps=work.accepted,
        rate_evaluations=work.rate_evaluations,
        cpu_time=cpu,
        curves=_curves(problem, solution, made, energy_error, drift.position),
    )


def _curves(problem: Problem, solution: Any, made: dict[str, Array], energy: Array, drift: Array) -> Curves:
    first = made[next(iter(problem.outputs))]
    grid = np.linspace(0.0, problem.t_end, PLOT_POINTS + 1)
    at = np.array([int(np.argmin(np.abs(solution.t - t))) for t in grid])
    reference = problem.expected[0]
    where = np.array([int(np.argmin(np.abs(solution.t - t))) for t in reference.t])
    errors = np.zeros(len(reference.t))
    for name, values in reference.values.items():
        off = np.abs(made[name][where] - values) / (float(np.abs(values).max()) or 1.0)
        errors = np.maximum(errors, off if off.ndim == 1 else off.max(axis=1))
    return Curves(solution.t[at], first[at], reference.t, errors, energy[at], drift[at])
