"""The watch over the rows along a run: the smallest pivot at the ends of steps, and steps across a singular configuration.

v_i = G^+ e_i is orthogonal to all rows but row i. Where rows become dependent the v_i of those that take part grow without
bound, and beyond they point the other way: v_i(t_k) . W v_i(t_k+1) < 0 for the row with the smallest pivot at t_k. Bodies that
turn far within a step can do the same, or hide it, so such steps are noted too; what is noted is looked at again
(conditioning.py).

Where rows are chosen anew within a step (choosing.py), v_i is looked at with the rows before and taken anew with those after.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, light
from dalembert.kernels.base.tables import V_PLACES
from dalembert.kernels.coordinates.choice import choices
from dalembert.kernels.coordinates.solve import weakest_row
from dalembert.kernels.formulations.tangent_space import dual_vector, inner

FAR = 1.0  # rad
OBLIQUE = 0.7  # sine above which rows at both ends of a step are so far from dependent that they were not in between


@inline
def comparable(system):
    """Whether the guard belongs to the rows that act."""
    return system.pivot.known != 0.0 and system.pivot.choice == choices(system)


@inline
def turned_far(t, system):
    """Whether a body may have turned so far in the step that v_i tells nothing."""
    fastest = 0.0
    for body in system.bodies:
        fastest = max(fastest, body.w @ body.w)
    return system.pivot.known != 0.0 and np.sqrt(fastest) * (t - system.pivot.time) > FAR


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


@light
def watch_rows(t, system):
    """At the end of a step, where the blocks are factored: 1 when v_i turned over. A kernel of its own: compiled once."""
    across = False
    if system.m > 0 and system.count.inside == 0.0:
        seen, v, guard = system.pivot, system.work, system.guard
        across = seen.turned != 0.0 or turned_far(t, system)
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
