"""Cables through any number of bodies: one that does not stretch is a row g = sum_k |x_k+1 - x_k| - length, its tension
minus the multiplier (kernels/mechanics/relations.py)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError
from dalembert.model.elements import Body, Joint, Primitive
from dalembert.model.frames import own_axes, world_point
from dalembert.model.store import ElementStore
from dalembert.model.validation import Array, frozen, number, several, shown, vector

BodyPoint = tuple[Body | str, npt.ArrayLike]
CABLE = "cable"


def cable_points(joint: Joint) -> list[tuple[str, Array]]:
    """(body, point in its axes) of a cable, from its start to its end."""
    row = joint.primitives[0]
    return [(joint.bodies[int(part)], np.array(row.numbers[3 * k : 3 * k + 3])) for k, part in enumerate(row.parts)]


class CableVerbs(ElementStore):
    """Cables."""

    def add_cable(self, name: str, points: Sequence[BodyPoint], *, length: float | None = None) -> Joint:
        """A massless cable that does not stretch, from the first point to the last, sliding freely through those between.

            model.add_cable("rope", [("load", (0, 0, 0)), ("ground", (0, 0, 2)), ("ground", (1, 0, 2)), ("weight", (0, 0, 0))])

        points : (body, point in its axes [m]), two or more; the ends are fastened there, the others are eyes or small pulleys
        length : [m], default as in the model pose

        It holds in both directions; where it would have to push, a line of the report says when it would go slack. Its
        tension is `solution.effort(name)`.
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
        numbers = tuple(float(v) for place in places for v in place)
        part_of = tuple(str(members.index(body.name)) for body in bodies)
        row = Primitive("U", ("length",), offset=offset, law=CABLE, parts=part_of, numbers=numbers)
        origin = frozen(np.zeros(3))
        more = members if len(members) > 2 else ()
        return self._add(Joint(name, CABLE, members[0], members[-1], origin, origin, *own_axes(), (row,), members=more))
