"""Return to an invariant, f_inv = 0, in relative coordinates [JetMultibody, (5.5)].

    energy   f = T + U - W_ext - E_0      h_q = -(conservative wrenches), h_u = momenta of the bodies
    user     f(t, q, u) - f_0             of the mechanism's own q and u, as in every formulation; central differences

With the gradients h_q in displacements and h_u in twists of the bodies, twists and displacements held, the step goes along

    M* dq = B^T h_q + G^T mu,                G dq = 0
    M* du = B^T (h_u - M c) + G^T lam,       G du = -(change of G u + g_t along dq),     c = change of B u along dq, u held

so that cut joints stay closed to first order; f changes by h_q . B dq + h_u . (B du + c), for the energy a sum of squares.
Each is the tree's response to wrenches: O(n). Deviation: the norm is the kinetic energy.
"""

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.loops import clear, copy, negate
from dalembert.kernels.base.slots import callback, forces
from dalembert.kernels.base.tables import FIRST_INVARIANT, MOTIONS, OK, RIGID
from dalembert.kernels.base.vectors import Quat, unit
from dalembert.kernels.base.views import Pose, Twists, Wrenches
from dalembert.kernels.coordinates.articulated import (
    accelerate_tree,
    add_body_accelerations,
    carry_wrenches,
    clear_forces,
    eliminate_tree,
    subtract_wrenches,
)
from dalembert.kernels.coordinates.cut_rows import subtract_cut_rows
from dalembert.kernels.coordinates.kinematics import euler_parameter_rates, load_angles, normalised
from dalembert.kernels.coordinates.solve import clear_twists, product
from dalembert.kernels.coordinates.tree import displace_tree, locate_tree, normalise_tree
from dalembert.kernels.coordinates.tree_states import absolute_state
from dalembert.kernels.formulations.invariant_steps import step_to_invariants
from dalembert.kernels.formulations.invariants import energy_gradient, energy_residual
from dalembert.kernels.formulations.moving_frame import solve_cut_rows
from dalembert.kernels.mechanics.inertia import mechanical_energy
from dalembert.kernels.mechanics.primitives import constraint_rows


@inline
def user_value(k, t, system):
    """f_k - f_k(0) at the state in `called`, and status."""
    status = callback(FIRST_INVARIANT + k, t, system, system.w_call)
    size = system.nq_body + system.nu_body + system.nx - system.nq - system.nu
    return system.called[size] - system.kept[k], status


@inline
def user_gradients(k, t, system):
    """correct <- df_k/d(dr, dphi_B), then df_k/d(v, w_B), by central differences at the state in `called`. Status."""
    h, n = 6e-6, 6 * (system.nb + 1)
    for body in system.bodies:
        q, u, rigid = system.called + body.q, system.called + (system.nq_body + body.u), body.kind == RIGID
        pose = Pose(q, 0)
        theta = pose.theta if rigid else Quat(1.0, 0.0, 0.0, 0.0)
        for i in range(12):
            c, turning = i % 6, 3 <= i < 6
            at, out = (q if i < 6 else u) + c, system.correct + ((0 if i < 6 else n) + 6 * body.number + c)
            out[0] = 0.0
            if c >= 3 and not rigid:
                continue
            value = at[0]
            for sign in (1.0, -1.0):
                at[0] = value + sign * h
                if turning:
                    pose.theta = normalised(theta + euler_parameter_rates(theta, sign * h * unit(c - 3)))
                f, status = user_value(k, t, system)
                if status != OK:
                    return status
                out[0] += sign * f / (2.0 * h)
            at[0] = value
            if turning:
                pose.theta = theta
    return OK


@flat
def change_along(t, x, dx, d, c, rows, keep, system):
    """c <- change of all twists, rows <- of G u + g_t per unit of the displacement d, u held. Poses are lost."""
    nq, m, largest, rhs = system.nq, system.m, 0.0, system.rhs
    for i in range(system.nu):
        largest = max(largest, abs(d[i]))
    step = 1e-5 / largest if largest > 0.0 else 0.0
    clear_twists(c, system)
    clear(rows, m)
    copy(keep, x, nq)
    for side in range(2 if largest > 0.0 else 0):
        scale = step if side == 0 else -step
        copy(system.u_dot, d, system.nu)
        displace_tree(0, x, scale, system)
        locate_tree(x, dx, system)
        for body in system.bodies:
            c[body.number].v += (1.0 / (2.0 * scale)) * body.v
            c[body.number].w += (1.0 / (2.0 * scale)) * body.w
        if m > 0:
            forces(MOTIONS, t, system)
            constraint_rows(system)
            negate(rhs, system.g_t, m)
            subtract_cut_rows(system.twists, rhs, system)
            for i in range(m):
                rows[i] -= rhs[i] / (2.0 * scale)
        copy(x, keep, nq)


