"""Where a run ended, with all that its time loop and its formulation remember: what another run goes on from.

Going on with the same method repeats what the unbroken run would have done, bit for bit where its steps are the same: the state
holds what the formulation remembers (a basis, impulses of the last step), `kept` what the integrator and the workspace do
(rates, step size, predictions, Jacobians and factors of implicit stages, which of redundant rows act). A file holds all but
factors, which are made anew of the Jacobian, and of redundant rows those that act, which are chosen anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.integrators.advance import Advance
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import COUNTERS

_NUMBERS = ["h", "growth", "h_done", "t_old", "h_stages", "h_factored", "contraction", "err_before", "stiffness"]
_INTEGERS = ["solved_by", "retry", "predicted", "jacobian_is", "have_rate", "jacobians", "fresh", "beyond"]
_ARRAYS = ["y", "stages", "jacobian", "factors", "pivots", "memory"]
_RANGES = {"solved_by": 3, "retry": 10**6, "predicted": 3, "jacobian_is": 3, "have_rate": 2, "jacobians": 10**12}
_RANGES |= {"fresh": 10**6, "beyond": 10**12}
STORED = ("numbers", "y", "stages", "memory", "jacobian")  # nothing of a file becomes an index


@dataclass(frozen=True, eq=False)
class Ending:
    """t : when;  start : of the grid of fixed steps;  x, state : of the mechanism, of the run with all that it remembers
    kept : what the time loop and the workspace remember, by name, float64; empty where the run was left within a step
    """

    t: float
    start: float
    x: Array
    state: Array
    kept: dict[str, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, advance: Advance) -> Ending:
        """Where an integration stands."""
        b, n = advance.bundle, advance.run.plain.state_size  # derivatives by parameters do not go on
        kept = {name: _as_floats(b.arrays[name]) for name in _ARRAYS if name in b.arrays}
        kept |= {"y": kept["y"][:n], "stages": kept["stages"][:, :n].copy()}
        kept["numbers"] = np.array([*b.numbers((*_NUMBERS, *_INTEGERS)).values(), b.at_slopes > 0], dtype=float)
        kept["W"] = advance.run.plain.W.copy()
        return cls(advance.t, float(b.start), advance.state, advance.x[:n].copy(), kept)

    def fits(self, advance: Advance) -> bool:
        """Whether an integration has room for it: the same method in the same version."""
        b = advance.bundle
        sizes = {name: _as_floats(b.arrays[name]).shape for name in _ARRAYS if name in b.arrays}
        sizes |= {"numbers": (len(_NUMBERS) + len(_INTEGERS) + 1,), "W": advance.run.W.shape}
        here = {name: array.shape for name, array in self.kept.items()}
        known = {"numbers", "y", "stages"} <= here.keys() and here.items() <= sizes.items()
        if not known or self.state.shape != advance.x.shape:
            return False
        integers = self.kept["numbers"][len(_NUMBERS) : -1]
        return all(0 <= v < top for v, top in zip(integers.tolist(), _RANGES.values(), strict=True))

    def resume(self, advance: Advance) -> None:
        """Let an integration that starts here go on as if it had made the steps before. Its counters begin anew, but for that
        of Jacobians, by which a run finds out that exact ones pay."""
        b, run = advance.bundle, advance.run
        for name in _ARRAYS:
            if name in self.kept:
                array = getattr(b, name)
                array[...] = self.kept[name].view(array.dtype) if array.dtype == np.complex128 else self.kept[name]
        *values, exact = self.kept["numbers"].tolist()
        if exact and b.at_slopes == 0:
            advance.ask_for_slopes()
        for name, value in zip(_NUMBERS, values, strict=False):
            setattr(b, name, value)
        for name, value in zip(_INTEGERS, values[len(_NUMBERS) :], strict=True):
            setattr(b, name, int(value))
        if "jacobian" in b.arrays and "jacobian" not in self.kept:
            b.jacobian_is = 0  # is found anew
        elif "factors" not in self.kept:
            b.h_factored = 0.0
        advance.jacobians_before = int(b.jacobians)
        if "W" in self.kept:
            run.W[:] = self.kept["W"]
            run.W[run.I[T.W_STAT] :][: COUNTERS.width] = 0.0


def _as_floats(array: npt.NDArray[np.generic]) -> Array:
    return array.view(np.float64).copy() if array.dtype == np.complex128 else array.astype(np.float64)
