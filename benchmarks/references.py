"""Reference motions that no source prints, each derived here from scratch and integrated in extended precision.

    python benchmarks/references.py            writes src/dalembert/benchmark/data/derived.json

Nothing of the library is used: one-degree-of-freedom mechanisms by second derivatives of their closed kinematics, the top by
Euler's equations, the governor by Lagrange's equations in its three coordinates. Numbers are 80-bit (x86); steps are those of
Gragg-Bulirsch-Stoer extrapolation, for the stiff governor of Radau IIA with five stages [HairerWanner1996, IV.5]. Every motion
is integrated twice, with different tolerances or step sizes; their largest relative difference is stored as its accuracy.
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parents[1] / "src/dalembert/benchmark/data/derived.json"
L = np.longdouble
PI = L("3.14159265358979323846264338327950288")


class Jet:
    """f, f', f'' along the one coordinate."""

    def __init__(self, f, d=0, dd=0):
        self.f, self.d, self.dd = L(f), L(d), L(dd)

    def __add__(self, o):
        o = o if isinstance(o, Jet) else Jet(o)
        return Jet(self.f + o.f, self.d + o.d, self.dd + o.dd)

    def __mul__(self, o):
        o = o if isinstance(o, Jet) else Jet(o)
        return Jet(self.f * o.f, self.d * o.f + self.f * o.d, self.dd * o.f + 2 * self.d * o.d + self.f * o.dd)

    def chain(self, f, d, dd):
        """f(self) from the derivatives of f there."""
        return Jet(f, d * self.d, dd * self.d**2 + d * self.dd)

    def root(self):
        r = np.sqrt(self.f)
        return self.chain(r, 1 / (2 * r), -1 / (4 * r**3))

    def inverse(self):
        return self.chain(1 / self.f, -1 / self.f**2, 2 / self.f**3)

    def sin(self):
        return self.chain(np.sin(self.f), np.cos(self.f), -np.sin(self.f))

    def cos(self):
        return self.chain(np.cos(self.f), -np.sin(self.f), -np.cos(self.f))

    def __sub__(self, o):
        return self + o * L(-1) if isinstance(o, Jet) else self + (-o)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * L(-1)

    def __truediv__(self, o):
        return self * o.inverse() if isinstance(o, Jet) else self * (1 / L(o))


def plus(a, b):
    return tuple(x + y for x, y in zip(a, b, strict=True))


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b, strict=True))


def scaled(a, s):
    return tuple(x * s for x in a)


def dot(a, b):
    total = Jet(0)
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def jets(*values):
    return tuple(v if isinstance(v, Jet) else Jet(v) for v in values)


# ---------------------------------------------------------------------------------------------- Andrews' squeezer

A, B, C = jets(L("-0.06934"), L("-0.00227")), jets(L("-0.03635"), L("0.03273")), jets(L("0.014"), L("0.072"))


def circles(p, r, q, s, side):
    """The point at distance r from p and s from q, to the left (side = 1) or right of the line from p to q."""
    pq = minus(q, p)
    d2 = dot(pq, pq)
    along = (d2 + (L(r) ** 2 - L(s) ** 2)) / (d2 * 2)
    height = (Jet(L(r) ** 2) / d2 - along * along).root() * L(side)
    return plus(p, plus(scaled(pq, along), scaled((-pq[1], pq[0]), height)))


def squeezer(beta):
    """(direction, origin, centre, mass, inertia) of the seven bodies and point D; a direction is the body's x axis."""
    crank = (beta.cos(), beta.sin())
    F = scaled(crank, L("0.007"))
    E = circles(F, "0.028", B, "0.035", 1)
    G = circles(A, "0.04", E, "0.02", 1)
    H = circles(A, "0.04", E, "0.02", -1)

    def turned(v, quarter):
        """The x axis of a body in which v lies a number of quarter turns ahead."""
        return [v, (v[1], -v[0]), (-v[0], -v[1]), (-v[1], v[0])][quarter]

    k2, k6 = scaled(minus(F, E), 1 / L("0.028")), scaled(minus(E, H), 1 / L("0.02"))
    k3 = scaled(turned(minus(E, B), 3), 1 / L("0.035"))
    k4, k5 = scaled(turned(minus(E, G), 3), 1 / L("0.02")), scaled(minus(G, A), 1 / L("0.04"))
    k7 = scaled(turned(minus(H, A), 3), 1 / L("0.04"))
    table = (
        (crank, jets(0, 0), ("0.00092", "0"), "0.04325", "2.194e-6"),
        (k2, F, ("-0.0115", "0"), "0.00365", "4.41e-7"),
        (k3, B, ("0.01043", "-0.01874"), "0.02373", "5.255e-6"),
        (k4, G, ("0", "-0.00579"), "0.00706", "5.667e-7"),
        (k5, A, ("0.02308", "0.00916"), "0.0705", "1.169e-5"),
        (k6, H, ("0.00579", "0"), "0.00706", "5.667e-7"),
        (k7, A, ("-0.00449", "-0.01228"), "0.05498", "1.912e-5"),
    )
    return table, placed(k3, B, ("0.02", "-0.018"))


