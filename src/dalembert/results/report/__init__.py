"""The trust report of a run: what was checked, against which limit, and everything that a reader should know beside it.

    report = solution.report()
    print(report)                   # the verdict in words, checks with their limits, what to be careful about, what to do
    report.passed                   # True when no line says FAIL
    report.verdict                  # "pass", "FAIL", "WARN", or "no inconsistency found" where nothing estimates the error
    report.to_dict()                # the same for a program

A line with a limit passes or FAILs; WARN is what the equations of motion do not forbid but nature does, or what is doubtful of
a model; other lines are notes. Limits follow what the run was asked for, but no asking makes a drift above
`scales.LOOSEST_DRIFT` or an energy error above `checks.LOOSEST_ENERGY` pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dalembert.remarks.doubts import MODEL
from dalembert.results.invariants import Monitored, as_list
from dalembert.results.report.accuracy import error_estimate, sensitivity_lines, trajectory_error
from dalembert.results.report.advice import advised
from dalembert.results.report.checks import checks, conserved, enforced
from dalembert.results.report.conditioning import accelerations, conditioning, mass_conditioning, projection_lines, rounding
from dalembert.results.report.elements import contacts, driver_lines, force_lines, plane_kept
from dalembert.results.report.motion_doubts import motion_doubts
from dalembert.results.report.notes import mechanism_notes, run_notes
from dalembert.results.report.pose import pose_lines
from dalembert.results.report.table import Line, Report

if TYPE_CHECKING:
    from dalembert.results.solution import Result

__all__ = ["Line", "Report", "make_report"]


def make_report(solution: Result, invariants: Monitored | Sequence[Monitored] = (), *, verbose: bool = False) -> Report:
    """Check a solution and gather what its reader should know; invariants : what else should have stayed constant."""
    name = solution.mechanism.model.name or "model"
    found = [
        *checks(solution),
        *pose_lines(solution),
        *driver_lines(solution),
        *force_lines(solution),
        *projection_lines(solution),
        error_estimate(solution),
        *trajectory_error(solution),
        *sensitivity_lines(solution),
    ]
    found += [*conserved(solution, as_list(invariants)), *enforced(solution)]
    found += [
        *mass_conditioning(solution),
        *accelerations(solution),
        *rounding(solution),
        *plane_kept(solution),
        *contacts(solution),
        *conditioning(solution),
    ]
    if solution.status == "failed":  # what it cannot answer is not a pass
        found = [_unanswered(line) if line.verdict == "pass" else line for line in found]
    notes = (*mechanism_notes(solution), *motion_doubts(solution), *run_notes(solution))
    found = [advised(line, solution, doubted=any(note.name == MODEL for note in notes)) for line in found]
    return Report(f"trust report of {name!r}", (*found, *notes), verbose)


def _unanswered(line: Line) -> Line:
    """A check of a run that failed, which is no pass; energies are measured by their largest, which may be beyond bounds."""
    if line.name == "energy balance":
        return replace(line, value="not judged: the run failed", verdict="note", limit=None, share=None)
    return replace(line, verdict="note")
