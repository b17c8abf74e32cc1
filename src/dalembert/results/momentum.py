"""Linear and angular momentum of the bodies of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array, InShort
from dalembert.compilation.trajectory import Trajectory, apply
from dalembert.errors import ModelError
from dalembert.results.invariants import Invariant


@dataclass(frozen=True, eq=False, repr=False)
class Momentum(InShort):
    """Of all bodies together, world axes.

        linear = sum m v  [N s],      angular = sum (r - point) x m v + R I w_B  [N m s]

    linear, angular : (nt, 3);  point : what `angular` is about, (3,) or (nt, 3), default the origin
    linear_scale, angular_scale : what a change is compared with: the largest sum over the bodies of the terms' lengths
    """

    linear: Array
    angular: Array
    point: Array
    linear_scale: float
    angular_scale: float

    def about(self, point: npt.ArrayLike) -> Momentum:
        """The same with `angular` about another point, world coordinates [m]; about an axis: `.about(p).angular @ axis`."""
        place = np.asarray(point, dtype=float)
        if place.shape not in ((3,), self.linear.shape) or not np.all(np.isfinite(place)):
            raise ModelError(f"momentum about {point!r}; give a point of three numbers, or one per state")
        arm = place - self.point
        farther = float(np.max(np.linalg.norm(np.atleast_2d(arm), axis=1)))
        moved = self.angular - np.cross(arm, self.linear)
        return Momentum(self.linear, moved, place, self.linear_scale, self.angular_scale + farther * self.linear_scale)

    def invariant(self, name: str) -> Invariant:
        """ "linear momentum" or "angular momentum", or its component "... x"."""
        linear = name.startswith("linear")
        values, scale, unit = (self.linear, self.linear_scale, "N s") if linear else (self.angular, self.angular_scale, "N m s")
        return Invariant(name, values[:, "xyz".index(name[-1])] if name[-1] in "xyz" else values, scale, unit)


def total_momentum(trajectory: Trajectory) -> Momentum:
    """Momentum of all bodies at every state, about the origin."""
    linear, angular = np.zeros((len(trajectory.t), 3)), np.zeros((len(trajectory.t), 3))
    sizes = np.zeros((2, len(trajectory.t)))
    for body in trajectory.mechanism.model.bodies:
        r, p = trajectory.position(body), body.mass * trajectory.velocity(body)
        spin = apply(trajectory.rotation(body), trajectory.angular_velocity(body, frame="body") @ body.inertia)
        linear += p
        angular += np.cross(r, p) + spin
        sizes[0] += np.linalg.norm(p, axis=1)
        sizes[1] += np.linalg.norm(r, axis=1) * np.linalg.norm(p, axis=1) + np.linalg.norm(spin, axis=1)
    largest = sizes.max(axis=1, initial=0.0)
    return Momentum(linear, angular, np.zeros(3), float(largest[0]), float(largest[1]))
