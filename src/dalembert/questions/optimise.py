"""optimise: parameters that make a number of a run smallest, with exact gradients, by SciPy's optimisers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import AssemblyError, ModelError, SimulationError
from dalembert.model.validation import by_name, shown
from dalembert.questions.gradient import RunOptions, Runs, slopes
from dalembert.questions.objectives import function_of
from dalembert.questions.unknowns import Unknowns, named_values
from dalembert.results.report.accuracy import sensitivity_lines
from dalembert.results.report.table import Line, Report, limited

Constraint = tuple[Any, float | None, float | None]
_KEPT = 1e-6  # by which a constraint may be missed, of its size


@dataclass(frozen=True, eq=False)
class Optimum:
    """parameters : by name, inertias by moments;  values : as the user's function takes them;  value : of the objective
    limits : (value, low, high) of each constraint;  history : values of the objective of the runs made, nan where one failed
    converged, message : SciPy's verdict;  evaluations : runs;  solution : the run at the optimum
    """

    parameters: Mapping[str, float]
    values: Mapping[str, Any]
    value: float
    limits: tuple[tuple[float, float, float], ...]
    history: tuple[float, ...]
    at_bounds: tuple[str, ...]
    converged: bool
    message: str
    evaluations: int
    solution: Any

    def report(self) -> Report:
        """Whether to believe it: convergence, constraints, derivatives, the run itself."""
        lines = [Line("converged", f"{self.evaluations} runs: {self.message}", None, "pass" if self.converged else "FAIL")]
        for k, (value, low, high) in enumerate(self.limits):
            missed = max(low - value, value - high, 0.0)
            size = max(1.0, abs(value))
            lines.append(limited(f"constraint {k}", f"{value:.6g} within {low:g} .. {high:g}", missed / size, _KEPT))
        if self.at_bounds:
            lines.append(Line("at bounds", ", ".join(self.at_bounds), block="careful"))
        lines += sensitivity_lines(self.solution)
        run = self.solution.report()
        lines.append(Line("run at the optimum", run.headline, None, "pass" if run.passed else "FAIL"))
        return Report("report of an optimisation", tuple(lines))

    def __repr__(self) -> str:
        how = "converged" if self.converged else self.message
        return f"<{self.value:.6g} in {self.evaluations} runs, {how}: {named_values(self.parameters)}>"


@by_name
def optimise(
    build: Any,
    objective: str | Callable[[Any], float],
    parameters: Mapping[str, Any],
    *,
    t_end: float,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    constraints: Sequence[Constraint] = (),
    method: str = "SLSQP",
    max_evaluations: int = 200,
    **options: Unpack[RunOptions],
) -> Optimum:
    """Parameters for which a number of a run is smallest, near where it starts.

    build, objective, t_end, save_at and other options : as in `gradient`;  parameters : where to start, bounds : as in `fit`
    constraints : (what, low, high), what being a function of the solution that returns a number, or an output by name, whose
        last value it is; None for no limit
    method : "SLSQP", or "trust-constr", of scipy.optimize.minimize

    A trial whose loops do not close, or whose run fails, counts as infinitely bad.
    """
    from scipy.optimize import NonlinearConstraint, minimize

    if method not in ("SLSQP", "trust-constr"):
        raise ModelError(f"optimise: method is {method!r}; give 'SLSQP' or 'trust-constr'")
    unknowns = Unknowns("optimise", build, parameters, bounds)
    runs = Runs(unknowns, t_end, options)
    limits = [_limit(k, given) for k, given in enumerate(constraints)]
    problem = _Problem(runs, [function_of(objective), *(function for function, _, _ in limits)])
    first, slope = problem.values(unknowns.start), problem.slopes(unknowns.start)
    if not np.isfinite(first).all() or not np.isfinite(slope).all():
        raise ModelError("optimise: the objective or a constraint is not a finite number where it starts")
    size = np.where(unknowns.start == 0.0, 1.0, np.abs(unknowns.start))
    scale = float(np.abs(slope[0] * size).max()) or abs(first[0]) or 1.0
    z_low, z_high = (unknowns.low / size, unknowns.high / size)
    made = []
    for k, (_, low, high) in enumerate(limits, start=1):
        of = float(np.abs(slope[k] * size).max()) or 1.0
        made.append(
            NonlinearConstraint(
                lambda z, k=k, of=of: problem.values(z * size)[k] / of,
                low / of,
                high / of,
                jac=lambda z, k=k, of=of: problem.slopes(z * size)[k] * size / of,
            )
        )
    found: Any = minimize(
        lambda z: problem.values(z * size)[0] / scale,
        unknowns.start / size,
        jac=lambda z: problem.slopes(z * size)[0] * size / scale,
        bounds=list(zip(z_low, z_high, strict=True)),
        constraints=made,
        method=method,
        options={"maxiter": max_evaluations, **({"ftol": 1e-12} if method == "SLSQP" else {})},
    )
    x = np.clip(found.x * size, unknowns.low, unknowns.high)
    values = problem.values(x)
    tight = np.isclose(x, unknowns.low, rtol=1e-9, atol=0.0) | np.isclose(x, unknowns.high, rtol=1e-9, atol=0.0)
    return Optimum(
        parameters=dict(zip(unknowns.told, unknowns.values(x).tolist(), strict=True)),
        values=unknowns.given_as(x),
        value=float(values[0]),
        limits=tuple((float(v), low, high) for v, (_, low, high) in zip(values[1:], limits, strict=True)),
        history=tuple(problem.history),
        at_bounds=tuple(name for name, one in zip(unknowns.names, tight, strict=True) if one),
        converged=bool(found.success),
        message=str(found.message),
        evaluations=runs.count,
        solution=runs.at(x),
    )


class _Problem:
    """Objective and constraints at vectors, with their derivatives."""

    def __init__(self, runs: Runs, functions: Sequence[Callable[[Any], float]]) -> None:
        self._runs, self._functions = runs, functions
        self._values: dict[bytes, Array] = {}
        self._slopes: dict[bytes, Array] = {}
        self.history: list[float] = []

    def values(self, x: Array) -> Array:
        key = x.tobytes()
        if key not in self._values:
            try:
                solution = self._runs.at(x)
                found = np.array([float(function(solution)) for function in self._functions])
            except (AssemblyError, SimulationError, ModelError):
                if not self._values:  # what is wrong from the beginning is told as it is
                    raise
                found = np.concatenate([[np.inf], np.zeros(len(self._functions) - 1)])
            self._values[key] = found
            self.history.append(float(found[0]) if np.isfinite(found[0]) else np.nan)
        return self._values[key]

    def slopes(self, x: Array) -> Array:
        key = x.tobytes()
        if key not in self._slopes:
            solution = self._runs.at(x)
            self._slopes[key] = np.array([slopes(solution, function) for function in self._functions])
        return self._slopes[key]


def _limit(k: int, given: Any) -> tuple[Callable[[Any], float], float, float]:
    try:
        what, low, high = given
        lower, upper = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ModelError(f"optimise: constraint {k} is {shown(given)}; give (function, low, high), None for no limit") from None
    if not lower <= upper or (lower == -np.inf and upper == np.inf):
        raise ModelError(f"optimise: constraint {k} lies between {lower:g} and {upper:g}; give a limit, the smaller one first")
    return function_of(what), lower, upper
