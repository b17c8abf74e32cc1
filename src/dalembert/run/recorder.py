"""Collects the saved states of a run and, if asked, appends them to a store while it goes on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dalembert.formulations.run import Run

if TYPE_CHECKING:
    from dalembert.results.solution import Result

Array = npt.NDArray[np.float64]


class Recorder:
    """Takes states of the run, keeps those of the mechanism and what the formulation has beyond them, by name."""

    def __init__(self, run: Run, settings: dict[str, Any], out: str | os.PathLike[str] | None, overwrite: bool) -> None:
        self._run = run
        self._nothing = np.zeros((0, run.state_size))
        self._t: list[Array] = []
        self._x: list[Array] = []
        self._more: list[dict[str, Array]] = []
        self._writer = None
        if out is not None:
            from dalembert.io.results import open_writer

            self._writer = open_writer(run.mechanism, settings, out, overwrite, run.more(self._nothing))

    def add(self, t: Array, x: Array, states: Array | None = None) -> None:
        """(k,) times and (k, n) states of the run; the mechanism's states where they are known exactly."""
        if len(t):
            states, more = self._run.to_absolute(x) if states is None else states, self._run.more(x)
            self._t.append(t)
            self._x.append(states)
            self._more.append(more)
            if self._writer is not None:
                self._writer.append(t, states, more)

    def result(self) -> tuple[Array, Array, dict[str, Array]]:
        """Times, states of the mechanism, and the rest by name."""
        t, x = [np.zeros(0), *self._t], [np.zeros((0, len(self._run.mechanism.x_0))), *self._x]
        parts = [self._run.more(self._nothing), *self._more]
        return np.concatenate(t), np.concatenate(x), {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}

    def close(self, solution: Result) -> None:
        """Write what is left, the outputs, and how the run ended."""
        if self._writer is not None:
            self._writer.close(solution)
