"""The stage equations of implicit Runge-Kutta methods by functional iteration, which knows q' = N(q) u, accelerated.

    k_i <- f(t + c_i h, x + h sum_j a_ij k_j)                                             [HairerLubichWanner2006, VIII.6]

This is Newton's method with J = 0. Of a mechanism one block is known for nothing, and with it, J = [0 N; 0 0], the solution is
explicit: dk_q = r_q + h A N r_u. Every change of u' is passed on to the q' of all stages as soon as it is known. A sweep then
contracts like (h w)^2, where w is the highest frequency, and not like h w; long chains need half the sweeps or fewer.
"""

from dalembert.kernels.base.compiler import light
from dalembert.kernels.base.tables import OK, STAGES_FAILED
from dalembert.kernels.time.implicit_stages import (
    ROUNDING,
    accelerate,
    apply_velocity_map,
    assess,
    count,
    larger,
    pass_on,
    remember,
)
from dalembert.kernels.time.stepping import combine, visit

MAX_ITERATIONS = 60


@light
def iterate(steps, system):
    """Functional iteration, each k_i used as soon as it is known. Status; STAGES_FAILED where it does not contract."""
    x, y, stages, n, s = steps.x, steps.y, steps.stages, steps.n, steps.last - 1
    for i in range(1, s + 1):
        combine(steps.a, i, s + 1, 1, y, steps)
        apply_velocity_map(steps.velocity_map, y, y, stages[i])
    remember(steps)
    new = stages[stages.shape[0] - 1]
    status, before, slow, iteration = STAGES_FAILED, 0.0, 0, 0
    while status == STAGES_FAILED and slow < 2 and iteration < MAX_ITERATIONS:
        iteration += 1
        change, seen = 0.0, OK
        for i in range(1, s + 1):
            combine(steps.a, i, s + 1, 1, y, steps)
            seen = visit(steps.visit, steps.t + steps.c[i] * steps.h, y, new, system)
            if seen != OK:
                break
            for j in range(x.size):
                delta = new[j] - stages[i, j]
                if j < n:
                    change = larger(change, steps.h * delta, x[j])
                stages[i, j] = new[j]
                new[j] = delta
            pass_on(i, y, y, steps)
        status, slow = assess(seen, change, before, 0.0, slow, iteration, ROUNDING, steps)
        if status == STAGES_FAILED and seen == OK:
            accelerate(iteration, steps)
        before = change
    count(iteration, steps)
    return status
