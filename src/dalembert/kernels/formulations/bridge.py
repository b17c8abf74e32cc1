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
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    MINIMAL_I,
    MOTIONS,
    NQ,
    NU,
    OK,
    POSITIONS,
    Z_BRIDGE,
    M,
)
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.kinematics import displace, load_poses, normalise
from dalembert.kernels.coordinates.solve import assemble_blocks, factor, pull_back_rows, weakest_row
from dalembert.kernels.formulations.minimal import maggi_rates
from dalembert.kernels.formulations.project import project_constraints, worst_entry
from dalembert.kernels.formulations.tangent_space import inner, spread
from dalembert.kernels.mechanics.primitives import constraint_rows

ZONE = 0.025
CROSSING = 1e-11
BLIND = 1e-4  # pivot below which rounding leaves nothing of the accelerations, so that only interpolation can pass
SIDE = 5
NODES = 2 * SIDE


@inline
def smallest_pivot(t, x, system):
    """Of the rows at this state; the blocks are factored there."""
    load_poses(x, system)
    forces(MOTIONS, t, system)
    constraint_rows(system)
    pull_back_rows(system.A, system)
    assemble_blocks(system.metrics, system)
    factor(1, system)
    return weakest_row(system)[1]


@inline
def place(k, centre):
    """tau_k / tau"""
    return centre + (k - SIDE if k < SIDE else k - SIDE + 1)


@inline
def weight_of(k, centre):
    """L_k"""
    weight = 1.0
    for i in range(NODES):
        if i != k:
            weight *= place(i, centre) / (place(i, centre) - place(k, centre))
    return weight


@inline
def displaced(tau, x, system):
    """x <- the state that is kept aside, its configuration moved by tau u."""
    I, W = system.I, system.W
    kept = I[I[MINIMAL_I] + Z_BRIDGE]
    for i in range(x.size):
        x[i] = W[kept + i]
    spread(x, I[NQ], system.accelerations, system)
    displace(0, x, system.accelerations, tau, system)


@inline
def bridge_span(t, x, system):
    """(tau, tau_c / tau); tau = 0 where there is nothing to bridge. x is kept aside, sums over nodes behind it are cleared."""
    I, W = system.I, system.W
    kept = I[I[MINIMAL_I] + Z_BRIDGE]
    for i in range(x.size):
        W[kept + i] = x[i]
        W[kept + x.size + i] = 0.0
        W[kept + 2 * x.size + i] = 0.0
    if I[M] == 0 or smallest_pivot(t, x, system) >= ZONE:
        return 0.0, 0.0
    spread(x, I[NQ], system.accelerations, system)
    speed = np.sqrt(inner(system.accelerations, system.accelerations, system))
    reach, ahead, behind = ZONE / speed if speed > 0.0 else np.inf, 0.0, 0.0
    while reach < 1e6 and (ahead < ZONE or behind < ZONE):
        reach *= 1.1
        displaced(reach, x, system)
        ahead = smallest_pivot(t + reach, x, system)
        displaced(-reach, x, system)
        behind = smallest_pivot(t - reach, x, system)
    displaced(0.0, x, system)
    tau, centre = 2.0 * reach * ZONE / (ahead + behind), (behind - ahead) / (2.0 * ZONE)
    return (tau, centre) if min(ahead, behind) >= ZONE and abs(centre) <= 2.0 else (0.0, 0.0)


@inline
def add_node(weight, x, system):
    """Sum of q and u over the nodes."""
    I, W = system.I, system.W
    total = I[I[MINIMAL_I] + Z_BRIDGE] + x.size
    for i in range(I[NQ] + I[NU]):
        W[total + i] += weight * x[i]


@inline
def take_crossing(t, x, system):
    """x <- the interpolated q and u; whether it meets the constraints."""
    I, W = system.I, system.W
    kept = I[I[MINIMAL_I] + Z_BRIDGE]
    for i in range(I[NQ] + I[NU]):
        x[i] = W[kept + x.size + i]
    normalise(x, system)
    load_poses(x, system)
    forces(POSITIONS, t, system)
    constraint_rows(system)
    return worst_entry(system.g, I[M])[1] <= CROSSING * max(1.0, worst_entry(Numbers(x, 0), I[NQ])[1])


@flat
def project_across(tau, centre, t, x, system):
    """(status, whether x was interpolated): x <- onto the constraints, from both sides where tau > 0."""
    crossed, count, k, status = tau > 0.0, NODES if tau > 0.0 else 1, 0, OK
    while k < count and status == OK:
        step, weight = (place(k, centre), weight_of(k, centre)) if crossed else (0.0, 1.0)
        if tau > 0.0:
            displaced(tau * step, x, system)
        status = project_constraints(t + tau * step, x, system)
        if crossed:
            add_node(weight, x, system)
        k += 1
        if crossed and (k == count or status != OK):
            crossed = status == OK and take_crossing(t, x, system)
            if not crossed:
                k, count, status = 0, 1, OK
    return status, crossed


@kernel
def minimal_across(mode, t, x, dx, system):
    """`minimal` where singular configurations are passed. Status."""
    I, W = system.I, system.W
    nq, nu, n = I[NQ], I[NU], x.size
    kept = I[I[MINIMAL_I] + Z_BRIDGE]
    sum_of_rates = kept + 2 * n
    tau, centre = bridge_span(t, x, system)
    crossed, count, k, status = tau > 0.0, NODES if tau > 0.0 else 1, 0, OK
    while k < count and status == OK:
        step, weight = (place(k, centre), weight_of(k, centre)) if crossed else (0.0, 1.0)
        displaced(tau * step, x, system)
        status = project_constraints(t + tau * step, x, system)
        add_node(weight, x, system)
        for i in range(nq, nq + nu):  # the independent velocities are those of the state
            x[i] = W[kept + i]
        if status == OK:
            status = maggi_rates(t + tau * step, x, dx, system)
        for i in range(n):
            W[sum_of_rates + i] += weight * dx[i]
        k += 1
        if crossed and (k == count or status != OK):
            crossed = status == OK and take_crossing(t, x, system)
            if not crossed:
                k, count, status = 0, 1, OK
                for i in range(n):
                    W[sum_of_rates + i] = 0.0
    for i in range(n):
        x[i], dx[i] = W[kept + i], W[sum_of_rates + i]
    return status
