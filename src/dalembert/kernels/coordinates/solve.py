"""The block-sparse solve: S = G W^-1 G^T, with bodies of many joints kept as nodes of the KKT graph.

Unknowns are the multipliers of the constraint nodes and, for every hub h, its accelerations:

    sum_e A_e W^-1 A_e^T lam + A_h u_h = c          W_h u_h - A_h^T lam = h_h

The elimination order and every target of every update were planned once (plan.py); the numeric phase walks a tape of
integers. Stored blocks are positive (S, W_h, A_h); the signs of the saddle point are in the tape. A vanishing pivot means a
row that depends on the rows before it: its multiplier is set to zero and it is counted. Idle rows are told to vanish.

Tape, per node k: n_k, offset of its diagonal block, its first unknown, number of blocks below, number of updates;
per block below (i, k): n_i, offset, first unknown of i, sign in the forward, sign in the backward substitution;
per update (i, j, k): offsets of blocks (i, k), (j, k), (i, j), n_i, n_j, sign, 1 when i = j.
"""

import numpy as np
from numpy import uintp

from dalembert.kernels.base.algebra import add3, axpy3, dot3, load3, load6, scale3, store3, sym_mul
from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    B_KIND,
    BODY_I,
    BODY_I_W,
    CHOOSE,
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
    MASS_F,
    METRIC_W,
    MJ,
    MJ_INV,
    MM,
    MM_INV,
    N_DEPENDENT,
    N_FACTOR,
    NB,
    NCHOICE,
    NHUB,
    NHUB_INC,
    NIDLE,
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
    Q_UNIT,
    RIGID,
    S_V,
    STATE_W,
    U_BODY,
    U_K,
    V_E,
    V_HUB_ROWS,
    V_K,
    W_A,
    W_BODY,
    W_DIAG,
    W_GT,
    W_K,
    W_RHS,
    W_STAT,
    W_Y,
    M,
)
from dalembert.kernels.coordinates.choice import silence
from dalembert.kernels.mechanics.inertia import pull_back


@inline
def pull_back_rows(a_base, system):
    """Rows of planar bodies and point masses keep only the directions in which these can move."""
    I = system.I
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        b = I[k + E_BODY]
        if I[I[BODY_I] + BODY_I_W * b + B_KIND] != RIGID:
            for i in range(I[k + E_N]):
                pull_back(a_base + I[k + E_A] + 6 * i, b, system)


@inline
def apply_inverse(metric, b, v, w, system):
    """(v / m, J^-1 w) in the metric table at F[metric]"""
    F = system.F
    m = metric + METRIC_W * b
    return scale3(F[m + MM_INV], v), sym_mul(load6(F, m + MJ_INV), w)