def placed(x_axis, origin, local):
    return plus(origin, plus(scaled(x_axis, L(local[0])), scaled((-x_axis[1], x_axis[0]), L(local[1]))))


def squeezer_terms(beta):
    """M, M'/2 and U' of M beta'' + M'/2 beta'^2 + U' = torque."""
    table, D = squeezer(Jet(beta, 1))
    M = half = L(0)
    for x_axis, origin, centre, mass, inertia in table:
        c, s = x_axis
        rate, bend = c.f * s.d - s.f * c.d, c.f * s.dd - s.f * c.dd
        x, y = placed(x_axis, origin, centre)
        M += L(mass) * (x.d**2 + y.d**2) + L(inertia) * rate**2
        half += L(mass) * (x.d * x.dd + y.d * y.dd) + L(inertia) * rate * bend
    stretch = dot(minus(D, C), minus(D, C)).root() + -L("0.07785")
    return M, half, L(4530) * stretch.f * stretch.d


def squeezer_rates(t, y):
    M, half, force = squeezer_terms(y[0])
    return np.array([y[1], (L("0.033") - force - half * y[1] ** 2) / M])


# ---------------------------------------------------------------------------------------------- spatial slider-crank


def crank_rates(inertia):
    """theta'' of the spatial slider-crank; inertia of the rod about n = x cross u, u from C to B, n cross u."""
    inertia = [L(value) for value in inertia]

    def terms(theta):
        q = Jet(theta, 1)
        arm = (Jet(0), -q.sin() * L("0.08"), q.cos() * L("0.08"))
        pivot = jets(0, L("0.1"), L("0.12"))
        pin = plus(pivot, arm)
        x = (Jet(L("0.09")) - pin[1] * pin[1] - pin[2] * pin[2]).root()
        end = jets(x, 0, 0)
        u = scaled(minus(pin, end), 1 / L("0.3"))
        n = cross(jets(1, 0, 0), u)
        n = scaled(n, dot(n, n).root().inverse())
        e = (n, u, cross(n, u))
        M = half = L(0)
        for j in range(3):
            a, b = e[(j + 1) % 3], e[(j + 2) % 3]  # rate about e_j: a' . b
            rate = sum(p.d * r.f for p, r in zip(a, b, strict=True))
            bend = sum(p.dd * r.f + p.d * r.d for p, r in zip(a, b, strict=True))
            M, half = M + inertia[j] * rate**2, half + inertia[j] * rate * bend
        middle = scaled(plus(pin, end), L("0.5"))
        centre = plus(pivot, scaled(arm, L("0.5")))
        for mass, point in (("0.12", centre), ("0.5", middle), ("2", end)):
            M += L(mass) * sum(p.d**2 for p in point)
            half += L(mass) * sum(p.d * p.dd for p in point)
        slope = L("9.81") * (L("0.12") * centre[2].d + L("0.5") * middle[2].d)
        return M + L("1e-4"), half, slope, x

    def rates(t, y):
        M, half, slope, _ = terms(y[0])
        return np.array([y[1], (-slope - half * y[1] ** 2) / M])

    return rates, lambda theta, rate: (terms(theta)[3].f, terms(theta)[3].d * rate)


# ---------------------------------------------------------------------------------------------- heavy top

J_TIP, M_TOP = np.array([L("15.234375"), L("0.46875"), L("15.234375")]), L(15)


