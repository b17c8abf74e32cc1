"""Connected parts of a model: what moves without knowing of the rest has an energy, a size and a speed of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.compilation.trajectory import Trajectory
from dalembert.model.elements import GROUND, Driver, Force, Joint
from dalembert.model.model import Model


@dataclass(frozen=True)
class Part:
    """bodies, elements (joints and drivers), forces : names of what hangs together, not through the ground

    worked_on : external forces, dampers or prescribed motions change its energy
    """

    bodies: tuple[str, ...]
    elements: tuple[str, ...]
    forces: tuple[str, ...]
    worked_on: bool

    @property
    def name(self) -> str:
        """The bodies, the first of many."""
        shown = ", ".join(repr(body) for body in self.bodies[:2])
        return shown + (f" and {len(self.bodies) - 2} more" if len(self.bodies) > 2 else "")


def connected_parts(model: Model) -> tuple[Part, ...]:
    """Bodies that joints, drivers, springs and motors connect; the ground connects nothing."""
    group = {body.name: {body.name} for body in model.bodies}
    items: tuple[Joint | Driver | Force, ...] = (*model.joints, *model.drivers, *model.forces)
    links = [(item.name, _ends(model, item)) for item in items]
    for _, ends in links:
        joined: set[str] = set().union(*(group[end] for end in ends))
        group.update(dict.fromkeys(joined, joined))
    worked = {item.name: _works(item) for item in items}
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
    """Bodies that no joint and no force element holds or moves."""
    return [body for part in connected_parts(model) if not part.elements and not part.forces for body in part.bodies]


def _ends(model: Model, item: Joint | Driver | Force) -> list[str]:
    """Bodies that an element acts on."""
    if isinstance(item, Force):
        ends = item.ends({joint.name: joint for joint in model.joints})
    else:
        ends = item.bodies if isinstance(item, Joint) else (item.first, item.second)
    return [end for end in ends if end != GROUND]


def _works(item: Joint | Driver | Force) -> bool:
    """Whether an element changes T + U."""
    if isinstance(item, Force):
        return item.works
    rows = item.primitives if isinstance(item, Joint) else (item.primitive,)
    return any(row.motion is not None or row.function is not None for row in rows)
