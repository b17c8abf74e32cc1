"""Overconstrained linkages that move, each with a closed form: where its links are for every angle of its crank.

A linkage gives the axes of its hinges, body by body, as functions of the crank's angle; each body's frame is made from the axes
that are fixed in it, so that the closed form is one of poses. Each has more constraint rows than its rank, which is the same
all along the motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import dalembert as da

Array = npt.NDArray[np.float64]
Axis = tuple[Array, Array]  # a point and a direction
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Linkage:
    """joints : name -> (first body, second body, "revolute" or "prismatic");  axes(angle) : joint -> its axis
    crank : the driven joint, a hinge on the ground whose angle is that of the crank up to a constant
    start, swing : the crank turns fully from `start`, or swings about it by `swing`
    """

    name: str
    joints: dict[str, tuple[str, str, str]]
    axes: Callable[[float], dict[str, Axis]]
    crank: str
    start: float
    swing: float | None = None

    def motion(self) -> da.Polynomial | da.Harmonic:
        """What the crank is driven by during one second: a turn, or there and back."""
        return da.Polynomial((0.0, 2.0 * np.pi)) if self.swing is None else da.Harmonic(self.swing, 2.0 * np.pi)

    def angle(self, t: float) -> float:
        turned = 2.0 * np.pi * t if self.swing is None else self.swing * np.sin(2.0 * np.pi * t)
        return self.start + float(turned)

    @property
    def bodies(self) -> list[str]:
        names = [name for first, second, _ in self.joints.values() for name in (first, second)]
        return [name for name in dict.fromkeys(names) if name != "ground"]

    def pose(self, body: str, angle: float) -> tuple[Array, Array]:
        """(position, rotation) of a body: from the axes that it carries."""
        axes = self.axes(angle)
        carried = [axes[name] for name, ends in self.joints.items() if body in ends[:2]]
        (p, z), (q, w) = carried[0], carried[1]
        side = q - p if np.linalg.norm(np.cross(z, q - p)) > 1e-6 else w
        y = np.cross(z, side)
        y /= np.linalg.norm(y)
        return (p + q) / 2.0, np.column_stack([np.cross(y, z), y, z])

    def model(self, order: Sequence[str] | None = None, *, driven: bool = True, gravity: Array | None = None) -> da.Model:
        """The linkage with its joints added in the given order; free of its driver it starts with one turn a second."""
        model = da.Model(gravity=(0.0, 0.0, 0.0) if gravity is None else gravity, name=self.name)
        axes = self.axes(self.start)
        for k, body in enumerate(self.bodies):
            position, rotation = self.pose(body, self.start)
            inertia = (0.02 + 0.003 * k, 0.03, 0.025 + 0.002 * k)
            model.add_body(body, mass=1.0 + 0.1 * k, inertia=inertia, position=position, rotation=rotation)
        for name in order or self.joints:
            first, second, kind = self.joints[name]
            rate = {} if driven or name != self.crank else {"rate": 2.0 * np.pi}
            add = model.add_revolute if kind == "revolute" else model.add_prismatic
            add(name, first, second, point=axes[name][0], axis=axes[name][1], **rate)
        if driven:
            model.add_driver("drive", self.crank, self.motion())
        return model


def _denavit_hartenberg(links: Sequence[tuple[float, float]], angles: Sequence[float]) -> list[Axis]:
    """Axes of a chain of hinges: link k has the length and the twist links[k], hinge k the angle angles[k], no offsets."""
    T, found = np.eye(4), []
    for (length, twist), angle in zip(links, angles, strict=True):
        found.append((T[:3, 3].copy(), T[:3, 2].copy()))
        c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
        T = T @ np.array([[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]])
    return found


def _ring(names: Sequence[str], bodies: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Hinges that join the bodies one after the other, the last one to the ground."""
    ends = ["ground", *bodies, "ground"]
    return {name: (ends[k], ends[k + 1], "revolute") for k, name in enumerate(names)}


def bennett(a: float = 0.5, b: float = 0.3, twist: float = np.radians(40.0)) -> Linkage:
    """Bennett's loop of four hinges: a / sin alpha = b / sin beta  [Bennett1903]."""
    other = np.pi - np.arcsin(b * np.sin(twist) / a)

    def axes(angle: float) -> dict[str, Axis]:
        second = _bennett_angle(twist, other, angle)
        chain = _denavit_hartenberg([(a, twist), (b, other)] * 2, (angle, second, -angle, -second))
        # hinge 0 carries the ground link behind it, so the crank is link 0, which turns by `angle`
        return {f"R{k}": axis for k, axis in enumerate(chain)}

    return Linkage("Bennett", _ring(("R0", "R1", "R2", "R3"), ("l0", "l1", "l2")), axes, "R0", 1.2)


