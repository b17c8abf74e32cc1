"""Types of arrays, for signatures; symmetric matrices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def symmetric(six: Array) -> Array:
    """(.., 3, 3) matrices of (.., 6) numbers xx, xy, xz, yy, yz, zz."""
    return np.asarray(six[..., [[0, 1, 2], [1, 3, 4], [2, 4, 5]]])
