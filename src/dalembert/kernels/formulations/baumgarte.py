"""The jet formulation without projection, with Baumgarte's terms at acceleration level [ConstraintNotes, 4.2].

    G u' + zeta + 2 alpha (G u + g_t) + beta^2 g = 0

alpha = beta = 0 leaves the constraints to the accelerations alone: positions then drift away.
"""

from dalembert.kernels.base.compiler import kernel
from dalembert.kernels.base.tables import OK, PROJECT
from dalembert.kernels.coordinates.kinematics import load_poses, normalise
from dalembert.kernels.coordinates.solve import velocity_residual
from dalembert.kernels.formulations.distribution import prepare_solve, solve_by_factor, store_solution
from dalembert.kernels.formulations.project import snap_angles


@kernel
def baumgarte(mode, t, x, dx, system):
    """RATE: dx <- distribution at x, driven back to the constraints. PROJECT: unit Euler parameters, exact angles."""
    if mode == PROJECT:
        normalise(x, system)
        load_poses(x, system)
        snap_angles(x, system)
        return OK
    status = prepare_solve(t, x, system)
    if status == OK:
        # rhs has zeta already; `refine` in store_solution would read it, but is told to sweep for `jet` alone
        r, alpha, beta = system.zeta, system.alpha, system.beta
        velocity_residual(r, system)
        for i in range(system.m):
            system.rhs[i] += 2.0 * alpha * r[i] - beta * beta * system.g[i]
        solve_by_factor(system)
        status = store_solution(x, dx, system)
    return status
