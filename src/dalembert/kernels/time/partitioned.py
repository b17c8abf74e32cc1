"""Methods that treat coordinates and velocities differently: symplectic Euler, Stoermer-Verlet.

    q_1 = q_0 + h N u_0,   u_1 = u_0 + h u'(q_1, u_0)                                       [Variational, (31)-(32)]
    u_h = u_0 + h/2 u'_0,   q_1 = q_0 + h N u_h,   u_1 = u_h + h/2 u'(q_1, u_0 + h u'_0)      [HairerLubichWanner2006, I (1.17)]

N of Stoermer-Verlet is taken at the middle, u' at the end at a predicted velocity: order 2 also for quaternions and for forces
that depend on velocities, and nothing changes where there are none. The end is projected onto the constraints.
"""

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import NQ, OK, RATE, STEP_TOO_SMALL, TOO_MANY_STEPS
from dalembert.kernels.time.stepping import (
    C_H,
    C_T,
    D_HAVE_RATE,
    H_ATOL,
    H_RTOL,
    R_NQU,
    R_SOLVER,
    VISIT_ALL,
    VISIT_RATE,
    accept,
    aim,
    judge,
    save_inside,
    visit,
)
from dalembert.kernels.time.watch import note_leap, projection_error

SYMPLECTIC_EULER, STOERMER_VERLET = 0, 1


@flat
def euler_step(t, h, x, y, stages, system):
    """y <- after a step of symplectic Euler from x with rate stages[0]. Status."""
    I = system.I
    nq, n = I[NQ], x.size
    for i in range(n):
        y[i] = x[i] + h * stages[0, i] if i < nq else x[i]
    status = equations(RATE, t + h, y, stages[2], system)
    for i in range(nq, n):
        y[i] = x[i] + h * stages[2, i]
    return status


@flat
def verlet_step(t, h, x, y, stages, system):
    """y <- after a step of Stoermer-Verlet from x with rate stages[0]. Status."""
    I = system.I
    nq, n = I[NQ], x.size
    for i in range(n):
        y[i] = x[i] + 0.5 * h * stages[0, i]
    status = equations(RATE, t + 0.5 * h, y, stages[2], system)  # N at the middle, of u_h
    for i in range(n):
        y[i] = x[i] + h * (stages[2, i] if i < nq else stages[0, i])
    if status == OK:
        status = equations(RATE, t + h, y, stages[2], system)
    for i in range(nq, n):
        y[i] = x[i] + 0.5 * h * (stages[0, i] + stages[2, i])
    return status


@kernel
def partitioned(
    t_end, x, x_old, stages, dense, a, c, e, d, settings_i, settings_f, state_i, state_f, save_t, out_t, out_x, max_steps,
    system
):  # fmt: skip
    """As kernels/time/runge_kutta.py; settings_i[R_SOLVER] chooses the method."""
    y, before = x_old, dense[dense.shape[0] - 1]
    steps = 0
    t, h = state_f[C_T], state_f[C_H]
    if state_i[D_HAVE_RATE] == 0:
        status = visit(VISIT_RATE, t, x, stages[0], system)
        if status != OK:
            return status
        state_i[D_HAVE_RATE] = 1
    while steps < max_steps:
        if t >= t_end:
            return OK
        asked = h
        h, t_new = aim(t, h, t_end, settings_i, settings_f, state_i, system)
        if not abs(h) > 1e-15 * max(abs(t), abs(t_end)):
            return STEP_TOO_SMALL
        if settings_i[R_SOLVER] == SYMPLECTIC_EULER:
            status = euler_step(t, h, x, y, stages, system)
        else:
            status = verlet_step(t, h, x, y, stages, system)
        for i in range(x.size):
            before[i] = y[i]
        if status == OK:
            status = visit(VISIT_ALL, t_new, y, stages[1], system)
        status, value = judge(status, 0.0, t, h, settings_i, settings_f, state_i, state_f)
        if status != OK:
            return status
        _, moved, change = projection_error(x, y, before, settings_i[R_NQU], settings_f[H_RTOL], settings_f[H_ATOL], system)
        status, _ = save_inside(
            t, t_new, h, x, y, stages, 2, dense, a, c, d, settings_i, settings_f, state_i, save_t, out_t, out_x, system,
        )  # fmt: skip
        if status != OK:
            return status
        note_leap(t_new, moved, change, system)
        h = accept(t, t_new, h, value, h < asked, x, y, stages, settings_i, settings_f, state_i, state_f)
        t = t_new
        steps += 1
    return OK if t >= t_end else TOO_MANY_STEPS
