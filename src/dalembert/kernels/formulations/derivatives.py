"""Derivatives of rates x' = f(t, x) by components of the state and by time: the kernels of a run on numbers with derivatives.

COUNT columns of the Jacobian come from one evaluation; the branches are those of the value, so all columns are of one formula.
"""

from dalembert.kernels.base.compiler import inline, kernel
from dalembert.kernels.base.dual_types import COUNT, SIZE, as_duals
from dalembert.kernels.base.loops import clear
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import OK, RATE
from dalembert.kernels.base.views import System


@inline
def _place(column, n):
    """Where a component of x, or time behind them, lies in `work`."""
    return SIZE * (column if column < n else 2 * n)


@kernel
def rate_columns(t, x, columns, places, W, rate, out, work, system):
    """out[k] <- derivative of x' by component columns[k] of x, by time where that is x.size; rate <- x'. Status.

    places : entries of the workspace whose derivatives stand behind those of x'
    W : what the workspace of the run holds;  work : places for x, x' and t;  system : with a workspace of duals
    """
    n, last = x.size, columns.size
    x_d, dx_d, t_d = work[: SIZE * n], work[SIZE * n : 2 * SIZE * n], work[2 * SIZE * n :]
    duals, status, first = System(system.I, system.F, as_duals(system.W, COUNT)), OK, 0
    for i in range(W.size):
        system.W[SIZE * i] = W[i]
        for k in range(1, SIZE):
            system.W[SIZE * i + k] = 0.0
    clear(work, work.size)
    for i in range(n):
        x_d[SIZE * i] = x[i]
    t_d[0] = t
    while first < last and status == OK:
        count = min(COUNT, last - first)
        for k in range(count):
            work[_place(columns[first + k], n) + 1 + k] = 1.0
        status = equations(RATE, as_duals(t_d, COUNT)[0], as_duals(x_d, COUNT), as_duals(dx_d, COUNT), duals)
        for k in range(count):
            work[_place(columns[first + k], n) + 1 + k] = 0.0
        for i in range(n):
            for k in range(count):
                out[first + k, i] = dx_d[SIZE * i + 1 + k]
        for i in range(places.size):
            for k in range(count):
                out[first + k, n + i] = system.W[SIZE * places[i] + 1 + k]
        first += count
    for i in range(n):
        rate[i] = dx_d[SIZE * i]
    return status
