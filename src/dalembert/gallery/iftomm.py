"""Mechanisms of the IFToMM benchmark library [IFToMM]: A01, and A02 and A04, which are hard on constraint solvers."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from dalembert.errors import ModelError
from dalembert.model.elements import Body
from dalembert.model.model import Model
from dalembert.model.rotation import Rotation
from dalembert.model.shapes import box, rod
from dalembert.model.validation import number, shown

GRAVITY = (0.0, -9.81, 0.0)
BRICARD_POINTS = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))
BRICARD_AXES = "yzxyzx"


def simple_pendulum(length: float = 1.0, mass: float = 1.0, angle: float = -pi / 2, rate: float = 0.0) -> Model:
    """Point mass on a massless bar in the plane z = 0 [IFToMM, A01]; y is up. By default released at rest, level, at x = -1.

    One degree of freedom. Body "bob", joints "bar" (distance to the origin) and "plane".

    angle : of the bar from hanging, positive towards x [rad];  rate : its derivative [rad/s]
    """
    length = number("simple_pendulum", "length", length, above=0.0)
    model = Model(GRAVITY, name="simple pendulum")
    s, c = sin(angle), cos(angle)
    bob = model.add_point_mass(
        "bob", mass=mass, position=(length * s, -length * c, 0), velocity=(length * rate * c, length * rate * s, 0)
    )
    model.add_distance("bar", model.ground, bob, points=((0, 0, 0), (0, 0, 0)))
    model.add_in_plane("plane", model.ground, bob, direction=(0, 0, 1))
    return model


def n_four_bar(n: int = 2, speed: float = 1.0) -> Model:
    """n windows of 2 n + 1 thin rods, 1 m and 1 kg each [IFToMM, A02]; starts upright, its top moving at `speed` along x.

    One degree of freedom. Twice a turn all rods lie on one line: the constraints lose rank there and n + 1 motions become
    possible. On the branch it comes from the links stay parallel.
    Bodies "link 0" .. "link n" on the ground at (i, 0), "coupler 1" .. "coupler n"; y is up. Joints "A i" ground-link,
    "B i" link i - 1 to coupler i, "C i" link i to coupler i.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ModelError(f"n_four_bar: n is {shown(n)}; give a number of windows, at least 1")
    model = Model(GRAVITY, name=f"{n}-four-bar")
    z = (0, 0, 1)
    for i in range(n + 1):
        model.add_body(
            f"link {i}",
            **rod(1.0, 1.0, "y").body(),
            position=(i, 0.5, 0),
            velocity=(speed / 2, 0, 0),
            angular_velocity=(0, 0, -speed),
        )
        model.add_revolute(f"A {i}", model.ground, f"link {i}", point=(i, 0, 0), axis=z)
    for i in range(1, n + 1):
        model.add_body(f"coupler {i}", **rod(1.0, 1.0, "x").body(), position=(i - 0.5, 1, 0), velocity=(speed, 0, 0))
        model.add_revolute(f"B {i}", f"link {i - 1}", f"coupler {i}", point=(i - 1, 1, 0), axis=z)
        model.add_revolute(f"C {i}", f"link {i}", f"coupler {i}", point=(i, 1, 0), axis=z)
    return model


def bricard() -> Model:
    """Bricard's loop of five square rods, 1 m, 0.1 m and 1 kg each, on six hinges [IFToMM, A04], released at rest; y is up.

    One degree of freedom although the 30 rows of the six hinges are as many as the velocities: one row is redundant.
    Bodies "rod 1" .. "rod 5", hinges "P1" .. "P6" with axes y, z, x, y, z, x, "P1" and "P6" on the ground.
    """
    model = Model(GRAVITY, name="Bricard mechanism")
    points = np.array(BRICARD_POINTS, dtype=float)
    for i in range(5):
        u = points[i + 1] - points[i]
        side = np.roll(u, 1)
        turn = Rotation.from_matrix(np.column_stack([u, side, np.cross(u, side)]))
        model.add_body(
            f"rod {i + 1}", **box(1.0, (1.0, 0.1, 0.1)).body(), position=(points[i] + points[i + 1]) / 2, rotation=turn
        )
    bodies: list[Body | str] = [model.ground, *(f"rod {i}" for i in range(1, 6)), model.ground]
    for i, name in enumerate(BRICARD_AXES):
        axis = [float(name == other) for other in "xyz"]
        model.add_revolute(f"P{i + 1}", bodies[i], bodies[i + 1], point=points[i], axis=axis)
    return model
