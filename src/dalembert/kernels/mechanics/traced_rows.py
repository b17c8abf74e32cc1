"""Rows of traced constraints, which generated code computes (lagrangian/body_rows.py). Compiled only where a model has any.

The code of a primitive is called with, from W[s] on: the records of bodies i and j, the primitive's numbers; it leaves after
them, for up to three rows: g, g_t, zeta, rows A of body i and of body j, rows of d(A u + g_t)/dq of both.
"""

from dalembert.kernels.base.compiler import inline, kernel
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import (
    BEND_CODE,
    BENDS,
    CALLBACK_FAILED,
    MOTIONS,
    NPRIM,
    NTRACED,
    OK,
    P_AI,
    P_AJ,
    P_BI,
    P_BJ,
    P_CALL,
    P_KIND,
    P_NROWS,
    P_ROW,
    POSITIONS,
    PRIM_F,
    PRIM_F_W,
    PRIM_I,
    PRIM_I_W,
    STATE_W,
    TRACED_SIZE,
    W_A,
    W_BEND,
    W_BODY,
    W_CALL,
    W_G,
    W_GT,
    W_ZETA,
    V,
)
from dalembert.kernels.mechanics.forces import force_elements

_G = 2 * STATE_W + PRIM_F_W
_GT, _ZETA, _ROWS, _BENDS = _G + 3, _G + 6, _G + 9, _G + 45


@inline
def traced_rows(mode, t, system):
    """g, g_t, zeta and rows of the traced primitives at the poses and twists in W. Status.

    MOTIONS: all of them; POSITIONS: rows of velocities are left empty, so that they do not enter; BENDS: rows of
    d(A u + g_t)/dq to W[W_BEND + ...] instead, laid out like W_A.
    """
    I, F, W = system.I, system.F, system.W
    s = I[W_CALL]
    for p in range(I[NPRIM], I[NPRIM] + I[NTRACED]):
        k, f = I[PRIM_I] + PRIM_I_W * p, I[PRIM_F] + PRIM_F_W * p
        si, sj = I[W_BODY] + STATE_W * I[k + P_BI], I[W_BODY] + STATE_W * I[k + P_BJ]
        for i in range(STATE_W):
            W[s + i] = W[si + i]
            W[s + STATE_W + i] = W[sj + i]
        for i in range(PRIM_F_W):
            W[s + 2 * STATE_W + i] = F[f + i]
        for i in range(_G, TRACED_SIZE):
            W[s + i] = 0.0
        if mode != POSITIONS or I[k + P_KIND] != V:
            if callback(I[k + P_CALL] + (BEND_CODE if mode == BENDS else 0), t, system, s) != OK:
                return CALLBACK_FAILED
        for c in range(I[k + P_NROWS]):
            row, ai, aj = I[k + P_ROW + c], I[k + P_AI + c], I[k + P_AJ + c]
            if mode == BENDS:
                for i in range(6):
                    W[I[W_BEND] + ai + i] = W[s + _BENDS + 6 * c + i]
                    W[I[W_BEND] + aj + i] = W[s + _BENDS + 18 + 6 * c + i]
            else:
                W[I[W_G] + row] = W[s + _G + c]
                W[I[W_GT] + row] = W[s + _GT + c]
                W[I[W_ZETA] + row] = W[s + _ZETA + c]
                for i in range(6):
                    W[I[W_A] + ai + i] = W[s + _ROWS + 6 * c + i]
                    W[I[W_A] + aj + i] = W[s + _ROWS + 18 + 6 * c + i]
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