def _bennett_angle(twist: float, other: float, angle: float) -> float:
    """tan(theta_1 / 2) tan(theta_2 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2)"""
    ratio = np.sin((other + twist) / 2.0) / np.sin((other - twist) / 2.0)
    return float(2.0 * np.arctan2(ratio * np.cos(angle / 2.0), np.sin(angle / 2.0)))


def four_bar(tilt: float = 0.7) -> Linkage:
    """A crank-rocker of parallel hinges in an oblique plane: three rows too many."""
    lengths = (1.0, 0.3, 0.9, 0.7)
    c, s = np.cos(tilt), np.sin(tilt)
    R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])

    def axes(angle: float) -> dict[str, Axis]:
        a, d = np.zeros(3), np.array([lengths[0], 0.0, 0.0])
        b = lengths[1] * np.array([np.cos(angle), np.sin(angle), 0.0])
        points = {"A": a, "B": b, "C": _meet(b, d, lengths[2], lengths[3]), "D": d}
        return {name: (R @ p, R @ Z) for name, p in points.items()}

    return Linkage("four-bar", _ring(("A", "B", "C", "D"), ("crank", "coupler", "rocker")), axes, "A", 0.4)


def _meet(p: Array, q: Array, r_p: float, r_q: float) -> Array:
    """The left of the points at distances r_p and r_q from p and q, in the plane z = 0."""
    e = q - p
    d = float(np.linalg.norm(e))
    along = (d * d + r_p * r_p - r_q * r_q) / (2.0 * d)
    return p + along * e / d + np.sqrt(r_p * r_p - along * along) * np.cross(Z, e / d)


def slider_crank() -> Linkage:
    """Three parallel hinges and a slide: three rows too many."""
    r, length = 0.25, 0.8

    def axes(angle: float) -> dict[str, Axis]:
        b = r * np.array([np.cos(angle), np.sin(angle), 0.0])
        c = np.array([b[0] + np.sqrt(length**2 - b[1] ** 2), 0.0, 0.0])
        return {"A": (np.zeros(3), Z), "B": (b, Z), "C": (c, Z), "D": (c, np.array([1.0, 0.0, 0.0]))}

    joints = _ring(("A", "B", "C"), ("crank", "rod"))
    joints = joints | {"C": ("rod", "slider", "revolute"), "D": ("ground", "slider", "prismatic")}
    return Linkage("slider-crank", joints, axes, "A", 0.3)


def spherical_four_bar() -> Linkage:
    """Four hinges through one point, a crank-rocker on the sphere: Hooke's joint is one with right angles."""
    base, crank, coupler, rocker = np.radians((70.0, 25.0, 60.0, 55.0))

    def axes(angle: float) -> dict[str, Axis]:
        a, d = Z, np.array([np.sin(base), 0.0, np.cos(base)])
        b = np.array([np.sin(crank) * np.cos(angle), np.sin(crank) * np.sin(angle), np.cos(crank)])
        # c . b = cos(coupler), c . d = cos(rocker), |c| = 1
        g, n = float(b @ d), np.cross(b, d)
        u = (np.cos(coupler) - g * np.cos(rocker)) / (1.0 - g * g)
        v = (np.cos(rocker) - g * np.cos(coupler)) / (1.0 - g * g)
        part = u * b + v * d
        c = part + np.sqrt(1.0 - part @ part) * n / np.linalg.norm(n)
        return {name: (0.5 * axis, axis) for name, axis in (("A", a), ("B", b), ("C", c), ("D", d))}

    return Linkage("spherical four-bar", _ring(("A", "B", "C", "D"), ("crank", "coupler", "rocker")), axes, "A", 0.5)


def three_cranks() -> Linkage:
    """A parallelogram with a third crank beside the line of the others, which carries it through the change points."""
    r = 0.3
    mounts = {"1": np.array([0.0, 0.0, 0.0]), "2": np.array([0.6, 0.0, 0.0]), "3": np.array([0.25, 0.4, 0.0])}

    def axes(angle: float) -> dict[str, Axis]:
        v = r * np.array([np.cos(angle), np.sin(angle), 0.0])
        return {f"A{k}": (p, Z) for k, p in mounts.items()} | {f"B{k}": (p + v, Z) for k, p in mounts.items()}

    joints = {f"A{k}": ("ground", f"crank {k}", "revolute") for k in mounts}
    joints |= {f"B{k}": (f"crank {k}", "coupler", "revolute") for k in mounts}
    return Linkage("three cranks", joints, axes, "A1", 0.5)


