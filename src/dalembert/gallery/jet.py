"""The three examples of [JetMultibody, 6.2], entered as tabulated there; y is up."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy.typing as npt

from dalembert.gallery.looks import made_of
from dalembert.model.model import Model

GRAVITY = (0.0, -9.81, 0.0)
E1, E2, E3 = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def _link(half: float, z: float, radius: float = 0.1, thickness: float = 0.08) -> dict[str, Any]:
    """How a bar between x = -half and half looks, beside the plane of its pins."""
    return {"type": "plate", "points": [(-half, 0, z), (half, 0, z)], "radius": radius, "thickness": thickness}


def pendulum_3d(torque: npt.ArrayLike | None = None) -> Model:
    """3D pendulum [JetMultibody, 6.2.1]: a body on a spherical joint at the origin, released at rest along x.

    Without torque the motion is plane, an oscillation of amplitude 90 degrees. Body "pendulum", joint "pivot".

    torque : (3,) constant in body axes [N m]; none is printed, (0, 10, 0) gives a truly three-dimensional motion

    Deviation: "the centre of mass m = 38.34" is read as the mass.
    """
    model = Model(GRAVITY, name="3D pendulum")
    body = model.add_body("pendulum", mass=38.34, inertia=(0.147, 3.175, 3.154), position=(0.765, 0, 0))
    model.add_spherical("pivot", model.ground, body, points=((0, 0, 0), (-0.765, 0, 0)))
    if torque is not None:
        model.add_torque("torque", body, torque, frame="body")
    return model


def planar_quadrangle() -> Model:
    """Planar quadrangle [JetMultibody, 6.2.2, Tables 2-4]: crank 2, coupler 4, rocker 4, base 2.5 m.

    At rest with the crank at 60 degrees; torque -1200 N m about z on the crank. 17 rows, one degree of freedom.
    Bodies "crank", "coupler", "rocker"; joints "A" revolute, "B" spherical, "C" cylindrical, "D" revolute.

    Deviation: Table 3 is rounded to three digits; here the loop closes to rounding, the crank at exactly 60 degrees.
    """
    model = Model(GRAVITY, name="planar quadrangle")
    crank = model.add_body(
        "crank",
        mass=78.10,
        inertia=(0.08, 26.05, 26.1),
        position=(0.5, 0.8660254037844386, 0),
        rotation=(0.8660254037844386, 0, 0, 0.5),
        shape=_link(1.0, 0.05),
    )
    long_rod: Any = {"mass": 156.20, "inertia": (0.16, 208.3, 208.4)}
    coupler = model.add_body(
        "coupler",
        **long_rod,
        shape=_link(2.0, -0.05),
        position=(2.8235214136195177, 2.553494447796907, 0),
        rotation=(0.9776913385137864, 0, 0, 0.21004677239872216),
    )
    rocker = model.add_body(
        "rocker",
        **long_rod,
        shape=_link(2.0, 0.05),
        position=(3.5735214136195177, 1.687469044012468, 0),
        rotation=(0.876573073625285, 0, 0, 0.48126878830350156),
    )
    model.add_revolute("A", model.ground, crank, points=((0, 0, 0), (-1, 0, 0)), vectors=(E2, E1, E3))
    model.add_spherical("B", crank, coupler, points=((1, 0, 0), (-2, 0, 0)))
    model.add_cylindrical("C", coupler, rocker, points=((2, 0, 0), (2, 0, 0)), vectors=(E1, E2, E3))
    model.add_revolute("D", rocker, model.ground, points=((-2, 0, 0), (2.5, 0, 0)), vectors=(E1, E2, E3))
    model.add_torque("torque", crank, (0, 0, -1200), frame="body")
    return model


def crank_mechanism() -> Model:
    """Crank mechanism [JetMultibody, 6.2.3, Tables 5-7]: crank turning about x, rod, slider along x.

    At rest; torque (0, 0, -50) N m in body axes on the crank, that is about the world's x. One degree of freedom.
    Bodies "crank", "rod", "slider"; joints "spherical", "translational", "universal", "revolute" as in Table 7.

    Deviation: the crank's rotation is (sqrt(1/2), 0, sqrt(1/2), 0) instead of (0.707, 0, 0.707, 0).
    """
    model = Model(GRAVITY, name="crank mechanism")
    half = sqrt(0.5)
    web, pin = _link(0.25, -0.06, 0.06, 0.05), {"type": "cylinder", "radius": 0.03, "length": 0.1}
    pins = [pin | {"position": (x, 0, -0.03)} for x in (-0.25, 0.25)]
    bar: dict[str, object] = {"type": "cylinder", "radius": 0.035, "length": 1.8, "axis": "x"}
    ends = [{"type": "box", "size": (0.05, 0.22, 0.22), "position": (x, 0, 0)} for x in (-0.14, 0.14)]
    crank = model.add_body(
        "crank",
        mass=19.50,
        inertia=(0.02, 0.41, 0.42),
        position=(0, 0, -0.25),
        rotation=(half, 0, half, 0),
        shape=made_of(web, *pins),
    )
    rod = model.add_body("rod", mass=70.29, inertia=(0.07, 18.99, 19.04), position=(0.9, 0, -0.5), shape=bar)
    slider = model.add_body(
        "slider",
        mass=7.81,
        inertia=(0.01, 0.01, 0.01),
        position=(1.8, 0, -0.5),
        shape=made_of(*ends, {"type": "box", "size": (0.33, 0.22, 0.04), "position": (0, 0, -0.11)}),
    )
    model.add_spherical("spherical", crank, rod, points=((0.25, 0, 0), (-0.9, 0, 0)))
    model.add_translational("translational", model.ground, slider, points=((0, 0, 0), (-1.8, 0, 0.5)), vectors=(E2, E3, E1, E3))
    model.add_universal("universal", rod, slider, points=((0.9, 0, 0), (0, 0, 0)), axes=(E2, E3))
    model.add_revolute("revolute", crank, model.ground, points=((-0.25, 0, 0), (0, 0, 0)), vectors=(E2, E1, E1))
    model.add_torque("torque", crank, (0, 0, -50), frame="body")
    return model
