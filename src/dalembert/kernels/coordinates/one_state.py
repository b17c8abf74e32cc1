"""The kernels at one state as plain Python, for assembly and rank analysis: nothing to compile, fast enough once per model.

All arguments may be lists, which plain Python reads faster than arrays.
"""

from dalembert.kernels.base.loops import negate
from dalembert.kernels.base.tables import MOTIONS
from dalembert.kernels.base.views import System
from dalembert.kernels.coordinates.kinematics import count_turns, displace, load_angles, load_poses
from dalembert.kernels.coordinates.solve import pull_back_rows, subtract_row_products
from dalembert.kernels.mechanics.forces import stored_energy
from dalembert.kernels.mechanics.inertia import mechanical_energy
from dalembert.kernels.mechanics.laws import energy_of_laws
from dalembert.kernels.mechanics.motion import evaluate_motions
from dalembert.kernels.mechanics.primitives import constraint_rows
from dalembert.kernels.mechanics.traced_rows import traced_rows


def _rows(t, x, system):
    """All rows at one state, pulled back."""
    load_poses(x, system)
    count_turns(x, system)
    evaluate_motions(t, system)
    constraint_rows(system)
    traced_rows(MOTIONS, t, system)
    pull_back_rows(system.A, system)


def evaluate_rows(t, x, I, F, W, row_code):
    """Residual, g_t and zeta of all rows at one state; the rows themselves, pulled back, are left in the workspace."""
    system = System(I, F, W, row_code)
    _rows(t, x, system)
    return tuple([numbers[i] for i in range(system.m_all)] for numbers in (system.g, system.g_t, system.zeta))


def measure_angles(x, I, F, W):
    """Joint angles at one state, nearest to the counters in x."""
    system = System(I, F, W)
    load_poses(x, system)
    load_angles(x, system)
    return [joint.angle for joint in system.angles]


def move(x, dq, du, I, F, W):
    """q <- q (+) dq, u <- u + du with 6 numbers per movable body."""
    system = System(I, F, W)
    change, change_u = system.displacements, system.accelerations
    for i in range(len(dq)):
        change.array[change.at + 6 + i] = dq[i]
        change_u.array[change_u.at + 6 + i] = du[i]
    displace(0, x, change, 1.0, system)
    displace(1, x, change_u, 1.0, system)


def velocity_residual(t, x, out, I, F, W, row_code):
    """G u + g_t of the independent rows at one state."""
    system = System(I, F, W, row_code)
    _rows(t, x, system)
    negate(system.zeta, system.g_t, system.m)
    subtract_row_products(system.A, system.twists, system.zeta, False, system)
    negate(out, system.zeta, system.m)


def energies(x, I, F, W):
    """(T, U) at one state."""
    system = System(I, F, W)
    load_poses(x, system)
    load_angles(x, system)
    T, U = mechanical_energy(system)
    return T, U + stored_energy(system) + energy_of_laws(system)
