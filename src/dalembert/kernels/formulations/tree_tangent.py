"""The tangent space of the cut joints' rows in relative coordinates, dense: tangent_space.py for a tree with loops.

    G = A B, the rows of the cut joints in the joint velocities (frame_matrices.py);    W = 1, Euclidean in these
    P v = v - G^T (G G^T)^-1 G v        G^+ c = G^T (G G^T)^-1 c        G' y = A' B y + A B' y

Every solution is refined once, so that its error is that of an orthogonal factorisation [GolubVanLoan2013, 5.3].
"""

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.dense import add_transposed, solve_with_factor, subtract_products, weakest_dense_row
from dalembert.kernels.base.loops import clear, plus_dot
from dalembert.kernels.base.vectors import cross
from dalembert.kernels.base.views import twists_of
from dalembert.kernels.coordinates.cut_choice import factor_cut_schur
from dalembert.kernels.coordinates.frame_matrices import blocks, derivatives, multiply, reduced_matrix
from dalembert.kernels.coordinates.solve import product


@inline
def cut_rows(system):
    """G: m rows of nu numbers below M*."""
    return reduced_matrix(system) + system.nu * system.nu


@inline
def reach(r, system):
    """What |G_r|^2 could be if the row lay in the direction in which its bodies move most: |A|^2 |B|^2, parts apart.

    In relative coordinates a row itself can vanish in a singular configuration, so its own size tells nothing.
    """
    B, size = blocks(system), 0.0
    for side in range(2):
        k, a, v_2, w_2 = system.nu * system.cut[2 * r + side], system.A[12 * r + 6 * side], 0.0, 0.0
        for c in range(system.nu):
            v_2 += B[k + c].v @ B[k + c].v
            w_2 += B[k + c].w @ B[k + c].w
        size += v_2 * (a.force @ a.force)
        size += w_2 * (a.torque @ a.torque)
    return size


@inline
def factor_cut_rows(system):
    """schur <- root of G G^T; (row, value) of the smallest sqrt(pivot / reach)."""
    n, m, G, S = system.nu, system.m, cut_rows(system), system.schur
    for i in range(m):
        S[m * m + i] = reach(i, system)
        for j in range(i + 1):
            S[m * i + j] = plus_dot(0.0, G + n * i, G + n * j, n)
    system.count.factor += 1.0
    factor_cut_schur(system)
    return weakest_dense_row(S, m, S + m * m, 0)


@inline
def add_solution(out, system):
    """rhs <- (G G^T)^-1 rhs, then out += G^T rhs"""
    solve_with_factor(system.schur, system.rhs, system.m)
    add_transposed(out, cut_rows(system), system.rhs, system.m, system.nu)


@inline
def onto_tangent(v, system):
    """v <- P v"""
    for _ in range(2):
        clear(system.rhs, system.m)
        subtract_products(system.rhs, cut_rows(system), v, system.m, system.nu)
        add_solution(v, system)


@inline
def least_solution(c, out, system):
    """out <- -G^+ c"""
    clear(out, system.nu)
    for _ in range(2):
        for r in range(system.m):
            system.rhs[r] = -c[r] - plus_dot(0.0, cut_rows(system) + system.nu * r, out, system.nu)
        add_solution(out, system)


@inline
def turn_column(y, rows, out, system):
    """out <- -G^+ G' y [QRContinuation, (27)]; `rows` are those of d(A u + g_t)/dq, which with A (0, w x w_y) is A' B y.

    The twists of the bodies and B, B' belong to the velocities of the state.
    """
    A, along, across = system.A, system.work, twists_of(system.spare + 6 * (system.nb + 1))
    multiply(blocks(system), y, along, system)
    multiply(derivatives(system), y, across, system)
    for body in system.bodies:
        across[body.number].w += cross(body.w, along[body.number].w)
    for r in range(system.m):
        s = 0.0
        for side in range(2):
            b, at = system.cut[2 * r + side], 12 * r + 6 * side
            s += product(rows[at], along[b]) + product(A[at], across[b])
        system.zeta[r] = s
    least_solution(system.zeta, out, system)
