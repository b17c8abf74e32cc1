"""Which rows act, where joints are redundant: as many as the rank, well conditioned, chosen anew where the choice went bad.

Rank is a property of the mechanism, found once in general position (rank.py). Which rows carry it depends on the pose: the
others are idle, have no multiplier and hold by themselves. A choice is made by Cholesky factorisation of G W^-1 G^T with the
largest pivot first [GolubVanLoan2013, 4.2.8], stopped at the known rank, so that rounding never decides; rows that act already
count twice, so that it changes rarely. It is looked at after each factorisation: anew when the smallest pivot is half of the
largest since the choice, or still poor though better than it was then. Off the constraints another choice is another extension
of the equations of motion, the rougher the smaller its pivots.

Rows of velocities alone (nonholonomic ones) take no part in closing positions: the others are chosen first, to their own rank,
and nothing is chosen where rows of velocities are left empty.

Section W_CHOICE of W: reference and first pivot in the mass and in the projection's metric, number of choices, 1 per idle row,
then work: a number per row and a group's matrix. Table CHOICE_I, per group: rank, number of rows, the same of the rows
of positions, then the rows, these first.
"""

import numpy as np

from dalembert.kernels.base.algebra import load3, load6, scale3, sym_mul
from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.tables import (
    CHOICE_I,
    E_A,
    E_BODY,
    E_N,
    E_ROW,
    H_COUNT,
    H_FIRST,
    H_IDLE,
    H_REFERENCE,
    INC_I,
    INC_I_W,
    METRIC_F,
    METRIC_W,
    MJ_INV,
    MM_INV,
    NCHOICE,
    NINC,
    NVELOCITY,
    W_A,
    W_CHOICE,
    M,
)

KEPT = 2.0  # what a row that acts is worth against one that is idle, in squared sines
WORSE, POOR, BETTER = 0.5, 0.03, 4.0


@inline
def dot6_weighted(metric, a, c, system):
    """a . W^-1 c of two rows on one body"""
    F, W = system.F, system.W
    v, w = scale3(F[metric + MM_INV], load3(W, a)), sym_mul(load6(F, metric + MJ_INV), load3(W, a + 3))
    return v[0] * W[c] + v[1] * W[c + 1] + v[2] * W[c + 2] + w[0] * W[c + 3] + w[1] * W[c + 4] + w[2] * W[c + 5]


@inline
def choices(system):
    """Number of choices so far, 0 where no joint is redundant."""
    I, W = system.I, system.W
    return W[I[W_CHOICE] + H_COUNT] if I[NCHOICE] > 0 else 0.0


@inline
def silence(at, value, system):
    """W[at + row] <- value for the idle rows."""
    I, W = system.I, system.W
    if I[NCHOICE] > 0:
        for i in range(I[M]):
            if W[I[W_CHOICE] + H_IDLE + i] != 0.0:
                W[at + i] = value


@inline
def without_velocities(scale, system):
    """Whether rows of velocities are left empty: their scales at W[scale + row] vanish."""
    I, W, empty = system.I, system.W, False
    for i in range(I[M] if I[NVELOCITY] > 0 else 0):
        empty |= W[scale + i] == 0.0
    return empty


@flat
def fill_from_bodies(group, count, K, system):
    """W[K] <- G W^-1 G^T of the rows of a group in the metric of the projection, lower triangle, unit diagonal."""
    I, W = system.I, system.W
    place = I[W_CHOICE] + H_IDLE + I[M]
    for i in range(count * count):
        W[K + i] = 0.0
    for i in range(I[M]):
        W[place + i] = -1.0
    for i in range(count):
        W[place + I[group + i]] = i
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        metric = I[METRIC_F] + METRIC_W * I[k + E_BODY]
        for o in range(e + 1):
            j = I[INC_I] + INC_I_W * o
            if I[j + E_BODY] != I[k + E_BODY]:
                continue
            for r in range(I[k + E_N]):
                row = int(W[place + I[k + E_ROW] + r])
                for s in range(r + 1 if o == e else I[j + E_N]):
                    column = int(W[place + I[j + E_ROW] + s])
                    if row >= 0 and column >= 0:
                        a, c = I[W_A] + I[k + E_A] + 6 * r, I[W_A] + I[j + E_A] + 6 * s
                        W[K + count * max(row, column) + min(row, column)] += dot6_weighted(metric, a, c, system)
    for i in range(count):
        W[place + i] = 1.0 / np.sqrt(W[K + (count + 1) * i]) if W[K + (count + 1) * i] > 0.0 else 0.0
    for i in range(count):
        for j in range(i + 1):
            W[K + count * i + j] *= W[place + i] * W[place + j]


