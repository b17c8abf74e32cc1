"""Is what a formulation keeps constant by projection conserved at all? Its rate along the motion, which nothing corrects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import SimulationError
from dalembert.formulations import REFERENCE
from dalembert.formulations.invariants import invariant_functions
from dalembert.kernels.base import tables as T
from dalembert.results.report.checks import guarded
from dalembert.results.report.table import Line, limited

if TYPE_CHECKING:
    from dalembert.results.solution import Result


CANCELS = 1e-5  # differences of a smooth function are exact to about 1e-9
_SAMPLES = 6
_STEP = 1e-5


def enforced(solution: Result) -> Iterator[Line]:
    """One line for each function that was kept."""
    for function in invariant_functions(getattr(solution.formulation, "invariants", None)):
        if len(solution.steps.t):
            name = getattr(function, "__name__", "function")
            yield guarded(f"rate of {name}", lambda line, function=function: _rate(solution.steps, line, function))  # type: ignore[misc]


def _rate(steps: Result, line: str, function: Callable[..., Any]) -> Line:
    """max |f_t + f_x x'| / max (|f_t| + sum |f_x_i x'_i|): terms that do not cancel are a change that projection hides."""
    mechanism, n = steps.mechanism, steps.mechanism.nq + steps.mechanism.nu
    chosen = np.unique(np.linspace(0, len(steps.t) - 1, _SAMPLES).round().astype(int))
    rates, sizes = np.zeros(len(chosen)), np.zeros(len(chosen))
    for row, k in enumerate(chosen):
        t, x = float(steps.t[k]), steps.x[k]
        moves = np.concatenate([[1.0], _derivative(mechanism, t, x)[:n]])
        delta = _STEP * np.maximum(1.0, np.abs(np.concatenate([[t], x[:n]])))
        times, states = np.full(2 * (n + 1), t), np.tile(x, (2 * (n + 1), 1))
        for i in range(n + 1):
            for sign, at in ((1.0, 2 * i), (-1.0, 2 * i + 1)):
                if i == 0:
                    times[at] += sign * delta[0]
                else:
                    states[at, i - 1] += sign * delta[i]
        values = type(steps)(mechanism, times, states, settings=steps.settings).kept_values(function)
        terms = moves * (values[0::2] - values[1::2]) / (2 * delta)
        rates[row], sizes[row] = abs(float(np.sum(terms))), float(np.sum(np.abs(terms)))
    k = int(np.argmax(rates))
    share = float(rates[k] / (np.max(sizes) or 1.0))
    shown = f"{rates[k]:.3g} 1/s at t = {steps.t[chosen[k]]:.4g} s, {share:.2g} of its terms"
    return limited(
        line, shown + (": it is not conserved, projection bends the motion" if share > CANCELS else ""), share, CANCELS
    )


def _derivative(mechanism: Any, t: float, x: Array) -> Array:
    """x' of the equations of motion."""
    run = REFERENCE().prepare(mechanism.as_told)
    dx, state = np.zeros(run.state_size), x.copy()
    if run.rate(t, state, dx) != T.OK:
        raise SimulationError(f"accelerations could not be found at t = {t:.6g} s")
    return dx
