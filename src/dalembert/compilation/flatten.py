"""Names become numbers: the model's elements as flat lists over body indices (0 = ground), still without any layout."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.model.elements import GROUND, Body, Force, Joint, Primitive
from dalembert.model.joints import Angle, angle_of
from dalembert.model.model import Model

TRACED = ("U", "V")


@dataclass(frozen=True)
class FlatPrimitive:
    """A primitive between bodies i and j, or between all of `members`, that belongs to a joint or a driver.

    turns : which of the counted angles it reads
    """

    element: str
    i: int
    j: int
    primitive: Primitive
    members: tuple[int, ...] = ()
    turns: tuple[int, ...] = ()

    @property
    def bodies(self) -> tuple[int, ...]:
        """All bodies, in the order in which its code reads them."""
        return self.members or (self.i, self.j)

    @property
    def node(self) -> tuple[int, ...]:
        """The set of bodies by which rows are solved together."""
        return tuple(sorted(set(self.bodies)))


@dataclass(frozen=True)
class FlatAngle:
    """A joint angle that the state counts, so that it is unwrapped at any time."""

    joint: str
    component: int
    i: int
    j: int
    angle: Angle


@dataclass(frozen=True)
class FlatModel:
    """bodies : all movable ones, body k of the kernels is bodies[k - 1];  index : name -> k, ground 0

    counters : values that assembly found for the angles, full turns included, where constraints read them
    """

    model: Model
    bodies: tuple[Body, ...]
    index: dict[str, int]
    primitives: tuple[FlatPrimitive, ...]
    angles: tuple[FlatAngle, ...]
    forces: tuple[Force, ...]
    counters: tuple[float, ...] = ()

    @property
    def joints(self) -> tuple[Joint, ...]:
        return tuple(self.model.joints)

    def counter_of(self, driver: str) -> int:
        """Which of the counted angles a driver prescribes; 0 for what is no driver."""
        joints = {joint.name: joint for joint in self.joints}
        driven = {(d.joint, d.primitive.labels[0]) for d in self.model.drivers if d.name == driver}
        named = [(a.joint, joints[a.joint].coordinates[a.component]) for a in self.angles]
        return next((k for k, name in enumerate(named) if name in driven), 0)


def flatten(model: Model, extra: Iterable[FlatPrimitive] = ()) -> FlatModel:
    """All bodies, primitives (joints first, then drivers, then `extra`), joint angles and forces of a model."""
    bodies = tuple(model.bodies)
    index = {GROUND: 0, **{body.name: k + 1 for k, body in enumerate(bodies)}}
    angles = []
    for joint in model.joints:
        for component in range(len(joint.coordinates)):
            angle = angle_of(joint, component)
            if angle is not None:
                angles.append(FlatAngle(joint.name, component, index[angle.first], index[angle.second], angle))
    counter = {(angle.joint, angle.component): k for k, angle in enumerate(angles)}
    primitives = []
    for joint in model.joints:
        ends = index[joint.first], index[joint.second]
        members = tuple(index[name] for name in joint.members)
        turns = tuple(counter[key] for key in joint.coupled if key in counter)
        primitives += [FlatPrimitive(joint.name, *ends, primitive, members, turns) for primitive in joint.primitives]
    primitives += [FlatPrimitive(d.name, index[d.first], index[d.second], d.primitive) for d in model.drivers]
    primitives += extra
    primitives.sort(key=lambda item: item.primitive.kind in TRACED)  # stable: traced ones come last
    return FlatModel(model, bodies, index, tuple(primitives), tuple(angles), tuple(model.forces))


def arms(item: FlatPrimitive) -> list[tuple[int, Array]]:
    """Bodies and points on them at which a primitive acts."""
    primitive = item.primitive
    if primitive.law == "cable":
        points = np.reshape(primitive.numbers, (-1, 3))
        return [(item.bodies[int(part)], point) for part, point in zip(primitive.parts, points, strict=True)]
    return [(item.i, primitive.p_i), (item.j, primitive.p_j)]


def turning_length(flat: FlatModel) -> float:
    """What a unit of |theta| is worth in metres: 1 as in [JetMultibody], or the longest lever arm on a movable body where that
    is above 10 m or below 0.1 m.

    Without it, the projection of a mechanism of kilometres would weigh metres and radians 1 : 1e-6 and lose its digits, and
    the rows of one of micrometres would look dependent.
    """
    sizes = [abs(c) for item in flat.primitives for body, v in arms(item) if body > 0 for c in v.tolist()]
    if all(size <= 10.0 for size in sizes) and any(size >= 0.1 for size in sizes):
        return 1.0
    longest = max(sizes, default=0.0)
    return longest if longest > 0.0 else 1.0
