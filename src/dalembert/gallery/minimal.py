"""The examples of [QRContinuation, 3]: pendulums and a top whose tangent basis can be followed by eye; z is up."""

from __future__ import annotations

from dalembert.model.model import Model
from dalembert.model.validation import number

_TOP: dict[str, object] = {
    "type": "compound",
    "parts": [
        {"type": "cone", "radius": 0.6, "length": 1.2, "position": (0, 0, -0.4), "rotation": (0, 1, 0, 0)},
        {"type": "cylinder", "radius": 0.6, "length": 0.3, "position": (0, 0, 0.35)},
        {"type": "cylinder", "radius": 0.07, "length": 0.5, "position": (0, 0, 0.75)},
        {"type": "sphere", "radius": 1.0, "colour": "#cfcabd", "fixed": True, "clear": True},
    ],
}


def planar_pendulum(length: float = 1.0) -> Model:
    """Point mass of 1 kg on a massless rod, free to move in the plane y = 0 [QRContinuation, 3.1], released level at rest.

    One degree of freedom. Body "bob", joints "rod" (distance to the origin) and "plane".

    Deviation: mass, length and start are not printed; 1 kg, 1 m and (1, 0) are chosen.
    """
    length = number("planar_pendulum", "length", length, above=0.0)
    model = Model(name="planar pendulum")
    bob = model.add_point_mass("bob", mass=1.0, position=(length, 0, 0))
    model.add_distance("rod", model.ground, bob, points=((0, 0, 0), (0, 0, 0)))
    model.add_in_plane("plane", model.ground, bob, direction=(0, 1, 0))
    return model


def spherical_pendulum() -> Model:
    """Point mass of 1 kg on a massless rod of 0.08 m, released level with 0.7895 m/s sideways [QRContinuation, 3.3].

    Two degrees of freedom. Body "bob", joint "rod" (distance to the origin).
    """
    model = Model(name="spherical pendulum")
    bob = model.add_point_mass("bob", mass=1.0, position=(0.08, 0, 0), velocity=(0, 0.7895, 0))
    model.add_distance("rod", model.ground, bob, points=((0, 0, 0), (0, 0, 0)))
    return model


def spin_top() -> Model:
    """Symmetric top whose tip moves on a sphere of 1 m about the origin [QRContinuation, 3.4]; no contact can be lost.

    Five degrees of freedom. Body "top", its tip at (0, 0, -1) in body axes; joint "sphere" (distance of the tip to the origin).

    Deviation: the printed r_0 = (0, -1, 0) and r_0' = 0 violate the constraint at the centre of mass. They are read as data of
    the tip, so that the centre of mass starts at (0, -1, 1) with velocity w x (0, 0, 1) = (0.1, -0.1, 0).
    Deviation: J = diag(90, 90, 30) is used about the centre of mass, as the printed equations of motion do.
    """
    model = Model(name="spin top on a sphere")
    top = model.add_body(
        "top",
        mass=30.0,
        inertia=(90.0, 90.0, 30.0),
        position=(0, -1, 1),
        velocity=(0.1, -0.1, 0),
        angular_velocity=(0.1, 0.1, 0.3),
        shape=_TOP,
    )
    model.add_distance("sphere", model.ground, top, points=((0, 0, 0), (0, 0, -1)))
    return model
