"""The moving-frame slot of a tree without cut joints for COUNT runs side by side (lanes.py): one state of COUNT times the size.

    x[COUNT i + k] = component i of run k        W = (one run's workspace, then the same for lanes)
    F = (constants of run 0, of run 1, .., then the same for lanes)

Force elements branch on values, so each run's own turn comes for them in the workspace of one run; its counters count
evaluations of the group, which are as many for each of its runs.
"""

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.lanes import COUNT, apart, as_lanes
from dalembert.kernels.base.layout import COUNTERS
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import NON_FINITE, OK, PROJECT, WRENCH
from dalembert.kernels.base.views import Numbers, System
from dalembert.kernels.coordinates.articulated import accelerate_tree, eliminate_tree, subtract_wrenches
from dalembert.kernels.coordinates.kinematics import load_angles
from dalembert.kernels.coordinates.tree import move_tree, place_bodies
from dalembert.kernels.formulations.moving_frame import clear_wrenches, finish_rates, project_tree
from dalembert.kernels.formulations.project import snap_angles

_POWER = COUNTERS.fields["power"][1]


@inline
def take(one, lane, n):
    """One run's numbers <- those of a lane."""
    for i in range(n):
        one[i] = lane[COUNT * i]


@flat
def forces_in_turn(t, lanes, system):
    """Wrenches and power of every lane by force elements that know one run. Status."""
    status, bodies, constants = OK, system.nb + 1, system.f_size // (2 * COUNT)
    for k in range(COUNT):
        one = System(system.I, system.F[constants * k :], system.W)
        take(one.poses, apart(lanes.poses) + k, 18 * bodies)
        take(one.counted, apart(lanes.counted) + k, 2 * system.nangle)
        clear_wrenches(one)
        status = max(status, forces(WRENCH, t, one))
        wrenches = apart(lanes.h) + k
        for i in range(6 * bodies):
            wrenches[COUNT * i] = one.h[i]
        apart(lanes.counts)[COUNT * _POWER + k] = one.count.power
    return status


@kernel
def tree_lanes(mode, t, x, dx, system):
    """RATE: dx <- rates of the relative coordinates; PROJECT: x <- onto unit quaternions; dx is scratch."""
    x_l, dx_l = as_lanes(x, 0), as_lanes(dx, 0)
    lanes = System(system.I, as_lanes(system.F, system.f_size // 2), as_lanes(system.W, system.w_size // (COUNT + 1)))
    if mode == PROJECT:
        project_tree(x_l, dx_l, lanes)
        snap_angles(x_l, lanes)
        return OK
    system.count.rhs += 1.0
    status = OK
    move_tree(x_l, dx_l, lanes)
    if system.nforce + system.nangle > 0:
        place_bodies(x_l, lanes)
        load_angles(x_l, lanes)
    if system.nforce > 0:
        status = forces_in_turn(t, lanes, system)
        subtract_wrenches(lanes.wrenches, lanes)
    eliminate_tree(lanes)
    accelerate_tree(Numbers(dx_l, system.nq), 1.0, lanes)
    finite = finish_rates(lanes.count.power, dx_l, lanes)
    return status if finite else NON_FINITE
