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
        self._nothing = np.zeros((0, run.state_size))
        self._t: list[Array] = []
        self._x: list[Array] = []
        self._more: list[dict[str, Array]] = []
        self._tangents: list[Array] = [run.tangents(self._nothing)]
        self._writer = None if open_writer is None else open_writer(run.more(self._nothing))

    def add(self, t: Array, x: Array, states: Array | None = None) -> None:
        """(k,) times and (k, n) states of the run; the mechanism's states where they are known exactly."""
        if len(t):
            states, more = self._run.to_absolute(x) if states is None else states, self._run.more(x)
            self._t.append(t)
            self._x.append(states)
            self._more.append(more)
            self._tangents.append(self._run.tangents(x))
            if self._writer is not None:
                self._writer.append(t, states, more)

    def result(self) -> tuple[Array, Array, dict[str, Array]]:
        """Times, states of the mechanism, and the rest by name."""
        if len(self._t) == 1:
            return self._t[0].copy(), self._x[0].copy(), {name: part.copy() for name, part in self._more[0].items()}
        t, x = [np.zeros(0), *self._t], [np.zeros((0, len(self._run.mechanism.x_0))), *self._x]
        parts = [self._run.more(self._nothing), *self._more]
        return np.concatenate(t), np.concatenate(x), {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}

    def tangents(self) -> Array:
        """(nt, n, p) derivatives of the run's states by parameters."""
        return np.concatenate(self._tangents)

    def close(self, solution: Any) -> None:
        """Write what is left, the outputs, and how the run ended."""
        if self._writer is not None:
            self._writer.close(solution)
