"""What is appended to the packed arrays I and F: sections, prescribed motions, tables of a length or a rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dalembert.compilation.pack_motions import add_motion
from dalembert.kernels.base import tables as T
from dalembert.model.motions import Motion, Table


class Writer:
    """Sections appended to I and F; the header of I keeps where they start.

    functions : functions of time that motions are made of, and the numbers of their code in the callback
    """

    def __init__(self, functions: dict[Callable[..., Any], int]) -> None:
        self.functions = functions
        self.I: list[int] = [0] * T.HEADER_I
        self.F: list[float] = [0.0] * T.HEADER_F

    def section_i(self, entry: int, values: Iterable[int] = ()) -> None:
        self.I[entry] = len(self.I)
        self.I += [int(v) for v in values]

    def section_f(self, entry: int, values: Iterable[float] = ()) -> None:
        self.I[entry] = len(self.F)
        self.F += [float(v) for v in values]

    def motion(self, motion: Motion | None) -> int:
        """Append a motion; its offset in I, or -1 for none."""
        return add_motion(self.I, self.F, motion, self.functions)

    def curve(self, table: Table | None, zero: float = 0.0) -> int:
        """Append a table of a length or a rate; its offset in I, or -1 for none.

        Between its values runs a cubic that rises and falls with them, so that a damper curve never gives energy; its integral
        from `zero` on follows.
        """
        if table is None:
            return -1
        from scipy.interpolate import PchipInterpolator

        curve = PchipInterpolator(table.times, table.values)
        knots, slopes = np.asarray(table.times), curve.derivative()(np.asarray(table.times)[[0, -1]])
        inside = float(np.clip(zero, knots[0], knots[-1]))
        beyond = zero - inside  # the table goes on with its end slope
        end = float(slopes[0] if beyond < 0.0 else slopes[1])
        offset = float(curve.integrate(knots[0], inside)) + beyond * (float(curve(inside)) + 0.5 * beyond * end)
        integrals = [float(curve.integrate(knots[0], knot)) - offset for knot in knots]
        self.I += [T.TABLE, len(self.F), len(knots) - 1]
        self.F += [float(v) for v in (*knots, *curve.c[::-1].T.ravel(), *integrals)]
        return len(self.I) - 3
