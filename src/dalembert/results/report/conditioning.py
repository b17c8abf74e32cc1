"""How near the run came to singular configurations, and whether it may have left its branch there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.compilation.mechanism import Mechanism
from dalembert.formulations import FORMULATIONS
from dalembert.results.report.table import Line

if TYPE_CHECKING:
    from dalembert.results.solution import Result

NEAR = 0.02  # pivot below which the joints that lock are named


def conditioning(solution: Result) -> Iterator[Line]:
    """A line on the smallest pivot of every run with constraints; a FAIL where a branch point was crossed."""
    s, mechanism = solution.statistics, solution.mechanism
    if not isinstance(mechanism, Mechanism) or mechanism.rank == 0 or s.smallest_pivot < 0.0:
        return
    shown = f"smallest pivot {s.smallest_pivot:.2g} at t = {s.smallest_pivot_time:.4g} s"
    data: dict[str, Any] = {"pivot": s.smallest_pivot, "time": s.smallest_pivot_time, "branch_points": s.branch_points}
    if len(solution.t) and s.smallest_pivot < NEAR:
        k = int(np.abs(solution.t - s.smallest_pivot_time).argmin())
        condition, joints = mechanism.locking(float(solution.t[k]), solution.x[k])
        near = "the mechanism is near a singular configuration" if condition > 1.0 / NEAR else "only the rows in use are"
        shown += f": {near} (condition {condition:.1e} at t = {solution.t[k]:.4g} s, joints {', '.join(map(repr, joints))})"
        data |= {"condition": condition, "joints": joints}
    yield Line("conditioning", shown, data=data, block="careful" if s.smallest_pivot < NEAR else "details")
    if s.branch_points:
        keeping = next(cls.keeps_branch for cls in FORMULATIONS.values() if cls.keeps_branch)
        text = f"branch not certain: {s.branch_points} singular configuration(s) crossed; {keeping} stays on its"
        yield Line("branch", f"{text} branch, or refuses", verdict="FAIL", data=s.branch_points)
