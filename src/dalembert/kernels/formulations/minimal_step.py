"""The end of a step in minimal coordinates of bodies: the operators of minimal_end.py over the block-sparse solve."""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.loops import clear
from dalembert.kernels.base.tables import PLANAR, RIGID
from dalembert.kernels.base.views import Twists
from dalembert.kernels.coordinates.kinematics import in_plane
from dalembert.kernels.formulations.bridge import across, bridge_span, no_visit
from dalembert.kernels.formulations.distribution import load_turns
from dalembert.kernels.formulations.minimal import column, weakest_row_at
from dalembert.kernels.formulations.minimal_end import end_step
from dalembert.kernels.formulations.pivots import watch_rows
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.formulations.tangent_basis import null_basis
from dalembert.kernels.formulations.tangent_space import dual_vector, gather, project_tangent, spread, tangent_twist_rate


@flat
def close(first, t, x, dx, system):
    """(status, whether x was interpolated): x <- onto the constraints"""
    tau, centre = 0.0, 0.0
    if system.minimal.passing and not first:
        tau, centre = bridge_span(t, x, system)
    status, crossed = across(no_visit, tau, centre, t, x, dx, system)
    snap_angles(x, system)
    return status, crossed


@inline
def onto_tangent(velocities, system):
    v = Twists(column(0, system), 0)
    spread(velocities, v, system)
    project_tangent(2, v, system)
    gather(v, velocities, system)


@inline
def tangent_rate(velocities, out, system):
    v, turned = Twists(column(0, system), 0), Twists(column(1, system), 0)
    spread(velocities, v, system)
    tangent_twist_rate(2, v, turned, system)
    gather(turned, out, system)


@inline
def dual_velocities(row, out, system):
    v = Twists(column(1, system), 0)
    dual_vector(row, v, system)
    gather(v, out, system)


@flat
def fill_jacobian(A, system):
    """A <- G W^-1/2 in the velocities in use, row by row."""
    n, weight, place = system.minimal.nu, system.constants + system.minimal.weight, column(0, system)
    clear(A, n * system.m)
    for i in range(system.nu):
        place[i] = -1.0
    for i in range(n):
        place[system.in_use[i]] = i
    for e in system.incidences:
        body = system.bodies[e.body]
        for r in range(e.n):
            a, to = system.A[e.A + 6 * r], A + n * (e.row + r)
            linear, angular = a.force, a.torque
            if body.kind == PLANAR:
                linear = in_plane(linear, angular, body, system.plane)
            for i in range(6 if body.kind == RIGID else 3):
                at = int(place[body.u + i])
                if at >= 0:
                    to[at] = (linear[i] if i < 3 else angular[i - 3]) / np.sqrt(weight[body.u + i])


@flat
def fresh_basis(X, A, system):
    """X <- a basis from the Jacobian alone; A : room for that"""
    n, m, f = system.minimal.nu, system.m, system.minimal.dof
    out, weight = A + (n * m + 2 * n * n + 2 * n + m), system.constants + system.minimal.weight
    fill_jacobian(A, system)
    null_basis(system.minimal.kind, A, n, m, f, out)
    clear(X, system.nu * f)
    for j in range(f):
        for i in range(n):
            u = system.in_use[i]
            X[system.nu * j + u] = out[n * j + i] / np.sqrt(weight[u])


@flat
def watch(t, row, pivot, system):
    return watch_rows(t, system) == 1


@kernel
def minimal_step(mode, t, x, dx, system):
    """x <- onto the constraints along Q1, its basis <- that of the tangent space there. Status."""
    return end_step(
        close, weakest_row_at, load_turns, onto_tangent, tangent_rate, fresh_basis, dual_velocities, watch, t, x, dx, system
    )
