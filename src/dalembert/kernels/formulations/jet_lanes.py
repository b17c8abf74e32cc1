"""The rates of `jet` for COUNT runs side by side, as in tree_lanes.py; projections have each run's own turn."""

from dalembert.kernels.base.compiler import kernel
from dalembert.kernels.base.lanes import as_lanes
from dalembert.kernels.base.loops import negate
from dalembert.kernels.base.tables import OK, PROJECT
from dalembert.kernels.coordinates.kinematics import finish_rates, load_angle_rates, load_poses, store_rates
from dalembert.kernels.coordinates.solve import apply_inverse_metric, assemble_blocks, pull_back_rows
from dalembert.kernels.coordinates.tree_lanes import count_rates, forces_in_turn, project_in_turn, side_by_side
from dalembert.kernels.formulations.distribution import solve_by_factor
from dalembert.kernels.formulations.jet import jet
from dalembert.kernels.mechanics.inertia import gravity_and_gyroscopic, pull_back_wrenches
from dalembert.kernels.mechanics.primitives import constraint_rows


@kernel
def jet_lanes(mode, t, x, dx, system):
    """RATE: dx <- distribution at x; PROJECT: x <- onto unit Euler parameters and constraints, dx is scratch. Rows that become
    dependent in some of the runs leave no finite rates: then they run one by one."""
    if mode == PROJECT:
        return project_in_turn(jet, mode, t, x, dx, system)
    count_rates(1.0, system)
    status, x_l, dx_l, lanes = OK, as_lanes(x, 0), as_lanes(dx, 0), side_by_side(system)
    load_poses(x_l, lanes)
    load_angle_rates(x_l, lanes)
    gravity_and_gyroscopic(lanes)
    if system.nforce > 0:
        status = forces_in_turn(t, lanes, system)
    pull_back_wrenches(lanes)
    constraint_rows(lanes)
    pull_back_rows(lanes.A, lanes)
    assemble_blocks(lanes.masses, lanes)
    apply_inverse_metric(lanes.masses, lanes.wrenches, lanes.accelerations, lanes)
    negate(lanes.rhs, lanes.zeta, system.m)
    solve_by_factor(lanes)
    store_rates(x_l, dx_l, lanes.accelerations, lanes)
    return finish_rates(status, lanes.count.power, dx_l, lanes)
