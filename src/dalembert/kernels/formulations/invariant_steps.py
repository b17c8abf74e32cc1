"""Newton's method for invariants, f_inv = 0 [JetMultibody, (5.5)], written over what the coordinates provide."""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.loops import plus_dot
from dalembert.kernels.base.tables import MOVED, NON_FINITE, OK
from dalembert.kernels.base.views import Numbers


@inline
def state_size(x, system):
    """1 + |u|^2"""
    u = Numbers(x, system.nq)
    return plus_dot(1.0, u, u, system.nu)


@flat
def step_to_invariants(residual, direction, move, t, x, dx, system):
    """One step per invariant: MOVED when the constraints must be projected again, OK when all hold, or what failed.

    residual(k, t, x, dx, ..) : f, the largest of its terms, status; k = -1 is the energy
    direction(k, t, x, dx, ..) : slope of f along the admissible direction in which it grows fastest, square of the size of
    the state, status;  move(s, x, ..) : x moves by s times that direction
    """
    moved = 0
    for k in range(-system.energy, system.ninvariant):
        f, scale, status = residual(k, t, x, dx, system)
        if status == OK and not np.isfinite(f):
            status = NON_FINITE
        if status != OK:
            return status
        if abs(f) <= system.tol_invariant * scale:
            continue
        system.count.dinv += 1.0
        slope, size, status = direction(k, t, x, dx, system)
        if status != OK:
            return status
        # the step has the length |f| / sqrt(slope), in the kinetic norm of trees: a hundredth of the state or more means a
        # stationary point, where no admissible direction changes f; the report shows what is left
        if 1e-4 * slope * size <= f * f:
            continue
        move(-f / slope, x, system)
        moved += 1
    return MOVED if moved > 0 else OK
