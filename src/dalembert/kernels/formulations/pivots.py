"""The watch over the rows along a run: the smallest pivot at the ends of steps, and steps across a singular configuration.

v_i = G^+ e_i is orthogonal to all rows but row i. Where rows become dependent the v_i of those that take part grow without
bound, and beyond they point the other way: v_i(t_k) . W v_i(t_k+1) < 0 for the row with the smallest pivot at t_k. Bodies that
turn far within a step can do the same, or hide it, so such steps are noted too; what is noted is looked at again
(conditioning.py). In a long step rows may become dependent of which none is near it at either end; then

    det(G(t_k) W^-1 G(t_k+1)^T) < 0,      G : the rows that act, those of t_k and those of t_k+1 where they differ

Where rows are chosen anew within a step (choosing.py), v_i is looked at with the rows before and taken anew with those after.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.layout import V_PLACES
from dalembert.kernels.base.loops import clear, copy
from dalembert.kernels.coordinates.choice import choices
from dalembert.kernels.coordinates.solve import weakest_row
from dalembert.kernels.formulations.tangent_space import dual_vector, inner

FAR, LONG = 1.0, 0.1  # rad
OBLIQUE = 0.7  # sine above which rows at both ends of a step are so far from dependent that they were not in between


@inline
def comparable(system):
    """Whether the guard belongs to the rows that act."""
    return system.pivot.known != 0.0 and system.pivot.choice == choices(system)


@inline
def turn_of_step(t, system):
    """How far a body may have turned since the guard was taken [rad]."""
    fastest = 0.0
    for body in system.bodies:
        fastest = max(fastest, body.w @ body.w)
    return np.sqrt(fastest) * abs(t - system.pivot.time) if system.pivot.known != 0.0 else 0.0


@inline
def turned_far(t, system):
    """Whether a body may have turned so far in the step that v_i tells nothing."""
    return turn_of_step(t, system) > FAR


@flat
def keep_rows(system):
    """`before` <- which rows are idle, and all of them."""
    m, idle = system.m, system.before
    rows = idle + (m + m * m)
    for i in range(m):
        idle[i] = system.idle[i] if system.nchoice > 0 else 0.0
    for e in system.incidences:
        copy(rows + e.A, system.jacobian + e.A, 6 * e.n)


@flat
def load_products(K, rows, idle, system):
    """K <- G W^-1 G'^T of the rows kept and those of now, without the idle ones."""
    m = system.m
    clear(K, m * m)
    for o in system.incidences:
        m_inv, J_inv = system.metrics[o.body].m_inv, system.metrics[o.body].J_inv
        for s in range(o.n):
            a = system.A[o.A + 6 * s]
            v, w = m_inv * a.force, J_inv @ a.torque
            for e in system.incidences:
                for r in range(e.n if e.body == o.body else 0):
                    b = rows + (e.A + 6 * r)
                    K[m * (e.row + r) + o.row + s] += (
                        b[0] * v.x + b[1] * v.y + b[2] * v.z + b[3] * w.x + b[4] * w.y + b[5] * w.z
                    )
    for i in range(m):
        if idle[i] != 0.0:
            for j in range(m):
                K[m * i + j] = K[m * j + i] = 0.0
            K[(m + 1) * i] = 1.0


@inline
def flipped(idle, system):
    """Whether det(G(t_k) W^-1 G(t_k+1)^T) < 0, by elimination with the largest pivot of each column."""
    m, K, negative = system.m, system.before + system.m, False
    load_products(K, K + m * m, idle, system)
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if abs(K[m * i + k]) > abs(K[m * best + k]):
                best = i
        if K[m * best + k] == 0.0:
            return False
        for j in range(k, m if best != k else k):
            K[m * k + j], K[m * best + j] = K[m * best + j], K[m * k + j]
        negative ^= (best != k) ^ (K[(m + 1) * k] < 0.0)
        for i in range(k + 1, m):
            f = K[m * i + k] / K[(m + 1) * k]
            for j in range(k + 1, m):
                K[m * i + j] -= f * K[m * k + j]
    return negative


@flat
def note_pivot(t, row, pivot, across, system):
    """Smallest pivot of the run, and the step as one that may have led across a singular configuration."""
    seen = system.pivot
    if across:
        at = 2 * (int(seen.crossed) % V_PLACES)
        system.crossings[at] = seen.time
        system.crossings[at + 1] = t
        seen.crossed += 1.0
    if seen.known == 0.0 or pivot < seen.least:
        seen.least, seen.least_time = pivot, t
    seen.known, seen.time, seen.turned = 1.0, t, 0.0
    seen.row, seen.last, seen.choice = row, pivot, choices(system)


@inline
def watch_rows(t, system):
    """At the end of a step, where the blocks are factored: 1 when v_i turned over."""
    across = False
    if system.m > 0 and system.count.inside == 0.0:
        seen, v, guard = system.pivot, system.work, system.guard
        turn = turn_of_step(t, system)
        across, seen.flipped = seen.turned != 0.0 or turn > FAR, 0.0
        if system.w_before > 0:
            if turn > LONG and flipped(system.before, system) and (system.nchoice == 0 or flipped(system.idle, system)):
                across, seen.flipped = True, 1.0
            keep_rows(system)
        row, pivot = weakest_row(system)
        for turn in range(2):
            if turn == 1 or comparable(system):
                dual_vector(row if turn == 1 else int(seen.row), v, system)
                oblique = min(pivot, seen.last) < OBLIQUE
                across |= turn == 0 and oblique and inner(v, guard, system) < 0.0
        note_pivot(t, row, pivot, across, system)
        for b in range(system.nb + 1):
            guard[b].v, guard[b].w = v[b].v, v[b].w
    return 1 if across else 0
