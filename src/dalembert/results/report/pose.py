"""The lines of an equilibrium: whether everything balances in its one state, and whether it is stable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.model.later import carried_out
from dalembert.results.report.table import Line, limited

if TYPE_CHECKING:
    from dalembert.results.solution import Result

BALANCE = "balance of forces"


def pose_lines(solution: Result) -> Iterator[Line]:
    """Of states that `equilibrium` found, which says so in settings["pose"]: what, verdict, rates, limit and sizes."""
    pose = solution.settings.get("pose")
    if pose is None:
        return
    yield _at_rest(solution, pose) if pose["rates"] is None else _steady(solution, pose)
    text = str(pose["verdict"])
    if text == "unstable":
        yield Line("stability", "unstable: the smallest push leads away from it", None, "WARN", text)
    else:
        yield Line("stability", text, None, "pass" if text.startswith("stable") else "note", text)


def _at_rest(solution: Result, pose: dict[str, Any]) -> Line:
    """Accelerations and velocities of the state itself, against what loads alone would give."""
    scale, size = float(pose["scale"]), float(pose["size"])
    length = np.array([1.0, 1.0, 1.0, size, size, size])
    each = np.abs(solution.evaluated.acceleration[0].reshape(-1, 6) * length).max(axis=1, initial=0.0)
    u = solution.u[0]
    fast = float(np.abs(u).max(initial=0.0)) / np.sqrt(scale * size)
    worst = int(np.argmax(each))
    share = float(np.max([each[worst] / scale, fast]))  # NaN stays
    body = solution.mechanism.body_names[worst]
    what = (
        f"velocities of up to {np.abs(u).max():.3g} m/s or rad/s are left"
        if fast > each[worst] / scale
        else (f"{each[worst]:.3g} m/s^2 are left at {body!r}, {share:.2g} of what loads give")
    )
    return limited(BALANCE, what, share, float(pose["limit"]))


def _steady(solution: Result, pose: dict[str, Any]) -> Line:
    """Accelerations and velocities of the state itself, without those of what goes on at the rates that were found."""
    sizes = (float(pose[name]) for name in ("speed", "scale", "size"))
    share, left = carried_out("off_rates", solution, solution.evaluated.acceleration, pose["rates"], *sizes)
    return limited(BALANCE, left, share, float(pose["limit"]))
