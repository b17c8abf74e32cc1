"""One step of a discrete Lagrange-d'Alembert integrator for bodies on R^3 x S^3 [Variational, 4-7], by Newton's method.

A body moves from q_k to q_k+1 with the constant twist xi = (v, w_B): r + s v, theta exp(s w_B), so |theta| = 1 without effort;
planar bodies and point masses likewise. Nodes c_i and weights b_i of a quadrature give L_h and the virtual work of forces:

    L_h = h/2 xi . M xi - h sum b_i U(q_i),   q_i = q_k (+) c_i h xi,   phi = h w_B
    pi = M xi + S,   S = h sum b_i c_i dexp_{c_i phi} f_i,   E = h sum b_i exp(c_i phi) f_i
    p_k + A(q_k)^T lam = dexp_{-phi}^-1 pi - E          -D1 L_h - f^-
    p_k+1 = dexp_phi^-1 pi                               D2 L_h + f^+

f_i : wrench at (q_i, xi), body axes (translations: dexp and exp are 1). Rows must vanish in the mean along the curve. Holonomic
ones then hold at q_k+1 for any curve; nonholonomic ones are integrated by four Gauss nodes, error (h w)^8 / 2e9:

    g(q_k+1, t_k+1) = 0,       int_0^h (Gamma xi + gamma_t) ds = 0

For rolling on a plane at rest, where Gamma depends on the rotation alone, this is the end of the curve that turns with constant
w_B and obeys the constraint at every instant: [Variational, (72)]. Other curves that obey it, as that of a skate, end O(h^3)
away. At the nodes p = M u + A^T mu with A u + b = 0 makes momenta and velocities the same thing. Unknowns xi, lam.

Deviation: multipliers lam in the place of a basis X_i of ker A(q_k): what X_i . [..] = 0 leaves of [..] is A(q_k)^T lam.
Deviation: S^3 by its exponential instead of an additional row (66) in R^4. The matrix is exact but for what force elements add:
there differences, of bodies that share no force at once, and once for a step that contracts; in long runs exact too
(variational_forces.py). The solution does not depend on them.
"""

from dalembert.kernels.base.compiler import flat, inline, light
from dalembert.kernels.base.loops import add_multiple, clear, copy, minus_dot
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import BENDS, MOTIONS, OK, POSITIONS, STEP, WRENCH
from dalembert.kernels.base.views import Numbers, Wrenches
from dalembert.kernels.coordinates.choice import silence
from dalembert.kernels.coordinates.exponential import dexp, dexp_inverse, dexp_inverse_change, turned
from dalembert.kernels.coordinates.kinematics import count_turns, displace, load_angles, load_poses
from dalembert.kernels.coordinates.solve import (
    apply_inverse_metric,
    assemble_blocks,
    factor,
    metric_correction,
    pull_back_rows,
    velocity_residual,
)
from dalembert.kernels.formulations.constant_twist import (
    add_components,
    direction,
    freedoms,
    momentum_along,
    move,
    works_along,
)
from dalembert.kernels.formulations.discrete_newton import ALL, NONE, node_step
from dalembert.kernels.formulations.distribution import load_rows
from dalembert.kernels.formulations.jet import jet
from dalembert.kernels.formulations.pivots import watch_rows
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.mechanics.inertia import gravity, pull_back_wrenches

MEAN = 4  # Gauss nodes along a step for nonholonomic rows


@inline
def force_terms(t, h, x, z, S_out, E_out, y, system):
    """S_out, E_out <- S and E of all bodies at the velocities z; status, work of the forces."""
    status, work, bodies = OK, 0.0, 6 * (system.nb + 1)
    S, E = Wrenches(S_out, 0), Wrenches(E_out, 0)
    clear(S_out, bodies)
    clear(E_out, bodies)
    for k in range(system.nodes):
        c, weight = system.quadrature[k], h * system.quadrature[system.nodes + k]
        move(c * h, x, z, y, system)
        load_angles(y, system)
        gravity(system)
        seen = forces(WRENCH, t + c * h, system)
        status = seen if status == OK else status
        pull_back_wrenches(system)
        work += weight * system.count.power
        for body in system.bodies:
            s, e, turn = S[body.number], E[body.number], (c * h) * body.w
            s.force += (weight * c) * body.force
            e.force += weight * body.force
            s.torque += (weight * c) * dexp(turn, body.torque)
            e.torque += weight * turned(turn, body.torque)
    return status, work


