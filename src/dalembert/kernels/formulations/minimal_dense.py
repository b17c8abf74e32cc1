"""The equations of minimal.py in dense algebra, written over operators (`maggi_rates`): rows and mass matrix are numbers.

For trees with loops (minimal_tree.py) and Lagrangian systems (lagrangian_minimal.py), O(n^3). Lengths are those of W =
diag(weights of the velocities), see dense_rows.py. M may be singular by itself (Euler parameters as coordinates): V^T M V is
what is solved.
"""

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.dense import add_transposed, multiply_symmetric, solve_definite
from dalembert.kernels.base.loops import add_multiple, clear, copy, minus_dot, plus_dot
from dalembert.kernels.base.tables import OK
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.dense_rows import least_solution, onto_tangent, remove_normal
from dalembert.kernels.coordinates.kinematics import finish_rates
from dalembert.kernels.formulations.continuation import weighted_product


@inline
def admissible_velocities(x, V, u, system):
    """V <- P Z, u <- u^"""
    k, n, f = system.minimal, system.nu, system.minimal.dof
    C, now = system.all + k.small, Numbers(x, system.nq)
    c = C + (f * f + f)
    least_solution(system.g_t, u, system)
    for j in range(f):
        v, basis = V + n * j, Numbers(x, k.basis + n * j)
        copy(v, basis, n)
        c[j] = weighted_product(basis, now, system) - weighted_product(basis, u, system)
        onto_tangent(v, system)
        for i in range(j + 1):
            C[f * j + i] = weighted_product(V + n * i, v, system)
    solve_definite(C, c, f)
    add_transposed(u, V, c, f, n)


@inline
def reduced_accelerations(V, rest, acc, system):
    """acc <- u' from M, h in rest, zeta and V; rest <- h - M u'. Behind acc are 2 n numbers to spare."""
    n, f, N = system.nu, system.minimal.dof, system.all + system.minimal.small
    c, y, Mv = N + (f * f + f), acc + n, acc + 2 * n
    least_solution(system.zeta, acc, system)
    multiply_symmetric(Mv, system.mass, acc, n)
    add_multiple(rest, -1.0, Mv, n)
    for j in range(f):
        v = V + n * j
        multiply_symmetric(Mv, system.mass, v, n)
        c[j] = plus_dot(0.0, v, rest, n)
        for i in range(j + 1):
            N[f * j + i] = plus_dot(0.0, V + n * i, Mv, n)
    solve_definite(N, c, f)
    clear(y, n)
    add_transposed(y, V, c, f, n)
    add_multiple(acc, 1.0, y, n)
    multiply_symmetric(Mv, system.mass, y, n)
    add_multiple(rest, -1.0, Mv, n)


@flat
def maggi_rates(rows_at, load, bend, tangent_rate, moving, t, x, dx, system):
    """dx <- rates of (q, u, external work, angles, s, ...) at x; the basis stays. Status.

    rows_at(t, x, dx, ..) : factors the rows at q, g_t; status;  load(t, x, dx, rest, ..) : mass, rest <- h, zeta, rates of q at
    the velocities in x; status, external power;  bend(t, ..), tangent_rate(z, out, ..) : see minimal_end.py;  moving : whether
    constraints may do work
    """
    k, nq, n, f = system.minimal, system.nq, system.nu, system.minimal.dof
    now, V = Numbers(x, nq), system.all + k.columns
    u, rest, acc = V + n * f, V + n * (f + 1), V + n * (f + 2)
    system.count.rhs += 1.0
    clear(Numbers(dx, nq + n), x.size - nq - n)
    status = rows_at(t, x, dx, system)
    admissible_velocities(x, V, u, system)
    for i in range(n):  # the state takes u^ for a while
        u[i], now[i] = now[i], u[i]
    seen, power = load(t, x, dx, rest, system)
    reduced_accelerations(V, rest, acc, system)
    if moving:  # -lam . g_t, multipliers of M u' = h + G^T lam by least squares
        for i in range(n):
            rest[i] /= system.constants[k.weight + i]
        remove_normal(rest, system)
        power = minus_dot(power, system.rhs, system.g_t, system.m)
    copy(Numbers(dx, nq), acc, n)
    if k.order < 0:
        bend(t, system)
    for j in range(f):
        basis = Numbers(x, (k.carry if k.order < 0 else k.basis) + n * j)
        if k.order < 0:
            tangent_rate(basis, acc, system)
            copy(Numbers(dx, k.carry + n * j), acc, n)
        dx[k.s + j] = weighted_product(basis, now, system)
    finished = finish_rates(OK, power, dx, system)
    copy(now, u, n)
    if status == OK:
        status = seen
    return status if status != OK else finished
