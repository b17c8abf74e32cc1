"""What assembly asks at one state, compiled: for many models of one structure. `one_state.py` is the same in plain Python."""

from dalembert.kernels.base.compiler import light
from dalembert.kernels.base.tables import MOTIONS, OK
from dalembert.kernels.base.views import System
from dalembert.kernels.coordinates.kinematics import displace, load_angles, load_poses
from dalembert.kernels.formulations.distribution import load_rows

ROWS, MOVE = range(2)


@light
def at_state(mode, t, x, I, F, W):
    """ROWS: rows A (pulled back), g, g_t and zeta of all constraints, and joint angles, into the workspace.
    MOVE: q <- q (+) d, u <- u + e with 6 numbers (d, e) per body in `displacements` and `accelerations`."""
    system = System(I, F, W)
    if mode == MOVE:
        displace(0, x, system.displacements, 1.0, system)
        displace(1, x, system.accelerations, 1.0, system)
        return OK
    load_poses(x, system)
    load_angles(x, system)
    load_rows(MOTIONS, t, system)
    return OK
