"""The kernels at one state as plain Python, for assembly and rank analysis: nothing to compile, fast enough once per model.

All arguments may be lists, which plain Python reads faster than arrays.
"""

from dalembert.kernels.base.tables import (
    M_ALL,
    MOTIONS,
    NANGLE,
    S_V,
    STATE_W,
    W_A,
    W_ACC,
    W_ANGLE,
    W_BODY,
    W_G,
    W_GT,
    W_H,
    W_ZETA,
    M,
)
from dalembert.kernels.base.views import System
from dalembert.kernels.coordinates.kinematics import displace, load_angles, load_poses
from dalembert.kernels.coordinates.solve import pull_back_rows, subtract_row_products
from dalembert.kernels.mechanics.forces import stored_energy
from dalembert.kernels.mechanics.inertia import mechanical_energy
from dalembert.kernels.mechanics.motion import evaluate_motions
from dalembert.kernels.mechanics.primitives import constraint_rows
from dalembert.kernels.mechanics.traced_rows import traced_rows


def evaluate_rows(t, x, out_g, out_gt, out_zeta, I, F, W, row_code):
    """Residual, g_t and zeta of all rows at one state; the rows themselves, pulled back, are left in W at W_A."""
    system = System(I, F, W, row_code)
    load_poses(x, system)
    evaluate_motions(t, system)
    constraint_rows(system)
    traced_rows(MOTIONS, t, system)
    pull_back_rows(I[W_A], system)
    for i in range(I[M_ALL]):
        out_g[i] = W[I[W_G] + i]
        out_gt[i] = W[I[W_GT] + i]
        out_zeta[i] = W[I[W_ZETA] + i]


def measure_angles(x, out, I, F, W):
    """Joint angles at one state, nearest to the counters in x."""
    system = System(I, F, W)
    load_poses(x, system)
    load_angles(x, system)
    for c in range(I[NANGLE]):
        out[c] = W[I[W_ANGLE] + 2 * c]


def move(x, dq, du, I, F, W):
    """q <- q (+) dq, u <- u + du with 6 numbers per movable body."""
    for i in range(len(dq)):
        W[I[W_H] + 6 + i] = dq[i]
        W[I[W_ACC] + 6 + i] = du[i]
    displace(0, x, I[W_H], 1.0, System(I, F, W))
    displace(1, x, I[W_ACC], 1.0, System(I, F, W))


def velocity_residual(t, x, out, I, F, W, row_code):
    """G u + g_t of the independent rows at one state."""
    system = System(I, F, W, row_code)
    load_poses(x, system)
    evaluate_motions(t, system)
    constraint_rows(system)
    traced_rows(MOTIONS, t, system)
    pull_back_rows(I[W_A], system)
    for i in range(I[M]):
        W[I[W_ZETA] + i] = -W[I[W_GT] + i]
    subtract_row_products(I[W_A], I[W_BODY] + S_V, STATE_W, I[W_ZETA], False, system)
    for i in range(I[M]):
        out[i] = -W[I[W_ZETA] + i]


def energies(x, I, F, W):
    """(T, U) at one state."""
    system = System(I, F, W)
    load_poses(x, system)
    load_angles(x, system)
    T, U = mechanical_energy(system)
    return T, U + stored_energy(system)