@inline
def dot6(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@flat
def add_unit_block(t, y, a, W):
    """T += Y A^T for two coincidences of one body: translations are +-1, so only one factor 1/m remains of them.

    W[y], W[a] are the first of three rows; the sign of the product is that of Y_v A_v, found on the diagonal.
    A diagonal block needs its lower triangle alone; to fill it costs less than to ask.
    """
    s = W[uintp(y)] * W[uintp(a)]
    a0, a1, a2 = load3(W, a + 3), load3(W, a + 9), load3(W, a + 15)
    for i in range(3):
        y_i, row = load3(W, y + 6 * i + 3), load3(W, t + 3 * i)
        store3(W, t + 3 * i, add3(row, (dot3(y_i, a0), dot3(y_i, a1), dot3(y_i, a2))))
        W[uintp(t + 4 * i)] += s


@inline
def assemble_blocks(metric, system):
    """W_Y <- A W^-1, W_K <- S on the constraint nodes, A_h and W_h on the hubs; W_DIAG <- what hubs add to the diagonal."""
    I, F, W = system.I, system.F, system.W
    K, scale = I[W_K], I[W_DIAG]
    for i in range(I[K_SIZE]):
        W[uintp(K + i)] = 0.0
    for i in range(I[M] + 6 * I[NHUB]):
        W[uintp(scale + i)] = 0.0
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        a, y = I[W_A] + I[k + E_A], I[W_Y] + I[k + E_A]
        m = metric + METRIC_W * I[k + E_BODY]
        m_inv, J_inv = F[m + MM_INV], load6(F, m + MJ_INV)
        for _ in range(I[k + E_N]):
            store3(W, y, scale3(m_inv, load3(W, a)))
            store3(W, y + 3, sym_mul(J_inv, load3(W, a + 3)))
            a, y = a + 6, y + 6
    for p in range(I[NPAIR]):
        k = I[PAIR_I] + PAIR_I_W * p
        e1, e2, target = I[INC_I] + INC_I_W * I[k + Q_E1], I[INC_I] + INC_I_W * I[k + Q_E2], K + I[k + Q_K]
        y, a = I[W_Y] + I[e1 + E_A], I[W_A] + I[e2 + E_A]
        if I[k + Q_UNIT]:
            add_unit_block(target, y, a, W)
            continue
        n2 = I[e2 + E_N]
        for i in range(I[e1 + E_N]):
            row = load6(W, y + 6 * i)
            for j in range(i + 1 if I[k + Q_DIAGONAL] else n2):
                W[uintp(target + n2 * i + j)] += dot6(row, load6(W, a + 6 * j))
    if I[NHUB] > 0:
        assemble_hubs(metric, system)


@flat
def assemble_hubs(metric, system):
    """Blocks of the bodies that are kept as nodes: W_h and A_h."""
    I, F, W = system.I, system.F, system.W
    K, scale = I[W_K], I[W_DIAG]
    for u in range(I[NHUB]):
        k = I[HUB_I] + HUB_I_W * u
        m, d = metric + METRIC_W * I[k + U_BODY], K + I[k + U_K]
        for i in range(3):
            W[d + 7 * i] = F[m + MM]
        J = load6(F, m + MJ)
        W[d + 21] = J[0]
        W[d + 27], W[d + 28] = J[1], J[3]
        W[d + 33], W[d + 34], W[d + 35] = J[2], J[4], J[5]
    for v in range(I[NHUB_INC]):
        k = I[HUB_INC_I] + HUB_INC_I_W * v
        e = I[INC_I] + INC_I_W * I[k + V_E]
        n = I[e + E_N]
        for i in range(n):
            a, y = I[W_A] + I[e + E_A] + 6 * i, I[W_Y] + I[e + E_A] + 6 * i
            W[scale + I[e + E_ROW] + i] += dot6(load6(W, a), load6(W, y))
            for j in range(6):
                W[K + I[k + V_K] + (n * j + i if I[k + V_HUB_ROWS] else 6 * i + j)] = W[a + j]


@inline
def factor(metric, system):
    """Factor the planned graph in place: diagonal blocks become Cholesky factors with inverse pivots on the diagonal.

    The blocks were assembled in the metric at F[metric]. Where joints are redundant, the rows that act are chosen (choice.py).
    """
    I = system.I
    factor_blocks(system)
    if I[NCHOICE] > 0:
        forces(CHOOSE, 0.0 if metric == I[MASS_F] else 1.0, system)


@inline
def factor_blocks(system):
    """The same for the rows that act."""
    I, F, W = system.I, system.F, system.W
    K, nodes, scale = I[W_K], I[NODE_I], I[W_DIAG]
    for node in range(I[NNODE]):
        p = I[nodes + node]
        n, d, own = I[p], K + I[p + 1], scale + I[p + 2]
        for i in range(n):
            W[uintp(own + i)] += W[uintp(d + (n + 1) * i)]
    silence(scale, np.inf, system)
    dependent = -I[NIDLE]
    for node in range(I[NNODE]):
        p = I[nodes + node]
        n, d, own, below, updates = I[p], K + I[p + 1], scale + I[p + 2], I[p + 3], I[p + 4]
        p += 5
        dependent += small_cholesky(W, d, n, own, F[EPS_PIVOT])
        for _ in range(below):
            for i in range(I[p]):
                solve_row(K + I[p + 1] + n * i, d, n, n, W)
            p += 5
        for _ in range(updates):
            rank_update(W, K + I[p], K + I[p + 1], K + I[p + 2], I[p + 3], I[p + 4], n, I[p + 5], I[p + 6])
            p += 7
    W[I[W_STAT] + N_FACTOR] += 1.0
    if dependent > W[I[W_STAT] + N_DEPENDENT]:
        W[I[W_STAT] + N_DEPENDENT] = dependent


@inline
def weakest_row(system):
    """(row, pivot): the smallest sqrt(pivot / diagonal) of the factored blocks, the sine of the angle to the rows before it."""
    I, W = system.I, system.W
    row, smallest = 0, 1.0
    for node in range(I[NNODE]):
        p = I[I[NODE_I] + node]
        n, d, own = I[p], I[W_K] + I[p + 1], I[W_DIAG] + I[p + 2]
        for i in range(n):
            inverse = W[d + (n + 1) * i]
            sine = 1.0 / (inverse * np.sqrt(W[own + i])) if inverse > 0.0 else 0.0
            if sine < smallest and I[p + 2] + i < I[M] and W[own + i] < np.inf:
                row, smallest = I[p + 2] + i, sine
    return row, smallest


@inline
def subtract_products(s, a, b, n, W):
    """s - sum_k W[a + k] W[b + k], k < n"""
    for k in range(n):
        s -= W[uintp(a + k)] * W[uintp(b + k)]
    return s


@inline
def solve_row(r, d, n, count, W):
    """The first `count` entries of the row at W[r] <- row C^-T, with the n x n factor C at W[d]."""
    for j in range(count):
        c = d + n * j
        W[uintp(r + j)] = subtract_products(W[uintp(r + j)], r, c, j, W) * W[uintp(c + j)]


@flat
def small_cholesky(W, d, n, own, eps):
    """In place on the lower triangle of the n x n block at W[d]; returns how many pivots vanished.

    A pivot counts as zero when it falls below eps times the diagonal entry of S (or W_h), kept at W[own + i].
    """
    dependent = 0
    for i in range(n):
        r = d + n * i
        solve_row(r, d, n, i, W)
        s = subtract_products(W[uintp(r + i)], r, r, i, W)
        pivot = np.nan
        if s > eps * W[uintp(own + i)]:
            pivot = 1.0 / np.sqrt(s)
        elif s <= eps * W[uintp(own + i)]:
            pivot = 0.0
            dependent += 1
        W[uintp(r + i)] = pivot
    return dependent


@flat
def rank_update(W, bi, bj, target, n_i, n_j, n, sign, diagonal):
    """T <- T - sign Y_i Y_j^T"""
    for i in range(n_i):
        for j in range(i + 1 if diagonal else n_j):
            W[uintp(target + n_j * i + j)] += sign * subtract_products(0.0, bi + n * i, bj + n * j, n, W)


@inline
def back_solve(system):
    """W_RHS <- solution of the factored system for the right-hand side in W_RHS: multipliers first, then hubs."""
    I, W = system.I, system.W
    K, x, nodes = I[W_K], I[W_RHS], I[NODE_I]
    for node in range(I[NNODE]):
        p = I[nodes + node]
        n, own = I[p], x + I[p + 2]
        solve_row(own, K + I[p + 1], n, n, W)
        for b in range(I[p + 3]):
            k = p + 5 + 5 * b
            y, other, sign = K + I[k + 1], x + I[k + 2], I[k + 3]
            for i in range(I[k]):
                W[uintp(other + i)] += sign * subtract_products(0.0, y + n * i, own, n, W)
    for node in range(I[NNODE] - 1, -1, -1):
        p = I[nodes + node]
        n, d, own = I[p], K + I[p + 1], x + I[p + 2]
        for b in range(I[p + 3]):
            k = p + 5 + 5 * b
            y, other, sign = K + I[k + 1], x + I[k + 2], I[k + 4]
            for i in range(I[k]):
                subtract_multiple(own, sign * W[uintp(other + i)], y + n * i, n, W)
        for i in range(n - 1, -1, -1):
            r = d + n * i
            W[uintp(own + i)] *= W[uintp(r + i)]
            subtract_multiple(own, W[uintp(own + i)], r, i, W)


@inline
def subtract_multiple(x, s, a, n, W):
    """W[x + k] -= s W[a + k], k < n"""
    for k in range(n):
        W[uintp(x + k)] -= W[uintp(a + k)] * s


@inline
def apply_inverse_metric(metric, h, out, system):
    """W[out] <- W^-1 h per body; 6 numbers per body at W[h]."""
    I, F, W = system.I, system.F, system.W
    for b in range(1, I[NB] + 1):
        m = metric + METRIC_W * b
        store3(W, out + 6 * b, scale3(F[m + MM_INV], load3(W, h + 6 * b)))
        store3(W, out + 6 * b + 3, sym_mul(load6(F, m + MJ_INV), load3(W, h + 6 * b + 3)))


@inline
def subtract_row_products(a_base, v, stride, out, skip_hubs, system):
    """W[out + row] -= A v per row, with 6 numbers of body b at W[v + stride b]."""
    I, W = system.I, system.W
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        if skip_hubs and I[k + E_HUB]:
            continue
        twist = load6(W, v + stride * I[k + E_BODY])
        a, row = a_base + I[k + E_A], out + I[k + E_ROW]
        for i in range(I[k + E_N]):
            W[uintp(row + i)] -= dot6(load6(W, a + 6 * i), twist)


@inline
def add_rows_transposed(a_base, lam, out, system):
    """W[out] += A^T lam per body (with a_base = W_Y: W^-1 A^T lam)."""
    I, W = system.I, system.W
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        o, a, row = out + 6 * I[k + E_BODY], a_base + I[k + E_A], lam + I[k + E_ROW]
        force, torque = load3(W, o), load3(W, o + 3)
        for i in range(I[k + E_N]):
            s = W[uintp(row + i)]
            force = axpy3(s, load3(W, a + 6 * i), force)
            torque = axpy3(s, load3(W, a + 6 * i + 3), torque)
        store3(W, o, force)
        store3(W, o + 3, torque)


@flat
def velocity_residual(out, system):
    """W[out + row] <- -(G u + g_t) of the independent rows"""
    I, W = system.I, system.W
    for i in range(I[M]):
        W[out + i] = -W[I[W_GT] + i]
    subtract_row_products(I[W_A], I[W_BODY] + S_V, STATE_W, out, False, system)


@flat
def metric_correction(out, system):
    """W[out] <- W^-1 A^T (A W^-1 A^T)^-1 c for the rows' right-hand side c in W_RHS; the blocks are factored already."""
    I, W = system.I, system.W
    for i in range(6 * I[NHUB]):
        W[I[W_RHS] + I[M] + i] = 0.0
    back_solve(system)
    for i in range(6 * (I[NB] + 1)):
        W[out + i] = 0.0
    add_rows_transposed(I[W_Y], I[W_RHS], out, system)
