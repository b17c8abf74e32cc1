"""What the rows of traced primitives read beside their records: the bodies that they act on, the measures of relations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from dalembert.compilation.flatten import FlatPrimitive
from dalembert.compilation.writer import Writer
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import width
from dalembert.kernels.mechanics import relations as R
from dalembert.model.cams import table_of
from dalembert.model.elements import MOST_ROWS, Primitive

Measure = tuple[int, int, int, list[float]]  # kind, first and second body among the primitive's, numbers of PART_F
NONE = (0.0, 0.0, 0.0)


def relation_of(primitive: Primitive) -> int:
    """Kind of its code, as kernels/mechanics/relations.py has them."""
    if primitive.law not in ("coupling", "cable", "cam flat", "cam roller"):
        return R.GENERATED
    if primitive.function is not None:
        return R.WRITTEN
    return R.TABULATED if primitive.law.startswith("cam") else R.LINEAR


def measures(primitive: Primitive) -> Iterator[Measure]:
    """What a relation is a relation of."""
    d = primitive
    if d.law == "coupling":
        for part, (c, *values) in zip(d.parts, np.reshape(d.numbers, (-1, 10)).tolist(), strict=True):
            what, i, j = part.split()
            a, b, e = values[:3], values[3:6], values[6:]
            if what == "angle":
                yield R.ANGLE, int(i), int(j), [*NONE, *NONE, *a, *e, *b, c]
            else:
                yield R.TRANSLATION, int(i), int(j), [*a, *b, *e, *NONE, *NONE, c]
    elif d.law == "cable":
        for (i, here), (j, there) in pairwise(zip(d.parts, np.reshape(d.numbers, (-1, 3)), strict=True)):
            yield R.LENGTH, int(i), int(j), [*here, *there, *NONE, *NONE, *NONE, 1.0]
    elif d.law == "cam flat":  # seen from the flat
        yield R.TRANSLATION, 1, 0, [*d.p_j, *d.p_i, *d.a_j, *NONE, *NONE, -1.0]
        yield R.ANGLE, 0, 1, [*NONE, *NONE, *d.a_i, *d.a_j, *d.n_i, 1.0]
    elif d.law == "cam roller":
        for kind in (R.RADIUS, R.BEARING):
            yield kind, 0, 1, [*d.p_i, *d.p_j, *d.a_i, *NONE, *d.n_i, 1.0]


def called_size(bodies: int, primitive: Primitive) -> int:
    """How much room what its code reads and leaves takes."""
    from dalembert.lagrangian.body_rows import Size

    if relation_of(primitive) == R.GENERATED:
        return Size(bodies).total
    n = len(list(measures(primitive)))
    return 2 * n + len(primitive.labels) * (3 + 2 * n) + R.KEPT * n


def members(item: FlatPrimitive, places: Sequence[Sequence[int]]) -> list[int]:
    """Records of MEMBER_I; places : where the rows of a primitive begin in A, per body."""
    each = zip(item.bodies, places, strict=True)
    return [entry for body, at in each for entry in (body, *at, *([0] * (MOST_ROWS - len(at))))]


class Codes:
    """The sections of all traced primitives, filled one after the other."""

    def __init__(self, out: Writer) -> None:
        self.out = out
        self.table: list[int] = []
        self.members = 0
        self.parts: list[int] = []
        self.numbers: list[float] = []
        self.largest = 0

    def add(self, item: FlatPrimitive) -> None:
        """The next primitive."""
        relation, first = relation_of(item.primitive), self.members
        found, turns = list(measures(item.primitive)), iter(item.turns)
        curve = self.out.motion(table_of(item.primitive)) if relation == R.TABULATED else -1
        self.table += [first, len(item.bodies), len(self.parts) // width(T.PART_I), len(found), relation, curve]
        self.members += len(item.bodies)
        for kind, i, j, numbers in found:
            counter = next(turns) if kind == R.ANGLE and item.turns else -1
            self.parts += [kind, item.bodies[i], item.bodies[j], first + i, first + j, counter]
            self.numbers += numbers
        self.largest = max(self.largest, called_size(len(item.bodies), item.primitive))

    def write(self) -> None:
        """Sizes and sections."""
        out = self.out
        out.I[T.NMEMBER], out.I[T.NPART] = self.members, len(self.parts) // width(T.PART_I)
        out.I[T.CALL_SIZE] = self.largest
        out.section_i(T.CODE_I, self.table)
        out.section_i(T.PART_I, self.parts)
        out.section_f(T.PART_F, self.numbers)


def alone(primitive: Primitive, bodies: int, turns: int, number: int) -> tuple[list[int], list[float], int]:
    """I, F and the size of W for the rows of one traced primitive on bodies 1, 2, ...: three after three per body from W_A on.

    turns : how many counted angles it reads;  number : of its code
    """
    out = Writer({})
    out.I[T.NB], out.I[T.NTRACED], out.I[T.NANGLE] = bodies, 1, turns
    out.section_i(
        T.PRIM_I, [T.V if primitive.kind == "V" else T.U, 1, bodies, number, 0, 1, 2, *[0] * 6, len(primitive.labels)]
    )
    vectors = (primitive.p_i, primitive.p_j, primitive.a_i, primitive.a_j, primitive.n_i)
    out.section_f(T.PRIM_F, [*(v for vector in vectors for v in vector), primitive.offset, 1.0])
    item = FlatPrimitive("", 1, bodies, primitive, tuple(range(1, bodies + 1)), tuple(range(turns)))
    codes = Codes(out)
    codes.add(item)
    codes.write()
    places = [[6 * (MOST_ROWS * b + c) for c in range(MOST_ROWS)] for b in range(bodies)]
    out.section_i(T.MEMBER_I, members(item, places))
    sizes = {T.W_BODY: width(T.W_BODY) * (bodies + 1), T.W_ANGLE: 2 * turns, T.W_CALL: codes.largest}
    sizes[T.W_A] = 6 * MOST_ROWS * bodies
    used = 0
    for entry, size in {**sizes, **dict.fromkeys((T.W_G, T.W_GT, T.W_ZETA), MOST_ROWS)}.items():
        out.I[entry], used = used, used + size
    return out.I, out.F, used
