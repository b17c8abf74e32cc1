"""Exact Jacobians for implicit stages: what fills the seam `slopes` of kernels/time/steps.py once a run asks for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.compilation.compiled_loops import compiled
from dalembert.formulations.derivatives import Derivatives, columns_for
from dalembert.formulations.run import Run

NEVER = -1


class Slopes:
    """The seam of one run, and what must live as long as it.

    at : its address, NEVER where kernels of a formulation do not take numbers with derivatives, and for steps that a
        formulation makes by itself where one of the users' functions does not, or nothing is compiled;  arrays : of the bundle
    """

    def __init__(self, run: Run) -> None:
        from dalembert.kernels.base.compiler import JIT

        self.at = NEVER
        self.arrays: dict[str, Any] = {}
        if JIT:
            self._compile(run)
        elif not run.own_slopes:
            self._plain(run)

    def _compile(self, run: Run) -> None:
        from numba.core.errors import NumbaError

        from dalembert.kernels.base.slots import address

        own = run.own_slopes
        try:
            I, W, work, self._alive = columns_for(run, forces_only=bool(own))
            if own and run.callbacks.differenced:  # its own differences take fewer calls
                return
            kernel = compiled(own or "exact_slopes")
        except NumbaError:  # a formulation of one's own: its Jacobians stay differences
            return
        self.arrays = {
            "slopes_I": I,
            "slopes_of": np.arange(run.size, dtype=np.int64),
            "slopes_W": W,
            "slopes_work": work,
            "slopes_out": np.zeros((run.size, run.state_size)),
        }
        self.at = address(kernel)

    def _plain(self, run: Run) -> None:
        from dalembert.kernels.base.slots import address
        from dalembert.kernels.base.tables import NON_FINITE, OK
        from dalembert.kernels.time.simplified_newton import middle, put

        derivatives, wanted, none = Derivatives(run), np.arange(run.size), np.zeros(0, dtype=np.int64)
        out = np.zeros((run.size, run.state_size))

        def exact_slopes(steps: Any, system: Any) -> int:
            t = steps.t + steps.c[middle(steps)] * steps.h
            status = derivatives.rates(t, steps.y, wanted, none, np.zeros(run.state_size), out, system)
            return NON_FINITE if status == OK and not put(steps, out) else status

        self._alive = [exact_slopes]
        self.at = address(exact_slopes)
