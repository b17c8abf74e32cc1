"""Rows of traced constraints, which generated code computes (lagrangian/body_rows.py), and of relations (relations.py).
Compiled only where a model has any.

What the code of a primitive with n bodies reads at `called`, and behind it what it leaves there:

    18 n  poses and twists of its bodies (r, R, v, w_B)      3, 3, 3  g, g_t, zeta of up to three rows
    17    p_i, p_j, a_i, a_j, n_i, offset, scale             18 n     rows A, three per body
                                                             18 n     rows of d(A u + g_t)/dq, three per body
"""

from dalembert.kernels.base.compiler import inline, kernel
from dalembert.kernels.base.layout import width
from dalembert.kernels.base.loops import clear, copy
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import (
    BEND_CODE,
    BENDS,
    CALLBACK_FAILED,
    MOTIONS,
    OK,
    POSITIONS,
    PRIM_F,
    TURN_CODE,
    TURNS,
    W_BODY,
    V,
)
from dalembert.kernels.base.views import Rows
from dalembert.kernels.mechanics.forces import force_elements
from dalembert.kernels.mechanics.relations import GENERATED, relation_rows

MOST_ROWS = 3
BODY_NUMBERS, DATA_NUMBERS = width(W_BODY), width(PRIM_F)


@inline
def offer(p, code, system):
    """What the code of a primitive reads, and nothing where it leaves something; where that begins."""
    n, at = code.bodies, system.called
    for k in range(n):
        copy(at, system.poses + BODY_NUMBERS * system.members[code.member + k].body, BODY_NUMBERS)
        at = at + BODY_NUMBERS
    copy(at, system.data + DATA_NUMBERS * p.number, DATA_NUMBERS)
    at = at + DATA_NUMBERS
    clear(at, 3 * MOST_ROWS + 12 * MOST_ROWS * n)
    return at


@inline
def traced_rows(mode, t, system):
    """g, g_t, zeta and rows of the traced primitives at the poses and twists in the workspace. Status.

    MOTIONS: all of them; POSITIONS: rows of velocities are left empty, so that they do not enter; BENDS: rows of
    d(A u + g_t)/dq to `bends` instead, laid out like A; TURNS: of A' - A (0, w x .).
    """
    bending = mode == BENDS or mode == TURNS
    rows, more = system.bends if bending else system.A, BEND_CODE if mode == BENDS else TURN_CODE if mode == TURNS else 0
    for number in range(system.ntraced):
        p, code = system.primitives[system.nprim + number], system.codes[number]
        if code.relation != GENERATED:
            if relation_rows(p, code, t, bending, rows, system) != OK:
                return CALLBACK_FAILED
            continue
        left = offer(p, code, system)
        if mode != POSITIONS or p.kind != V:
            if callback(p.motion + more, t, system, system.w_call) != OK:
                return CALLBACK_FAILED
        made = Rows(left, 3 * MOST_ROWS + (6 * MOST_ROWS * code.bodies if bending else 0))
        for k in range(code.bodies):
            member = system.members[code.member + k]
            for c in range(p.rows):
                row, own = rows[member.A[c]], made[6 * (MOST_ROWS * k + c)]
                row.force, row.torque = own.force, own.torque
        if not bending:
            for c in range(p.rows):
                system.g[p.row[c]] = left[c]
                system.g_t[p.row[c]] = left[MOST_ROWS + c]
                system.zeta[p.row[c]] = left[2 * MOST_ROWS + c]
    return OK


@kernel
def forces_and_rows(mode, t, system):
    """`force_elements`, and the traced rows where rows are asked for. Status."""
    if mode == BENDS or mode == TURNS:
        return traced_rows(mode, t, system)
    status = force_elements(MOTIONS if mode == POSITIONS else mode, t, system)
    if status == OK and (mode == MOTIONS or mode == POSITIONS):
        status = traced_rows(mode, t, system)
    return status
