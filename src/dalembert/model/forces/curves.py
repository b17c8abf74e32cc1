"""Tables of a length or a rate: between their values runs a cubic that rises and falls with them, so that a damper curve never
gives energy; outside they go on with their end slopes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.motions import Table


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
        raise ModelError(f"{owner}: {label} is a periodic or clamped table; give Table(lengths or rates, tensions) alone")
    return table


def beyond(table: Table, values: Array, what: str) -> str:
    """What to say of values outside the table, "" for none."""
    low, high = float(np.min(values, initial=np.inf)), float(np.max(values, initial=-np.inf))
    if (low >= table.times[0] and high <= table.times[-1]) or not len(values):
        return ""
    span = f"its table from {table.times[0]:.4g} to {table.times[-1]:.4g}"
    return f"{what} from {low:.4g} to {high:.4g}, {span}, which goes on with its end slopes"
