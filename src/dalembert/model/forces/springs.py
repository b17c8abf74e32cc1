"""What pulls or pushes along the line between two points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dalembert.model.elements import Force, ForceRecord, Joints, States, spring_energy
from dalembert.model.frames import own_points, world_point
from dalembert.model.joint_verbs import BodyRef, Pair
from dalembert.model.store import ElementStore
from dalembert.model.validation import Array, number


@dataclass(frozen=True, eq=False)
class SpringDamper(Force):
    """Point-to-point spring-damper: tension `stiffness (|d| - length) + damping d|d|/dt`."""

    first: str
    second: str
    p_i: Array
    p_j: Array
    stiffness: float
    damping: float
    length: float
    verb: ClassVar[str] = "spring_damper"
    noun: ClassVar[str] = "spring-damper"
    glyph: ClassVar[Literal["", "spring"]] = "spring"

    def ends(self, joints: Joints) -> tuple[str, ...]:
        return self.first, self.second

    def places(self) -> tuple[tuple[str, Array], ...]:
        return (self.first, self.p_i), (self.second, self.p_j)

    @property
    def works(self) -> bool:
        return self.damping != 0.0

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        gains = self.stiffness, self.damping, self.length
        return (ForceRecord("SPRING", self.first, self.second, p_i=self.p_i, p_j=self.p_j, gains=gains),)

    def distance(self, states: States) -> Array:
        """(nt,) between its ends [m]."""
        d = states.point(self.second, self.p_j) - states.point(self.first, self.p_i)
        return np.asarray(np.linalg.norm(d, axis=1))

    def stored(self, states: States, joints: Joints, reach: float) -> tuple[Array, Array]:
        return spring_energy(self.stiffness, self.distance(states) - self.length, reach)

    def energy_scale(self, size: float) -> float:
        return self.stiffness * size**2

    def undirected(self, states: States, slack: float) -> bool:
        return self.length > 0 and bool(self.distance(states)[0] <= slack * self.length)


class SpringVerbs(ElementStore):
    """Elements between two points of bodies, which are given by handle or name; SI units."""

    def add_spring_damper(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        stiffness: float,
        damping: float = 0.0,
        length: float | None = None,
        points: Pair | None = None,
        between: Pair | None = None,
    ) -> SpringDamper:
        """Tension stiffness (|d| - length) + damping d|d|/dt between two body-fixed points, d = x_second - x_first.

        stiffness : [N/m];  damping : [N s/m];  length : when slack [m]; default: the distance in the model pose
        points : (p_first, p_second), its ends in the axes of each body [m]; default: the centres of mass
        between : instead, its ends (x_first, x_second) in world coordinates of the model pose [m]
        """
        owner = self._new_name(SpringDamper.noun, name)
        i, j = self._two_bodies(owner, first, second)
        p_i, p_j = own_points(owner, i, j, points, between)
        if length is None:
            length = float(np.linalg.norm(world_point(j, p_j) - world_point(i, p_i)))
        slack = number(owner, "length", length, least=0.0)
        return self._add(SpringDamper(name, i.name, j.name, p_i, p_j, *gains(owner, stiffness, damping), slack))


def gains(owner: str, stiffness: float, damping: float) -> tuple[float, float]:
    """Stiffness and damping, not negative."""
    return number(owner, "stiffness", stiffness, least=0.0), number(owner, "damping", damping, least=0.0)
