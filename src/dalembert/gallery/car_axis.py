"""The car axis: two masses on springs over a bumpy road, a time-dependent constraint between them and the road."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model


def car_axis(
    eps: float = 0.01,
    M: float = 10.0,
    length: float = 1.0,
    spring_length: float = 0.5,
    bump: float = 0.1,
    w: float = 10.0,
    g: float = 1.0,
) -> LagrangianSystem:
    """The car axis problem [IVPTestSet, car axis]: a rigid axis of two masses M/2 over the wheels' contact points, 0 and b(t).

    xl, yl, xr, yr : the masses;  b = (xb, yb), yb = bump sin(w t), |b| = length
    Springs of stiffness 1/eps^2 and length `spring_length` carry them. "perpendicular": b . l = 0 holds the left spring at
    right angles to the road;  "axis": |l - r|^2 = length^2.
    All is multiplied by eps^2, as there: masses k = M eps^2 / 2, springs of stiffness 1; energy and multipliers are small.
    """

    def contact(t: Any, p: Any) -> Any:
        """b"""
        y = p.bump * np.sin(p.w * t)
        return np.array([np.sqrt(p.length**2 - y**2), y])

    def L(q: Any, v: Any, t: Any, p: Any) -> Any:
        x, y = np.array([q.xr, q.yr]) - contact(t, p)
        left, right = np.sqrt(q.xl**2 + q.yl**2), np.sqrt(x**2 + y**2)
        springs = ((left - p.spring_length) ** 2 + (right - p.spring_length) ** 2) / 2
        return p.k / 2 * (v.xl**2 + v.yl**2 + v.xr**2 + v.yr**2) - springs - p.k * p.g * (q.yl + q.yr)

    return LagrangianSystem(
        L,
        "xl yl xr yr",
        holonomic={
            "perpendicular": lambda q, t, p: contact(t, p) @ np.array([q.xl, q.yl]),
            "axis": lambda q, p: (q.xl - q.xr) ** 2 + (q.yl - q.yr) ** 2 - p.length**2,
        },
        parameters={"k": M * eps**2 / 2, "length": length, "spring_length": spring_length, "bump": bump, "w": w, "g": g},
        initial={"xl": 0.0, "yl": spring_length, "xr": length, "yr": spring_length},
        velocities={"xl": -spring_length * bump * w / length, "yl": 0.0, "xr": -spring_length * bump * w / length, "yr": 0.0},
        name="car axis",
    )


def car_axis_of_bodies(
    eps: float = 0.01,
    M: float = 10.0,
    length: float = 1.0,
    spring_length: float = 0.5,
    bump: float = 0.1,
    w: float = 10.0,
    g: float = 1.0,
) -> Model:
    """The same [IVPTestSet, car axis] of three point masses; y is up. "road" is the moving contact point, led by "profile".

    Bodies "left", "right", "road"; written constraints "profile", "perpendicular", "axis"; "left plane", "right plane" hold the
    masses in the plane z = 0.
    """
    k, v = M * eps**2 / 2, -spring_length * bump * w / length
    model = Model((0.0, -g, 0.0), name="car axis of bodies")
    model.add_point_mass("left", mass=k, position=(0, spring_length, 0), velocity=(v, 0, 0))
    model.add_point_mass("right", mass=k, position=(length, spring_length, 0), velocity=(v, 0, 0))
    model.add_point_mass("road", mass=k, position=(length, 0, 0), velocity=(0, bump * w, 0))

    def profile(road: Any, t: Any) -> Any:
        y = bump * np.sin(w * t)
        return np.array([road.r[0] - np.sqrt(length**2 - y**2), road.r[1] - y, road.r[2]])

    def perpendicular(road: Any, left: Any) -> Any:
        return road.r @ left.r

    def axis(left: Any, right: Any) -> Any:
        return (left.r - right.r) @ (left.r - right.r) - length**2

    model.add_constraint("profile", profile, "road")
    model.add_constraint("perpendicular", perpendicular, ("road", "left"))
    model.add_constraint("axis", axis, ("left", "right"))
    for name in ("left", "right"):
        model.add_in_plane(f"{name} plane", model.ground, name, direction=(0, 0, 1))
    at = ((0, 0, 0), (0, 0, 0))
    model.add_spring_damper("left spring", model.ground, "left", points=at, stiffness=1.0, length=spring_length)
    model.add_spring_damper("right spring", "road", "right", points=at, stiffness=1.0, length=spring_length)
    return model
