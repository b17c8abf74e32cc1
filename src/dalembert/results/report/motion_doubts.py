"""What only the motion shows of a model that may not be what was meant: rods that leave their barrels, speeds of drivers that
jump, springs that give way, speeds of no machine, loads across the motion.

A load that does no work may well be meant, for what bearings feel of it: a note, and no doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.pack_motions import motion_values
from dalembert.compilation.parts import connected_parts, spread
from dalembert.compilation.trajectory import Trajectory, apply
from dalembert.model.forces.loads import PointForce, Torque
from dalembert.model.forces.springs import SpringDamper
from dalembert.remarks.doubts import MODEL
from dalembert.remarks.driver_words import drivers_of
from dalembert.remarks.kinks import kinks
from dalembert.remarks.telescopes import telescopes
from dalembert.results.report.conditioning import NEAR
from dalembert.results.report.table import Line

if TYPE_CHECKING:
    from dalembert.results.solution import Result

SQUARE = 1e-6  # cosine of the angle of a load to the motion, where it is zero but for rounding
RESTS = 1e-6  # [m/s] or [rad/s]
STRETCHED = 20.0  # length of a spring over that at the start and when slack; none of steel or rubber goes so far
WHIRLING = 1e5  # [rad/s]; turbines of dentists turn at 4e4
LIGHT = 1e-6  # [kg]; what is lighter may turn faster, as in a trap, and molecules
TOLD = 3  # loads, of many


def motion_doubts(solution: Result) -> Iterator[Line]:
    mechanism, steps = solution.mechanism, solution.steps
    if isinstance(mechanism, Mechanism) and len(steps.t) and not solution.settings.get("mode"):
        assert isinstance(steps, Trajectory)
        yield from _out_of_barrels(mechanism, steps, solution.instant)
        yield from _across(mechanism, steps)
        yield from _overstretched(mechanism, steps)
        if not _ends_locked(solution, mechanism):
            yield from _whirling(mechanism, steps)
        if "over" not in solution.settings:  # else t is no time
            for text in kinks(mechanism.whole or mechanism.model, steps.t):
                yield Line(MODEL, text, verdict="WARN", data=text, block="careful")


def _ends_locked(solution: Result, mechanism: Mechanism) -> bool:
    """Whether a run failed where its joints lock: speeds there are none of the model."""
    failed = solution.status == "failed" and len(solution.t) > 0
    return failed and mechanism.locking(float(solution.t[-1]), solution.x[-1])[0] > 1.0 / NEAR


def _out_of_barrels(mechanism: Mechanism, steps: Trajectory, told: Callable[[float, int], str]) -> Iterator[Line]:
    """Slides along two bars on one line that overlap at the start, and do not later on, or go through each other."""
    for item in telescopes(mechanism.model, mechanism.assembly.bodies):
        along = steps.rotation(item.one.body) @ item.one.along
        middles = ((item.two.body, item.two.middle), (item.one.body, item.one.middle))
        (x_two, x_one), (v_two, v_one) = ([of(*at) for at in middles] for of in (steps.point, steps.velocity))
        gap, rate = np.sum(along * (x_two - x_one), axis=1), np.sum(along * (v_two - v_one), axis=1)
        for text, at in item.misfits(steps.t, gap, rate, lambda t: told(t, 3)):
            driven = mechanism.model.drivers or not mechanism.degrees_of_freedom  # else it may be a shot
            yield Line(MODEL if driven else "barrel", text, verdict="WARN" if driven else "note", data=at, block="careful")


def _across(mechanism: Mechanism, steps: Trajectory) -> Iterator[Line]:
    """One line on constant loads, with factors or not, whose power is zero in all steps though they act on what moves."""
    loads = [force for force in mechanism.model.forces if isinstance(force, PointForce | Torque) and force.call is None]
    found = []
    for load in loads:
        rate = steps.angular_velocity(load.body) if isinstance(load, Torque) else steps.velocity(load.body, load.at)
        if np.abs(rate).max() <= RESTS:
            continue
        value = np.asarray(load.value) * (1.0 if load.factor is None else motion_values(load.factor, steps.t)[:, None])
        value = apply(steps.rotation(load.body), value + 0.0 * rate) if load.frame == "body" else value
        sizes = np.linalg.norm(value, axis=-1) * np.linalg.norm(rate, axis=1)
        if sizes.any() and np.abs(np.sum(value * rate, axis=1)).max() <= SQUARE * sizes.max():
            found.append(f"{load.noun} {load.name!r} on {load.body!r}")
    if found:
        more = f" and {len(found) - TOLD} more" if len(found) > TOLD else ""
        text = f"{', '.join(found[:TOLD])}{more}: square to the motion all along, only reactions feel it; see its axes"
        yield Line("no work", text, data=found, block="careful")


def _overstretched(mechanism: Mechanism, steps: Trajectory) -> Iterator[Line]:
    """Springs that give way as if there were none, or drivers that pull them; one that is slack at no length pulls from
    anywhere."""
    stretched = []
    for spring in (force for force in mechanism.model.forces if isinstance(force, SpringDamper) and force.stiffness):
        length, slack = spring.distance(steps), spring.length
        if slack > 0.0 and (most := float(length.max())) > STRETCHED * max(slack, float(length[0])):
            text = f"{spring.noun} {spring.name!r} is stretched to {most:.3g} m, {most / slack:.3g} times its slack length"
            stretched.append((f"{text}: its stiffness is in N/m, 1 N/mm is 1000", most))
    size = spread(steps) if stretched else 0.0
    for driver in drivers_of(mechanism.model) if stretched else ():
        motion = None if driver.primitive.kind == "A" else driver.primitive.motion
        if motion is not None and (way := float(np.ptp(motion_values(motion, steps.t)))) > STRETCHED * size:
            text = f"driver {driver.name!r} moves by {way:.4g} m in a mechanism of {size:.3g} m"
            stretched = [(f"{text}: lengths are in m, {way:.4g} mm are {1e-3 * way:.4g}", way)]
            break
    for text, most in stretched:
        yield Line(MODEL, text, verdict="WARN", data=most, block="careful")


def _whirling(mechanism: Mechanism, steps: Trajectory) -> Iterator[Line]:
    """The fastest body that torques turn faster than any machine; velocities that are given, or driven, are meant."""
    model, drivers = mechanism.model, {driver.name for driver in mechanism.model.drivers}
    driven = {name for part in connected_parts(model) if drivers & set(part.elements) for name in part.bodies}
    speeds = {
        body.name: np.linalg.norm(steps.angular_velocity(body.name), axis=1)
        for body in model.bodies
        if body.mass > LIGHT and body.name not in driven
    }
    fast = [(float(w.max()), name) for name, w in speeds.items() if w[0] < WHIRLING < w.max() < np.inf]
    for speed, name in sorted(fast)[-1:]:
        text = f"a speed of {speed * 30 / np.pi:.3g} rpm is more than any machine has: {name!r} reaches it"
        words = f"{text}; torques are in N m, 1000 N mm are 1, masses in kg, inertias in kg m^2"
        yield Line(MODEL, words, verdict="WARN", data=speed, block="careful")
