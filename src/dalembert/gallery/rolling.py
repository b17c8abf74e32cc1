"""Bodies that roll without slipping: Routh's sphere, a thin disc, the rattleback; the Chaplygin sleigh on its knife edge."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.gallery.looks import made_of
from dalembert.model.model import Model


def turn(axis: int, angle: float) -> Array:
    """Rotation about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = cos(angle)
    R[j, i], R[i, j] = sin(angle), -sin(angle)
    return R


def routh_sphere(
    mass: float = 0.02,
    radius: float = 0.02,
    alpha: float = 0.3,
    inertia: npt.ArrayLike | None = None,
    gravity: float = 9.82,
    rotation: npt.ArrayLike | None = None,
    spin: npt.ArrayLike = (1.5, 2.0, 40.0),
) -> Model:
    """Routh's sphere [Variational, 7]: its centre of mass is alpha radii below the centre on an axis of symmetry; z is up.

    Body "sphere", joint "floor". Energy, Jellett's and Routh's integrals stay constant. Starts over the origin.

    inertia : (I_1, I_1, I_3) about the centre of mass, default 131/350 and 2/5 of m R^2, those of a tippe top
    rotation : (3, 3) at the start, default tilted by 0.4 rad about x;  spin : angular velocity in body axes [rad/s]
    """
    model = Model((0.0, 0.0, -gravity), name="Routh's sphere")
    unit = mass * radius**2
    moments = (131 / 350 * unit, 131 / 350 * unit, 0.4 * unit) if inertia is None else inertia
    R = turn(0, 0.4) if rotation is None else np.asarray(rotation, dtype=float)
    w = R @ np.asarray(spin, dtype=float)
    below = alpha * radius * R[:, 2]
    position = np.array([0.0, 0.0, radius - below[2]])
    contact = np.array([below[0], below[1], -position[2]])
    model.add_body(
        "sphere",
        mass=mass,
        inertia=moments,
        position=position,
        rotation=R,
        velocity=-np.cross(w, contact),
        angular_velocity=w,
        shape={"type": "sphere", "radius": radius},
    )
    model.add_rolling_sphere("floor", "sphere", radius=radius, centre=(0, 0, alpha * radius))
    return model


def rocking_sphere() -> Model:
    """Routh's sphere rocking in a plane [Variational, 7.3]: alpha = 0.2, I = (1, 1, 0.8), at rest, tilted by asin(0.995)."""
    tilt = turn(1, float(np.arcsin(0.995)))
    return routh_sphere(1.0, 1.0, 0.2, (1.0, 1.0, 0.8), 1.0, tilt, (0.0, 0.0, 0.0))


def homogeneous_sphere() -> Model:
    """A homogeneous sphere [Variational, 7.3]: alpha = 0, I = (1, 1, 1), m = R = g = 1, rolling along x at unit speed."""
    return routh_sphere(1.0, 1.0, 0.0, (1.0, 1.0, 1.0), 1.0, np.eye(3), (0.0, 1.0, 0.0))


def rising_sphere(spin: float = 0.5, alpha: float = 0.3) -> Model:
    """Routh's sphere whose centre of mass tends to the top, spinning about the vertical [Variational, 8]; m = R = g = 1.

    The motion on a level of the integrals of [Cushman1998] that holds the sphere upside down, spinning at the rate `spin`.
    It starts where the axis is farthest from there; the inertia is that of a homogeneous ball, I = 2/5 m R^2.
    """
    inertia, top = 0.4, 1.0 + alpha

    def rates(z: float) -> tuple[float, float]:
        """Angular velocity along the axis and across, from Jellett's and Routh's integrals at the cosine z of the tilt."""
        along = -spin * np.sqrt((inertia + top**2) / (inertia + 1.0 - 2.0 * alpha * z + alpha**2))
        return along, (spin * top + along * (alpha - z)) / np.sqrt(1.0 - z * z)

    def surplus(z: float) -> float:
        """Energy at rest in the tilt z, less that of the sphere upside down."""
        along, across = rates(z)
        slip = (alpha - z) * across + np.sqrt(1.0 - z * z) * along
        return float((slip**2 + inertia * (along**2 + across**2 - spin**2)) / 2 - alpha * (1.0 + z))

    low, high = -1.0 + 1e-3, 1.0 - 1e-12
    if not surplus(low) < 0.0 < surplus(high):
        raise ModelError(
            f"rising_sphere: spin is {spin!r} with alpha {alpha!r}; give a spin"
            " other than 0 at which the sphere upside down is not stable"
        )
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if surplus(middle) < 0.0 else (low, middle)
    along, across = rates(high)
    return routh_sphere(1.0, 1.0, alpha, (inertia,) * 3, 1.0, turn(0, float(np.arccos(high))), (0.0, across, along))


