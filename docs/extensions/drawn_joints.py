"""What is drawn of joints, single conditions and rolling: methods of `Sketch` and their arguments, the lowest first.

Lengths of the paper are 2.9 by 2.2, its middle is the origin; x points to the left and towards the reader, y to the right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sketch import FIRST, FREE, SECOND, SPARE, X, Y, Z, around

import dalembert as da

Row = tuple[Any, ...]

PIN, STEEL = "#3d434d", "#8d939c"
LEAN = da.Rotation.from_axis_angle(X, -0.45).matrix
TILT = da.Rotation.from_axis_angle((1, 1, 0), 0.5).matrix
_PLATE: Row = ("box", (0, 0, -0.5), (1.7, 1.7, 0.12), FIRST)  # its upper side is at z = -0.44
_ALONG = np.linspace(-1.0, 1.0, 60)[:, None]
_FLAT = 0.0 * _ALONG - 0.44
_CURVE = np.hstack([1.1 * _ALONG, -0.15 + 0.35 * np.sin(3 * _ALONG)])
_LIP = (*around((0, 0, -0.2), Z, 0.46, -np.pi, 0), *around((0, 0, -0.75), Z, 0.46, 0, -np.pi))


def hinge(*more: Row) -> tuple[Row, ...]:
    """A pin along x in two lugs, the bar that it carries, and what lies on the nearer lug."""
    return (
        ("box", (0, 0, -0.75), (1.1, 0.9, 0.12), FIRST),
        ("box", (-0.32, 0, -0.35), (0.14, 0.4, 0.7), FIRST),
        ("rod", (-0.25, 0, 0), (0.25, 0, 0), 0.22, SECOND),
        ("box", 0.55 * (LEAN @ Z), (0.3, 0.24, 0.8), SECOND, LEAN),
        ("box", (0.32, 0, -0.35), (0.14, 0.4, 0.7), FIRST),
        ("rod", (0.3, 0, 0), (0.5, 0, 0), 0.11, SPARE),
        *more,
    )


_SLIDER: tuple[Row, ...] = (
    ("box", (0, -0.55, -0.1), (0.3, 1.1, 0.3), FIRST),
    ("box", (0, 0.25, -0.1), (0.62, 0.8, 0.62), SECOND),
    ("box", (0, 0.9, -0.1), (0.3, 0.5, 0.3), FIRST),
    ("slides", (0, -0.2, 0.55), (0, 0.75, 0.55)),
)

JOINTS: dict[str, tuple[Row, ...]] = {
    "add_revolute": hinge(("turns", (0.5, 0, 0), X, 0.45, -1.0, 1.6)),
    "add_prismatic": _SLIDER,
    "add_cylindrical": (
        ("rod", (0, -1.15, -0.1), (0, 0.1, -0.1), 0.15, FIRST),
        ("rod", (0, -0.15, -0.1), (0, 0.6, -0.1), 0.36, SECOND),
        ("rod", (0, 0.6, -0.1), (0, 1.15, -0.1), 0.15, FIRST),
        ("slides", (0, -0.2, 0.55), (0, 0.75, 0.55)),
        ("turns", (0, -0.55, -0.1), Y, 0.45, -2.4, 0.8),
    ),
    "add_spherical": (
        ("box", (0, 0, -0.8), (0.9, 0.9, 0.12), FIRST),
        ("rod", (0, 0, -0.75), (0, 0, -0.2), 0.46, FIRST, 0.4),
        ("rod", (0, 0, 0), (0, 0.42, 0.85), 0.11, SECOND),
        ("ball", (0, 0, -0.04), 0.39, SECOND),
        ("face", _LIP, FIRST, 0.88),
        ("turns", (0, 0, 0), X, 0.72, -0.3, 0.6),
        ("turns", (0, 0, 0), Y, 0.66, 1.9, 2.9),
        ("turns", (0, 0.33, 0.67), (0, 0.42, 0.85), 0.27, -2.9, 0.3),
    ),
    "add_universal": (
        ("rod", (0, -1.25, 0), (0, -0.5, 0), 0.13, FIRST),
        ("line", ((0, 0, -0.42), (0, -0.5, -0.42), (0, -0.5, 0.42), (0, 0, 0.42)), "-", STEEL, 6.0),
        ("line", ((-0.42, 0, 0), (-0.42, 0.5, 0), (0.1, 0.5, 0)), "-", "#e0a33c", 6.0),
        ("line", ((0, 0, -0.42), (0, 0, 0.42)), "-", PIN, 3.5),
        ("line", ((-0.42, 0, 0), (0.42, 0, 0)), "-", PIN, 3.5),
        ("rod", (0, 0.5, 0), (0, 1.25, 0), 0.13, SECOND),
        ("line", ((-0.2, 0.5, 0), (0.42, 0.5, 0), (0.42, 0, 0)), "-", "#e0a33c", 6.0),
        ("turns", (0, 0, 0.62), Z, 0.32, -2.6, 0.4),
        ("turns", (0.7, 0, 0), X, 0.32, -3.0, 0.0),
    ),
    "add_planar_joint": (
        _PLATE,
        ("box", (-0.1, 0, -0.3), (0.65, 0.65, 0.28), SECOND),
        ("slides", (0.55, -0.35, -0.43), (0.55, 0.45, -0.43)),
        ("slides", (-0.35, 0.62, -0.43), (0.35, 0.62, -0.43)),
        ("turns", (-0.1, 0, 0.05), Z, 0.4, -2.6, 0.5),
    ),
    "add_translational": (*_SLIDER, ("text", (0.3, 0.85), "= prismatic")),
    "add_fixed": (
        _PLATE,
        ("box", (0, 0, -0.38), (1.1, 1.1, 0.12), SECOND),
        ("rod", (-0.38, -0.38, -0.32), (-0.38, -0.38, -0.22), 0.11, SPARE),
        ("rod", (-0.38, 0.38, -0.32), (-0.38, 0.38, -0.22), 0.11, SPARE),
        ("box", (0, 0, 0.15), (0.4, 0.4, 0.95), SECOND),
        ("rod", (0.38, -0.38, -0.32), (0.38, -0.38, -0.22), 0.11, SPARE),
        ("rod", (0.38, 0.38, -0.32), (0.38, 0.38, -0.22), 0.11, SPARE),
    ),
}

CONDITIONS: dict[str, tuple[Row, ...]] = {
    "add_coincidence": (
        ("face", ((0, 0), (-0.35, 0.42), (-1.15, 0.3), (-1.05, -0.45), (-0.3, -0.3)), FIRST),
        ("face", ((0, 0), (0.3, -0.3), (0.95, 0.2), (0.75, 0.75), (0.15, 0.45)), SECOND),
        ("dot", (0, 0)),
        ("turns", (0, 0), None, 1.15, -0.35, 0.2),
        ("text", (0.1, -0.7), "xᵢ = xⱼ"),
    ),
    "add_distance": (
        ("box", (0, -0.85, -0.45), (0.6, 0.5, 0.5), FIRST),
        ("box", (0, 0.75, 0.45), (0.5, 0.5, 0.4), SECOND, TILT),
        ("rod", (0.3, -0.65, -0.25), (0.3, 0.55, 0.35), 0.05, SPARE),
        ("ball", (0.3, -0.65, -0.25), 0.11, SPARE),
        ("ball", (0.3, 0.55, 0.35), 0.11, SPARE),
        ("turns", (-0.7, -0.16), None, 0.97, -0.55, 0.05),
        ("text", (-0.3, 0.17), "l"),
    ),
    "add_point_on_line": (
        ("line", ((0, -1.4, -0.2), (0, 1.4, -0.2)), "-", STEEL, 3.0),
        ("box", (0, 0.07, 0.22), (0.4, 0.5, 0.65), SECOND, da.Rotation.from_axis_angle((1, 0.4, 0), -0.45).matrix),
        ("dot", (0, -0.12, -0.2)),
        ("slides", (0, -0.6, -0.5), (0, 0.4, -0.5)),
        ("turns", (0, -0.12, -0.2), X, 1.05, 0.75, 1.6),
    ),
    "add_point_on_plane": (
        _PLATE,
        ("box", (-0.05, 0.08, 0.22), (0.3, 0.3, 0.9), SECOND, LEAN),
        ("face", ((-0.04, -0.4), (-0.23, -0.16), (0.14, -0.06)), SECOND),
        ("dot", (-0.04, -0.41)),
        ("slides", (0.45, -0.05, -0.43), (0.45, 0.75, -0.43)),
        ("slides", (-0.05, -0.62, -0.43), (0.65, -0.62, -0.43)),
    ),
    "add_in_plane": (
        ("box", (0, 0, -0.7), (1.0, 1.0, 0.25), FIRST),
        ("line", ((-0.85, -0.85, 0.2), (0.85, -0.85, 0.2), (0.85, 0.85, 0.2), (-0.85, 0.85, 0.2), (-0.85, -0.85, 0.2)), "--"),
        ("line", ((0, 0, -0.575), (0, 0, 0.2)), "axis"),
        ("text", (0.12, -0.52), "a"),
        ("box", (-0.1, 0.1, 0.44), (0.4, 0.4, 0.4), SECOND, TILT),
        ("dot", (0, 0, 0.2)),
        ("slides", (0.5, -0.45, 0.2), (0.5, 0.2, 0.2)),
        ("slides", (-0.2, 0.6, 0.2), (0.4, 0.6, 0.2)),
    ),
    "add_perpendicular": (
        ("box", (0, -0.8, -0.4), (0.5, 0.5, 0.4), FIRST),
        ("line", ((0, -0.8, -0.2), (0, -0.8, 0.95)), "axis"),
        ("line", ((0, 0.75, -0.1), (0, -0.8, -0.1)), "axis"),
        ("box", (0, 0.75, -0.1), (0.45, 0.45, 0.4), SECOND),
        ("line", ((0, -0.8, 0.1), (0, -0.6, 0.1), (0, -0.6, -0.1))),
        ("turns", (0, -0.8, 0.8), Z, 0.25, -2.8, 0.6),
        ("turns", (0, 0.2, -0.1), Y, 0.25, -2.2, 1.2),
        ("text", (-0.42, 0.38), "aᵢ"),
        ("text", (0.02, 0.17), "aⱼ"),
    ),
}

_HATCH = [(x, y) for x in (-0.95, -0.4, 0.15, 0.7) for y in (-0.8, -0.4, 0.0)]
_EGG = np.linspace(0, 2 * np.pi, 70)

ROLLING: dict[str, tuple[Row, ...]] = {
    "add_rolling_sphere": (
        _PLATE,
        ("line", ((0, -0.85, -0.44), (0, 0, -0.44)), "--"),
        ("ball", (0, 0, 0.06), 0.48, SECOND),
        ("moved", (0.1, 0.4, -0.43), (0.1, 0.8, -0.43)),
        ("turned", (0, 0, 0.06), X, 0.66, 2.3, 0.7),
    ),
    "add_rolling_disc": (
        _PLATE,
        ("line", around((-0.25, 0.0, -0.44), Z, 0.7, 2.4, 5.3), "--"),
        ("rod", (0.35, 0.0, 0), (0.42, 0.0, 0.04), 0.5, SECOND),
        ("dot", (0.42, 0, 0.04)),
        ("turned", (0.38, 0.0, 0.02), (0.87, 0, 0.5), 0.66, 2.3, 0.7),
    ),
    "add_rolling_ellipsoid": (
        _PLATE,
        ("line", np.hstack([0.25 * np.sin(4 * _ALONG), 0.8 * _ALONG, _FLAT]), "--"),
        ("face", np.transpose([0.68 * np.cos(_EGG), 0.12 + 0.36 * np.sin(_EGG) + 0.1 * np.cos(_EGG)]), SECOND),
        ("line", np.transpose([0.2 * np.sin(_EGG / 2), 0.12 + 0.36 * np.cos(_EGG / 2)])),
        ("turned", (0, 0.1), None, 0.75, 2.3, 0.8),
    ),
    "add_skate": (
        _PLATE,
        ("line", np.hstack([0 * _ALONG, 0.82 * _ALONG, _FLAT]), "--"),
        ("face", ((0, -0.38, -0.43), (0, 0.38, -0.43), (0, 0.5, -0.05), (0, -0.5, -0.05)), STEEL),
        ("box", (0, 0, 0.12), (0.3, 1.0, 0.34), SECOND),
        ("slides", (0.3, -0.35, -0.43), (0.3, 0.6, -0.43)),
        ("turns", (0, 0, 0.45), Z, 0.35, -2.6, 0.5),
    ),
    "add_constraint": (
        ("box", (0.3, 0.78, 0.6), (0.35, 0.45, 0.4), SECOND, TILT),
        ("line", _CURVE, "-", STEEL, 3.0),
        ("dot", _CURVE[43]),
        ("slides", _CURVE[33] + (0.16, -0.2), _CURVE[43] + (0.16, -0.2)),
        ("text", (-0.5, 0.65), "g(x, t) = 0"),
    ),
    "add_velocity_constraint": (
        *(("line", ((x - 0.14, y - 0.07), (x + 0.14, y + 0.07)), "-", STEEL) for x, y in _HATCH),
        ("box", (0, 0.05, 0.05), (0.4, 0.4, 0.35), SECOND),
        ("moved", (0.3, 0.1), (0.95, 0.42)),
        ("text", (0.85, 0.62), "v", FREE),
        ("text", (-0.3, 0.8), "a(x) · v = 0"),
    ),
}
