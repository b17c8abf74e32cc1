"""Connected parts of a model: what moves without knowing of the rest has an energy, a size and a speed of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dalembert.compilation.trajectory import Trajectory
from dalembert.model.elements import GROUND, Driver, Force, Joint, Joints
from dalembert.model.model import Model


@dataclass(frozen=True)
class Part:
    """bodies, elements (joints and drivers), forces : names of what hangs together, not through the ground

    worked_on : external forces, dampers or prescribed motions change its energy
    grounded : something connects it to the ground;  loaded : forces or torques act on it that nothing of the model meets
    """

    bodies: tuple[str, ...]
    elements: tuple[str, ...]
    forces: tuple[str, ...]
    worked_on: bool
    grounded: bool
    loaded: bool

    @property
    def name(self) -> str:
        """The bodies, the first of many."""
        shown = ", ".join(repr(body) for body in self.bodies[:2])
        return shown + (f" and {len(self.bodies) - 2} more" if len(self.bodies) > 2 else "")


def connected_parts(model: Model) -> tuple[Part, ...]:
    """Bodies that joints, drivers, springs and motors connect; the ground connects nothing."""
    group = {body.name: {body.name} for body in model.bodies}
    items: tuple[Joint | Driver | Force, ...] = (*model.joints, *model.drivers, *model.forces)
    joints = {joint.name: joint for joint in model.joints}
    ends_of = {item.name: _ends(joints, item) for item in items}
    links = [(name, [end for end in ends if end != GROUND]) for name, ends in ends_of.items()]
    for _, ends in links:
        joined: set[str] = set().union(*(group[end] for end in ends))
        group.update(dict.fromkeys(joined, joined))
    worked = {item.name: _works(item) for item in items}
    grounded = {item.name: GROUND in ends_of[item.name] or _of_the_world(item) for item in items}
    forces = {force.name for force in model.forces}
    parts = []
    for members in {id(found): found for found in group.values()}.values():
        names = [name for name, ends in links if ends and ends[0] in members]
        parts.append(
            Part(
                tuple(body.name for body in model.bodies if body.name in members),
                tuple(name for name in names if name not in forces),
                tuple(name for name in names if name in forces),
                any(worked[name] for name in names),
                any(grounded[name] for name in names),
                any(len(ends_of[name]) == 1 for name in names),
            )
        )
    return tuple(parts)


def spread(start: Trajectory, part: Part | None = None) -> float:
    """How far bodies, joints and ends of forces of a part, or of all, are from each other at one state [m]."""
    model = start.mechanism.model
    points = [start.position(body.name)[0] for body in model.bodies if part is None or body.name in part.bodies]
    for joint in model.joints:
        if part is None or joint.name in part.elements:
            points += [start.point(joint.first, joint.p_i)[0], start.point(joint.second, joint.p_j)[0]]
    for force in model.forces:
        if part is None or force.name in part.forces:
            points += [start.point(body, p)[0] for body, p in force.places()]
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0)))


def unconnected(model: Model) -> list[str]:
    """Bodies that no joint and no force element holds or moves, but for those that are doubted because they fall; none where
    all are so, and meant to be free."""
    every, fallen = connected_parts(model), _fallen(model)
    parts = [part for part in every if not part.elements and not part.forces]
    return [body for part in parts if len(parts) < len(every) and part not in fallen for body in part.bodies]


def falling(model: Model) -> Iterator[str]:
    """Parts that nothing holds against gravity, one sentence for each."""
    for part in _fallen(model):
        one, *others = part.bodies
        more = "" if not others else f" and {others[0]!r}" if len(others) == 1 else f" and {len(others)} more"
        are, fall = ("are", "fall") if more else ("is", "falls")
        fixed = [repr(name) for name in part.bodies if model.body(name).fixed]
        join = f"; fixed= keeps the start of {fixed[0]} alone: join it by add_fixed" if fixed else ""
        join += "; a spherical joint (add_spherical) takes point masses" * (model.body(one).kind == "point" and not others)
        yield f"{one!r}{more} {are} not connected to the ground and {fall}: a joint may be missing{join}"


def _fallen(model: Model) -> list[Part]:
    """A load may hold one; what was given a velocity is thrown. Of single bodies only those beside a mechanism on the ground:
    others are tops."""
    if not np.any(model.gravity[["xyz".index(letter) for letter in model.plane or "xyz"]]):
        return []
    parts = connected_parts(model)
    beside = any(part.grounded for part in parts)
    free = [part for part in parts if not part.grounded and not part.loaded and (beside or len(part.bodies) > 1)]
    thrown = {body.name for body in model.bodies if body.velocity.any() or body.angular_velocity.any()}
    thrown |= {name for joint in model.joints if any(joint.rate) for name in joint.bodies}
    return [part for part in free if not thrown & set(part.bodies) and any(model.body(name).mass for name in part.bodies)]


def _ends(joints: Joints, item: Joint | Driver | Force) -> tuple[str, ...]:
    """Bodies that an element acts on, the ground too."""
    if isinstance(item, Force):
        return item.ends(joints)
    return item.bodies if isinstance(item, Joint) else (item.first, item.second)


def _of_the_world(item: Joint | Driver | Force) -> bool:
    """Whether it is a constraint of the user, which may hold bodies in the world and does not name the ground."""
    return isinstance(item, Joint) and any(row.function is not None and not row.law for row in item.primitives)


def _works(item: Joint | Driver | Force) -> bool:
    """Whether an element changes T + U."""
    if isinstance(item, Force):
        return item.works
    rows = item.primitives if isinstance(item, Joint) else (item.primitive,)
    return any(row.motion is not None or row.function is not None for row in rows)
