"""How well prescribed motions were followed, after every step, saved or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dalembert.report.scales import drift_limits
from dalembert.report.table import Line, limited

if TYPE_CHECKING:
    from dalembert.solution import Result


def driver_lines(solution: Result) -> Iterator[Line]:
    """max |coordinate - f(t)| over all steps, angles unwrapped."""
    statistics, options = solution.statistics, solution.settings["formulation"]["options"]
    name, at = statistics.driver_gap_name, statistics.driver_gap_time
    if name and statistics.accepted:
        gap = statistics.driver_gap
        shown = f"{gap:.3g} m or rad from f(t), worst of all steps at {name!r}, t = {at:.4g} s"
        if solution.settings["formulation"]["type"] == "Soft" or options.get("projection") == "none":
            yield Line("prescribed motions", f"{shown}: joints give way, as asked for", data=gap)
        else:
            row = solution.mechanism.rows_of(name)[0]
            yield limited("prescribed motions", shown, gap, drift_limits(solution.steps, "position")(name, row))
