"""The stage equations of implicit Runge-Kutta methods by functional iteration, which knows q' = N(q) u, accelerated.

    k_i <- f(t + c_i h, x + h sum_j a_ij k_j)                                             [HairerLubichWanner2006, VIII.6]

This is Newton's method with J = 0. Of a mechanism one block is known for nothing, and with it, J = [0 N; 0 0], the solution is
explicit: dk_q = r_q + h A N r_u. Every change of u' is passed on to the q' of all stages as soon as it is known. A sweep then
contracts like (h w)^2, where w is the highest frequency, and not like h w; long chains need half the sweeps or fewer.
"""

from dalembert.kernels.base.compiler import flat, inline, light
from dalembert.kernels.base.tables import OK, STAGES_FAILED
from dalembert.kernels.time.implicit_stages import ROUNDING, apply_velocity_map, assess, count, larger
from dalembert.kernels.time.stepping import combine, visit

MAX_ITERATIONS = 60
# rows of the memory of `accelerate`: what went into a sweep, residual, what came out; differences of the last two, twice
INPUT, RESIDUAL, VALUE, FIRST = range(4)


@light
def iterate(steps, system):
    """Functional iteration, each k_i used as soon as it is known. Status; STAGES_FAILED where it does not contract."""
    x, y, stages, memory, n, s = steps.x, steps.y, steps.stages, steps.memory, steps.n, steps.last - 1
    for i in range(1, s + 1):
        combine(steps.a, i, s + 1, 1, y, steps)
        apply_velocity_map(steps.velocity_map, y, y, stages[i])
    new, nu = stages[stages.shape[0] - 1], memory.shape[1] // s
    for i in range(s):
        for j in range(nu):
            memory[INPUT, nu * i + j] = stages[1 + i, n - nu + j]
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
        status, slow = assess(seen, change, before, slow, iteration, ROUNDING, steps)
        if status == STAGES_FAILED and seen == OK:
            accelerate(iteration, steps)
        before = change
    count(iteration, steps)
    return status


@inline
def pass_on(i, at, y, steps):
    """q' of all stages <- after a change of u' at stage i, which is in the spare row: h a_li N du', N at `at`; y is scratch."""
    stages, a, blocks = steps.stages, steps.a, steps.velocity_map
    apply_velocity_map(blocks, at, stages[stages.shape[0] - 1], y)
    end = blocks[0, 1] if blocks.shape[0] > 0 else 0
    for m in range(1, steps.last):
        factor = steps.h * a[m, i]
        for j in range(end):
            stages[m, j] += factor * y[j]


@flat
def accelerate(iteration, steps):
    """u' <- Anderson's mixture of the last three sweeps G(u'): the one whose residuals G(u') - u' mix to the smallest
    [WalkerNi2011, 2]."""
    stages, memory, s = steps.stages, steps.memory, steps.last - 1
    nu, new, old = memory.shape[1] // s, FIRST + 2 * (iteration % 2), FIRST + 2 * ((iteration + 1) % 2)
    spare, nq = stages[stages.shape[0] - 1], steps.n - nu
    nn, no, oo, nr, o_r = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(s):
        for j in range(nu):
            k = nu * i + j
            value = stages[1 + i, nq + j]
            residual = value - memory[INPUT, k]
            if iteration > 1:
                d = residual - memory[RESIDUAL, k]
                memory[new, k], memory[new + 1, k] = d, value - memory[VALUE, k]
                nn, nr = nn + d * d, nr + d * residual
                if iteration > 2:
                    o = memory[old, k]
                    no, oo, o_r = no + d * o, oo + o * o, o_r + o * residual
            memory[RESIDUAL, k], memory[VALUE, k] = residual, value
    if iteration > 1:
        det, p, r = nn * oo - no * no, 0.0, 0.0
        if det > 1e-8 * nn * oo:
            p, r = (oo * nr - no * o_r) / det, (nn * o_r - no * nr) / det
        elif nn > 0.0:
            p = nr / nn
        for i in range(s):
            for j in range(nu):
                k = nu * i + j
                d = -p * memory[new + 1, k]
                if r != 0.0:
                    d -= r * memory[old + 1, k]
                spare[nq + j] = d
                stages[1 + i, nq + j] += d
                memory[INPUT, k] = stages[1 + i, nq + j]
            pass_on(1 + i, steps.x, steps.y, steps)
    else:
        for k in range(nu * s):
            memory[INPUT, k] = memory[VALUE, k]
