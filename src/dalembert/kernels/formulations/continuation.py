"""Continuation of a tangent basis from one configuration to the next [QRContinuation, 2.5].

    Q2' = -Q1 Omega21^T = -A^+ A' Q2 = B                                                     (27)
    Q2 <- exp(h K) Q2,   K = B Q2^T - Q2 B^T = [P', P]  skew-symmetric,  P = Q2 Q2^T            (28)
    order 4:  h K <- h/6 (K_0 + 4 K_m + K_1) - h^2/12 [K_0, K_1]        [MuntheKaas1999; HairerLubichWanner2006, IV.7]

then P of the new configuration and orthonormalisation. K_m comes from the cubic through P_0, P'_0, P_1, P'_1. Everything stays
in the span of Z_0, B_0, Z_1, B_1, so the exponential acts on coefficients of at most 4 f vectors and costs no n x n matrix.
Deviation: Omega1 = 0. It turns Q1 within itself, which the factorisation of the new Jacobian replaces anyway.
Deviation: orthonormalisation is symmetric (X (X^T X)^-1/2, the nearest basis to X) instead of Gram-Schmidt, which would keep
the first column and turn the last ones.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline


@inline
def gram(D, columns, n, weight, out, system):
    """W[out] <- D^T W D for `columns` vectors of n numbers at W[D]."""
    F, W = system.F, system.W
    for a in range(columns):
        for b in range(a + 1):
            s = 0.0
            for i in range(n):
                s += F[weight + i] * W[D + n * a + i] * W[D + n * b + i]
            W[out + columns * a + b] = s
            W[out + columns * b + a] = s


@inline
def orthonormalise(X, f, n, weight, small, system):
    """X <- X (X^T W X)^-1/2 by X <- X (3 I - X^T W X) / 2; True when that converges. X needs columns of at most unit length."""
    W = system.W
    row = small + f * f
    for _ in range(40):
        gram(X, f, n, weight, small, system)
        worst = 0.0
        for a in range(f):
            for b in range(f):
                worst = max(worst, abs(W[small + f * a + b] - (1.0 if a == b else 0.0)))
        if worst <= 4e-15:
            return True
        if not np.isfinite(worst):
            return False
        for i in range(n):
            for a in range(f):
                s = 0.0
                for b in range(f):
                    s += W[X + n * b + i] * W[small + f * b + a]
                W[row + a] = 1.5 * W[X + n * a + i] - 0.5 * s
            for a in range(f):
                W[X + n * a + i] = W[row + a]
    return False


@inline
def add_projectors(p_0, d_0, p_1, d_1, c, out, G, f, W):
    """W[out] += (p_0 P_0 + d_0 P'_0 + p_1 P_1 + d_1 P'_1) applied to coefficients W[c] in (Z_0, B_0, Z_1, B_1), 4 f x f each.

    P = Z Z^T, P' = B Z^T + Z B^T; G is the Gram matrix of the 4 f vectors.
    """
    k = 4 * f
    for end in range(2):
        p, d = (p_0, d_0) if end == 0 else (p_1, d_1)
        z, b = 2 * f * end, 2 * f * end + f
        for i in range(f):
            for j in range(f):
                along, across = 0.0, 0.0
                for e in range(k):
                    along += W[G + k * (z + i) + e] * W[c + f * e + j]
                    across += W[G + k * (b + i) + e] * W[c + f * e + j]
                W[out + f * (z + i) + j] += p * along + d * across
                W[out + f * (b + i) + j] += d * along


@inline
def add_generator(scale, p_0, d_0, p_1, d_1, q_0, e_0, q_1, e_1, c, out, spare, G, f, W):
    """W[out] += scale (P' P - P P') W[c], with P' = d.. and P = q.. in the sense of `add_projectors`."""
    for i in range(4 * f * f):
        W[spare + i] = 0.0
    add_projectors(q_0, e_0, q_1, e_1, c, spare, G, f, W)
    add_projectors(scale * p_0, scale * d_0, scale * p_1, scale * d_1, spare, out, G, f, W)
    for i in range(4 * f * f):
        W[spare + i] = 0.0
    add_projectors(p_0, d_0, p_1, d_1, c, spare, G, f, W)
    add_projectors(-scale * q_0, -scale * e_0, -scale * q_1, -scale * e_1, spare, out, G, f, W)


@inline
def add_exponent(order, h, scale, c, out, spare, G, f, W):
    """W[out] += scale * (exponent of the step) W[c]"""
    block = 4 * f * f
    if order == 1:
        add_generator(scale * h, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, c, out, spare, G, f, W)
        return
    add_generator(scale * h / 6.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, c, out, spare, G, f, W)
    add_generator(scale * h / 6.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, c, out, spare, G, f, W)
    slope = 1.5 / h
    add_generator(
        scale * h / 1.5, -slope, -0.25, slope, -0.25, 0.5, 0.125 * h, 0.5, -0.125 * h, c, out, spare, G, f, W
    )  # fmt: skip
    inner = spare + block
    for end in range(2):
        for i in range(block):
            W[inner + i] = 0.0
        z, o = float(end), 1.0 - float(end)  # K_1 first, then K_0; and the other way round
        add_generator(1.0, 0.0, z, 0.0, o, z, 0.0, o, 0.0, c, inner, spare, G, f, W)
        sign = -1.0 if end == 0 else 1.0
        add_generator(sign * scale * h * h / 12.0, 0.0, o, 0.0, z, o, 0.0, z, 0.0, inner, out, spare, G, f, W)


@inline
def exponential(order, h, D, f, n, weight, small, out, system):
    """W[out] <- exp(exponent) Z_0, f columns, for (Z_0, B_0, Z_1, B_1) at W[D]."""
    W = system.W
    k, block = 4 * f, 4 * f * f
    G, c, term, spare = small, small + k * k, small + k * k + block, small + k * k + 3 * block
    gram(D, k, n, weight, G, system)
    turn = 0.0
    for i in range(f):
        turn += abs(W[G + (k + 1) * (f + i)]) + abs(W[G + (k + 1) * (3 * f + i)])
    parts = 1 + int(min(1e3, abs(h) * np.sqrt(turn)))
    for i in range(block):
        W[c + i] = 0.0
    for i in range(f):
        W[c + f * i + i] = 1.0
    for _ in range(parts):
        for i in range(block):
            W[term + i] = W[c + i]
        for power in range(1, 40):
            for i in range(block):
                W[term + block + i] = 0.0
            add_exponent(order, h, 1.0 / (parts * power), term, term + block, spare, G, f, W)
            largest = 0.0
            for i in range(block):
                W[term + i] = W[term + block + i]
                W[c + i] += W[term + i]
                largest = max(largest, abs(W[term + i]))
            if not largest > 1e-18:
                break
    for j in range(f):
        for i in range(n):
            s = 0.0
            for e in range(k):
                s += W[D + n * e + i] * W[c + f * e + j]
            W[out + n * j + i] = s
