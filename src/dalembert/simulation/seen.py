"""What the functions of events see: a state, with all that a solution has, reactions and energies among it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.phases import Phase
from dalembert.compilation.trajectory import without_time
from dalembert.formulations import REFERENCE
from dalembert.formulations.evaluation import evaluate
from dalembert.formulations.run import Run


class Seen:
    """One state of a run: its outputs are those of a `State`, then those of a solution, without the time axis."""

    def __init__(self, state: Any, result: Callable[[], Any]) -> None:
        self._state, self._make, self._result = state, result, None

    def __getitem__(self, name: Any) -> Any:
        return self._state[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if hasattr(self._state, name):
            return getattr(self._state, name)
        if self._result is None:
            self._result = self._make()
        value = getattr(self._result, name)
        return (lambda *args, **options: without_time(value(*args, **options))) if callable(value) else without_time(value)


class Sight:
    """Makes what functions of events see, of states of a run; the equations behind reactions are prepared once."""

    def __init__(self, run: Run, made: Callable[..., Any], model: Any, phase: Phase) -> None:
        self._run, self._made, self._of = run, made, (model, phase)
        self._reference: Run | None = None

    def __call__(self, t: float, x: Array) -> Seen:
        state = np.array(self._run.to_absolute(x[None])[0])
        return Seen(self._run.mechanism.state(t, state), lambda: self._result(t, state, x))

    def _result(self, t: float, state: Array, x: Array) -> Any:
        result = self._made(self._run.mechanism, np.array([t]), state[None], more=self._run.more(x[None]))
        result.model, result.phase = self._of
        if not result.formulation_type.compliant:
            self._reference = self._reference or REFERENCE().prepare(self._run.mechanism)
            result.__dict__["evaluated"] = evaluate(self._reference, result.t, result.x)
        result.__dict__["_spatial"] = None  # in the plane reactions follow from its own rows
        return result
