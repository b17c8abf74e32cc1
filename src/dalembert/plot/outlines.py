"""Around paths in a plane: outlines of bodies that have a shape, springs and the like, in the first pose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy.spatial import ConvexHull, QhullError

from dalembert.arrays import Array
from dalembert.compilation.trajectory import Trajectory
from dalembert.model.elements import Body
from dalembert.plot.style import MUTED
from dalembert.viewer.fittings import lines_of
from dalembert.viewer.parts import given_parts
from dalembert.viewer.surfaces import faces_of

_WINDINGS, _WIDE, _STRAIGHT = 6, 0.015, 0.12  # of springs; half their width over the size of the mechanism; parts of the length
_THIN: Any = {"linewidth": 0.8, "linestyle": "-", "alpha": 0.6}


def draw_outlines(
    ax: Axes, motion: Trajectory, seen: Callable[[Array], Array], bars: set[str], colour: Callable[[str], str]
) -> None:
    """seen : world points in the axes of the picture;  bars : bodies that are drawn as bars"""
    bodies, lines = motion.mechanism.model.bodies, [*lines_of(motion)]
    ends = [(line.kind, np.stack([motion.point(*end)[0] for end in (line.start, line.end)])) for line in lines]
    points = np.concatenate([*(motion.position(body.name)[:1] for body in bodies), *(pair for _, pair in ends)])
    size = float(np.ptp(points, axis=0).max())
    for body in bodies:
        if body.shape is not None and body.name not in bars:
            for rim in _rims(motion, body, seen, size):
                ax.fill(*rim, facecolor=colour(body.name), edgecolor="none", alpha=0.08)
                ax.plot(*rim[:, [*range(rim.shape[1]), 0]], color=colour(body.name), **_THIN)
    sprung = {pair.tobytes() for kind, pair in ends if kind == "spring"}
    for kind, pair in ends:
        if kind == "spring" or pair.tobytes() not in sprung:  # a damper is in its spring
            ax.plot(*(_zigzag(seen(pair), _WIDE * size) if kind == "spring" else seen(pair)), color=MUTED, **_THIN)


def _rims(motion: Trajectory, body: Body, seen: Callable[[Array], Array], size: float) -> Iterator[Array]:
    """(2, n) of each part of a shape."""
    assert body.shape is not None
    for part in given_parts(body.name, body.shape, size):
        corners = faces_of(part, 48).reshape(-1, 3)
        world = corners if part.fixed else motion.position(body.name)[0] + corners @ motion.rotation(body.name)[0].T
        flat = seen(world).T
        try:
            yield flat[ConvexHull(flat).vertices].T
        except QhullError:  # edge-on
            continue


def _zigzag(ends: Array, wide: float) -> Array:
    """(2, n) from the first to the second of two points (2, 2)."""
    start, way = ends[:, 0], ends[:, 1] - ends[:, 0]
    across = np.array([-way[1], way[0]]) / max(float(np.linalg.norm(way)), 1e-300)
    along = np.concatenate([[0.0], np.linspace(_STRAIGHT, 1.0 - _STRAIGHT, 2 * _WINDINGS + 1), [1.0]])
    aside = np.zeros(len(along))
    aside[2:-2] = wide * np.resize([1.0, -1.0], len(along) - 4)
    return np.asarray(start[:, None] + np.outer(way, along) + np.outer(across, aside))
