"""Events: roots of a function of the state; record them, or stop there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError, SimulationError
from dalembert.mechanism import Compiled
from dalembert.model.validation import shown

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Event:
    """Where `function(state)` changes sign.

    function : of a `State` (state.time, state.position("slider"), state.coordinate("A"), ...; of a Lagrangian system
        state["x"], state["x'"]), returning a number
    direction : 0 any change, 1 only rising, -1 only falling;  stop : end the run there
    """

    function: Callable[[Any], float]
    name: str = "event"
    stop: bool = False
    direction: int = 0

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ModelError(f"event {self.name!r}: function is {self.function!r}; give a function of the state")
        if self.direction not in (-1, 0, 1):
            raise ModelError(f"event {self.name!r}: direction is {self.direction!r}; give -1, 0 or 1")

    def value(self, mechanism: Compiled, t: float, x: Array) -> float:
        """The function at one state; what it raises is reported with the event's name and time."""
        try:
            value = self.function(mechanism.state(t, x))
        except Exception as problem:
            text = f"event {self.name!r}: its function raised {problem!r} at t = {t:.6g} s"
            raise SimulationError(text, time=t) from problem
        if np.ndim(value) > 0 or np.asarray(value).dtype.kind not in "iuf":
            text = f"event {self.name!r}: its function returned {shown(value)}, of shape {np.shape(value)}"
            raise SimulationError(f"{text}; return a number that changes sign at the event", time=t)
        value = float(value)
        if not np.isfinite(value):
            raise SimulationError(f"event {self.name!r}: its function returned {value} at t = {t:.6g} s", time=t)
        return value

    def crossed(self, before: float, after: float) -> bool:
        """True when the sign changed between two steps in the wanted direction."""
        if before == 0.0 or before * after > 0.0:
            return False
        return self.direction == 0 or (after > before) == (self.direction > 0)


def locate(event: Event, mechanism: Compiled, state_at: Callable[[float], Array], t_0: float, t_1: float) -> float:
    """The root of the event in (t_0, t_1], to rounding, by Brent's method on the dense output."""
    from scipy.optimize import brentq

    def value(t: float) -> float:
        return event.value(mechanism, t, state_at(t))

    if value(t_1) == 0.0:
        return t_1
    return float(brentq(value, t_0, t_1, xtol=1e-14 * max(1.0, abs(t_1)), rtol=1e-14))
