"""Accelerations and multipliers at one state: the distribution of [JetMultibody, Algorithms 5.1 and 5.2].

    M u' = h + G^T lam,   G u' + zeta = 0      ->      S lam = -zeta - G M^-1 h,   S = G M^-1 G^T

Deviation: Newton-Euler variables (w_B instead of theta'), which give the same accelerations; S is factored
(conjugate gradients, the paper's way, are an option); lam has the sign of M u' = h + G^T lam (the paper's is opposite).
"""

from dalembert.kernels.base.compiler import flat, inline, once
from dalembert.kernels.base.loops import add_multiple, minus_dot, negate
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import MOTIONS, OK, POTENTIAL, TURNS, WRENCH
from dalembert.kernels.base.vectors import Vec3
from dalembert.kernels.coordinates.choice import silence
from dalembert.kernels.coordinates.kinematics import finish_rates, load_angle_rates, load_poses, store_rates
from dalembert.kernels.coordinates.solve import (
    add_rows_transposed,
    apply_inverse_metric,
    assemble_blocks,
    back_solve,
    factor,
    product,
    pull_back_rows,
    subtract_row_products,
    velocity_residual,
)
from dalembert.kernels.formulations.newton import largest
from dalembert.kernels.mechanics.inertia import gravity_and_gyroscopic, mechanical_energy, pull_back_wrenches
from dalembert.kernels.mechanics.primitives import constraint_rows, velocity_gradient_rows

LOST, ONE_SWEEP = 1e-12, 1e-7  # residuals over the size of their row: which is mended, and which by one sweep
SMALL_ROW = 1e-3  # size of a row over that of the largest, below which only the largest counts


@inline
def load_wrenches(t, x, system):
    """Poses, angles, wrenches. Status."""
    load_poses(x, system)
    load_angle_rates(x, system)
    gravity_and_gyroscopic(system)
    status = forces(WRENCH, t, system)
    pull_back_wrenches(system)
    return status


@inline
def load_rows(part, t, system):
    """Rows at the poses of the bodies; part : MOTIONS, or POSITIONS without the rows of velocities"""
    forces(part, t, system)
    constraint_rows(system)
    pull_back_rows(system.A, system)


@inline
def load_bends(mode, t, system):
    """bends <- rows of d(G u + g_t)/dq at the poses and twists of the bodies (BENDS), laid out like A, or of G' - G (0, w x .)
    along the motion (TURNS): the same, but where rows are of velocities alone"""
    velocity_gradient_rows(system.bends, system)
    if system.ntraced > 0:
        forces(mode, t, system)
    pull_back_rows(system.bends, system)


@flat
def load_turns(t, system):
    load_bends(TURNS, t, system)


@flat
def prepare_solve(t, x, system):
    """Poses, wrenches, rows, blocks; accelerations <- M^-1 h, rhs <- -zeta. Status."""
    status = load_wrenches(t, x, system)
    load_rows(MOTIONS, t, system)
    assemble_blocks(system.masses, system)
    apply_inverse_metric(system.masses, system.wrenches, system.accelerations, system)
    negate(system.rhs, system.zeta, system.m)
    return status


@flat
def respond(Y, system):
    """u' += Y^T lam, Y = A M^-1. Of hubs it is the unknown in rhs: sums of large forces lose digits where they are light."""
    rhs = system.rhs
    add_rows_transposed(Y, rhs, system.accelerations, system)
    for hub in system.hubs:
        u, x = system.accelerations[hub.body], hub.x
        u.v, u.w = Vec3(rhs[x], rhs[x + 1], rhs[x + 2]), Vec3(rhs[x + 3], rhs[x + 4], rhs[x + 5])


@flat
def solve_by_factor(system):
    """rhs <- lam, accelerations <- u' for rhs = -zeta and accelerations = M^-1 h, with hubs as unknowns."""
    factor(0, system)
    subtract_row_products(system.A, system.accelerations, system.rhs, True, system)
    for hub in system.hubs:
        wrench = system.wrenches[hub.body]
        for i in range(3):
            system.rhs[hub.x + i] = wrench.force[i]
            system.rhs[hub.x + 3 + i] = wrench.torque[i]
    back_solve(system.K, system.rhs, system)
    respond(system.Y, system)


@once
@inline
def unmet(r, loaded, system):
    """r <- -zeta - A u' of the rows that act, zero for hubs; the largest over |zeta| + |A| |u'| of its row, with |A| |M^-1 h|
    beside it where loaded, NaN where there is one. Of rows for which that is small beside others, rounding is left alone."""
    m, first, size, worst = system.m, system.m + 6 * system.nhub, 0.0, 0.0
    for i in range(first):
        r[i] = -system.zeta[i] if i < m else 0.0
    for i in range(m):
        r[first + i] = abs(r[i])
    for e in system.incidences:
        twist = system.accelerations[e.body]
        largest_v, largest_w = largest(twist.v), largest(twist.w)
        if loaded:
            largest_v += system.masses[e.body].m_inv * largest(system.wrenches[e.body].force)
            largest_w += largest(system.masses[e.body].J_inv @ system.wrenches[e.body].torque)
        for i in range(e.n):
            row = system.A[e.A + 6 * i]
            r[e.row + i] -= product(row, twist)
            r[first + e.row + i] += largest(row.force) * largest_v + largest(row.torque) * largest_w
    silence(r, 0.0, system)
    for i in range(m):
        size = max(size, r[first + i])
    for i in range(m):
        share = abs(r[i]) / (r[first + i] + SMALL_ROW * size + 1e-300)
        if not share <= worst:
            worst = share
            if share != share:  # the next entry would hide it
                break
    return worst


@flat
def refine(system):
    """u', lam <- u' + M^-1 A^T d, lam + d with S d = r = -zeta - A u': light bodies between heavy ones have lost digits of both
    [GolubVanLoan2013, 3.5.3]. Not where r is what even masses leave too; a sweep makes about r^2 of r, over its row's size."""
    m, lam, r = system.m, system.rhs, system.cg
    for _ in range(system.refine):
        worst = unmet(r, False, system)
        if not worst > LOST:
            break
        for i in range(m + 6 * system.nhub):
            lam[i], r[i] = r[i], lam[i]
        back_solve(system.K, system.rhs, system)
        add_multiple(lam + m, 1.0, r + m, 6 * system.nhub)
        respond(system.Y, system)
        add_multiple(lam, 1.0, r, m)
        if worst <= ONE_SWEEP:
            break


@flat
def store_solution(x, dx, system):
    """dx <- (N u, u', external power, angle rates) from lam and u'. Status."""
    count, lam = system.count, system.rhs
    count.rhs += 1.0
    refine(system)
    power = minus_dot(count.power, lam, system.g_t, system.m)  # moving constraints work too: u . G^T lam = -lam . g_t
    return store_motion(x, dx, power, system)


@inline
def store_motion(x, dx, power, system):
    """dx <- (N u, accelerations, power, angle rates). Status."""
    store_rates(x, dx, system.accelerations, system)
    return finish_rates(OK, power, dx, system)


@flat
def store_outputs(t, system):
    """zeta <- G u + g_t of the rows that act, count.kinetic and count.potential <- T and U."""
    velocity_residual(system.zeta, system)
    negate(system.zeta, system.zeta, system.m)
    silence(system.zeta, 0.0, system)
    forces(POTENTIAL, t, system)
    T, U = mechanical_energy(system)
    count = system.count
    count.kinetic = T
    count.potential = U + count.power
