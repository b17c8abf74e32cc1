"""What force elements say of a run: tables that were left, bushings turned too far."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.trajectory import Trajectory
from dalembert.results.report.table import Line

if TYPE_CHECKING:
    from dalembert.results.solution import Result


def force_lines(solution: Result) -> Iterator[Line]:
    """One line for each element that has something to say."""
    mechanism, steps = solution.mechanism, solution.steps
    if not isinstance(mechanism, Mechanism) or not len(steps.t):
        return
    assert isinstance(steps, Trajectory)
    joints = {joint.name: joint for joint in mechanism.model.joints}
    for force in mechanism.model.forces:
        if said := force.remark(steps, joints):
            yield Line("force elements", f"{force.noun} {force.name!r}: {said}", None, "WARN")
