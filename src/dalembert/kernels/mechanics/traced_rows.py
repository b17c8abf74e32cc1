"""Rows of traced constraints, which generated code computes (lagrangian/body_rows.py). Compiled only where a model has any.

Per primitive the code finds poses and twists of both bodies and the primitive's numbers in `system.traced`; there it leaves
g, g_t, zeta of up to three rows and, behind them, rows A of body i and of body j, then rows of d(A u + g_t)/dq of both.
"""

from dalembert.kernels.base.compiler import inline, kernel
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import BEND_CODE, BENDS, CALLBACK_FAILED, MOTIONS, OK, POSITIONS, V
from dalembert.kernels.base.vectors import Vec3
from dalembert.kernels.mechanics.forces import force_elements

MOST_ROWS = 3


@inline
def offer(p, traced, rows):
    """What the code of a primitive reads, and nothing where it leaves something."""
    i, j, zero = p.i, p.j, Vec3(0.0, 0.0, 0.0)
    traced.r_i, traced.R_i = i.r, i.R
    traced.v_i, traced.w_i = i.v, i.w
    traced.r_j, traced.R_j = j.r, j.R
    traced.v_j, traced.w_j = j.v, j.w
    traced.p_i, traced.p_j = p.p_i, p.p_j
    traced.a_i, traced.a_j, traced.n_i = p.a_i, p.a_j, p.n_i
    traced.offset, traced.scale = p.offset, p.scale
    traced.g, traced.g_t, traced.zeta = zero, zero, zero
    for k in range(4 * MOST_ROWS):
        rows[k].force, rows[k].torque = zero, zero


@inline
def traced_rows(mode, t, system):
    """g, g_t, zeta and rows of the traced primitives at the poses and twists in the workspace. Status.

    MOTIONS: all of them; POSITIONS: rows of velocities are left empty, so that they do not enter; BENDS: rows of
    d(A u + g_t)/dq to `bends` instead, laid out like A.
    """
    traced, left = system.traced, system.traced_rows
    rows, first = (system.bends, 2 * MOST_ROWS) if mode == BENDS else (system.A, 0)
    for number in range(system.nprim, system.nprim + system.ntraced):
        p = system.primitives[number]
        offer(p, traced, left)
        if mode != POSITIONS or p.kind != V:
            if callback(p.motion + (BEND_CODE if mode == BENDS else 0), t, system, system.w_call) != OK:
                return CALLBACK_FAILED
        for c in range(p.rows):
            A_i, A_j = rows[p.A_i[c]], rows[p.A_j[c]]
            own, other = left[first + c], left[first + MOST_ROWS + c]
            A_i.force, A_i.torque = own.force, own.torque
            A_j.force, A_j.torque = other.force, other.torque
            if mode != BENDS:
                system.g[p.row[c]] = traced.g[c]
                system.g_t[p.row[c]] = traced.g_t[c]
                system.zeta[p.row[c]] = traced.zeta[c]
    return OK


@kernel
def forces_and_rows(mode, t, system):
    """`force_elements`, and the traced rows where rows are asked for. Status."""
    if mode == BENDS:
        return traced_rows(mode, t, system)
    status = force_elements(MOTIONS if mode == POSITIONS else mode, t, system)
    if status == OK and (mode == MOTIONS or mode == POSITIONS):
        status = traced_rows(mode, t, system)
    return status
