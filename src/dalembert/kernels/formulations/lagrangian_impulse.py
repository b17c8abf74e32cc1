"""Constraints at velocity level on Lagrangian systems: the steps of velocity_step.py in the dense algebra of lagrangian.py.

q' = v, so positions advance by h v; rows that were given for velocities have no g, it stays 0.
"""

from dalembert.kernels.base.compiler import flat, kernel
from dalembert.kernels.base.dense import add_transposed, factor_symmetric, solve_upper, solve_with_factor, subtract_products
from dalembert.kernels.base.loops import add_multiple, clear, copy
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import MOTION_PART, OK, ROWS_PART
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.dense_rows import add_reactions
from dalembert.kernels.coordinates.lagrangian import (
    accelerations,
    assemble_rows,
    evaluate_part,
    factor_mass,
    project_rows,
    store_outputs,
    store_rates,
)
from dalembert.kernels.formulations.velocity_step import compliance, mean_reactions, memory_of, velocity_level, wanted_rates


@flat
def start_step(t, x, dx, system):
    """Accelerations and multipliers at the start of a step. Status, power of the forces."""
    share = memory_of(x, system).share
    status = accelerations(t, x, dx, system)
    clear(share, system.nq)
    add_transposed(share, system.scaled, system.rhs, system.m, system.nq)
    solve_upper(system.root, share, system.nq)
    return status, system.energies.power


@flat
def solve_forces(system):
    """acc <- M^-1 (h + A^T lam) for lam in rhs."""
    copy(system.acc, system.h, system.nq)
    add_transposed(system.acc, system.jacobian, system.rhs, system.m, system.nq)
    factor_mass(system)
    solve_with_factor(system.root, system.acc, system.nq)


@flat
def free_rates(t, x, dx, system):
    """dx <- (v, M^-1 h, external power). Status."""
    system.count.rhs += 1.0
    status = evaluate_part(MOTION_PART, t, x, system)
    clear(system.rhs, system.m)
    solve_forces(system)
    return store_rates(x, dx, system.energies.power, status, system)


@flat
def soft_outputs(t, x, system):
    """rhs <- mean reaction of the step to x, acc <- M^-1 (h + A^T lam), and the rest of `store_outputs`. Status."""
    status = evaluate_part(MOTION_PART, t, x, system)
    mean_reactions(x, system)
    solve_forces(system)
    return status if status != OK else store_outputs(t, x, system)


@flat
def correct_velocities(t, h, x, system):
    """u* -> u+ by the impulses of the rows at the q in x, which are left in rhs."""
    n, m, d = system.nq, system.m, system.spare
    evaluate_part(MOTION_PART, t, x, system)
    callback(ROWS_PART, t, system, system.w_call)
    system.count.dg += 1.0
    system.count.factor += 1.0
    wanted_rates(h, x, system)
    factor_mass(system)
    assemble_rows(m, True, system)
    subtract_products(system.rhs, system.jacobian, Numbers(x, n), m, n)
    if system.soft_f > 0:
        for i in range(m):
            system.K[(m + 1) * i] += compliance(h, i, system)
    factor_symmetric(system.K, m, system.diag, system.eps_pivot)
    clear(d, n)
    add_reactions(m, d, system)
    solve_upper(system.root, d, n)
    add_multiple(Numbers(x, n), 1.0, d, n)


@flat
def advance_positions(t, h, x, system):
    """q <- q + h v; of compliant constraints g <- their residuals there. Power of the forces of these runs."""
    add_multiple(x, h, Numbers(x, system.nq), system.nq)
    if system.soft_f > 0:
        evaluate_part(MOTION_PART, t, x, system)
        callback(ROWS_PART, t, system, system.w_call)
    return system.energies.power


@flat
def leave(x, system):
    """Coordinates are as they are."""


@kernel
def lagrangian_impulse(mode, t, x, dx, system):
    """See `velocity_level`."""
    return velocity_level(
        start_step, free_rates, soft_outputs, project_rows, leave, correct_velocities, advance_positions, mode, t, x, dx, system
    )
