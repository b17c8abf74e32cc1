"""What residuals are compared with: the size and speed of each connected part, never those of a divergence."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

import numpy as np

from dalembert.compilation.flatten import flatten
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.parts import connected_parts
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import DalembertError
from dalembert.results.moving import Moving

if TYPE_CHECKING:
    from dalembert.results.solution import Result

STRICTEST = 1e-10
LOOSEST_DRIFT = 1e-6
ROUNDING = 4.4e-14  # 200 eps: what double precision leaves of residuals, of which redundant rows show their combinations
LOOSEST_SHARE = 1e-4  # of a part's own size or speed
_OPTION = {"position": "tolerance", "velocity": "velocity_tolerance"}


def moving_parts(solution: Result, *, at_start: bool = False) -> list[Moving]:
    """The connected parts of a mechanism along a run, or at its start; none of a Lagrangian system."""
    mechanism = solution.mechanism
    if not isinstance(mechanism, Mechanism):
        return []
    if at_start:
        states = Trajectory(mechanism, np.zeros(1), mechanism.x_0[None])
        return [Moving(part, states) for part in connected_parts(mechanism.model)]
    if "moving parts" not in solution.__dict__:
        assert isinstance(solution, Trajectory)
        solution.__dict__["moving parts"] = [Moving(part, solution) for part in connected_parts(mechanism.model)]
    made: list[Moving] = solution.__dict__["moving parts"]
    return made


def passed_on(solution: Result) -> float:
    """The largest work of one force element within a run [J], which others may take at once: between a press's load and its
    motor far more energy passes than ever is in the motion."""
    mechanism, most = solution.mechanism, 0.0
    for force in mechanism.model.forces if isinstance(mechanism, Mechanism) else ():
        with suppress(DalembertError):  # of a stored run whose function is missing
            power = solution.effort(force.name).power if force.works else np.zeros(len(solution.t))  # type: ignore[attr-defined]
            work = np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(solution.t))
            most = max(most, float(np.ptp(work)) if work.size and np.isfinite(work).all() else 0.0)
    return most


def drift_limits(solution: Result, level: Literal["position", "velocity"]) -> Callable[[str, int], float]:
    """Largest residual that passes [SI], of an element and one of its rows.

    What the formulation was asked to keep, times ten, but not more than LOOSEST_DRIFT and LOOSEST_SHARE of the part's own size
    or speed; and never less than rounding.
    """
    options = solution.settings["formulation"]["options"]
    asked = min(10 * float(options.get(_OPTION[level], 0.0)), LOOSEST_DRIFT)
    state = solution.q if level == "position" else solution.u
    largest, far = (float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) for values in (state, solution.q))
    owner = {name: part for part in moving_parts(solution) for name in part.part.elements}
    lengths = _measured_in_metres(solution)
    span = abs(float(solution.settings["t_end"]) - solution.begin_time) or 1.0  # [s], of one state

    def limit(element: str, row: int) -> float:
        own = size = 1.0
        if (part := owner.get(element)) is not None:
            size = part.size or 1.0
            own = size if row in lengths else 1.0
            if level == "velocity":
                slowest = own / span
                own = max(part.speed, size * part.spin, slowest) if row in lengths else max(part.spin, slowest)
        own = min(1.0, own) if np.isfinite(own) else 1.0
        places = far * part.spin if level == "velocity" and part is not None else 0.0  # velocities there turn with them
        rounding = min(ROUNDING * (largest + places), LOOSEST_DRIFT * max(1.0, size))
        return max(STRICTEST * own, min(asked, LOOSEST_SHARE * own), rounding)

    return limit


def _measured_in_metres(solution: Result) -> set[int]:
    """Rows that are lengths; the others are angles, of which the size of the mechanism says nothing, or a user's."""
    if not isinstance(solution.mechanism, Mechanism):
        return set()
    primitives = [item.primitive for item in flatten(solution.mechanism.model).primitives]
    metric = [p.kind in ("C", "O", "D") or (p.kind in ("U", "V") and p.law not in ("", "coupling")) for p in primitives]
    return {row.index for row in solution.mechanism.rows if row.primitive < len(metric) and metric[row.primitive]}
