"""Minimal coordinates of a tree with loops: minimal.py with the joint velocities of a spanning tree in place of the bodies'.

    M* u' = F* - N* u + G^T lam,  G u' + zeta + A B' u = 0        the matrices of frame_matrices.py, G = A B
    V = P Z,  u^ = V (Z^T V)^-1 (s' - Z^T p') + p',  u' = V y + p'',  V^T M* V y = V^T (F* - N* u^ - M* p'')

[QRContinuation, (9)-(15)] on relative coordinates. Without loops there are no rows, V = Z = 1 and s' = u: the equations of
motion of the tree. Dense, O(n^3): trees with few loops that need speed take MovingFrame.
"""

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import add_transposed, subtract_products
from dalembert.kernels.base.loops import add_multiple, clear, copy, negate, plus_dot
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import BENDS, MOTIONS, NON_FINITE
from dalembert.kernels.base.views import Numbers, rows_of
from dalembert.kernels.coordinates.cut_choice import subtract_cut_rows
from dalembert.kernels.coordinates.frame_matrices import (
    derivatives,
    fill_blocks,
    fill_forces,
    fill_reduced_matrix,
    multiply,
    reduced_matrix,
    right_hand_side,
    subtract_inertia,
)
from dalembert.kernels.coordinates.kinematics import load_angles
from dalembert.kernels.coordinates.tree import move_tree, place_bodies
from dalembert.kernels.formulations.minimal import solve_small
from dalembert.kernels.formulations.moving_frame import finish_rates
from dalembert.kernels.formulations.moving_frame_reference import external_wrenches
from dalembert.kernels.formulations.tree_tangent import (
    add_solution,
    cut_rows,
    factor_cut_rows,
    least_solution,
    onto_tangent,
    turn_column,
)
from dalembert.kernels.mechanics.primitives import constraint_rows, velocity_gradient_rows


@flat
def admissible_velocities(x, system):
    """The columns <- V, behind them u^."""
    z, n, f = system.minimal, system.nu, system.minimal.dof
    V, C, now = system.all + z.columns, system.all + z.small, Numbers(x, system.nq)
    c, u = C + (f * f + f), V + n * f
    least_solution(system.g_t, u, system)
    for j in range(f):
        v, basis = V + n * j, Numbers(x, z.basis + n * j)
        copy(v, basis, n)
        c[j] = 0.0
        for i in range(n):
            c[j] += basis[i] * (now[i] - u[i])
        onto_tangent(v, system)
        for i in range(j + 1):
            C[f * j + i] = plus_dot(0.0, V + n * i, v, n)
    solve_small(C, c, f)
    add_transposed(u, V, c, f, n)


@flat
def velocity_terms(t, x, system):
    """The last row below M* <- F* - N* u^, zeta <- zeta + A B' u^, with the velocities u^ in the state. Status."""
    status = external_wrenches(t, system)
    fill_blocks(x, system)
    multiply(derivatives(system), Numbers(x, system.nq), system.work, system)
    subtract_inertia(system.work, system)
    forces(MOTIONS, t, system)
    constraint_rows(system)
    negate(system.rhs, system.zeta, system.m)
    subtract_cut_rows(system.work, system.rhs, system)
    negate(system.zeta, system.rhs, system.m)
    fill_forces(system.wrenches, system)
    return status


@inline
def multiply_by_mass(v, out, system):
    """out <- M* v"""
    n, K = system.nu, reduced_matrix(system)
    for i in range(n):
        s = plus_dot(0.0, K + n * i, v, i)
        for e in range(i, n):
            s += K[n * e + i] * v[e]
        out[i] = s


@flat
def joint_accelerations(acc, system):
    """acc <- u' from M*, the row below it, zeta and the columns V; the row <- F* - N* u^ - M* u'."""
    z, n, f = system.minimal, system.nu, system.minimal.dof
    V, N, rest = system.all + z.columns, system.all + z.small, right_hand_side(system)
    c, y, Mv = N + (f * f + f), acc + n, acc + 2 * n
    least_solution(system.zeta, acc, system)
    multiply_by_mass(acc, Mv, system)
    add_multiple(rest, -1.0, Mv, n)
    for j in range(f):
        v = V + n * j
        multiply_by_mass(v, Mv, system)
        c[j] = plus_dot(0.0, v, rest, n)
        for i in range(j + 1):
            N[f * j + i] = plus_dot(0.0, V + n * i, Mv, n)
    solve_small(N, c, f)
    clear(y, n)
    add_transposed(y, V, c, f, n)
    add_multiple(acc, 1.0, y, n)
    multiply_by_mass(y, Mv, system)
    add_multiple(rest, -1.0, Mv, n)


@kernel
def minimal_tree(mode, t, x, dx, system):
    """dx <- rates of (q, u, external work, angles, s, ...) at x; the basis stays. Status."""
    system.count.rhs += 1.0
    z, nq, n, m = system.minimal, system.nq, system.nu, system.m
    f, now = z.dof, Numbers(x, nq)
    u = system.all + (z.columns + n * f)
    acc = u + n
    for i in range(nq + n, x.size):
        dx[i] = 0.0
    move_tree(x, dx, system)
    place_bodies(x, system)
    forces(MOTIONS, t, system)
    constraint_rows(system)
    fill_blocks(x, system)
    fill_reduced_matrix(system)
    factor_cut_rows(system)
    admissible_velocities(x, system)
    for i in range(n):  # the state takes u^ for a while
        u[i], now[i] = now[i], u[i]
    move_tree(x, dx, system)
    place_bodies(x, system)
    load_angles(x, system)
    status = velocity_terms(t, x, system)
    power = system.count.power
    joint_accelerations(acc, system)
    if system.nmotion + system.ntraced > 0:  # -lam . g_t, multipliers of M* u' = F* - N* u + G^T lam by least squares
        clear(system.rhs, m)
        subtract_products(system.rhs, cut_rows(system), right_hand_side(system), m, n)
        add_solution(acc + n, system)
        for r in range(m):
            power -= system.rhs[r] * system.g_t[r]
    copy(Numbers(dx, nq), acc, n)
    rows = rows_of(system.all + z.rows)
    if z.order < 0:
        velocity_gradient_rows(rows, system)
        forces(BENDS, t, system)
    for j in range(f):
        basis = Numbers(x, z.basis + n * j)
        if z.order < 0:
            basis = Numbers(x, z.carry + n * j)
            turn_column(basis, rows, acc, system)
            copy(Numbers(dx, z.carry + n * j), acc, n)
        dx[z.s + j] = plus_dot(dx[z.s + j], basis, now, n)
    finite = finish_rates(power, dx, system)
    copy(now, u, n)
    return status if finite else NON_FINITE
