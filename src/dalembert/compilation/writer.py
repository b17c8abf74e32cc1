"""What is appended to the packed arrays I and F: sections, prescribed motions, tables of a length or a rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dalembert.kernels.base import tables as T
from dalembert.model.forces.curves import curve_of
from dalembert.model.motions import Constant, Function, Harmonic, Motion, Polynomial, Product, SmoothStep, Sum, Table, terms
from dalembert.model.validation import as_float


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
        if motion is None:
            return -1
        if not isinstance(motion, Sum | Product):
            return self._leaf(motion)
        parts = [[self._leaf(leaf) for leaf in term] for term in terms(motion)]
        at = len(self.I)
        self.I += [T.COMPOSED, len(parts), *(entry for term in parts for entry in (len(term), *term))]
        return at

    def _leaf(self, motion: Motion) -> int:
        match motion:
            case Constant(value):
                return self._record(T.CONSTANT, 1, (value,))
            case Polynomial(coefficients):
                return self._record(T.POLYNOMIAL, len(coefficients), coefficients)
            case Harmonic(amplitude, omega, phase, offset):
                return self._record(T.HARMONIC, 4, (amplitude, omega, phase, offset))
            case SmoothStep(start, stop, t_start, t_stop):
                return self._record(T.SMOOTH_STEP, 4, (start, stop, t_start, t_stop))
            case Table():
                knots, pieces = motion.spline()
                kind = T.PERIODIC_TABLE if motion.periodic else T.TABLE
                return self._record(kind, len(knots) - 1, (*knots, *pieces.ravel()))
            case Function(function):
                self.I += [T.FUNCTION, self.functions[function], 0]
                return len(self.I) - 3
        raise AssertionError(motion)

    def _record(self, kind: int, count: int, numbers: Iterable[float]) -> int:
        self.I += [kind, len(self.F), count]
        self.F += map(as_float, numbers)
        return len(self.I) - 3

    def curve(self, table: Table | None, zero: float = 0.0, origin: float = 0.0) -> int:
        """Append a table of a length, an angle or a rate, with its integral from `zero` on; its offset in I, or -1 for none.

        origin : where what the table counts is 0
        """
        if table is None:
            return -1
        curve = curve_of(table)
        integrals = curve.integral(curve.knots) - curve.integral(zero - origin)
        numbers = (*(curve.knots + origin), *curve.coefficients.ravel(), *integrals)
        return self._record(T.TABLE, len(curve.knots) - 1, numbers)
