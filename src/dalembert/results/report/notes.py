"""What the reader of a report should know beside the checks: the mechanism, the run, its settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.parts import unconnected
from dalembert.compilation.trajectory import Trajectory
from dalembert.model.assembly import Assembly
from dalembert.remarks.body_words import IN_MM, UP, gravity_words
from dalembert.remarks.cures import cure
from dalembert.remarks.doubts import MODEL, doubts
from dalembert.remarks.driver_words import driven
from dalembert.remarks.left_free import FREE, UNMEANT, left_free
from dalembert.remarks.periods import periods_apart
from dalembert.remarks.points_off_bodies import markers_off_bodies
from dalembert.remarks.row_words import freedom, held_twice, not_unique
from dalembert.remarks.starts_elsewhere import is_rough_pose, moved_by_drivers
from dalembert.results.plain import INCOMPLETE, duration
from dalembert.results.report.advice import opened
from dalembert.results.report.checks import ENDED_WELL
from dalembert.results.report.table import Block, Line, Verdict, listed

if TYPE_CHECKING:
    from dalembert.results.solution import Result

DRIVEN = "driven"  # lines of drivers


def mechanism_notes(solution: Result) -> Iterator[Line]:
    mechanism = solution.mechanism
    counts = {
        "degrees_of_freedom": mechanism.degrees_of_freedom,
        "rank": mechanism.rank,
        "rows": len(mechanism.rows),
        "redundant": len(mechanism.redundant),
        "out_of_plane": len(mechanism.out_of_plane),
    }
    yield Line("degrees of freedom", freedom(mechanism, alone=True), data=counts)  # for all: a missing joint is seen in it
    yield from driver_notes(solution)
    flat = f", {counts['out_of_plane']} of them out of the plane" if mechanism.out_of_plane else ""
    yield Line("constraint rows", f"{counts['rows']} of rank {counts['rank']}{flat}", data=counts["rows"], block="details")
    if mechanism.redundant:
        rows = [f"{row.element}.{row.label}" for row in mechanism.redundant]
        later = "not later on: the pose of the start is singular" if opened(solution) else "the motion is not affected"
        text = f"{held_twice(mechanism)}: other joints hold this already, {later}"
        yield Line("redundant rows", text, data=rows, block="careful")
    if mechanism.not_unique:
        text = f"{not_unique(mechanism)}: redundancy leaves these undetermined; for unique ones, {cure(mechanism)}"
        yield Line("reactions not unique", text, data=list(mechanism.not_unique), block="careful")
    if dependent := solution.statistics.dependent_rows:
        text = f"rows that became dependent during the run, as in a singular configuration: {dependent}"
        yield Line("dependent rows", text, data=dependent, block="careful")
    if mechanism.moved:
        rough = isinstance(mechanism, Mechanism) and is_rough_pose(mechanism.whole or mechanism.model, mechanism.assembly)
        closed = "loops were closed from a rough pose; they may close in other ways, too: look at the start"
        misfit = (
            "drivers and coordinates that are given ask for it" if _was_asked(mechanism) else "the initial data did not fit"
        )
        yield listed("assembly moved", mechanism.moved, closed if rough else misfit)
    if mechanism.completed:
        names = list(mechanism.completed)
        yield Line("completed", f"velocities of {', '.join(names)}", data=names, block="details")
    for warning in mechanism.warnings:
        yield Line("warning", warning, data=warning, block="careful")
    if isinstance(mechanism, Mechanism):
        if loose := unconnected(mechanism.model):
            yield listed("unconnected", loose, "no joint, no force element: it moves freely; a joint may be missing")
        for name, text in left_free(mechanism) if "over" not in solution.settings else ():
            meant = name == FREE and not text.endswith(UNMEANT)  # on springs, motors or laws: that is the design
            verdict: Verdict = "WARN" if name == MODEL else "note"
            yield Line(name, text, verdict=verdict, data=text, block="checks" if meant else "careful")
        doubtful = doubts(mechanism.whole or mechanism.model, mechanism.assembly, mechanism.given_at)
        for doubt in doubtful:
            yield Line(MODEL, doubt, verdict="WARN", data=doubt, block="careful")
        for text in markers_off_bodies(mechanism.whole or mechanism.model):
            yield Line("marker", text, data=text, block="careful")
        if (choice := mechanism.assembly.choice) and _starts_as_assembled(solution.steps, mechanism.assembly):
            yield Line("start", choice, data=list(mechanism.assembly.chosen), block="careful")
        for text in moved_by_drivers(mechanism.whole or mechanism.model, mechanism.given_at) if mechanism.moved else ():
            if "over" not in solution.settings and not any(doubt.startswith(text) for doubt in doubtful):
                yield Line("start", text, data=text, block="careful")
    if mechanism.degrees_of_freedom > 0 and len(solution.t) > 1 and _rests(solution):
        loads = [load for load in getattr(mechanism.model, "forces", ()) if load.verb in ("force", "torque", "motor")]
        of_loads = ", ".join(f"{load.noun} {load.name!r}" for load in loads)
        acts = f", though {of_loads} {'acts' if len(loads) == 1 else 'act'}: see axes and points" if loads else ""
        text = f"the run starts in an equilibrium and stays there{acts}; for a motion give a rate, a driver or another start"
        yield Line("nothing moves", text, block="careful")
    if mode := solution.settings.get("mode"):
        yield Line("mode", f"{mode}; its shape, closed pose by pose, is no motion of the model", data=mode, block="careful")
    if light := solution.settings.get("without_mass"):
        yield listed("without mass", light, "positions and their rates only; reactions and energies are refused")
    if replaced := solution.settings.get("replaced"):
        yield listed("replaced", replaced, "a driver in whose place the sweep is")
    if still := solution.settings.get("still"):
        meaning = f"what moves in time stands still in a sweep, as at t = {still['at']:g} s"
        yield listed("held", still["elements"], meaning)
    if functions := solution.settings.get("functions"):
        yield listed("functions", functions, "their t is the swept coordinate: right only where they do not depend on time")
    if slow := solution.settings.get("plain_python"):
        yield listed("plain Python", slow, "could not be compiled: slow, but no less exact", "details")


def driver_notes(solution: Result) -> Iterator[Line]:
    """What drivers do over the run; over what was asked for, where it broke off."""
    if {"over", "mode"} & solution.settings.keys():  # t is no time
        return
    end = solution.end_time if solution.status in ENDED_WELL and len(solution.t) else float(solution.settings["t_end"])
    whole = solution.model if solution.pieces else None
    for text, facts in driven(solution.mechanism, solution.begin_time, end, whole=whole):
        yield Line(DRIVEN, text, data=facts)
    for text in periods_apart(solution.mechanism):
        yield Line("periods", text, data=text, block="careful")


def run_notes(solution: Result) -> Iterator[Line]:
    """What happened, and all that is needed to repeat the run."""
    for line in _run_notes(solution):
        yield line if line.block == "careful" else replace(line, block="details")


def _run_notes(solution: Result) -> Iterator[Line]:
    s = solution.statistics
    for warning in solution.warnings:
        yield Line("warning", warning, data=warning, block="careful")
    if solution.events:
        shown = ", ".join(f"{name!r} at {solution.instant(t)}" for name, t in solution.events)
        yield Line("events", shown, data=[list(event) for event in solution.events])
    if s.accepted:
        steps = f"{s.accepted} accepted, {s.rejected} rejected ({s.refused} refused)"
        counters = {name: value for name, value in asdict(s).items() if name != "time"}
        sizes = f"; size {s.smallest_step:.3g} to {s.largest_step:.3g} {solution.along[1]}" if s.largest_step else ""
        yield Line("steps", f"{steps}{sizes}", data=counters)
        newton = f"Newton {s.newton_average:.3g} on average, {s.newton_maximum} at most"
        yield Line("work", f"{s.rate_evaluations} rate evaluations, {s.projections} projections, {newton}")
        if s.stage_solver:
            iterations = f"{s.stage_iterations_average:.3g} iterations on average, {s.stage_iterations_maximum} at most"
            newton = f"Newton in {s.stage_newton_steps} steps with {s.stage_jacobians} Jacobian matrices"
            shown = f"{s.stage_solver}; {iterations}" + (f"; {newton}" if s.stage_newton_steps else "")
            yield Line("implicit stages", shown, data=s.stage_solver)
        if s.basis_restarts:
            yield Line(
                "tangent basis", f"could not be continued and was found afresh {s.basis_restarts} times", data=s.basis_restarts
            )
    else:
        yield Line("steps", "not known: the run left no statistics" if solution.status == INCOMPLETE else "none")
    if s.time:
        parts = ", ".join(f"{part} {duration(seconds)}" for part, seconds in s.time.items())
        yield Line("wall time", parts, data=dict(s.time))
    settings = solution.settings
    for part in ("formulation", "integrator"):
        options = ", ".join(f"{key}={value!r}" for key, value in settings[part]["options"].items())
        yield Line(part, f"{settings[part]['type']}({options})", data=settings[part])
        if part == "formulation" and (why := settings.get("chosen")):
            yield Line("chosen", f"{settings[part]['type']} by default: {why}", data=why)
    yield Line("coordinates", settings["coordinates"], data=settings["coordinates"])
    if isinstance(solution.mechanism, Mechanism):
        model = solution.mechanism.model
        words = gravity_words(model)
        block: Block = "careful" if words.endswith((UP, IN_MM)) else "details"
        yield Line("gravity", words, data=model.gravity.tolist(), block=block)
    versions = ", ".join(f"{name} {version}" for name, version in solution.versions.items())
    yield Line("versions", versions, data=dict(solution.versions))
    model_hash = solution.mechanism.model.hash
    yield Line("model hash", model_hash, data=model_hash)
    cited = ", ".join(solution.citations) or "nothing"
    yield Line("to cite", f"{cited} (dalembert.cite(solution) prints them)", data=list(solution.citations))


def _starts_as_assembled(steps: object, assembly: Assembly) -> bool:
    """Not from a state that was given."""
    assert isinstance(steps, Trajectory)
    chosen = [(steps.velocity(body.name), body.velocity) for body in assembly.bodies if body.name in assembly.chosen]
    return all(len(v) > 0 and np.allclose(v[0], velocity, rtol=1e-9, atol=1e-12) for v, velocity in chosen)


def _was_asked(mechanism: object) -> bool:
    """Whether motions of drivers or coordinates of joints have moved bodies, and no joint was open."""
    if not isinstance(mechanism, Mechanism) or mechanism.assembly.open:
        return False
    given = [value for joint in mechanism.model.joints for value in joint.coordinate if value is not None]
    return bool(given) or any(moved_by_drivers(mechanism.whole or mechanism.model, mechanism.given_at))


def _rests(solution: Result) -> bool:
    """Whether no coordinate changes by more than rounding."""
    q = solution.x[:, : solution.mechanism.nq]
    return bool(np.ptp(q, axis=0).max(initial=0.0) <= 1e-12 + 1e-9 * np.abs(q).max(initial=0.0))