@inline
def entry(i, j, K, count):
    """Where the entry (i, j) of a symmetric matrix lies."""
    return K + count * max(i, j) + min(i, j)


@flat
def pick(group, K, first, system):
    """Idle flags of a group from its matrix at W[K], which is lost; True when one changed."""
    I, W = system.I, system.W
    idle, column = I[W_CHOICE] + H_IDLE, I[W_CHOICE] + H_IDLE + I[M]
    rank, count, held_rank, held = I[group - 4], I[group - 3], I[group - 2], I[group - 1]
    for chosen in range(rank):
        best, size = -1, -1.0
        for i in range(held if chosen < held_rank else count):
            pivot = W[K + (count + 1) * i]  # -1 once a row is chosen
            value = pivot * (1.0 if first or W[idle + I[group + i]] != 0.0 else KEPT)
            if pivot >= 0.0 and value > size:
                best, size = i, value
        if best < 0:
            break
        pivot = W[K + (count + 1) * best]
        for i in range(count):
            W[column + i] = W[entry(i, best, K, count)] / np.sqrt(pivot) if pivot > 0.0 else 0.0
        for i in range(count):
            if W[K + (count + 1) * i] >= 0.0:
                for j in range(i):
                    W[K + count * i + j] -= W[column + i] * W[column + j]
                W[K + (count + 1) * i] = max(W[K + (count + 1) * i] - W[column + i] * W[column + i], 0.0)
        W[K + (count + 1) * best] = -1.0
    changed = False
    for i in range(count):
        flag = 0.0 if W[K + (count + 1) * i] < 0.0 else 1.0
        changed |= flag != W[idle + I[group + i]]
        W[idle + I[group + i]] = flag
    return changed


@flat
def choose(fill, system):
    """A choice at the rows in W; True when it differs from the last.

    fill(group, count, K, I, F, W) : matrix of a group's rows at W[K]
    """
    I, W = system.I, system.W
    h, at, changed = I[W_CHOICE], I[CHOICE_I], False
    first = W[h + H_COUNT] == 0.0
    for _ in range(I[NCHOICE]):
        count, K = I[at + 1], h + H_IDLE + 2 * I[M]
        fill(at + 4, count, K, system)
        changed |= pick(at + 4, K, first, system)
        at += 4 + count
    if changed or first:
        W[h + H_COUNT] += 1.0
        for slot in range(2):
            W[h + H_REFERENCE + slot] = 0.0
    return changed or first


@flat
def gone_bad(slot, smallest, system):
    """Whether the smallest pivot of the rows that act asks for another choice.

    slot : 0 in the mass metric, 1 in that of the projection
    """
    I, W = system.I, system.W
    reference, begun = I[W_CHOICE] + H_REFERENCE + slot, I[W_CHOICE] + H_FIRST + slot
    if W[reference] == 0.0:  # the first look at a new choice
        W[reference], W[begun] = smallest, smallest
        return False
    bad = smallest < WORSE * W[reference] or (smallest < POOR and smallest > BETTER * W[begun])
    if bad:  # what is asked for once is not asked for again at once, whatever comes of it
        W[reference], W[begun] = smallest, smallest
    else:
        W[reference] = max(W[reference], smallest)
    return bad
