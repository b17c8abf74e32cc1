"""How bodies move, drawn: paths of their centres of mass, and the mechanism itself as bars and lines between joint points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]

from dalembert.arrays import Array
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import ModelError
from dalembert.model.elements import GROUND
from dalembert.model.rotation import Rotation
from dalembert.model.validation import nearest
from dalembert.plot.outlines import draw_outlines
from dalembert.plot.style import COLOURS, LINES, MUTED

MAX_BODIES = 10
Y, Z = np.eye(3)[1:]
_THIN = 0.2  # radius over length of a cylinder that is drawn as a bar
_TICKS = 6  # in a plane, so that numbers do not touch
_FLAT = 1e-6  # of the mechanism's size: what leaves a plane by less is drawn in it


@dataclass(frozen=True, eq=False)
class View:
    """Directions that become the axes of a picture, (2, 3) for a plane motion and (3, 3) for a spatial one."""

    axes: Array
    labels: tuple[str, ...]

    @property
    def spatial(self) -> bool:
        return len(self.axes) == 3

    def seen(self, points: Array) -> Array:
        """(..., 3) world -> (n, ...) picture coordinates."""
        return np.moveaxis(points @ self.axes.T, -1, 0)


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Each body's centre and its joint points over time, the joint points on the ground, and the lines of the first pose."""

    segments: tuple[tuple[str, Array, Array], ...]
    ground: tuple[Array, ...]
    lines: tuple[tuple[str, Array], ...]


def view_of(motion: Trajectory) -> View:
    """The plane of a plane motion with its upward direction up, or all three axes, no mirror image, the last one up."""
    skeleton = skeleton_of(motion)
    ends = [end for _, *both in skeleton.segments for end in both] + [motion.position(b) for b in motion.mechanism.body_names]
    points = np.concatenate(ends)
    up = _upward(motion)
    off = np.vstack([points - points.mean(axis=0), np.zeros((3, 3))])  # one point has three directions, too
    _, sizes, directions = np.linalg.svd(off, full_matrices=False)
    if sizes[2] > _FLAT * max(sizes[0], 1e-300):
        k = int(np.argmax(np.abs(up)))
        axes = np.eye(3)[[(k + 1) % 3, (k + 2) % 3, k]]
        axes[1:] *= np.sign(up[k])  # where gravity is along an axis that one points down
        return View(axes, tuple(map(_axis_name, axes)))
    normal = directions[2]
    if sizes[1] <= _FLAT * max(sizes[0], 1e-300):
        normal = _across(directions[0], up)
    vertical = next(v for axis in (up, Y, Z) if np.linalg.norm(v := axis - (axis @ normal) * normal) > 1e-6)
    vertical /= np.linalg.norm(vertical)
    across = np.cross(normal, vertical)
    across *= np.sign(across[np.argmax(np.abs(across))])
    axes = np.stack([across, vertical])
    axes[np.abs(axes) < _FLAT] = 0.0  # the plane is known no better
    return View(axes, tuple(map(_axis_name, axes)))


def _upward(motion: Trajectory) -> Array:
    gravity = motion.mechanism.model.gravity
    size = float(np.linalg.norm(gravity))
    return -gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])


def _across(line: Array, up: Array) -> Array:
    """A unit vector normal to a line, and to the upward direction if that is another one."""
    for other in (up, *np.eye(3)):
        normal = np.cross(line, other)
        length = float(np.linalg.norm(normal))
        if length > 1e-6:
            return np.asarray(normal / length)
    raise AssertionError("three axes cannot all be parallel")


def _axis_name(axis: Array) -> str:
    k = int(np.argmax(np.abs(axis)))
    if abs(axis[k]) > 1 - 1e-9:
        return "xyz"[k] if axis[k] > 0 else f"−{'xyz'[k]}"
    return f"along ({', '.join(f'{part:.2g}' for part in np.round(axis, 2) + 0.0)})"


def skeleton_of(motion: Trajectory) -> Skeleton:
    """Which joint points belong to which body, over time; sliding joints hold no point and are left out.

    Lines go from end to end of a body that is a bar, and from the centre to the joint points that are not on it.
    """
    segments, ground = [], []
    bars = {body.name: bar for body in motion.mechanism.model.bodies if (bar := _bar(body.shape)) is not None}
    lines = [(body, np.stack([motion.point(body, end)[0] for end in bar])) for body, bar in bars.items()]
    for joint in motion.mechanism.model.joints:
        if all(primitive.kind not in ("C", "D") for primitive in joint.primitives):
            continue
        for body, point in ((joint.first, joint.p_i), (joint.second, joint.p_j)):
            if body == GROUND:
                ground.append(point)
            else:
                segments.append((body, motion.position(body), motion.point(body, point)))
                if body not in bars or not _on(bars[body], point):
                    lines.append((body, np.stack([ends[0] for ends in segments[-1][1:]])))
    return Skeleton(tuple(segments), tuple(ground), tuple(lines))


