"""Many runs of one model: the time loop of an integrator, from one start after another."""

from dalembert.kernels.base.compiler import kernel
from dalembert.kernels.base.tables import N_STAT, NOT_RUN, OK, TOO_MANY_STEPS, V_GUARD, W_PIVOT, W_STAT
from dalembert.kernels.base.views import System
from dalembert.kernels.time.stepping import C_H, D_ACCEPTED, H_MAX, R_NQU, R_ORDER, VISIT_PROJECT, first_step, visit

CHUNK = 1000  # steps between looks at the stop flag


@kernel
def ensemble(
    loop,
    first,
    last,
    t_end,
    x,
    start,
    x_old,
    spare,
    work,
    a,
    c,
    e,
    d,
    settings_i,
    settings_f,
    state_i,
    state_f,
    save_t,
    out_t,
    out_x,
    max_steps,
    stop,
    current,
    status,
    counters,
    I,
    F,
    W,
    W_0,
):
    """Those of the runs first .. last - 1 that are not done yet, each in its own rows of x, start, state_i, state_f, out_x,
    status, counters (and F and W_0, where they have more than one); start <- where a run began, projected onto its constraints,
    x <- where it ended.

    stop[0] not zero: leave off as soon as may be;  current[0] <- the run that goes on;  W_0 : workspaces as good as new
    """
    for k in range(first, last):
        if status[k] != NOT_RUN:
            continue
        current[0] = k
        system = System(I, F[k if F.shape[0] > 1 else 0], W)
        for i in range(W.size):
            W[i] = W_0[k if W_0.shape[0] > 1 else 0, i]
        done = visit(VISIT_PROJECT, 0.0, x[k], spare[0], system)
        for i in range(start.shape[1]):
            start[k, i] = x[k, i]
        if done == OK:
            if state_f[k, C_H] == 0.0:
                h = first_step(0.0, x[k], spare, settings_i[R_NQU], settings_i[R_ORDER], t_end, settings_f, system)  # fmt: skip
                state_f[k, C_H] = min(h, settings_f[H_MAX])
            done = TOO_MANY_STEPS
        while done == TOO_MANY_STEPS and stop[0] == 0 and state_i[k, D_ACCEPTED] < max_steps:
            done = loop(
                t_end, x[k], x_old, *work, a, c, e, d, settings_i, settings_f, state_i[k], state_f[k], save_t, out_t,
                out_x[k], min(CHUNK, max_steps - state_i[k, D_ACCEPTED]), system,
            )  # fmt: skip
        status[k] = done
        for i in range(N_STAT):
            counters[k, i] = W[I[W_STAT] + i]
        for i in range(V_GUARD if I[W_PIVOT] > 0 else 0):
            counters[k, N_STAT + i] = W[I[W_PIVOT] + i]
        if stop[0] != 0:
            return
