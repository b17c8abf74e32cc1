"""One step of a discrete Lagrange-d'Alembert integrator, by Newton's method with exact derivatives [Variational, 4-6].

    p_k + Lam_q + f_q + A(q_k)^T lam = 0,   Lam_u + f_u = 0                       (lagrangian/discrete.py)
    q_k+1 = E(q_k, u)  and   nothing more | g(q_k+1) = 0 | E(q_k, u) = phi_h(q_k, w), A w + b = 0

Unknowns u, pi, w, lam. At the nodes momenta and velocities are the same thing: p = L_v(q, v) + A^T mu, A v + b = 0.
Deviation: [Variational] starts from the discrete velocity; here (q, v) at t = 0 gives the momentum, which costs no order.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.loops import add_multiple, clear, copy, minus_dot, negate
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import (
    CLOSED_FORM,
    CURVE_PART,
    DISCRETE_PART,
    FLOW_PART,
    HOLONOMIC_END,
    MOMENTUM_PART,
    NON_FINITE,
    OK,
    ROWS_PART,
    STEP,
    TANGENT_FLOW,
)
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.lagrangian import evaluate_part, lagrangian, solve_motion, velocity_residual
from dalembert.kernels.formulations.constraint_flow import flow
from dalembert.kernels.formulations.discrete_newton import node_step


@inline
def first_multiplier(system):
    """Where lam lies among the unknowns and their columns."""
    return system.unknowns - system.m


@flat
def end_on_constraints(t, h, differentiate, system):
    """Rows g(q_k+1) = 0, at 2 n."""
    n, m, N = system.nq, system.m, system.unknowns
    node, discrete = system.node, system.discrete
    copy(system.point.q, discrete.E, n)
    callback(ROWS_PART, t + h, system, system.w_call)
    negate(node.residual + 2 * n, system.g, m)
    for i in range(m if differentiate else 0):
        for c in range(n):  # dE_j/du_c = -d(Lam_u)_c/dpi_j
            slope = minus_dot(0.0, system.jacobian + n * i, discrete.J + (2 * n * (n + c) + n), n)
            node.matrix[N * (2 * n + i) + c] = slope


@flat
def end_on_curve(t, h, differentiate, system):
    """Rows E = phi_h(q_k, w) at 2 n, A w + b = 0 at 3 n."""
    n, m, N = system.nq, system.m, system.unknowns
    node, discrete, stages = system.node, system.discrete, system.stages
    w, r = node.z + 2 * n, node.residual + 2 * n
    if system.flow == CLOSED_FORM:
        copy(system.point.q, node.q, n)
        copy(system.point.v, w, n)
        callback(CURVE_PART, t, system, system.w_call)
        end, d_end = system.curve.end, system.curve.d_end
        copy(system.jacobian, node.A, m * n)
        copy(system.g_t, node.b, m)
    else:
        flow(t, h, node.q, w, differentiate, system)
        end, d_end = stages.end, stages.d_end
        copy(system.point.q, stages.middle, n)
        copy(system.point.v, w, n)
        clear(system.step.lam, m)
        callback(FLOW_PART, t + 0.5 * h, system, system.w_call)
    for j in range(n):
        r[j] = end[j] - discrete.E[j]
    velocity_residual(r + n, w, system)
    if differentiate:
        for j in range(n):
            for c in range(n):
                row = node.matrix + N * (2 * n + j)
                row[c] = -discrete.J[2 * n * (n + c) + n + j]
                row[2 * n + c] = -d_end[n * j + c]
        for i in range(m):
            for c in range(n):
                s = system.jacobian[n * i + c]
                if system.flow == TANGENT_FLOW:
                    for k in range(n):
                        s += system.bend.rows[n * i + k] * stages.d_middle[n * k + c]
                node.matrix[N * (3 * n + i) + 2 * n + c] = s


@flat
def newton_system(t, h, differentiate, x, y, system):
    """Minus the residual of the discrete equations, and their matrix if asked for. Status."""
    n, m, N = system.nq, system.m, system.unknowns
    node, discrete, lam = system.node, system.discrete, first_multiplier(system)
    copy(system.point.q, node.q, n)
    copy(system.point.v, node.z, n)
    copy(system.step.pi, node.z + n, n)
    system.step.h = h
    callback(DISCRETE_PART, t, system, system.w_call)
    for j in range(n):
        s = node.p[j] + discrete.on_q[j]
        for i in range(m):
            s += node.A[n * i + j] * node.z[lam + i]
        node.residual[j] = -s
    negate(node.residual + n, discrete.on_u, n)
    if differentiate:
        clear(node.matrix, N * N)
        for i in range(2 * n):
            copy(node.matrix + N * i, discrete.J + 2 * n * i, 2 * n)
        for j in range(n):
            for i in range(m):
                node.matrix[N * j + lam + i] = node.A[n * i + j]
    if system.flow == HOLONOMIC_END:
        end_on_constraints(t, h, differentiate, system)
    elif system.flow >= TANGENT_FLOW:
        end_on_curve(t, h, differentiate, system)
    return OK


@flat
def load_node(t, x, system):
    """q_k, p_k = L_v, A_k, b_k, and the unknowns' first guess. Status."""
    n, m, node = system.nq, system.m, system.node
    status = evaluate_part(MOMENTUM_PART, t, x, system)
    callback(ROWS_PART, t, system, system.w_call)
    copy(node.q, x, n)
    copy(node.p, system.momentum, n)
    copy(node.z, Numbers(x, n), n)
    copy(node.z + n, system.momentum, n)
    if system.flow >= TANGENT_FLOW:
        copy(node.z + 2 * n, Numbers(x, n), n)
    clear(node.z + first_multiplier(system), m)
    copy(node.b, system.g_t, m)
    copy(node.A, system.jacobian, m * n)
    return status


@flat
def store_node(t, h, x, dx, system):
    """x <- (q_k+1, v from the momentum, work). Status."""
    n, m, node = system.nq, system.m, system.node
    v, dv, end = Numbers(x, n), system.acc, system.discrete.E
    if system.flow == TANGENT_FLOW:
        end = system.stages.end
    elif system.flow == CLOSED_FORM:
        end = system.curve.end
    x[2 * n] = minus_dot(x[2 * n] + system.discrete.work, node.z + first_multiplier(system), node.b, m)
    copy(x, end, n)
    copy(v, node.z, n)
    for _ in range(8):
        status = evaluate_part(MOMENTUM_PART, t + h, x, system)
        callback(ROWS_PART, t + h, system, system.w_call)
        for j in range(n):
            system.h[j] = node.z[n + j] - system.momentum[j]
        velocity_residual(system.bias, v, system)
        negate(system.bias, system.bias, m)
        solve_motion(system)
        add_multiple(v, 1.0, dv, n)
        change, size = 0.0, 0.0
        for j in range(n):
            change, size = max(change, abs(dv[j])), max(size, abs(v[j]))
        if not np.isfinite(change):
            status = NON_FINITE
        if not change > 1e-14 * size:
            break
    # p_k+1 + A^T mu = L_v: the other half of the impulse at a node
    x[2 * n] = minus_dot(x[2 * n], system.rhs, system.g_t, m)
    return status


@kernel
def variational(mode, t, x, dx, system):
    """STEP: x <- after a step of count.step, dx is lost. Else as for any Lagrangian system."""
    if mode != STEP:
        return lagrangian(mode, t, x, dx, system)
    n, last = system.nq, first_multiplier(system) if system.flow >= TANGENT_FLOW else 0
    return node_step(load_node, newton_system, store_node, n, 2 * n, last, system.m - system.rank, t, x, dx, system)
