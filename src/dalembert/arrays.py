"""Types of arrays, for signatures; symmetric matrices; records of arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def symmetric(six: Array) -> Array:
    """(.., 3, 3) matrices of (.., 6) numbers xx, xy, xz, yy, yz, zz."""
    return np.asarray(six[..., [[0, 1, 2], [1, 3, 4], [2, 4, 5]]])


class InShort:
    """A dataclass of arrays over time that shows itself by their shapes and ranges, not by their numbers."""

    def __repr__(self) -> str:
        known: Any = self
        told = [f"{field.name} {_short(getattr(self, field.name))}" for field in fields(known) if field.name[0] != "_"]
        return f"<{type(self).__name__}: {'; '.join(told)}>"


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, float | np.floating):
        return f"{value + 0.0:.6g}"
    if not isinstance(value, np.ndarray) or not value.size:
        return str(value)
    if value.size <= 3:
        return f"({', '.join(map(_short, value.flat))})"
    return f"{value.shape} from {_short(value.min())} to {_short(value.max())}"
