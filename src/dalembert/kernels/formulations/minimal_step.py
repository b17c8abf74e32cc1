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

from dalembert.kernels.base.algebra import dot3, load3
from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    B_KIND,
    B_U,
    BENDS,
    BF_NORMAL,
    BODY_F,
    BODY_F_W,
    BODY_I,
    BODY_I_W,
    E_A,
    E_BODY,
    E_N,
    E_ROW,
    INC_I,
    INC_I_W,
    INSIDE,
    MINIMAL_I,
    N_PASSAGES,
    NB,
    NEAR_SINGULAR,
    NINC,
    NQ,
    NU,
    OK,
    PLANAR,
    PLANE_F,
    POINT,
    W_A,
    W_STAT,
    Y_CHOICE,
    Y_JUMP,
    Y_PASSED,
    Y_PIVOT,
    Y_RESTARTS,
    Y_ROW,
    Y_TIME,
    Y_WHERE,
    Z_BASIS,
    Z_CARRY,
    Z_COLUMNS,
    Z_DENSE,
    Z_DOF,
    Z_GUARD,
    Z_KIND,
    Z_LIST,
    Z_MARKS,
    Z_NU,
    Z_ORDER,
    Z_PASS,
    Z_ROWS,
    Z_S_DOT,
    Z_SMALL,
    Z_WEIGHT,
    M,
)
from dalembert.kernels.base.views import Rows, Twists
from dalembert.kernels.coordinates.choice import choices
from dalembert.kernels.coordinates.solve import pull_back_rows, weakest_row
from dalembert.kernels.formulations.bridge import BLIND, bridge_span, project_across, smallest_pivot
from dalembert.kernels.formulations.continuation import exponential, orthonormalise
from dalembert.kernels.formulations.pivots import watch_rows
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.formulations.tangent_basis import eigen_basis, qr_basis, svd_basis
from dalembert.kernels.formulations.tangent_space import dual_vector, gather, inner, project_tangent, spread, turning
from dalembert.kernels.mechanics.primitives import velocity_gradient_rows

NEAR = 1e-5  # 1 / SINGULAR of diagnosis.py


@flat
def fill_jacobian(A, system):
    """W[A] <- G W^-1/2 in the velocities in use, m rows of Z_NU numbers."""
    I, F, W = system.I, system.F, system.W
    k = I[MINIMAL_I]
    n, m, row = I[k + Z_NU], I[M], I[k + Z_COLUMNS]
    for i in range(n * m):
        W[A + i] = 0.0
    for i in range(I[NU]):
        W[row + i] = -1.0
    for i in range(n):
        W[row + I[k + Z_LIST + i]] = i
    for e in range(I[NINC]):
        j = I[INC_I] + INC_I_W * e
        body = I[BODY_I] + BODY_I_W * I[j + E_BODY]
        kind, u = I[body + B_KIND], I[body + B_U]
        for r in range(I[j + E_N]):
            a, to = I[W_A] + I[j + E_A] + 6 * r, A + n * (I[j + E_ROW] + r)
            for i in range(3 if kind == PLANAR or kind == POINT else 6):
                value = W[a + i]
                if kind == PLANAR:
                    value = dot3(load3(F, I[PLANE_F] + 3 * i), load3(W, a))
                    if i == 2:
                        value = dot3(load3(F, I[BODY_F] + BODY_F_W * I[j + E_BODY] + BF_NORMAL), load3(W, a + 3))
                if W[row + u + i] >= 0.0:
                    W[to + int(W[row + u + i])] = value / np.sqrt(F[I[k + Z_WEIGHT] + u + i])


@flat
def fresh_basis(X, A, system):
    """W[X] <- f columns of NU numbers: a basis from the Jacobian alone."""
    I, F, W = system.I, system.F, system.W
    k = I[MINIMAL_I]
    n, f, m, nu = I[k + Z_NU], I[k + Z_DOF], I[M], I[NU]
    out = A + n * m + 2 * n * n + 2 * n + m
    fill_jacobian(A, system)
    if I[k + Z_KIND] == 0:
        qr_basis(A, n, m, f, out, W)
    elif I[k + Z_KIND] == 1:
        svd_basis(A, n, m, f, out, W)
    else:
        eigen_basis(A, n, m, f, out, W)
    for i in range(nu * f):
        W[X + i] = 0.0
    for j in range(f):
        for i in range(n):
            u = I[k + Z_LIST + i]
            W[X + nu * j + u] = W[out + n * j + i] / np.sqrt(F[I[k + Z_WEIGHT] + u])


@inline
def make_tangent(X, system):
    """W[X] <- the nearest orthonormal basis of the tangent space; True when there is one."""
    I = system.I
    k = I[MINIMAL_I]
    nu, f, v = I[NU], I[k + Z_DOF], I[k + Z_COLUMNS]
    for j in range(f):
        spread(system.W, X + nu * j, Twists(system.W, v), system)
        project_tangent(2, Twists(system.W, v), system)
        gather(Twists(system.W, v), system.W, X + nu * j, system)
    return orthonormalise(X, f, nu, I[k + Z_WEIGHT], I[k + Z_SMALL], system)


@inline
def turn_basis(X, out, system):
    """out <- -G^+ G' of every column at W[X]; W[Z_ROWS] holds the velocity gradient."""
    I = system.I
    k = I[MINIMAL_I]
    nu, v = I[NU], I[k + Z_COLUMNS]
    turned = v + 6 * (I[NB] + 1)
    for j in range(I[k + Z_DOF]):
        spread(system.W, X + nu * j, Twists(system.W, v), system)
        turning(2, Twists(system.W, v), Rows(system.W, I[k + Z_ROWS]), Twists(system.W, turned), system)
        gather(Twists(system.W, turned), system.W, out + nu * j, system)


