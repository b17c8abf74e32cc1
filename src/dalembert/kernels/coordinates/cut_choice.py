"""The dense factorisation for the rows of cut joints, idle rows left out (choice.py)."""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.dense import dense_cholesky
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import CHOOSE, EPS_PIVOT, H_IDLE, NCHOICE, W_CHOICE, W_SCHUR, M
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.choice import silence


@inline
def aside(system):
    """Where the matrix and its scales are kept while they are factored."""
    I = system.I
    return I[W_CHOICE] + H_IDLE + 2 * I[M] + I[M] * I[M]


@inline
def factor_cut_schur(system):
    """W_SCHUR <- Cholesky factor of the m x m matrix there, its scales behind it."""
    I, F, W = system.I, system.F, system.W
    m, S = I[M], I[W_SCHUR]
    if I[NCHOICE] > 0:
        for i in range(m * m + m):
            W[aside(system) + i] = W[S + i]
        silence(S + m * m, np.inf, system)
    dense_cholesky(Numbers(W, S), m, Numbers(W, S + m * m), F[EPS_PIVOT])
    if I[NCHOICE] > 0:
        forces(CHOOSE, 0.0, system)
