"""The Jacobian of implicit stages by numbers with derivatives. A file of its own: only runs that ask for it compile them."""

from dalembert.kernels.base.compiler import light
from dalembert.kernels.base.tables import NON_FINITE, OK
from dalembert.kernels.base.views import System
from dalembert.kernels.formulations.derivatives import rate_columns
from dalembert.kernels.time.simplified_newton import middle, put


@light
def exact_slopes(steps, system):
    """jacobian <- derivatives of u' by q and u at the point in its last row, which is also y. Status."""
    columns, out, rate = steps.slopes_of, steps.slopes_out, steps.stages[steps.stages.shape[0] - 1]
    duals = System(steps.slopes_I, system.F, steps.slopes_W)
    t = steps.t + steps.c[middle(steps)] * steps.h
    status = rate_columns(t, steps.y, columns, columns[:0], system.W, rate, out, steps.slopes_work, duals)
    if status == OK and not put(steps, out):
        status = NON_FINITE
    return status