@flat
def balance(h, differentiate, system):
    """Rows 0..nu-1: minus (dexp_{-phi}^-1 pi - E - p_k - A_k^T lam), and their derivatives without those of S and E."""
    nu, m, N, node = system.nu, system.m, system.unknowns, system.node
    matrix, residual, plane = node.matrix, node.residual, system.plane
    p, S, E = Wrenches(system.impulses.p, 0), Wrenches(system.impulses.S, 0), Wrenches(system.impulses.E, 0)
    for j in range(nu):
        s = 0.0
        for i in range(m):
            s += node.A[nu * i + j] * node.z[nu + i]
            if differentiate:
                matrix[N * j + nu + i] = -node.A[nu * i + j]
        residual[j] = s
    for body in system.bodies:
        b, turn = body.number, -h * body.w
        pi_v, pi_w = momentum_along(body, S)
        left_v = p[b].force + E[b].force - pi_v
        left_w = p[b].torque + E[b].torque - dexp_inverse(turn, pi_w)
        add_components(residual, 1, 1.0, left_v, left_w, body, plane)
        for c in range(freedoms(body) if differentiate else 0):
            d_v, d_w = direction(body, c, plane)
            change = dexp_inverse(turn, body.J @ d_w) + dexp_inverse_change(turn, pi_w, -h * d_w)
            add_components(matrix + (body.u + c), N, 1.0, body.m * d_v, change, body, plane)


@inline
def of_velocities(system):
    """Per row 1 where it is nonholonomic; before that nodes and weights of their mean."""
    return system.quadrature + (2 * system.nodes + 2 * MEAN)


@inline
def columns(system):
    """How many columns forces have, see `felt_by`."""
    return of_velocities(system) + system.m


@inline
def felt_by(k, system):
    """Of column k: c, and per body, the ground first, whose velocity c its forces feel in this column, or 0."""
    at = columns(system) + (1 + (system.nb + 2) * k)
    return int(at[0]), at + 1


@flat
def move_group(c, felt, sign, system):
    """z[u + c] of the bodies of a group <- a little more (sign 1), 1 over that in the second half of `pivots`; or as before."""
    z, kept, N = system.node.z, system.node.pivots, system.unknowns
    for body in system.bodies:
        j = body.u + c
        if int(felt[body.number]) == body.number:
            if sign == 1:
                kept[j] = z[j]
                z[j] += 1.5e-8 * max(1.0, abs(z[j]))
                kept[N + j] = 1.0 / (z[j] - kept[j])
            else:
                z[j] = kept[j]


@flat
def differentiate_forces(t, h, x, y, system):
    """D <- dexp_{-phi}^-1 dS - dE, by forward differences over xi, of all bodies of a group at once. Status."""
    made, status = system.impulses, OK
    S, S_other = Wrenches(made.S, 0), Wrenches(made.S_other, 0)
    E, E_other = Wrenches(made.E, 0), Wrenches(made.E_other, 0)
    clear(made.D, system.nu * system.nu)
    for k in range(int(columns(system)[0])):
        c, felt = felt_by(k, system)
        move_group(c, felt, 1, system)
        status, _ = force_terms(t, h, x, system.node.z, made.S_other, made.E_other, y, system)
        move_group(c, felt, 0, system)
        if status != OK:
            break
        for body in system.bodies:
            b, other = body.number, system.bodies[int(felt[body.number])]
            if other.number == 0:
                continue
            d_v = (S_other[b].force - S[b].force) - (E_other[b].force - E[b].force)
            d_S, d_E = S_other[b].torque - S[b].torque, E_other[b].torque - E[b].torque
            d_w = dexp_inverse(-h * body.w, d_S) - d_E
            inverse = system.node.pivots[system.unknowns + other.u + c]
            add_components(made.D + (other.u + c), system.nu, inverse, d_v, d_w, body, system.plane)
    return status


@inline
def add_rows(velocity, scale, along, s, differentiate, system):
    """Rows of A that are (or are not) of velocities: residual += -scale A xi where `along` is 0; matrix += scale A d, with d
    the change of xi (along 0) or of the pose after s (along 1) by a unit of xi."""
    nu, N, node = system.nu, system.unknowns, system.node
    for e in system.incidences:
        body = system.bodies[e.body]
        for i in range(e.n):
            row, a = nu + e.row + i, system.A[e.A + 6 * i]
            if of_velocities(system)[e.row + i] != velocity:
                continue
            if velocity == 1.0 and along == 0:
                node.residual[row] -= scale * works_along(a, body.v, body.w)
            for c in range(freedoms(body) if differentiate else 0):
                d_v, d_w = direction(body, c, system.plane)
                if along == 1:
                    d_w = dexp(-s * body.w, d_w)
                node.matrix[N * row + body.u + c] += scale * works_along(a, d_v, d_w)


