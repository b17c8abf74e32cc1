"""The report of a run in pieces: of each check the worst, and what events did between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dalembert.remarks.doubts import MODEL
from dalembert.results.report.accuracy import NAME, error_estimate, sensitivity_lines, trajectory_error
from dalembert.results.report.advice import advised
from dalembert.results.report.checks import status
from dalembert.results.report.notes import DRIVEN, driver_notes, run_notes
from dalembert.results.report.table import Line, Report

if TYPE_CHECKING:
    from dalembert.results.solution import Result

_WORST = ("FAIL", "WARN", "pass", "note")


def report_in_pieces(solution: Result, report_of: Callable[[Result], Report]) -> Report:
    """Of each check the worst of all pieces, with its place; notes are those of the last piece.

    A piece without duration has nothing to check: an event acted where the run began. What step control promises is measured by
    the motion of the whole run; how little a short piece moves says nothing.
    """
    pieces = [piece for piece in solution.pieces if piece.end_time > piece.begin_time] or list(solution.pieces)
    reports = [report_of(piece) for piece in pieces]
    names = dict.fromkeys(line.name for report in reports for line in report.lines)
    lines: list[Line] = []
    for name in names:
        found = [(k, line) for k, report in enumerate(reports) for line in report.lines if line.name == name]
        if name == MODEL:  # not of the run: each is told once
            lines += {line.value: line for _, line in found}.values()
            continue
        if name == DRIVEN:
            lines += driver_notes(solution)
            continue
        k, line = min(found, key=lambda item: (_WORST.index(item[1].verdict), -_size(item[1])))
        if line.verdict == "note":
            k, line = found[-1]
        elif len(reports) > 1:
            piece = pieces[k]
            where = f"t = {piece.begin_time:.4g} to {piece.end_time:.4g} s"
            line = replace(line, value=f"{line.value}; worst of {len(found)} pieces: {where}")
        lines.append(line)
    whole = {line.name: line for line in (status(solution), *run_notes(solution))}
    if solution.settings["integrator"]["options"].get("step") is None:
        whole[NAME] = error_estimate(solution)
    lines = [whole.get(line.name, line) for line in lines]
    lines = [advised(line, solution) for line in (*lines, *trajectory_error(solution), *sensitivity_lines(solution))]
    return replace(reports[-1], lines=(*lines[:1], *acted(solution), *_jumps(solution), *lines[1:]))


def _jumps(solution: Result) -> list[Line]:
    """Whether T + U - W goes over from piece to piece: what events do is counted in W, another model is not."""
    found = []
    for one, two in pairwise(solution.pieces):
        if len(one.t) and len(two.t) and one.t[-1] == two.t[0] and not two.settings.get("kinematics"):
            before, after = one.energy, two.energy
            size = sum(
                float(np.abs(part[k]))
                for e, k in ((before, -1), (after, 0))
                for part in (e.kinetic, e.potential, e.external_work)
            )
            jump = float(after.total[0] - before.total[-1])
            if abs(jump) > 1e-8 * size:
                found.append((abs(jump), two.begin_time, jump))
    if not found:
        return []
    _, t, jump = max(found)
    shown = f"jumps by {jump:.3g} J at t = {t:.4g} s, and no event did it: the pieces are not of one run"
    return [advised(Line("energy between pieces", shown, "0", "WARN", jump), solution)]


def _size(line: Line) -> float:
    return float(line.data) if isinstance(line.data, int | float) and line.data == line.data else 0.0


def acted(solution: Result) -> list[Line]:
    """What events did, and what the energy changed by."""
    done = [piece.acted for piece in solution.pieces if piece.acted is not None]
    if not done:
        return []
    jumps = [change for _, _, change in done]
    worst = max(done, key=lambda item: abs(item[2]))
    names = ", ".join(f"{name!r} ({sum(one == name for one, _, _ in done)})" for name in dict.fromkeys(n for n, _, _ in done))
    text = f"{names}; energy changed by {sum(jumps):.3g} J in all, counted as external work, most at t = {worst[1]:.4g} s:"
    line = Line("events that act", f"{text} {worst[2]:.3g} J", data=[list(item) for item in done])
    through = [(name, piece.begin_time) for piece in solution.pieces for name in piece.settings.get("went_on", ())]
    if through:
        name, t = through[0]
        value = f"{line.value}; the function of {name!r}, brought to rest on zero at t = {t:.4g} s, went on the way it came"
        advice = "if that is a contact, hold it there: let the action Close or Lock a joint, or stop the run"
        line = replace(line, value=value, verdict="WARN", advice=advice)
    return [line]
