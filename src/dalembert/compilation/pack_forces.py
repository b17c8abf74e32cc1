"""Force elements of a model as rows of the packed tables: columns as in kernels/base/tables.py and layout.py."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.compilation.flatten import FlatModel
from dalembert.compilation.writer import Writer
from dalembert.kernels.base import tables as T
from dalembert.kernels.mechanics import forces, laws
from dalembert.model.elements import Force

_KINDS = vars(laws) | vars(forces)


def call_size(I: Sequence[int]) -> int:
    """How much of W the functions of force elements need at most."""
    table = np.reshape(I[I[T.FORCE_I] :][: T.FORCE_I_W * I[T.NFORCE]], (-1, T.FORCE_I_W))
    return max((24 + 3 * int(row[T.F_MEMBERS]) + int(row[T.F_COUNT]) for row in table if row[T.F_CALL] >= 0), default=0)


def force_rows(flat: FlatModel, out: Writer) -> tuple[list[int], list[float], tuple[Force, ...]]:
    """Both tables, and the elements whose value is a user function, in the order of their callback numbers.

    out : takes their motions, tables and numbers
    """
    joints = {joint.name: joint for joint in flat.model.joints}
    counters = {(item.joint, item.component): k for k, item in enumerate(flat.angles)}
    table: list[int] = []
    constants: list[float] = []
    functions: list[Force] = []
    for force in flat.forces:
        members = force.records(joints)
        call = -1 if force.function is None else len(functions)
        functions += [] if force.function is None else [force]
        for k, r in enumerate(members):
            angle = -1 if r.angle is None else counters[r.angle]
            table += [_KINDS[r.kind], flat.index[r.first], flat.index[r.second], out.motion(r.motion), angle, call]
            table += [int(r.frame == "body"), len(out.F), len(r.numbers), 0 if k else len(members)]
            out.F += r.numbers
            table += [out.curve(r.curve, r.gains[2]), out.curve(r.damper)]
            for v in (r.p_i, r.p_j, r.vector, np.array(r.gains), r.E_i, r.E_j):
                constants += v.ravel().tolist()
    return table, constants, tuple(functions)