@flat
def mean_rows(t, h, differentiate, x, y, system):
    """Rows nu..: minus the mean of g' along the curve: g(q_k+1) / h, the mean of Gamma xi + gamma_t by Gauss nodes."""
    nu, m, node = system.nu, system.m, system.node
    flags, r = of_velocities(system), node.residual + nu
    move(h, x, node.z, y, system)
    load_rows(POSITIONS, t + h, system)
    for i in range(m):
        r[i] = 0.0 if flags[i] == 1.0 else -system.g[i] / h
    add_rows(0.0, 1.0, 1, h, differentiate, system)
    for k in range(MEAN if system.nvelocity > 0 else 0):
        c, weight = flags[k - 2 * MEAN], flags[k - MEAN]
        move(c * h, x, node.z, y, system)
        forces(MOTIONS, t + c * h, system)
        pull_back_rows(system.A, system)
        for i in range(m):
            r[i] -= weight * system.g_t[i] * flags[i]
        add_rows(1.0, weight, 0, c * h, differentiate, system)
        if differentiate:
            forces(BENDS, t + c * h, system)
            pull_back_rows(system.A, system)
            add_rows(1.0, weight * c * h, 1, c * h, differentiate, system)
    silence(r, 0.0, system)
    for i in range(m if differentiate and system.nchoice > 0 else 0):  # idle rows have the multiplier 0
        if system.idle[i] != 0.0:
            row = node.matrix + system.unknowns * (nu + i)
            clear(row, nu)
            row[nu + i] = 1.0


@flat
def load_node(t, x, system):
    """p_k = M u, A_k, b_k, and the first guess: xi = u, lam = 0. Status."""
    nu, m, node = system.nu, system.m, system.node
    p = Wrenches(system.impulses.p, 0)
    copy(node.z, Numbers(x, system.nq), nu)
    clear(node.z + nu, m)
    load_poses(x, system)
    count_turns(x, system)
    for body in system.bodies:
        p[body.number].force, p[body.number].torque = body.m * body.v, body.J @ body.w
    load_rows(MOTIONS, t, system)
    if system.nchoice > 0 and system.choice.count == 0.0:
        assemble_blocks(system.masses, system)
        factor(0, system)
    copy(node.b, system.g_t, m)
    clear(node.A, m * nu)
    for e in system.incidences:
        for i in range(e.n):
            a = system.A[e.A + 6 * i]
            add_components(node.A + nu * (e.row + i), 1, 1.0, a.force, a.torque, system.bodies[e.body], system.plane)
    return OK


@flat
def assemble(t, h, differentiate, x, y, system):
    """node.residual <- minus the residual of the step from x, node.matrix <- its derivative if asked for. Status."""
    made = system.impulses
    status, made.work = force_terms(t, h, x, system.node.z, made.S, made.E, y, system)
    if differentiate != NONE:
        clear(system.node.matrix, system.unknowns * system.unknowns)
    balance(h, differentiate, system)
    if differentiate != NONE and system.nforce > 0 and status == OK:
        if differentiate == ALL and made.known == 0.0:
            status = differentiate_forces(t, h, x, y, system)
        made.known = 0.0  # it was found where the step began
        for i in range(system.nu):
            add_multiple(system.node.matrix + system.unknowns * i, 1.0, made.D + system.nu * i, system.nu)
    mean_rows(t, h, differentiate, x, y, system)
    return status


@flat
def store_node(t, h, x, y, system):
    """x <- (q_k+1, u from p_k+1, work, angles). Status."""
    m, nq, nu = system.m, system.nq, system.nu
    node, made, u = system.node, system.impulses, Numbers(x, nq)
    minus_p = Wrenches(made.p, 0)
    move(h, x, node.z, y, system)
    for body in system.bodies:
        pi_v, pi_w = momentum_along(body, Wrenches(made.S, 0))
        minus_p[body.number].force, minus_p[body.number].torque = -pi_v, -dexp_inverse(h * body.w, pi_w)
    copy(x, y, nq)
    clear(u, nu)
    for _ in range(2):  # u += M^-1 (p - M u); once alone, the rounding of M^-1 would act with the same sign in every step
        load_poses(x, system)
        for body in system.bodies:
            p_v, p_w = momentum_along(body, minus_p)
            body.force, body.torque = -p_v, -p_w
        apply_inverse_metric(system.masses, system.wrenches, system.accelerations, system)
        displace(1, x, system.accelerations, 1.0, system)
    load_poses(x, system)
    work = minus_dot(made.work, node.z + nu, node.b, m)
    load_rows(MOTIONS, t + h, system)
    assemble_blocks(system.masses, system)
    factor(0, system)
    for _ in range(2):  # the second time removes what rounding left
        velocity_residual(system.rhs, system)
        metric_correction(system.accelerations, system)
        displace(1, x, system.accelerations, 1.0, system)
        load_poses(x, system)
        work = minus_dot(work, system.rhs, system.g_t, m)
    x[nq + nu] += work
    snap_angles(x, system)
    watch_rows(t + h, system)
    return OK


@light
def variational_bodies(mode, t, x, dx, system):
    """STEP: x <- after a step of count.step, dx is lost. Else as `jet`."""
    if mode != STEP:
        return jet(mode, t, x, dx, system)
    return node_step(load_node, assemble, store_node, system.nu, 0, 0, 0, t, x, dx, system)
