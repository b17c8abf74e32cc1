"""The moving-frame slot for COUNT runs side by side (lanes.py): one state of COUNT times the size.

    x[COUNT i + k] = component i of run k        F, W = (those of run 0, of run 1, .., then the same for lanes)

Rates are computed in lanes. What branches on values has each run's own turn, in its own workspace: force elements, and Newton's
method on cut joints with the watch over their rows. Evaluations of the group count for each of its runs, and the largest
projection is that of the group.
"""

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.lanes import COUNT, apart, as_lanes
from dalembert.kernels.base.layout import COUNTERS
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import OK, PROJECT, WRENCH
from dalembert.kernels.base.views import System
from dalembert.kernels.coordinates.articulated import add_body_accelerations
from dalembert.kernels.coordinates.kinematics import finish_rates
from dalembert.kernels.formulations.moving_frame import answer_of_cut_joints, moving_frame, project_tree, tree_rates
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.mechanics.inertia import clear_wrenches

_POWER = COUNTERS.fields["power"][1]


@inline
def take(one, lane, n):
    """One run's numbers <- those of a lane."""
    for i in range(n):
        one[i] = lane[COUNT * i]


@inline
def member(k, system):
    """Run k of the group."""
    return System(system.I, system.F[system.f_size // (2 * COUNT) * k :], system.W[system.w_size // (2 * COUNT) * k :])


@inline
def side_by_side(system):
    """All runs in lanes."""
    return System(system.I, as_lanes(system.F, system.f_size // 2), as_lanes(system.W, system.w_size // 2))


@flat
def forces_in_turn(t, lanes, system):
    """Wrenches of every lane += those of force elements, which know one run; their power. Status."""
    status, bodies = OK, system.nb + 1
    for k in range(COUNT):
        one = member(k, system)
        take(one.poses, apart(lanes.poses) + k, 18 * bodies)
        take(one.counted, apart(lanes.counted) + k, 2 * system.nangle)
        clear_wrenches(one)
        status = max(status, forces(WRENCH, t, one))
        wrenches = apart(lanes.h) + k
        for i in range(6 * bodies):
            wrenches[COUNT * i] += one.h[i]
        apart(lanes.counts)[COUNT * _POWER + k] = one.count.power
    return status


@flat
def tree_forces_in_turn(t, lanes, system):
    clear_wrenches(lanes)
    return forces_in_turn(t, lanes, system)


@flat
def count_rates(factors, system):
    """Of each run, with so many factorisations."""
    for k in range(COUNT):
        count = member(k, system).count
        count.rhs += 1.0
        count.factor += factors


@flat
def project_in_turn(kernel, mode, t, x, dx, system):
    """x <- projected run by run; dx is scratch. Status."""
    status, n = OK, system.nx
    one_x, scratch = dx[:n], dx[n : 2 * n]
    for k in range(COUNT):
        one = member(k, system)
        one.count.inside = system.count.inside
        for i in range(n):
            one_x[i] = x[COUNT * i + k]
        status = max(status, kernel(mode, t, one_x, scratch, one))
        for i in range(n):
            x[COUNT * i + k] = one_x[i]
    return status


@kernel
def tree_lanes(mode, t, x, dx, system):
    """Trees without cut joints. RATE: dx <- rates of the relative coordinates; PROJECT: x <- onto unit quaternions; dx is
    scratch."""
    x_l, dx_l, lanes = as_lanes(x, 0), as_lanes(dx, 0), side_by_side(system)
    if mode == PROJECT:
        project_tree(x_l, dx_l, lanes)
        snap_angles(x_l, lanes)
        return OK
    count_rates(0.0, system)
    status, power = tree_rates(tree_forces_in_turn, False, t, x_l, dx_l, lanes, system)
    return finish_rates(status, power, dx_l, lanes)


@kernel
def closed_lanes(mode, t, x, dx, system):
    """Trees with cut joints. RATE: dx <- rates of the relative coordinates; PROJECT: x <- onto unit quaternions and cut joints;
    dx is scratch."""
    if mode == PROJECT:
        return project_in_turn(moving_frame, mode, t, x, dx, system)
    count_rates(1.0, system)
    x_l, dx_l, lanes = as_lanes(x, 0), as_lanes(dx, 0), side_by_side(system)
    status, power = tree_rates(tree_forces_in_turn, True, t, x_l, dx_l, lanes, system)
    power = answer_of_cut_joints(power, dx_l, lanes)
    add_body_accelerations(lanes.accelerations, 0.0, lanes)
    return finish_rates(status, power, dx_l, lanes)
