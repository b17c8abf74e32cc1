"""What is done within a step before it is accepted: the interpolant, a look at forces of time, states at requested times.

Dense output runs through the projected end points, with their rates [HairerNorsettWanner1993, II.6].
"""

from dalembert.kernels.base.compiler import flat, light
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import OK, RATE, VISIT_KEEP, VISIT_PROJECT
from dalembert.kernels.time.stepping import AGAIN, combine, save_point, visit
from dalembert.kernels.time.watch import foreseen, interpolate, look_between


@light
def inside_step(steps, system):
    """Store the new point, or every requested time within (t, t_new], interpolated and projected, and the point if watched; or
    AGAIN with a shorter step, where something happens between the stages. Fills the seam `inside`;
    status."""
    status, save_t, due, t_new = OK, steps.save_t, 1, steps.t_new
    if steps.every == 0:
        due = 0
        while steps.next + due < save_t.size and save_t[steps.next + due] <= t_new:
            due += 1
    between = steps.every == 0 and due > 0 and save_t[steps.next] < t_new
    look = steps.control == 1 and steps.h * steps.gap > steps.look and not foreseen(steps, system)
    if between or look or steps.keep_dense == 1:
        status = dense_coefficients(steps, system)
    if look and status == OK:
        shorter = look_between(steps, system)
        if shorter > steps.h_min:
            steps.h = shorter
            steps.rejected += 1
            return AGAIN
    x, dense, out_t, out_x = steps.x, steps.dense, steps.out_t, steps.out_x
    while status == OK and due > 0:
        if steps.every == 1 or save_t[steps.next] == t_new:
            save_point(steps)
        else:
            k, at = steps.saved, save_t[steps.next]
            out_t[k] = at
            interpolate((at - steps.t) / steps.h, x, dense, dense.shape[0] - 2, out_x[k])
            system.count.inside = 1.0
            status = visit(VISIT_PROJECT | VISIT_KEEP, at, out_x[k], dense[dense.shape[0] - 1], system)
            system.count.inside = 0.0
            steps.saved = k + 1
        steps.next += 1
        due -= 1
    if status == OK and steps.every == 0 and steps.watch != 0 and steps.accepted % steps.watch == 0:
        if steps.saved == 0 or out_t[steps.saved - 1] < t_new:
            save_point(steps)
    return status


@flat
def dense_coefficients(steps, system):
    """Coefficients of the interpolant from x to y; DOP853 needs three more stages. Status."""
    x, y, stages, dense, d, h = steps.x, steps.y, steps.stages, steps.dense, steps.d, steps.h
    left, right, spare, status = steps.left, steps.right, dense[dense.shape[0] - 1], OK
    for row in range(steps.last + 1, steps.last + 1 + steps.extra):
        combine(steps.a, row, row, 1, spare, steps)
        status = equations(RATE, steps.t + steps.c[row] * h, spare, stages[row], system)
        if status != OK:
            break
    for i in range(x.size):
        difference = y[i] - x[i]
        bend = h * stages[left, i] - difference
        dense[0, i] = difference
        dense[1, i] = bend
        dense[2, i] = difference - h * stages[right, i] - bend
    for k in range(d.shape[0]):
        combine(d, k, d.shape[1], 0, dense[3 + k], steps)
        for i in range(x.size):
            dense[3 + k, i] *= h
    return status
