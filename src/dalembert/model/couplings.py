"""Couplings: hard relations of joint coordinates, linear ones or a user's, with angles counted over full turns.

    sum_k c_k s_k = offset            f(s_1, ..., s_n) = 0

The rows are relations (kernels/mechanics/relations.py); a coupling is a `Joint` whose bodies are those of the joints it
couples. A part says which coordinate it is and of which two of these bodies; ten numbers follow for each:

    "angle i j"         c, a_i, n_i, a_j:   the angle of a_j about n_i from a_i
    "translation i j"   c, p_i, p_j, a_i:   (R_i a_i) . (x_j - x_i)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dalembert.errors import ModelError
from dalembert.model.calls import UserFunction
from dalembert.model.elements import MOST_ROWS, Joint, Primitive
from dalembert.model.frames import own_axes, rotation_matrix, world_point
from dalembert.model.joints import angle_of, check_coordinate, direction_of
from dalembert.model.store import ElementStore
from dalembert.model.validation import check_listed, frozen, number, shown

JointRef = Joint | str
Coordinate = JointRef | tuple[JointRef, int]
Factors = Mapping[Coordinate, float]
Coordinates = Sequence[Coordinate]
LAW = "coupling"


class CouplingVerbs(ElementStore):
    """Relations of joint coordinates. A coordinate is a joint; (joint, component) or "joint.angle" where it has several."""

    def add_coupling(
        self,
        name: str,
        relation: Factors | UserFunction,
        joints: Coordinates | None = None,
        *,
        offset: float | None = 0.0,
    ) -> Joint:
        """A hard relation of any number of joint coordinates [rad, m]; angles are counted over full turns.

            model.add_coupling("drive", {"A": 1.0, "B": -2.5})                       # s_A - 2.5 s_B = 0
            model.add_coupling("plate", lambda a, b: b - 0.02 * np.sin(3 * a), ["wheel", "follower"])

        relation : factor of each coordinate, their sum being `offset`; or a function of the coordinates in `joints` (and of t,
            if it likes) that returns one or more residuals which must vanish, traced as in `add_constraint`
        joints : the coordinates that a function takes, in its order
        offset : of the sum [rad or m]; None means as the model pose has it, as wheels mesh that are drawn in mesh
        """
        owner = self._new_name("coupling", name)
        if callable(relation):
            return self._add(self._function_coupling(owner, name, relation, joints, offset))
        if not isinstance(relation, Mapping) or not relation:
            raise ModelError(f"{owner}: relation is {shown(relation)}; give {{joint: factor, ...}} or a function with joints")
        if joints is not None:
            raise ModelError(f"{owner}: joints are given beside factors; the keys of the relation name them already")
        terms = [(*self._coordinate(owner, key), number(owner, f"factor of {_told(key)}", c)) for key, c in relation.items()]
        return self._couple(owner, name, terms, offset)

    def _couple(self, owner: str, name: str, terms: Sequence[tuple[Joint, int, float]], offset: float | None) -> Joint:
        """Keep the coupling with these factors; those of a coordinate that comes twice add up."""
        factors: dict[tuple[str, int], float] = {}
        for joint, component, c in terms:
            factors[joint.name, component] = factors.get((joint.name, component), 0.0) + c
        if zero := [key for key, c in factors.items() if c == 0.0]:
            raise ModelError(f"{owner}: the factor of {_told(zero[0])} is 0; give a number other than 0, or leave it out")
        at = self._offset(factors) if offset is None else number(owner, "offset", offset)
        members, parts, numbers = coupled_rows(self, factors)
        row = Primitive("U", (LAW,), offset=at, law=LAW, parts=parts, numbers=numbers)
        return self._add(_joint(name, members, (row,), tuple(factors), offset is None))

    def _function_coupling(self, owner: str, name: str, function: UserFunction, joints: object, offset: float | None) -> Joint:
        from dalembert.lagrangian.body_rows import function_arguments
        from dalembert.lagrangian.relations import count_relations

        if isinstance(joints, str) or not isinstance(joints, Sequence) or not joints:
            raise ModelError(f"{owner}: joints are {shown(joints)}; give the list of coordinates that its function takes")
        if offset != 0.0:
            raise ModelError(f"{owner}: offset is {shown(offset)}; a function has it inside")
        found = [self._coordinate(owner, key) for key in joints]
        keys = [(joint.name, component) for joint, component in found]
        arguments, timed = function_arguments(function)
        told = [_told(key) for key in keys]
        check_listed(owner, told, arguments, len(keys), "coordinates", "joints")
        labels = [str(k + 1) for k in range(count_relations(owner, function, told, timed))]
        members, parts, numbers = coupled_rows(self, dict.fromkeys(keys, 1.0))
        groups = [tuple(labels[k : k + MOST_ROWS]) for k in range(0, len(labels), MOST_ROWS)]
        rows = tuple(Primitive("U", group, law=LAW, function=function, parts=parts, numbers=numbers) for group in groups)
        return _joint(name, members, rows, tuple(keys))

    def _coordinate(self, owner: str, which: object) -> tuple[Joint, int]:
        """A joint and the component of one of its coordinates that can be coupled."""
        joint, component = which if isinstance(which, tuple) and len(which) == 2 else (which, None)
        if isinstance(joint, str) and component is None and not isinstance(self._elements.get(joint), Joint):
            before, _, label = joint.rpartition(".")
            known = self._elements.get(before)
            if isinstance(known, Joint) and label in known.coordinates:
                joint, component = before, known.coordinates.index(label)
        found = self._joint(owner, joint)
        if component is None:
            if len(found.coordinates) > 1:
                listed = ", ".join(f"{k}: {label}" for k, label in enumerate(found.coordinates))
                named = f"{found.name}.{found.coordinates[0]}"
                raise ModelError(f"{owner}: joint {found.name!r} has {listed}; give ({found.name!r}, 0) or {named!r}")
            component = 0
        check_coordinate(owner, found, component)
        return found, component

    def _offset(self, factors: Mapping[tuple[str, int], float]) -> float:
        """What the sum is in the model pose."""
        return sum(c * self._at_pose(*key) for key, c in factors.items())

    def _at_pose(self, joint: str, component: int) -> float:
        """A joint coordinate in the model pose, an angle within half a turn."""
        found = self.joint(joint)
        angle, direction = angle_of(found, component), direction_of(found, component)
        if angle is not None:
            d = rotation_matrix(self.body(angle.first)).T @ rotation_matrix(self.body(angle.second)) @ angle.a_j
            return float(np.arctan2(np.cross(angle.n_i, angle.a_i) @ d, angle.a_i @ d))
        assert direction is not None
        i, j = self.body(found.first), self.body(found.second)
        return float((rotation_matrix(i) @ direction) @ (world_point(j, found.p_j) - world_point(i, found.p_i)))


def coupled_rows(
    store: ElementStore, factors: Mapping[tuple[str, int], float]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[float, ...]]:
    """Bodies, parts and numbers of a row that reads these coordinates, as said above."""
    members: list[str] = []
    parts: list[str] = []
    numbers: list[float] = []
    for (name, component), factor in factors.items():
        joint = store.joint(name)
        angle, direction = angle_of(joint, component), direction_of(joint, component)
        if angle is not None:
            kind, ends, data = "angle", (angle.first, angle.second), (angle.a_i, angle.n_i, angle.a_j)
        else:
            assert direction is not None
            kind, ends, data = "translation", (joint.first, joint.second), (joint.p_i, joint.p_j, direction)
        members += [end for end in ends if end not in members]
        parts.append(f"{kind} {members.index(ends[0])} {members.index(ends[1])}")
        numbers += [factor, *(float(v) for vector in data for v in vector)]
    return tuple(members), tuple(parts), tuple(numbers)


def recoupled(store: CouplingVerbs, joint: Joint) -> Joint:
    """A coupling with the data that its joints have now; wheels stay in mesh where they are."""
    factors = dict(zip(joint.coupled, joint.primitives[0].numbers[::10], strict=True))
    members, parts, numbers = coupled_rows(store, factors)
    rows = tuple(replace(row, parts=parts, numbers=numbers) for row in joint.primitives)
    if joint.meshed:
        rows = tuple(replace(row, offset=store._offset(factors)) for row in rows)
    return _joint(joint.name, members, rows, joint.coupled, joint.meshed)


def _joint(
    name: str,
    members: tuple[str, ...],
    rows: tuple[Primitive, ...],
    coupled: tuple[tuple[str, int], ...],
    meshed: bool = False,
) -> Joint:
    place = frozen(np.zeros(3))
    more = members if len(members) > 2 else ()
    return Joint(
        name, LAW, members[0], members[-1], place, place, *own_axes(), rows, members=more, coupled=coupled, meshed=meshed
    )


def _told(which: object) -> str:
    """A coordinate in messages."""
    joint, component = which if isinstance(which, tuple) and len(which) == 2 else (which, None)
    name = getattr(joint, "name", joint)
    return f"joint {name!r}" if component in (None, 0) else f"joint {name!r}, component {component}"
