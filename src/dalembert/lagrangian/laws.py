"""Constraints between two bodies that are traced: rolling on a plane, a skate, and how a user's function sees a body.

A law is a function of a primitive's data and both bodies; `first` carries the plane: a point p_i, its normal n_i, a direction
a_i in it. Contact without slip means that the material point of the second body at the contact moves with the plane
[Variational, (67)]: its velocity normal to the plane is the derivative of the position residual, the other two are V rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.lagrangian.graph import TraceError
from dalembert.model.rotation import cross


@dataclass(frozen=True, eq=False)
class Data:
    """The numbers of a primitive as graph nodes: (3,) object arrays, offset a node."""

    p_i: Any
    p_j: Any
    a_i: Any
    a_j: Any
    n_i: Any
    offset: Any


class TracedBody:
    """A body as a constraint function sees it.

    r : (3,) centre of mass, world;  R : (3, 3) body -> world;  v : (3,) velocity of the centre of mass, world
    w : (3,) angular velocity, world axes;  point(p), velocity(p), direction(a) : of what is fixed in the body
    """

    def __init__(self, name: str, r: Any, R: Any, v: Any = None, w_B: Any = None) -> None:
        self.name, self.r, self.R = name, r, R
        self._v, self._w_B = v, w_B

    def _moving(self, value: Any) -> Any:
        if value is None:
            raise TraceError(f"uses a velocity of {self.name!r}; a constraint on velocities is add_velocity_constraint")
        return value

    @property
    def v(self) -> Any:
        return self._moving(self._v)

    @property
    def w(self) -> Any:
        return self.R @ self._moving(self._w_B)

    def point(self, p: Any) -> Any:
        """World position of a body-fixed point."""
        return self.r + self.R @ np.asarray(p)

    def direction(self, a: Any) -> Any:
        """World components of a body-fixed vector."""
        return self.R @ np.asarray(a)

    def velocity(self, p: Any = (0.0, 0.0, 0.0)) -> Any:
        """World velocity of a body-fixed point."""
        return self.v + self.R @ cross(self._moving(self._w_B), np.asarray(p))

    def velocity_at(self, x: Any) -> Any:
        """World velocity of the body's material point that is at x."""
        return self.v + cross(self.w, x - self.r)


Law = Callable[[Data, TracedBody, TracedBody], list[Any]]
Contact = Callable[[Data, Any, TracedBody], Any]


def sphere_contact(d: Data, n: Any, body: TracedBody) -> Any:
    """Lowest point of a sphere about p_j with the radius `offset`."""
    return body.point(d.p_j) - d.offset * n


def disc_contact(d: Data, n: Any, body: TracedBody) -> Any:
    """Lowest point of a circle about p_j with the radius `offset`, normal to a_j."""
    axis = body.direction(d.a_j)
    down = (n @ axis) * axis - n
    return body.point(d.p_j) + (d.offset / (down @ down) ** 0.5) * down


def ellipsoid_contact(d: Data, n: Any, body: TracedBody) -> Any:
    """Lowest point of an ellipsoid about p_j with the semi-axes a_j along the body's axes."""
    m = body.R.T @ n
    stretched = d.a_j * d.a_j * m
    return body.point(d.p_j - stretched / (m @ stretched) ** 0.5)


def _height(contact: Contact) -> Law:
    def height(d: Data, first: TracedBody, second: TracedBody) -> list[Any]:
        n = first.direction(d.n_i)
        return [n @ (contact(d, n, second) - first.point(d.p_i))]

    return height


def _slip(contact: Contact) -> Law:
    def slip(d: Data, first: TracedBody, second: TracedBody) -> list[Any]:
        n = first.direction(d.n_i)
        x = contact(d, n, second)
        slip_velocity = second.velocity_at(x) - first.velocity_at(x)
        along = first.direction(d.a_i)
        return [along @ slip_velocity, cross(n, along) @ slip_velocity]

    return slip


def skate(d: Data, first: TracedBody, second: TracedBody) -> list[Any]:
    """The edge a_j at p_j does not slip sideways: (n x edge) . velocity, edge as seen in the plane."""
    n, x = first.direction(d.n_i), second.point(d.p_j)
    return [cross(n, second.direction(d.a_j)) @ (second.velocity_at(x) - first.velocity_at(x))]


LAWS: dict[str, Law] = {
    "skate": skate,
    **{f"{name} height": _height(contact) for name, contact in (
        ("sphere", sphere_contact), ("disc", disc_contact), ("ellipsoid", ellipsoid_contact))},
    **{f"{name} slip": _slip(contact) for name, contact in (
        ("sphere", sphere_contact), ("disc", disc_contact), ("ellipsoid", ellipsoid_contact))},
}  # fmt: skip
