"""What the functions of events see: a state, with all that a solution has, reactions and energies among it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import OneState
from dalembert.compilation.phases import Phase
from dalembert.formulations import REFERENCE
from dalembert.formulations.evaluation import evaluate
from dalembert.formulations.run import Run


class Sight:
    """Makes what functions of events see, of states of a run; the equations behind reactions are prepared once."""

    def __init__(self, run: Run, made: Callable[..., Any], model: Any, phase: Phase) -> None:
        self._run, self._made, self._of = run, made, (model, phase)
        self._reference: Run | None = None

    def __call__(self, t: float, x: Array) -> OneState:
        told = np.array(self._run.to_absolute(x[None])[0])
        state = self._run.mechanism.state(t, told)
        state.result = cache(lambda: self._result(t, told, x))
        return state

    def _result(self, t: float, state: Array, x: Array) -> Any:
        result = self._made(self._run.mechanism, np.array([t]), state[None], more=self._run.more(x[None]))
        result.model, result.phase = self._of
        if not result.formulation_type.compliant:
            self._reference = self._reference or REFERENCE().prepare(self._run.mechanism)
            result.__dict__["evaluated"] = evaluate(self._reference, result.t, result.x)
        result.__dict__["_spatial"] = None  # in the plane reactions follow from its own rows
        return result
