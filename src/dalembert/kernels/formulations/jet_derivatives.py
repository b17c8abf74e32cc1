"""The slot of `jet` for numbers with derivatives: equations are solved without, their derivatives follow from what is left.

    S dlam = dr,   du' = d(M^-1 (h + A^T lam)) + M^-1 A^T dlam,      r = -zeta - A M^-1 (h + A^T lam)

with the factors of S and with lam kept as it is in r [GriewankWalther2008, 15]: nothing is factored with derivatives. Of hubs
the unknowns are accelerations, and W_h u_h = h_h + A_h^T lam leaves the residual. Values are those of `jet`, to the last bit.
"""

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.dual import value_of, values_of
from dalembert.kernels.base.loops import minus_dot, negate
from dalembert.kernels.base.tables import MOTIONS, PROJECT
from dalembert.kernels.coordinates.kinematics import normalise
from dalembert.kernels.coordinates.solve import (
    add_rows_transposed,
    apply_inverse_metric,
    assemble_blocks,
    back_solve,
    subtract_row_products,
)
from dalembert.kernels.formulations.distribution import load_rows, load_wrenches, refine, respond, solve_by_factor, store_motion
from dalembert.kernels.formulations.newton import restore, rounding
from dalembert.kernels.formulations.project import correct, factor_metric, locate, snap_angles


@flat
def take_values(values, numbers, n):
    for i in range(n):
        values[i] = value_of(numbers[i])


@flat
def put_values(numbers, values, n):
    """Into numbers that keep their derivatives."""
    for i in range(n):
        numbers[i] = values[i] + (numbers[i] - value_of(numbers[i]))


@flat
def solve_values(system, plain):
    """Multipliers and accelerations without derivatives."""
    take_values(plain.zeta, system.zeta, system.m)
    take_values(plain.h, system.h, 6 * (system.nb + 1))
    for e in system.incidences:
        take_values(plain.jacobian + e.A, system.jacobian + e.A, 6 * e.n)
    assemble_blocks(plain.masses, plain)
    apply_inverse_metric(plain.masses, plain.wrenches, plain.accelerations, plain)
    negate(plain.rhs, plain.zeta, plain.m)
    solve_by_factor(plain)
    refine(plain)


@flat
def solve_derivatives(system, plain):
    """The same with derivatives, from those of what is left of the equations."""
    rhs, m = system.rhs, system.m
    add_rows_transposed(system.A, plain.rhs, system.displacements, system)  # in the place of wrenches
    apply_inverse_metric(system.masses, system.wrenches, system.accelerations, system)
    for hub in system.hubs:
        f, u, M = system.wrenches[hub.body], plain.accelerations[hub.body], system.masses[hub.body]
        force, torque, a = f.force - M.m * u.v, f.torque - M.J @ u.w, system.accelerations[hub.body]
        a.v, a.w = u.v, u.w
        for i in range(3):
            rhs[hub.x + i] = force[i]
            rhs[hub.x + 3 + i] = torque[i]
    negate(rhs, system.zeta, m)
    subtract_row_products(system.A, system.accelerations, rhs, False, system)
    back_solve(plain.K, rhs, system)
    respond(plain.Y, system)
    put_values(rhs, plain.rhs, m)
    put_values(system.acc, plain.acc, 6 * system.nb)


@kernel
def jet_derivatives(mode, t, x, dx, system):
    """RATE, PROJECT: as `jet`, but for the watch over the rows, which is kept without derivatives."""
    if mode == PROJECT:
        normalise(x, system)
        same = system.nvelocity == 0
        status, _ = restore(locate, factor_metric, correct, rounding, True, same, t, x, x, system)
        snap_angles(x, system)
        return status
    count, plain = system.count, values_of(system)
    status = load_wrenches(t, x, system)
    load_rows(MOTIONS, t, system)
    if system.solved == 0:
        solve_values(system, plain)
        count.factor += 1.0
        count.dependent = max(count.dependent, plain.count.dependent)
    solve_derivatives(system, plain)
    count.rhs += 1.0
    power = minus_dot(count.power, system.rhs, system.g_t, system.m)
    solved = store_motion(x, dx, power, system)
    return solved if status == 0 else status
