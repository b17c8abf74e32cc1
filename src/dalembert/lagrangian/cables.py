"""A cable that does not stretch, as a traced row: its length along body-fixed points, through which it slides freely.

    g = sum_k |x_k+1 - x_k| - offset

A part is the number of the body that carries a point, three numbers its place on it. The tension is minus the multiplier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dalembert.lagrangian.laws import Data, TracedBody


def cable(parts: Sequence[str], d: Data, bodies: Sequence[TracedBody]) -> list[Any]:
    """Length along the points less `offset`."""
    total = -d.offset
    for k in range(len(parts) - 1):
        here, there = d.numbers[3 * k : 3 * k + 3], d.numbers[3 * k + 3 : 3 * k + 6]
        e = there - here
        if parts[k] != parts[k + 1]:  # else of constant length
            e = bodies[int(parts[k + 1])].point(there) - bodies[int(parts[k])].point(here)
        total = total + (e @ e) ** 0.5
    return [total]
