"""The spatial rigid slider-crank of the IFToMM benchmark library [IFToMM], also in [QRContinuation, 3.2]."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dalembert.gallery.looks import made_of
from dalembert.model.model import Model
from dalembert.model.validation import choice

A, B, C = np.array([0.0, 0.1, 0.12]), np.array([0.0, 0.1, 0.2]), np.array([0.2, 0.0, 0.0])
X = np.array([1.0, 0.0, 0.0])
ROD_INERTIA = {"A": (4e-3, 4e-4, 4e-3), "C": (4e-3, 4e-3, 4e-4)}  # about n, u, n x u [kg m^2]

# how they look: web with counterweight, shaft and crank pin; rod with its fork at C; an open carriage on the rail
WEB = [(-0.017, y, z) for y, z in ((-0.014, -0.058), (0.014, -0.058), (0, 0.04))]
CRANK = made_of(
    {"type": "plate", "points": WEB, "radius": 0.012, "thickness": 0.01, "axis": "x"},
    {"type": "cylinder", "radius": 0.006, "length": 0.03, "axis": "x", "position": (-0.01, 0, -0.04)},
    {"type": "cylinder", "radius": 0.005, "length": 0.02, "axis": "x", "position": (-0.01, 0, 0.04)},
)
ROD = made_of(
    {"type": "cylinder", "radius": 0.005, "length": 0.28, "axis": "y", "position": (0, 0.008, 0)},
    {"type": "box", "size": (0.02, 0.006, 0.01), "position": (0, -0.133, 0)},
    *({"type": "box", "size": (0.004, 0.022, 0.01), "position": (x, -0.144, 0)} for x in (-0.008, 0.008)),
)
SLIDER = made_of(
    *({"type": "box", "size": (0.01, 0.034, 0.03), "position": (x, 0, -0.003)} for x in (-0.023, 0.023)),
    {"type": "box", "size": (0.056, 0.034, 0.008), "position": (0, 0, -0.022)},
)


def slider_crank(rod_inertia: Literal["A", "C"] = "A", rate: float = 6.0) -> Model:
    """Spatial slider-crank [IFToMM]: crank 0.08 m about x at A, rod 0.3 m from B to C, slider along x; z is up.

    Starts with the crank up, turning at `rate` [rad/s]; the initial velocities are exactly consistent. One degree of freedom.
    Bodies "crank", "rod", "slider"; joints "A" revolute, "B" spherical, "C" universal (rod axis n, slider axis x),
    "D" prismatic. Body axes of the rod: n = x cross u (normalised), u along the rod from C to B, n cross u.

    rod_inertia : "A" slender, 4e-4 kg m^2 about the rod's own axis and 4e-3 across; "C" 4e-4 about n cross u and 4e-3
    about the two others, the only reading found to follow the published curves

    Deviation: the crank's centre of mass, the universal joint's axes and the rod's axes are not printed; those here
    were found by comparison with the published motion.
    """
    choice("slider_crank", "rod_inertia", rod_inertia, ROD_INERTIA)
    model = Model((0.0, 0.0, -9.81), name=f"spatial slider-crank, rod {rod_inertia}")
    u = (B - C) / 0.3
    n = np.cross(X, u)
    n /= np.linalg.norm(n)
    crank = model.add_body(
        "crank",
        mass=0.12,
        inertia=(1e-4, 1e-4, 1e-5),
        position=(A + B) / 2,
        velocity=(0, -0.04 * rate, 0),
        angular_velocity=(rate, 0, 0),
        shape=CRANK,
    )
    rod = model.add_body(
        "rod",
        mass=0.5,
        inertia=ROD_INERTIA[rod_inertia],
        position=(B + C) / 2,
        rotation=np.column_stack([n, u, np.cross(n, u)]),
        velocity=(0.02 * rate, -0.04 * rate, 0),
        angular_velocity=(0.32 * rate, -0.16 * rate, 0.08 * rate),
        shape=ROD,
    )
    slider = model.add_body(
        "slider", mass=2.0, inertia=(1e-4, 1e-4, 1e-4), position=C, velocity=(0.04 * rate, 0, 0), shape=SLIDER
    )
    model.add_revolute("A", model.ground, crank, point=A, axis=X)
    model.add_spherical("B", crank, rod, point=B)
    model.add_universal("C", rod, slider, point=C, axes=(n, X))
    model.add_prismatic("D", model.ground, slider, point=C, axis=X)
    return model
