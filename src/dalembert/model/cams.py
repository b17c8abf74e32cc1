"""Cams: a curve of one body that a flat or a roller of another always touches, see kernels/mechanics/relations.py.

    flat     g = m . (x_j - x_i) - f(psi)      m the normal of the flat, away from the cam (R_j a_j);  psi the angle of m
    roller   g = |e| - f(psi)                  e = x_j - x_i normal to the axis, x_j the roller's centre;  psi the angle of e

psi is counted on the cam, about its axis n_i from a_i. The multiplier is the force along grad g: where it is negative, the
follower lifts off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.elements import Body, Joint, Primitive
from dalembert.model.frames import along, own_axes, own_point, rotation_matrix
from dalembert.model.motions import Table
from dalembert.model.store import ElementStore
from dalembert.model.validation import argument_count, frozen, shown, unit_vector, vector

FLAT, ROLLER = "cam flat", "cam roller"
PERIODIC = 1e-9  # of the largest value
FEWEST_VALUES = 4
BodyRef = Body | str
Profile = Callable[[object], object] | Sequence[float]


class CamVerbs(ElementStore):
    """Cams."""

    def add_cam(
        self,
        name: str,
        cam: BodyRef,
        follower: BodyRef,
        *,
        support: Profile | None = None,
        normal: npt.ArrayLike | None = None,
        pitch: Profile | None = None,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        centre: npt.ArrayLike = (0.0, 0.0, 0.0),
        axis: npt.ArrayLike = (0.0, 0.0, 1.0),
        zero: npt.ArrayLike = (1.0, 0.0, 0.0),
    ) -> Joint:
        """A cam that a flat (give support, normal) or a roller (give pitch) of the follower always touches: one row.

        support : of a flat: distance f(psi) from the centre to the cam's tangent whose outer normal has the angle psi [m]
        normal : of the flat, away from the cam, in the follower's axes; normal to the cam's axis in the model pose
        pitch : of a roller: distance f(psi) from the centre to the roller's own centre at the angle psi [m], the path that a
            roller of any radius takes on the cam
        point : on the flat, or the roller's centre, in the follower's axes [m]
        centre, axis : of the cam, in its own axes [m]
        zero : direction normal to the axis, from which the angle psi is counted, in the cam's axes

        f is a function of psi with the period 2 pi, traced as in `add_constraint`, or its values at N equal steps of psi from 0
            on (4 or more of them), through which a periodic cubic spline is laid

        The cam holds in both directions; where it would have to pull, a line of the report says when the follower lifts off;
        another says where no flat can touch it because the curve turns back.
        """
        owner = self._new_name("cam", name)
        i, j = self._two_bodies(owner, cam, follower)
        if i.kind == "point":
            raise ModelError(f"{owner}: point mass {i.name!r} has no axes and cannot be a cam; use add_body")
        if (support is None) == (pitch is None):
            got = "neither support= nor pitch=" if support is None else "both support= and pitch="
            raise ModelError(f"{owner}: got {got}; give support= for a flat, or pitch= for a roller")
        if (support is None) != (normal is None):
            raise ModelError(f"{owner}: normal is {shown(normal)}; a flat (support=) has one, a roller (pitch=) has none")
        if normal is not None and j.kind == "point":
            raise ModelError(f"{owner}: point mass {j.name!r} has no axes and carries no flat; use add_body, or pitch=")
        n, x = unit_vector(owner, "axis", axis), unit_vector(owner, "zero", zero)
        _normal_to(owner, "zero", x, n)
        p_i, p_j = vector(owner, "centre", centre), own_point(owner, j, point, None)
        a_j = frozen(np.zeros(3))
        if normal is not None:
            a_j = unit_vector(owner, "normal", normal)
            _normal_to(owner, "normal", rotation_matrix(i).T @ rotation_matrix(j) @ a_j, n)
        law, profile = (ROLLER, pitch) if support is None else (FLAT, support)
        function, numbers = _profile(owner, "pitch" if support is None else "support", profile)
        row = Primitive("U", ("contact",), p_i, p_j, x, a_j, n, law=law, function=function, numbers=numbers)
        frames = along(owner, "axis", n), own_axes()[1]
        return self._add(Joint(name, law.replace(" ", "_"), i.name, j.name, p_i, p_j, *frames, (row,)))


def _normal_to(owner: str, label: str, a: Array, n: Array) -> None:
    if abs(float(a @ n)) > 1e-9:
        raise ModelError(f"{owner}: {label} and axis have cosine {float(a @ n):.3g}; give a direction normal to the axis")


def _profile(owner: str, label: str, profile: object) -> tuple[Callable[..., object] | None, tuple[float, ...]]:
    """A function that has been looked at, or values over one turn."""
    if callable(profile):
        if argument_count(profile) != 1:
            raise ModelError(f"{owner}: {label} has {argument_count(profile)} arguments; give a function of the angle psi")
        angles = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
        once, twice = (np.array([float(profile(psi + turn)) for psi in angles]) for turn in (0.0, 2.0 * np.pi))
        _positive(owner, label, once)
        if np.abs(twice - once).max() > PERIODIC * once.max():
            at = angles[np.argmax(np.abs(twice - once))]
            raise ModelError(
                f"{owner}: {label} is {profile(at)!s} at psi = {at:.4g} and {profile(at + 2 * np.pi)!s} one turn on; give a"
                " function with the period 2 pi"
            )
        return profile, ()
    try:
        values = np.array(profile, dtype=float)
    except (TypeError, ValueError, OverflowError):
        values = np.zeros(0)
    if values.ndim != 1 or len(values) < FEWEST_VALUES:
        raise ModelError(
            f"{owner}: {label} is {shown(profile)}; give a function of psi, or {FEWEST_VALUES} or more values over one turn"
        )
    _positive(owner, label, values)
    return None, tuple(values.tolist())


def table_of(row: Primitive) -> Table:
    """The profile that is laid through the values of a cam's row."""
    values = row.numbers
    return Table(tuple(np.linspace(0.0, 2.0 * np.pi, len(values) + 1).tolist()), (*values, values[0]), periodic=True)


def undercut(row: Primitive) -> tuple[float, float] | None:
    """Where the radius of curvature f + f'' of a flat's cam is least, and how much [rad], [m], if below 0: no flat is there."""
    if row.function is None:
        knots, c = table_of(row).spline()
        psi, f, bend = knots[:-1], c[:, 0], 2.0 * c[:, 2]
    else:
        psi, h = np.linspace(0.0, 2.0 * np.pi, 720, endpoint=False), 1e-3
        before, f, after = (np.array([float(row.function(at + s)) for at in psi]) for s in (-h, 0.0, h))  # type: ignore[arg-type]
        bend = (before - 2.0 * f + after) / h**2
    k = int(np.argmin(f + bend))
    return (float(psi[k]), float((f + bend)[k])) if (f + bend)[k] < -1e-6 * f.max() else None


def _positive(owner: str, label: str, values: Array) -> None:
    if not np.isfinite(values).all() or values.min() <= 0.0:
        raise ModelError(f"{owner}: {label} goes down to {values.min():g}; give a distance that is greater than 0 all around")
