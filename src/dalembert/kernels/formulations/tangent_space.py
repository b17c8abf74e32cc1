"""The tangent space of the constraints at one configuration, in the metric W of the projection (Euclidean in r' and theta').

    P v = v - W^-1 G^T (G W^-1 G^T)^-1 G v                                       onto null(G), W-orthogonal
    G^+ c = W^-1 G^T (G W^-1 G^T)^-1 c                                           smallest solution of G v = c

Both use the block-sparse factor of solve.py, O(n) per vector; rows that depend on others take no part. A basis Z has columns of
unit length, Z^T W Z = I: [QRContinuation, (8)] with Q2 = W^1/2 Z, orthonormal in (r', theta') as the source has it.
"""

from dalembert.kernels.base.algebra import add3, axpy3, cross, dot3, load3, load6, scale3, store3, sym_mul
from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.tables import (
    B_KIND,
    B_U,
    BF_NORMAL,
    BODY_F,
    BODY_F_W,
    BODY_I,
    BODY_I_W,
    METRIC_W,
    MJ,
    MM,
    NB,
    NHUB,
    PLANE_F,
    POINT,
    RIGID,
    S_W,
    STATE_W,
    W_A,
    W_BODY,
    W_RHS,
    W_WORK,
    W_Y,
    M,
)
from dalembert.kernels.coordinates.solve import add_rows_transposed, back_solve, subtract_row_products


@inline
def spread(v, at, out, system):
    """W[out] <- 6 numbers (v, w_B) per body from the velocities v[at..]"""
    I, F, W = system.I, system.F, system.W
    for b in range(1, I[NB] + 1):
        k = I[BODY_I] + BODY_I_W * b
        u, o, kind = at + I[k + B_U], out + 6 * b, I[k + B_KIND]
        if kind == RIGID:
            for i in range(6):
                W[o + i] = v[u + i]
        elif kind == POINT:
            store3(W, o, load3(v, u))
            store3(W, o + 3, (0.0, 0.0, 0.0))
        else:
            store3(W, o, axpy3(v[u], load3(F, I[PLANE_F]), scale3(v[u + 1], load3(F, I[PLANE_F] + 3))))
            store3(W, o + 3, scale3(v[u + 2], load3(F, I[BODY_F] + BODY_F_W * b + BF_NORMAL)))


@inline
def gather(at, v, out, system):
    """v[out..] <- velocities from 6 numbers per body at W[at]: the inverse of `spread`."""
    I, F, W = system.I, system.F, system.W
    for b in range(1, I[NB] + 1):
        k = I[BODY_I] + BODY_I_W * b
        u, o, kind = out + I[k + B_U], at + 6 * b, I[k + B_KIND]
        if kind == RIGID:
            for i in range(6):
                v[u + i] = W[o + i]
        elif kind == POINT:
            store3(v, u, load3(W, o))
        else:
            v[u] = dot3(load3(F, I[PLANE_F]), load3(W, o))
            v[u + 1] = dot3(load3(F, I[PLANE_F] + 3), load3(W, o))
            v[u + 2] = dot3(load3(F, I[BODY_F] + BODY_F_W * b + BF_NORMAL), load3(W, o + 3))


@inline
def inner(metric, a, b, system):
    """a . W b of two vectors with 6 numbers per body, in the metric table at F[metric]."""
    I, F, W = system.I, system.F, system.W
    s = 0.0
    for body in range(1, I[NB] + 1):
        m, i, j = metric + METRIC_W * body, a + 6 * body, b + 6 * body
        s += F[m + MM] * dot3(load3(W, i), load3(W, j))
        s += dot3(load3(W, i + 3), sym_mul(load6(F, m + MJ), load3(W, j + 3)))
    return s


@inline
def clear_rows(system):
    """W_RHS <- 0"""
    I, W = system.I, system.W
    for i in range(I[M] + 6 * I[NHUB]):
        W[I[W_RHS] + i] = 0.0


@inline
def project_tangent(passes, v, system):
    """W[v] <- P v; the blocks are factored already.

    passes : 2 removes what the first one leaves near a singular configuration, where the condition of G W^-1 G^T is that of G
        squared; the error is then that of an orthogonal factorisation [GolubVanLoan2013, 5.3]
    """
    I = system.I
    for _ in range(passes):
        clear_rows(system)
        subtract_row_products(I[W_A], v, 6, I[W_RHS], False, system)
        back_solve(system)
        add_rows_transposed(I[W_Y], I[W_RHS], v, system)


@inline
def smallest_solution(passes, c, out, system):
    """W[out] <- -G^+ c for the rows' right-hand side at W[c]."""
    I, W = system.I, system.W
    for i in range(6 * (I[NB] + 1)):
        W[out + i] = 0.0
    for _ in range(passes):
        clear_rows(system)
        for i in range(I[M]):
            W[I[W_RHS] + i] = -W[c + i]
        subtract_row_products(I[W_A], out, 6, I[W_RHS], False, system)
        back_solve(system)
        add_rows_transposed(I[W_Y], I[W_RHS], out, system)


@inline
def turning(passes, z, rows, out, system):
    """W[out] <- -G^+ G' z, how a tangent vector z must change to stay tangent [QRContinuation, (27)].

    W[rows] holds the rows of d(G u + g_t)/dq. G' z differs from them by G [u, z] = G (0, w x w_z), because w_B is no rate of
    coordinates.
    """
    I, W = system.I, system.W
    known = I[W_WORK]
    for i in range(6 * (I[NB] + 1)):
        W[out + i] = 0.0
    for _ in range(passes):
        for b in range(1, I[NB] + 1):
            store3(W, known + 6 * b, load3(W, out + 6 * b))
            spin = cross(load3(W, I[W_BODY] + STATE_W * b + S_W), load3(W, z + 6 * b + 3))
            store3(W, known + 6 * b + 3, add3(load3(W, out + 6 * b + 3), spin))
        clear_rows(system)
        subtract_row_products(rows, z, 6, I[W_RHS], False, system)
        subtract_row_products(I[W_A], known, 6, I[W_RHS], False, system)
        back_solve(system)
        add_rows_transposed(I[W_Y], I[W_RHS], out, system)


@inline
def dual_vector(row, out, system):
    """W[out] <- v with G v = e_row: orthogonal to all other rows, its length one over the distance of this row from them."""
    I, W = system.I, system.W
    clear_rows(system)
    W[I[W_RHS] + row] = 1.0
    back_solve(system)
    for i in range(6 * (I[NB] + 1)):
        W[out + i] = 0.0
    add_rows_transposed(I[W_Y], I[W_RHS], out, system)
