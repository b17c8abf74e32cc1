"""The verbs of `Model` for rolling, skates, and constraints that a user writes as a function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.calls import UserFunction
from dalembert.model.elements import MOST_ROWS, Body, Joint, Primitive
from dalembert.model.frames import along, own_axes, rotation_matrix
from dalembert.model.joints import CONTACTS
from dalembert.model.store import ElementStore
from dalembert.model.validation import check_listed, frozen, number, numbers, several, shown, unit_vector, vector

BodyRef = Body | str
Plane = Sequence[npt.ArrayLike]
FLOOR = ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


class ConstraintVerbs(ElementStore):
    """Rolling and user-written constraints. Arguments that those on a plane share:

    plane : (point, normal) of the plane, world coordinates of the model pose; the body is on the side the normal points to
    on : the body that carries the plane, default the ground
    """

    def add_rolling_sphere(
        self,
        name: str,
        body: BodyRef,
        *,
        radius: float,
        centre: npt.ArrayLike = (0.0, 0.0, 0.0),
        plane: Plane = FLOOR,
        on: BodyRef = "ground",
    ) -> Joint:
        """A sphere rolls on a plane without slipping: one row of positions, two of velocities.

        radius : of the sphere [m];  centre : its centre in body axes from the centre of mass [m]
        """
        owner, i, j = self._rolling(name, body, on)
        offset = number(owner, "radius", radius, above=0.0)
        return self._contact(name, "sphere", i, j, plane, vector(owner, "centre", centre), np.zeros(3), offset)

    def add_rolling_disc(
        self,
        name: str,
        body: BodyRef,
        *,
        radius: float,
        axis: npt.ArrayLike = (0.0, 0.0, 1.0),
        centre: npt.ArrayLike = (0.0, 0.0, 0.0),
        plane: Plane = FLOOR,
        on: BodyRef = "ground",
    ) -> Joint:
        """The edge of a thin disc rolls on a plane without slipping: one row of positions, two of velocities.

        radius : of the disc [m];  axis : of the disc, body axes;  centre : of the disc, body axes [m]

        A disc that lies flat is singular.
        """
        owner, i, j = self._rolling(name, body, on)
        offset, a = number(owner, "radius", radius, above=0.0), unit_vector(owner, "axis", axis)
        return self._contact(name, "disc", i, j, plane, vector(owner, "centre", centre), a, offset)

    def add_rolling_ellipsoid(
        self,
        name: str,
        body: BodyRef,
        *,
        semi_axes: npt.ArrayLike,
        centre: npt.ArrayLike = (0.0, 0.0, 0.0),
        plane: Plane = FLOOR,
        on: BodyRef = "ground",
    ) -> Joint:
        """An ellipsoid rolls on a plane without slipping: one row of positions, two of velocities.

        semi_axes : (3,) along the body's axes [m];  centre : of the ellipsoid, body axes [m]
        """
        owner, i, j = self._rolling(name, body, on)
        lengths = numbers(owner, "semi_axes", semi_axes, (3,))
        if not np.all(lengths > 0):
            raise ModelError(f"{owner}: semi_axes are {shown(lengths)}; give three lengths greater than 0")
        return self._contact(name, "ellipsoid", i, j, plane, vector(owner, "centre", centre), lengths, 0.0)

    def add_skate(
        self,
        name: str,
        body: BodyRef,
        *,
        direction: npt.ArrayLike,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        plane: Plane = FLOOR,
        on: BodyRef = "ground",
    ) -> Joint:
        """A knife edge, blade or wheel: a point does not move sideways to a direction, both body-fixed; one row of velocities.

        direction : along the blade, body axes;  point : of the blade, body axes [m]

        What keeps the body on the plane is a joint of its own, e.g. `add_planar_joint`.
        """
        owner, i, j = self._rolling(name, body, on)
        a = unit_vector(owner, "direction", direction)
        place, frame = self._plane(owner, i, plane)
        p = vector(owner, "point", point)
        row = Primitive("V", ("sideways",), place, p, frame[:, 0], a, frame[:, 2], law="skate")
        return self._add(Joint(name, "skate", i.name, j.name, place, p, frame, own_axes()[1], (row,)))

    def add_constraint(self, name: str, function: UserFunction, bodies: BodyRef | Sequence[BodyRef]) -> Joint:
        """Residuals of positions that must vanish, written as a function; its derivatives are found by tracing it once.

            model.add_constraint("wire", lambda bead, t: bead.r[2] - 0.1 * np.sin(bead.r[0]), "bead")

        function : of the bodies and, if it likes, t; each has .r, .R, .point(p), .direction(a); it returns a number or
            several, computed with NumPy
        bodies : one body, or any number of them
        """
        return self._traced(name, function, bodies, "U")

    def add_velocity_constraint(self, name: str, function: UserFunction, bodies: BodyRef | Sequence[BodyRef]) -> Joint:
        """As `add_constraint`, with residuals linear in velocities: bodies also have .v, .w (world axes), .velocity(p)."""
        return self._traced(name, function, bodies, "V")

    def _traced(self, name: str, function: UserFunction, bodies: BodyRef | Sequence[BodyRef], kind: str) -> Joint:
        from dalembert.lagrangian.body_rows import count_rows, function_arguments

        owner = self._new_name("constraint", name)
        listed = (bodies,) if isinstance(bodies, Body | str) else tuple(bodies) if isinstance(bodies, Sequence) else ()
        if not listed:
            raise ModelError(f"{owner}: bodies are {shown(bodies)}; give a body, or a list of bodies")
        if not callable(function):
            raise ModelError(f"{owner}: function is {shown(function)}; give a function of the bodies that returns residuals")
        members = [self._body(owner, body) for body in (("ground", *listed) if len(listed) == 1 else listed)]
        names = [body.name for body in members]
        arguments, _ = function_arguments(function)
        check_listed(owner, [f"body {name!r}" for name in names], arguments, len(listed), "bodies", "bodies")
        labels = [str(k + 1) for k in range(count_rows(owner, names, function, kind == "V"))]
        groups = [tuple(labels[k : k + MOST_ROWS]) for k in range(0, len(labels), MOST_ROWS)]
        rows = tuple(Primitive("V" if kind == "V" else "U", group, function=function) for group in groups)
        place = frozen(np.zeros(3))
        more = tuple(names) if len(names) > 2 else ()
        return self._add(Joint(name, "user", names[0], names[-1], place, place, *own_axes(), rows, members=more))

    def _rolling(self, name: str, body: BodyRef, on: BodyRef) -> tuple[str, Body, Body]:
        owner = self._new_name("joint", name)
        i, j = self._two_bodies(owner, on, body)
        for part in (i, j):
            if part.kind == "point":
                raise ModelError(
                    f"{owner}: point mass {part.name!r} has no axes and cannot roll or carry a plane; use add_body"
                )
        return owner, i, j

    def _plane(self, owner: str, i: Body, plane: Plane) -> tuple[Array, Array]:
        """Point and frame (z = normal) of a plane in the axes of the body that carries it."""
        point, normal = several(owner, "plane", plane, (2,), "(point, normal), two 3-vectors")
        R = rotation_matrix(i)
        place = frozen(R.T @ (vector(owner, "plane point", point) - i.position))
        return place, frozen(R.T @ along(owner, "plane normal", normal))

    def _contact(
        self, name: str, shape: str, i: Body, j: Body, plane: Plane, centre: Array, a_j: Array, offset: float
    ) -> Joint:
        place, frame = self._plane(f"joint {name!r}", i, plane)
        data = (place, centre, frame[:, 0], a_j, frame[:, 2], offset)
        kind = f"rolling_{shape}"
        rows = tuple(Primitive(row, tuple(labels), *data, law=law) for row, law, *labels in CONTACTS[kind].rows)  # type: ignore[arg-type]
        return self._add(Joint(name, kind, i.name, j.name, place, centre, frame, own_axes()[1], rows))
