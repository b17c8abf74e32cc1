"""How well prescribed motions were followed, after every step, saved or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dalembert.compilation.pack_motions import stops_between
from dalembert.integrators.advance import LOOKS
from dalembert.lagrangian.source import uses_time
from dalembert.results.report.scales import drift_limits
from dalembert.results.report.table import Line, limited

if TYPE_CHECKING:
    from dalembert.results.solution import Result


def driver_lines(solution: Result) -> Iterator[Line]:
    """max |coordinate - f(t)| over all steps, angles unwrapped; whether steps go over breakpoints of motions; how closely
    forces of time were looked at."""
    yield from _gap(solution)
    yield from _breakpoints(solution)
    mechanism, span = solution.mechanism, float(solution.settings["t_end"]) - solution.begin_time
    of_time = mechanism.functions or uses_time(getattr(mechanism, "row_source", ""))
    of_time = of_time or getattr(getattr(mechanism, "code", None), "of_time", False)
    if of_time and not solution.settings["integrator"]["options"].get("step"):
        shown = f"looked at every {span / LOOKS:.3g} s or closer; a shorter push may be missed"
        yield Line("functions of time", shown, block="careful")


def _breakpoints(solution: Result) -> Iterator[Line]:
    begin, end = (solution.t[0], solution.t[-1]) if len(solution.t) else (0.0, 0.0)
    inside = stops_between(solution.mechanism.I, solution.mechanism.F, begin, end)
    if len(inside) and len(solution.t) == solution.statistics.accepted + 1:
        missed = [t for t in inside.tolist() if np.abs(solution.t - t).min() > 1e-12 * t]
        at = f", first at t = {missed[0]:.4g} s" if missed else ""
        yield limited("breakpoints", f"{len(missed)} of {len(inside)} inside a step{at}", len(missed), 0)


def _gap(solution: Result) -> Iterator[Line]:
    statistics, options = solution.statistics, solution.settings["formulation"]["options"]
    name, at = statistics.driver_gap_name, statistics.driver_gap_time
    if name and statistics.accepted:
        gap = statistics.driver_gap
        shown = f"{gap:.3g} m or rad from f(t), worst of all steps at {name!r}, t = {at:.4g} s"
        if solution.formulation_type.compliant or options.get("projection") == "none":
            yield Line("prescribed motions", f"{shown}: joints give way, as asked for", data=gap)
        else:
            row = solution.mechanism.rows_of(name)[0]
            yield limited("prescribed motions", shown, gap, drift_limits(solution.steps, "position")(name, row))
