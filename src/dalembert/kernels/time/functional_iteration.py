"""The stage equations of implicit Runge-Kutta methods by functional iteration, which knows q' = N(q) u, accelerated.

    k_i <- f(t + c_i h, x + h sum_j a_ij k_j)                                             [HairerLubichWanner2006, VIII.6]

This is Newton's method with J = 0. Of a mechanism one block is known for nothing, and with it, J = [0 N; 0 0], the solution is
explicit: dk_q = r_q + h A N r_u. Every change of u' is passed on to the q' of all stages as soon as it is known. A sweep then
contracts like (h w)^2, where w is the highest frequency, and not like h w; long chains need half the sweeps or fewer.
"""

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.tables import OK, STAGES_FAILED
from dalembert.kernels.time.implicit_stages import ROUNDING, apply_velocity_map, assess, count, larger
from dalembert.kernels.time.stepping import R_NQU, R_STAGES, R_VISIT, combine, visit

MAX_ITERATIONS = 60
# rows of the memory of `accelerate`: what went into a sweep, residual, what came out; differences of the last two, twice
INPUT, RESIDUAL, VALUE, FIRST = range(4)


@flat
def iterate(
    t, h, x, y, stages, velocity_map, memory, a, c, settings_i, settings_f, state_i, state_f, system
):  # fmt: skip
    """Functional iteration, each k_i used as soon as it is known. Status; STAGES_FAILED where it does not contract."""
    s, spare = settings_i[R_STAGES] - 1, stages.shape[0] - 1
    for i in range(1, s + 1):
        combine(x, stages, a, i, s + 1, h, y)
        apply_velocity_map(velocity_map, y, y, stages[i])
    nu = memory.shape[1] // s
    nq = settings_i[R_NQU] - nu
    for i in range(s):
        for j in range(nu):
            memory[INPUT, nu * i + j] = stages[1 + i, nq + j]
    status, before, slow, iteration = STAGES_FAILED, 0.0, 0, 0
    while status == STAGES_FAILED and slow < 2 and iteration < MAX_ITERATIONS:
        iteration += 1
        change, seen = 0.0, OK
        for i in range(1, s + 1):
            combine(x, stages, a, i, s + 1, h, y)
            seen = visit(settings_i[R_VISIT], t + c[i] * h, y, stages[spare], system)
            if seen != OK:
                break
            for j in range(x.size):
                delta = stages[spare, j] - stages[i, j]
                if j < settings_i[R_NQU]:
                    change = larger(change, h * delta, x[j])
                stages[i, j] = stages[spare, j]
                stages[spare, j] = delta
            pass_on(velocity_map, h, y, y, stages, a, i, s)
        status, slow = assess(seen, change, before, slow, iteration, ROUNDING, settings_f, state_f)
        if status == STAGES_FAILED and seen == OK:
            accelerate(iteration, h, x, y, stages, velocity_map, memory, a, s, nq, nu)
        before = change
    count(iteration, state_i)
    return status


@inline
def pass_on(velocity_map, h, at, y, stages, a, i, s):
    """q' of all stages <- after a change of u' at stage i, which is in the spare row: h a_li N du', N at `at`; y is scratch."""
    spare = stages.shape[0] - 1
    apply_velocity_map(velocity_map, at, stages[spare], y)
    end = velocity_map[0, 1] if velocity_map.shape[0] > 0 else 0
    for m in range(1, s + 1):
        factor = h * a[m, i]
        for j in range(end):
            stages[m, j] += factor * y[j]


@inline
def accelerate(iteration, h, x, y, stages, velocity_map, memory, a, s, nq, nu):
    """u' <- Anderson's mixture of the last three sweeps G(u'): the one whose residuals G(u') - u' mix to the smallest
    [WalkerNi2011, 2]."""
    spare, new, old = stages.shape[0] - 1, FIRST + 2 * (iteration % 2), FIRST + 2 * ((iteration + 1) % 2)
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
                stages[spare, nq + j] = d
                stages[1 + i, nq + j] += d
                memory[INPUT, k] = stages[1 + i, nq + j]
            pass_on(velocity_map, h, x, y, stages, a, 1 + i, s)
    else:
        for k in range(nu * s):
            memory[INPUT, k] = memory[VALUE, k]
