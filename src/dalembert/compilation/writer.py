"""What is appended to the packed arrays I and F: sections, prescribed motions, tables of a length or a rate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dalembert.kernels.base import tables as T
from dalembert.model.motions import Constant, Harmonic, Motion, Polynomial, SmoothStep, Table


class Writer:
    """Sections appended to I and F; the header of I keeps where they start."""

    def __init__(self) -> None:
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
        if motion is None:
            return -1
        numbers: Sequence[float]
        match motion:
            case Constant(value):
                kind, count, numbers = T.CONSTANT, 1, (value,)
            case Polynomial(coefficients):
                kind, count, numbers = T.POLYNOMIAL, len(coefficients), coefficients
            case Harmonic(amplitude, frequency, phase, offset):
                kind, count, numbers = T.HARMONIC, 4, (amplitude, frequency, phase, offset)
            case SmoothStep(start, stop, t_start, t_stop):
                kind, count, numbers = T.SMOOTH_STEP, 4, (start, stop, t_start, t_stop)
            case _:
                from scipy.interpolate import CubicSpline

                spline = CubicSpline(motion.times, motion.values, bc_type="natural")
                kind, count = T.TABLE, len(motion.times) - 1
                numbers = [*motion.times, *spline.c[::-1].T.ravel()]
        return self._motion(kind, count, numbers)

    def _motion(self, kind: int, count: int, numbers: Iterable[float]) -> int:
        offset = len(self.I)
        self.I += [kind, len(self.F), count]
        self.F += [float(v) for v in numbers]
        return offset

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
        return self._motion(T.TABLE, len(knots) - 1, [*knots, *curve.c[::-1].T.ravel(), *integrals])
