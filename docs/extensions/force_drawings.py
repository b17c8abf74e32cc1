"""A drawing of every force element: what it does to its second body, as a run of it tells (`solution.effort`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from joint_drawings import _BLUE, _DARK, _SEEN, _VIEW, _arrow, _box
from verbs import verbs_of

import dalembert as da

_ENDS = ((0.0, -0.4, -0.07), (0.0, 0.0, 0.0))  # of what pulls between two points: on the ground, in the body
# verb: its arguments, and what is drawn beside the body: a line between points, or the axis of the joint that it acts along
ELEMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "force": ({"force": (0, 1.0, 0)}, ""),
    "torque": ({"torque": (0, 0, 1.0)}, ""),
    "spring_damper": ({"stiffness": 4.0, "length": 0.5, "points": _ENDS}, "spring"),
    "cable": ({"stiffness": 4.0, "length": 0.5}, "line"),
    "bushing": ({"stiffness": (2, 2, 2, 2, 2, 2), "points": _ENDS}, "line"),
    "interaction": ({"law": lambda t, r, R, v, w: (-2.0 * r, np.zeros(3)), "points": _ENDS}, "line"),
    "joint_spring_damper": ({"stiffness": 2.0}, "axis"),
    "motor": ({"effort": 1.0}, "axis"),
    "joint_law": ({"law": lambda t, s, s_dot: 1.0 - s}, "axis"),
}
_AT = np.array([0.0, 0.45, 0.75])  # of a body that is not on a joint


def assembled(kind: str) -> Any:
    """What an element between the ground and a body "j" does at first."""
    model = da.Model(gravity=(0, 0, 0))
    options, drawn = ELEMENTS[kind]
    position = (0, 0, 0.3) if drawn == "axis" else _AT
    model.add_body("j", mass=1.0, inertia=(1, 1, 1), position=position)
    if drawn == "axis":
        model.add_revolute("joint", model.ground, "j", points=((0, 0, 0.3), (0, 0, 0)), axes=((0, 0, 1),) * 2, coordinate=0.5)
    ends: tuple[Any, ...] = ("j",) if not drawn else (["joint"],) if kind == "joint_law" else ("joint",)
    if kind == "cable":
        ends = ([(model.ground, _ENDS[0]), ("j", _ENDS[1])],)
    elif drawn in ("spring", "line"):
        ends = (model.ground, "j")
    getattr(model, f"add_{kind}")("element", *ends, **options)
    run = da.simulate(model, t_end=1e-3)
    return run, run.effort("element").on["j"]


def draw(file: Path) -> None:
    """All of them in one picture."""
    missing = set(verbs_of("dalembert.model.forces.ForceVerbs")) - {f"add_{kind}" for kind in ELEMENTS}
    assert not missing, f"without a drawing: {missing}"
    from dalembert.plot.style import house_style, new_figure, save_figure

    with house_style():
        figure = new_figure(9.6, 6.6)
        for k, kind in enumerate(ELEMENTS):
            ax = figure.add_subplot(3, 3, k + 1)
            ax.set_axis_off()
            ax.set_aspect("equal")
            ax.set_xlim(-1.5, 1.5)
            ax.set_ylim(-0.6, 1.3)
            _draw_element(ax, *assembled(kind), ELEMENTS[kind][1])
            ax.set_title(f"add_{kind}", fontsize=8)
        save_figure(figure, file)


def _draw_element(ax: Any, run: Any, effort: Any, drawn: str) -> None:
    R, at = run.rotation("j")[0], run.position("j")[0]
    _box(ax, np.array([0, 0, -0.12]), np.eye(3), (1.3, 1.3, 0.1), _DARK)
    _box(ax, at, R, (0.5, 0.3, 0.18), _BLUE)
    if drawn == "axis":
        ax.plot(*(np.array([[0, 0, -0.1], [0, 0, 0.9]]) @ _VIEW.T).T, color=_DARK, lw=0.8, ls=(0, (6, 2, 1, 2)))
    elif drawn:
        a, b = _VIEW @ np.array(_ENDS[0]), _VIEW @ at
        along = np.linspace(0, 1, 14)[:, None]
        side = np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
        zigzag = np.where(np.arange(14) % 2, 0.06, -0.06)[:, None] * (drawn == "spring")
        zigzag[[0, 1, -2, -1]] = 0
        ax.plot(*(a + along * (b - a) + zigzag * side).T, color=_DARK, lw=1.2)
    force, torque = effort.force[0], effort.torque[0]
    if np.linalg.norm(force) > 1e-9:
        _arrow(ax, at, at + 0.6 * force / np.linalg.norm(force), _SEEN, "F", width=2.0, side=1)
    if np.linalg.norm(torque) > 1e-9:
        _turn(ax, at, torque / np.linalg.norm(torque))


def _turn(ax: Any, centre: Any, axis: Any) -> None:
    """An arrow around an axis, by the right hand."""
    a = np.cross(axis, (0.3, 1.0, 0.2))
    a /= np.linalg.norm(a)
    angles = np.linspace(0.0, 4.7, 60)[:, None]
    path = (centre + 0.45 * (np.cos(angles) * a + np.sin(angles) * np.cross(axis, a))) @ _VIEW.T
    ax.plot(*path.T, color=_SEEN, lw=2.0)
    ax.annotate("", path[-1], path[-3], arrowprops={"arrowstyle": "->", "color": _SEEN, "lw": 2.0})
    outward = path[8] - _VIEW @ centre
    ax.text(*(path[8] + 0.12 * outward / np.linalg.norm(outward)), "M", color=_SEEN, fontsize=7, ha="center", va="center")
