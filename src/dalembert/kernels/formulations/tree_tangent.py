"""The tangent space of the cut joints' rows in relative coordinates, dense: tangent_space.py for a tree with loops.

    G = A B, the rows of the cut joints in the joint velocities (frame_matrices.py);    W = 1, Euclidean in these
    P v = v - G^T (G G^T)^-1 G v        G^+ c = G^T (G G^T)^-1 c        G' y = A' B y + A B' y

Every solution is refined once, so that its error is that of an orthogonal factorisation [GolubVanLoan2013, 5.3].
"""

from dalembert.kernels.base.algebra import add3, cross, dot3, dot6, load3, load6, store3
from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.dense import weakest_dense_row
from dalembert.kernels.base.tables import (
    CUT_I,
    N_FACTOR,
    NB,
    NU,
    S_W,
    STATE_W,
    W_A,
    W_BODY,
    W_RHS,
    W_SCHUR,
    W_STAT,
    W_WORK,
    W_ZETA,
    M,
)
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.cut_choice import factor_cut_schur
from dalembert.kernels.coordinates.frame_matrices import block, derivative, multiply, reduced_matrix


@inline
def dot(a, b, n, W):
    """a . b of n numbers at W[a] and W[b]"""
    s = 0.0
    for i in range(n):
        s += W[a + i] * W[b + i]
    return s


@inline
def cut_rows(system):
    """Where G lies: m rows of nu numbers below M*."""
    I = system.I
    return reduced_matrix(system) + I[NU] * I[NU]


@inline
def reach(r, system):
    """What |G_r|^2 could be if the row lay in the direction in which its bodies move most: |A|^2 |B|^2, parts apart.

    In relative coordinates a row itself can vanish in a singular configuration, so its own size tells nothing.
    """
    I, W = system.I, system.W
    size = 0.0
    for side in range(2):
        b, a = I[I[CUT_I] + 2 * r + side], I[W_A] + 12 * r + 6 * side
        for part in range(0, 6, 3):
            s = 0.0
            for c in range(I[NU]):
                v = load3(W, block(b, c, system) + part)
                s += dot3(v, v)
            size += s * dot3(load3(W, a + part), load3(W, a + part))
    return size


@inline
def factor_cut_rows(system):
    """G G^T = L L^T at W_SCHUR, inverse pivots on the diagonal; (row, value) of the smallest sqrt(pivot / reach)."""
    I, W = system.I, system.W
    n, m, G, S = I[NU], I[M], cut_rows(system), I[W_SCHUR]
    for i in range(m):
        W[S + m * m + i] = reach(i, system)
        for j in range(i + 1):
            W[S + m * i + j] = dot(G + n * i, G + n * j, n, W)
    W[I[W_STAT] + N_FACTOR] += 1.0
    factor_cut_schur(system)
    return weakest_dense_row(Numbers(W, S), m, Numbers(W, S + m * m), 0)


@inline
def add_solution(out, system):
    """W_RHS <- (G G^T)^-1 W_RHS, then W[out] += G^T W_RHS"""
    I, W = system.I, system.W
    n, m, G, S, c = I[NU], I[M], cut_rows(system), I[W_SCHUR], I[W_RHS]
    for i in range(m):
        W[c + i] = (W[c + i] - dot(S + m * i, c, i, W)) * W[S + m * i + i]
    for i in range(m - 1, -1, -1):
        s = W[c + i]
        for k in range(i + 1, m):
            s -= W[S + m * k + i] * W[c + k]
        W[c + i] = s * W[S + m * i + i]
    for r in range(m):
        for i in range(n):
            W[out + i] += W[G + n * r + i] * W[c + r]


@inline
def onto_tangent(v, system):
    """W[v] <- P v"""
    I, W = system.I, system.W
    for _ in range(2):
        for r in range(I[M]):
            W[I[W_RHS] + r] = -dot(cut_rows(system) + I[NU] * r, v, I[NU], W)
        add_solution(v, system)


@inline
def least_solution(c, out, system):
    """W[out] <- -G^+ c for the right-hand sides at W[c]"""
    I, W = system.I, system.W
    for i in range(I[NU]):
        W[out + i] = 0.0
    for _ in range(2):
        for r in range(I[M]):
            W[I[W_RHS] + r] = -W[c + r] - dot(cut_rows(system) + I[NU] * r, out, I[NU], W)
        add_solution(out, system)


@inline
def turn_column(y, rows, out, system):
    """W[out] <- -G^+ G' y [QRContinuation, (27)]; W[rows] holds d(A u + g_t)/dq, which with A (0, w x w_y) is A' B y.

    The twists in W_BODY and B, B' belong to the velocities of the state.
    """
    I, W = system.I, system.W
    along, across = I[W_WORK], I[W_WORK] + 6 * (I[NB] + 1)
    multiply(0, y, along, system)
    multiply(derivative(system), y, across, system)
    for b in range(1, I[NB] + 1):
        spin = cross(load3(W, I[W_BODY] + STATE_W * b + S_W), load3(W, along + 6 * b + 3))
        store3(W, across + 6 * b + 3, add3(load3(W, across + 6 * b + 3), spin))
    for r in range(I[M]):
        s = 0.0
        for side in range(2):
            b, at = 6 * I[I[CUT_I] + 2 * r + side], 12 * r + 6 * side
            s += dot6(load6(W, rows + at), load6(W, along + b)) + dot6(load6(W, I[W_A] + at), load6(W, across + b))
        W[I[W_ZETA] + r] = s
    least_solution(I[W_ZETA], out, system)
