"""A basis of the tangent space from the constraint Jacobian alone: QR, singular values, eigenvalues [QRContinuation, 2.3-2.4].

    A^T = [Q1 Q2] [R1; 0]        Q2 by Householder reflections with column pivoting                       (8)
    A^T = U Sigma V^T            left singular vectors of zero singular values, by one-sided Jacobi rotations    (20)
    A^T A = U Lambda U^T         eigenvectors of zero eigenvalues, by Jacobi rotations                     (21)

A = G W^-1/2, so that lengths are those of the metric. All three span the same space; which vectors they choose in it can jump
from one configuration to the next.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline


@inline
def qr_basis(A, n, m, f, out, W):
    """W[out] <- f columns of n numbers: Q2 of the n x m matrix A^T of rank n - f at W[A] (columns contiguous, overwritten)."""
    tau, rank = A + n * m, min(m, n - f)
    for c in range(rank):
        best, size = c, -1.0
        for j in range(c, m):
            s = 0.0
            for i in range(c, n):
                s += W[A + n * j + i] * W[A + n * j + i]
            if s > size:
                best, size = j, s
        if best != c:
            for i in range(n):
                W[A + n * c + i], W[A + n * best + i] = W[A + n * best + i], W[A + n * c + i]
        W[tau + c] = 0.0
        if size > 0.0:
            first = W[A + n * c + c]
            beta = -np.sqrt(size) if first >= 0.0 else np.sqrt(size)
            W[tau + c] = (beta - first) / beta
            for i in range(c + 1, n):
                W[A + n * c + i] /= first - beta
            for j in range(c + 1, m):
                reflect(A + n * c, W[tau + c], A + n * j, c, n, W)
    for j in range(f):
        for i in range(n):
            W[out + n * j + i] = 0.0
        W[out + n * j + rank + j] = 1.0
        for c in range(rank - 1, -1, -1):
            reflect(A + n * c, W[tau + c], out + n * j, c, n, W)


@inline
def reflect(v, tau, a, c, n, W):
    """a <- (I - tau v v^T) a with v = (0, .., 1, v_c+1, ..)"""
    s = W[a + c]
    for i in range(c + 1, n):
        s += W[v + i] * W[a + i]
    s *= tau
    W[a + c] -= s
    for i in range(c + 1, n):
        W[a + i] -= s * W[v + i]


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
def svd_basis(A, n, m, f, out, W):
    """W[out] <- f columns: right singular vectors of zero singular values of the m x n matrix A at W[A] (rows contiguous)."""
    V, size = A + n * m, A + n * m + n * n
    identity(V, n, W)
    for _ in range(60):
        turned = 0
        for p in range(n - 1):
            for q in range(p + 1, n):
                alpha, beta, gamma = 0.0, 0.0, 0.0
                for r in range(m):
                    a, b = W[A + n * r + p], W[A + n * r + q]
                    alpha += a * a
                    beta += b * b
                    gamma += a * b
                if abs(gamma) > 1e-15 * np.sqrt(alpha * beta) + 1e-30:
                    turned += 1
                    c, s = rotation(alpha, beta, gamma)
                    turn_columns(A, p, q, n, m, c, s, W)
                    turn_columns(V, p, q, n, n, c, s, W)
        if turned == 0:
            break
    for p in range(n):
        W[size + p] = 0.0
        for r in range(m):
            W[size + p] += W[A + n * r + p] * W[A + n * r + p]
    take_smallest(V, size, n, f, out, W)


@inline
def eigen_basis(A, n, m, f, out, W):
    """W[out] <- f columns: eigenvectors of zero eigenvalues of A^T A, with A m x n at W[A] (rows contiguous)."""
    V, S = A + n * m, A + n * m + n * n + n
    size = A + n * m + n * n
    identity(V, n, W)
    scale = 0.0
    for p in range(n):
        for q in range(n):
            s = 0.0
            for r in range(m):
                s += W[A + n * r + p] * W[A + n * r + q]
            W[S + n * p + q] = s
        scale = max(scale, W[S + n * p + p])
    for _ in range(60):
        turned = 0
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(W[S + n * p + q]) > 1e-17 * scale:
                    turned += 1
                    c, s = rotation(W[S + n * p + p], W[S + n * q + q], W[S + n * p + q])
                    turn_columns(S, p, q, n, n, c, s, W)
                    for i in range(n):
                        a, b = W[S + n * p + i], W[S + n * q + i]
                        W[S + n * p + i], W[S + n * q + i] = c * a - s * b, s * a + c * b
                    turn_columns(V, p, q, n, n, c, s, W)
        if turned == 0:
            break
    for p in range(n):
        W[size + p] = W[S + n * p + p]
    take_smallest(V, size, n, f, out, W)


@inline
def identity(V, n, W):
    for i in range(n * n):
        W[V + i] = 0.0
    for i in range(n):
        W[V + (n + 1) * i] = 1.0


@inline
def turn_columns(A, p, q, n, rows, c, s, W):
    """Columns p, q of the rows x n matrix at W[A] <- c a_p - s a_q, s a_p + c a_q"""
    for r in range(rows):
        a, b = W[A + n * r + p], W[A + n * r + q]
        W[A + n * r + p], W[A + n * r + q] = c * a - s * b, s * a + c * b


@inline
def take_smallest(V, size, n, f, out, W):
    """W[out] <- the f columns of the n x n matrix at W[V] with the smallest W[size + i], in their order."""
    for _ in range(f):
        best = -1
        for p in range(n):
            if W[size + p] < np.inf and (best < 0 or W[size + p] < W[size + best]):
                best = p
        W[size + best] = np.inf
    j = 0
    for p in range(n):
        if W[size + p] == np.inf:
            for i in range(n):
                W[out + n * j + i] = W[V + n * i + p]
            j += 1
