"""Whether sensitivities are what the run says: against runs with parameters a little beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dalembert.errors import DalembertError
from dalembert.results.report.table import Line, limited

if TYPE_CHECKING:
    from dalembert.results.solution import Result

NAME = "sensitivities"
LOOSEST = 1e-3  # of the change that they predict


def sensitivity_lines(solution: Result) -> Iterator[Line]:
    """One line, of a run that has them: all parameters changed together, by two more runs."""
    found = solution.sensitivities
    if found is None or found.check is None:
        return
    try:
        difference, step = found.check()
    except DalembertError as problem:
        yield Line(NAME, f"not checked: the runs beside this one failed: {problem}", None, "WARN")
        return
    shown = f"by {', '.join(found.names)}: {difference:.2g} off a central difference of runs, parameters changed by {step:.1g}"
    yield limited(NAME, shown, difference, LOOSEST)
