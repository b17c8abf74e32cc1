"""The watch over the rows along a run: the smallest pivot at the ends of steps, and steps across a singular configuration.

v_i = G^+ e_i is orthogonal to all rows but row i. Where rows become dependent the v_i of those that take part grow without
bound, and beyond they point the other way: v_i(t_k) . W v_i(t_k+1) < 0 for the row with the smallest pivot at t_k. Bodies that
turn far within a step can do the same, or hide it, so such steps are noted too; what is noted is looked at again
(conditioning.py).

Where rows are chosen anew within a step (choosing.py), v_i is looked at with the rows before and taken anew with those after.

Section W_PIVOT of W: see the V_ constants; at V_GUARD v_i of the last step.
"""

import numpy as np

from dalembert.kernels.base.algebra import dot3, load3
from dalembert.kernels.base.compiler import flat, inline, light
from dalembert.kernels.base.tables import (
    INSIDE,
    METRIC_F,
    NB,
    S_W,
    STATE_W,
    V_CHOICE,
    V_CROSSED,
    V_GUARD,
    V_KNOWN,
    V_LAST,
    V_LEAST,
    V_LEAST_TIME,
    V_PLACES,
    V_ROW,
    V_TIME,
    V_TURNED,
    V_WHERE,
    W_BODY,
    W_PIVOT,
    W_STAT,
    W_WORK,
    M,
)
from dalembert.kernels.coordinates.choice import choices
from dalembert.kernels.coordinates.solve import weakest_row
from dalembert.kernels.formulations.tangent_space import dual_vector, inner

FAR = 1.0  # rad
OBLIQUE = 0.7  # sine above which rows at both ends of a step are so far from dependent that they were not in between


@inline
def comparable(system):
    """Whether the guard belongs to the rows that act."""
    I, W = system.I, system.W
    k = I[W_PIVOT]
    return W[k + V_KNOWN] != 0.0 and W[k + V_CHOICE] == choices(system)


@inline
def turned_far(t, system):
    """Whether a body may have turned so far in the step that v_i tells nothing."""
    I, W = system.I, system.W
    fastest = 0.0
    for b in range(1, I[NB] + 1):
        w = load3(W, I[W_BODY] + STATE_W * b + S_W)
        fastest = max(fastest, dot3(w, w))
    return W[I[W_PIVOT] + V_KNOWN] != 0.0 and np.sqrt(fastest) * (t - W[I[W_PIVOT] + V_TIME]) > FAR


@flat
def note_pivot(t, row, pivot, across, system):
    """Smallest pivot of the run, and the step as one that may have led across a singular configuration."""
    I, W = system.I, system.W
    k = I[W_PIVOT]
    if across:
        at = k + V_WHERE + 2 * (int(W[k + V_CROSSED]) % V_PLACES)
        W[at], W[at + 1] = W[k + V_TIME], t
        W[k + V_CROSSED] += 1.0
    if W[k + V_KNOWN] == 0.0 or pivot < W[k + V_LEAST]:
        W[k + V_LEAST], W[k + V_LEAST_TIME] = pivot, t
    W[k + V_KNOWN], W[k + V_TIME], W[k + V_TURNED] = 1.0, t, 0.0
    W[k + V_ROW], W[k + V_LAST], W[k + V_CHOICE] = row, pivot, choices(system)


@light
def watch_rows(t, system):
    """At the end of a step, where the blocks are factored: 1 when v_i turned over. A kernel of its own: compiled once."""
    I, W = system.I, system.W
    across = False
    if I[M] > 0 and W[I[W_STAT] + INSIDE] == 0.0:
        guard, v, across = I[W_PIVOT] + V_GUARD, I[W_WORK], W[I[W_PIVOT] + V_TURNED] != 0.0 or turned_far(t, system)
        row, pivot = weakest_row(system)
        for turn in range(2):
            if turn == 1 or comparable(system):
                dual_vector(row if turn == 1 else int(W[I[W_PIVOT] + V_ROW]), v, system)
                oblique = min(pivot, W[I[W_PIVOT] + V_LAST]) < OBLIQUE
                across |= turn == 0 and oblique and inner(I[METRIC_F], v, guard, system) < 0.0
        note_pivot(t, row, pivot, across, system)
        for i in range(6 * (I[NB] + 1)):
            W[guard + i] = W[v + i]
    return 1 if across else 0
