"""Whether what is left free in a driven mechanism is more likely to miss a joint than to be meant.

Pendulums on a driven support are meant, loads of cranes, arms of governors; what is given a velocity; whatever springs, laws or
couplings act on, but for dampers of joints: bearings have friction anywhere. Likely to miss one are

- what nothing connects with a driver, but for pendulums, which are held by one hinge in the ground;
- several bodies, not on one line as pendulums are drawn, that hang on a crank which turns steadily, or on what turns in a loop
  with it, on a hinge parallel to its own: a loop that is open, if a spring between two points acts on it as well;
- both bars of a driven cylinder of which one is held by nothing else;
- loops of hinges and slides with a driver, which have more freedoms than drivers;
- a block on one pin at its centre that hangs on what is free, where a crank turns steadily: a slider without its guide;
- a bar of which a loose end is on another one, between the ends of that, and a block on one pin that touches another body;
- joined bodies that springs alone connect with the ground, all of them level: a cart without its rail;
- a body that no joint holds while all others are joined, on springs that do not hang on these, as a wheel on its tyre.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.parts import connected_parts
from dalembert.compilation.trajectory import Trajectory
from dalembert.compilation.wrong_axes import PARALLEL, loops_of
from dalembert.model.elements import GROUND, Force
from dalembert.model.forces.on_joints import JointSpringDamper
from dalembert.model.forces.springs import SpringDamper
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.remarks.loose_ends import blocks_at_bodies, ends_on_bars, loose_ends
from dalembert.remarks.pins import AT, bars_on_one_line, links_of
from dalembert.remarks.row_words import turning
from dalembert.remarks.wrong_units import extent

LEVEL = 0.1  # cosine between a spring and gravity, up to which it holds no weight
LOADS = ("force", "torque")  # verbs of what pushes and does not hold, unless it is a function


def unjoined_ends(mechanism: Mechanism, bodies: set[str]) -> Iterator[str]:
    """Bars whose loose end is on another one, blocks at another body, a sentence for each; bodies : that are free to move."""
    model, placed = mechanism.model, mechanism.assembly.bodies
    told = tuple(text.partition(" is at ")[0] for text in loose_ends(model))
    for one, other, text in (*ends_on_bars(model, placed), *blocks_at_bodies(model, placed)):
        free = bodies & {one, other}
        if free and not text.startswith(told) and not _meant(model, free):
            yield text


def misses_joint(mechanism: Mechanism, state: Trajectory, bodies: set[str]) -> bool:
    """bodies : that are free to move, alone or together;  state : of the start"""
    model = mechanism.model
    hung = (at for on, at in _on_cranks(mechanism, state, bodies) if len(bodies) > 1 and bodies & on)
    if not _meant(model, bodies, ("spring_damper",)) and any(not _on_one_line(state, bodies, at) for at in hung):
        return True
    if _meant(model, bodies):
        return False
    drivers = {driver.name for driver in model.drivers}
    if not any(drivers & set(part.elements) for part in connected_parts(model) if bodies & set(part.bodies)):
        return not _is_pendulum(model, bodies)
    return _loose_cylinder(mechanism, bodies) or _loose_loop(model, bodies)


def unjoined(model: Model) -> str:
    """A sentence on the one body on springs that no joint holds, where most others are joined, and that none of these hold."""
    joints = {joint.name: joint for joint in model.joints}
    joined = {name for joint in model.joints if GROUND not in joint.bodies for name in joint.bodies}
    alone = {body.name for body in model.bodies} - {name for joint in model.joints for name in joint.bodies}
    ends = [own for force in model.forces if len(own := set(force.ends(joints))) > 1 and own & alone]
    if len(alone) != 1 or not ends or 2 * len(joined) <= len(model.bodies) or any(own & joined for own in ends):
        return ""
    return f"{alone.pop()!r} is joined to nothing by a joint, a spring alone holds it"


def unguided(mechanism: Mechanism, bodies: set[str]) -> Iterator[str]:
    """Sentences on blocks that one pin at their centre holds, on a body that is free to move, where something turns steadily:
    sliders without their guide. Wheels are round, gondolas hang below their pins.  bodies : that are free to move"""
    model = mechanism.model
    links = links_of(model) if turning(mechanism) else {}
    for body in (body for body in model.bodies if body.name in links and not links[body.name] and body.kind == "rigid"):
        own = [joint for joint in model.joints if body.name in joint.bodies]
        if len(own) != 1 or own[0].type != "revolute" or (body.shape or {"type": "box"})["type"] != "box":
            continue
        other, p, axis = own[0].first, own[0].p_j, own[0].E_j[:, 2]
        if other == body.name:
            other, p, axis = own[0].second, own[0].p_i, own[0].E_i[:, 2]
        if other in bodies and np.linalg.norm(np.cross(axis, p)) <= AT * (extent(body.shape or {})[0] or 1.0):
            yield f"{body.name!r} is held by {own[0].name!r} alone, on {other!r}, which is left free: a guide may be missing"


def on_level_springs(model: Model) -> Iterator[str]:
    """Sentences on joined bodies that springs alone connect with the ground, none of which holds their weight at the start."""
    size = float(np.linalg.norm(model.gravity))
    bodies = {body.name: body for body in (model.ground, *model.bodies)}
    for part in (part for part in connected_parts(model) if size and part.grounded and len(part.bodies) > 1):
        ends = [joint.bodies for joint in model.joints if joint.name in part.elements]
        ends += [(driver.first, driver.second) for driver in model.drivers if driver.name in part.elements]
        forces = [force for force in model.forces if force.name in part.forces]
        springs = [force for force in forces if isinstance(force, SpringDamper) and GROUND in (force.first, force.second)]
        others = [force for force in forces if force not in springs and not isinstance(force, SpringDamper | JointSpringDamper)]
        ways = [world_point(bodies[s.second], s.p_j) - world_point(bodies[s.first], s.p_i) for s in springs]
        level = [abs(way @ model.gravity) <= LEVEL * size * np.linalg.norm(way) for way in ways]
        if ends and springs and all(level) and not others and not any(GROUND in pair for pair in ends):
            held = f"held by {springs[0].noun} {springs[0].name!r} alone, which is level"
            yield f"{part.bodies[0]!r} is {held}: a joint may be missing"


def _is_pendulum(model: Model, bodies: set[str]) -> bool:
    own = [joint for joint in model.joints if bodies & set(joint.bodies)]
    return len(bodies) == len(own) == 1 and own[0].type == "revolute" and GROUND in own[0].bodies


def _on_one_line(state: Trajectory, bodies: set[str], at: Array) -> bool:
    """Whether centres of bodies are on a line with a point, as where a pendulum is drawn stretched."""
    x = np.array([state.position(name)[0] - at for name in bodies])
    return bool(np.linalg.matrix_rank(x, PARALLEL * float(np.abs(x).max())) < 2)


def on_springs(model: Model, bodies: set[str], but: Collection[str] = ()) -> bool:
    """Whether springs, motors or laws act on some of them;  but : verbs that do not count"""
    joints = {joint.name: joint for joint in model.joints}
    return any(_holds(force) and bodies & set(force.ends(joints)) for force in model.forces if force.verb not in but)


def _meant(model: Model, bodies: set[str], but: Collection[str] = ()) -> bool:
    acts = [joint.bodies for joint in model.joints if joint.coupled or any(row.function for row in joint.primitives)]
    acts += [joint.bodies for joint in model.joints if any(joint.rate)]
    moving = any(model.body(name).velocity.any() or model.body(name).angular_velocity.any() for name in bodies)
    return moving or on_springs(model, bodies, but) or any(bodies & set(ends) for ends in acts)


def _holds(force: Force) -> bool:
    damper = isinstance(force, JointSpringDamper) and force.stiffness == 0.0
    return not damper and (force.verb not in LOADS or force.function is not None)


def _on_cranks(mechanism: Mechanism, state: Trajectory, free: set[str]) -> Iterator[tuple[set[str], Array]]:
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
                    yield set(joint.bodies) - on, places[joint.name]


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


def _loose_loop(model: Model, bodies: set[str]) -> bool:
    driven = [driver.joint for driver in model.drivers]
    for loop in loops_of(model):
        names, drivers = {name for joint in loop for name in joint.bodies}, sum(joint.name in driven for joint in loop)
        flat = all(joint.type in ("revolute", "prismatic") for joint in loop)
        if names & bodies and flat and len(loop) - 3 * (len(loop) - len(names) + 1) > drivers > 0:
            return True
    return False


def _across(axis: Array, x: Array) -> float:
    """What of a vector is perpendicular to an axis of unit length."""
    return float(np.linalg.norm(np.cross(axis, x)))
