"""The end of a step in minimal coordinates [QRContinuation, 2.3, 2.5]: correction along Q1, then the basis of the next step.

    g(q (+) Q1 p, t) = 0 by Newton's method, then G u + g_t = 0 along Q1                              (17)-(19)
    Z_1 <- orthonormal(P_1 Y),  Y the basis Z_0 carried along the step (continuation.py), or factored afresh (tangent_basis.py)

Deviation: Q1 spans range(W^-1 G^T) at the uncorrected end of the step, where G is at hand, not at its start.

How near the configuration is to a singular one is read from the smallest pivot of G W^-1 G^T. What is left of that row without
the other rows vanishes in a singular configuration and comes back with the other sign. A step that ends where the pivot is
below 1 / SINGULAR, or across which what is left turns over, is refused or, with singular="pass", made (bridge.py) and marked.
Where a point was interpolated the tangent space is as good as not known: the basis is carried on and only made orthonormal.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.loops import clear, copy
from dalembert.kernels.base.tables import N_PASSAGES, NEAR_SINGULAR, OK, PLANAR, RIGID, Y_WHERE
from dalembert.kernels.base.views import Marks, Numbers, rows_of, twists_of
from dalembert.kernels.coordinates.choice import choices
from dalembert.kernels.coordinates.kinematics import in_plane
from dalembert.kernels.coordinates.solve import weakest_row
from dalembert.kernels.formulations.bridge import BLIND, bridge_span, project_across
from dalembert.kernels.formulations.continuation import exponential, orthonormalise, weighted_product
from dalembert.kernels.formulations.minimal import column, factor_rows, gradient_rows
from dalembert.kernels.formulations.pivots import watch_rows
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.formulations.tangent_basis import null_basis
from dalembert.kernels.formulations.tangent_space import dual_vector, gather, inner, project_tangent, spread, turning

NEAR = 1e-5  # 1 / SINGULAR of diagnosis.py


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


@inline
def make_tangent(X, system):
    """X <- the nearest orthonormal basis of the tangent space; True when there is one."""
    v = twists_of(column(0, system))
    for j in range(system.minimal.dof):
        velocities = X + system.nu * j
        spread(velocities, v, system)
        project_tangent(2, v, system)
        gather(v, velocities, system)
    return orthonormalise(X, system)


@inline
def turn_basis(X, out, system):
    """out <- -G^+ G' of every column of X; the gradient rows are there."""
    v, turned, rows = twists_of(column(0, system)), twists_of(column(1, system)), rows_of(system.all + system.minimal.rows)
    for j in range(system.minimal.dof):
        spread(X + system.nu * j, v, system)
        turning(2, v, rows, turned, system)
        gather(turned, out + system.nu * j, system)


@flat
def carried_basis(h, x, X, D, system):
    """X <- the basis of the step's start, carried along the step to its end; D : room for four of these"""
    k, size = system.minimal, system.nu * system.minimal.dof
    copy(X, Numbers(x, k.carry if k.order < 0 else k.basis), size)
    if k.order > 0 and h != 0.0:  # h = 0 where an invariant has moved the end of a step
        copy(D, Numbers(x, k.basis), size)
        copy(D + size, Numbers(x, k.carry), size)
        clear(D + 2 * size, 2 * size)
        if k.order == 4 and make_tangent(X, system):
            copy(D + 2 * size, X, size)
            turn_basis(X, D + 3 * size, system)
        exponential(h, D, X, system)


@flat
def note_singular(t, pivot, marks, x, system):
    """Near or across a singular configuration: NEAR_SINGULAR, or OK with a mark where such steps are passed."""
    k, across = system.minimal, False
    if system.m > 0 and system.count.inside == 0.0:  # between two steps the marks are mixed
        v, before = twists_of(column(0, system)), twists_of(column(1, system))
        dual_vector(int(marks.row), v, system)
        spread(Numbers(x, k.guard), before, system)
        across = inner(v, before, system) < 0.0
        noted = watch_rows(t, system)
        if marks.choice != choices(system):  # other rows act since the step began
            across = noted == 1
    if not (pivot < NEAR or across):
        return OK
    if k.passing == 0:
        return NEAR_SINGULAR
    if marks.pivot >= NEAR:
        marks.passed += 1.0
        where = Numbers(x, k.marks + Y_WHERE + 2 * (int(marks.passed - 1.0) % N_PASSAGES))
        where[0] = marks.time
        where[1] = t
    return OK


@kernel
def minimal_step(mode, t, x, dx, system):
    """x <- onto the constraints along Q1, its basis <- that of the tangent space there. Status."""
    k, nu, f = system.minimal, system.nu, system.minimal.dof
    marks, X, size = Marks(x, k.marks), system.all + k.dense, nu * f
    first, tau, centre = marks.time != marks.time, 0.0, 0.0
    if k.passing and not first:
        tau, centre = bridge_span(t, x, system)
    status, crossed = project_across(tau, centre, t, x, system)
    snap_angles(x, system)
    if status != OK:
        return status
    factor_rows(t, x, system)
    row, pivot = weakest_row(system)
    if not first:
        status = note_singular(t, pivot, marks, x, system)
    elif pivot < NEAR:
        status = NEAR_SINGULAR
    if k.passing and pivot < BLIND and not crossed:
        status = NEAR_SINGULAR
    if status != OK:
        return status
    gradient_rows(t, system)
    made, h = crossed, 0.0 if crossed else t - marks.time
    if crossed or (k.order != 0 and not first):
        carried_basis(h, x, X, X + size, system)
        if crossed:
            orthonormalise(X, system)
        else:
            made = make_tangent(X, system)
            marks.restarts += 0.0 if made else 1.0
    if not made:
        fresh_basis(X, X + size, system)
        if pivot < NEAR or not make_tangent(X, system):
            return NEAR_SINGULAR
    carry, s_dot = Numbers(x, k.carry), Numbers(x, k.s_dot)
    copy(Numbers(x, k.basis), X, size)
    copy(carry, X, size)
    if k.order > 0:
        turn_basis(X, carry, system)
    if k.order > 0 and crossed:
        clear(carry, size)
    for j in range(f):
        s = weighted_product(X + nu * j, Numbers(x, system.nq), system)
        if not first:
            marks.jump = max(marks.jump, abs(s - s_dot[j]))
        s_dot[j] = s
    if system.m > 0:
        v = twists_of(column(0, system))
        dual_vector(row, v, system)
        gather(v, Numbers(x, k.guard), system)
    marks.time, marks.pivot, marks.row = t, pivot, row
    marks.choice = choices(system)
    return OK
