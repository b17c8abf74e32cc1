"""Hinges and slides of a loop in a plane whose axes do not belong to that plane: one sentence for each loop.

The hinges of such a loop are parallel, its slides across them. One joint that is off locks the loop, unless that moves without
it; hinges about an axis that lies in the plane of the loop leave it without the motion that was meant. Loops with other joints,
with two joints between the same bodies, or in space, of which several are off, are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.topology import loop_blocks, spanning_forest
from dalembert.model.elements import Joint
from dalembert.model.frames import world_point
from dalembert.model.model import Model

PARALLEL = 1e-6  # sine of the angle between axes that are parallel but for rounding
LINE = 1e-6  # of the size of a loop: joints that are on one line, seen along an axis
TALL = 0.15  # extent along the axes over that across, from which a loop lies in a plane with them; layers are flatter


def wrong_axes(model: Model) -> Iterator[str]:
    """For every loop of three and more hinges and slides."""
    for loop in loops_of(model):
        pairs = {frozenset(joint.bodies) for joint in loop}
        if len(pairs) == len(loop) >= 3 and all(joint.type in ("revolute", "prismatic") for joint in loop):
            yield from _told(model, loop)


def loops_of(model: Model) -> Iterator[list[Joint]]:
    """Joints of each loop, and of those that share some."""
    number = {body.name: k for k, body in enumerate((model.ground, *model.bodies))}
    joints = [joint for joint in model.joints if not joint.coupled]
    edges = [tuple(dict.fromkeys(number[name] for name in joint.bodies)) for joint in joints]
    for block in loop_blocks(spanning_forest(len(model.bodies), edges), edges):
        yield [joints[k] for k in block]


def _told(model: Model, loop: list[Joint]) -> Iterator[str]:
    axes = np.array([model.body(joint.first).matrix @ joint.E_i[:, 2] for joint in loop])
    places = np.array([world_point(model.body(joint.first), joint.p_i) for joint in loop])
    hinges = np.array([joint.type == "revolute" for joint in loop])
    if hinges.sum() < 2:
        return
    alike = np.linalg.norm(np.cross(axes[hinges][:, None], axes[hinges][None]), axis=2) < PARALLEL
    normal = axes[hinges][int(np.argmax(alike.sum(axis=1)))]
    sines = np.linalg.norm(np.cross(axes, normal), axis=1)
    off = np.where(hinges, sines, np.abs(axes @ normal))  # how far from where they belong
    right = [repr(joint.name) for joint, fits in zip(loop, hinges & (sines < PARALLEL), strict=True) if fits]
    if len(right) < 2:
        return
    across = _plane_with(normal, places)
    if across is not None and np.all(np.abs(axes[~hinges] @ across) < PARALLEL):  # slides lie in that plane, too
        others = f"{len(right) - 1} more hinges" if len(right) > 2 else right[1]
        words = f"the axes of {right[0]} and {others} lie in the plane of their loop"
        yield f"{words}: they are {shown_axis(normal)}; across it is {shown_axis(across)}"
    elif np.sum(off > PARALLEL) == 1 and not _moves_without(model, loop):
        k = int(np.argmax(off))
        of = "those of the other hinges of its loop" if hinges[k] else "the plane in which the hinges of its loop turn"
        angle = np.degrees(np.arcsin(min(1.0, off[k])))
        words = f"the axis of joint {loop[k].name!r} is {angle:.3g} degrees off {of}"
        theirs = "theirs" if hinges[k] else "that of the hinges"
        yield f"{words}: it is {shown_axis(axes[k])}; {theirs} is {shown_axis(normal)}"


def _moves_without(model: Model, loop: list[Joint]) -> bool:
    """Whether a loop, or several that share joints, moves in its plane without one joint, a release."""
    bodies, names = {name for joint in loop for name in joint.bodies}, {joint.name for joint in loop}
    driven = sum(driver.joint in names for driver in model.drivers)
    return len(loop) - 1 - 3 * (len(loop) - len(bodies) + 1) >= max(driven, 1)


def _plane_with(axis: Array, places: Array) -> Array | None:
    """The normal of the plane in which points lie with an axis, None where they lie around it, or only beside each other."""
    x = places - places.mean(axis=0)
    flat = x - np.outer(x @ axis, axis)
    _, (size, width, _), directions = np.linalg.svd(flat)
    if size == 0.0 or width > LINE * size or np.ptp(x @ axis) < TALL * np.ptp(flat @ directions[0]):
        return None
    normal = np.cross(axis, directions[0])
    return np.asarray(normal * np.sign(normal[int(np.argmax(np.abs(normal)))]))


def shown_axis(axis: Array, plane: str | None = None) -> str:
    """A direction in brackets, without rounding; in a model in a plane with the numbers along it."""
    axis = axis if plane is None else axis[["xyz".index(letter) for letter in plane]]
    return "({})".format(", ".join(f"{x + 0.0:.4g}" for x in np.round(axis, 12)))
