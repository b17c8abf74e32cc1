"""What is appended to the packed arrays I and F: sections, prescribed motions, tables of a length or a rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dalembert.compilation.pack_motions import add_motion
from dalembert.kernels.base import tables as T
from dalembert.model.forces.curves import curve_of
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
        self.I += values

    def section_f(self, entry: int, values: Iterable[float] = ()) -> None:
        self.I[entry] = len(self.F)
        self.F += values

    def motion(self, motion: Motion | None) -> int:
        """Append a motion; its offset in I, or -1 for none."""
        return add_motion(self.I, self.F, motion, self.functions)

    def curve(self, table: Table | None, zero: float = 0.0) -> int:
        """Append a table of a length or a rate, with its integral from `zero` on; its offset in I, or -1 for none."""
        if table is None:
            return -1
        curve = curve_of(table)
        integrals = curve.integral(curve.knots) - curve.integral(zero)
        self.I += [T.TABLE, len(self.F), len(curve.knots) - 1]
        self.F += [float(v) for v in (*curve.knots, *curve.coefficients.ravel(), *integrals)]
        return len(self.I) - 3
