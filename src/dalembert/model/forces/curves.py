"""Tables of a length, an angle or a rate: between their values runs a cubic that rises and falls with them, so that a damper
curve never gives energy; outside they go on with their end slopes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.motions import Motion, Table
from dalembert.model.validation import number, shown


class Curve:
    """knots : (n + 1,);  coefficients : (n, 4) of each piece, in rising order"""

    def __init__(self, table: Table) -> None:
        from scipy.interpolate import PchipInterpolator

        self._curve = PchipInterpolator(table.times, table.values)
        self._integral = self._curve.antiderivative()
        self.knots = np.asarray(table.times)
        self.coefficients = self._curve.c[::-1].T

    def integral(self, s: npt.ArrayLike) -> Array:
        """From the first knot to s."""
        inside = np.clip(s, self.knots[0], self.knots[-1])
        beyond, value = np.asarray(s) - inside, self._curve(inside)
        return np.asarray(self._integral(inside) + beyond * (value + 0.5 * beyond * self._curve(inside, 1)))


@lru_cache(maxsize=64)
def curve_of(table: Table) -> Curve:
    """The curve of a table, made once."""
    return Curve(table)


def plain_table(owner: str, label: str, table: Table) -> Table:
    """A table that is neither periodic nor clamped, which means nothing for a length or a rate."""
    if getattr(table, "periodic", False) or getattr(table, "clamp", False):
        raise ModelError(f"{owner}: {label} is a periodic or clamped table; give Table(lengths or rates, efforts) alone")
    return table


def gain(owner: str, label: str, value: float | Table) -> float | Table:
    """A stiffness or damping, not negative, or a table in its place."""
    if isinstance(value, Table):
        return plain_table(owner, label, value)
    if isinstance(value, Motion):
        raise ModelError(f"{owner}: {label} is {shown(value)}, a motion; give a number, or a Table of what it depends on")
    return number(owner, label, value, least=0.0)


def split(value: float | Table) -> tuple[float, Table | None]:
    """A gain as records have it: a number, and a table or none."""
    return (0.0, value) if isinstance(value, Table) else (value, None)


def table_energy(table: Table, s: Array, zero: float, reach: float) -> tuple[Array, Array]:
    """What `Force.stored` asks, counted from `zero` on."""
    curve = curve_of(table)
    U = curve.integral(s) - curve.integral(zero)
    return U, np.abs(U) + most(table) * reach


def most(table: Table) -> float:
    """The largest effort among its values."""
    return max(map(abs, table.values))


def beyond(*given: tuple[object, Callable[[], Array], str]) -> str:
    """What to say of values outside tables, "" for none; given : what may be a table, values where it is one, what they are"""
    said = []
    for table, of, what in given:
        values = of() if isinstance(table, Table) else np.zeros(0)
        if not isinstance(table, Table) or not len(values):
            continue
        low, high = float(np.min(values)), float(np.max(values))
        if low < table.times[0] or high > table.times[-1]:
            span = f"its table from {table.times[0]:.4g} to {table.times[-1]:.4g}"
            said.append(f"{what} from {low:.4g} to {high:.4g}, {span}, which goes on with its end slopes")
    return "; ".join(said)
