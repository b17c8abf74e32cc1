"""Across a singular configuration on the branch that the motion is on: what is smooth there is interpolated from both sides.

Where branches cross, the rows become dependent. At a distance d from there rounding of a constraint, eps, leaves eps / d in the
position, eps / d^2 in the tangent and eps / d^3 in its turning, though all of them are smooth along a branch. So where the
smallest pivot is below ZONE,

    F(0) = sum_k L_k F(tau_k),    tau_k = tau_c +- tau, tau_c +- 2 tau, .., tau_c +- 5 tau

by Lagrange's weights L_k, with F evaluated at the configuration moved by tau_k u and corrected onto the constraints, at the
same independent velocities and the time t + tau_k. The crossing is at tau_c, where the pivots on both sides extrapolate to
zero, and tau is what takes the pivot from there to ZONE. The error is that of interpolation of order 10, the rounding that of
d = ZONE. Constraints that only come near to a crossing have a residual at the interpolated configuration, larger than CROSSING:
there the two sides are not one branch, and nothing is interpolated.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.loops import add_multiple, clear, copy
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import OK, POSITIONS
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.kinematics import displace, load_poses, normalise
from dalembert.kernels.formulations.minimal import maggi_rates, weakest_row_at
from dalembert.kernels.formulations.newton import worst_entry
from dalembert.kernels.formulations.project import project_constraints
from dalembert.kernels.formulations.tangent_space import inner, spread
from dalembert.kernels.mechanics.primitives import constraint_rows

ZONE = 0.025
CROSSING = 1e-11
SIDE = 5  # nodes on each
NODES = 2 * SIDE


@inline
def kept_state(system):
    """The state that is kept aside; behind it sums over the nodes of states, then of rates."""
    return system.all + system.minimal.bridge


@inline
def node_time(k, centre):
    """tau_k / tau"""
    return centre + (k - SIDE if k < SIDE else k - SIDE + 1)


@inline
def weight_of(k, centre):
    """L_k"""
    weight = 1.0
    for i in range(NODES):
        if i != k:
            weight *= node_time(i, centre) / (node_time(i, centre) - node_time(k, centre))
    return weight


@inline
def displaced(tau, x, system):
    """x <- the state that is kept aside, its configuration moved by tau u."""
    copy(Numbers(x, 0), kept_state(system), x.size)
    spread(Numbers(x, system.nq), system.accelerations, system)
    displace(0, x, system.accelerations, tau, system)


@inline
def bridge_span(t, x, system):
    """(tau, tau_c / tau); tau = 0 where there is nothing to bridge. x is kept aside, sums over nodes behind it are cleared."""
    kept, u = kept_state(system), system.accelerations
    copy(kept, Numbers(x, 0), x.size)
    clear(kept + x.size, 2 * x.size)
    if system.m == 0 or weakest_row_at(t, x, system)[1] >= ZONE:
        return 0.0, 0.0
    spread(Numbers(x, system.nq), u, system)
    speed = np.sqrt(inner(u, u, system))
    reach, ahead, behind = ZONE / speed if speed > 0.0 else np.inf, 0.0, 0.0
    while reach < 1e6 and (ahead < ZONE or behind < ZONE):
        reach *= 1.1
        displaced(reach, x, system)
        ahead = weakest_row_at(t + reach, x, system)[1]
        displaced(-reach, x, system)
        behind = weakest_row_at(t - reach, x, system)[1]
    displaced(0.0, x, system)
    tau, centre = 2.0 * reach * ZONE / (ahead + behind), (behind - ahead) / (2.0 * ZONE)
    return (tau, centre) if min(ahead, behind) >= ZONE and abs(centre) <= 2.0 else (0.0, 0.0)


@inline
def take_crossing(t, x, system):
    """x <- the interpolated q and u; whether it meets the constraints."""
    copy(Numbers(x, 0), kept_state(system) + x.size, system.nq + system.nu)
    normalise(x, system)
    load_poses(x, system)
    forces(POSITIONS, t, system)
    constraint_rows(system)
    return worst_entry(system.g, system.m)[1] <= CROSSING * max(1.0, worst_entry(Numbers(x, 0), system.nq)[1])


@flat
def across(visit, tau, centre, t, x, dx, system):
    """(status, whether x was interpolated): at each node x <- onto the constraints, visit(weight, t_k, x, dx, ..), a status;
    then x <- the crossing. Without a span (tau = 0), and where a node fails or nothing crosses, at x alone.

    x alone is number NODES, behind the nodes, in the same loop: what is called there is large, and compiled once.
    """
    k, crossed, status = 0 if tau > 0.0 else NODES, False, OK
    while k <= NODES and not crossed:
        step, weight = (node_time(k, centre), weight_of(k, centre)) if k < NODES else (0.0, 1.0)
        if tau > 0.0:
            displaced(tau * step, x, system)
        status = project_constraints(t + tau * step, x, system)
        if k < NODES:
            add_multiple(kept_state(system) + x.size, weight, Numbers(x, 0), system.nq + system.nu)
        if status == OK:
            status = visit(weight, t + tau * step, x, dx, system)
        k = k + 1 if status == OK else max(k + 1, NODES)
        crossed = k == NODES and status == OK and take_crossing(t, x, system)
    return status, crossed


@flat
def no_visit(weight, t, x, dx, system):
    return OK


@flat
def add_rates(weight, t, x, dx, system):
    """dx <- rates at x with the independent velocities of the state that is kept aside; their sum over the nodes. Status."""
    kept, nq = kept_state(system), system.nq
    copy(Numbers(x, nq), kept + nq, system.nu)
    status = maggi_rates(t, x, dx, system)
    add_multiple(kept + 2 * x.size, weight, Numbers(dx, 0), x.size)
    return status


@kernel
def minimal_across(mode, t, x, dx, system):
    """`minimal` where singular configurations are passed. Status."""
    kept, (tau, centre) = kept_state(system), bridge_span(t, x, system)
    displaced(0.0, x, system)  # also where there is nothing to bridge: of unit Euler parameters
    status, crossed = across(add_rates, tau, centre, t, x, dx, system)
    copy(Numbers(x, 0), kept, x.size)
    if crossed:
        copy(Numbers(dx, 0), kept + 2 * x.size, x.size)
    return status
