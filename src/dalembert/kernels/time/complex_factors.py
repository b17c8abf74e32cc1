"""Factors L U of complex matrices in two arrays, real and imaginary parts, of which a real matrix needs only the first.

Four columns are eliminated together, so that the rest of the matrix is gone through once for four [GolubVanLoan2013, 3.2.11].
Sums run over parts that processors multiply side by side; scalar products have four partial sums for the same reason.
"""

from dalembert.kernels.base.compiler import flat, inline

TOGETHER = 4


@flat
def exchange_and_eliminate(re, im, pivots, real):
    """(re, im) <- factors, inverses on the diagonal, rows exchanged as pivots say [GolubVanLoan2013, 3.4]; real: im is zero"""
    n, first = pivots.size, 0
    while first < n:
        last = min(first + TOGETHER, n)
        for k in range(first, last):
            best, pivot = 0.0, k
            for i in range(k, n):
                size = abs(re[i, k]) + abs(im[i, k])
                if size > best:
                    best, pivot = size, i
            pivots[k] = pivot
            if pivot != k:
                for j in range(n):
                    re[k, j], re[pivot, j] = re[pivot, j], re[k, j]
                    im[k, j], im[pivot, j] = im[pivot, j], im[k, j]
            inverse = 1.0 / complex(re[k, k], im[k, k])
            re[k, k], im[k, k] = inverse.real, inverse.imag
            for i in range(k + 1, n):
                if re[i, k] != 0.0 or im[i, k] != 0.0:
                    multiple = complex(re[i, k], im[i, k]) * inverse
                    re[i, k], im[i, k] = multiple.real, multiple.imag
                    subtract_one(re, im, i, k, k + 1, last)
        for k in range(first, last):  # what is behind these columns waits until their rows are known
            for i in range(k + 1, last):
                subtract_one(re, im, i, k, last, n)
        if last < n:
            for i in range(last, n):
                if real:
                    subtract_real(re, i, first, n)
                else:
                    subtract_complex(re, im, i, first, n)
        first = last


@inline
def subtract_one(re, im, i, k, begin, end):
    """Row i from `begin` to `end` -= its entry k times row k."""
    a, b = re[i, k], im[i, k]
    for j in range(begin, end):
        re[i, j] -= a * re[k, j] - b * im[k, j]
        im[i, j] -= a * im[k, j] + b * re[k, j]


@inline
def subtract_real(re, i, k, n):
    """Row i behind column k + 3 -= its entries k .. k + 3 times those rows."""
    a, b, c, d = re[i, k], re[i, k + 1], re[i, k + 2], re[i, k + 3]
    if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
        row, w, x, y, z = re[i, k + 4 : n], re[k, k + 4 : n], re[k + 1, k + 4 : n], re[k + 2, k + 4 : n], re[k + 3, k + 4 : n]
        for j in range(row.size):
            row[j] -= (a * w[j] + b * x[j]) + (c * y[j] + d * z[j])


@inline
def subtract_complex(re, im, i, k, n):
    """The same of complex numbers."""
    a, b, c, d = re[i, k], re[i, k + 1], re[i, k + 2], re[i, k + 3]
    e, f, g, h = im[i, k], im[i, k + 1], im[i, k + 2], im[i, k + 3]
    if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0 or e != 0.0 or f != 0.0 or g != 0.0 or h != 0.0:
        row, w, x, y, z = re[i, k + 4 : n], re[k, k + 4 : n], re[k + 1, k + 4 : n], re[k + 2, k + 4 : n], re[k + 3, k + 4 : n]
        col, p, q, r, s = im[i, k + 4 : n], im[k, k + 4 : n], im[k + 1, k + 4 : n], im[k + 2, k + 4 : n], im[k + 3, k + 4 : n]
        for j in range(row.size):
            row[j] -= (a * w[j] - e * p[j]) + (b * x[j] - f * q[j]) + (c * y[j] - g * r[j]) + (d * z[j] - h * s[j])
            col[j] -= (a * p[j] + e * w[j]) + (b * q[j] + f * x[j]) + (c * r[j] + g * y[j]) + (d * s[j] + h * z[j])


@inline
def dot(a, b, begin, end):
    """a . b from entry `begin` on in four partial sums"""
    p, q, r, s, most = 0.0, 0.0, 0.0, 0.0, end - (end - begin) % 4
    for k in range(begin, most, 4):
        p += a[k] * b[k]
        q += a[k + 1] * b[k + 1]
        r += a[k + 2] * b[k + 2]
        s += a[k + 3] * b[k + 3]
    for k in range(most, end):
        p += a[k] * b[k]
    return (p + q) + (r + s)


@inline
def complex_dot(a, b, x, y, begin, end, real):
    """(a + i b) . (x + i y)"""
    if real:
        return complex(dot(a, x, begin, end), 0.0)
    return complex(
        dot(a, x, begin, end) - dot(b, y, begin, end),
        dot(a, y, begin, end) + dot(b, x, begin, end),
    )


@flat
def back_substitute(re, im, pivots, x, y, real):
    """x + i y <- solution for that right-hand side."""
    n = pivots.size
    for i in range(n):
        pivot = pivots[i]
        x[i], x[pivot] = x[pivot], x[i]
        y[i], y[pivot] = y[pivot], y[i]
    for i in range(n):
        value = complex_dot(re[i], im[i], x, y, 0, i, real)
        x[i] -= value.real
        y[i] -= value.imag
    for i in range(n - 1, -1, -1):
        rest = complex_dot(re[i], im[i], x, y, i + 1, n, real)
        value = (complex(x[i], y[i]) - rest) * complex(re[i, i], im[i, i])
        x[i], y[i] = value.real, value.imag
