"""Rates in minimal coordinates of bodies: Maggi's equations in a basis fixed during a step [QRContinuation, 2.2-2.3].

    V = P Z                       Z the basis at the start of the step, P and G^+ at this configuration (tangent_space.py)
    s' = Z^T W u                  the independent velocities
    u^ = V (Z^T W V)^-1 (s' - Z^T W p') + p',   p'  = -G^+ g_t                                 (9)-(11)
    u' = V y + p'',               p'' = -G^+ zeta(u^),   V^T M V y = V^T (h(u^) - M p'')       (12)-(15)

Z is Q2 of the source, but for W^1/2; p', p'' are a velocity and an acceleration of the bodies, Q1 p', Q1 p'' of the source.
No multipliers. u^ is the one velocity with G u^ + g_t = 0 and Z^T W u^ = s', so a stage meets the velocity constraints exactly
and depends on q and s' alone: an ordinary differential equation on the constraints, whatever the Runge-Kutta method.
Deviation: V follows the configuration within a step, where (15) takes the basis at a step's start; with that every method of
order above one would lose its order.

Here G is block-sparse and V are twists of all bodies, O(n) per column. Trees with loops and Lagrangian systems have the same
equations in dense algebra (minimal_dense.py). The end of a step is written once for all three (minimal_end.py).
"""

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import solve_definite
from dalembert.kernels.base.loops import clear, minus_dot, plus_dot
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import MOTIONS, PLANAR, RIGID, WRENCH
from dalembert.kernels.base.views import Numbers, Pose, Twists
from dalembert.kernels.coordinates.kinematics import (
    count_turns,
    euler_parameter_rates,
    finish_rates,
    in_plane,
    load_angle_rates,
    load_poses,
)
from dalembert.kernels.coordinates.solve import (
    apply_inverse_metric,
    assemble_blocks,
    back_solve,
    clear_twists,
    factor,
    subtract_row_products,
    weakest_row,
)
from dalembert.kernels.formulations.continuation import weighted_product
from dalembert.kernels.formulations.distribution import load_rows, load_turns
from dalembert.kernels.formulations.tangent_space import (
    clear_rows,
    gather,
    inner,
    project_tangent,
    smallest_solution,
    spread,
    tangent_twist_rate,
)
from dalembert.kernels.mechanics.inertia import gravity_and_gyroscopic, pull_back_wrenches

POOR = 0.05  # smallest pivot below which every projection is done twice, where singular configurations are passed


@inline
def column(j, system):
    """Column j of V, numbers as twists of all bodies have them."""
    return system.all + (system.minimal.columns + 6 * (system.nb + 1) * j)


@inline
def add_columns(c, out, system):
    """out += V c"""
    for j in range(system.minimal.dof):
        v = Twists(column(j, system), 0)
        for b in range(1, system.nb + 1):
            out[b].v += c[j] * v[b].v
            out[b].w += c[j] * v[b].w


@inline
def factor_rows(t, x, system):
    """Poses, rows and the factored blocks at x."""
    load_poses(x, system)
    count_turns(x, system)
    load_rows(MOTIONS, t, system)
    assemble_blocks(system.metrics, system)
    factor(1, system)


@flat
def weakest_row_at(t, x, system):
    """`weakest_row_at` of minimal_end.py"""
    factor_rows(t, x, system)
    return weakest_row(system)


@flat
def admissible_twists(passes, moving, x, system):
    """Columns <- V, twists of the bodies <- u^."""
    k, n, f = system.minimal, system.nu, system.minimal.dof
    C, p = system.all + k.small, system.accelerations
    c = C + (f * f + f)
    if moving:
        smallest_solution(passes, system.g_t, p, system)
    else:
        clear_twists(p, system)
    for j in range(f):
        basis, v = Numbers(x, k.basis + n * j), Twists(column(j, system), 0)
        c[j] = weighted_product(basis, Numbers(x, system.nq), system)
        spread(basis, v, system)
        if moving:
            c[j] -= inner(v, p, system)
        project_tangent(passes, v, system)
        for i in range(j + 1):
            C[f * j + i] = inner(Twists(column(i, system), 0), v, system)
    solve_definite(C, c, f)
    for body in system.bodies:
        body.v, body.w = p[body.number].v, p[body.number].w
    add_columns(c, system.twists, system)