def sarrus(legs: int = 2) -> Linkage:
    """A platform on legs of three parallel hinges each, in planes at right angles: it moves along a line."""
    length, offset = 0.4, 0.5

    def axes(angle: float) -> dict[str, Axis]:
        found: dict[str, Axis] = {}
        for k in range(legs):
            out = np.array([(0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)][k])
            foot = offset * out
            knee = foot + length * (np.cos(angle) * out + np.sin(angle) * Z)
            top = foot + 2.0 * length * np.sin(angle) * Z
            axis = np.cross(out, Z)
            found |= {f"a{k}": (foot, axis), f"b{k}": (knee, axis), f"c{k}": (top, axis)}
        return found

    joints = {}
    for k in range(legs):
        joints |= {
            f"a{k}": ("ground", f"lower {k}", "revolute"),
            f"b{k}": (f"lower {k}", f"upper {k}", "revolute"),
            f"c{k}": (f"upper {k}", "platform", "revolute"),
        }
    return Linkage("Sarrus" if legs == 2 else f"Sarrus with {legs} legs", joints, axes, "a0", 0.8, 0.5)


def bricard() -> Linkage:
    """The threefold-symmetric Bricard loop of six hinges with right twists: cos a + cos b + cos a cos b = 0 [Chen2005]."""
    quarter = np.pi / 2.0

    def axes(angle: float) -> dict[str, Axis]:
        other = float(np.arccos(-np.cos(angle) / (1.0 + np.cos(angle))))
        chain = _denavit_hartenberg([(0.4, quarter), (0.4, -quarter)] * 3, (angle, other) * 3)
        return {f"R{k}": axis for k, axis in enumerate(chain)}

    names = [f"R{k}" for k in range(6)]
    return Linkage("Bricard", _ring(names, [f"l{k}" for k in range(5)]), axes, "R0", 1.2, 0.6)


def goldberg() -> Linkage:
    """Goldberg's loop of five hinges: two Bennett loops on one link, which is left out with its hinge [Goldberg1943].

    Loops of links (a, alpha), (b, beta), twice, and (c, gamma), (b, beta), twice, in a frame in which the common link b is
    fixed: their first links turn about the same axis and are joined at an angle. That body is the ground here.
    """
    a, b, c, alpha = 0.5, 0.3, 0.4, np.radians(40.0)
    beta, gamma = np.pi - np.arcsin(b * np.sin(alpha) / a), np.arcsin(c * np.sin(alpha) / a)
    joined = 0.6

    def axes(angle: float) -> dict[str, Axis]:
        first = _bennett_angle(alpha, beta, angle)  # at the common axis; `angle` is that of the hinge behind the first link
        third = _bennett_angle(gamma, beta, first + joined)
        one = _denavit_hartenberg([(a, alpha), (b, beta)] * 2, (first, angle, -first, -angle))
        two = _denavit_hartenberg([(c, gamma), (b, beta)] * 2, (first + joined, third, -first - joined, -third))
        cos, sin = np.cos(first), np.sin(first)
        R = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
        chain = (one[1], one[2], one[3], two[2], two[1])
        return {f"R{k}": (R @ p, R @ z) for k, (p, z) in enumerate(chain)}

    return Linkage("Goldberg", _ring([f"R{k}" for k in range(5)], [f"l{k}" for k in range(4)]), axes, "R0", 1.2)


def kempe() -> Linkage:
    """Kempe's reversor: two similar contraparallelograms on one link; its second crank turns against the first [Kempe1877]."""
    a, b = 0.4, 0.7
    c = np.array([b, 0.0, 0.0])

    def mirrored(p: Array, q: Array, r: Array) -> Array:
        """The image of p where q and r change places."""
        e = (r - q) / np.linalg.norm(r - q)
        return p - 2.0 * ((p - (q + r) / 2.0) @ e) * e

    def axes(angle: float) -> dict[str, Axis]:
        crank = a * np.array([np.cos(angle), np.sin(angle), 0.0])
        corner = mirrored(np.zeros(3), crank, c)
        end = c + (corner - c) * (b / a) ** 2
        other = mirrored(c, np.zeros(3), end)
        points = {"O": np.zeros(3), "A": crank, "B": corner, "C": c, "D": end, "E": other, "P": np.zeros(3)}
        return {name: (p, Z) for name, p in points.items()}

    ends = {"O": ("ground", "crank"), "A": ("crank", "link"), "B": ("link", "lever"), "C": ("ground", "lever")}
    ends |= {"D": ("lever", "bar"), "E": ("bar", "reversed"), "P": ("ground", "reversed")}
    return Linkage("Kempe", {name: (*pair, "revolute") for name, pair in ends.items()}, axes, "O", 1.5, 0.8)


LINKAGES: tuple[Callable[[], Linkage], ...] = (
    bennett,
    four_bar,
    slider_crank,
    spherical_four_bar,
    three_cranks,
    sarrus,
    lambda: sarrus(3),
    bricard,
    goldberg,
    kempe,
)
