"""Newton's method for one step of a discrete Lagrange-d'Alembert integrator, in generalised coordinates and of bodies."""

import numpy as np

from dalembert.kernels.base.compiler import flat
from dalembert.kernels.base.dense import factor_general, solve_general
from dalembert.kernels.base.tables import NON_FINITE, OK, STAGES_FAILED

NONE, EXACT, ALL = 0, 1, 2  # which derivatives are made anew


@flat
def solve_node(assemble, n, first, last, null, t, h, x, y, system):
    """node.z <- its solution, the matrix kept while it contracts. Status.

    assemble(t, h, differentiate, x, y, ..) : node.residual <- minus the residual of the step from x, node.matrix <- its
    derivative if asked for, ALL or what is EXACT and not differenced; status.  Entries 0..n-1 and first..last-1 of z are
    velocities, which tell when to stop;
    null : how many pivots may vanish, of redundant constraints
    """
    N, node, count = system.unknowns, system.node, system.count
    before, fresh, status, floor = 1e300, ALL, STAGES_FAILED, 0.0
    for j in range(system.nq):  # a velocity that moves q by its rounding
        floor = max(floor, abs(x[j] / h))
    for iteration in range(system.max_newton):
        seen = assemble(t, h, fresh, x, y, system)
        if seen != OK:
            return seen
        if fresh != NONE:
            factor_general(node.matrix, N, null, node.pivots)
            count.factor += 1.0
        solve_general(node.matrix, N, node.pivots, node.residual)
        change, size = 0.0, floor
        for i in range(N):
            step = node.residual[i]
            value = node.z[i] + step
            node.z[i] = value
            if not np.isfinite(value):
                return NON_FINITE
            if i < n or first <= i < last:
                change, size = max(change, abs(step)), max(size, abs(value))
        stalled = iteration > 0 and change > 0.3 * before and change <= 1e-10 * size
        if change <= 1e-16 * size or stalled:
            count.newton += iteration + 1
            count.newton_max = max(count.newton_max, iteration + 1.0)
            status = OK
            break
        fresh = NONE if change <= 1e-5 * size else (EXACT if change <= 0.1 * before else ALL)
        before = change
    return status


@flat
def node_step(load, assemble, store, n, first, last, null, t, x, dx, system):
    """x <- after a step of count.step: load(t, x, ..), `solve_node`, store(t, h, x, dx, ..), each with its status. Status."""
    h = system.count.step
    system.count.project += 1.0
    status = load(t, x, system)
    if status == OK:
        status = solve_node(assemble, n, first, last, null, t, h, x, dx, system)
    if status == OK:
        status = store(t, h, x, dx, system)
    return status