@inline
def find_unbalanced(system):
    """unbalanced <- h - M u'"""
    for body in system.bodies:
        rest = system.unbalanced[body.number]
        rest.force, rest.torque = body.force - body.m * body.dv, body.torque - body.J @ body.dw


@flat
def reduced_accelerations(passes, system):
    """Accelerations of the bodies <- u' from h, zeta and the columns V."""
    f, n, N = system.minimal.dof, 6 * system.nb, system.all + system.minimal.small
    c, product = N + (f * f + f), system.spare + 6 * (system.nb + 1)
    smallest_solution(passes, system.zeta, system.accelerations, system)
    find_unbalanced(system)
    for j in range(f):
        v, Mv = Twists(column(j, system), 0), Twists(product, 0)
        c[j] = 0.0
        for body in system.bodies:
            b, rest = body.number, system.unbalanced[body.number]
            c[j] += v[b].v @ rest.force + v[b].w @ rest.torque
            Mv[b].v, Mv[b].w = body.m * v[b].v, body.J @ v[b].w
        for i in range(j + 1):
            N[f * j + i] = plus_dot(0.0, column(i, system) + 6, product + 6, n)
    solve_definite(N, c, f)
    add_columns(c, system.accelerations, system)


@flat
def power_of_moving_constraints(system):
    """-lam . g_t with the multipliers of M u' = h + G^T lam by least squares: G W^-1 G^T lam = G W^-1 (M u' - h)."""
    clear_rows(system)
    find_unbalanced(system)
    apply_inverse_metric(system.metrics, system.unbalanced, system.work, system)
    subtract_row_products(system.A, system.work, system.rhs, False, system)
    back_solve(system.K, system.rhs, system)
    return minus_dot(0.0, system.rhs, system.g_t, system.m)


@flat
def carry_basis(passes, t, x, dx, system):
    """Rates of the basis that is carried along, Z' = -G^+ G' Z [QRContinuation, (27)], and of s: Z^T W u^."""
    k = system.minimal
    load_turns(t, system)
    z, turned = Twists(system.spare + 6 * (system.nb + 1), 0), Twists(column(0, system), 0)
    for j in range(k.dof):
        at = k.carry + system.nu * j
        spread(Numbers(x, at), z, system)
        dx[k.s + j] = inner(z, system.twists, system)
        tangent_twist_rate(passes, z, turned, system)
        gather(turned, Numbers(dx, at), system)


@flat
def store_configuration_rates(x, dx, system):
    """dx_q = N(q) u from the twists of the bodies."""
    for body in system.bodies:
        rate = Pose(dx, body.q)
        rate.r = in_plane(body.v, body.w, body, system.plane) if body.kind == PLANAR else body.v
        if body.kind == RIGID:
            rate.theta = euler_parameter_rates(Pose(x, body.q).theta, body.w)


@flat
def maggi_rates(t, x, dx, system):
    """dx <- rates of (q, u, external work, angles, s, ...) at x; the basis stays. Status."""
    k, nq, nu = system.minimal, system.nq, system.nu
    moving, velocities = system.nmotion + system.ntraced > 0, Numbers(x, system.nq)
    system.count.rhs += 1.0
    factor_rows(t, x, system)
    passes = 2 if k.passing and weakest_row(system)[1] < POOR else 1
    admissible_twists(passes, moving, x, system)
    load_angle_rates(x, system)
    gravity_and_gyroscopic(system)
    status = forces(WRENCH, t, system)
    pull_back_wrenches(system)
    load_rows(MOTIONS, t, system)  # zeta at u^
    power = system.count.power
    reduced_accelerations(passes, system)
    if moving:
        power += power_of_moving_constraints(system)
    clear(Numbers(dx, nq + nu), x.size - nq - nu)
    store_configuration_rates(x, dx, system)
    gather(system.accelerations, Numbers(dx, nq), system)
    status = finish_rates(status, power, dx, system)
    if k.order < 0:
        carry_basis(passes, t, x, dx, system)
    else:
        for j in range(k.dof):
            dx[k.s + j] = weighted_product(Numbers(x, k.basis + nu * j), velocities, system)
    return status


@kernel
def minimal(mode, t, x, dx, system):
    """`maggi_rates` as a slot."""
    return maggi_rates(t, x, dx, system)