def top_rates(t, y, inertia=J_TIP, mass=M_TOP):
    """Euler parameters and body angular velocity; the centre of mass is at (0, 1, 0) in body axes, gravity along -z."""
    e, w = y[:4], y[4:]
    e0, e1, e2, e3 = e
    up = np.array([2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), e0**2 - e1**2 - e2**2 + e3**2])  # world z, body axes
    weight = -mass * L("9.81") * up
    torque = np.array([weight[2], L(0), -weight[0]])  # (0, 1, 0) x weight
    Jw = inertia * w
    gyro = np.array([w[1] * Jw[2] - w[2] * Jw[1], w[2] * Jw[0] - w[0] * Jw[2], w[0] * Jw[1] - w[1] * Jw[0]])
    rate = np.array(
        [
            -e1 * w[0] - e2 * w[1] - e3 * w[2],
            e0 * w[0] - e3 * w[1] + e2 * w[2],
            e3 * w[0] + e0 * w[1] - e1 * w[2],
            -e2 * w[0] + e1 * w[1] + e0 * w[2],
        ]
    )
    return np.concatenate([rate / 2, (torque - gyro) / inertia])


# ---------------------------------------------------------------------------------------------- flyball governor


def governor_rates(t, y):
    """(w, alpha, s, alpha', s')' of the symmetric governor by Lagrange's equations; alpha below the horizontal."""
    w, alpha, s, da, ds = y
    k, c = L(800000), L(40000)
    rod, ball, slider, g = L("0.3"), L(5), L(3), L("9.81")
    axial, across = rod * L("2e-4") / 12, rod * (1 + L("1e-4")) / 12
    ca, sa = np.cos(alpha), np.sin(alpha)
    hinge = L("0.05")
    arm = rod * (hinge + ca / 2) ** 2 + ball * (hinge + ca) ** 2 + axial * sa**2 + across * ca**2
    slope = -rod * (hinge + ca / 2) * sa - 2 * ball * (hinge + ca) * sa + 2 * (axial - across) * sa * ca
    total = rod * L("2e-4") / 12 + slider * L("0.02") / 12 + 2 * arm
    x, z = ca / 2, 1 - sa / 2 - s
    length = np.sqrt(x**2 + z**2)
    x_a, z_a = -sa / 2, -ca / 2
    pull = k * (length - L("0.5")) + c * (x * x_a * da + z * (z_a * da - ds)) / length
    moment = (rod / 2 + ball) * g * ca + slope * w**2 / 2 - pull * (x * x_a + z * z_a) / length
    return np.array(
        [-2 * slope * da * w / total, da, ds, moment / (across + rod / 4 + ball), 2 * pull * z / length / slider - g]
    )


# ---------------------------------------------------------------------------------------------- integration


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


def governor(times, fine):
    """Steps grow from 1e-7 s across the boundary layer to 1/fine s; every output time is a grid point."""
    grid, h = [L(0)], L(1e-7)
    marks = [L(t) for t in times]
    while grid[-1] < marks[-1]:
        ahead = next(m for m in marks if m > grid[-1])
        step = min(h, ahead - grid[-1])
        grid.append(ahead if ahead - grid[-1] <= h * L("1.01") else grid[-1] + step)
        h = min(h * L("1.25"), L(1) / fine)
    states = radau(governor_rates, [2 * PI, PI / 6, L("0.5"), L(0), L(0)], grid)
    at = {float(t): y for t, y in zip(grid, states, strict=True)}
    return [at[t] for t in times]


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


def jacobi_difference(times, omega):
    """From w = (a_1 cn, a_2 sn, a_3 dn)(p t + v_0 | m), I = (1, 2, 3), L^2 > 2 T I_2 [LandauLifshitz1976, 37]."""
    from scipy.special import ellipj, ellipkinc

    I, w = np.array([1.0, 2.0, 3.0]), np.array([0.6, 0.2, 1.1])
    energy, momentum = float(I @ w**2), float((I * w) @ (I * w))
    low, high = energy * I[2] - momentum, momentum - energy * I[0]
    a = np.sqrt([low / (I[0] * (I[2] - I[0])), low / (I[1] * (I[2] - I[1])), high / (I[2] * (I[2] - I[0]))])
    p, m = np.sqrt((I[2] - I[1]) * high / I.prod()), (I[1] - I[0]) * low / ((I[2] - I[1]) * high)
    sn, cn, dn, _ = ellipj(p * np.array(times) + ellipkinc(np.arctan2(w[1] / a[1], w[0] / a[0]), m), m)
    return float(np.abs(np.stack([a[0] * cn, a[1] * sn, a[2] * dn], axis=1) - omega.astype(float)).max())


