"""gradient: a number of a run with its derivatives by parameters, exact for the steps that the run took."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compiled import Coordinates
from dalembert.formulations import Formulation
from dalembert.integrators.integrator import Integrator
from dalembert.model.validation import by_name, nearest
from dalembert.questions.objectives import function_of
from dalembert.questions.unknowns import Unknowns, named_values
from dalembert.simulation.simulate import duration, simulate

_TIMES = 401


class RunOptions(TypedDict, total=False):
    """Of `simulate`, by keyword."""

    formulation: Formulation | None
    integrator: Integrator | None
    coordinates: Coordinates | None
    save_at: npt.ArrayLike | None


@dataclass(frozen=True, eq=False)
class Gradient:
    """value : of the objective;  by : its derivative by each parameter, by name;  solution : the run"""

    value: float
    by: Mapping[str, float]
    solution: Any

    def __getitem__(self, name: str) -> float:
        if name not in self.by:
            raise KeyError(f"no derivative by {name!r}; {nearest(name, self.by)}")
        return self.by[name]

    def __repr__(self) -> str:
        return f"<{self.value:.9g}; by {named_values(self.by)}>"


@by_name
def gradient(
    build: Any,
    objective: str | Callable[[Any], float],
    parameters: Mapping[str, Any],
    *,
    t_end: float,
    **options: Unpack[RunOptions],
) -> Gradient:
    """A number of a run and its derivatives by parameters, from one run.

    build : a function of the parameters that returns a Model, or a LagrangianSystem;  t_end : end of the run [s]
    objective : a function of the solution that returns a number, as lambda s: da.integral(s, "A.ty"), da.largest(s, "B.fx")
        or s.energy.total[-1]; or an output by name, whose last value it is
    parameters : values by name, all of which it is differentiated by
    save_at : times at which the objective sees the run, default 401 from start to end;  other options : as in `simulate`
    """
    unknowns = Unknowns("gradient", build, parameters, None)
    runs = Runs(unknowns, t_end, options)
    function, solution = function_of(objective), runs.at(unknowns.start)
    value = float(function(solution))
    return Gradient(value, dict(zip(unknowns.names, slopes(solution, function).tolist(), strict=True)), solution)


def slopes(solution: Any, function: Callable[[Any], float]) -> Array:
    """(p,) derivatives of a number of a run."""
    found = solution.sensitivities
    function(solution)  # it has then seen where outputs are largest
    return np.array([found.slope(solution, function, name) for name in found.names])


class Runs:
    """Runs at vectors of unknowns, with their derivatives. count : how many were made"""

    def __init__(self, unknowns: Unknowns, t_end: float, options: RunOptions) -> None:
        self.unknowns, self.t_end, self.count = unknowns, duration(t_end), 0
        self._options: RunOptions = {**options}
        if self._options.get("save_at") is None:
            self._options["save_at"] = np.linspace(0.0, self.t_end, _TIMES)
        self._kept: dict[bytes, Any] = {}

    def at(self, x: Array) -> Any:
        """The run there; that of the last few vectors is remembered."""
        key = np.asarray(x, dtype=float).tobytes()
        if key not in self._kept:
            values, names = self.unknowns.keywords(x), list(self.unknowns.names)

            @cache
            def run(*save_at: tuple[float, ...]) -> Any:
                options: RunOptions = {**self._options, "save_at": save_at[0]} if save_at else self._options
                build, t_end, self.count = self.unknowns.build, self.t_end, self.count + 1
                return simulate(build, t_end, parameters=values, sensitivities=names, progress=False, **options)

            made = run()
            made.sensitivities.again = run
            self._kept = {**dict(list(self._kept.items())[-3:]), key: made}
        return self._kept[key]
