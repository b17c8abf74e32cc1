"""Rows of cut joints: products with them, and the dense factorisation of their matrix, idle rows left out (choice.py).

Row r has the sides cut[r] to cut[r + 1], one per body that it acts on; the ground may be among them.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.dense import dense_cholesky, solve_with_factor
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import CHOOSE
from dalembert.kernels.coordinates.choice import silence
from dalembert.kernels.coordinates.solve import product


@inline
def subtract_cut_rows(twists, out, system):
    """out -= A u for the twists u of the bodies"""
    for r in range(system.m):
        out[r] -= row_product(r, twists, 0, 1, system)


@inline
def row_product(r, twists, at, stride, system):
    """A u of row r, the twist of body b being twists[stride b + at]."""
    s = 0.0
    for k in range(system.cut[r], system.cut[r + 1]):
        e = system.sides[k]
        s += product(system.A[e.A], twists[stride * e.body + at])
    return s


@inline
def aside(system):
    """Where the matrix and its scales are kept while they are factored."""
    return system.idle + (2 * system.m + system.m * system.m)


@inline
def factor_cut_schur(system):
    """K <- Cholesky factor of the m x m matrix there, its scales behind it."""
    m, S = system.m, system.K
    if system.nchoice > 0:
        copy(aside(system), S, m * m + m)
        silence(S + m * m, np.inf, system)
    dense_cholesky(S, m, S + m * m, system.eps_pivot)
    if system.nchoice > 0:
        forces(CHOOSE, 0.0, system)


@inline
def solve_cut_schur(system):
    """rhs <- S^-1 rhs for the matrix in K. A pivot is measured by what its row would feel if its bodies were free: joints
    only make it stiffer."""
    m, S = system.m, system.K
    for r in range(m):
        scale = 0.0
        for k in range(system.cut[r], system.cut[r + 1]):
            e = system.sides[k]
            a, mass = system.A[e.A], system.masses[e.body]
            if e.body > 0:
                scale += (mass.m_inv * a.force) @ a.force + (mass.J_inv @ a.torque) @ a.torque
        S[m * m + r] = scale
    factor_cut_schur(system)
    solve_with_factor(S, system.rhs, m)
