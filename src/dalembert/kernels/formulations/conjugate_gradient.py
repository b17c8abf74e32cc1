"""S v = c by preconditioned conjugate gradients without forming S, as [JetMultibody, 5.1] solves it."""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.tables import (
    E_A,
    E_BODY,
    E_N,
    E_ROW,
    INC_I,
    INC_I_W,
    MASS_F,
    N_CG,
    NB,
    NCHOICE,
    NINC,
    OK,
    W_A,
    W_ACC,
    W_CG,
    W_RHS,
    W_STAT,
    W_Y,
    M,
)
from dalembert.kernels.coordinates.choice import choices, silence
from dalembert.kernels.coordinates.solve import add_rows_transposed, factor, subtract_row_products
from dalembert.kernels.formulations.distribution import prepare_solve, store_solution


@inline
def apply_schur(v, out, work, system):
    """W[out] <- A W^-1 A^T v, through one 6-vector per body at W[work]."""
    I, W = system.I, system.W
    for i in range(6 * (I[NB] + 1)):
        W[work + i] = 0.0
    add_rows_transposed(I[W_Y], v, work, system)
    for i in range(I[M]):
        W[out + i] = 0.0
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        b = work + 6 * I[k + E_BODY]
        for i in range(I[k + E_N]):
            a, s = I[W_A] + I[k + E_A] + 6 * i, 0.0
            for j in range(6):
                s += W[a + j] * W[b + j]
            W[out + I[k + E_ROW] + i] += s


@flat
def conjugate_gradient(system):
    """W_RHS <- S^-1 W_RHS to a relative residual of 1e-14, with Jacobi preconditioning.

    Stops at 1e-14, when no progress is left in double precision, or after 20 M iterations.
    """
    I, W = system.I, system.W
    m, x = I[M], I[W_RHS]
    r, z, p, s, d = I[W_CG], I[W_CG] + m, I[W_CG] + 2 * m, I[W_CG] + 3 * m, I[W_CG] + 4 * m
    work = I[W_CG] + 5 * m
    for i in range(m):
        W[d + i] = 0.0
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        for i in range(I[k + E_N]):
            for j in range(6):
                W[d + I[k + E_ROW] + i] += W[I[W_A] + I[k + E_A] + 6 * i + j] * W[I[W_Y] + I[k + E_A] + 6 * i + j]
    silence(d, np.inf, system)
    rz = 0.0
    for i in range(m):
        W[r + i] = W[x + i]
        W[x + i] = 0.0
        W[z + i] = W[r + i] / W[d + i]
        W[p + i] = W[z + i]
        rz += W[r + i] * W[z + i]
    stop = 1e-28 * rz
    for _ in range(20 * m):
        if not (rz > stop and np.isfinite(rz)):
            break
        apply_schur(p, s, work, system)
        ps = 0.0
        for i in range(m):
            ps += W[p + i] * W[s + i]
        if not ps > 0.0:
            break
        alpha, new = rz / ps, 0.0
        for i in range(m):
            W[x + i] += alpha * W[p + i]
            W[r + i] -= alpha * W[s + i]
            W[z + i] = W[r + i] / W[d + i]
            new += W[r + i] * W[z + i]
        for i in range(m):
            W[p + i] = W[z + i] + new / rz * W[p + i]
        rz = new
        W[I[W_STAT] + N_CG] += 1.0


@kernel
def jet_rate_by_cg(mode, t, x, dx, system):
    """The distribution with S solved by conjugate gradients; the slot's mode is always RATE."""
    I = system.I
    status = prepare_solve(t, x, system)
    if I[NCHOICE] > 0 and choices(system) == 0.0:
        factor(I[MASS_F], system)
    if status == OK:
        subtract_row_products(I[W_A], I[W_ACC], 6, I[W_RHS], False, system)
        conjugate_gradient(system)
        status = store_solution(x, dx, system)
    return status
