"""Cables through any number of bodies.

one that does not stretch   a row g = sum_k |x_k+1 - x_k| - length, its tension minus the multiplier (kernels' relations.py)
one that does               a force, tension k (L - length) + c L', not below 0, and 0 while slack (kernels' laws.py)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.elements import Body, Force, ForceRecord, Glyph, Joint, Joints, Primitive, States, spring_energy
from dalembert.model.forces.springs import gains
from dalembert.model.frames import own_axes, world_point
from dalembert.model.store import ElementStore
from dalembert.model.validation import frozen, number, several, shown, vector

BodyPoint = tuple[Body | str, npt.ArrayLike]
CABLE = "cable"


def cable_points(joint: Joint) -> list[tuple[str, Array]]:
    """(body, point in its axes) of a cable, from its start to its end."""
    row = joint.primitives[0]
    return [(joint.bodies[int(part)], np.array(row.numbers[3 * k : 3 * k + 3])) for k, part in enumerate(row.parts)]


def cables(joints: Sequence[Joint], forces: Sequence[Force]) -> Iterator[tuple[str, list[tuple[str, Array]]]]:
    """Name and points of every cable."""
    yield from ((joint.name, cable_points(joint)) for joint in joints if joint.type == CABLE and joint.primitives)
    yield from ((force.name, list(force.places())) for force in forces if isinstance(force, ElasticCable))


def vanishing_parts(joints: Sequence[Joint], forces: Sequence[Force], states: States, share: float) -> list[str]:
    """Which parts of cables between two bodies become shorter than a share of the whole, by what is left between states too:
    they have no direction there."""
    said = []
    for name, places in cables(joints, forces):
        d = np.diff([states.point(*place) for place in places], axis=0)  # (parts, nt, 3)
        whole = float(np.linalg.norm(d, axis=2).sum(axis=0).max(initial=0.0))
        for ((i, _), (j, _)), gap in zip(pairwise(places), d, strict=True):
            near = _distances(gap)
            if i != j and (short := near < share * whole).any():
                first = float(states.t[int(np.argmax(short))])
                part = f"the part of cable {name!r} between {i!r} and {j!r}"
                said.append(f"{part} shrinks to {near.min():.1g} m, first at t = {first:.4g} s")
    return said


def _distances(x: Array) -> Array:
    """(nt,) how near to the origin a path (nt, 3) comes at each of its points, and straight on to the next."""
    side = np.diff(x, axis=0, append=x[-1:])
    s = np.clip(-np.sum(x * side, axis=1) / np.maximum(np.sum(side**2, axis=1), 1e-300), 0.0, 1.0)
    return np.asarray(np.linalg.norm(x + s[:, None] * side, axis=1))


@dataclass(frozen=True, eq=False)
class ElasticCable(Force):
    """A massless cable through points of bodies: tension stiffness (L - length) + damping L', never a push.

    bodies, at : of each point the body, and where it is in its axes [m]
    """

    bodies: tuple[str, ...]
    at: tuple[Array, ...]
    stiffness: float
    damping: float
    length: float
    verb: ClassVar[str] = "cable"
    glyph: ClassVar[Glyph] = "cable"

    def ends(self, joints: Joints) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.bodies))

    def places(self) -> tuple[tuple[str, Array], ...]:
        return tuple(zip(self.bodies, self.at, strict=True))

    def sides(self, joints: Joints) -> tuple[tuple[str, Array], ...]:
        return tuple((body, np.zeros(3)) for body in self.ends(joints))

    def told(self) -> dict[str, Any]:
        return {"points": self.places()}

    @property
    def works(self) -> bool:
        return self.damping != 0.0

    @property
    def coordinates(self) -> int:
        return 1

    def records(self, joints: Joints) -> tuple[ForceRecord, ...]:
        gains = self.stiffness, self.damping, self.length
        pairs = pairwise(self.places())
        return tuple(ForceRecord("CABLE", i, j, p_i=p_i, p_j=p_j, gains=gains) for (i, p_i), (j, p_j) in pairs)

    def check(self, owner: str, joints: Joints) -> None:
        if len(self.bodies) != len(self.at) or len(set(self.bodies)) < 2:
            raise ModelError(f"{owner}: points are on {shown(self.bodies)}; give points of two or more bodies")
        gains(owner, self.stiffness, self.damping)
        number(owner, "length", self.length, above=0.0)

    def parts(self, states: States) -> Array:
        """(nt, n) lengths between its points [m]."""
        x = [states.point(*place) for place in self.places()]
        return np.stack([np.linalg.norm(there - here, axis=1) for here, there in pairwise(x)], axis=1)

    def stored(self, states: States, joints: Joints, reach: float) -> tuple[Array, Array]:
        if self.damping:  # all that it does is external work, see the kernel
            return np.zeros(len(states.t)), np.zeros(len(states.t))
        stretch = np.maximum(self.parts(states).sum(axis=1) - self.length, 0.0)
        return spring_energy(self.stiffness, stretch, reach)

    def energy_scale(self, size: float) -> float:
        return self.stiffness * size**2

    def undirected(self, states: States, slack: float) -> bool:
        moving = [i != j for i, j in pairwise(self.bodies)]
        return bool((self.parts(states)[0, moving] <= slack * self.length).any())

    def remark(self, states: States, joints: Joints) -> str:
        slack = self.parts(states).sum(axis=1) < self.length
        if not slack.any():
            return ""
        return f"slack at {np.mean(slack):.0%} of the states, first at t = {states.t[np.argmax(slack)]:.4g} s"


class CableVerbs(ElementStore):
    """Cables."""

    def add_cable(
        self,
        name: str,
        points: Sequence[BodyPoint],
        *,
        length: float | None = None,
        stiffness: float | None = None,
        damping: float = 0.0,
    ) -> Joint | ElasticCable:
        """A massless cable from the first point to the last, sliding freely through those between.

            model.add_cable("rope", [("load", (0, 0, 0)), ("ground", (0, 0, 2)), ("ground", (1, 0, 2)), ("weight", (0, 0, 0))])

        points : (body, point in its axes [m]), two or more; the ends are fastened there, the others are eyes or small pulleys
        length : without tension [m], default as in the model pose
        stiffness : of the whole cable, E A / length [N/m]; default: it does not stretch
        damping : of a cable with stiffness [N s/m]; what it does counts as external work then, not as stored energy

        One that stretches pulls with stiffness (L - length) + damping L', and goes slack. One that does not holds in both
        directions; where it would have to push, a line of the report says when it would go slack. The tension of either is
        `solution.effort(name).value`.
        """
        owner = self._new_name("cable", name)
        if not isinstance(points, Sequence) or len(points) < 2:
            raise ModelError(f"{owner}: points are {shown(points)}; give two or more (body, point)")
        pairs = [several(owner, f"points[{k}]", point, (2,), "(body, point)") for k, point in enumerate(points)]
        bodies = [self._body(owner, body) for body, _ in pairs]
        places = [vector(owner, f"points[{k}]", place) for k, (_, place) in enumerate(pairs)]
        for k, (body, place) in enumerate(zip(bodies, places, strict=True)):
            if body.kind == "point" and place.any():
                raise ModelError(f"{owner}: points[{k}] is {shown(place)} on point mass {body.name!r}; give (0, 0, 0)")
        members = tuple(dict.fromkeys(body.name for body in bodies))
        if len(members) < 2:
            raise ModelError(f"{owner}: all its points are on {members[0]!r}; give points of two or more bodies")
        world = [world_point(body, place) for body, place in zip(bodies, places, strict=True)]
        parts = np.linalg.norm(np.diff(world, axis=0), axis=1)
        for k, part in enumerate(parts.tolist()):
            if bodies[k] is not bodies[k + 1] and part <= 1e-9 * max(float(parts.sum()), 1e-300):
                raise ModelError(
                    f"{owner}: points[{k}] and points[{k + 1}] coincide in the model pose, so that the cable has no direction"
                    " there; move one of them"
                )
        offset = float(parts.sum()) if length is None else number(owner, "length", length, above=0.0)
        if stiffness is not None:
            number(owner, "stiffness", stiffness, above=0.0)
            pull, loss = gains(owner, stiffness, damping)
            return self._add(ElasticCable(name, tuple(body.name for body in bodies), tuple(places), pull, loss, offset))
        if number(owner, "damping", damping):
            raise ModelError(f"{owner}: damping is {shown(damping)} without stiffness; give stiffness= too")
        numbers = tuple(float(v) for place in places for v in place)
        part_of = tuple(str(members.index(body.name)) for body in bodies)
        row = Primitive("U", ("length",), offset=offset, law=CABLE, parts=part_of, numbers=numbers)
        origin = frozen(np.zeros(3))
        more = members if len(members) > 2 else ()
        return self._add(Joint(name, CABLE, members[0], members[-1], origin, origin, *own_axes(), (row,), members=more))
