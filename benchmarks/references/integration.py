"""Integration in extended precision, always twice: Gragg-Bulirsch-Stoer extrapolation, Radau IIA [HairerWanner1996, IV.5]."""

import itertools

import numpy as np

from benchmarks.references.jets import L


def extrapolated(rates, y, t, t_end, tolerance, h=None):
    """Gragg-Bulirsch-Stoer with 2, 4, .., 16 substeps: the state at t_end, step size from the last two columns."""
    y, t, t_end = np.array(y, dtype=L), L(t), L(t_end)
    h = (t_end - t) / 4 if h is None else min(L(h), t_end - t)
    while t < t_end:
        rows, f = [], rates(t, y)
        for k in range(1, 9):
            n = 2 * k
            step = h / n
            a, b = y, y + step * f
            for i in range(1, n):
                a, b = b, a + 2 * step * rates(t + i * step, b)
            row = [(a + b + step * rates(t + h, b)) / 2]
            for j in range(1, k):
                row.append(row[j - 1] + (row[j - 1] - rows[-1][j - 1]) / ((L(k) / (k - j)) ** 2 - 1))
            rows.append(row)
        error = np.max(np.abs(rows[-1][-1] - rows[-1][-2]) / (1 + np.abs(y)))
        factor = L("0.8") * (tolerance / max(error, L(1e-30))) ** (L(1) / 15)
        if error <= tolerance:
            t, y = t + h, rows[-1][-1]
        h = min(h * min(max(factor, L("0.2")), L(3)), t_end - t) if t < t_end else h
    return y


def radau_tableau(s=5):
    """Nodes and matrix of Radau IIA: zeros of d^(s-1)/dx^(s-1) (x^(s-1) (x - 1)^s), refined in extended precision."""
    p = np.polynomial.Polynomial
    q = (p([0, 1]) ** (s - 1) * p([-1, 1]) ** s).deriv(s - 1)
    coefficients = [L(v) for v in q.coef]
    nodes = [L(v) for v in np.sort(q.roots().real)]
    for _ in range(4):
        value = lambda x: sum(c * x**i for i, c in enumerate(coefficients))  # noqa: E731
        slope = lambda x: sum(i * c * x ** (i - 1) for i, c in enumerate(coefficients) if i)  # noqa: E731
        nodes = [x - value(x) / slope(x) for x in nodes]
    nodes[-1] = L(1)
    matrix = np.zeros((s, s), dtype=L)
    for j in range(s):
        basis = np.array([L(1)])
        for m in range(s):
            if m != j:
                basis = np.convolve(basis, np.array([-nodes[m], L(1)])) / (nodes[j] - nodes[m])
        for i in range(s):
            matrix[i, j] = sum(c * nodes[i] ** (n + 1) / (n + 1) for n, c in enumerate(basis))
    return np.array(nodes), matrix


def radau(rates, y, grid):
    """The state at every point of the grid, one step of Radau IIA between neighbours; simplified Newton to rounding."""
    nodes, matrix = radau_tableau()
    s, n = len(nodes), len(y)
    y = np.array(y, dtype=L)
    states = [y]
    for t, t_next in itertools.pairwise(grid):
        h = t_next - t
        f = rates(t, y)
        jacobian = np.zeros((n, n))
        for k in range(n):
            shifted = y.copy()
            shifted[k] += (d := L(1e-8) * max(abs(y[k]), L(1)))
            jacobian[:, k] = (rates(t, shifted) - f) / d
        system = np.linalg.inv(np.eye(s * n) - np.kron((h * matrix).astype(float), jacobian))
        z = np.zeros((s, n), dtype=L)
        last = L(np.inf)
        for _ in range(40):
            f = np.array([rates(t + c * h, y + z[i]) for i, c in enumerate(nodes)])
            residual = h * (matrix @ f) - z
            change = (system @ residual.astype(float).ravel()).reshape(s, n)
            z = z + change
            size = np.abs(change).max()
            if size < 1e-17 or (size >= last and size < 1e-12):
                break
            last = size
        else:
            raise RuntimeError(f"Newton stalls at t = {t}: {size}")
        y = y + z[-1]
        states.append(y)
    return states


def twice(make):
    """The better of two runs and the largest relative difference between them, column by column."""
    rough, fine = np.array(make(0), dtype=L), np.array(make(1), dtype=L)
    scale = np.abs(fine).max(axis=0)
    return fine, float((np.abs(fine - rough).max(axis=0) / np.where(scale > 0, scale, 1)).max())


def series(rates, start, times, tolerances=(1e-15, 1e-17)):
    def run(k):
        y, t, out = np.array(start, dtype=L), L(0), []
        for end in times:
            if end > 0:
                y = extrapolated(rates, y, t, L(end), L(tolerances[k]))
            t = L(end)
            out.append(y)
        return out

    return twice(run)
