"""The coordinates of joints with their frames, made by assembling them: what is drawn is what the library counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da
from dalembert.model.joints import JOINTS, direction_of

# initial coordinates that are shown; of a ball joint the rotation vector comes from the rotation of the body
SHOWN: dict[str, Any] = {
    "universal": (0.6, 0.5),
    "revolute": 0.8,
    "cylindrical": (0.7, 0.8),
    "prismatic": 0.7,
    "planar": (0.75, 0.3, 1.2),
    "point_on_line": 0.7,
    "point_on_plane": (0.7, 0.3),
}
SHOWN_JOINTS = [name for name, row in JOINTS.items() if row.coordinates]
_VERBS = {"planar": "add_planar_joint"}
_TURNED = ("spherical", "point_on_line", "point_on_plane")  # what leaves all rotations free
_DARK, _SECOND, _SEEN = "#3d434d", "#b35c00", "#1769b5"
_VIEW = np.array([[-0.62, 0.78, 0.0], [-0.30, -0.24, 0.92]])  # world -> paper


def assembled(kind: str) -> tuple[Any, Any]:
    """The joint between the ground and a body "j", and the state at its coordinates."""
    model = da.Model(gravity=(0, 0, 0))
    turn = da.Rotation.from_axis_angle((0.3, 0.5, 1.0), 0.9) if kind in _TURNED else None
    place = {"position": (0.9, 0.3, 0.0)} if kind == "distance" else {}
    model.add_body("j", mass=1.0, inertia=(1, 1, 1), **place, **({"rotation": turn} if turn else {}))
    ends: dict[str, Any] = {"points": ((0, 0, 0), (0, 0, 0))}
    if kind == "universal":
        ends["axes"] = ((1, 0, 0), (0, 1, 0))
    elif kind in ("point_on_line", "point_on_plane"):
        ends["axes"] = ((0, 0, 1),)
    elif kind not in ("spherical", "distance"):
        ends["axes"] = ((0, 0, 1), (0, 0, 1))
    if kind in SHOWN:
        ends["coordinate"] = SHOWN[kind]
    joint = getattr(model, _VERBS.get(kind, f"add_{kind}"))("joint", model.ground, "j", **ends)
    mechanism = da.compile(model)
    return joint, mechanism.state(0.0, mechanism.x_0)


def draw(file: Path) -> None:
    """All of them in one picture."""
    from dalembert.plot.style import house_style, new_figure, save_figure

    with house_style():
        figure = new_figure(7.0, 6.6)
        for k, kind in enumerate(SHOWN_JOINTS):
            ax = figure.add_subplot(3, 3, k + 1)
            ax.set_axis_off()
            ax.set_aspect("equal")
            ax.set_xlim(-1.3, 1.3)
            ax.set_ylim(-0.8, 1.5)
            joint, state = assembled(kind)
            _draw_joint(ax, joint, state)
            named = ", ".join(joint.coordinates).replace(", rotation_", ", _")
            ax.set_title(f"{kind.replace('_', ' ')}\n{named}", fontsize=9)
        save_figure(figure, file)


def _draw_joint(ax: Any, joint: Any, state: Any) -> None:
    R, at = state.rotation("j"), state.point("j", joint.p_j)
    start = np.asarray(joint.p_i)
    _box(ax, start - [0, 0, 0.12], np.eye(3), (1.3, 1.3, 0.1), _DARK)
    _box(ax, at, R, (0.5, 0.3, 0.18), _SECOND)
    frames = (("ᵢ", _DARK, start, joint.E_i, 1.0, -1), ("ⱼ", _SECOND, at, R @ joint.E_j, 0.75, 1))
    for name, colour, place, axes, length, side in frames:  # axes may coincide: their names are on different sides
        for axis, label in zip(axes.T, "xyz", strict=True):
            _arrow(ax, place, place + length * axis, colour, f"{label}{name}", side=side)
    values = np.atleast_1d(state.coordinate("joint")) if joint.coordinates else ()
    corner = start
    for component, (label, value) in enumerate(zip(joint.coordinates, values, strict=True)):
        direction = direction_of(joint, component)
        if direction is not None:
            _arrow(ax, corner, corner + value * direction, _SEEN, "", width=2.0)
            corner = corner + value * direction
        elif label == "length":
            _arrow(ax, start, at, _SEEN, "", width=2.0)
        elif label.startswith("angle"):
            _arc(ax, corner, joint, label, float(value), values)


def _arc(ax: Any, centre: Any, joint: Any, label: str, value: float, values: Any) -> None:
    """From where an angle is counted to where it ends."""
    x, y, z = joint.E_i.T
    if label == "angle_first":
        a, b = y, z
    elif label == "angle_second":  # about y_j, which alpha has turned
        turned = np.cos(values[0]) * z - np.sin(values[0]) * y
        a, b = x, -turned
    else:
        a, b = x, y
    angles = np.linspace(0.0, value, 30)[:, None]
    path = (centre + 0.55 * (np.cos(angles) * a + np.sin(angles) * b)) @ _VIEW.T
    ax.plot(*path.T, color=_SEEN, lw=2.0)
    ax.annotate("", path[-1], path[-3], arrowprops={"arrowstyle": "->", "color": _SEEN, "lw": 2.0})


def _arrow(ax: Any, start: Any, end: Any, colour: str, label: str, width: float = 1.0, side: int = 0) -> None:
    """side : of the arrow on which its label is, 1 on the left; 0 beyond its tip"""
    a, b = _VIEW @ start, _VIEW @ end
    ax.annotate("", b, a, arrowprops={"arrowstyle": "->", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0})
    if label:
        along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-12)
        beside = side * 0.17 * np.array([-along[1], along[0]])
        ax.text(*(b + (0.03 if side else 0.1) * along + beside), label, color=colour, fontsize=9, ha="center", va="center")


def _box(ax: Any, at: Any, R: Any, size: tuple[float, ...], colour: str) -> None:
    for axis in range(3):
        for sign in (-0.5, 0.5):
            corners = np.zeros((4, 3))
            corners[:, axis] = sign
            corners[:, (axis + 1) % 3], corners[:, (axis + 2) % 3] = (-0.5, 0.5, 0.5, -0.5), (-0.5, -0.5, 0.5, 0.5)
            ax.fill(*((at + (corners * size) @ R.T) @ _VIEW.T).T, facecolor=colour, edgecolor=colour, alpha=0.12, lw=0.6)