@flat
def carried_basis(h, x, X, D, system):
    """W[X] <- the basis of the step's start, carried along the step to its end."""
    I, W = system.I, system.W
    k = I[MINIMAL_I]
    size, order = I[NU] * I[k + Z_DOF], I[k + Z_ORDER]
    if order < 0 or h == 0.0:  # h = 0 where an invariant has moved the end of a step
        for i in range(size):
            W[X + i] = x[(I[k + Z_CARRY] if order < 0 else I[k + Z_BASIS]) + i]
        return
    for i in range(size):
        W[D + i], W[D + size + i] = x[I[k + Z_BASIS] + i], x[I[k + Z_CARRY] + i]
        W[D + 2 * size + i], W[D + 3 * size + i] = 0.0, 0.0
        W[X + i] = W[D + i]
    if order == 4 and make_tangent(X, system):
        for i in range(size):
            W[D + 2 * size + i] = W[X + i]
        turn_basis(X, D + 3 * size, system)
    exponential(order, h, D, I[k + Z_DOF], I[NU], I[k + Z_WEIGHT], I[k + Z_SMALL], X, system)


@flat
def note_singular(t, pivot, y, x, system):
    """Near or across a singular configuration: NEAR_SINGULAR, or OK with a mark where such steps are passed."""
    I, W = system.I, system.W
    k = I[MINIMAL_I]
    across = False
    if I[M] > 0 and W[I[W_STAT] + INSIDE] == 0.0:  # between two steps the marks are mixed
        v = I[k + Z_COLUMNS]
        before = v + 6 * (I[NB] + 1)
        dual_vector(int(x[y + Y_ROW]), Twists(system.W, v), system)
        spread(x, I[k + Z_GUARD], Twists(system.W, before), system)
        across = inner(Twists(system.W, v), Twists(system.W, before), system) < 0.0
        noted = watch_rows(t, system)
        if x[y + Y_CHOICE] != choices(system):  # other rows act since the step began
            across = noted == 1
    if not (pivot < NEAR or across):
        return OK
    if I[k + Z_PASS] == 0:
        return NEAR_SINGULAR
    if x[y + Y_PIVOT] >= NEAR:
        x[y + Y_PASSED] += 1.0
        at = y + Y_WHERE + 2 * (int(x[y + Y_PASSED] - 1.0) % N_PASSAGES)
        x[at] = x[y + Y_TIME]
        x[at + 1] = t
    return OK


@kernel
def minimal_step(mode, t, x, dx, system):
    """x <- onto the constraints along Q1, its basis <- that of the tangent space there. Status."""
    I, F, W = system.I, system.F, system.W
    k = I[MINIMAL_I]
    nq, nu, f, y = I[NQ], I[NU], I[k + Z_DOF], I[k + Z_MARKS]
    first, tau, centre = x[y + Y_TIME] != x[y + Y_TIME], 0.0, 0.0
    if I[k + Z_PASS] and not first:
        tau, centre = bridge_span(t, x, system)
    status, crossed = project_across(tau, centre, t, x, system)
    snap_angles(x, system)
    if status != OK:
        return status
    smallest_pivot(t, x, system)
    row, pivot = weakest_row(system)
    if not first:
        status = note_singular(t, pivot, y, x, system)
    elif pivot < NEAR:
        status = NEAR_SINGULAR
    if I[k + Z_PASS] and pivot < BLIND and not crossed:
        status = NEAR_SINGULAR
    if status != OK:
        return status
    X = I[k + Z_DENSE]
    D = X + nu * f
    h = t - x[y + Y_TIME]
    velocity_gradient_rows(Rows(system.W, I[k + Z_ROWS]), system)
    forces(BENDS, t, system)
    pull_back_rows(Rows(system.W, I[k + Z_ROWS]), system)
    made = crossed
    if crossed:
        for i in range(nu * f):
            W[X + i] = x[(I[k + Z_CARRY] if I[k + Z_ORDER] < 0 else I[k + Z_BASIS]) + i]
        orthonormalise(X, f, nu, I[k + Z_WEIGHT], I[k + Z_SMALL], system)
    elif I[k + Z_ORDER] != 0 and not first:
        carried_basis(h, x, X, D, system)
        made = make_tangent(X, system)
        if not made:
            x[y + Y_RESTARTS] += 1.0
    if not made:
        fresh_basis(X, D, system)
        if pivot < NEAR or not make_tangent(X, system):
            return NEAR_SINGULAR
    for i in range(nu * f):
        x[I[k + Z_BASIS] + i] = W[X + i]
        x[I[k + Z_CARRY] + i] = W[X + i]
    if I[k + Z_ORDER] > 0:
        turn_basis(X, D, system)
        for i in range(nu * f):
            x[I[k + Z_CARRY] + i] = 0.0 if crossed else W[D + i]
    for j in range(f):
        s = 0.0
        for i in range(nu):
            s += W[X + nu * j + i] * F[I[k + Z_WEIGHT] + i] * x[nq + i]
        if not first:
            x[y + Y_JUMP] = max(x[y + Y_JUMP], abs(s - x[I[k + Z_S_DOT] + j]))
        x[I[k + Z_S_DOT] + j] = s
    if I[M] > 0:
        dual_vector(row, Twists(system.W, I[k + Z_COLUMNS]), system)
        gather(Twists(system.W, I[k + Z_COLUMNS]), x, I[k + Z_GUARD], system)
    x[y + Y_TIME], x[y + Y_PIVOT], x[y + Y_ROW], x[y + Y_CHOICE] = t, pivot, row, choices(system)
    return OK
