"""The slot of force elements where joints are redundant: it also answers CHOOSE, with another choice of rows where one is due.

Only models with redundant joints compile what is here. After a factorisation CHOOSE looks at its smallest pivot; where rows are
chosen anew (choice.py), the factor of the new choice takes its place.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.dense import dense_cholesky, weakest_dense_row
from dalembert.kernels.base.tables import (
    CHOOSE,
    COL_W,
    EPS_PIVOT,
    H_COUNT,
    K_ACC,
    MASS_F,
    METRIC_F,
    MINIMAL_I,
    NHUB,
    NU,
    OK,
    V_CHOICE,
    V_GUARD,
    V_LAST,
    V_ROW,
    V_TURNED,
    W_CG,
    W_CHOICE,
    W_COL,
    W_DIAG,
    W_PIVOT,
    W_RHS,
    W_SCHUR,
    W_WORK,
    M,
)
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.choice import choices, choose, fill_from_bodies, gone_bad, silence, without_velocities
from dalembert.kernels.coordinates.cut_choice import aside
from dalembert.kernels.coordinates.solve import assemble_blocks, factor_blocks, weakest_row
from dalembert.kernels.formulations.moving_frame import along, respond_to_row
from dalembert.kernels.formulations.pivots import comparable
from dalembert.kernels.formulations.tangent_space import dual_vector, inner
from dalembert.kernels.mechanics.traced_rows import forces_and_rows


@kernel
def choosing_bodies(mode, t, system):
    """`forces_and_rows`; CHOOSE among the rows of bodies, t = 0 after a factorisation in the mass metric, 1 in the other."""
    I, W = system.I, system.W
    if mode != CHOOSE:
        return forces_and_rows(mode, t, system)
    if without_velocities(I[W_DIAG], system):
        return OK
    if W[I[W_CHOICE] + H_COUNT] == 0.0 or gone_bad(int(t), weakest_row(system)[1], system):
        known, size, turned = comparable(system), I[M] + 6 * I[NHUB], False
        for i in range(size):
            W[I[W_CG] + i] = W[I[W_RHS] + i]
        if known:
            dual_vector(int(W[I[W_PIVOT] + V_ROW]), I[W_WORK], system)
            turned = inner(I[METRIC_F], I[W_WORK], I[W_PIVOT] + V_GUARD, system) < 0.0
        if choose(fill_from_bodies, system):
            assemble_blocks(I[MASS_F] if t == 0.0 else I[METRIC_F], system)
            factor_blocks(system)
            if known:
                row, pivot = weakest_row(system)
                dual_vector(row, I[W_PIVOT] + V_GUARD, system)
                take_guard(row, pivot, turned, system)
        for i in range(size):
            W[I[W_RHS] + i] = W[I[W_CG] + i]
    return OK


@flat
def take_guard(row, pivot, turned, system):
    """The guard belongs to another choice now."""
    I, W = system.I, system.W
    k = I[W_PIVOT]
    W[k + V_ROW], W[k + V_LAST], W[k + V_CHOICE] = row, pivot, choices(system)
    if turned:
        W[k + V_TURNED] = 1.0


@flat
def fill_from_tree(group, count, K, system):
    """W[K] <- matrix of the rows of a group over their scales, lower triangle."""
    I, W = system.I, system.W
    m, kept = I[M], aside(system)
    for i in range(count):
        r = I[group + i]
        for j in range(i + 1):
            s = I[group + j]
            W[K + count * i + j] = W[kept + m * max(r, s) + min(r, s)] / np.sqrt(W[kept + m * m + r] * W[kept + m * m + s])


@kernel
def choosing_cut_joints(mode, t, system):
    """`forces_and_rows`; CHOOSE among the rows of cut joints."""
    I, F, W = system.I, system.F, system.W
    if mode != CHOOSE:
        return forces_and_rows(mode, t, system)
    m, S = I[M], I[W_SCHUR]
    if without_velocities(S + m * m, system):
        return OK
    if W[I[W_CHOICE] + H_COUNT] == 0.0 or gone_bad(0, weakest_dense_row(Numbers(W, S), m, Numbers(W, S + m * m), 0)[1], system):
        known, turned, guard = comparable(system) and I[MINIMAL_I] == 0, False, I[W_PIVOT] + V_GUARD
        for i in range(m):
            W[aside(system) + m * m + m + i] = W[I[W_RHS] + i]
        if known:
            respond_to_row(int(W[I[W_PIVOT] + V_ROW]), system)
            turned = along(guard, system) < 0.0
        if choose(fill_from_tree, system):
            for i in range(m * m + m):
                W[S + i] = W[aside(system) + i]
            silence(S + m * m, np.inf, system)
            dense_cholesky(Numbers(W, S), m, Numbers(W, S + m * m), F[EPS_PIVOT])
            if known:
                row, pivot = weakest_dense_row(Numbers(W, S), m, Numbers(W, S + m * m), 0)
                respond_to_row(row, system)
                for i in range(I[NU]):
                    W[guard + i] = W[I[W_COL] + COL_W * i + K_ACC]
                take_guard(row, pivot, turned, system)
        for i in range(m):
            W[I[W_RHS] + i] = W[aside(system) + m * m + m + i]
    return OK
