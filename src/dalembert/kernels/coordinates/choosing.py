"""The slot of force elements where joints are redundant: it also answers CHOOSE, with another choice of rows where one is due.

Only models with redundant joints compile what is here. After a factorisation CHOOSE looks at its smallest pivot; where rows are
chosen anew (choice.py), the factor of the new choice takes its place.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.dense import dense_cholesky, weakest_dense_row
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.tables import CHOOSE, OK
from dalembert.kernels.coordinates.choice import choices, choose, fill_from_bodies, gone_bad, silence, without_velocities
from dalembert.kernels.coordinates.cut_rows import aside
from dalembert.kernels.coordinates.solve import assemble_blocks, factor_blocks, weakest_row
from dalembert.kernels.formulations.moving_frame import along_guard, respond_to_row
from dalembert.kernels.formulations.pivots import comparable
from dalembert.kernels.formulations.tangent_space import dual_vector, inner
from dalembert.kernels.mechanics.traced_rows import forces_and_rows


@kernel
def choosing_bodies(mode, t, system):
    """`forces_and_rows`; CHOOSE among the rows of bodies, t = 0 after a factorisation in the mass metric, 1 in the other."""
    if mode != CHOOSE:
        return forces_and_rows(mode, t, system)
    if without_velocities(system.diag, system):
        return OK
    if system.choice.count == 0.0 or gone_bad(int(t), weakest_row(system)[1], system):
        known, size, turned = comparable(system), system.m + 6 * system.nhub, False
        copy(system.cg, system.rhs, size)
        if known:
            dual_vector(int(system.pivot.row), system.work, system)
            turned = inner(system.work, system.guard, system) < 0.0
        if choose(fill_from_bodies, system):
            assemble_blocks(system.masses if t == 0.0 else system.metrics, system)
            factor_blocks(system)
            if known:
                row, pivot = weakest_row(system)
                dual_vector(row, system.guard, system)
                take_guard(row, pivot, turned, system)
        copy(system.rhs, system.cg, size)
    return OK


@flat
def take_guard(row, pivot, turned, system):
    """The guard belongs to another choice now."""
    seen = system.pivot
    seen.row, seen.last, seen.choice = row, pivot, choices(system)
    if turned:
        seen.turned = 1.0


@flat
def fill_from_tree(rows, count, K, system):
    """K <- matrix of the rows of a group over their scales, lower triangle."""
    m, kept = system.m, aside(system)
    scale = kept + m * m
    for i in range(count):
        r = rows[i]
        for j in range(i + 1):
            s = rows[j]
            K[count * i + j] = kept[m * max(r, s) + min(r, s)] / np.sqrt(scale[r] * scale[s])


@kernel
def choosing_cut_joints(mode, t, system):
    """`forces_and_rows`; CHOOSE among the rows of cut joints."""
    if mode != CHOOSE:
        return forces_and_rows(mode, t, system)
    m, S, scale = system.m, system.K, system.K + system.m * system.m
    if without_velocities(scale, system):
        return OK
    if system.choice.count == 0.0 or gone_bad(0, weakest_dense_row(S, m, scale, 0)[1], system):
        known, turned = comparable(system) and system.minimal_i == 0, False
        kept = aside(system)
        rhs = kept + (m * m + m)
        copy(rhs, system.rhs, m)
        if known:
            respond_to_row(int(system.pivot.row), system)
            turned = along_guard(system) < 0.0
        if choose(fill_from_tree, system):
            copy(S, kept, m * m + m)
            silence(scale, np.inf, system)
            dense_cholesky(S, m, scale, system.eps_pivot)
            if known:
                row, pivot = weakest_dense_row(S, m, scale, 0)
                respond_to_row(row, system)
                copy(system.guard_u, system.u_dot, system.nu)
                take_guard(row, pivot, turned, system)
        copy(system.rhs, rhs, m)
    return OK
