"""The stiff flyball governor of the IFToMM benchmark library."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from dalembert.gallery.looks import made_of
from dalembert.model.model import Model
from dalembert.model.shapes import box

_DENSITY, _BALL, _HINGE, _TOP = 3000.0, 5.0, 0.05, 1.0
_LOOKS = {
    "shaft": made_of(
        {"type": "cylinder", "radius": 0.018, "length": 1.05},
        {"type": "box", "size": (0.13, 0.05, 0.05), "position": (0, 0, 0.5)},
    ),
    "slider": made_of(
        {"type": "cylinder", "radius": 0.04, "length": 0.1},
        *({"type": "cylinder", "radius": 0.065, "length": 0.02, "position": (0, 0, z)} for z in (-0.05, 0.05)),
        {"type": "cylinder", "radius": 0.012, "length": 0.13, "axis": "x"},
    ),
}


def flyball_governor(stiffness: float = 8e5, damping: float = 4e4, rate: float = 2 * pi) -> Model:
    """Stiff flyball governor [IFToMM, A05]: two loaded rods on a turning shaft, a slider held by spring-dampers; z is up.

    Rods 1 m, hinged at (+-0.05, 0, 1), 30 degrees below the horizontal, 5 kg at their ends; slider at half height; springs
    of 0.5 m from the slider to the rods' middles. Starts turning at `rate` [rad/s] as one piece.
    Bodies "shaft", "left", "right", "slider"; joints "bearing" revolute, "hinge left", "hinge right"
    revolute about y, "sleeve" prismatic.

    stiffness, damping : of each spring-damper [N/m], [N s/m]

    Deviation: a rod and the point mass at its end are one body.
    """
    model = Model((0.0, 0.0, -9.81), name="flyball governor")
    spin, mass = (0.0, 0.0, rate), _DENSITY * 1e-4
    solids = {"shaft": box(mass, (0.01, 0.01, 1.0)), "slider": box(_DENSITY * 1e-3, (0.1, 0.1, 0.1))}
    shaft, slider = (
        model.add_body(
            name, mass=solid.mass, inertia=solid.inertia, position=(0, 0, 0.5), angular_velocity=spin, shape=_LOOKS[name]
        )
        for name, solid in solids.items()
    )
    model.add_revolute("bearing", model.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_prismatic("sleeve", shaft, slider, point=(0, 0, 0.5), axis=(0, 0, 1))
    rod = box(mass, (1.0, 0.01, 0.01))
    centre = (0.5 * mass + 1.0 * _BALL) / (mass + _BALL)  # from the hinge
    across = mass * (centre - 0.5) ** 2 + _BALL * (1.0 - centre) ** 2
    inertia = (rod.inertia[0], rod.inertia[1] + across, rod.inertia[2] + across)
    for name, side, heading in (("right", 1.0, 0.0), ("left", -1.0, pi)):
        along = np.array([side * cos(pi / 6), 0.0, -sin(pi / 6)])
        hinge = np.array([side * _HINGE, 0.0, _TOP])
        position = hinge + centre * along
        turn = np.column_stack([along, (0.0, cos(heading), 0.0), np.cross(along, (0.0, cos(heading), 0.0))])
        body = model.add_body(
            name,
            mass=mass + _BALL,
            inertia=inertia,
            position=position,
            rotation=turn,
            velocity=np.cross(spin, position),
            angular_velocity=spin,
            shape=made_of(
                {"type": "cylinder", "radius": 0.012, "length": 1.0, "axis": "x", "position": (0.5 - centre, 0, 0)},
                {"type": "sphere", "radius": 0.07, "position": (1.0 - centre, 0, 0)},
            ),
        )
        model.add_revolute(f"hinge {name}", shaft, body, point=hinge, axis=(0, 1, 0))
        points = ((side * _HINGE, 0, 0), (0.5 - centre, 0, 0))
        model.add_spring_damper(f"spring {name}", slider, body, points=points, stiffness=stiffness, damping=damping, length=0.5)
    return model
