"""Steps that a run keeps for its report where other times are saved: what happens between saved states is checked too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array

if TYPE_CHECKING:
    from dalembert.formulations.run import Run


MOST = 1024


class Watched:
    """Every `stride`-th accepted step, between MOST and MOST / 2 of them in a long run: all steps of a short one."""

    def __init__(self, run: Run, x_0: Array, t_0: float = 0.0) -> None:
        self.stride = 1
        self._run = run
        self._t, self._x = np.array([t_0]), x_0[None].copy()

    def room(self, count: int) -> int:
        """Room that the next `count` steps need; the stride grows where they are many."""
        while count > MOST * self.stride:
            self._thin()
        return count // self.stride + 1

    def add(self, t: Array, x: Array) -> None:
        """(k,) times and (k, n) states of the run."""
        self._t, self._x = np.concatenate([self._t, t]), np.concatenate([self._x, x])
        while len(self._t) > MOST:
            self._thin()

    def _thin(self) -> None:
        self.stride *= 2
        self._t, self._x = self._t[::2], self._x[::2]

    def result(self, end: float) -> tuple[Array, Array, dict[str, Array]]:
        """Times up to `end`, states of the mechanism, and what the formulation has beyond them, by name."""
        t, x = self._t[self._t <= end], self._x[self._t <= end]
        return t, self._run.to_absolute(x), self._run.more(x)
