"""Planar coordinates: what pushes a body out of the plane has no effect there, so it must not appear along the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.trajectory import Trajectory
from dalembert.results.report.table import Line

if TYPE_CHECKING:
    from dalembert.results.solution import Result


def plane_kept(solution: Result) -> Iterator[Line]:
    """One line for each function that leaves the plane somewhere in the run."""
    from dalembert.compilation.plane_forces import leaving_plane

    mechanism, steps = solution.mechanism, solution.steps
    if not isinstance(mechanism, Mechanism) or mechanism.plane is None or not len(steps.t):
        return
    assert isinstance(steps, Trajectory)
    for name, out in leaving_plane(steps):
        if np.any(out > 0):
            k = int(np.argmax(out))
            shown = f"{name!r} leaves the plane by {out[k]:.3g} N or N m at t = {steps.t[k]:.4g} s: use coordinates='absolute'"
            yield Line("plane", shown, "0", "FAIL", float(out[k]))
