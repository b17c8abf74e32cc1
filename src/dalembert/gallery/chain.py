"""Chains of uniform rods [MovingFrame, 3.2-3.3]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError
from dalembert.gallery.looks import made_of
from dalembert.model.model import Model
from dalembert.model.rotation import Rotation
from dalembert.model.shapes import box
from dalembert.model.validation import choice, number, shown

MASS, LENGTH, SIDE = 50.0, 2.0, 0.2  # kg, m, m [MovingFrame, Table 3.1]
UPPER, LOWER = np.array([0.0, 0.0, LENGTH / 2]), np.array([0.0, 0.0, -LENGTH / 2])  # the ends of a rod, body axes
E1, E2, E3 = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

ChainJoint = Literal["spherical", "revolute", "universal"]


def chain(n: int = 4, joint: ChainJoint = "spherical", *, angle: float = 0.1, side: float = SIDE) -> Model:
    """A straight chain of n square rods, 50 kg and 2 m each, hung at the origin, at rest [MovingFrame, 3.2, Table 3.1].

    angle : of the whole chain about x from hanging along -z [rad];  side : of the square section [m]
    joint : all joints are "spherical" as in the source, or "revolute" about x, or "universal" with axes x and y
    Bodies "rod 1" .. "rod n", joints "joint 1" .. "joint n"; body axes have z along the rod, away from the next joint.

    Deviation: gravity is not printed; 9.81 m/s^2 along -z is chosen.
    """
    choice("chain", "joint", joint, ("spherical", "revolute", "universal"))
    number_of_rods("chain", n)
    turn = Rotation.from_axis_angle(E1, number("chain", "angle", angle))
    model = Model(name=f"chain of {n} rods, {joint}")
    add_rods(model, [turn] * n, joint, side=number("chain", "side", side, above=0.0))
    return model


def number_of_rods(owner: str, n: object, least: int = 1) -> int:
    """n, if it counts rods."""
    if isinstance(n, bool) or not isinstance(n, int) or n < least:
        raise ModelError(f"{owner}: n is {shown(n)}; give a number of rods, at least {least}")
    return n


def add_rods(
    model: Model,
    rotations: Sequence[Rotation],
    joint: ChainJoint = "spherical",
    *,
    side: float = SIDE,
    angular_velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
) -> None:
    """Rods end to end from the ground's origin, rod k turned by rotations[k - 1] from hanging along -z.

    angular_velocity : of all of them, as one rigid body about the origin, world axes [rad/s]
    """
    solid, neck = box(MASS, (side, side, LENGTH)), min(0.75 * side, LENGTH / 4)  # thin at its ends: joints are seen
    bar = {"type": "box", "size": (side, side, LENGTH - 2.0 * neck)}
    looks = made_of(bar, {"type": "cylinder", "radius": 0.2 * side, "length": LENGTH, "axis": "z"})
    w = np.asarray(angular_velocity, dtype=float)
    previous, at, end = model.ground, np.zeros(3), np.zeros(3)
    for k, turn in enumerate(rotations, start=1):
        along = turn.apply(LOWER)
        centre, end = end + along, end + 2.0 * along
        rod = model.add_body(
            f"rod {k}",
            **solid.body() | {"shape": looks},
            position=centre,
            rotation=turn,
            velocity=np.cross(w, centre),
            angular_velocity=w,
        )
        name, points = f"joint {k}", (at, UPPER)
        if joint == "spherical":
            model.add_spherical(name, previous, rod, points=points)
        elif joint == "revolute":
            model.add_revolute(name, previous, rod, points=points, axes=(E1, E1))
        else:
            model.add_universal(name, previous, rod, points=points, axes=(E1, E2))
        previous, at = rod, LOWER
