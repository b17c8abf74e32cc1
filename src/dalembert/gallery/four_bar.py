"""A four-bar in a tilted plane, with redundant joints and without."""

from __future__ import annotations

from math import acos, atan2, cos, hypot, sin

import numpy as np

from dalembert.model.model import Model
from dalembert.model.rotation import Rotation
from dalembert.model.shapes import box

CRANK, COUPLER, ROCKER, BASE = 1.0, 3.0, 2.5, 3.2  # m; Grashof: CRANK + BASE < COUPLER + ROCKER
TILT = Rotation.from_rpy(0.4, -0.3, 0.5)
NORMAL = TILT.apply((0.0, -1.0, 0.0))


def spatial_four_bar(redundant: bool = True, *, crank_angle: float = 2.0) -> Model:
    """Crank-rocker four-bar of uniform bars, released at rest under gravity, in a plane along no coordinate plane.

    The bodies move in a plane through the origin with in-plane axes x' = TILT e1 and z' = TILT e3. Four revolute joints
    give 20 rows of rank 17: 3 are redundant. With redundant=False "B" is spherical and "C" cylindrical as in
    [JetMultibody, Table 4]: 17 rows and the same motion. One degree of freedom.

    crank_angle : from x' to the crank, towards z' [rad]; at about 1.0 the crank balances on top: no motion to compare
    Bodies "crank", "coupler", "rocker"; joints "A" ground-crank, "B" crank-coupler, "C" coupler-rocker, "D" ground-rocker.
    """
    a = np.array([0.0, 0.0])
    b = CRANK * np.array([cos(crank_angle), sin(crank_angle)])
    d = np.array([BASE, 0.0])
    diagonal = hypot(*(d - b))
    # angle at b in the triangle b, d, c: law of cosines; c above the line from b to d
    corner = acos((COUPLER**2 + diagonal**2 - ROCKER**2) / (2.0 * COUPLER * diagonal))
    direction = atan2(d[1] - b[1], d[0] - b[0]) + corner
    c = b + COUPLER * np.array([cos(direction), sin(direction)])

    model = Model(name="spatial four-bar" if redundant else "spatial four-bar without redundant rows")

    def world(p: np.ndarray) -> np.ndarray:
        return TILT.apply((p[0], 0.0, p[1]))

    def bar(name: str, start: np.ndarray, end: np.ndarray, side: float) -> None:
        """side : in front of the plane of the pins or behind it, in the picture"""
        length = hypot(*(end - start))
        angle = atan2(end[1] - start[1], end[0] - start[0])
        turn = TILT * Rotation.from_axis_angle((0.0, -1.0, 0.0), angle)
        solid = box(2.0 * length, (length, 0.06, 0.1))
        look = {"points": [(x, 0.035 * side, 0) for x in (-length / 2, length / 2)], "radius": 0.08, "thickness": 0.06}
        model.add_body(
            name,
            mass=solid.mass,
            inertia=solid.inertia,
            position=world((start + end) / 2),
            rotation=turn,
            shape={"type": "plate", **look, "axis": "y"},
        )

    bar("crank", a, b, 1)
    bar("coupler", b, c, -1)
    bar("rocker", d, c, 1)
    model.add_revolute("A", model.ground, "crank", point=world(a), axis=NORMAL)
    if redundant:
        model.add_revolute("B", "crank", "coupler", point=world(b), axis=NORMAL)
        model.add_revolute("C", "coupler", "rocker", point=world(c), axis=NORMAL)
    else:
        model.add_spherical("B", "crank", "coupler", point=world(b))
        model.add_cylindrical("C", "coupler", "rocker", point=world(c), axis=NORMAL)
    model.add_revolute("D", model.ground, "rocker", point=world(d), axis=NORMAL)
    return model
