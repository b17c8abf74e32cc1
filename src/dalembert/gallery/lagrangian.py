"""Systems given by a Lagrangian: the oscillators and the nonholonomic examples of [Variational], rolling in coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin
from typing import Any

import numpy as np

from dalembert.lagrangian.system import LagrangianSystem


def _oscillator(q: Any, v: Any, p: Any) -> Any:
    return p.m / 2 * (v.x**2 + v.y**2) - p.k / 2 * (q.x**2 + q.y**2)


def oscillator(k: float = 1.0, m: float = 1.0, start: Sequence[float] = (1.0, 0.0, 0.0, 1.0)) -> LagrangianSystem:
    """A mass in the plane on two springs [Variational, (1)]; start : x, y, x', y'. The default moves on the unit circle."""
    x, y, vx, vy = start
    return LagrangianSystem(
        _oscillator,
        "x y",
        parameters={"m": m, "k": k},
        initial={"x": x, "y": y},
        velocities={"x": vx, "y": vy},
        name="oscillator",
    )


def oscillator_on_circle(k: float = 2.0, m: float = 1.0, angle: float = 0.3, speed: float = 1.5) -> LagrangianSystem:
    """The same mass held on the unit circle by x x' + y y' = 0 alone [Variational, (17)]; its multiplier is k - m speed^2.

    Deviation: the source's k = m = speed = 1 leaves its constraint without a force (errata), so other numbers are used.
    """
    return LagrangianSystem(
        _oscillator,
        "x y",
        nonholonomic={"circle": lambda q, v: q.x * v.x + q.y * v.y},
        parameters={"m": m, "k": k},
        initial={"x": cos(angle), "y": sin(angle)},
        velocities={"x": -speed * sin(angle), "y": speed * cos(angle)},
        name="oscillator on a circle",
    )


def nonholonomic_particle(
    start: Sequence[float] = (0.0, 0.5, 0.0), velocity: Sequence[float] = (1.0, 0.8), m: float = 1.0
) -> LagrangianSystem:
    """A free particle with z' = y x' [Variational, 3]; velocity : x', y'."""
    return LagrangianSystem(
        lambda v, p: p.m / 2 * (v.x**2 + v.y**2 + v.z**2),
        "x y z",
        nonholonomic={"slope": lambda q, v: v.z - q.y * v.x},
        parameters={"m": m},
        initial=dict(zip("xyz", start, strict=True)),
        velocities=dict(zip("xy", velocity, strict=True)),
        name="nonholonomic particle",
    )


def chaplygin_sleigh(
    m: float = 2.0, inertia: float = 0.3, a: float = 0.25, speed: float = -1.0, turning: float = 0.7
) -> LagrangianSystem:
    """A sleigh on one knife edge: no lateral velocity there; its centre of mass lies a distance `a` ahead of the edge.

    x, y : the edge;  theta : its direction;  inertia : about the centre of mass;  speed, turning : at the start, along x
    """

    def L(q: Any, v: Any, p: Any) -> Any:
        vx = v.x - p.a * np.sin(q.theta) * v.theta
        vy = v.y + p.a * np.cos(q.theta) * v.theta
        return p.m / 2 * (vx**2 + vy**2) + p.J / 2 * v.theta**2

    return LagrangianSystem(
        L,
        "x y theta",
        nonholonomic={"edge": lambda q, v: -np.sin(q.theta) * v.x + np.cos(q.theta) * v.y},
        parameters={"m": m, "J": inertia, "a": a},
        initial={"x": 0.0, "y": 0.0, "theta": 0.0},
        velocities={"x": speed, "theta": turning},
        name="Chaplygin sleigh",
    )


def rolling_disc_in_coordinates(
    m: float = 1.0, r: float = 0.5, g: float = 9.81, lean: float = 0.3, u: Sequence[float] = (0.2, 6.0, -0.8)
) -> LagrangianSystem:
    """A thin uniform disc that rolls on the plane z = 0: yaw about z, lean about x, spin about y; x, y : point of contact.

    u : angular velocity in the axes that follow yaw and lean
    """

    def L(q: Any, v: Any, p: Any) -> Any:
        s, c = np.sin(q.lean), np.cos(q.lean)
        sy, cy = np.sin(q.yaw), np.cos(q.yaw)
        up = np.array([cy * s * v.yaw + sy * c * v.lean, sy * s * v.yaw - cy * c * v.lean, -s * v.lean])  # of the lean axis z
        velocity = np.array([v.x, v.y, 0.0]) + p.r * up
        w = np.array([v.lean, v.spin + v.yaw * s, v.yaw * c])
        inertia = p.m * p.r**2 * np.array([0.25, 0.5, 0.25])
        return p.m / 2 * velocity @ velocity + (w * inertia) @ w / 2 - p.m * p.g * p.r * c

    return LagrangianSystem(
        L,
        "x y yaw lean spin",
        nonholonomic={
            "rolling": lambda q, v, p: np.array(
                [v.x - p.r * np.cos(q.yaw) * v.spin, v.y - p.r * np.sin(q.yaw) * v.spin],
            )
        },
        parameters={"m": m, "r": r, "g": g},
        initial={"yaw": 0.0, "lean": lean, "spin": 0.0},
        velocities={"yaw": u[2] / cos(lean), "lean": u[0], "spin": u[1] - u[2] * sin(lean) / cos(lean)},
        name="rolling disc in coordinates",
    )


def _product(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """Product of quaternions, scalar first."""
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def routh_sphere_in_coordinates(
    m: float = 0.02,
    R: float = 0.02,
    alpha: float = 0.3,
    inertia: Sequence[float] = (131 / 350, 131 / 350, 2 / 5),
    g: float = 9.82,
    tilt: float = 0.4,
    omega: Sequence[float] = (1.5, 2.0, 40.0),
) -> LagrangianSystem:
    """Routh's sphere with Euler parameters as coordinates [Variational, (65)-(70)].

    x, y, z : centre of mass, alpha R below the centre of the sphere along its axis e3;  e0..e3 : Euler parameters
    inertia : about the centre of mass in units of m R^2;  tilt : of the axis about space x;  omega : in body axes
    Deviation: unit length and height are given as holonomic constraints, rolling as its two horizontal rows.
    """

    def w_body(q: Any, v: Any) -> Any:
        return 2 * np.array(_product((q.e0, -q.e1, -q.e2, -q.e3), (v.e0, v.e1, v.e2, v.e3))[1:])

    def w_space(q: Any, v: Any) -> Any:
        return 2 * np.array(_product((v.e0, v.e1, v.e2, v.e3), (q.e0, -q.e1, -q.e2, -q.e3))[1:])

    def axis(q: Any) -> Any:
        """e3 in space."""
        return np.array(
            [
                2 * (q.e1 * q.e3 + q.e0 * q.e2),
                2 * (q.e2 * q.e3 - q.e0 * q.e1),
                q.e0**2 - q.e1**2 - q.e2**2 + q.e3**2,
            ]
        )

    def L(q: Any, v: Any, p: Any) -> Any:
        w = w_body(q, v)
        return p.m / 2 * (v.x**2 + v.y**2 + v.z**2) + (w * p.J) @ w / 2 - p.m * p.g * q.z

    def rolling(q: Any, v: Any, p: Any) -> Any:
        arm = p.R * (p.alpha * axis(q) - np.array([0.0, 0.0, 1.0]))  # centre of mass -> contact
        return (np.array([v.x, v.y, v.z]) + np.cross(w_space(q, v), arm))[:2]

    e = (cos(tilt / 2), sin(tilt / 2), 0.0, 0.0)
    rates = [value / 2 for value in _product(e, (0.0, *omega))]
    names = ("e0", "e1", "e2", "e3")
    return LagrangianSystem(
        L,
        ("x", "y", "z", *names),
        holonomic={
            "unit length": lambda q: q.e0**2 + q.e1**2 + q.e2**2 + q.e3**2 - 1,
            "height": lambda q, p: q.z - p.R * (1 - p.alpha * axis(q)[2]),
        },
        nonholonomic={"rolling": rolling},
        parameters={"m": m, "R": R, "alpha": alpha, "g": g, "J": m * R**2 * np.array(inertia)},
        initial={"x": 0.0, "y": 0.0, **dict(zip(names, e, strict=True))},
        velocities=dict(zip(names, rates, strict=True)),
        name="Routh's sphere in coordinates",
    )
