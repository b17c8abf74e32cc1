"""Many runs of one model: the time loop of an integrator, from one start after another."""

from dalembert.kernels.base.compiler import light
from dalembert.kernels.base.layout import COUNTERS, V_GUARD
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.tables import NOT_RUN, OK, TOO_MANY_STEPS, VISIT_PROJECT
from dalembert.kernels.base.views import Numbers, System
from dalembert.kernels.time.records import KEPT_FROM, N_KEPT
from dalembert.kernels.time.stepping import march, visit

N_STAT = COUNTERS.width
CHUNK = 1000  # steps between looks at the stop flag


@light
def ensemble(first, last, runs, steps, system):
    """Those of the runs first .. last - 1 that are not done yet; start <- where a run began, projected onto its constraints,
    x <- where it ended.

    runs.stop[0] not zero: leave off as soon as may be;  runs.current[0] <- the run that goes on
    """
    x, kept, status, stop, spare, words = runs.x, runs.kept, runs.status, runs.stop, runs.spare, steps.words
    for k in range(first, last):
        if status[k] != NOT_RUN:
            continue
        runs.current[0] = k
        W, F, W_0 = system.W, runs.F, runs.W_0
        one = System(system.I, F[k if F.shape[0] > 1 else 0], W)
        copy(W, W_0[k if W_0.shape[0] > 1 else 0], W.size)
        done = visit(VISIT_PROJECT, 0.0, x[k], spare[0], one)
        copy(runs.start[k], x[k], x.shape[1])
        for i in range(N_KEPT):
            words[KEPT_FROM + i] = kept[k, i]
        steps.x, steps.out_x = x[k], runs.out_x[k]
        if done == OK:
            done = TOO_MANY_STEPS
        while done == TOO_MANY_STEPS and stop[0] == 0 and steps.accepted < runs.max_steps:
            steps.until = min(steps.accepted + CHUNK, runs.max_steps)
            done = march(steps, one)
        for i in range(N_KEPT):
            kept[k, i] = words[KEPT_FROM + i]
        status[k] = done
        for lane in range(steps.lanes):  # each has its workspace, see tree_lanes.py
            mine, at = System(system.I, one.F, W[W.size // (2 * steps.lanes) * lane :]), (N_STAT + V_GUARD) * lane
            count = mine.count
            count.leap, count.leap_size, count.leap_time = one.count.leap, one.count.leap_size, one.count.leap_time
            counters = Numbers(runs.counters[k], at)
            copy(counters, mine.counts, N_STAT)
            copy(counters + N_STAT, mine.pivots, V_GUARD if system.w_pivot > 0 else 0)
        if stop[0] != 0:
            return
