"""A basis of the tangent space from the constraint Jacobian alone: QR, singular values, eigenvalues [QRContinuation, 2.3-2.4].

    A^T = [Q1 Q2] [R1; 0]        Q2 by Householder reflections with column pivoting                       (8)
    A^T = U Sigma V^T            left singular vectors of zero singular values, by one-sided Jacobi rotations    (20)
    A^T A = U Lambda U^T         eigenvectors of zero eigenvalues, by Jacobi rotations                     (21)

A = G W^-1/2, so that lengths are those of the metric. All three span the same space; which vectors they choose in it can jump
from one configuration to the next.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.loops import add_multiple, clear, plus_dot


@inline
def null_basis(kind, A, n, m, f, out):
    """out <- f columns of n numbers, a basis of the null space of the m x n matrix A of rank n - f, row by row, which is lost.

    kind : 0 QR, 1 singular values, 2 eigenvalues. Behind A are 2 n^2 + 2 n + m numbers to spare.
    """
    if kind == 0:
        qr_basis(A, n, m, f, out)
    elif kind == 1:
        svd_basis(A, n, m, f, out)
    else:
        eigen_basis(A, n, m, f, out)


@inline
def qr_basis(A, n, m, f, out):
    """out <- Q2 of A^T"""
    tau, rank = A + n * m, min(m, n - f)
    for c in range(rank):
        best, size = c, -1.0
        for j in range(c, m):
            rest = A + (n * j + c)
            s = plus_dot(0.0, rest, rest, n - c)
            if s > size:
                best, size = j, s
        if best != c:
            for i in range(n):
                A[n * c + i], A[n * best + i] = A[n * best + i], A[n * c + i]
        v = A + (n + 1) * c
        tau[c] = 0.0
        if size > 0.0:
            first = v[0]
            beta = -np.sqrt(size) if first >= 0.0 else np.sqrt(size)
            tau[c] = (beta - first) / beta
            for i in range(1, n - c):
                v[i] /= first - beta
            for j in range(c + 1, m):
                reflect(v, tau[c], A + (n * j + c), n - c)
    clear(out, n * f)
    for j in range(f):
        out[n * j + rank + j] = 1.0
        for c in range(rank - 1, -1, -1):
            reflect(A + (n + 1) * c, tau[c], out + (n * j + c), n - c)


@inline
def reflect(v, tau, a, n):
    """a <- (I - tau v v^T) a with v = (1, v_1, ..)"""
    s = tau * plus_dot(a[0], v + 1, a + 1, n - 1)
    a[0] -= s
    add_multiple(a + 1, -s, v + 1, n - 1)


@inline
def rotation(alpha, beta, gamma):
    """(cos, sin) of the rotation that makes two vectors with products (alpha, gamma; gamma, beta) orthogonal."""
    theta = (beta - alpha) / (2.0 * gamma)
    t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    c = 1.0 / np.sqrt(t * t + 1.0)
    return c, c * t


@inline
def turn_pair(a, b, step, count, c, s):
    """a, b <- c a - s b, s a + c b for every step-th of their numbers"""
    for k in range(0, step * count, step):
        a[k], b[k] = c * a[k] - s * b[k], s * a[k] + c * b[k]


@inline
def svd_basis(A, n, m, f, out):
    """out <- right singular vectors of zero singular values of A"""
    V, size = A + n * m, A + (n * m + n * n)
    fill_identity(V, n)
    for _ in range(60):
        turned = 0
        for p in range(n - 1):
            for q in range(p + 1, n):
                alpha, beta, gamma = 0.0, 0.0, 0.0
                for r in range(m):
                    a, b = A[n * r + p], A[n * r + q]
                    alpha += a * a
                    beta += b * b
                    gamma += a * b
                if abs(gamma) > 1e-15 * np.sqrt(alpha * beta) + 1e-30:
                    turned += 1
                    c, s = rotation(alpha, beta, gamma)
                    turn_pair(A + p, A + q, n, m, c, s)
                    turn_pair(V + p, V + q, n, n, c, s)
        if turned == 0:
            break
    for p in range(n):
        size[p] = column_product(A + p, A + p, n, m)
    take_smallest(V, size, n, f, out)


@inline
def eigen_basis(A, n, m, f, out):
    """out <- eigenvectors of zero eigenvalues of S = A^T A"""
    V, size, S = A + n * m, A + (n * m + n * n), A + (n * m + n * n + n)
    fill_identity(V, n)
    scale = 0.0
    for p in range(n):
        for q in range(n):
            S[n * p + q] = column_product(A + p, A + q, n, m)
        scale = max(scale, S[(n + 1) * p])
    for _ in range(60):
        turned = 0
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(S[n * p + q]) > 1e-17 * scale:
                    turned += 1
                    c, s = rotation(S[(n + 1) * p], S[(n + 1) * q], S[n * p + q])
                    turn_pair(S + p, S + q, n, n, c, s)
                    turn_pair(S + n * p, S + n * q, 1, n, c, s)
                    turn_pair(V + p, V + q, n, n, c, s)
        if turned == 0:
            break
    for p in range(n):
        size[p] = S[(n + 1) * p]
    take_smallest(V, size, n, f, out)


@inline
def column_product(a, b, n, rows):
    """a . b of two columns in rows of n numbers"""
    s = 0.0
    for r in range(rows):
        s += a[n * r] * b[n * r]
    return s


@inline
def fill_identity(V, n):
    clear(V, n * n)
    for i in range(n):
        V[(n + 1) * i] = 1.0


@inline
def take_smallest(V, size, n, f, out):
    """out <- the f columns of the n x n matrix V with the smallest sizes, in their order."""
    for _ in range(f):
        best = -1
        for p in range(n):
            if size[p] < np.inf and (best < 0 or size[p] < size[best]):
                best = p
        size[best] = np.inf
    j = 0
    for p in range(n):
        if size[p] == np.inf:
            for i in range(n):
                out[n * j + i] = V[n * i + p]
            j += 1
