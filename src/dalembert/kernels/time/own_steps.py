"""Fixed steps that a formulation makes by itself, or a symmetric composition of them, with saving in between.

Phi_h = phi_{c_s h} o ... o phi_{c_1 h}                                             [HairerLubichWanner2006, II.4]
"""

from dalembert.kernels.base.compiler import flat, light
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import OK, RATE, STEP, WANTS_SLOPES
from dalembert.kernels.time.steps import slopes


@light
def own_steps(steps, system):
    """A step of the system; e : substeps as parts of h. Status.

    Rates are for dense output and for what is noted: a step that velocities do not explain is that of a residual that jumps.
    """
    x, y, h, e, old, new = steps.x, steps.y, steps.h, steps.e, steps.stages[0], steps.stages[steps.last]
    copy(y, x, x.size)
    if steps.at_slopes == 0 and steps.t - steps.start >= steps.slopes_after * steps.step:
        return WANTS_SLOPES
    status, at = OK, steps.t
    for k in range(e.shape[1]):
        if status == OK:
            system.count.began, system.count.step = at, e[0, k] * h
            if steps.at_slopes > 0:
                slopes(steps, system)  # where it fails, the formulation finds what it needs by itself
            status = equations(STEP, at, y, new, system)
            at += system.count.step
    if status == OK and steps.accepted == 0:
        status = equations(RATE, steps.t, x, old, system)
    if status == OK:
        status = equations(RATE, steps.t_new, y, new, system)
    if status == OK:
        explain(old, new, steps, system)
    return status


@flat
def explain(old, new, steps, system):
    """moved <- largest |dq - h q'| with q' of the start, the end or their mean, whichever is nearest; change <- largest |dq|"""
    x, y, h = steps.x, steps.y, steps.h
    start, end, mean, change = 0.0, 0.0, 0.0, 0.0
    for i in range(system.nq):
        d = y[i] - x[i]
        start, end = max(start, abs(d - h * old[i])), max(end, abs(d - h * new[i]))
        mean, change = max(mean, abs(d - 0.5 * h * (old[i] + new[i]))), max(change, abs(d))
    steps.moved, steps.change = min(start, end, mean), change
