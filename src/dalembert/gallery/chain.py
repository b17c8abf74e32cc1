"""Chains of uniform rods [MovingFrame, 3.2-3.3]."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dalembert.errors import ModelError
from dalembert.model.model import Model
from dalembert.model.rotation import Rotation
from dalembert.model.shapes import box
from dalembert.model.validation import choice, number, shown

MASS, LENGTH = 50.0, 2.0  # kg, m


def chain(
    n: int = 4,
    joint: Literal["spherical", "revolute", "universal"] = "spherical",
    *,
    angle: float = 0.1,
    side: float = 0.2,
) -> Model:
    """A straight chain of n square rods, 50 kg and 2 m each, hung at the origin, at rest [MovingFrame, 3.2, Table 3.1].

    angle : of the whole chain about x from hanging along -z [rad];  side : of the square section [m]
    joint : all joints are "spherical" as in the source, or "revolute" about x, or "universal" with axes x and y
    Bodies "rod 1" .. "rod n", joints "joint 1" .. "joint n"; body axes have z along the rod, away from the next joint.

    Deviation: gravity is not printed; 9.81 m/s^2 along -z is chosen.
    """
    choice("chain", "joint", joint, ("spherical", "revolute", "universal"))
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ModelError(f"chain: n is {shown(n)}; give a number of rods, at least 1")
    turn = Rotation.from_axis_angle((1.0, 0.0, 0.0), number("chain", "angle", angle))
    side = number("chain", "side", side, above=0.0)
    down = turn.apply((0.0, 0.0, -1.0))
    upper, lower = np.array([0.0, 0.0, LENGTH / 2]), np.array([0.0, 0.0, -LENGTH / 2])

    model = Model(name=f"chain of {n} rods, {joint}")
    previous, at = model.ground, np.zeros(3)
    for k in range(1, n + 1):
        solid = box(MASS, (side, side, LENGTH))
        rod = model.add_body(f"rod {k}", **solid.body(), position=(k - 0.5) * LENGTH * down, rotation=turn)
        name, points = f"joint {k}", (at, upper)
        if joint == "spherical":
            model.add_spherical(name, previous, rod, points=points)
        elif joint == "revolute":
            model.add_revolute(name, previous, rod, points=points, axes=((1, 0, 0), (1, 0, 0)))
        else:
            model.add_universal(name, previous, rod, points=points, axes=((1, 0, 0), (0, 1, 0)))
        previous, at = rod, lower
    return model
