"""What elements say of a run: contacts, cams and cables that a real one would let go, tables that were left, what leaves
the plane, how well prescribed motions were followed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.pack_motions import motions_of, stops_between
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import ModelError
from dalembert.integrators.advance import LOOKS
from dalembert.lagrangian.source import uses_time
from dalembert.model.cables import vanishing_parts
from dalembert.model.cams import undercut
from dalembert.model.motions import Table, leaves
from dalembert.results.report.scales import drift_limits
from dalembert.results.report.table import Line, limited

if TYPE_CHECKING:
    from dalembert.results.solution import Result

VANISHING = 1e-3  # length of a part of a cable, over the whole: it has no direction any more
CANCELLED = 1e-6  # work, over the energy: elements took what others gave, and their sum says nothing of either
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
        if law == "cam flat" and (back := undercut(joint.primitives[0])):
            shown = (
                f"the curve of cam {joint.name!r} turns back at psi = {back[0]:.4g} rad, radius of curvature {back[1]:.3g} m"
            )
            yield Line("undercut", shown, "0", "WARN", back[1])
        what, sign, happens, quantity = _ONE_SIDED[law]
        force = sign * steps.multiplier(joint.name)[:, 0]
        size = float(np.max(np.abs(force[np.isfinite(force)]), initial=0.0))
        pulls = np.flatnonzero(force < -1e-9 * size)
        if len(pulls):
            near = slice(max(pulls[0] - 1, 0), pulls[0] + 1)  # the last state that pushes and the first that pulls
            at, least = np.interp(0.0, -force[near], steps.t[near]), float(np.min(force[pulls]))
            shown = f"{what} {joint.name!r} would {happens} at {steps.instant(at, 4)}: its {quantity} becomes {least:.3g} N"
            yield Line(f"{what} {joint.name}", shown, "0", "WARN", least)


def force_lines(solution: Result) -> Iterator[Line]:
    """One line for each element that has something to say."""
    mechanism, steps = solution.mechanism, solution.steps
    if not isinstance(mechanism, Mechanism) or not len(steps.t):
        return
    assert isinstance(steps, Trajectory)
    joints = {joint.name: joint for joint in mechanism.model.joints}
    for force in mechanism.model.forces:
        if said := force.remark(steps, joints):
            yield Line("force elements", f"{force.noun} {force.name!r}: {said}", None, "WARN")
    for text in vanishing_parts(mechanism.model.joints, mechanism.model.forces, steps, VANISHING):
        yield Line("cable", f"{text}, where it has no direction", None, "WARN")
    if mechanism.functions and not solution.settings.get("kinematics"):
        names = [force.name for force in mechanism.model.forces if force.works] + [d.name for d in mechanism.model.drivers]
        W = steps.x[:, mechanism.nq + mechanism.nu]  # of the state, as functions may be missing in a stored run
        with suppress(ModelError):  # where they are, there are no energies
            if len(names) > 1 and abs(W[-1] - W[0]) < CANCELLED * max(float(np.ptp(W)), solution.energy.scale):
                return
        shown = f"{W[-1] - W[0]:+.3g} J given by " + ", ".join(map(repr, names[:4])) + ", ..." * (len(names) > 4)
        yield Line("external work", shown, data=float(W[-1] - W[0]))


def plane_kept(solution: Result) -> Iterator[Line]:
    """One line for each function that leaves the plane somewhere in the run."""
    from dalembert.compilation.plane_forces import leaving_plane

    mechanism, steps = solution.mechanism, solution.steps
    if not isinstance(mechanism, Mechanism) or mechanism.plane is None or not len(steps.t):
        return
    assert isinstance(steps, Trajectory)
    for name, out in leaving_plane(steps):
        if np.any(out > 0):
            k = int(np.argmax(out))
            shown = f"{name!r} leaves the plane by {out[k]:.3g} N or N m at {solution.instant(steps.t[k], 4)}"
            shown += ": use coordinates='absolute'"
            yield Line("plane", shown, "0", "FAIL", float(out[k]))


def driver_lines(solution: Result) -> Iterator[Line]:
    """max |coordinate - f(t)| over all steps, angles unwrapped; whether steps go over breakpoints of motions; how closely
    forces of time were looked at."""
    yield from _gap(solution)
    yield from _breakpoints(solution)
    yield from _tables(solution)
    mechanism, span = solution.mechanism, float(solution.settings["t_end"]) - solution.begin_time
    of_time = uses_time(getattr(mechanism, "row_source", "")) or getattr(getattr(mechanism, "code", None), "of_time", False)
    of_time = of_time or any(force.call is None or force.call.reads_time for force in mechanism.functions)
    if (of_time or mechanism.functions) and not solution.settings["integrator"]["options"].get("step"):
        shown = f"looked at every {span / LOOKS:.3g} s or closer; a shorter push may be missed (max_step= of the integrator)"
        yield Line("functions of time" if of_time else "functions of the state", shown, block="careful")


def _breakpoints(solution: Result) -> Iterator[Line]:
    begin, end = (solution.t[0], solution.t[-1]) if len(solution.t) else (0.0, 0.0)
    inside = stops_between(solution.mechanism.I, solution.mechanism.F, begin, end)
    if len(inside) and len(solution.t) == solution.statistics.accepted + 1:
        rounding = 1e-12 * max(abs(begin), abs(end))
        missed = [t for t in inside.tolist() if np.abs(solution.t - t).min() > rounding]
        at = f", first at t = {missed[0]:.4g} s" if missed else ""
        yield limited("breakpoints", f"{len(missed)} of {len(inside)} inside a step{at}", len(missed), 0)


def _tables(solution: Result) -> Iterator[Line]:
    """One warning for each table of time that ends within the run."""
    mechanism = solution.mechanism
    if not isinstance(mechanism, Mechanism) or not len(solution.t):
        return
    begin, end = solution.begin_time, solution.end_time
    for name, motion in motions_of(mechanism.model):
        for table in (leaf for leaf in leaves(motion) if isinstance(leaf, Table) and not (leaf.periodic or leaf.clamp)):
            first, last = table.times[0], table.times[-1]
            if min(begin - first, last - end) < -1e-9 * (last - first):
                shown = f"that of {name!r} has t = {first:.4g} to {last:.4g} s, outside it goes on with its end slopes"
                yield Line("tables", shown, None, "WARN")


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
