"""Andrews' squeezing mechanism: seven plane bodies, four chains that meet in one point."""

from __future__ import annotations

from math import atan2, cos, hypot, sin, sqrt

from dalembert.errors import ModelError
from dalembert.model.model import Model

_A, _B, _C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
# the look: eyes of each body in its frame, thin plates in layers; the third corner of K5 and K7 puts their centre of mass right
_EYES = (
    ((0, 0), (0.007, 0)), ((0, 0), (-0.028, 0)), ((0, 0), (0, -0.035), (0.02, -0.018)), ((0, 0), (0, -0.02)),
    ((0, 0), (0.04, 0), (0.0292, 0.0275)), ((0, 0), (0.02, 0)), ((0, 0), (0, -0.04), (-0.0135, 0.0032)),
)  # fmt: skip
_LAYERS = (0, 1, 0, 2, 1, -1, 0)
_THICK = 0.0007
BETA = -0.06171389001427645  # for which Theta = 0: crank and K2 on one line


def andrews(beta: float = BETA) -> Model:
    """Andrews' squeezing mechanism [IVPTestSet, II-10; IFToMM, A03]: plane, no gravity, driven by 0.033 N m on the crank.

    At rest with the crank at `beta` [rad], by default where Theta = 0. Bodies "K1" (crank OF), "K2" (FE), "K3" (triangle BDE),
    "K4" (GE), "K5" (AG), "K6" (HE), "K7" (AH); joints "O", "F", "B", "A5", "G", "A7", "H" and three that close the loops in E:
    "E2", "E4", "E6", each with K3.

    Deviation: the text of IFToMM A03 rounds beta to -0.0620; the default is the value for which Theta = 0.
    """
    model = Model((0, 0, 0), name="Andrews' squeezing mechanism")
    f = _placed((0, 0), beta, (0.007, 0))
    e = _meeting(f, 0.028, _B, 0.035, 1.0)
    g, h = _meeting(_A, 0.04, e, 0.02, 1.0), _meeting(_A, 0.04, e, 0.02, -1.0)
    angles = (
        beta,
        _direction(e, f),
        _direction((0, 0), (_B[1] - e[1], e[0] - _B[0])),  # E is below B in the triangle's frame, likewise in K4 and K7
        _direction((0, 0), (g[1] - e[1], e[0] - g[0])),
        _direction(_A, g),
        _direction(h, e),
        _direction((0, 0), (_A[1] - h[1], h[0] - _A[0])),
    )
    masses = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
    inertias = (2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    centres = (
        (0.00092, 0), (-0.0115, 0), (0.01043, -0.01874), (0, -0.00579), (0.02308, 0.00916), (0.00579, 0), (-0.00449, -0.01228),
    )  # fmt: skip
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
                shape={
                    "type": "plate",
                    "points": [(x - centre[0], y - centre[1], _LAYERS[k] * _THICK) for x, y in _EYES[k]],
                    "radius": 0.0024,
                    "thickness": _THICK,
                },
            )
        )
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


def _meeting(p: tuple[float, float], r: float, q: tuple[float, float], s: float, side: float) -> tuple[float, float]:
    """The point at r from p and s from q, to the left (side = 1) or the right (-1) of the line from p to q."""
    x, y = q[0] - p[0], q[1] - p[1]
    d = hypot(x, y)
    along = (d * d + r * r - s * s) / (2 * d)
    if abs(along) > r:
        raise ModelError("andrews: the crank does not reach this beta; the loops close near -0.0617 rad")
    across = side * sqrt(r * r - along * along)
    return p[0] + (along * x - across * y) / d, p[1] + (along * y + across * x) / d


def _direction(p: tuple[float, float], q: tuple[float, float]) -> float:
    return atan2(q[1] - p[1], q[0] - p[0])


def _placed(origin: tuple[float, float], angle: float, local: tuple[float, float]) -> tuple[float, float]:
    """World coordinates of a point given in a body's frame."""
    c, s = cos(angle), sin(angle)
    return origin[0] + c * local[0] - s * local[1], origin[1] + s * local[0] + c * local[1]
