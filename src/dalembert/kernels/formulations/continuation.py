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
from dalembert.kernels.base.loops import clear, copy


@inline
def weighted_product(a, b, system):
    """a^T W b of two columns of velocities"""
    s, weight = 0.0, system.constants + system.minimal.weight
    for i in range(system.nu):
        s += weight[i] * a[i] * b[i]
    return s


@inline
def gram(D, columns, out, system):
    """out <- D^T W D for columns of velocities"""
    for a in range(columns):
        for b in range(a + 1):
            s = weighted_product(D + system.nu * a, D + system.nu * b, system)
            out[columns * a + b] = s
            out[columns * b + a] = s


@inline
def orthonormalise(X, system):
    """X <- X (X^T W X)^-1/2 by X <- X (3 I - X^T W X) / 2; True when that converges. X needs columns of at most unit length."""
    n, f, products = system.nu, system.minimal.dof, system.all + system.minimal.small
    row = products + f * f
    for _ in range(40):
        gram(X, f, products, system)
        worst = 0.0
        for a in range(f):
            for b in range(f):
                worst = max(worst, abs(products[f * a + b] - (1.0 if a == b else 0.0)))
        if worst <= 4e-15:
            return True
        if not np.isfinite(worst):
            return False
        for i in range(n):
            for a in range(f):
                s = 0.0
                for b in range(f):
                    s += X[n * b + i] * products[f * b + a]
                row[a] = 1.5 * X[n * a + i] - 0.5 * s
            for a in range(f):
                X[n * a + i] = row[a]
    return False


@inline
def add_projectors(scale, parts, c, out, G, f):
    """out += scale (p_0 P_0 + d_0 P'_0 + p_1 P_1 + d_1 P'_1) c for coefficients in (Z_0, B_0, Z_1, B_1), 4 f x f each.

    parts : (p_0, d_0, p_1, d_1); P = Z Z^T, P' = B Z^T + Z B^T; G : Gram matrix of the 4 f vectors
    """
    k = 4 * f
    for end in range(2):
        p = scale * (parts[0] if end == 0 else parts[2])  # by constant numbers: they need not be of one type
        d = scale * (parts[1] if end == 0 else parts[3])
        z, b = 2 * f * end, 2 * f * end + f
        for i in range(f):
            for j in range(f):
                along, across = 0.0, 0.0
                for e in range(k):
                    along += G[k * (z + i) + e] * c[f * e + j]
                    across += G[k * (b + i) + e] * c[f * e + j]
                out[f * (z + i) + j] += p * along + d * across
                out[f * (b + i) + j] += d * along


@inline
def add_generator(scale, rate, place, c, out, spare, G, f):
    """out += scale (P' P - P P') c, with P' = rate and P = place in the sense of `add_projectors`."""
    clear(spare, 4 * f * f)
    add_projectors(1.0, place, c, spare, G, f)
    add_projectors(scale, rate, spare, out, G, f)
    clear(spare, 4 * f * f)
    add_projectors(1.0, rate, c, spare, G, f)
    add_projectors(-scale, place, spare, out, G, f)


@inline
def add_exponent(order, h, scale, c, out, spare, G, f):
    """out += scale * (exponent of the step) c"""
    block = 4 * f * f
    if order == 1:
        add_generator(scale * h, (0.0, 1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), c, out, spare, G, f)
        return
    slope, bend = 1.5 / h, 0.125 * h
    add_generator(scale * h / 6.0, (0.0, 1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), c, out, spare, G, f)
    add_generator(scale * h / 6.0, (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.0), c, out, spare, G, f)
    add_generator(scale * h / 1.5, (-slope, -0.25, slope, -0.25), (0.5, bend, 0.5, -bend), c, out, spare, G, f)
    product = spare + block
    for end in range(2):
        clear(product, block)
        z, o = float(end), 1.0 - float(end)  # K_1 first, then K_0; and the other way round
        add_generator(1.0, (0.0, z, 0.0, o), (z, 0.0, o, 0.0), c, product, spare, G, f)
        sign = -1.0 if end == 0 else 1.0
        add_generator(sign * scale * h * h / 12.0, (0.0, o, 0.0, z), (o, 0.0, z, 0.0), product, out, spare, G, f)


@inline
def exponential(h, D, out, system):
    """out <- exp(exponent) Z_0, f columns, for D = (Z_0, B_0, Z_1, B_1)."""
    n, f, order = system.nu, system.minimal.dof, system.minimal.order
    k, block, G = 4 * f, 4 * f * f, system.all + system.minimal.small
    c, term = G + k * k, G + (k * k + block)
    more, spare = term + block, term + 2 * block
    gram(D, k, G, system)
    turn = 0.0
    for i in range(f):
        turn += abs(G[(k + 1) * (f + i)]) + abs(G[(k + 1) * (3 * f + i)])
    parts = 1 + int(min(1e3, abs(h) * np.sqrt(turn)))
    clear(c, block)
    for i in range(f):
        c[(f + 1) * i] = 1.0
    for _ in range(parts):
        copy(term, c, block)
        for power in range(1, 40):
            clear(more, block)
            add_exponent(order, h, 1.0 / (parts * power), term, more, spare, G, f)
            largest = 0.0
            for i in range(block):
                term[i] = more[i]
                c[i] += term[i]
                largest = max(largest, abs(term[i]))
            if not largest > 1e-18:
                break
    for j in range(f):
        for i in range(n):
            s = 0.0
            for e in range(k):
                s += D[n * e + i] * c[f * e + j]
            out[n * j + i] = s
