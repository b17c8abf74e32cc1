"""The end of a step in minimal coordinates of a tree with loops: minimal_step.py on joint coordinates.

    q <- q (+) d,  d = -G^+ g,  until the cut joints are closed;  then u <- u - G^+ (G u + g_t)             (17)-(19)

G^+ is that of tree_tangent.py, Euclidean in the joint velocities; q (+) d turns the quaternion of a ball joint by d. Then the
basis of the next step, and the watch for singular configurations, as in minimal_step.py.
"""

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.loops import clear, copy, plus_dot
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import BENDS, NEAR_SINGULAR, OK
from dalembert.kernels.base.views import Marks, Numbers, rows_of
from dalembert.kernels.coordinates.choice import choices
from dalembert.kernels.coordinates.frame_matrices import fill_blocks, fill_reduced_matrix
from dalembert.kernels.formulations.continuation import exponential, orthonormalise
from dalembert.kernels.formulations.minimal_step import NEAR
from dalembert.kernels.formulations.moving_frame import close_cut_joints
from dalembert.kernels.formulations.pivots import note_pivot
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.formulations.tangent_basis import null_basis
from dalembert.kernels.formulations.tree_tangent import add_solution, cut_rows, factor_cut_rows, onto_tangent, turn_column
from dalembert.kernels.mechanics.primitives import velocity_gradient_rows


@inline
def factor_rows_at(x, system):
    """B, B' and the factored rows of the poses and twists there are; (row, pivot) of the smallest pivot."""
    fill_blocks(x, system)
    fill_reduced_matrix(system)
    return factor_cut_rows(system)


@flat
def answer_along_rows(x, system):
    """u_dot <- G^+ rhs"""
    factor_rows_at(x, system)
    clear(system.u_dot, system.nu)
    add_solution(system.u_dot, system)


@inline
def tangent_columns(X, system):
    """X <- the nearest orthonormal basis of the tangent space; True when there is one."""
    for j in range(system.minimal.dof):
        onto_tangent(X + system.nu * j, system)
    return orthonormalise(X, system)


@inline
def turn_columns_of(X, out, system):
    """out <- -G^+ G' of every column of X"""
    rows = rows_of(system.all + system.minimal.rows)
    for j in range(system.minimal.dof):
        turn_column(X + system.nu * j, rows, out + system.nu * j, system)


@flat
def carried_columns(h, x, X, ends, system):
    """X <- the basis of the step's start, carried along the step to its end."""
    z = system.minimal
    size = system.nu * z.dof
    copy(ends, Numbers(x, z.basis), size)
    copy(ends + size, Numbers(x, z.carry), size)
    clear(ends + 2 * size, 2 * size)
    copy(X, ends + (size if z.order < 0 else 0), size)
    if z.order > 0:
        if z.order == 4 and tangent_columns(X, system):
            copy(ends + 2 * size, X, size)
            turn_columns_of(X, ends + 3 * size, system)
        exponential(h, ends, X, system)


@inline
def dual_column(row, out, system):
    """out <- v with G v = e_row, orthogonal to all other rows."""
    clear(out, system.nu)
    for r in range(system.m):
        system.rhs[r] = 1.0 if r == row else 0.0
    add_solution(out, system)


@flat
def is_singular(t, pivot, x, system):
    """The configuration is near a singular one, or the step led across one."""
    z, s = system.minimal, 0.0
    marks, v = Marks(x, z.marks), system.all + z.columns
    if system.m > 0 and marks.time == marks.time and system.count.inside == 0.0:  # between two steps the marks are mixed
        dual_column(int(marks.row), v, system)
        if marks.choice == choices(system):
            s = plus_dot(0.0, v, Numbers(x, z.guard), system.nu)
        note_pivot(t, int(marks.row), pivot, False, system)
    return pivot < NEAR or s < 0.0


@kernel
def minimal_tree_step(mode, t, x, dx, system):
    """x <- onto the cut joints along Q1, its basis <- that of the tangent space there. Status."""
    status = close_cut_joints(answer_along_rows, t, x, dx, system)
    snap_angles(x, system)
    if status != OK:
        return status
    row, pivot = factor_rows_at(x, system)
    z, n = system.minimal, system.nu
    f, marks = z.dof, Marks(x, z.marks)
    first = marks.time != marks.time
    if is_singular(t, pivot, x, system) and (first or z.passing == 0):
        return NEAR_SINGULAR
    X, basis, carry = system.all + z.dense, Numbers(x, z.basis), Numbers(x, z.carry)
    D = X + n * f
    velocity_gradient_rows(rows_of(system.all + z.rows), system)
    forces(BENDS, t, system)
    made = False
    if z.order != 0 and not first:
        carried_columns(t - marks.time, x, X, D, system)
        made = tangent_columns(X, system)
        if not made:
            marks.restarts += 1.0
    if not made:
        copy(D, cut_rows(system), n * system.m)
        null_basis(z.kind, D, n, system.m, f, X)
        if not tangent_columns(X, system):
            return NEAR_SINGULAR
    copy(basis, X, n * f)
    copy(carry, X, n * f)
    if z.order > 0:
        turn_columns_of(X, D, system)
        copy(carry, D, n * f)
    for j in range(f):
        s = plus_dot(0.0, X + n * j, Numbers(x, system.nq), n)
        if not first:
            marks.jump = max(marks.jump, abs(s - x[z.s_dot + j]))
        x[z.s_dot + j] = s
    if system.m > 0:
        dual_column(row, system.all + z.columns, system)
        copy(Numbers(x, z.guard), system.all + z.columns, n)
    marks.time, marks.pivot = t, pivot
    marks.row, marks.choice = row, choices(system)
    return OK
