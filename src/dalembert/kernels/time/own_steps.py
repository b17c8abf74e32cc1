"""Fixed steps that a formulation makes by itself, or a symmetric composition of them, with saving in between.

Phi_h = phi_{c_s h} o ... o phi_{c_1 h}                                             [HairerLubichWanner2006, II.4]
"""

from dalembert.kernels.base.compiler import kernel
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import NMOTION, OK, STEP, STEP_TOO_SMALL, TOO_MANY_STEPS
from dalembert.kernels.time.stepping import (
    C_H,
    C_T,
    D_NEXT,
    R_DENSE,
    R_EVERY,
    R_STAGES,
    VISIT_RATE,
    accept,
    aim,
    judge,
    save_inside,
    visit,
)


@kernel
def own_steps(
    t_end, x, x_old, stages, dense, a, c, e, d, settings_i, settings_f, state_i, state_f, save_t, out_t, out_x, max_steps,
    system
):  # fmt: skip
    """As kernels/time/runge_kutta.py, with steps of the system; e : substeps as parts of h. Rates are only for dense output."""
    I = system.I
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
        inside = settings_i[R_DENSE] == 1
        inside |= settings_i[R_EVERY] == 0 and state_i[D_NEXT] < save_t.size and save_t[state_i[D_NEXT]] < t_new
        if inside:
            status = visit(VISIT_RATE, t, x, stages[0], system)
            if status == OK:
                status = visit(VISIT_RATE, t_new, y, stages[s], system)
        elif I[NMOTION] > 0:  # for what is noted of drivers
            status = visit(VISIT_RATE, t_new, y, stages[s], system)
        if status == OK:
            status, _ = save_inside(
                t, t_new, h, x, y, stages, 0, dense, a, c, d, settings_i, settings_f, state_i, save_t, out_t, out_x, system,
            )  # fmt: skip
        if status != OK:
            return status
        h = accept(t, t_new, h, value, h < asked, x, y, stages, settings_i, settings_f, state_i, state_f)
        t = t_new
        steps += 1
    return OK if t >= t_end else TOO_MANY_STEPS
