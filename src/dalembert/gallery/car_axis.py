"""The car axis: two masses on springs over a bumpy road, a time-dependent constraint between them and the road."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.lagrangian.system import LagrangianSystem


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
