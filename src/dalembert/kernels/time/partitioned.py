"""Methods that treat coordinates and velocities differently: symplectic Euler, Stoermer-Verlet.

    q_1 = q_0 + h N u_0,   u_1 = u_0 + h u'(q_1, u_0)                                       [Variational, (31)-(32)]
    u_h = u_0 + h/2 u'_0,   q_1 = q_0 + h N u_h,   u_1 = u_h + h/2 u'(q_1, u_0 + h u'_0)      [HairerLubichWanner2006, I (1.17)]

N of Stoermer-Verlet is taken at the middle, u' at the end at a predicted velocity: order 2 also for quaternions and for forces
that depend on velocities, and nothing changes where there are none. The end is projected onto the constraints.
"""

from dalembert.kernels.base.compiler import flat, light
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import OK, RATE, VISIT_ALL
from dalembert.kernels.time.stepping import visit
from dalembert.kernels.time.watch import projection_error

SYMPLECTIC_EULER, STOERMER_VERLET = 0, 1


@light
def partitioned(steps, system):
    """An attempt at a step; steps.solver chooses the method. Status."""
    y, before = steps.y, steps.dense[3]
    status = euler_step(steps, system) if steps.solver == SYMPLECTIC_EULER else verlet_step(steps, system)
    copy(before, y, y.size)
    if status == OK:
        status = visit(VISIT_ALL, steps.t_new, y, steps.stages[1], system)
        projection_error(before, steps, system)
    return status


@flat
def euler_step(steps, system):
    """y <- after a step of symplectic Euler from x. Status."""
    x, y, h, rate, middle, nq = steps.x, steps.y, steps.h, steps.stages[0], steps.stages[2], system.nq
    for i in range(x.size):
        y[i] = x[i] + h * rate[i] if i < nq else x[i]
    status = equations(RATE, steps.t + h, y, middle, system)
    for i in range(nq, x.size):
        y[i] = x[i] + h * middle[i]
    return status


@flat
def verlet_step(steps, system):
    """y <- after a step of Stoermer-Verlet from x. Status."""
    x, y, h, rate, middle, nq = steps.x, steps.y, steps.h, steps.stages[0], steps.stages[2], system.nq
    for i in range(x.size):
        y[i] = x[i] + 0.5 * h * rate[i]
    status = equations(RATE, steps.t + 0.5 * h, y, middle, system)  # N at the middle, of u_h
    for i in range(x.size):
        y[i] = x[i] + h * (middle[i] if i < nq else rate[i])
    if status == OK:
        status = equations(RATE, steps.t + h, y, middle, system)
    for i in range(nq, x.size):
        y[i] = x[i] + 0.5 * h * (rate[i] + middle[i])
    return status