def floats(values):
    return [float(v) for v in values]


def main():
    made = {}
    times = [round(0.005 * k, 3) for k in range(1, 11)]
    for name, beta in (("andrews", L("-0.0617138900142764496358948458001")), ("andrews_rounded_start", L("-0.0620"))):
        y, accuracy = series(squeezer_rates, [beta, 0], times)
        F = [(L("0.007") * np.cos(b), L("0.007") * np.sin(b)) for b in y[:, 0]]
        made[name] = {
            "origin": "one coordinate beta, loops closed by intersecting circles, M beta'' + M'/2 beta'^2 + U' = torque",
            "accuracy": accuracy,
            "t": times,
            "values": {
                "x_F": floats(f[0] for f in F),
                "y_F": floats(f[1] for f in F),
                "beta": floats(y[:, 0]),
                "beta_rate": floats(y[:, 1]),
            },
        }
        print(name, accuracy, flush=True)
    times = [0.1 * k for k in range(1, 51)]
    times = [round(t, 1) for t in times]
    for name, inertia in (("slider_crank_a", ("4e-3", "4e-4", "4e-3")), ("slider_crank_c", ("4e-3", "4e-3", "4e-4"))):
        rates, slider = crank_rates(inertia)
        y, accuracy = series(rates, [0, 6], times)
        x = [slider(*row) for row in y]
        made[name] = {
            "origin": "one coordinate theta, closed kinematics, M theta'' + M'/2 theta'^2 + U' = 0",
            "accuracy": accuracy,
            "t": times,
            "values": {
                "slider_x": floats(v[0] for v in x),
                "slider_v": floats(v[1] for v in x),
                "crank_angle": floats(y[:, 0]),
                "crank_rate": floats(y[:, 1]),
            },
        }
        print(name, accuracy, flush=True)
    times = [round(0.1 * k, 1) for k in range(1, 21)]
    y, accuracy = series(top_rates, [1, 0, 0, 0, 0, 150, L("-4.61538")], times)
    made["heavy_top"] = {
        "origin": "Euler's equations about the fixed point, Euler parameters",
        "accuracy": accuracy,
        "t": times,
        "values": {"theta": [floats(row[:4]) for row in y], "omega": [floats(row[4:]) for row in y]},
    }
    print("heavy_top", accuracy, flush=True)
    times = [float(k) for k in range(1, 11)]
    inertia, w = np.array([L(1), L(2), L(3)]), [L("0.6"), L("0.2"), L("1.1")]
    y, accuracy = series(lambda t, y: top_rates(t, y, inertia, L(0)), [1, 0, 0, 0, *w], times)
    made["euler_top"] = {
        "origin": "Euler's equations without torque, Euler parameters",
        "accuracy": accuracy,
        "difference_from_elliptic_functions": jacobi_difference(times, y[:, 4:]),
        "t": times,
        "values": {"theta": [floats(row[:4]) for row in y], "omega": [floats(row[4:]) for row in y]},
    }
    print("euler_top", accuracy, made["euler_top"]["difference_from_elliptic_functions"], flush=True)
    times = [0.001, 0.01, 0.1, *[round(0.5 * k, 1) for k in range(1, 21)]]
    y, accuracy = twice(lambda k: governor(times, (150, 250)[k]))
    made["flyball_governor"] = {
        "origin": "three coordinates (turning angle, rod angle, slider height), Lagrange's equations, Radau IIA of order 9",
        "accuracy": accuracy,
        "t": times,
        "values": {"s": floats(y[:, 2]), "alpha": floats(y[:, 1]), "shaft_rate": floats(y[:, 0])},
    }
    print("flyball_governor", accuracy, flush=True)
    text = json.dumps({"source": ["benchmarks/references.py"], **made}, indent=1)
    text = re.sub(r"\[[^][{}\"]*\]", lambda found: " ".join(found.group().split()), text)  # one line for a row of numbers
    TARGET.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
