"""What is drawn of couplings, drivers and force elements: methods of `Sketch` and their arguments, the lowest first."""

from __future__ import annotations

import numpy as np
from drawn_joints import PIN, STEEL, TILT, Row, hinge
from sketch import FIRST, FREE, PUSHED, SECOND, SPARE, X, Y, Z, around

_S = np.linspace(0.0, 1.0, 40)
_TURN = 2 * np.pi * _S
_LOBE = (0.42 + 0.17 * np.sin(_TURN) ** 3) * np.array([np.cos(_TURN), np.sin(_TURN)]) + np.array([[0.0], [-0.38]])
_TOOTH = ((-0.072, 0.0), (-0.029, 0.15), (0.029, 0.15), (0.072, 0.0))
_TEETH = [(0.202 * (k + 0.5) + x, y - 0.375) for k in range(-6, 6) for x, y in _TOOTH]
_SPIRAL = [
    (0.5, (0.12 + 0.022 * a) * np.cos(a + 1.2), (0.12 + 0.022 * a) * np.sin(a + 1.2)) for a in np.linspace(1.0, 17.0, 200)
]
_THREADS = [
    [(0.2 * np.cos(a), 0.2 * np.sin(a), z + 0.02 * a) for a in np.linspace(-0.9, 2.2, 20)]
    for z in (-0.85, -0.7, -0.55, 0.2, 0.35, 0.5, 0.65, 0.8)
]
_ROPE = (
    (-0.72, -0.4),
    *around((-0.48, 0.5), None, 0.24, np.pi, np.pi / 2),
    *around((0.43, 0.5), None, 0.24, np.pi / 2, 0),
    (0.67, -0.4),
)
_BLOCKS: tuple[Row, ...] = (
    ("box", (0, -0.85, -0.3), (0.5, 0.4, 0.5), FIRST),
    ("box", (0, 0.75, 0.25), (0.5, 0.5, 0.4), SECOND),
)
_FREE_BODY: Row = ("box", (0, 0, -0.1), (0.7, 0.8, 0.5), SECOND)


def _bar(at: tuple[float, float], end: tuple[float, float]) -> tuple[Row, ...]:
    """A hinge on the paper and the bar that it carries."""
    x, y = at
    return (
        ("face", ((x, y), (x - 0.2, y - 0.34), (x + 0.2, y - 0.34)), FIRST),
        ("line", ((x - 0.3, y - 0.34), (x + 0.3, y - 0.34))),
        ("line", (at, end), "-", PIN, 6.5),
        ("line", (at, end), "-", SECOND, 4.5),
        ("round", at, 0.08, "#ffffff"),
    )


def _graph(x: float, y: float) -> tuple[Row, ...]:
    """A function of time."""
    return (
        ("line", ((x, y + 0.55), (x, y), (x + 0.75, y))),
        ("line", np.transpose([x + 0.7 * _S, y + 0.12 + 0.35 * _S * _S * (3 - 2 * _S)]), "-", FREE, 1.8),
        ("text", (x + 0.36, y + 0.68), "f(t)", FREE),
    )


_BARS = (*_bar((-0.75, -0.45), (-0.35, 0.2)), *_bar((0.55, -0.45), (1.0, 0.15)))

