"""Contacts of rolling bodies are two-sided: where one would have to pull, a real body lifts off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dalembert.compilation.mechanism import Mechanism
from dalembert.results.report.table import Line

if TYPE_CHECKING:
    from dalembert.results.solution import Result


def contacts(solution: Result) -> Iterator[Line]:
    """One warning for each rolling body whose normal force becomes negative."""
    steps, mechanism = solution.steps, solution.mechanism
    if not isinstance(mechanism, Mechanism) or not len(steps.t):
        return
    for joint in mechanism.model.joints:
        rolls = [p for p in joint.primitives if p.law.endswith("height")]
        if not rolls:
            continue
        normal = steps.multiplier(joint.name)[:, 0]  # the height comes first: along the plane's normal, on the body
        size = float(np.max(np.abs(normal[np.isfinite(normal)]), initial=0.0))
        pulls = np.flatnonzero(normal < -1e-9 * size)
        if len(pulls):
            at, least = steps.t[pulls[0]], float(np.min(normal[pulls]))
            shown = f"contact {joint.name!r} would lift off at t = {at:.4g} s: its normal force becomes {least:.3g} N"
            yield Line(f"contact {joint.name}", shown, "0", "WARN", least)