@inline
def step_of(system):
    """The step (dq, du)."""
    return system.correct + 18 * (system.nb + 1)


@inline
def respond_to_wrenches(system):
    """u_dot and accelerations <- response of the tree at rest to the wrenches."""
    clear_forces(system)
    subtract_wrenches(system.wrenches, system)
    carry_wrenches(system)
    accelerate_tree(system.u_dot, 0.0, system)
    clear_twists(system.accelerations, system)
    add_body_accelerations(system.accelerations, 0.0, system)


@flat
def newton_direction(t, x, dx, hq, hu, d, system):
    """d <- dq and du from the gradients; returns the slope."""
    m, nu, A, rhs = system.m, system.nu, system.A, system.rhs
    c, rows, keep = Twists(system.correct + 12 * (system.nb + 1), 0), d + 2 * nu, d + (2 * nu + m)
    slope = 0.0
    for b in range(system.nb + 1):
        system.bodies[b].force, system.bodies[b].torque = hq[b].force, hq[b].torque
    clear(rows, m)
    for part in range(2):
        if m > 0:
            forces(MOTIONS, t, system)
            constraint_rows(system)
        eliminate_tree(system)
        respond_to_wrenches(system)
        if m > 0:
            negate(rhs, rows, m)
            subtract_cut_rows(system.accelerations, rhs, system)
            solve_cut_rows(system)
            for side in system.sides:
                body, row = system.bodies[side.body], A[side.A]
                body.force += rhs[side.row] * row.force
                body.torque += rhs[side.row] * row.torque
            respond_to_wrenches(system)
        for b in range(1, system.nb + 1):
            slope += product(hq[b] if part == 0 else hu[b], system.accelerations[b])
        copy(d + nu * part, system.u_dot, nu)
        if part == 0:
            change_along(t, x, dx, d, c, rows, keep, system)
            locate_tree(x, dx, system)
            for body in system.bodies:
                h, change = hu[body.number], c[body.number]
                body.force, body.torque = h.force - body.m * change.v, h.torque - body.J @ change.w
    for b in range(1, system.nb + 1):
        slope += product(hu[b], c[b])
    return slope


@flat
def residual(k, t, x, dx, system):
    """f, the largest of its terms, status"""
    locate_tree(x, dx, system)
    load_angles(x, system)
    if k < 0:
        f, scale = energy_residual(t, x, system)
        return f, scale, OK
    absolute_state(x, system)
    f, status = user_value(k, t, system)
    return f, max(1.0, abs(system.kept[k])), status


@flat
def direction(k, t, x, dx, system):
    """correct <- gradients, then the direction (dq, du) along which f grows fastest; slope, 1 + T, status"""
    hq, hu = Wrenches(system.correct, 0), Wrenches(system.correct, 6 * (system.nb + 1))
    T, _ = mechanical_energy(system)
    status = OK
    if k < 0:
        energy_gradient(t, hq, hu, system)
    else:
        status = user_gradients(k, t, system)
    return newton_direction(t, x, dx, hq, hu, step_of(system), system), 1.0 + T, status


@flat
def move(s, x, system):
    for level in range(2):
        copy(system.u_dot, step_of(system) + system.nu * level, system.nu)
        displace_tree(level, x, s, system)


@kernel
def correct_tree_invariants(mode, t, x, dx, system):
    """One Newton step per invariant: MOVED when the cut joints must be projected again, OK when all hold.

    In `correct` lie the gradients, the change of the twists, the step (dq, du), the change of the rows, and what q was.
    """
    normalise_tree(0.0, x, system)  # functions of theta may take its length for granted
    return step_to_invariants(residual, direction, move, t, x, dx, system)