COUPLINGS: dict[str, tuple[Row, ...]] = {
    "add_coupling": (
        *_BARS,
        ("turned", (-0.75, -0.45), None, 0.55, 0.0, 0.9),
        ("turned", (0.55, -0.45), None, 0.55, 0.0, 0.8),
        ("text", (0, 0.7), "f(s₁, s₂) = 0"),
    ),
    "add_gear": (
        ("wheel", (-0.47, 0), 0.55, 16, FIRST),
        ("wheel", (0.43, 0), 0.344, 10, SECOND, 0.5),
        ("turned", (-0.47, 0), None, 0.78, 0.9, 2.2),
        ("turned", (0.43, 0), None, 0.57, 2.0, 0.6),
    ),
    "add_rack": (
        ("face", ((-1.24, -0.7), (-1.24, -0.375), *_TEETH, (1.24, -0.375), (1.24, -0.7)), SECOND),
        ("wheel", (0, 0.15), 0.45, 14, FIRST, 0.5),
        ("turned", (0, 0.15), None, 0.68, 0.8, 2.3),
        ("moved", (-0.35, -0.86), (0.35, -0.86)),
    ),
    "add_belt": (
        ("face", (*around((-0.6, 0), None, 0.54, 1.7, 4.58), *around((0.65, 0), None, 0.36, -1.7, 1.7)), PIN),
        ("face", (*around((-0.6, 0), None, 0.48, 1.7, 4.58), *around((0.65, 0), None, 0.3, -1.7, 1.7)), "#ffffff"),
        ("round", (-0.6, 0), 0.48, FIRST),
        ("round", (0.65, 0), 0.3, SECOND),
        ("dot", (-0.6, 0)),
        ("dot", (0.65, 0)),
        ("turned", (-0.6, 0), None, 0.3, 0.4, 2.7),
        ("turned", (0.65, 0), None, 0.18, 0.2, 2.6),
    ),
    "add_differential": (
        ("face", ((-0.5, -0.62), (0.5, -0.62), (0.5, 0.62), (-0.5, 0.62)), FIRST),
        ("face", ((-0.36, -0.5), (0.36, -0.5), (0.36, 0.5), (-0.36, 0.5)), "#ffffff"),
        ("face", ((-1.25, 0.07), (-1.25, -0.07), (-0.3, -0.07), (-0.3, 0.07)), SECOND),
        ("face", ((1.25, 0.07), (1.25, -0.07), (0.3, -0.07), (0.3, 0.07)), SECOND),
        ("face", ((-0.3, -0.34), (-0.14, -0.18), (-0.14, 0.18), (-0.3, 0.34)), SECOND),
        ("face", ((0.3, -0.34), (0.14, -0.18), (0.14, 0.18), (0.3, 0.34)), SECOND),
        ("face", ((-0.34, 0.5), (0.34, 0.5), (0.18, 0.2), (-0.18, 0.2)), SPARE),
        ("face", ((-0.34, -0.5), (0.34, -0.5), (0.18, -0.2), (-0.18, -0.2)), SPARE),
        ("turned", (-0.95, 0), (1, 0.25, 0), 0.3, -2.2, 1.6),
        ("turned", (0.95, 0), (1, 0.25, 0), 0.3, -2.2, 1.6),
        ("text", (0, 0.8), "case"),
    ),
    "add_screw": (
        ("rod", (0, 0, -1.0), (0, 0, -0.1), 0.2, FIRST),
        *(("line", thread) for thread in _THREADS[:3]),
        ("rod", (0, 0, -0.35), (0, 0, 0.1), 0.5, SECOND),
        ("rod", (0, 0, 0.1), (0, 0, 1.0), 0.2, FIRST),
        *(("line", thread) for thread in _THREADS[3:]),
        ("moved", (0.85, -0.35), (0.85, 0.3)),
        ("turned", (0, 0, -0.15), Z, 0.66, -2.5, -0.6),
    ),
    "add_cable": (
        ("face", ((-0.92, -0.75), (-0.92, -0.4), (-0.52, -0.4), (-0.52, -0.75)), FIRST),
        ("face", ((0.47, -0.75), (0.47, -0.4), (0.87, -0.4), (0.87, -0.75)), SECOND),
        ("line", ((-1.1, 0.95), (1.1, 0.95))),
        ("round", (-0.48, 0.5), 0.22, SPARE),
        ("round", (0.43, 0.5), 0.22, SPARE),
        ("line", ((-0.48, 0.95), (-0.48, 0.5)), "-", PIN, 2.5),
        ("line", ((0.43, 0.95), (0.43, 0.5)), "-", PIN, 2.5),
        ("line", _ROPE, "-", PIN, 2.2),
        ("moved", (-1.1, -0.7), (-1.1, -0.25)),
        ("moved", (1.05, -0.25), (1.05, -0.7)),
    ),
    "add_cam": (
        ("face", _LOBE.T, FIRST),
        ("dot", (0, -0.38)),
        (
            "face",
            ((-0.5, 0.21), (0.5, 0.21), (0.5, 0.33), (0.1, 0.33), (0.1, 0.95), (-0.1, 0.95), (-0.1, 0.33), (-0.5, 0.33)),
            SECOND,
        ),
        ("face", ((-0.35, 0.55), (-0.12, 0.55), (-0.12, 0.75), (-0.35, 0.75)), SPARE),
        ("face", ((0.35, 0.55), (0.12, 0.55), (0.12, 0.75), (0.35, 0.75)), SPARE),
        ("turned", (0, -0.38), None, 0.24, 0.5, 4.6),
        ("moved", (0.7, 0.3), (0.7, 0.85)),
    ),
}

