"""Across a singular configuration on the branch that the motion is on: what is smooth there is interpolated from both sides.

Where branches cross, the rows become dependent. At a distance d from there rounding of a constraint, eps, leaves eps / d in the
position, eps / d^2 in the tangent and eps / d^3 in its turning, though all of them are smooth along a branch. So where the
smallest pivot is below ZONE,

    F(0) = sum_k L_k F(tau_k),    tau_k = +-tau, .., +-4 tau,    L = 4/5, -2/5, 4/35, -1/70 on either side

with F evaluated at the configuration moved by tau_k u and corrected onto the constraints, at the same independent velocities
and the time t + tau_k; tau is such that the pivot is ZONE or more on both sides. The error is that of interpolation of order 8,
and the rounding that of d = ZONE. Constraints that only come near to a crossing have a residual at the interpolated
configuration, larger than CROSSING: there the two sides are not one branch, and nothing is interpolated.
"""

import numpy as np

from dalembert.kernels.compiler import flat, inline, kernel
from dalembert.kernels.kinematics import displace, load_poses, normalise
from dalembert.kernels.minimal import maggi_rates
from dalembert.kernels.primitives import constraint_rows
from dalembert.kernels.project import project_constraints, worst_entry
from dalembert.kernels.solve import assemble_blocks, factor, pull_back_rows
from dalembert.kernels.tables import (
    METRIC_F,
    MINIMAL_I,
    MOTIONS,
    NQ,
    NU,
    OK,
    POSITIONS,
    W_A,
    W_ACC,
    W_G,
    Z_BRIDGE,
    M,
)
from dalembert.kernels.tangent_space import inner, spread, weakest_row

ZONE = 0.008
CROSSING = 1e-9
NODES = 8


@inline
def smallest_pivot(t, x, I, F, W, forces, callback):
    """Of the rows at this state; the blocks are factored there."""
    load_poses(x, I, F, W)
    forces(MOTIONS, t, I, F, W, callback)
    constraint_rows(I, F, W)
    pull_back_rows(I[W_A], I, F, W)
    assemble_blocks(I[METRIC_F], I, F, W)
    factor(I, F, W)
    return weakest_row(I, W)[1]


@inline
def node(k):
    """(tau_k / tau, L_k)"""
    j = k // 2
    weight = 0.8 if j == 0 else (-0.4 if j == 1 else (4.0 / 35.0 if j == 2 else -1.0 / 70.0))
    return (j + 1.0 if k % 2 == 0 else -1.0 - j), weight


@inline
def displaced(tau, x, I, F, W):
    """x <- the state that is kept aside, its configuration moved by tau u."""
    kept = I[I[MINIMAL_I] + Z_BRIDGE]
    for i in range(x.size):
        x[i] = W[kept + i]
    spread(x, I[NQ], I[W_ACC], I, F, W)
    displace(0, x, I[W_ACC], tau, I, F, W)


@inline
def bridge_span(t, x, I, F, W, forces, callback):
    """tau, or 0 where there is nothing to bridge; x is kept aside, and the sums over nodes behind it are cleared."""
    kept = I[I[MINIMAL_I] + Z_BRIDGE]
    for i in range(x.size):
        W[kept + i] = x[i]
        W[kept + x.size + i] = 0.0
        W[kept + 2 * x.size + i] = 0.0
    if I[M] == 0 or smallest_pivot(t, x, I, F, W, forces, callback) >= ZONE:
        return 0.0
    spread(x, I[NQ], I[W_ACC], I, F, W)
    speed = np.sqrt(inner(I[METRIC_F], I[W_ACC], I[W_ACC], I, F, W))
    tau, found = ZONE / speed if speed > 0.0 else 0.0, False
    for _ in range(100):
        low = 1.0
        for side in range(2):
            step = tau if side == 0 else -tau
            displaced(step, x, I, F, W)
            low = min(low, smallest_pivot(t + step, x, I, F, W, forces, callback))
        if low >= ZONE or not tau < 1e6:
            found = low >= ZONE
            break
        tau *= 1.1
    displaced(0.0, x, I, F, W)
    return tau if found else 0.0


@inline
def add_node(weight, x, I, W):
    """Sum of q and u over the nodes."""
    total = I[I[MINIMAL_I] + Z_BRIDGE] + x.size
    for i in range(I[NQ] + I[NU]):
        W[total + i] += weight * x[i]


@inline
def take_crossing(t, x, I, F, W, forces, callback):
    """x <- the interpolated q and u; whether it meets the constraints."""
    kept = I[I[MINIMAL_I] + Z_BRIDGE]
    for i in range(I[NQ] + I[NU]):
        x[i] = W[kept + x.size + i]
    normalise(x, I)
    load_poses(x, I, F, W)
    forces(POSITIONS, t, I, F, W, callback)
    constraint_rows(I, F, W)
    return worst_entry(I[W_G], I[M], W)[1] <= CROSSING


@flat
def project_across(tau, t, x, I, F, W, forces, callback):
    """(status, whether x was interpolated): x <- onto the constraints, from both sides where tau > 0."""
    crossed, count, k, status = tau > 0.0, NODES if tau > 0.0 else 1, 0, OK
    while k < count and status == OK:
        step, weight = node(k) if crossed else (0.0, 1.0)
        if tau > 0.0:
            displaced(step * tau, x, I, F, W)
        status = project_constraints(t + step * tau, x, I, F, W, forces, callback)
        if crossed:
            add_node(weight, x, I, W)
        k += 1
        if crossed and (k == count or status != OK):
            crossed = status == OK and take_crossing(t, x, I, F, W, forces, callback)
            if not crossed:
                k, count, status = 0, 1, OK
    return status, crossed


@kernel
def minimal_across(mode, t, x, dx, I, F, W, forces, callback):
    """`minimal` where singular configurations are passed. Status."""
    nq, nu, n = I[NQ], I[NU], x.size
    kept = I[I[MINIMAL_I] + Z_BRIDGE]
    sum_of_rates = kept + 2 * n
    tau = bridge_span(t, x, I, F, W, forces, callback)
    crossed, count, k, status = tau > 0.0, NODES if tau > 0.0 else 1, 0, OK
    while k < count and status == OK:
        step, weight = node(k) if crossed else (0.0, 1.0)
        displaced(step * tau, x, I, F, W)
        status = project_constraints(t + step * tau, x, I, F, W, forces, callback)
        add_node(weight, x, I, W)
        for i in range(nq, nq + nu):  # the independent velocities are those of the state
            x[i] = W[kept + i]
        if status == OK:
            status = maggi_rates(t + step * tau, x, dx, I, F, W, forces, callback)
        for i in range(n):
            W[sum_of_rates + i] += weight * dx[i]
        k += 1
        if crossed and (k == count or status != OK):
            crossed = status == OK and take_crossing(t, x, I, F, W, forces, callback)
            if not crossed:
                k, count, status = 0, 1, OK
                for i in range(n):
                    W[sum_of_rates + i] = 0.0
    for i in range(n):
        x[i], dx[i] = W[kept + i], W[sum_of_rates + i]
    return status
