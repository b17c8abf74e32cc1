"""The block-sparse solve: S = G W^-1 G^T, with bodies of many joints kept as nodes of the KKT graph.

Unknowns are the multipliers of the constraint nodes and, for every hub h, its accelerations:

    sum_e A_e W^-1 A_e^T lam + A_h u_h = c          W_h u_h - A_h^T lam = h_h

The elimination order and every target of every update were planned once (plan.py); the numeric phase walks a tape of
integers. Stored blocks are positive (S, W_h, A_h); the signs of the saddle point are in the tape. A vanishing pivot means a
row that depends on the rows before it: its multiplier is set to zero and it is counted. Idle rows are told to vanish.

A block (i, k), i after k, lies transposed, n_k rows of n_i numbers, the diagonal as its upper triangle: sums over the rows of
k then go along numbers that lie side by side, several at a time.

Tape, per node k: n_k, offset of its diagonal block, its first unknown, number of blocks below, number of updates;
per block below (i, k): n_i, offset, first unknown of i, sign in the forward, sign in the backward substitution;
per update (i, j, k): offsets of blocks (i, k), (j, k), (i, j), n_i, n_j, sign, 1 when i = j.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.loops import clear, minus_dot, negate, plus_dot, subtract_rows
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import CHOOSE, RIGID
from dalembert.kernels.base.vectors import Vec3
from dalembert.kernels.coordinates.choice import silence
from dalembert.kernels.mechanics.inertia import pull_back


@inline
def pull_back_rows(rows, system):
    """Rows of planar bodies and point masses keep only the directions in which these can move."""
    for e in system.incidences:
        body = system.bodies[e.body]
        if body.kind != RIGID:
            for i in range(e.n):
                pull_back(rows[e.A + 6 * i], body, system.plane)


@inline
def clear_twists(out, system):
    """Of every body and the ground."""
    zero = Vec3(0.0, 0.0, 0.0)
    for b in range(system.nb + 1):
        out[b].v, out[b].w = zero, zero


@inline
def product(row, twist):
    """A u of one row and one body"""
    return row.force @ twist.v + row.torque @ twist.w


@flat
def add_unit_block(K, t, Y, y, A, a):
    """T += Y A^T for two coincidences of one body: translations are +-1, so only one factor 1/m remains of them.

    The sign of the product is that of Y_v A_v, found on the diagonal. A diagonal block needs its upper triangle alone; to fill
    it costs less than to ask.
    """
    s = Y[y].force.x * A[a].force.x
    a0, a1, a2 = A[a].torque, A[a + 6].torque, A[a + 12].torque
    for i in range(3):
        y_i = Y[y + 6 * i].torque
        K[t + 3 * i] += y_i @ a0
        K[t + 3 * i + 1] += y_i @ a1
        K[t + 3 * i + 2] += y_i @ a2
        K[t + 4 * i] += s


@inline
def assemble_blocks(inertia, system):
    """Y <- A W^-1, K <- S on the constraint nodes, A_h and W_h on the hubs; diag <- what hubs add to the diagonal."""
    A, Y, K = system.A, system.Y, system.K
    clear(K, system.k_size)
    clear(system.diag, system.m + 6 * system.nhub)
    for e in system.incidences:
        m_inv, J_inv = inertia[e.body].m_inv, inertia[e.body].J_inv
        for k in range(e.A, e.A + 6 * e.n, 6):
            Y[k].force, Y[k].torque = m_inv * A[k].force, J_inv @ A[k].torque
    for p in system.pairs:
        late, early = p.e1, p.e2
        if p.unit:
            add_unit_block(K, p.K, Y, early.A, A, late.A)
            continue
        n = late.n
        for i in range(early.n):
            y = Y[early.A + 6 * i]
            force, torque = y.force, y.torque
            for j in range(i if p.diagonal else 0, n):
                a = A[late.A + 6 * j]
                K[p.K + n * i + j] += force @ a.force + torque @ a.torque
    if system.nhub > 0:
        assemble_hubs(inertia, system)


@flat
def assemble_hubs(inertia, system):
    """Blocks of the bodies that are kept as nodes: W_h and A_h."""
    A, Y, K, diag = system.A, system.Y, system.K, system.diag
    for h in system.hubs:
        m, J, d = inertia[h.body].m, inertia[h.body].J, h.K
        for i in range(3):
            K[d + 7 * i] = m
        for i in range(3):
            K[d + 21 + i] = J[i]
        K[d + 28] = J[3]
        K[d + 29] = J[4]
        K[d + 35] = J[5]
    for h in system.hub_incidences:
        e = h.e
        for i in range(e.n):
            a, y = A[e.A + 6 * i], Y[e.A + 6 * i]
            f, t = a.force, a.torque
            diag[e.row + i] += f @ y.force + t @ y.torque
            for j in range(3):
                K[h.K + (6 * i + j if h.hub_rows else e.n * j + i)] = f[j]
                K[h.K + (6 * i + j + 3 if h.hub_rows else e.n * (j + 3) + i)] = t[j]


@inline
def factor(metric, system):
    """Factor the planned graph in place: diagonal blocks become Cholesky factors with inverse pivots on the diagonal.

    metric : 0 where the blocks were assembled in the mass metric, 1 in that of the projection
    Where joints are redundant, the rows that act are chosen (choice.py).
    """
    factor_blocks(system)
    if system.nchoice > 0:
        forces(CHOOSE, float(metric), system)


@inline
def factor_blocks(system):
    """The same for the rows that act."""
    K, nodes, tape, diag = system.K, system.tapes, system.integers, system.diag
    for node in range(system.nnode):
        p = nodes[node]
        n, d, own = tape[p], tape[p + 1], tape[p + 2]
        for i in range(n):
            diag[own + i] += K[d + (n + 1) * i]
    silence(diag, np.inf, system)
    dependent = -system.nidle
    for node in range(system.nnode):
        p = nodes[node]
        n, C, own, below, updates = tape[p], K + tape[p + 1], tape[p + 2], tape[p + 3], tape[p + 4]
        p += 5
        dependent += small_cholesky(C, n, diag + own, system.eps_pivot)
        for _ in range(below):
            width, U = tape[p], K + tape[p + 1]
            for j in range(n):
                subtract_rows(U + width * j, C[(n + 1) * j], 1.0, C + j, n, U, width, j, width)
            p += 5
        for _ in range(updates):
            U_i, U_j, T, n_i, n_j = K + tape[p], K + tape[p + 1], K + tape[p + 2], tape[p + 3], tape[p + 4]
            for j in range(n_j):
                first = j & -4 if tape[p + 6] else 0  # whole registers: what is left of the diagonal nobody reads
                subtract_rows(T + (n_i * j + first), 1.0, float(tape[p + 5]), U_j + j, n_j, U_i + first, n_i, n, n_i - first)
            p += 7
    count = system.count
    count.factor += 1.0
    if dependent > count.dependent:
        count.dependent = dependent


@inline
def weakest_row(system):
    """(row, pivot): the smallest sqrt(pivot / diagonal) of the factored blocks, the sine of the angle to the rows before it."""
    K, tape, diag = system.K, system.integers, system.diag
    row, smallest = 0, 1.0
    for node in range(system.nnode):
        p = system.tapes[node]
        n, d, own = tape[p], tape[p + 1], tape[p + 2]
        for i in range(n):
            inverse = K[d + (n + 1) * i]
            sine = 1.0 / (inverse * np.sqrt(diag[own + i])) if inverse > 0.0 else 0.0
            if sine < smallest and own + i < system.m and diag[own + i] < np.inf:
                row, smallest = own + i, sine
    return row, smallest


@flat
def small_cholesky(C, n, diag, eps):
    """In place on the upper triangle of the n x n block C; returns how many pivots vanished.

    A pivot counts as zero when it falls below eps times the diagonal entry of S (or W_h), which diag has.
    """
    dependent = 0
    for i in range(n):
        row, pivot = C + (n + 1) * i, np.nan
        subtract_rows(row, 1.0, 1.0, C + i, n, C + i, n, i, 1)
        s = row[0]
        if eps * diag[i] < s:  # of runs side by side in all of them: one that differs has no rates in their company
            pivot = 1.0 / np.sqrt(s)
        elif s <= eps * diag[i]:
            pivot = 0.0
            dependent += 1
        row[0] = pivot
        for c in range(1, n - i):  # one by one: the next rows read them so
            subtract_rows(row + c, pivot, 1.0, C + i, n, C + (i + c), n, i, 1)
    return dependent


@inline
def back_solve(K, rhs, system):
    """rhs <- solution of the factored system K for the right-hand side in rhs: multipliers first, then hubs."""
    nodes, tape = system.tapes, system.integers
    for node in range(system.nnode):
        p = nodes[node]
        n, C, x = tape[p], K + tape[p + 1], rhs + tape[p + 2]
        for i in range(n):
            subtract_rows(x + i, C[(n + 1) * i], 1.0, x, 1, C + i, n, i, 1)
        for b in range(tape[p + 3]):
            k = p + 5 + 5 * b
            width = tape[k]
            subtract_rows(rhs + tape[k + 2], 1.0, float(tape[k + 3]), x, 1, K + tape[k + 1], width, n, width)
    for node in range(system.nnode - 1, -1, -1):
        p = nodes[node]
        n, C, x = tape[p], K + tape[p + 1], rhs + tape[p + 2]
        for b in range(tape[p + 3]):
            k = p + 5 + 5 * b
            width, U, other, sign = tape[k], K + tape[k + 1], rhs + tape[k + 2], tape[k + 4]
            for i in range(n):
                x[i] -= sign * plus_dot(0.0, U + width * i, other, width)
        for i in range(n - 1, -1, -1):
            x[i] = minus_dot(x[i], C + ((n + 1) * i + 1), x + (i + 1), n - i - 1) * C[(n + 1) * i]


@inline
def apply_inverse_metric(inertia, wrench, out, system):
    """out <- W^-1 wrench per body"""
    for body in system.bodies:
        b = body.number
        out[b].v, out[b].w = inertia[b].m_inv * wrench[b].force, inertia[b].J_inv @ wrench[b].torque


@inline
def subtract_row_products(rows, twists, out, skip_hubs, system):
    """out[row] -= A u per row, with the twist u of every body."""
    for e in system.incidences:
        if skip_hubs and e.hub:
            continue
        twist = twists[e.body]
        v, w = twist.v, twist.w
        for i in range(e.n):
            row = rows[e.A + 6 * i]
            out[e.row + i] -= row.force @ v + row.torque @ w


@inline
def add_rows_transposed(rows, lam, out, system):
    """out += A^T lam per body (with rows = Y: W^-1 A^T lam)."""
    for e in system.incidences:
        o = out[e.body]
        v, w = o.v, o.w
        for i in range(e.n):
            s, row = lam[e.row + i], rows[e.A + 6 * i]
            v, w = s * row.force + v, s * row.torque + w
        o.v, o.w = v, w


@flat
def velocity_residual(out, system):
    """out <- -(A u + g_t) of all m rows, idle ones too"""
    negate(out, system.g_t, system.m)
    subtract_row_products(system.A, system.twists, out, False, system)


@flat
def metric_correction(out, system):
    """out <- W^-1 A^T (A W^-1 A^T)^-1 c for the rows' right-hand side c in rhs; the blocks are factored already."""
    clear(system.rhs + system.m, 6 * system.nhub)
    back_solve(system.K, system.rhs, system)
    clear_twists(out, system)
    add_rows_transposed(system.Y, system.rhs, out, system)
