"""How far projections onto the constraints moved the mechanism, against what its steps moved by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dalembert.results.report.table import Line, limited

if TYPE_CHECKING:
    from dalembert.results.solution import Result

LIMIT = 0.5


def projection_lines(solution: Result) -> Iterator[Line]:
    """The largest projection of a step over the step's own change; those below 1e-6 m or rad are left out.

    Adaptive steps count a tenth of it as error and so never come near the limit; fixed steps have nothing else that would
    tell a residual that jumps.
    """
    statistics = solution.statistics
    if statistics.largest_projection > 0.0:
        share = statistics.largest_projection_share
        shown = f"{share:.3g} of its step's own change ({statistics.largest_projection:.3g} m or rad)"
        yield limited("largest projection", f"{shown}, t = {statistics.largest_projection_at:.4g} s", share, LIMIT)
