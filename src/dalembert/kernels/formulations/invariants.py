"""Return to an invariant, f_inv = 0, along its gradient [JetMultibody, (5.5)].

    energy   f = T + U - W_ext - E_0          gradient in q: -(conservative wrench), in u: M u
    user     f(t, q, u) - f_0                 gradient by central differences in (dr, dphi_B) and (v, w_B)

Deviation: the gradient is that of f on the constraints: with G dq = 0 and the velocities that follow q (second derivatives
of g), so that Newton's method converges quadratically. In the whole space it does not, and may settle elsewhere.

W_ext is integrated with the state. Deviation: [JetMultibody] uses the trapezoidal rule, which is O(h^2) and would then be
enforced (errata).
"""

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.loops import clear, copy, plus_dot
from dalembert.kernels.base.slots import callback, forces
from dalembert.kernels.base.tables import BENDS, CALLBACK_FAILED, CONSERVATIVE, FIRST_INVARIANT, MOTIONS, OK, POTENTIAL
from dalembert.kernels.base.views import Twists, Wrenches
from dalembert.kernels.coordinates.kinematics import displace, load_angles, load_poses
from dalembert.kernels.coordinates.solve import (
    add_rows_transposed,
    apply_inverse_metric,
    assemble_blocks,
    back_solve,
    factor,
    subtract_row_products,
)
from dalembert.kernels.formulations.distribution import load_bends, load_rows
from dalembert.kernels.formulations.invariant_steps import state_size, step_to_invariants
from dalembert.kernels.formulations.tangent_space import clear_rows
from dalembert.kernels.mechanics.inertia import gravity, mechanical_energy, pull_back, pull_back_wrenches


@flat
def energy_residual(t, x, system):
    """T + U - W_ext - E_0 at the poses and angles in W, and the largest of the terms, which sets its rounding."""
    forces(POTENTIAL, t, system)
    T, U = mechanical_energy(system)
    U, work = U + system.count.power, x[system.nq + system.nu]
    return T + U - work - system.energy_0, max(max(system.energy_scale, T), max(abs(U), abs(work)))


@flat
def energy_gradient(t, gq, gu, system):
    """gq <- dU/dq (minus the conservative wrench), gu <- M u, per body and ground."""
    gravity(system)
    forces(CONSERVATIVE, t, system)
    pull_back_wrenches(system)
    for b in range(system.nb + 1):
        body = system.bodies[b]
        gq[b].force, gq[b].torque = -body.force, -body.torque
        gu[b].force, gu[b].torque = body.m * body.v, body.J @ body.w


@inline
def user_residual(k, t, x, system):
    """f_k(t, q, u) - f_k(0) and status."""
    copy(system.called, x, system.nx)
    status = callback(FIRST_INVARIANT + k, t, system, system.w_call)
    return system.called[system.nx] - system.kept[k], status


@inline
def user_gradient(k, t, x, system):
    """Central differences: variation.q and u <- the gradients. Status."""
    n, h, change = 6 * (system.nb + 1), 6e-6, system.variation
    d, kept = change.trial, change.x
    copy(kept, x, system.nx)
    clear(d, n)
    for c in range(6, n):
        d[c] = 1.0
        for level in range(2):
            values = 0.0
            for sign in (1.0, -1.0):
                displace(level, x, Twists(d, 0), sign * h, system)
                value, status = user_residual(k, t, x, system)
                values += sign * value
                copy(x, kept, system.nx)
                if status != OK:
                    return CALLBACK_FAILED
            gradient = change.q if level == 0 else change.u
            gradient[c] = values / (2.0 * h)
        d[c] = 0.0
    for body in system.bodies:
        pull_back(Wrenches(change.q, 0)[body.number], body, system.plane)
        pull_back(Wrenches(change.u, 0)[body.number], body, system.plane)
    return OK


@flat
def tangent_step(g, system):
    """g <- P W^-1 gradient, P = I - W^-1 A^T S^-1 A; returns gradient . step. Blocks are factored, Y = A W^-1."""
    n, d = 6 * system.nb, system.h + 6
    apply_inverse_metric(system.metrics, Wrenches(g, 0), system.displacements, system)
    clear_rows(system)
    subtract_row_products(system.Y, Twists(g, 0), system.rhs, False, system)
    back_solve(system.K, system.rhs, system)
    add_rows_transposed(system.Y, system.rhs, system.displacements, system)
    slope = plus_dot(0.0, g + 6, d, n)
    copy(g + 6, d, n)
    return slope


@flat
def newton_direction(t, gq, gu, system):
    """gq, gu <- direction on the constraints along which f grows fastest, from its gradients; returns the slope.

    G dq = 0 and G du + B dq = 0 with B = d(G u + g_t)/dq: velocities follow q, which changes f to first order as well.
    """
    slope = tangent_step(gu, system)  # leaves y = -S^-1 A W^-1 gu in rhs
    B = system.bends  # takes the place of A where there is none of its own
    load_bends(BENDS, t, system)
    system.count.d2g += 1.0
    add_rows_transposed(B, system.rhs, Twists(gq, 0), system)
    slope += tangent_step(gq, system)
    clear_rows(system)
    subtract_row_products(B, Twists(gq, 0), system.rhs, False, system)
    back_solve(system.K, system.rhs, system)
    add_rows_transposed(system.Y, system.rhs, Twists(gu, 0), system)
    return slope


@flat
def residual(k, t, x, dx, system):
    """f, the largest of its terms, status"""
    load_poses(x, system)
    load_angles(x, system)
    if k < 0:
        f, scale = energy_residual(t, x, system)
        return f, scale, OK
    f, status = user_residual(k, t, x, system)
    return f, max(1.0, abs(system.kept[k])), status


@flat
def direction(k, t, x, dx, system):
    """variation.q and u <- the direction along which f grows fastest; slope, size of the state, status"""
    gq, gu, status = system.variation.q, system.variation.u, OK
    if k < 0:
        energy_gradient(t, Wrenches(gq, 0), Wrenches(gu, 0), system)
    else:
        status = user_gradient(k, t, x, system)
        load_poses(x, system)
    load_rows(MOTIONS, t, system)
    assemble_blocks(system.metrics, system)
    factor(1, system)
    return newton_direction(t, gq, gu, system), state_size(x, system), status


@flat
def move(s, x, system):
    displace(0, x, Twists(system.variation.q, 0), s, system)
    displace(1, x, Twists(system.variation.u, 0), s, system)


@kernel
def correct_invariants(mode, t, x, dx, system):
    """One Newton step per invariant: MOVED when the constraints must be projected again, OK when all hold."""
    return step_to_invariants(residual, direction, move, t, x, dx, system)
