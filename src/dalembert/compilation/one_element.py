"""The tables of a mechanism cut down to one force element, so that the kernels tell what it alone does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.arrays import Array, IntArray
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import plain_rows
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import width
from dalembert.model.elements import Force
from dalembert.model.validation import plain_function


def cut_to(mechanism: Mechanism, element: Force) -> IntArray:
    """I with the records of this element alone."""
    from dalembert.kernels.mechanics.laws import LAW_ANGLE

    joints = {joint.name: joint for joint in mechanism.model.joints}
    before, count = 0, 0
    for other in mechanism.model.forces:
        before, count = before + count, len(other.records(joints))
        if other.name == element.name:
            break
    I = mechanism.I.copy()
    I[T.FORCE_I] += T.FORCE_I_W * before
    I[T.FORCE_F] += width(T.FORCE_F) * before
    I[T.NFORCE] = count
    I[T.NLAW] = np.sum(I[I[T.FORCE_I] :][: T.FORCE_I_W * count : T.FORCE_I_W] >= LAW_ANGLE)
    return I


def ask_plainly(
    mechanism: Mechanism, element: Force, t: float, x: Array, function: Callable[[int, float, Array, int], int]
) -> None:
    """Evaluate the element at one state by plain Python, `function` in the place of the user's: nothing is compiled."""
    from dalembert.kernels.base.views import System
    from dalembert.kernels.coordinates.kinematics import load_angles, load_poses
    from dalembert.kernels.mechanics.forces import force_elements
    from dalembert.kernels.mechanics.laws import force_laws

    I, others = cut_to(mechanism, element), plain_rows(mechanism.row_source)

    def callback(k: int, t: float, W: Array, s: int) -> Any:
        return others(k, t, W, s) if k >= T.FIRST_ROWS else function(k, t, W, s)

    kernel, I[T.NLAW] = force_laws if I[T.NLAW] else force_elements, 0
    system = System(I, mechanism.F, mechanism.workspace(), callback)
    load_poses(x, system)
    load_angles(x, system)
    plain_function(kernel)(T.WRENCH, t, system)
