"""Minimal coordinates of Lagrangian systems [QRContinuation, 2.2-2.5]: rows and their rates come from the generated code.

Operators of `maggi_rates` (minimal_dense.py) and of `end_step` (minimal_end.py).
"""

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import multiply, weakest_dense_row
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import MOTION_PART, PROJECT, ROWS_PART, TURN_PART
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.dense_rows import dual_vector, least_solution, onto_tangent
from dalembert.kernels.coordinates.lagrangian import evaluate_part, factor_all_rows, factor_rows, project_rows
from dalembert.kernels.formulations.minimal_dense import maggi_rates
from dalembert.kernels.formulations.minimal_end import end_step
from dalembert.kernels.formulations.tangent_basis import null_basis


@flat
def rows_at(t, x, dx, system):
    """Rows at x, factored. Status."""
    status = evaluate_part(ROWS_PART, t, x, system)
    factor_all_rows(False, system)
    return status


@flat
def load(t, x, dx, rest, system):
    """mass, zeta, rest <- h, rates of q. Status, external power."""
    status = evaluate_part(MOTION_PART, t, x, system)
    copy(rest, system.h, system.nq)
    copy(system.zeta, system.bias, system.m)
    copy(dx, Numbers(x, system.nq), system.nq)
    return status, system.energies.power


@flat
def bend(t, system):
    """A' at the point that the code was given."""
    callback(TURN_PART, t, system, system.w_call)


@inline
def tangent_rate(z, out, system):
    """out <- -A^+ A' z, how a tangent vector z must change to stay tangent (27)"""
    multiply(system.zeta, system.turn, z, system.m, system.nq)
    least_solution(system.zeta, out, system)


@flat
def close(first, t, x, dx, system):
    """(status, whether x was interpolated): x <- onto the constraints"""
    return project_rows(t, x, system), False


@flat
def weakest_row_at(t, x, system):
    """Rows at x, factored; row and size of the smallest pivot."""
    evaluate_part(ROWS_PART, t, x, system)
    factor_rows(system.m, False, system)
    return weakest_dense_row(system.K, system.m, system.diag, system.m - system.rank)


@flat
def fresh_basis(X, room, system):
    """X <- a basis from the rows alone, without those that depend on others"""
    n, m = system.nq, 0
    for i in range(system.m):
        if system.K[(system.m + 1) * i] != 0.0:
            copy(room + n * m, system.jacobian + n * i, n)
            m += 1
    null_basis(system.minimal.kind, room, n, m, system.minimal.dof, X)


@flat
def watch(t, row, pivot, system):
    return False


@kernel
def lagrangian_minimal(mode, t, x, dx, system):
    """RATE: dx <- rates in the basis that x holds. PROJECT: x <- onto the constraints, with the basis of the next step."""
    if mode == PROJECT:
        return end_step(
            close, weakest_row_at, bend, onto_tangent, tangent_rate, fresh_basis, dual_vector, watch, t, x, dx, system
        )
    return maggi_rates(rows_at, load, bend, tangent_rate, True, t, x, dx, system)
