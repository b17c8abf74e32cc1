"""Collects the saved states of a run and, if asked, appends them to a store while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from dalembert.arrays import Array
from dalembert.formulations.run import Run


class Writer(Protocol):
    """Where states go while the run goes on."""

    def append(self, t: Array, x: Array, more: Mapping[str, Array] | None = None) -> None: ...
    def close(self, solution: Any) -> None: ...


class Recorder:
    """Takes states of the run, keeps those of the mechanism and what the formulation has beyond them, by name.

    open_writer : makes a writer for what is kept beside the states, given as arrays of no rows
    """

    def __init__(self, run: Run, open_writer: Callable[[dict[str, Array]], Writer] | None = None) -> None:
        self._run = run
        self._t: list[Array] = []
        self._x: list[Array] = []
        self._more: list[dict[str, Array]] = []
        self._tangents: list[Array] = []
        self._writer = None if open_writer is None else open_writer(run.more(self._nothing))

    @property
    def _nothing(self) -> Array:
        """No states of the run."""
        return np.zeros((0, self._run.state_size))

    def add(self, t: Array, x: Array, states: Array | None = None) -> None:
        """(k,) times and (k, n) states of the run; the mechanism's states where they are known exactly."""
        if len(t):
            states, more = self._run.to_absolute(x) if states is None else states, self._run.more(x)
            self._t.append(t)
            self._x.append(states)
            self._more.append(more)
            if self._run.plain is not self._run:
                self._tangents.append(self._run.tangents(x))
            if self._writer is not None:
                self._writer.append(t, states, more)

    def result(self) -> tuple[Array, Array, dict[str, Array]]:
        """Times, states of the mechanism, and the rest by name."""
        if not self._t:
            return np.zeros(0), np.zeros((0, len(self._run.mechanism.x_0))), self._run.more(self._nothing)
        more = {name: np.concatenate([part[name] for part in self._more]) for name in self._more[0]}
        return np.concatenate(self._t), np.concatenate(self._x), more

    def tangents(self) -> Array:
        """(nt, n, p) derivatives of the run's states by parameters."""
        return np.concatenate([self._run.tangents(self._nothing), *self._tangents])

    def close(self, solution: Any) -> None:
        """Write what is left, the outputs, and how the run ended."""
        if self._writer is not None:
            self._writer.close(solution)