def _bar(shape: Mapping[str, Any] | None) -> Array | None:
    """(2, 3) both ends, in body axes, of what is drawn as one straight bar: links, rods and slender cylinders."""
    if shape is None or shape["type"] not in ("rod", "cylinder") or shape.get("fixed"):
        return None
    if shape.get("radius", 0.0) > _THIN * shape["length"]:
        return None
    R = Rotation(shape.get("rotation", (1.0, 0.0, 0.0, 0.0))).matrix
    half = 0.5 * shape["length"] * R[:, "xyz".index(shape.get("axis", "z"))]
    return np.asarray(shape.get("position", np.zeros(3)) + np.stack([-half, half]))


def _on(bar: Array, point: Array) -> bool:
    """Whether a point lies on a bar."""
    along, reach = bar[1] - bar[0], point - bar[0]
    nearest = np.clip(float(reach @ along) / float(along @ along), 0.0, 1.0)
    return bool(np.linalg.norm(reach - nearest * along) < 1e-3 * np.linalg.norm(along))


def path_names(motion: Trajectory, wanted: Sequence[object]) -> list[str]:
    """Bodies and markers whose paths are drawn, of those wanted, or of all."""
    markers = [marker.name for marker in motion.mechanism.model.markers]
    known = [*motion.mechanism.body_names, *markers]
    names = [str(getattr(name, "name", name)) for name in wanted]
    for name in names:
        if name not in known:
            mend = "" if markers else "; other points of bodies get names by add_marker, in a model file under `markers`"
            raise ModelError(f"plot.trajectories: there is no body or marker {name!r}; {nearest(name, known)}{mend}")
    return names or [*motion.mechanism.body_names[:MAX_BODIES], *markers]


def draw_paths(
    figure: Figure,
    motion: Trajectory,
    ax: Axes | None,
    place: tuple[int, int, int] = (1, 1, 1),
    wanted: Sequence[object] = (),
) -> Axes:
    """Paths of the centres of mass and of markers, all or those wanted, with the mechanism in its first pose."""
    shown = path_names(motion, wanted)
    view = view_of(motion)
    if ax is None:
        ax = figure.add_subplot(*place, projection="3d" if view.spatial else None)
    elif view.spatial and not isinstance(ax, Axes3D):
        view = View(view.axes[[0, 2]], (view.labels[0], view.labels[2]))
    skeleton = skeleton_of(motion)
    names = motion.mechanism.body_names
    if not isinstance(ax, Axes3D):
        bars = {body.name for body in motion.mechanism.model.bodies if _bar(body.shape) is not None}
        draw_outlines(ax, motion, view.seen, bars, lambda name: _colour(names.index(name)))
    for name, ends in skeleton.lines:
        colour = _colour(names.index(name))
        ax.plot(*view.seen(ends), color=colour, linestyle="-", linewidth=3.5, alpha=0.3, solid_capstyle="round")
    for b, name in enumerate(names):
        if name not in shown:
            continue
        path = view.seen(motion.position(name))
        ax.plot(*path, color=_colour(b), linestyle=LINES[b % 4], label=name)
        ax.plot(*path[:, :1], marker="o", markersize=5, color=_colour(b), linestyle="none")
    for k, marker in enumerate(motion.mechanism.model.markers):
        if marker.name not in shown:
            continue
        path = view.seen(motion.position(marker.name))
        ax.plot(*path, color=_colour(len(names) + k), linestyle=LINES[k % 4], linewidth=1.2, label=marker.name)
        ax.plot(*path[:, :1], marker="D", markersize=4, color=_colour(len(names) + k), linestyle="none")
    for k, point in enumerate(skeleton.ground):
        label = "ground joint" if k == 0 else None
        ax.plot(*view.seen(point)[:, None], marker="^", markersize=8, color=MUTED, linestyle="none", label=label)
    ax.set_xlabel(f"{view.labels[0]} [m]")
    ax.set_ylabel(f"{view.labels[1]} [m]")
    _keep_proportions(ax, view)
    few = "" if len(names) <= MAX_BODIES else f", first {MAX_BODIES} of {len(names)} bodies"
    marked = " and markers" if motion.mechanism.model.markers else ""
    paths = f"path{'s' * (len(shown) > 1)} of {', '.join(shown)}" if wanted else f"paths of the centres of mass{marked}{few}"
    ax.set_title(f"{paths}; bars and dots: start", loc="left")
    return ax


def _colour(b: int) -> str:
    return COLOURS[b % len(COLOURS)]


def _keep_proportions(ax: Axes, view: View) -> None:
    """One metre is as long in every direction."""
    if not isinstance(ax, Axes3D):
        ax.set_aspect("equal", adjustable="datalim")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(_TICKS, steps=[1, 2, 2.5, 5, 10]))
        return
    ax.set_zlabel(f"{view.labels[2]} [m]")
    spans = np.array([np.diff(limits)[0] for limits in (ax.get_xlim(), ax.get_ylim(), ax.get_zlim())])
    spans = np.maximum(spans, 0.25 * spans.max())
    ax.set_box_aspect(tuple(spans), zoom=1.05)
    for axis, span in zip((ax.xaxis, ax.yaxis, ax.zaxis), spans, strict=True):
        axis.set_major_locator(MaxNLocator(5 if span > 0.6 * spans.max() else 3))
        axis.labelpad = 12
