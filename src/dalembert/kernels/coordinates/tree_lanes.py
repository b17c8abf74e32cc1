"""The moving-frame slot of a tree without cut joints for COUNT runs side by side (lanes.py): one state of COUNT times the size.

    x[COUNT i + k] = component i of run k        W = (one run's workspace, then the same for lanes)

Constants F are shared. Force elements branch on values, so each run's own turn comes for them in the workspace of one run; its
counters count evaluations of the group, which are as many for each of its runs.
"""

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.lanes import COUNT, as_lanes
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    N_RHS,
    NANGLE,
    NB,
    NFORCE,
    NON_FINITE,
    NQ,
    OK,
    POWER,
    PROJECT,
    STATE_W,
    W_ANGLE,
    W_BODY,
    W_H,
    W_SIZE,
    W_STAT,
    WRENCH,
)
from dalembert.kernels.base.views import System
from dalembert.kernels.coordinates.articulated import accelerate_tree, eliminate_tree, subtract_wrenches
from dalembert.kernels.coordinates.kinematics import load_angles
from dalembert.kernels.coordinates.tree import move_tree, place_bodies
from dalembert.kernels.formulations.moving_frame import clear, finish_rates, project_tree
from dalembert.kernels.formulations.project import snap_angles


@flat
def forces_in_turn(t, first, system):
    """Wrenches and power of every lane by force elements that know one run; lanes begin at W[first]. Status."""
    I, W = system.I, system.W
    status, bodies = OK, I[NB] + 1
    for lane in range(first, first + COUNT):
        for i in range(I[W_BODY], I[W_BODY] + STATE_W * bodies):
            W[i] = W[lane + COUNT * i]
        for i in range(I[W_ANGLE], I[W_ANGLE] + 2 * I[NANGLE]):
            W[i] = W[lane + COUNT * i]
        clear(I[W_H], system)
        status = max(status, forces(WRENCH, t, system))
        for i in range(I[W_H], I[W_H] + 6 * bodies):
            W[lane + COUNT * i] = W[i]
        W[lane + COUNT * (I[W_STAT] + POWER)] = W[I[W_STAT] + POWER]
    return status


@kernel
def tree_lanes(mode, t, x, dx, system):
    """RATE: dx <- rates of the relative coordinates; PROJECT: x <- onto unit quaternions; dx is scratch."""
    I, W = system.I, system.W
    first = I[W_SIZE] // (COUNT + 1)
    x_l, dx_l, W_l = as_lanes(x, 0), as_lanes(dx, 0), as_lanes(W, first)
    lanes = System(I, system.F, W_l)
    if mode == PROJECT:
        project_tree(x_l, dx_l, lanes)
        snap_angles(x_l, lanes)
        return OK
    W[I[W_STAT] + N_RHS] += 1.0
    status = OK
    move_tree(x_l, dx_l, lanes)
    if I[NFORCE] + I[NANGLE] > 0:
        place_bodies(x_l, lanes)
        load_angles(x_l, lanes)
    if I[NFORCE] > 0:
        status = forces_in_turn(t, first, system)
        subtract_wrenches(I[W_H], lanes)
    eliminate_tree(lanes)
    accelerate_tree(dx_l, I[NQ], 1, 1.0, lanes)
    finite = finish_rates(W_l[I[W_STAT] + POWER], dx_l, lanes)
    return status if finite else NON_FINITE