DRIVERS: dict[str, tuple[Row, ...]] = {
    "add_driver": (
        *_bar((-0.75, -0.4), (-0.15, 0.35)),
        ("turned", (-0.75, -0.4), None, 0.62, 0.0, 0.75),
        *_graph(0.3, -0.3),
    ),
    "add_point_driver": (
        ("line", ((-1.2, 0.3), (1.2, 0.3)), "axis"),
        ("box", (0, -0.6, 0.1), (0.5, 0.6, 0.5), SECOND, TILT),
        ("dot", (-0.14, 0.3)),
        ("moved", (-0.14, 0.3), (0.6, 0.3)),
        *_graph(0.25, -0.75),
    ),
}

FORCES: dict[str, tuple[Row, ...]] = {
    "add_force": (
        _FREE_BODY,
        ("dot", (0.1, 0.4, 0.0)),
        ("force", (0.1, 0.4, 0.0), (0.1, 1.25, 0.3)),
        ("text", (0.95, 0.3), "F", PUSHED),
    ),
    "add_torque": (_FREE_BODY, ("torque", (0, 0, 0.1), Z, 0.72, -3.6, 0.6), ("text", (0.95, 0.25), "M", PUSHED)),
    "add_spring_damper": (
        *_BLOCKS,
        ("spring", (0, -0.65, -0.12), (0, 0.5, 0.38)),
        ("damper", (0, -0.65, -0.4), (0, 0.5, 0.1)),
        ("force", (0.62, 0.56), (0.12, 0.5)),
        ("text", (0.4, 0.75), "F", PUSHED),
    ),
    "add_bushing": (
        ("rod", (-0.3, 0, 0), (0.3, 0, 0), 0.75, FIRST),
        ("round", (0.3, 0, 0), 0.6, STEEL, X),
        ("rod", (0.3, 0.05, -0.05), (0.62, 0.05, -0.05), 0.24, SECOND, 0.1),
        ("force", (0.62, 0.05, -0.05), (0.62, -0.55, 0.15)),
        ("torque", (0.5, 0.05, -0.05), X, 0.45, -1.4, 1.2),
        ("text", (-0.95, 0.55), "F", PUSHED),
        ("text", (0.9, 0.3), "M", PUSHED),
    ),
    "add_interaction": (
        ("line", ((0, -0.65, -0.3), (0, 0.5, 0.2)), ":", PIN, 1.8),
        ("box", (0, -0.85, -0.3), (0.5, 0.4, 0.5), FIRST),
        ("box", (0, 0.65, 0.15), (0.5, 0.5, 0.4), SECOND),
        ("force", (0, 0.4, 0.15), (0, -0.15, 0.3)),
        ("torque", (0, 0.85, 0.15), Y, 0.42, -2.0, 1.0),
        ("text", (0, 0.85), "law(t, r, R, v, w)"),
    ),
    "add_joint_spring_damper": hinge(
        ("line", _SPIRAL, "-", PIN, 1.6), ("torque", (0, 0, 0), X, 0.85, 0.6, 2.1), ("text", (-0.85, 0.6), "M", PUSHED)
    ),
    "add_motor": hinge(
        ("rod", (0.42, 0, 0), (0.85, 0, 0), 0.3, FIRST),
        ("torque", (0, 0, 0), X, 0.85, 0.6, 2.1),
        ("text", (-0.85, 0.6), "M", PUSHED),
    ),
    "add_joint_law": (
        ("line", ((-0.75, -0.45), (-0.75, 0.75), (0.55, 0.75), (0.55, -0.45)), ":"),
        *_BARS,
        ("face", ((-0.55, 0.5), (0.4, 0.5), (0.4, 1.0), (-0.55, 1.0)), SPARE),
        ("torque", (-0.75, -0.45), None, 0.5, 0.0, 2.2),
        ("torque", (0.55, -0.45), None, 0.5, 0.0, 2.2),
        ("text", (-0.07, 0.75), "law(s)"),
    ),
}
