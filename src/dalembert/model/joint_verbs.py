"""The verbs of `Model` that add joints and bare constraint primitives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.elements import Body, Joint
from dalembert.model.frames import (
    aligned_at_pose,
    along,
    cross_axes,
    locate,
    orient,
    own_axes,
    own_points,
    seen_from_both,
    world_point,
)
from dalembert.model.joints import JOINTS, check_point_masses, coordinates_of, initial_values, primitives
from dalembert.model.motions import Motion, MotionLike, as_path, lower_bound
from dalembert.model.store import ElementStore
from dalembert.model.validation import number, several

BodyRef = Body | str
JointRef = Joint | str
Pair = Sequence[npt.ArrayLike]
Initial = float | Sequence[float | None] | None
_FLAT = ', or write `plane: xz`, in Python Model(plane="xz"), if all moves in a plane'
ORIGINS = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class JointVerbs(ElementStore):
    """Joints. Arguments that all of them share:

    name : unique over the model;  first, second : bodies, by handle or name
    point : joint point, world coordinates of the model pose [m]
    points : (p_first, p_second), the same point in the axes of each body [m]; instead of `point`
    axis : joint axis (or plane normal), world vector of the model pose, any length
    axes : (a_first, a_second), the axis in each body's axes; instead of `axis`
    vectors : (a_i, b_i, a_j) or (a_i, b_i, a_j, b_j), body-fixed, as [JetMultibody, 6.2] tabulates joints: a_i, b_i
        normal to the axis on the first body, a_j the axis and b_j parallel to b_i on the second; instead of `axis`
    coordinate : initial joint coordinates [rad or m] that assembly must meet; a number for a joint with one coordinate,
        else one entry per coordinate; None = free. `joints.COORDINATES` defines them
    rate : their initial rates [rad/s or m/s], as `coordinate`
    """

    def add_spherical(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        point: npt.ArrayLike | None = None,
        points: Pair | None = None,
    ) -> Joint:
        """Ball joint, turns in all ways (of C). Coordinates: rotation vector; its start is set by the bodies' rotations.

        With `point` the rotation is counted from the model pose; with `points` it is that of the second body's axes
        relative to the first's.
        """
        owner, i, j = self._start(name, "spherical", first, second)
        place = locate(owner, i, j, point, points)
        frames = own_axes() if point is None else aligned_at_pose(i, j)
        return self._finish(name, "spherical", i, j, place, frames, None, None)

    def add_universal(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        axes: Pair,
        point: npt.ArrayLike | None = None,
        points: Pair | None = None,
        coordinate: Initial = None,
        rate: Initial = None,
    ) -> Joint:
        """Cardan joint, turns about two axes that cross (of C, SO). Coordinates: angle_first, angle_second.

        axes : (axis on the first body, axis on the second), perpendicular: world vectors of the model pose with
        `point`, body-fixed with `points`
        """
        owner, i, j = self._start(name, "universal", first, second)
        place = locate(owner, i, j, point, points)
        frames = cross_axes(owner, i, j, axes, world=point is not None)
        return self._finish(name, "universal", i, j, place, frames, coordinate, rate)

    def add_revolute(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        point: npt.ArrayLike | None = None,
        axis: npt.ArrayLike | None = None,
        points: Pair | None = None,
        axes: Pair | None = None,
        vectors: Pair | None = None,
        coordinate: Initial = None,
        rate: Initial = None,
    ) -> Joint:
        """Hinge, turns about an axis (of the primitives C, 2 SO). Coordinate: angle about the axis."""
        return self._axis_joint("revolute", name, first, second, (point, points), (axis, axes, vectors), coordinate, rate)

    def add_cylindrical(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        point: npt.ArrayLike | None = None,
        axis: npt.ArrayLike | None = None,
        points: Pair | None = None,
        axes: Pair | None = None,
        vectors: Pair | None = None,
        coordinate: Initial = None,
        rate: Initial = None,
    ) -> Joint:
        """Sleeve that slides along an axis and turns about it (of 2 SO, 2 O). Coordinates: translation, angle."""
        return self._axis_joint("cylindrical", name, first, second, (point, points), (axis, axes, vectors), coordinate, rate)

    def add_prismatic(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        point: npt.ArrayLike | None = None,
        axis: npt.ArrayLike | None = None,
        points: Pair | None = None,
        axes: Pair | None = None,
        vectors: Pair | None = None,
        coordinate: Initial = None,
        rate: Initial = None,
    ) -> Joint:
        """Slider, moves along an axis and does not turn (of 3 SO, 2 O). Coordinate: how far the second body is along the axis
        from where it was placed, as the first one sees it; which point of the axis is given matters for pictures alone."""
        return self._axis_joint("prismatic", name, first, second, (point, points), (axis, axes, vectors), coordinate, rate)

    add_translational = add_prismatic

    def add_planar_joint(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        point: npt.ArrayLike | None = None,
        axis: npt.ArrayLike | None = None,
        points: Pair | None = None,
        axes: Pair | None = None,
        vectors: Pair | None = None,
        coordinate: Initial = None,
        rate: Initial = None,
    ) -> Joint:
        """Plane on plane, `axis` its normal (of 2 SO, O). Coordinates: x, y, angle."""
        return self._axis_joint("planar", name, first, second, (point, points), (axis, axes, vectors), coordinate, rate)

    def add_fixed(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        point: npt.ArrayLike | None = None,
        points: Pair | None = None,
    ) -> Joint:
        """Weld in the relative rotation of the model pose (of C, 3 SO). Default point: the second body's centre of mass."""
        owner, i, j = self._start(name, "fixed", first, second)
        if point is None and points is None:
            point = j.position if j.kind != "ground" else i.position
        place = locate(owner, i, j, point, points)
        return self._finish(name, "fixed", i, j, place, aligned_at_pose(i, j))

    def add_distance(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        points: Pair | None = None,
        between: Pair | None = None,
        length: float | MotionLike | None = None,
    ) -> Joint:
        """Massless rod between two body-fixed points, |x_j - x_i| = length: D. Coordinate: length.

        points : (p_first, p_second), its ends in the axes of each body [m]; default: the centres of mass
        between : instead, its ends (x_first, x_second) in world coordinates of the model pose [m]
        length : > 0 [m], or a motion or function of t (a prescribed length); default: the distance in the model pose
        """
        owner, i, j = self._start(name, "distance", first, second)
        place = own_points(owner, i, j, points, between)
        motion = as_path(owner, "length", length) if isinstance(length, Motion) or callable(length) else None
        if motion is not None:
            offset, shortest = 0.0, lower_bound(motion)
        elif length is not None:
            offset = shortest = number(owner, "length", length)
        else:
            offset = shortest = number(owner, "length", np.linalg.norm(world_point(j, place[1]) - world_point(i, place[0])))
        if shortest is not None and shortest <= 0.0:
            raise ModelError(
                f"{owner}: length is {shortest:g} m; give a length greater than 0 (for 0 use add_spherical or add_coincidence)"
            )
        return self._finish(name, "distance", i, j, place, own_axes(), offset=offset, motion=motion)

    def add_point_on_line(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        point: npt.ArrayLike | None = None,
        axis: npt.ArrayLike | None = None,
        points: Pair | None = None,
        axes: Pair | None = None,
        coordinate: Initial = None,
        rate: Initial = None,
    ) -> Joint:
        """A point of the second body on a line of the first, a pin in a slot (of 2 O). Coordinate: translation along the line.

        axes : (a_first,), the line in the axes of the first body
        """
        return self._axis_joint("point_on_line", name, first, second, (point, points), (axis, axes, None), coordinate, rate)

    def add_point_on_plane(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        point: npt.ArrayLike | None = None,
        axis: npt.ArrayLike | None = None,
        points: Pair | None = None,
        axes: Pair | None = None,
        coordinate: Initial = None,
        rate: Initial = None,
    ) -> Joint:
        """A point of the second body on a plane of the first, `axis` its normal (of O). Coordinates: x, y.

        axes : (a_first,), the normal in the axes of the first body
        """
        return self._axis_joint("point_on_plane", name, first, second, (point, points), (axis, axes, None), coordinate, rate)

    def add_coincidence(self, name: str, first: BodyRef, second: BodyRef, *, points: Pair) -> Joint:
        """The bare primitive C: x_j = x_i for body-fixed points.

        points : (p_first, p_second) in the axes of each body [m]
        """
        owner, i, j = self._start(name, "coincidence", first, second)
        return self._finish(name, "coincidence", i, j, locate(owner, i, j, None, points), own_axes())

    def add_perpendicular(self, name: str, first: BodyRef, second: BodyRef, *, axes: Pair) -> Joint:
        """The bare primitive SO: (R_i a_i) . (R_j a_j) = 0 for body-fixed vectors.

        axes : (a_first, a_second), vectors that stay perpendicular, in the axes of each body
        """
        owner, i, j = self._start(name, "perpendicular", first, second)
        a_i, a_j = several(owner, "axes", axes, (2,), "a pair of 3-vectors, one fixed in each body")
        frames = along(owner, "axes[0]", a_i), along(owner, "axes[1]", a_j)
        return self._finish(name, "perpendicular", i, j, locate(owner, i, j, None, ORIGINS), frames)

    def add_in_plane(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        direction: npt.ArrayLike,
        points: Pair = ORIGINS,
        offset: float = 0.0,
    ) -> Joint:
        """The bare primitive O: (R_i a_i) . (x_j - x_i) = offset [m] for body-fixed points.

        direction : a_i, the plane's normal in the axes of the first body;  offset : of the second point from the plane [m]
        points : (p_first, p_second) in the axes of each body [m]; default: the centres of mass
        """
        owner, i, j = self._start(name, "in_plane", first, second)
        place = locate(owner, i, j, None, points)
        frames = seen_from_both(i, j, along(owner, "direction", direction))
        return self._finish(name, "in_plane", i, j, place, frames, offset=number(owner, "offset", offset))

    def _axis_joint(
        self,
        kind: str,
        name: str,
        first: BodyRef,
        second: BodyRef,
        place: tuple[object, object],
        direction: tuple[object, object, object],
        coordinate: Initial,
        rate: Initial,
    ) -> Joint:
        """A joint with an axis: place = (point, points), direction = (axis, axes, vectors)."""
        owner, i, j = self._start(name, kind, first, second)
        both = JOINTS[kind].count("SO") > 0
        frames = orient(owner, i, j, *direction, on_second=both, otherwise=_FLAT if kind == "revolute" else "")
        return self._finish(name, kind, i, j, locate(owner, i, j, *place), frames, coordinate, rate)

    def _start(self, name: str, kind: str, first: BodyRef, second: BodyRef) -> tuple[str, Body, Body]:
        """The joint's name in messages, and its two bodies."""
        owner = self._new_name("joint", name)
        i, j = self._two_bodies(owner, first, second)
        check_point_masses(owner, kind, i, j)
        return owner, i, j

    def _finish(
        self,
        name: str,
        kind: str,
        i: Body,
        j: Body,
        place: tuple[Array, Array],
        frames: tuple[Array, Array],
        coordinate: Initial = None,
        rate: Initial = None,
        *,
        offset: float = 0.0,
        motion: Motion | None = None,
    ) -> Joint:
        """Make the joint of a registry row on its frames and keep it."""
        owner = f"joint {name!r}"
        coordinates = coordinates_of(kind, i, j)
        return self._add(
            Joint(
                name,
                kind,
                i.name,
                j.name,
                *place,
                *frames,
                primitives(kind, *place, *frames, offset=offset, motion=motion),
                coordinates,
                initial_values(owner, "coordinate", coordinates, coordinate),
                initial_values(owner, "rate", coordinates, rate),
            )
        )
