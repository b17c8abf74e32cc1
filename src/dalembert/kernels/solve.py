"""The block-sparse solve: S = G W^-1 G^T, with bodies of many joints kept as nodes of the KKT graph.

Unknowns are the multipliers of the constraint nodes and, for every hub h, its accelerations:

    sum_e A_e W^-1 A_e^T lam + A_h u_h = c          W_h u_h - A_h^T lam = h_h

The elimination order and every target of every update were planned once (plan.py); the numeric phase walks a tape of
integers. Stored blocks are positive (S, W_h, A_h); the signs of the saddle point are in the tape. A vanishing pivot means a
row that depends on the rows before it: its multiplier is set to zero and it is counted.

Tape, per node k: n_k, offset of its diagonal block, its first unknown, number of blocks below, number of updates;
per block below (i, k): n_i, offset, first unknown of i, sign in the forward, sign in the backward substitution;
per update (i, j, k): offsets of blocks (i, k), (j, k), (i, j), n_i, n_j, sign, 1 when i = j.
"""

import numpy as np

from dalembert.kernels.algebra import dot3, load3, load6, scale3, store3, sym_mul
from dalembert.kernels.compiler import flat, inline
from dalembert.kernels.inertia import pull_back
from dalembert.kernels.tables import (
    B_KIND,
    BODY_I,
    BODY_I_W,
    E_A,
    E_BODY,
    E_HUB,
    E_N,
    E_ROW,
    EPS_PIVOT,
    HUB_I,
    HUB_I_W,
    HUB_INC_I,
    HUB_INC_I_W,
    INC_I,
    INC_I_W,
    K_SIZE,
    METRIC_W,
    MJ,
    MJ_INV,
    MM,
    MM_INV,
    N_DEPENDENT,
    N_FACTOR,
    NB,
    NHUB,
    NHUB_INC,
    NINC,
    NNODE,
    NODE_I,
    NPAIR,
    PAIR_I,
    PAIR_I_W,
    Q_DIAGONAL,
    Q_E1,
    Q_E2,
    Q_K,
    RIGID,
    U_BODY,
    U_K,
    U_X,
    V_E,
    V_HUB_ROWS,
    V_K,
    W_A,
    W_DIAG,
    W_K,
    W_RHS,
    W_STAT,
    W_Y,
    M,
)


@inline
def pull_back_rows(a_base, I, F, W):
    """Rows of planar bodies and point masses keep only the directions in which these can move."""
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        b = I[k + E_BODY]
        if I[I[BODY_I] + BODY_I_W * b + B_KIND] != RIGID:
            for i in range(I[k + E_N]):
                pull_back(a_base + I[k + E_A] + 6 * i, b, I, F, W)


@inline
def apply_inverse(metric, b, v, w, F):
    """(v / m, J^-1 w) in the metric table at F[metric]"""
    m = metric + METRIC_W * b
    return scale3(F[m + MM_INV], v), sym_mul(load6(F, m + MJ_INV), w)