def rolling_disc(lean: float = 0.3, rates: npt.ArrayLike = (0.2, 6.0, -0.8)) -> Model:
    """Thin uniform disc of 1 kg and 0.5 m rolling on its edge [NeimarkFufaev1972]; z is up, the disc's axis is its y.

    Body "disc", joint "floor". Starts with the contact at the origin.

    lean : about x [rad];  rates : angular velocity in the leaning frame [rad/s]
    """
    model = Model((0.0, 0.0, -9.81), name="rolling disc")
    r, R = 0.5, turn(0, lean)
    w = R @ np.asarray(rates, dtype=float)
    position = r * R[:, 2]
    model.add_body(
        "disc",
        mass=1.0,
        inertia=(r**2 / 4, r**2 / 2, r**2 / 4),
        position=position,
        rotation=R,
        velocity=np.cross(w, position),
        angular_velocity=w,
        shape={"type": "disc", "radius": r, "axis": "y"},
    )
    model.add_rolling_disc("floor", "disc", radius=r, axis=(0, 1, 0))
    return model


def rattleback(spin: float = -5.0) -> Model:
    """Rattleback [KaneLevinson1982]: an ellipsoid of 0.2, 0.03, 0.02 m whose axes of inertia are askew; body z is down at rest.

    Body "stone", joint "table". Rolled and pitched by half a degree. From spin = -5 rad/s (about body z) it reverses.
    """
    model = Model((0.0, 0.0, -9.81), name="rattleback")
    half = 0.5 * pi / 180
    R = np.diag([1.0, -1.0, -1.0]) @ turn(0, half) @ turn(1, half)
    w = R @ (0.0, 0.0, spin)
    semi_axes, centre = np.array([0.2, 0.03, 0.02]), np.array([0.0, 0.0, -0.01])
    m = R.T @ (0.0, 0.0, 1.0)
    contact = centre - semi_axes**2 * m / np.sqrt(m @ (semi_axes**2 * m))
    model.add_body(
        "stone",
        mass=1.0,
        inertia=[[0.0002, -2e-5, 0], [-2e-5, 0.0016, 0], [0, 0, 0.0017]],
        position=(0, 0, -(R @ contact)[2]),
        rotation=R,
        velocity=-np.cross(w, R @ contact),
        angular_velocity=w,
    )
    model.add_rolling_ellipsoid("table", "stone", semi_axes=semi_axes, centre=centre)
    return model


def sleigh() -> Model:
    """Chaplygin sleigh [NeimarkFufaev1972]: a knife edge 0.25 m behind the centre of mass of a plate on a plane.

    Body "sleigh", joints "plane", "edge". Starts backwards at 1 m/s, turning at 0.7 rad/s, the edge over the origin along x.
    """
    model = Model((0.0, 0.0, 0.0), name="Chaplygin sleigh")
    deck = {"type": "box", "size": (0.95, 0.95, 0.03), "position": (0, 0, 0.12)}
    blade = {"type": "box", "size": (0.3, 0.015, 0.11), "position": (-0.25, 0, 0.055), "colour": "#6b7380"}
    skids = [{"type": "sphere", "radius": 0.055, "position": (0.4, y, 0.055), "colour": "#6b7380"} for y in (-0.4, 0.4)]
    body = model.add_body(
        "sleigh",
        mass=2.0,
        inertia=(0.15, 0.15, 0.3),
        position=(0.25, 0, 0),
        velocity=(-1.0, 0.175, 0),
        angular_velocity=(0, 0, 0.7),
        shape=made_of(deck, blade, *skids),
    )
    model.add_planar_joint("plane", model.ground, body, point=(0.25, 0, 0), axis=(0, 0, 1))
    model.add_skate("edge", body, direction=(1, 0, 0), point=(-0.25, 0, 0))
    return model
