"""Which rows act, where joints are redundant: as many as the rank, well conditioned, chosen anew where the choice went bad.

Rank is a property of the mechanism, found once in general position (rank.py). Which rows carry it depends on the pose: the
others are idle, have no multiplier and hold by themselves. A choice is made by Cholesky factorisation of G W^-1 G^T with the
largest pivot first [GolubVanLoan2013, 4.2.8], stopped at the known rank, so that rounding never decides; rows that act already
count twice, so that it changes rarely. It is looked at after each factorisation: anew when the smallest pivot is half of the
largest since the choice, or still poor though better than it was then, but not in a singular pose, where the rank is not to be
had and rounding would choose: there the rows that act stay. Off the constraints another choice is another extension
of the equations of motion, the rougher the smaller its pivots.

Rows of velocities alone (nonholonomic ones) take no part in closing positions: the others are chosen first, to their own rank,
and nothing is chosen where rows of velocities are left empty.

`groups`, one after another: rank, number of rows, the same of the rows of positions, then the rows, these first.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.loops import clear

KEPT = 2.0  # what a row that acts is worth against one that is idle, in squared sines
NOTHING = 1e-13  # squared sine that rounding leaves of a row that depends on others
WORSE, POOR, BETTER = 0.5, 0.03, 4.0
BEFORE_ROWS = 4  # numbers of a group before its rows


@inline
def choices(system):
    """Number of choices so far, 0 where no joint is redundant."""
    return system.choice.count if system.nchoice > 0 else 0.0


@inline
def silence(numbers, value, system):
    """numbers[row] <- value for the idle rows."""
    if system.nchoice > 0:
        for i in range(system.m):
            if system.idle[i] != 0.0:
                numbers[i] = value


@inline
def without_velocities(scale, system):
    """Whether rows of velocities are left empty: their scales vanish."""
    empty = False
    for i in range(system.m if system.nvelocity > 0 else 0):
        empty |= scale[i] == 0.0
    return empty


@flat
def fill_from_bodies(rows, count, K, system):
    """K <- G W^-1 G^T of the rows of a group in the metric of the projection, lower triangle, unit diagonal."""
    place = system.idle + system.m
    clear(K, count * count)
    for i in range(system.m):
        place[i] = -1.0
    for i in range(count):
        place[rows[i]] = i
    for e in system.incidences:
        m_inv, J_inv = system.metrics[e.body].m_inv, system.metrics[e.body].J_inv
        for number in range(e.number + 1):
            o = system.incidences[number]
            if o.body != e.body:
                continue
            for r in range(e.n):
                row, a = int(place[e.row + r]), system.A[e.A + 6 * r]
                v, w = m_inv * a.force, J_inv @ a.torque
                for s in range(r + 1 if number == e.number else o.n):
                    column, c = int(place[o.row + s]), system.A[o.A + 6 * s]
                    if row >= 0 and column >= 0:
                        K[count * max(row, column) + min(row, column)] += v @ c.force + w @ c.torque
    for i in range(count):
        place[i] = 1.0 / np.sqrt(K[(count + 1) * i]) if K[(count + 1) * i] > 0.0 else 0.0
    for i in range(count):
        for j in range(i + 1):
            K[count * i + j] *= place[i] * place[j]


@flat
def pick(group, K, first, system):
    """Idle flags of a group from its matrix K, which is lost; True when one changed."""
    idle, column, rows = system.idle, system.idle + system.m, group + BEFORE_ROWS
    rank, count = group[0], group[1]
    held_rank, held = group[2], group[3]
    for chosen in range(rank):
        best, size = -1, -1.0
        for i in range(held if chosen < held_rank else count):
            pivot = K[(count + 1) * i]  # -1 once a row is chosen
            value = pivot * (1.0 if first or idle[rows[i]] != 0.0 else KEPT)
            if pivot >= 0.0 and value > size:
                best, size = i, value
        if best < 0:
            break
        if size < NOTHING and not first:  # a singular pose: rounding would choose
            return False
        pivot = K[(count + 1) * best]
        for i in range(count):
            column[i] = K[count * max(i, best) + min(i, best)] / np.sqrt(pivot) if pivot > 0.0 else 0.0
        for i in range(count):
            if K[(count + 1) * i] >= 0.0:
                for j in range(i):
                    K[count * i + j] -= column[i] * column[j]
                K[(count + 1) * i] = max(K[(count + 1) * i] - column[i] * column[i], 0.0)
        K[(count + 1) * best] = -1.0
    changed = False
    for i in range(count):
        flag = 0.0 if K[(count + 1) * i] < 0.0 else 1.0
        changed |= flag != idle[rows[i]]
        idle[rows[i]] = flag
    return changed


@flat
def choose(fill, system):
    """A choice at the rows in the workspace; True when it differs from the last.

    fill(rows, count, K, system) : K <- matrix of a group's rows
    """
    choice, group, changed = system.choice, system.groups, False
    first = choice.count == 0.0
    for _ in range(system.nchoice):
        count, K = group[1], system.idle + 2 * system.m
        fill(group + BEFORE_ROWS, count, K, system)
        changed |= pick(group, K, first, system)
        group = group + (BEFORE_ROWS + count)
    if changed or first:
        choice.count += 1.0
        choice.reference_mass, choice.reference_metric = 0.0, 0.0
    return changed or first


@flat
def gone_bad(slot, smallest, system):
    """Whether the smallest pivot of the rows that act asks for another choice.

    slot : 0 in the mass metric, 1 in that of the projection
    """
    reference, begun = system.references + slot, system.references + (2 + slot)
    if reference[0] == 0.0:  # the first look at a new choice
        reference[0] = smallest
        begun[0] = smallest
        return False
    bad = smallest < WORSE * reference[0] or (smallest < POOR and smallest > BETTER * begun[0])
    if bad:  # what is asked for once is not asked for again at once, whatever comes of it
        reference[0] = smallest
        begun[0] = smallest
    else:
        reference[0] = max(reference[0], smallest)
    return bad
