"""Sums and copies over n numbers. A run of numbers is a view of them (views.py) or an array from its start on.

Compiled code has the loops in place (loop_types.py): nothing is called, nothing compiled by itself.
"""


def plus_dot(s, a, b, n):
    """s + a . b, summed from s on"""
    for k in range(n):
        s += a[k] * b[k]
    return s


def minus_dot(s, a, b, n):
    """s - a . b, summed from s on"""
    for k in range(n):
        s -= a[k] * b[k]
    return s


def clear(a, n):
    for k in range(n):
        a[k] = 0.0


def copy(out, a, n):
    """out <- a"""
    for k in range(n):
        out[k] = a[k]


def negate(out, a, n):
    """out <- -a"""
    for k in range(n):
        out[k] = -a[k]


def add_multiple(out, s, a, n):
    """out += s a"""
    for k in range(n):
        out[k] += s * a[k]


def subtract_rows(out, f, s, a, stride, B, width, m, n):
    """out <- f (out - s sum_k a[stride k] B_k) for n numbers of the rows B_k, k < m, one every `width` numbers"""
    for c in range(n):
        total = out[c]
        for k in range(m):
            total -= s * a[stride * k] * B[width * k + c]
        out[c] = f * total
