"""Whether what is left free in a driven mechanism is more likely to miss a joint than to be meant.

Pendulums on a driven support are meant, loads of cranes, arms of governors; what is given a velocity; whatever springs, laws or
couplings act on, but for dampers of joints: bearings have friction anywhere. Likely to miss one are

- what nothing connects with a driver, as a boom beside the cylinder that was to lift it;
- several bodies that hang on a crank which turns steadily, or on what turns in a loop with it, on a hinge parallel to its own:
  a loop that is open;
- both bars of a driven cylinder of which one is held by nothing else;
- a bar of which a loose end is on another one, between the ends of that.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.parts import connected_parts
from dalembert.compilation.trajectory import Trajectory
from dalembert.compilation.wrong_axes import PARALLEL, loops_of
from dalembert.model.elements import GROUND, Force
from dalembert.model.forces.on_joints import JointSpringDamper
from dalembert.model.model import Model
from dalembert.remarks.loose_ends import ends_on_bars
from dalembert.remarks.pins import AT, bars_on_one_line
from dalembert.remarks.row_words import turning

LOADS = ("force", "torque")  # verbs of what pushes and does not hold, unless it is a function


def unjoined_ends(mechanism: Mechanism, bodies: set[str]) -> Iterator[str]:
    """Bars whose loose end is on another one, a sentence for each; bodies : that are free to move."""
    for bar, text in ends_on_bars(mechanism.model, mechanism.assembly.bodies):
        if bar in bodies and not _meant(mechanism.model, {bar}):
            yield text


def misses_joint(mechanism: Mechanism, state: Trajectory, bodies: set[str]) -> bool:
    """bodies : that are free to move, alone or together;  state : of the start"""
    model = mechanism.model
    if _meant(model, bodies):
        return False
    drivers = {driver.name for driver in model.drivers}
    if not any(drivers & set(part.elements) for part in connected_parts(model) if bodies & set(part.bodies)):
        return True
    hung = len(bodies) > 1 and any(bodies & others for others in _on_cranks(mechanism, state, bodies))
    return hung or _loose_cylinder(mechanism, bodies)


def _meant(model: Model, bodies: set[str]) -> bool:
    joints = {joint.name: joint for joint in model.joints}
    acts = [force.ends(joints) for force in model.forces if _holds(force)]
    acts += [joint.bodies for joint in model.joints if joint.coupled or any(row.function for row in joint.primitives)]
    acts += [joint.bodies for joint in model.joints if any(joint.rate)]
    moving = any(model.body(name).velocity.any() or model.body(name).angular_velocity.any() for name in bodies)
    return moving or any(bodies & set(ends) for ends in acts)


def _holds(force: Force) -> bool:
    damper = isinstance(force, JointSpringDamper) and force.stiffness == 0.0
    return not damper and (force.verb not in LOADS or force.function is not None)


def _on_cranks(mechanism: Mechanism, state: Trajectory, free: set[str]) -> Iterator[set[str]]:
    """What hinges hold on bodies that turn steadily in the ground, or in a loop with them, parallel to that axis and beside it.

    free : bodies that such a loop does not move"""
    steady, hinges = turning(mechanism), [joint for joint in mechanism.model.joints if joint.type == "revolute"]
    axes = {joint.name: state.rotation(joint.first)[0] @ joint.E_i[:, 2] for joint in hinges}
    places = {joint.name: state.point(joint.first, joint.p_i)[0] for joint in hinges}
    for driver in mechanism.model.drivers:
        crank = {driver.first, driver.second} - {GROUND}
        if driver.name in steady and driver.joint in axes and len(crank) == 1:
            own, at, on = axes[driver.joint], places[driver.joint], crank | (_in_loop(mechanism.model, driver.joint) - free)
            for joint in (joint for joint in hinges if on & set(joint.bodies)):
                if _across(own, axes[joint.name]) < PARALLEL < _across(own, places[joint.name] - at):
                    yield set(joint.bodies) - on


def _in_loop(model: Model, joint: str) -> set[str]:
    """Bodies that hinges alone hold in the loop of a joint; what slides there may carry loads."""
    loop = next((loop for loop in loops_of(model) if joint in {item.name for item in loop}), [])
    slides = {name for item in loop if item.type != "revolute" for name in item.bodies}
    return {name for item in loop for name in item.bodies} - slides - {GROUND}


def _loose_cylinder(mechanism: Mechanism, bodies: set[str]) -> bool:
    model, driven = mechanism.model, {driver.joint for driver in mechanism.model.drivers}
    for joint, one, two, off in bars_on_one_line(model, mechanism.assembly.bodies):
        held = [sum(bar.body in other.bodies for other in model.joints) for bar in (one, two)]
        if joint.name in driven and off <= AT and {one.body, two.body} <= bodies and min(held) == 1:
            return True
    return False


def _across(axis: Array, x: Array) -> float:
    """What of a vector is perpendicular to an axis of unit length."""
    return float(np.linalg.norm(np.cross(axis, x)))
