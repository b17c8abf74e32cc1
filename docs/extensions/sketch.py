"""Solids, springs and arrows of line drawings: a point is three numbers in space (z is up) or two on the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

FIRST, SECOND, SPARE = "#c9cdd3", "#ffce7a", "#eceef1"  # the first body, the second body, what is neither
DARK, FREE, PUSHED = "#3d434d", "#1769b5", "#c8203f"  # edges, free motions, force on the second body
_AZIMUTH, _ELEVATION = np.radians((38.0, 24.0))
_TOWARDS = np.array([np.cos(_ELEVATION) * np.cos(_AZIMUTH), np.cos(_ELEVATION) * np.sin(_AZIMUTH), np.sin(_ELEVATION)])
_RIGHT = np.array([-np.sin(_AZIMUTH), np.cos(_AZIMUTH), 0.0])
VIEW = np.array([_RIGHT, np.cross(_TOWARDS, _RIGHT)])  # world -> paper
X, Y, Z = np.eye(3)

Point = Any  # three numbers or two


def paper(points: Point) -> Any:
    """Where points are drawn."""
    points = np.asarray(points, dtype=float)
    return points if points.shape[-1] == 2 else points @ VIEW.T


def around(centre: Point, axis: Point | None, radius: float, start: float = 0.0, stop: float = 2 * np.pi) -> Any:
    """Points of a circle by the right hand about its axis, from the right of the paper; without an axis on the paper."""
    angles = np.linspace(start, stop, 73)[:, None]
    if axis is None:
        return np.asarray(centre) + radius * np.hstack([np.cos(angles), np.sin(angles)])
    n = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    a = _RIGHT - (n @ _RIGHT) * n
    a /= np.linalg.norm(a)
    circle = radius * (np.cos(angles) * a + np.sin(angles) * np.cross(n, a))
    return np.asarray(centre) + (paper(circle) if len(centre) == 2 else circle)


class Sketch:
    """Draws on axes; what comes later lies above what came before."""

    def __init__(self, ax: Any) -> None:
        self.ax = ax
        self._level = 0

    def _fill(self, points: Any, **look: Any) -> None:
        self._level += 1
        self.ax.fill(*points.T, zorder=self._level, ls="-", **look)

    def _line(self, points: Any, **look: Any) -> None:
        self._level += 1
        self.ax.plot(*points.T, zorder=self._level, **look)

    def face(self, points: Point, fill: str, shade: float = 1.0) -> None:
        """A flat polygon."""
        colour = [shade * int(fill[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        self._fill(paper(points), facecolor=np.clip(colour, 0, 1), edgecolor=DARK, lw=0.9, joinstyle="round")

    def box(self, centre: Point, size: Point, fill: str, turn: Any = None) -> None:
        """turn : rotation matrix"""
        R = np.eye(3) if turn is None else np.asarray(turn)
        for axis, shade in ((0, 0.86), (1, 0.93), (2, 1.0)):
            side = 0.5 if R[:, axis] @ _TOWARDS > 0 else -0.5
            corners = np.full((4, 3), side)
            corners[:, (axis + 1) % 3], corners[:, (axis + 2) % 3] = (-0.5, 0.5, 0.5, -0.5), (-0.5, -0.5, 0.5, 0.5)
            self.face(np.asarray(centre) + (corners * size) @ R.T, fill, shade)

    def rod(self, start: Point, end: Point, radius: float, fill: str, hole: float = 0.0) -> None:
        """A cylinder; hole : radius of what is bored through it"""
        a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        if (b - a) @ _TOWARDS < 0:
            a, b = b, a
        outline = paper(np.vstack([around(a, b - a, radius), around(b, b - a, radius)]))
        self.face(outline[ConvexHull(outline).vertices], fill, 0.88)
        self.face(around(b, b - a, radius), fill)
        if hole:
            self.face(around(b, b - a, hole), "#6b717b")

    def ball(self, centre: Point, radius: float, fill: str) -> None:
        """A sphere with a light on it."""
        at = paper(centre)
        self.face(around(at, None, radius), fill, 0.92)
        self._fill(around(at + radius * np.array((-0.3, 0.35)), None, 0.25 * radius), facecolor="white", alpha=0.7, lw=0)

    def round(self, centre: Point, radius: float, fill: str, axis: Point | None = None) -> None:
        """A disc without thickness."""
        self.face(around(centre, axis, radius), fill)

    def dot(self, at: Point, colour: str = DARK) -> None:
        """A point."""
        self._line(paper(at), marker="o", markersize=4.5, color=colour)

    def line(self, points: Sequence[Point], style: str = "-", colour: str = DARK, width: float = 1.2) -> None:
        """Through points; style "axis" is that of drawings."""
        drawn: Any = (0, (7, 2, 1.5, 2)) if style == "axis" else style
        self._line(paper(points), color=colour, lw=width, ls=drawn, solid_capstyle="round", solid_joinstyle="round")

    def wheel(self, centre: Point, radius: float, teeth: int, fill: str, phase: float = 0.0) -> None:
        """A gear on the paper; phase : of a tooth, in teeth"""
        turn, height = 2 * np.pi / teeth, 0.075
        shape = ((-0.32, -height), (-0.13, height), (0.13, height), (0.32, -height))
        corners = [(radius + h, (k + phase + at) * turn) for k in range(teeth) for at, h in shape]
        self.face([np.asarray(centre) + r * np.array([np.cos(a), np.sin(a)]) for r, a in corners], fill)
        self.dot(centre)

    def spring(self, start: Point, end: Point, width: float = 0.1, turns: int = 6) -> None:
        """A zigzag."""
        a, b = paper(start), paper(end)
        side = width * np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
        along = np.concatenate([[0.0], np.linspace(0.12, 0.88, 2 * turns + 1), [1.0]])
        across = np.array([0, 0, *(1 - 2 * (k % 2) for k in range(2 * turns - 1)), 0, 0])
        self.line(a + along[:, None] * (b - a) + across[:, None] * side)

    def damper(self, start: Point, end: Point, width: float = 0.09) -> None:
        """A piston in a pot."""
        a, b = paper(start), paper(end)
        along, side = b - a, width * np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
        low, high, piston = a + 0.3 * along, a + 0.68 * along, a + 0.5 * along
        self.line([a, low])
        self.line([high + side, low + side, low - side, high - side])
        self.line([piston + 0.8 * side, piston - 0.8 * side], width=2.2)
        self.line([piston, b])

    def text(self, at: Point, words: str, colour: str = DARK) -> None:
        """Words in the middle of a place."""
        self.ax.text(*paper(at), words, color=colour, fontsize=12, ha="center", va="center", zorder=1000)

    def slides(self, start: Point, end: Point) -> None:
        """Free to move along."""
        self._arrow(paper([start, end]), FREE, both=True)

    def turns(self, centre: Point, axis: Point | None, radius: float, start: float, stop: float) -> None:
        """Free to turn about."""
        self._arrow(paper(around(centre, axis, radius, start, stop)), FREE, both=True)

    def moved(self, start: Point, end: Point) -> None:
        """Moved along, one way."""
        self._arrow(paper([start, end]), FREE)

    def turned(self, centre: Point, axis: Point | None, radius: float, start: float, stop: float) -> None:
        """Turned about, one way."""
        self._arrow(paper(around(centre, axis, radius, start, stop)), FREE)

    def force(self, start: Point, end: Point) -> None:
        """On the second body."""
        self._arrow(paper([start, end]), PUSHED)

    def torque(self, centre: Point, axis: Point | None, radius: float, start: float, stop: float) -> None:
        """On the second body."""
        self._arrow(paper(around(centre, axis, radius, start, stop)), PUSHED)

    def _arrow(self, path: Any, colour: str, both: bool = False) -> None:
        self._line(path, color=colour, lw=1.8, ls="-", solid_capstyle="butt")
        for way in (path, path[::-1])[: 1 + both]:
            length = np.append(np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1)[::-1])[::-1], 0.0)  # to the tip
            back = way[np.flatnonzero(length > 0.12)[-1]]
            along = (way[-1] - back) / np.linalg.norm(way[-1] - back)
            side = 0.075 * np.array([-along[1], along[0]])
            foot = way[-1] - 0.12 * along
            self._fill(np.array([way[-1] + 0.06 * along, foot + side, foot - side]), facecolor=colour, lw=0)
