"""The tables of a mechanism cut down to one force element, so that the kernels tell what it alone does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.arrays import Array, IntArray
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import plain_rows
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records, width
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
    I[T.FORCE_I] += width(T.FORCE_I) * before
    I[T.FORCE_F] += width(T.FORCE_F) * before
    I[T.NFORCE] = count
    I[T.NLAW] = np.sum(records(I, I, T.FORCE_I)["kind"] >= LAW_ANGLE)
    return I


def ask_plainly(mechanism: Mechanism, t: float, x: Array, function: Callable[[int, float, list[float], int], int]) -> None:
    """Evaluate the elements that have functions at one state by plain Python, `function` in the place of the users': nothing is
    compiled. What one fails with is no concern of the next."""
    from dalembert.kernels.base.views import System
    from dalembert.kernels.coordinates.kinematics import load_angles, load_poses
    from dalembert.kernels.mechanics.forces import force_elements
    from dalembert.kernels.mechanics.laws import LAW_ANGLE, force_laws

    I, others = mechanism.I.tolist(), plain_rows(mechanism.row_source)

    def callback(k: int, t: float, W: list[float], s: int) -> Any:
        return others(k, t, W, s) if k >= T.FIRST_ROWS else function(k, t, W, s)

    system = System(I, mechanism.F.tolist(), mechanism.workspace().tolist(), callback)
    state = x.tolist()
    load_poses(state, system)
    load_angles(state, system)
    first, first_F, last = I[T.FORCE_I], I[T.FORCE_F], -1
    I[T.NLAW] = 0
    for k, record in enumerate(records(mechanism.I, mechanism.I, T.FORCE_I)):
        if record["call"] > last:  # its first record acts for all
            last, I[T.NFORCE] = record["call"], max(1, int(record["members"]))
            I[T.FORCE_I], I[T.FORCE_F] = first + width(T.FORCE_I) * k, first_F + width(T.FORCE_F) * k
            plain_function(force_laws if record["kind"] >= LAW_ANGLE else force_elements)(T.WRENCH, t, system)
