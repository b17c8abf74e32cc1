"""Andrews' squeezing mechanism: seven plane bodies, four chains that meet in one point."""

from __future__ import annotations

from math import cos, sin

from dalembert.model.model import Model

_A, _B, _C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
_BETA, _GAMMA, _PHI = -0.06171389001427645, 0.45527981916307038, 0.22266839016588588
_DELTA, _EPSILON = 0.48736497954384255, 1.2305474445498212


def andrews() -> Model:
    """Andrews' squeezing mechanism [IVPTestSet, II-10; IFToMM, A03]: plane, no gravity, driven by 0.033 N m on the crank.

    At rest with Theta = 0. Bodies "K1" (crank OF), "K2" (FE), "K3" (triangle BDE), "K4" (GE), "K5" (AG), "K6" (HE), "K7" (AH);
    joints "O", "F", "B", "A5", "G", "A7", "H" and three that close the loops in E: "E2", "E4", "E6", each with K3.

    Deviation: the text of IFToMM A03 rounds beta_0 to -0.0620; here it is the value for which Theta = 0.
    """
    model = Model((0, 0, 0), name="Andrews' squeezing mechanism")
    omega = -_PHI
    angles = (_BETA, _BETA, _GAMMA, _PHI + _DELTA, _DELTA, omega + _EPSILON, _EPSILON)
    masses = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
    inertias = (2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    centres = (
        (0.00092, 0), (-0.0115, 0), (0.01043, -0.01874), (0, -0.00579), (0.02308, 0.00916), (0.00579, 0), (-0.00449, -0.01228),
    )  # fmt: skip
    f = _placed((0, 0), _BETA, (0.007, 0))
    g, h = _placed(_A, _DELTA, (0.04, 0)), _placed(_A, _EPSILON, (0, -0.04))
    origins = ((0.0, 0.0), f, _B, g, _A, h, _A)
    bodies = []
    for k, (mass, inertia, centre, origin, angle) in enumerate(zip(masses, inertias, centres, origins, angles, strict=True)):
        bodies.append(
            model.add_body(
                f"K{k + 1}",
                mass=mass,
                inertia=(inertia / 2, inertia / 2, inertia),
                position=(*_placed(origin, angle, centre), 0),
                rotation=(cos(angle / 2), 0, 0, sin(angle / 2)),
            )
        )
    e = _placed(_B, _GAMMA, (0, -0.035))
    k1, k2, k3, k4, k5, k6, k7 = bodies
    for name, first, second, point in (
        ("O", model.ground, k1, (0.0, 0.0)),
        ("F", k1, k2, f),
        ("B", model.ground, k3, _B),
        ("A5", model.ground, k5, _A),
        ("G", k5, k4, g),
        ("A7", model.ground, k7, _A),
        ("H", k7, k6, h),
        ("E2", k3, k2, e),
        ("E4", k3, k4, e),
        ("E6", k3, k6, e),
    ):
        model.add_revolute(name, first, second, point=(*point, 0), axis=(0, 0, 1))
    d = (0.02 - 0.01043, -0.018 + 0.01874, 0)
    model.add_spring_damper("spring", model.ground, k3, points=((*_C, 0), d), stiffness=4530, length=0.07785)
    model.add_torque("drive", k1, (0, 0, 0.033), frame="body")
    return model


def _placed(origin: tuple[float, float], angle: float, local: tuple[float, float]) -> tuple[float, float]:
    """World coordinates of a point given in a body's frame."""
    c, s = cos(angle), sin(angle)
    return origin[0] + c * local[0] - s * local[1], origin[1] + s * local[0] + c * local[1]
