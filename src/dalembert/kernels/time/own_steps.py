"""Fixed steps that a formulation makes by itself, or a symmetric composition of them, with saving in between.

Phi_h = phi_{c_s h} o ... o phi_{c_1 h}                                             [HairerLubichWanner2006, II.4]
"""

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import NQ, OK, STEP, STEP_TOO_SMALL, TOO_MANY_STEPS
from dalembert.kernels.time.stepping import (
    C_H,
    C_T,
    D_HAVE_RATE,
    R_STAGES,
    VISIT_RATE,
    accept,
    aim,
    judge,
    save_inside,
    visit,
)
from dalembert.kernels.time.watch import note_leap


@flat
def unexplained(h, x, y, before, after, system):
    """Largest |dq - h q'| with q' of the start, the end or their mean, whichever is nearest; largest |dq|."""
    start, end, mean, change = 0.0, 0.0, 0.0, 0.0
    for i in range(system.I[NQ]):
        d = y[i] - x[i]
        start, end = max(start, abs(d - h * before[i])), max(end, abs(d - h * after[i]))
        mean, change = max(mean, abs(d - 0.5 * h * (before[i] + after[i]))), max(change, abs(d))
    return min(start, end, mean), change


@kernel
def own_steps(
    t_end, x, x_old, stages, dense, a, c, e, d, settings_i, settings_f, state_i, state_f, save_t, out_t, out_x, max_steps,
    system
):  # fmt: skip
    """As kernels/time/runge_kutta.py, with steps of the system; e : substeps as parts of h. Rates are for dense output and for
    what is noted: a step that velocities do not explain is that of a residual that jumps."""
    y, s = x_old, settings_i[R_STAGES]
    steps = 0
    t, h = state_f[C_T], state_f[C_H]
    while steps < max_steps:
        if t >= t_end:
            return OK
        asked = h
        h, t_new = aim(t, h, t_end, settings_i, settings_f, state_i, system)
        if not abs(h) > 1e-15 * max(abs(t), abs(t_end)):
            return STEP_TOO_SMALL
        for i in range(x.size):
            y[i] = x[i]
        status, at = OK, t
        for k in range(e.shape[1]):
            if status == OK:
                stages[s, 0] = e[0, k] * h
                status = equations(STEP, at, y, stages[s], system)
                at += e[0, k] * h
        status, value = judge(status, 0.0, t, h, settings_i, settings_f, state_i, state_f)
        if status != OK:
            return status
        if state_i[D_HAVE_RATE] == 0:
            state_i[D_HAVE_RATE] = 1
            status = visit(VISIT_RATE, t, x, stages[0], system)
        if status == OK:
            status = visit(VISIT_RATE, t_new, y, stages[s], system)
        if status == OK:
            moved, change = unexplained(h, x, y, stages[0], stages[s], system)
            note_leap(t_new, moved, change, system)
            status, _ = save_inside(
                t, t_new, h, x, y, stages, 0, dense, a, c, d, settings_i, settings_f, state_i, save_t, out_t, out_x, system,
            )  # fmt: skip
        if status != OK:
            return status
        h = accept(t, t_new, h, value, h < asked, x, y, stages, settings_i, settings_f, state_i, state_f)
        t = t_new
        steps += 1
    return OK if t >= t_end else TOO_MANY_STEPS
