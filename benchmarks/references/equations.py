"""Equations of motion of the mechanisms, each in its least number of coordinates."""

import numpy as np

from benchmarks.references.jets import Jet, L, cross, dot, jets, minus, plus, scaled

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
