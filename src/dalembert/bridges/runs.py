"""What bridges call: outputs of runs at many vectors of parameters, with their derivatives where these are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, SimulationError
from dalembert.model.validation import nearest, shown
from dalembert.questions.gradient import RunOptions, Runs
from dalembert.questions.unknowns import Unknowns
from dalembert.results.signals import signal
from dalembert.simulation.ensemble import simulate_many
from dalembert.simulation.sweep import named_outputs

SINGLE = "numbers come in single precision, so runs and derivatives are known to seven digits at most"


class OutputsOfRuns:
    """names : of the parameters, in the order of vectors;  shapes : of the outputs, by name

    Formulation and integrator are those of the run at the parameters given, for all others too.
    """

    def __init__(
        self, owner: str, build: Any, outputs: Any, parameters: Mapping[str, Any], t_end: float, options: RunOptions
    ) -> None:
        if not outputs:
            raise ModelError(f'{owner}: outputs are {shown(outputs)}; give signals by name and functions, ["slider.x", peak]')
        unknowns = Unknowns(owner, build, parameters, None)
        first = Runs(unknowns, t_end, options).at(unknowns.start)
        options = {**options, "formulation": first.formulation, "integrator": first.integrator, "save_at": first.t}
        self._owner, self._options, self._runs = owner, options, Runs(unknowns, t_end, options)
        self.names = unknowns.names
        self._outputs = named_outputs(outputs, {})
        self.shapes: dict[str, tuple[int, ...]] = {}
        for name, value in zip(self._outputs, self._of(first), strict=True):
            if value.ndim and len(value) != len(first.t):
                raise ModelError(
                    f"{owner}: output {name!r} has the shape {value.shape}; give one number of the run, or one value, or"
                    f" several, for each of its {len(first.t)} times"
                )
            self.shapes[name] = value.shape

    def ordered(self, parameters: Mapping[str, Any]) -> list[Any]:
        """Values in the order of vectors, of a dict that has all of them."""
        if not isinstance(parameters, Mapping):
            raise ModelError(f"{self._owner}: parameters are {shown(parameters)}; give a dict of them by name")
        for name in parameters:
            if name not in self.names:
                raise ModelError(f"{self._owner}: there is no parameter {name!r}; {nearest(str(name), self.names)}")
        if missing := [name for name in self.names if name not in parameters]:
            raise ModelError(f"{self._owner}: it also needs {', '.join(missing)}")
        return [parameters[name] for name in self.names]

    def values(self, x: Array) -> tuple[Array, ...]:
        """(..., *shape) of each output at (..., p) parameters, all runs together."""
        rows = np.asarray(x, dtype=float).reshape(-1, len(self.names))
        table = dict(zip(self.names, rows.T, strict=True))
        runs = simulate_many(self._runs.unknowns.build, self._runs.t_end, parameters=table, progress=False, **self._options)
        if len(runs.failed):
            raise SimulationError(f"{self._owner}: {runs.message[int(runs.failed[0])]}")
        found = [self._of(runs.solution(k)) for k in range(len(rows))]
        return tuple(self._joined([one[k] for one in found], x) for k in range(len(self.shapes)))

    def with_derivatives(self, x: Array) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Values, and (..., *shape, p) derivatives of each output, run by run."""
        rows = np.asarray(x, dtype=float).reshape(-1, len(self.names))
        if not np.isfinite(rows).all():
            raise ModelError(f"{self._owner}: parameters {', '.join(self.names)} are {rows.tolist()}; give finite numbers")
        runs = [self._runs.at(row) for row in rows]
        found, slopes = [self._of(run) for run in runs], [self._slopes(run) for run in runs]
        count = range(len(self.shapes))
        return tuple(self._joined([one[k] for one in found], x) for k in count), tuple(
            self._joined([one[k] for one in slopes], x) for k in count
        )

    def _function(self, name: str) -> Any:
        output = self._outputs[name]
        return output if callable(output) else lambda solution: signal(solution, output).values

    def _of(self, solution: Any) -> list[Array]:
        values = [np.asarray(self._function(name)(solution), dtype=float) for name in self._outputs]
        for (name, shape), value in zip(self.shapes.items(), values, strict=False):
            if value.shape != shape:
                raise ModelError(f"{self._owner}: output {name!r} has the shape {value.shape}, in the first run {shape}")
        return values

    def _slopes(self, solution: Any) -> list[Array]:
        """(*shape, p) of each output."""
        found, made = solution.sensitivities, []
        for name, shape in self.shapes.items():
            by = found.derivative if shape else found.slope
            made.append(np.stack([by(solution, self._function(name), p) for p in self.names], axis=-1))
        return made

    def _joined(self, values: list[Array], x: Array) -> Array:
        return np.stack(values).reshape((*np.shape(x)[:-1], *values[0].shape))
