"""Tops with published or closed-form motion: the fast heavy top of the Lie group literature, a free asymmetric body."""

from __future__ import annotations

import numpy.typing as npt

from dalembert.gallery.looks import made_of
from dalembert.model.model import Model
from dalembert.model.validation import vector


def heavy_top(angular_velocity: npt.ArrayLike = (0.0, 150.0, -4.61538)) -> Model:
    """Heavy top [BruelsCardonaArnold2012, 5.1]: 15 kg, centre of mass 1 m from the fixed point along the body's y; z is up.

    Body "top", joint "tip" spherical at the origin. Starts with body axes along the world's.
    """
    x, y, z = vector("heavy_top", "angular_velocity", angular_velocity)
    model = Model((0.0, 0.0, -9.81), name="heavy top")
    top = model.add_body(
        "top",
        mass=15.0,
        inertia=(0.234375, 0.46875, 0.234375),
        position=(0, 1, 0),
        velocity=(-z, 0, x),
        angular_velocity=(x, y, z),
        shape=made_of(
            {"type": "cylinder", "radius": 0.25, "length": 0.06, "axis": "y"},
            {"type": "cylinder", "radius": 0.02, "length": 1.05, "axis": "y", "position": (0, -0.375, 0)},
            {"type": "cone", "radius": 0.02, "length": 0.1, "position": (0, -0.95, 0), "rotation": (0.5**0.5, 0.5**0.5, 0, 0)},
        ),
    )
    model.add_spherical("tip", model.ground, top, point=(0, 0, 0))
    return model


def euler_top(angular_velocity: npt.ArrayLike = (0.6, 0.2, 1.1), inertia: npt.ArrayLike = (1.0, 2.0, 3.0)) -> Model:
    """Free asymmetric body [LandauLifshitz1976, 37]; its angular velocity is known in elliptic functions.

    Body "top", no joint, no gravity.
    """
    model = Model((0.0, 0.0, 0.0), name="free asymmetric top")
    model.add_body("top", mass=1.0, inertia=inertia, angular_velocity=angular_velocity)
    return model
