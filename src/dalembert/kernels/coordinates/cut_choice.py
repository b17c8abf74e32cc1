"""The dense factorisation for the rows of cut joints, idle rows left out (choice.py)."""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.dense import dense_cholesky
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import CHOOSE
from dalembert.kernels.coordinates.choice import silence


@inline
def aside(system):
    """Where the matrix and its scales are kept while they are factored."""
    return system.idle + (2 * system.m + system.m * system.m)


@inline
def factor_cut_schur(system):
    """schur <- Cholesky factor of the m x m matrix there, its scales behind it."""
    m, S = system.m, system.schur
    if system.nchoice > 0:
        kept = aside(system)
        for i in range(m * m + m):
            kept[i] = S[i]
        silence(S + m * m, np.inf, system)
    dense_cholesky(S, m, S + m * m, system.eps_pivot)
    if system.nchoice > 0:
        forces(CHOOSE, 0.0, system)
