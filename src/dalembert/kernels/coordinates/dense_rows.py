"""Rows of constraints as m x nu numbers, of Lagrangian systems and of cut joints in joint velocities; their tangent space.

    G in `scaled`, root of S = G W^-1 G^T in `K`        P v = v - W^-1 G^T S^-1 G v        G^+ c = W^-1 G^T S^-1 c

W is 1, or L L^T of the mass matrix where rows G L^-T are in the place of G; of minimal coordinates, what each velocity weighs.
P and G^+ are refined once, so that their error is that of an orthogonal factorisation [GolubVanLoan2013, 5.3].
"""

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.dense import add_transposed, solve_with_factor, subtract_products
from dalembert.kernels.base.loops import clear, negate


@inline
def add_reactions(m, out, system):
    """rhs <- lam = (G G^T)^-1 rhs, out += G^T lam, for the first m rows"""
    solve_with_factor(system.K, system.rhs, m)
    add_transposed(out, system.scaled, system.rhs, m, system.nu)


@inline
def add_weighted(out, system):
    """rhs <- lam = S^-1 rhs, out += W^-1 G^T lam, W of minimal coordinates"""
    n, G, weight = system.nu, system.scaled, system.constants + system.minimal.weight
    solve_with_factor(system.K, system.rhs, system.m)
    for i in range(n):
        s = 0.0
        for r in range(system.m):
            s += G[n * r + i] * system.rhs[r]
        out[i] += s / weight[i]


@inline
def remove_normal(v, system):
    """v <- P v, not refined; rhs <- -S^-1 G v"""
    clear(system.rhs, system.m)
    subtract_products(system.rhs, system.scaled, v, system.m, system.nu)
    add_weighted(v, system)


@inline
def onto_tangent(v, system):
    """v <- P v"""
    remove_normal(v, system)
    remove_normal(v, system)


@inline
def least_solution(c, out, system):
    """out <- -G^+ c"""
    clear(out, system.nu)
    for _ in range(2):
        negate(system.rhs, c, system.m)
        subtract_products(system.rhs, system.scaled, out, system.m, system.nu)
        add_weighted(out, system)


@inline
def dual_vector(row, out, system):
    """out <- v with G v = e_row, orthogonal to all other rows"""
    clear(system.rhs, system.m)
    system.rhs[row] = 1.0
    clear(out, system.nu)
    add_weighted(out, system)
