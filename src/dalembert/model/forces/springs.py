"""What pulls or pushes along the line between two points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.calls import Call, Parameter, Parameters, UserFunction, parameters_of
from dalembert.model.elements import BetweenPoints, ForceRecord, Glyph, Joints, States, spring_energy
from dalembert.model.forces.curves import beyond, gain, most, plain_table, split, table_energy
from dalembert.model.frames import own_points, world_point
from dalembert.model.joint_verbs import BodyRef, Pair
from dalembert.model.motions import Table
from dalembert.model.store import ElementStore
from dalembert.model.validation import number, shown

_FORMS = {3: "law(t, l, l_dot)"}


@dataclass(frozen=True, eq=False, repr=False)
class SpringDamper(BetweenPoints):
    """Point-to-point spring-damper: tension `stiffness (l - length) + damping l' + force`, l = |d|.

    damping : [N s/m], or a table of l' that gives a tension [N]
    force : a table of l that gives a tension [N], whose energy is counted from `length` on, or a function of t, l, l'
    """

    stiffness: float
    damping: float | Table
    length: float
    force: Table | UserFunction | None = None
    parameters: tuple[Parameter, ...] = ()
    verb: ClassVar[str] = "spring_damper"
    noun: ClassVar[str] = "spring-damper"
    glyph: ClassVar[Glyph] = "spring"

    @property
    def works(self) -> bool:
        return self.damping != 0.0 or callable(self.force)

    @property
    def coordinates(self) -> int:
        return 1

    @property
    def call(self) -> Call | None:
        return Call(self.force, ((), ()), (), self.parameters) if callable(self.force) else None

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        curve = self.force if isinstance(self.force, Table) else None
        c, damper = split(self.damping)
        gains = self.stiffness, c, self.length
        numbers = () if self.call is None else self.call.numbers
        bare = ForceRecord("SPRING", self.first, self.second, p_i=self.p_i, p_j=self.p_j, gains=gains)
        return (replace(bare, numbers=numbers, curve=curve, damper=damper),)

    def distance(self, states: States) -> Array:
        """(nt,) between its ends [m]."""
        d = states.point(self.second, self.p_j) - states.point(self.first, self.p_i)
        return np.asarray(np.linalg.norm(d, axis=1))

    def stored(self, states: States, joints: Joints, reach: float) -> tuple[Array, Array]:
        l = self.distance(states)
        U, size = spring_energy(self.stiffness, l - self.length, reach)
        if isinstance(self.force, Table):
            more, least = table_energy(self.force, l, self.length, reach)
            U, size = U + more, size + least
        return U, size

    def energy_scale(self, size: float) -> float:
        return self.stiffness * size**2 + (most(self.force) if isinstance(self.force, Table) else 0.0) * size

    def undirected(self, states: States, slack: float) -> bool:
        if self.length == 0 and self.force is None:
            return False
        return bool(self.distance(states)[0] <= slack * (self.length or 1.0))

    def remark(self, states: States, joints: Joints) -> str:
        return beyond(
            (self.force, lambda: self.distance(states), "length [m]"), (self.damping, lambda: self._rate(states), "rate [m/s]")
        )

    def _rate(self, states: States) -> Array:
        """(nt,) of the distance [m/s]."""
        d = states.point(self.second, self.p_j) - states.point(self.first, self.p_i)
        v = states.velocity(self.second, self.p_j) - states.velocity(self.first, self.p_i)
        return np.asarray(np.sum(d * v, axis=1) / np.maximum(self.distance(states), 1e-300))


class SpringVerbs(ElementStore):
    """Elements between two points of bodies, which are given by handle or name; SI units."""

    def add_spring_damper(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        stiffness: float = 0.0,
        damping: float | Table = 0.0,
        length: float | None = None,
        points: Pair | None = None,
        between: Pair | None = None,
        force: Table | UserFunction | None = None,
        parameters: Parameters | None = None,
    ) -> SpringDamper:
        """Tension stiffness (l - length) + damping l' + force between two body-fixed points at the distance l.

        stiffness : [N/m];  length : when slack [m]; default: the distance in the model pose
        damping : [N s/m], or a `Table` of rates [m/s] and tensions [N], a damper curve
        points : (p_first, p_second), its ends in the axes of each body [m]; default: the centres of mass
        between : instead, its ends (x_first, x_second) in world coordinates of the model pose [m]
        force : a function law(t, l, l_dot) that returns a tension [N] (a push where it is negative): bump stops, muscles, ropes
            that go slack; or a `Table` of lengths [m] and tensions [N], which stores energy
        parameters : numbers or arrays by name, given to the function as keyword arguments; may change without compiling anew
        """
        owner = self._new_name(SpringDamper.noun, name)
        i, j = self._two_bodies(owner, first, second)
        p_i, p_j = own_points(owner, i, j, points, between)
        if length is None:
            length = number(owner, "length", np.linalg.norm(world_point(j, p_j) - world_point(i, p_i)))
        slack = number(owner, "length", length, least=0.0)
        given: tuple[Parameter, ...] = ()
        if callable(force):
            given = parameters_of(owner, force, _FORMS, parameters)
        elif isinstance(force, Table):
            force = plain_table(owner, "force", force)
        elif force is not None:
            raise ModelError(
                f"{owner}: force is {shown(force)}; give a function {_FORMS[3]}, or a Table of lengths and tensions"
            )
        if parameters is not None and not callable(force):
            raise ModelError(f"{owner}: parameters go with a function; give force=law")
        k, c = number(owner, "stiffness", stiffness, least=0.0), gain(owner, "damping", damping)
        if force is None and not k and not c:
            raise ModelError(f"{owner}: got no stiffness, damping or force; give one of them")
        return self._add(SpringDamper(name, i.name, j.name, p_i, p_j, k, c, slack, force, given))


def gains(owner: str, stiffness: float, damping: float) -> tuple[float, float]:
    """Stiffness and damping, not negative."""
    return number(owner, "stiffness", stiffness, least=0.0), number(owner, "damping", damping, least=0.0)
