"""Starts that are not the pose that is written down, and that nobody asked for: one sentence for each.

Joint coordinates that are given, and motions of drivers, may well begin elsewhere; a driver that holds still there may be one
that should move at that speed. Joints that are open in the pose, and velocities that do not fit, are two numbers of one thing.
But a loop may be given by lengths, its pose roughly: then its points are on the bodies as they are drawn, and lengths agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, remainder

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.pack_motions import motion_values
from dalembert.compilation.wrong_axes import loops_of
from dalembert.model.assembly import OPEN, ROUNDING, Assembly
from dalembert.model.elements import GROUND, Driver, Joint
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Motion, Polynomial
from dalembert.remarks.pins import AT, HINGES
from dalembert.remarks.points_off_bodies import drawn_as

QUARTER = 1.6  # turn, about [rad]
FAR = 1.0  # [rad]
SAME = 1e-6  # [m] or [rad]; numbers of six digits that are typed twice


def held_elsewhere(model: Model) -> Iterator[str]:
    """Drivers that hold a coordinate all the time at a number at which it is not."""
    for driver in model.drivers:
        motion, start = driver.primitive.motion, _start(model, driver)
        held = _held(motion)
        if held is None or abs(held - start) <= SAME or _is_pose(model, driver):
            continue
        unit = "rad" if driver.primitive.kind == "A" else "m"
        what = repr(driver.joint) if driver.joint else f"a point of {driver.second!r}"
        there = f"give the joint coordinate={held:g}, too" if driver.joint else "place the body there"
        value = f"{held:g}"
        yield (
            f"driver {driver.name!r} holds {what} at {value} {unit} for the whole run, which the model has at {start:.4g}"
            f" {unit}: for a speed of {value} {unit}/s give da.Polynomial(({start:.6g}, {value})), in a file"
            f" {{type: polynomial, coefficients: [{start:.6g}, {value}]}}; to hold it there, {there}"
        )


def moved_by_drivers(model: Model, t: float) -> Iterator[str]:
    """Motions that begin elsewhere than the coordinate is given or drawn, at the time of the start: they may well be meant."""
    yield from (text for _, _, text in _begun_elsewhere(model, t))


def _begun_elsewhere(model: Model, t: float) -> Iterator[tuple[Driver, float, str]]:
    """Drivers, how far their motions begin from there, and what is said of it."""
    for driver in model.drivers:
        motion, start = driver.primitive.motion, _start(model, driver)
        begin = float(motion_values(motion, t)[0])
        if (_held(motion) is None or _is_pose(model, driver)) and abs(begin - start) > SAME:
            what = f"where {driver.joint!r} has {start:.4g}" if driver.joint else f"which is at {start:.4g}"
            text = f"driver {driver.name!r} starts at {begin:.4g}, {what} in the pose that is given: assembly moved it there"
            yield driver, begin - start, text


def moved_far_by_drivers(model: Model, assembly: Assembly, t: float) -> Iterator[str]:
    """Those that begin so far from a coordinate that nobody gave that bodies are turned by more than a radian, or moved by more
    than half the size of the mechanism: an angle may have been meant to count from an axis."""
    size = _size(model, assembly)
    far = [item for item in assembly.moved if item.angle > FAR or item.distance > 0.5 * size > 0.0]
    for driver, off, text in _begun_elsewhere(model, t) if far and not assembly.open else ():
        turns = driver.primitive.kind == "A"
        given = driver.joint and model.joint(driver.joint).coordinate[0] is not None
        if given or not (abs(remainder(off, 2.0 * pi)) > FAR if turns else abs(off) > 0.5 * size > 0.0):
            continue
        worst = max(far, key=lambda item: item.angle if turns else item.distance)
        how = f"turned {worst.body!r} by {worst.angle:.3g} rad" if turns else f"moved {worst.body!r} by {worst.distance:.3g} m"
        meant = f"give {driver.joint!r} coordinate=, too" if driver.joint else "place the body there"
        yield f"{text} and {how}; motions count from that pose; if this one is meant, {meant}"


def _is_pose(model: Model, driver: Driver) -> bool:
    """Whether a plain number is rather an angle than a speed: up to a quarter turn from a pose without coordinate=."""
    if driver.joint is None or driver.primitive.kind != "A" or model.joint(driver.joint).coordinate[0] is not None:
        return False
    return isinstance(motion := driver.primitive.motion, Constant) and abs(motion.value) <= QUARTER


def _held(motion: Motion | None) -> float | None:
    """The number at which a motion stays; None if it moves. A polynomial without rates is one whose numbers may be swapped."""
    match motion:
        case Constant(value) | Polynomial((value, *_)) if not any(getattr(motion, "coefficients", ())[1:]):
            return value
    return None


def _start(model: Model, driver: Driver) -> float:
    """What is given for a driven coordinate, or has the model pose; 0 where it is rounding."""
    value = _as_given(model, driver)
    return value if abs(value) > ROUNDING else 0.0


def _as_given(model: Model, driver: Driver) -> float:
    row, first, second = driver.primitive, model.body(driver.first), model.body(driver.second)
    if driver.joint is not None:
        joint = model.joint(driver.joint)
        component = joint.coordinates.index(row.labels[0])
        given = joint.coordinate[component]
        return model._at_pose(joint.name, component) if given is None else given
    return float((first.matrix @ row.a_i) @ (world_point(second, row.p_j) - world_point(first, row.p_i)))


def misfits(model: Model, assembly: Assembly) -> Iterator[str]:
    """Bodies that assembly moved because joints are open as they are given, and velocities of which it changed."""
    if assembly.open and not is_rough_pose(model, assembly) and not _placed_by_points(model, assembly):
        worst = max(assembly.moved, key=lambda item: max(item.distance, item.angle))
        far = " and ".join(f"{x:.3g} {unit}" for x, unit in ((worst.distance, "m"), (worst.angle, "rad")) if x > ROUNDING)
        others = f" and {len(assembly.open) - 1} more do" if len(assembly.open) > 1 else " does"
        yield (
            f"assembly moved {worst.body!r} by {far}: {assembly.open[0]!r}{others} not fit the pose that is given; see points,"
            " axes and lengths there, or give point= and axis= of the world"
        )
    speeds = [np.linalg.norm((body.velocity, body.angular_velocity), axis=1) for body in (*model.bodies, *assembly.bodies)]
    for item in assembly.moved:
        old, most = model.body(item.body), OPEN * np.max(speeds, axis=0)
        changes = ((item.velocity, "m/s"), (item.angular_velocity, "rad/s"))
        told = [
            f"{x:.3g} {unit}" for (x, unit), given, limit in zip(changes, old.given, most, strict=True) if given and x > limit
        ]
        if told:
            words = f"assembly changed the velocity that is given for {item.body!r} by {' and '.join(told)}"
            yield f"{words}: joints, rates and drivers ask for another"


def _placed_by_points(model: Model, assembly: Assembly) -> bool:
    """Whether bodies of joints that are open were left in the origin, unturned, to be placed by points in their axes."""
    names = {name for joint in assembly.open for name in model.joint(joint).bodies} - {GROUND}
    return all(not body.position.any() and not body.rotation[1:].any() for body in map(model.body, names))


def is_rough_pose(model: Model, assembly: Assembly) -> bool:
    """Whether only hinges and balls of loops are open, at points of their bodies as drawn, and moves are less than the size."""
    size = float(np.linalg.norm(np.ptp(np.array(places), axis=0))) if (places := _places(model, assembly)) else 0.0
    looped = {joint.name for loop in loops_of(model) for joint in loop}
    fits = all(name in looped and _is_on_bodies(model, model.joint(name)) for name in assembly.open)
    return bool(assembly.open) and fits and all(item.distance < size for item in assembly.moved)


def _places(model: Model, assembly: Assembly) -> list[Array]:
    """Of joints, as assembled."""
    placed = {body.name: body for body in (model.ground, *assembly.bodies)}
    return [world_point(placed[joint.first], joint.p_i) for joint in model.joints if not joint.coupled]


def _size(model: Model, assembly: Assembly) -> float:
    """Of a mechanism [m]: from joint to joint and from body to body, or the largest body as it is drawn."""
    places = [*_places(model, assembly), *(body.position for body in assembly.bodies)]
    drawn = [found.size for body in model.bodies if (found := drawn_as(body.shape)) is not None]
    return max([float(np.linalg.norm(np.ptp(np.array(places), axis=0))), *drawn])


def _is_on_bodies(model: Model, joint: Joint) -> bool:
    """Whether the points of a hinge or a ball are on what is drawn, and the axes of a hinge are parallel in the pose.

    Of bars, whose other pins are asked to be on them, too. In other solids nothing but the pose tells where points belong, so
    that these have to be joined at that one alone.
    """
    axes = [model.body(name).matrix @ E[:, 2] for name, E in ((joint.first, joint.E_i), (joint.second, joint.E_j))]
    if joint.type != "spherical" and (joint.type != "revolute" or np.linalg.norm(axes[1] - axes[0]) > OPEN):
        return False
    for name, p in ((joint.first, joint.p_i), (joint.second, joint.p_j)):
        drawn = None if name == GROUND else drawn_as(model.body(name).shape)
        if name != GROUND and (drawn is None or drawn.off(p) > AT * drawn.size):
            return False
        if drawn is not None and not (drawn.thin and drawn.axis >= 0) and not _at_one_point(model, name, p, AT * drawn.size):
            return False
    return True


def _at_one_point(model: Model, body: str, p: Array, near: float) -> bool:
    """Whether all joints of a body are at a point of it; hinges and slides anywhere along their axes."""
    for joint in (joint for joint in model.joints if not joint.coupled):
        for name, q, E in ((joint.first, joint.p_i, joint.E_i), (joint.second, joint.p_j, joint.E_j)):
            gap = q - p if joint.type not in (*HINGES, "prismatic") else np.cross(q - p, E[:, 2])
            if name == body and np.linalg.norm(gap) > near:
                return False
    return True
