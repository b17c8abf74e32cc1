"""The steps of a run once more, on numbers with derivatives: how its states depend on parameters.

    k_i = f(t + c_i h, x + h sum_j a_ij k_j, F),  x_1 = P(x + h sum b_i k_i, F)       with dx_0/dp and dF/dp as tangents

The steps are those that the run accepted: what comes out is the derivative of the discrete solution [GriewankWalther2008, 15].
Each step starts at the run's own state. Times have tangents too: a step may end where something happens that depends on
parameters. Numbers with derivatives lie in arrays of float64 (dual_types.py); in plain Python in arrays of objects.
"""

from dalembert.kernels.base.compiler import JIT, flat, kernel
from dalembert.kernels.base.dual import value_of
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import OK, RATE
from dalembert.kernels.base.views import System
from dalembert.kernels.time.stepping import VISIT_ALL, VISIT_KEEP, VISIT_PROJECT, visit

if JIT:
    from dalembert.kernels.base.dual_types import as_duals
else:

    def as_duals(a):
        return a


@flat
def combination(row, count, y, x, h, a, stages):
    """y <- x + h sum_{j < count} a[row, j] k_j"""
    n = x.size
    for i in range(n):
        total = stages[i] * a[row, 0]
        for j in range(1, count):
            if a[row, j] != 0.0:
                total = total + stages[j * n + i] * a[row, j]
        y[i] = x[i] + h * total


@flat
def interpolant(dense, x, y, h, d, last, stages):
    """Rows of `dense` <- coefficients as in saving.py."""
    n = x.size
    for i in range(n):
        difference = y[i] - x[i]
        bend = h * stages[i] - difference
        dense[i] = difference
        dense[n + i] = bend
        dense[2 * n + i] = difference - h * stages[last * n + i] - bend
        for k in range(d.shape[0]):
            total = stages[i] * d[k, 0]
            for j in range(1, d.shape[1]):
                total = total + stages[j * n + i] * d[k, j]
            dense[(3 + k) * n + i] = h * total


@flat
def interpolate(theta, out, dense, rows, x):
    """out <- x(t + theta h), as in watch.py."""
    n = x.size
    for i in range(n):
        total = dense[(rows - 1) * n + i] * (theta if rows % 2 == 1 else 1.0 - theta)
        for k in range(rows - 2, -1, -1):
            total = (total + dense[k * n + i]) * (theta if k % 2 == 0 else 1.0 - theta)
        out[i] = x[i] + total


@kernel
def replay(what, points, t, save_t, start, work, out, a, c, d, system):
    """out[k] <- the state at save_t[k] with its tangents, out[-1] <- at the end. Status.

    what : row of f at the new point, extra stages of the interpolant, what to do at stage points
    points : (N, n) accepted states;  t : N times, which may move;  start : n numbers, the first state
    save_t : increasing, after t[0]
    work : rows of n: a point, stages, interpolant, one to spare;  system : with tables and a workspace of duals
    """
    last, extra, at_stages = what[0], what[1], what[2]
    n, rows, due = points.shape[1], d.shape[0] + 3, 0
    every, t_d, numbers, x = as_duals(out), as_duals(t), as_duals(work), as_duals(start)
    begin = n * (last + extra + 2)
    y, stages, dense, spare = numbers[:n], numbers[n:begin], numbers[begin : begin + n * rows], numbers[begin + n * rows :]
    duals = System(system.I, as_duals(system.F), as_duals(system.W))
    status = equations(RATE, t_d[0], x, stages[:n], duals)
    for step in range(points.shape[0] - 1):
        t_0, t_1, h = t_d[step], t_d[step + 1], t_d[step + 1] - t_d[step]
        for i in range(1, last + 1):
            if status == OK:
                combination(i, i, y, x, h, a, stages)
                at = t_0 + h * c[i] if i < last else t_1
                status = visit(at_stages if i < last else VISIT_ALL, at, y, stages[n * i : n * i + n], duals)
        if status == OK and due < save_t.size and save_t[due] < t_1:
            for i in range(last + 1, last + 1 + extra):
                if status == OK:
                    combination(i, i, spare, x, h, a, stages)
                    status = equations(RATE, t_0 + h * c[i], spare, stages[n * i : n * i + n], duals)
            interpolant(dense, x, y, h, d, last, stages)
            while status == OK and due < save_t.size and save_t[due] < t_1:
                theta, point = (save_t[due] - t_0) / h, every[n * due : n * due + n]
                interpolate(theta, point, dense, rows, x)
                status = visit(VISIT_PROJECT | VISIT_KEEP, t_0 + h * theta, point, spare, duals)
                due += 1
        if status != OK:
            return status
        for i in range(n):  # from where the run itself went on
            x[i] = y[i] + (points[step + 1, i] - value_of(y[i]))
            stages[i] = stages[n * last + i]
        if due < save_t.size and save_t[due] == t_1:  # at a fixed time, also where that of the step moves
            for i in range(n):
                every[n * due + i] = x[i] + stages[i] * (save_t[due] - t_1)
            due += 1
    for i in range(n):
        every[n * save_t.size + i] = x[i]
    return status
