"""The jet formulation without projection, with Baumgarte's terms at acceleration level [ConstraintNotes, 4.2].

    G u' + zeta + 2 alpha (G u + g_t) + beta^2 g = 0

alpha = beta = 0 leaves the constraints to the accelerations alone: positions then drift away.
"""

from dalembert.kernels.base.compiler import kernel
from dalembert.kernels.base.tables import (
    ALPHA,
    BETA,
    OK,
    PROJECT,
    S_V,
    STATE_W,
    W_A,
    W_BODY,
    W_G,
    W_GT,
    W_RHS,
    W_ZETA,
    M,
)
from dalembert.kernels.coordinates.kinematics import load_poses, normalise
from dalembert.kernels.coordinates.solve import subtract_row_products
from dalembert.kernels.formulations.distribution import prepare_solve, solve_by_factor, store_solution
from dalembert.kernels.formulations.project import snap_angles


@kernel
def baumgarte(mode, t, x, dx, system):
    """RATE: dx <- distribution at x, driven back to the constraints. PROJECT: unit Euler parameters, exact angles."""
    I, F, W = system.I, system.F, system.W
    if mode == PROJECT:
        normalise(x, system)
        load_poses(x, system)
        snap_angles(x, system)
        return OK
    status = prepare_solve(t, x, system)
    if status == OK:
        m, r = I[M], I[W_ZETA]
        for i in range(m):
            W[r + i] = -W[I[W_GT] + i]
        subtract_row_products(I[W_A], I[W_BODY] + S_V, STATE_W, r, False, system)
        for i in range(m):
            W[I[W_RHS] + i] += 2.0 * F[ALPHA] * W[r + i] - F[BETA] * F[BETA] * W[I[W_G] + i]
        solve_by_factor(system)
        status = store_solution(x, dx, system)
    return status