@inline
def assemble_blocks(metric, I, F, W):
    """W_Y <- A W^-1, W_K <- S on the constraint nodes, A_h and W_h on the hubs, W_DIAG <- diagonal of S and W_h."""
    K, scale = I[W_K], I[W_DIAG]
    for i in range(I[K_SIZE]):
        W[K + i] = 0.0
    for i in range(I[M]):
        W[scale + i] = 0.0
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        for i in range(I[k + E_N]):
            a, y = I[W_A] + I[k + E_A] + 6 * i, I[W_Y] + I[k + E_A] + 6 * i
            v, w = apply_inverse(metric, I[k + E_BODY], load3(W, a), load3(W, a + 3), F)
            store3(W, y, v)
            store3(W, y + 3, w)
            W[scale + I[k + E_ROW] + i] += dot3(v, load3(W, a)) + dot3(w, load3(W, a + 3))
    for p in range(I[NPAIR]):
        k = I[PAIR_I] + PAIR_I_W * p
        e1, e2 = I[INC_I] + INC_I_W * I[k + Q_E1], I[INC_I] + INC_I_W * I[k + Q_E2]
        n1, n2, target = I[e1 + E_N], I[e2 + E_N], K + I[k + Q_K]
        diagonal = I[k + Q_DIAGONAL]
        for i in range(n1):
            y = I[W_Y] + I[e1 + E_A] + 6 * i
            y0, y1, y2, y3, y4, y5 = load6(W, y)
            for j in range(i + 1 if diagonal else n2):
                a = I[W_A] + I[e2 + E_A] + 6 * j
                W[target + n2 * i + j] += (
                    y0 * W[a] + y1 * W[a + 1] + y2 * W[a + 2] + y3 * W[a + 3] + y4 * W[a + 4] + y5 * W[a + 5]
                )
    for u in range(I[NHUB]):
        k = I[HUB_I] + HUB_I_W * u
        m, d = metric + METRIC_W * I[k + U_BODY], K + I[k + U_K]
        for i in range(3):
            W[d + 7 * i] = F[m + MM]
        J = load6(F, m + MJ)
        W[d + 21] = J[0]
        W[d + 27], W[d + 28] = J[1], J[3]
        W[d + 33], W[d + 34], W[d + 35] = J[2], J[4], J[5]
        for i in range(6):
            W[scale + I[k + U_X] + i] = W[d + 7 * i]
    for v in range(I[NHUB_INC]):
        k = I[HUB_INC_I] + HUB_INC_I_W * v
        e = I[INC_I] + INC_I_W * I[k + V_E]
        n = I[e + E_N]
        for i in range(n):
            for j in range(6):
                a = W[I[W_A] + I[e + E_A] + 6 * i + j]
                if I[k + V_HUB_ROWS]:
                    W[K + I[k + V_K] + n * j + i] = a
                else:
                    W[K + I[k + V_K] + 6 * i + j] = a


@inline
def factor(I, F, W):
    """Factor the planned graph in place: diagonal blocks become Cholesky factors with inverse pivots on the diagonal."""
    K, nodes, scale = I[W_K], I[NODE_I], I[W_DIAG]
    dependent = 0
    for node in range(I[NNODE]):
        p = I[nodes + node]
        n, d, own, below, updates = I[p], K + I[p + 1], scale + I[p + 2], I[p + 3], I[p + 4]
        p += 5
        dependent += small_cholesky(W, d, n, own, F[EPS_PIVOT])
        for _ in range(below):
            solve_rows(W, K + I[p + 1], I[p], d, n)
            p += 5
        for _ in range(updates):
            rank_update(W, K + I[p], K + I[p + 1], K + I[p + 2], I[p + 3], I[p + 4], n, I[p + 5], I[p + 6])
            p += 7
    W[I[W_STAT] + N_FACTOR] += 1.0
    W[I[W_STAT] + N_DEPENDENT] = dependent


@inline
def small_cholesky(W, d, n, own, eps):
    """In place on the lower triangle of the n x n block at W[d]; returns how many pivots vanished.

    A pivot counts as zero when it falls below eps times the diagonal entry of S (or W_h), kept at W[own + i].
    """
    dependent = 0
    for i in range(n):
        for j in range(i):
            s = W[d + n * i + j]
            for k in range(j):
                s -= W[d + n * i + k] * W[d + n * j + k]
            W[d + n * i + j] = s * W[d + n * j + j]
        s = W[d + n * i + i]
        for k in range(i):
            s -= W[d + n * i + k] * W[d + n * i + k]
        if s > eps * W[own + i]:
            W[d + n * i + i] = 1.0 / np.sqrt(s)
        elif s <= eps * W[own + i]:
            W[d + n * i + i] = 0.0
            dependent += 1
        else:
            W[d + n * i + i] = np.nan
    return dependent


@inline
def solve_rows(W, b, rows, d, n):
    """B <- B C^-T for the rows x n block at W[b] and the factor C at W[d]."""
    for i in range(rows):
        r = b + n * i
        for j in range(n):
            s = W[r + j]
            for k in range(j):
                s -= W[r + k] * W[d + n * j + k]
            W[r + j] = s * W[d + n * j + j]


@inline
def rank_update(W, bi, bj, target, n_i, n_j, n, sign, diagonal):
    """T <- T - sign Y_i Y_j^T"""
    for i in range(n_i):
        for j in range(i + 1 if diagonal else n_j):
            s = 0.0
            for k in range(n):
                s += W[bi + n * i + k] * W[bj + n * j + k]
            W[target + n_j * i + j] -= sign * s


