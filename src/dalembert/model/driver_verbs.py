"""The verbs of `Model` that prescribe motion: rheonomic rows."""

from __future__ import annotations

import numpy.typing as npt

from dalembert.errors import ModelError
from dalembert.model.elements import GROUND, Driver, Primitive
from dalembert.model.frames import own_point
from dalembert.model.joint_verbs import BodyRef, JointRef
from dalembert.model.joints import driver_primitive
from dalembert.model.motions import MotionLike, as_path
from dalembert.model.store import ElementStore
from dalembert.model.validation import unit_vector, vector


class DriverVerbs(ElementStore):
    """Prescribed motions: a number, `Constant`, `Polynomial`, `Harmonic`, `SmoothStep`, `Table`, sums and products of these, or
    a function of t written with NumPy, whose rates are found by tracing it."""

    def add_driver(self, name: str, joint: JointRef, motion: float | MotionLike, *, component: int = 0) -> Driver:
        """Make a joint coordinate follow a motion.

        motion : of the coordinate [rad or m];  component : which of `joint.coordinates`, counted from 0
        """
        owner = self._new_name("driver", name)
        on = self._joint(owner, joint)
        first, second, row = driver_primitive(owner, on, component, as_path(owner, "motion", motion))
        for other in self.drivers:
            if other.joint == on.name and other.primitive.labels == row.labels:
                raise ModelError(f"{owner}: {row.labels[0]} of joint {on.name!r} is already driven by {other.name!r}; keep one")
        return self._add(Driver(name, on.name, first, second, row))

    def add_point_driver(
        self,
        name: str,
        body: BodyRef,
        *,
        direction: npt.ArrayLike,
        motion: float | MotionLike,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        reference: BodyRef = GROUND,
        origin: npt.ArrayLike = (0.0, 0.0, 0.0),
    ) -> Driver:
        """Make a body point's position along a direction follow a motion: (R_i a) . (x - x_0) = f(t) [m].

        direction : a, in the axes of `reference`;  motion : f(t) [m];  point : of `body`, in its axes [m]
        reference : the body that a and x_0 belong to;  origin : of x_0, in its axes [m]
        """
        owner = self._new_name("driver", name)
        i, j = self._two_bodies(owner, reference, body)
        if i.kind == "point":
            raise ModelError(f"{owner}: reference {i.name!r} is a point mass without axes; give a rigid body or ground")
        p_j, a_i = own_point(owner, j, point, None), unit_vector(owner, "direction", direction)
        p_i = vector(owner, "origin", origin)
        row = Primitive("O", ("point",), p_i, p_j, a_i, motion=as_path(owner, "motion", motion))
        return self._add(Driver(name, None, i.name, j.name, row))
