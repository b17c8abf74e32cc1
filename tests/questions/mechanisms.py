"""Mechanisms of the tests in this folder, and what is known of them without the library."""

import numpy as np
from scipy.spatial.transform import Rotation

import dalembert as da


def bar(model, name, P, Q, mass=1.0):
    """A bar in the plane z = 0 from P to Q, its x axis along it."""
    d = np.subtract(Q, P)
    J = (mass or 0.0) * (d @ d) / 12
    inertia = None if mass is None else (0.01 * J, J, J)
    turn = da.Rotation.from_axis_angle((0, 0, 1), np.arctan2(d[1], d[0]))
    return model.add_body(name, mass=mass, inertia=inertia, position=np.add(P, Q) / 2, rotation=turn)


def hinge(model, name, first, second, P):
    model.add_revolute(name, first, second, point=P, axis=(0, 0, 1))


def circles(P, p, Q, q, side):
    """The point at distances p from P and q from Q, left (1) or right (-1) of the way from P to Q."""
    d = np.subtract(Q, P)
    L = np.hypot(*d[:2])
    along = (p * p - q * q + L * L) / (2 * L)
    e = d / L
    return np.asarray(P) + along * e + side * np.sqrt(p * p - along * along) * np.array([-e[1], e[0], 0.0])


def moving_circles(P, p, Q, q, side):
    """(place, velocity, acceleration) of the same point, where P and Q are such themselves: its distances stay."""
    X = circles(P[0], p, Q[0], q, side)
    arms = np.array([(X - P[0])[:2], (X - Q[0])[:2]])
    v = np.linalg.solve(arms, [arm @ end[1][:2] for arm, end in zip(arms, (P, Q), strict=True)])
    a = np.linalg.solve(
        arms, [arm @ end[2][:2] - (v - end[1][:2]) @ (v - end[1][:2]) for arm, end in zip(arms, (P, Q), strict=True)]
    )
    return X, np.append(v, 0.0), np.append(a, 0.0)


def on_circle(radius, angle):
    return radius * np.array([np.cos(angle), np.sin(angle), 0.0])


def beside(P, Q, along, across):
    """A point of the link from P to Q, in its own axes."""
    e = np.subtract(Q, P) / np.linalg.norm(np.subtract(Q, P))
    return P + along * e + across * np.array([-e[1], e[0], 0.0])


def derivatives(function, x, h=0.02):
    """First and second derivative by differences of order 8: 1e-13 and 1e-11 of what they are."""
    k = np.arange(-4, 5)
    values = np.array([function(x + h * j) for j in k])
    first = np.array([3, -32, 168, -672, 0, 672, -168, 32, -3]) / 840
    second = np.array([-9, 128, -1008, 8064, -14350, 8064, -1008, 128, -9]) / 5040
    return first @ values / h, second @ values / h**2


def bump(size):
    """size sin^6(pi t): from rest to rest within a second, so gently that a spline of efforts has no error at its ends."""
    parts = ((10, 0), (-15, 2), (6, 4), (-1, 6))
    made = da.Constant(parts[0][0] * size / 32)
    for factor, k in parts[1:]:
        made = made + da.Harmonic(factor * size / 32, omega=k * np.pi, phase=np.pi / 2)
    return made


def bumped(size, t):
    return size * np.sin(np.pi * np.asarray(t)) ** 6


def five_bar():
    """Two driven cranks on the ground and two bars that meet: two freedoms."""
    model = da.Model(gravity=(0, -9.81, 0))
    A, B = np.zeros(3), np.array([0.6, 0.0, 0.0])
    P, Q = A + on_circle(0.4, 2.0), B + on_circle(0.4, 1.1)
    E = circles(P, 0.7, Q, 0.7, 1)
    names = ("left", "right", "far left", "far right")
    for name, ends in zip(names, ((A, P), (B, Q), (P, E), (Q, E)), strict=True):
        bar(model, name, *ends)
    for name, first, second, at in (
        ("A", model.ground, "left", A), ("B", model.ground, "right", B), ("P", "left", "far left", P),
        ("Q", "right", "far right", Q), ("E", "far left", "far right", E),
    ):  # fmt: skip
        hinge(model, name, first, second, at)
    return model, ("A", "B")