@inline
def back_solve(I, W):
    """W_RHS <- solution of the factored system for the right-hand side in W_RHS: multipliers first, then hubs."""
    K, x, nodes = I[W_K], I[W_RHS], I[NODE_I]
    for node in range(I[NNODE]):
        p = I[nodes + node]
        n, d, own = I[p], K + I[p + 1], x + I[p + 2]
        for i in range(n):
            s = W[own + i]
            for k in range(i):
                s -= W[d + n * i + k] * W[own + k]
            W[own + i] = s * W[d + n * i + i]
        for b in range(I[p + 3]):
            k = p + 5 + 5 * b
            rows, y, other, sign = I[k], K + I[k + 1], x + I[k + 2], I[k + 3]
            for i in range(rows):
                s = 0.0
                for j in range(n):
                    s += W[y + n * i + j] * W[own + j]
                W[other + i] -= sign * s
    for node in range(I[NNODE] - 1, -1, -1):
        p = I[nodes + node]
        n, d, own = I[p], K + I[p + 1], x + I[p + 2]
        for b in range(I[p + 3]):
            k = p + 5 + 5 * b
            rows, y, other, sign = I[k], K + I[k + 1], x + I[k + 2], I[k + 4]
            for i in range(rows):
                s = sign * W[other + i]
                for j in range(n):
                    W[own + j] -= W[y + n * i + j] * s
        for i in range(n - 1, -1, -1):
            s = W[own + i]
            for k in range(i + 1, n):
                s -= W[d + n * k + i] * W[own + k]
            W[own + i] = s * W[d + n * i + i]


@inline
def apply_inverse_metric(metric, h, out, I, F, W):
    """W[out] <- W^-1 h per body; 6 numbers per body at W[h]."""
    for b in range(1, I[NB] + 1):
        v, w = apply_inverse(metric, b, load3(W, h + 6 * b), load3(W, h + 6 * b + 3), F)
        store3(W, out + 6 * b, v)
        store3(W, out + 6 * b + 3, w)


@inline
def subtract_row_products(a_base, v, stride, out, skip_hubs, I, W):
    """W[out + row] -= A v per row, with 6 numbers of body b at W[v + stride b]."""
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        if skip_hubs and I[k + E_HUB]:
            continue
        v0, v1, v2, v3, v4, v5 = load6(W, v + stride * I[k + E_BODY])
        for i in range(I[k + E_N]):
            a = a_base + I[k + E_A] + 6 * i
            W[out + I[k + E_ROW] + i] -= (
                W[a] * v0 + W[a + 1] * v1 + W[a + 2] * v2 + W[a + 3] * v3 + W[a + 4] * v4 + W[a + 5] * v5
            )


@inline
def add_rows_transposed(a_base, lam, out, I, W):
    """W[out] += A^T lam per body (with a_base = W_Y: W^-1 A^T lam)."""
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        o = out + 6 * I[k + E_BODY]
        s0, s1, s2, s3, s4, s5 = load6(W, o)
        for i in range(I[k + E_N]):
            a, s = a_base + I[k + E_A] + 6 * i, W[lam + I[k + E_ROW] + i]
            s0 += s * W[a]
            s1 += s * W[a + 1]
            s2 += s * W[a + 2]
            s3 += s * W[a + 3]
            s4 += s * W[a + 4]
            s5 += s * W[a + 5]
        W[o], W[o + 1], W[o + 2], W[o + 3], W[o + 4], W[o + 5] = s0, s1, s2, s3, s4, s5


@flat
def metric_correction(c, out, I, F, W):
    """W[out] <- W^-1 A^T (A W^-1 A^T)^-1 c for the rows' right-hand side at W[c]; the blocks are factored already."""
    for i in range(I[M]):
        W[I[W_RHS] + i] = W[c + i]
    for i in range(6 * I[NHUB]):
        W[I[W_RHS] + I[M] + i] = 0.0
    back_solve(I, W)
    for i in range(6 * (I[NB] + 1)):
        W[out + i] = 0.0
    add_rows_transposed(I[W_Y], I[W_RHS], out, I, W)
