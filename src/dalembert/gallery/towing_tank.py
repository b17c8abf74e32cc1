"""The towing-tank ship of [ConstraintNotes, 1], with a rigid and with a compliant mount."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dalembert.model.model import Model
from dalembert.model.motions import Harmonic
from dalembert.model.rotation import Rotation
from dalembert.model.validation import choice

MASS, INERTIA = 120.0, (8.0, 45.0, 48.0)
OFFSET = np.array([0.05, 0.02, -0.15])  # mount to centre of mass, body axes [m]
PITCH, GRAVITY = 0.1, 9.81
HEAVE = Harmonic(0.1, 2.0)  # 0.1 sin 2t
POST = 0.5  # of the compliant mount, between carriage and ship [m]


_SHIP: dict[str, object] = {
    "type": "compound",
    "parts": [
        {"type": "ellipsoid", "semi_axes": (1.15, 0.26, 0.24), "position": (0, 0, -0.02)},
        {"type": "box", "size": (1.5, 0.4, 0.12), "position": (-0.05, 0, 0.17), "colour": "#e3dccb"},
        {"type": "box", "size": (0.4, 0.3, 0.2), "position": (-0.35, 0, 0.32), "colour": "#f2efe8"},
        {"type": "cylinder", "radius": 0.07, "length": 0.22, "position": (-0.4, 0, 0.5), "colour": "#bd1f01"},
        {"type": "box", "size": (3.0, 1.4, 0.5), "position": (0, 0, -0.45), "colour": "#9fc6d8", "fixed": True, "clear": True},
    ],
}


def towing_tank_ship(mount: Literal["rigid", "compliant"] = "rigid", stiffness: float = 1e6, damping: float = 1e3) -> Model:
    """A model ship whose mount prescribes heave, h = 0.1 sin 2t, and leaves only pitch free [ConstraintNotes, 1].

    x is forward, z up; bow down is positive pitch. The mount holds roll, yaw, surge and sway of the body point -OFFSET; "heave"
    is a driver, and its reaction with those of "surge", "sway", "roll" and "yaw" are the mount's loads.
    mount : "compliant" puts a vertical spring-damper "post" of this stiffness [N/m] and damping [N s/m], at rest under the
        ship's weight, between a driven "carriage" of 20 kg and the ship

    Deviation: mass, inertia, offset, heave and the initial pitch of 0.1 rad are not given there; no water acts on the ship.
    """
    choice("towing_tank_ship", "mount", mount, ("rigid", "compliant"))
    model = Model((0.0, 0.0, -GRAVITY), name=f"towing-tank ship, {mount} mount")
    pitch = Rotation.from_axis_angle((0, 1, 0), PITCH)
    ship = model.add_body(
        "ship", mass=MASS, inertia=INERTIA, position=pitch.apply(OFFSET), rotation=pitch, velocity=(0, 0, 0.2), shape=_SHIP
    )
    x, y, z = np.eye(3)
    model.add_perpendicular("roll", model.ground, ship, axes=(z, y))
    model.add_perpendicular("yaw", model.ground, ship, axes=(x, y))
    model.add_in_plane("surge", model.ground, ship, direction=x, points=((0, 0, 0), -OFFSET))
    model.add_in_plane("sway", model.ground, ship, direction=y, points=((0, 0, 0), -OFFSET))
    if mount == "rigid":
        model.add_point_driver("heave", ship, direction=z, point=-OFFSET, motion=HEAVE)
        return model
    carriage = model.add_point_mass("carriage", mass=20.0, position=(0, 0, POST), velocity=(0, 0, 0.2))
    model.add_in_plane("rail x", model.ground, carriage, direction=x)
    model.add_in_plane("rail y", model.ground, carriage, direction=y)
    model.add_point_driver("heave", carriage, direction=z, motion=HEAVE, origin=(0, 0, POST))
    slack = POST - MASS * GRAVITY / stiffness
    model.add_spring_damper(
        "post", carriage, ship, points=((0, 0, 0), -OFFSET), stiffness=stiffness, damping=damping, length=slack
    )
    return model