def delta():
    """Three arms in a star, six light rods to a platform that keeps its directions: three freedoms."""
    model = da.Model(gravity=(0, 0, -9.81))
    platform = np.array([0.0, 0.0, -0.6])
    model.add_body("platform", mass=0.5, inertia=(0.002, 0.002, 0.004), position=platform)
    for k in range(3):
        out = on_circle(1.0, 2 * np.pi * k / 3)
        side = np.cross((0, 0, 1), out)
        hip, elbow = 0.2 * out, 0.2 * out + 0.25 * (out * np.cos(0.3) - np.array([0, 0, np.sin(0.3)]))
        model.add_link(f"arm{k}", hip, elbow, mass=0.3, radius=0.02)
        model.add_revolute(f"hip{k}", model.ground, f"arm{k}", point=hip, axis=side)
        for sign in (1, -1):
            ends = elbow + sign * 0.04 * side, platform + 0.05 * out + sign * 0.04 * side
            model.add_distance(f"rod{k}{'+-'[sign < 0]}", f"arm{k}", "platform", between=ends)
    return model, ("hip0", "hip1", "hip2")


BASE = np.array([on_circle(0.8, a) for a in (0.2, 1.9, 2.3, 4.0, 4.4, 6.1)])
TOP = np.array([on_circle(0.5, a) for a in (0.8, 1.3, 2.9, 3.4, 5.0, 5.5)])
HEIGHT = np.array([0.0, 0.0, 0.9])


def stewart(gravity=-9.81, stiffness=None):
    """A platform on six legs of two parts each: universal joints below, ball joints above, "leg0" ... the sliding ones."""
    model = da.Model(gravity=(0, 0, gravity))
    model.add_body("platform", mass=4.0, inertia=(0.3, 0.3, 0.6), position=HEIGHT)
    for k, (low, top) in enumerate(zip(BASE, TOP + HEIGHT, strict=True)):
        e = (top - low) / np.linalg.norm(top - low)
        across = np.cross(e, (0, 0, 1)) / np.linalg.norm(np.cross(e, (0, 0, 1)))
        model.add_link(f"lower{k}", low, low + 0.5 * e, mass=0.5, radius=0.03)
        model.add_link(f"upper{k}", top - 0.5 * e, top, mass=0.3, radius=0.02)
        model.add_universal(f"foot{k}", model.ground, f"lower{k}", point=low, axes=(across, np.cross(e, across)))
        model.add_prismatic(f"leg{k}", f"lower{k}", f"upper{k}", point=low, axis=e)
        model.add_spherical(f"ball{k}", f"upper{k}", "platform", point=top)
        if stiffness is not None:
            model.add_joint_spring_damper(f"spring{k}", f"leg{k}", stiffness=stiffness)
    return model, tuple(f"leg{k}" for k in range(6))


def lengths_of_legs(r, R):
    return np.linalg.norm(r + TOP @ R.T - BASE, axis=1)


def platform_of_legs(lengths):
    """(r, R) of the platform of given lengths of legs, by Newton's method from the middle."""
    r, R = HEIGHT.copy(), np.eye(3)
    for _ in range(30):
        d = r + TOP @ R.T - BASE
        J = np.hstack([d, np.cross(TOP @ R.T, d)])  # rows of half the squares of lengths, by (dr, turn in space)
        step = np.linalg.solve(J, 0.5 * (lengths**2 - np.sum(d * d, axis=1)))
        r, R = r + step[:3], Rotation.from_rotvec(step[3:]).as_matrix() @ R
        if np.abs(step).max() < 1e-15:
            break
    return r, R


LEGS = [(np.array([1.0 * x, 1.0 * y, 0.0]), np.array([0.2 * x, 0.2 * y, 0.0])) for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1))]


def elbow(k, at):
    """Of leg k of the planar platform, whose point is at `at`."""
    return circles(LEGS[k][0], 0.9, at, 0.9, 1)


def four_rrr(gravity=-9.81):
    """A plate in the plane on four legs of two bars, motors at all four feet: three freedoms."""
    model = da.Model(gravity=(0, gravity, 0))
    model.add_body("plate", mass=2.0, inertia=(0.02, 0.02, 0.04))
    for k, (foot, at) in enumerate(LEGS):
        knee = elbow(k, at)
        bar(model, f"thigh{k}", foot, knee, 0.4), bar(model, f"shin{k}", knee, at, 0.3)
        hinge(model, f"foot{k}", model.ground, f"thigh{k}", foot)
        hinge(model, f"knee{k}", f"thigh{k}", f"shin{k}", knee)
        hinge(model, f"on{k}", f"shin{k}", "plate", at)
    return model, tuple(f"foot{k}" for k in range(4))


def turns_of_feet(pose):
    """(4,) how far the thighs have turned at a pose (x, y, angle) of the plate."""
    x, y, angle = pose
    found = []
    for k, (foot, (px, py, _)) in enumerate(LEGS):
        turned = (px + 1j * py) * np.exp(1j * angle) + x + 1j * y
        now, before = (elbow(k, np.array([p.real, p.imag, 0.0])) - foot for p in (turned, px + 1j * py))
        found.append(np.angle((now[0] + 1j * now[1]) / (before[0] + 1j * before[1])))
    return np.array(found)
