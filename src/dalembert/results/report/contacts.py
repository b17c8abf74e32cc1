"""Contacts, cams and cables are two-sided: where one would have to pull, or a cable to push, a real one lets go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dalembert.compilation.mechanism import Mechanism
from dalembert.results.report.table import Line

if TYPE_CHECKING:
    from dalembert.results.solution import Result

# law -> what it is called, the sign of its multiplier while it holds, what happens else, what becomes negative
_ONE_SIDED = {
    **{f"{form} height": ("contact", 1.0, "lift off", "normal force") for form in ("sphere", "disc", "ellipsoid")},
    "cam flat": ("cam", 1.0, "lift off", "normal force"),
    "cam roller": ("cam", 1.0, "lift off", "normal force"),
    "cable": ("cable", -1.0, "go slack", "tension"),
}


def contacts(solution: Result) -> Iterator[Line]:
    """One warning for each rolling body, cam or cable whose force becomes negative."""
    steps, mechanism = solution.steps, solution.mechanism
    if not isinstance(mechanism, Mechanism) or not len(steps.t):
        return
    for joint in (joint for joint in mechanism.model.joints if joint.primitives):  # others are out of force
        law = joint.primitives[0].law  # the height comes first: along the plane's normal, on the body
        if law not in _ONE_SIDED:
            continue
        what, sign, happens, quantity = _ONE_SIDED[law]
        force = sign * steps.multiplier(joint.name)[:, 0]
        size = float(np.max(np.abs(force[np.isfinite(force)]), initial=0.0))
        pulls = np.flatnonzero(force < -1e-9 * size)
        if len(pulls):
            at, least = steps.t[pulls[0]], float(np.min(force[pulls]))
            shown = f"{what} {joint.name!r} would {happens} at t = {at:.4g} s: its {quantity} becomes {least:.3g} N"
            yield Line(f"{what} {joint.name}", shown, "0", "WARN", least)
