"""The joint types: one row each, built from the primitives C, SO, O and D [JetMultibody, Table 1 and 5.3].

Joint frames have columns x, y, z; where a joint has an axis (or a plane's normal) it is z, where it has two (universal)
they are x of the first body and y of the second. To add a joint, add a row to `JOINTS` and a verb to `joint_verbs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.elements import Body, Joint, Primitive
from dalembert.model.motions import Motion
from dalembert.model.validation import number, several, shown

X, Y, Z = 0, 1, 2
_COLUMN = {"x": X, "y": Y, "z": Z}


@dataclass(frozen=True)
class JointType:
    """One row of the registry.

    rows : primitives in order: ("C",), ("SO", axis of first, axis of second), ("O", axis of first), ("D",),
        ("U" or "V", law, labels ...)
    coordinates : names of the joint coordinates, see `COORDINATES`. Where they are as many as what the rows let move, a tree
        can be built with it
    form : "sphere", "disc" or "ellipsoid" on which the second body rolls
    """

    name: str
    rows: tuple[tuple[str, ...], ...]
    coordinates: tuple[str, ...] = ()
    form: str = ""

    def count(self, kind: str) -> int:
        """How many primitives of a kind."""
        return sum(row[0] == kind for row in self.rows)

    @property
    def conditions(self) -> int:
        """Number of scalar conditions."""
        return len(self.rows) + 2 * self.count("C")

    @property
    def rotations(self) -> int:
        """How many of its coordinates are rotations."""
        return sum(name.startswith(("angle", "rotation")) for name in self.coordinates)

    @property
    def framed(self) -> bool:
        """Whether axes belong to it, beside its point."""
        return self.count("SO") + self.count("O") > 0 or self.rotations > 0

    @property
    def slides(self) -> bool:
        """Whether its point on the second body moves along the first one."""
        return self.count("O") > 0

    @property
    def touches(self) -> bool:
        """Whether no place is its own: contacts, constraints of the user."""
        return self.count("U") + self.count("V") > 0 or not self.rows

    @property
    def has_point(self) -> bool:
        """Whether it says something about points."""
        return self.touches or self.count("SO") < len(self.rows)

    @property
    def holds_rotation(self) -> bool:
        """Whether its reaction may have a torque about the joint point."""
        return self.count("SO") > 0 or (self.touches and not self.form)


_C, _D = ("C",), ("D",)
_AXIS_PARALLEL = (("SO", "x", "z"), ("SO", "y", "z"))
_NO_TURN = ("SO", "x", "y")
_ON_LINE = (("O", "x"), ("O", "y"))

JOINTS: dict[str, JointType] = {
    row.name: row
    for row in (
        JointType("spherical", (_C,), ("rotation_x", "rotation_y", "rotation_z")),
        JointType("universal", (_C, ("SO", "x", "y")), ("angle_first", "angle_second")),
        JointType("revolute", (_C, *_AXIS_PARALLEL), ("angle",)),
        JointType("cylindrical", (*_AXIS_PARALLEL, *_ON_LINE), ("translation", "angle")),
        JointType("prismatic", (*_AXIS_PARALLEL, _NO_TURN, *_ON_LINE), ("translation",)),
        JointType("fixed", (_C, *_AXIS_PARALLEL, _NO_TURN)),
        JointType("planar", (*_AXIS_PARALLEL, ("O", "z")), ("x", "y", "angle")),
        JointType("distance", (_D,), ("length",)),
        JointType("point_on_line", _ON_LINE, ("translation",)),
        JointType("point_on_plane", (("O", "z"),), ("x", "y")),
        JointType("coincidence", (_C,)),
        JointType("perpendicular", (("SO", "z", "z"),)),
        JointType("in_plane", (("O", "z"),)),
    )
}

# a body on a plane of the first, what couples joints or bodies, and what the user writes as a function
CONTACTS: dict[str, JointType] = {
    "skate": JointType("skate", (("V", "skate", "sideways"),)),
    **{
        f"rolling_{form}": JointType(
            f"rolling_{form}", (("U", f"{form} height", "height"), ("V", f"{form} slip", "slip x", "slip y")), form=form
        )
        for form in ("sphere", "disc", "ellipsoid")
    },
    "coupling": JointType("coupling", (("U", "coupling", "coupling"),)),
    "cable": JointType("cable", (("U", "cable", "length"),)),
    "cam_flat": JointType("cam_flat", (("U", "cam flat", "contact"),)),
    "cam_roller": JointType("cam_roller", (("U", "cam roller", "contact"),)),
    "user": JointType("user", ()),
}

COORDINATES: dict[str, str] = {
    "angle": "angle of x_j about z_i, counted from x_i: atan2(y_i . x_j, x_i . x_j) [rad]",
    "translation": "(R_i z_i) . (x_j - x_i): travel of the second body's point along the axis [m]",
    "x": "(R_i x_i) . (x_j - x_i): travel in the plane along x_i [m]",
    "y": "(R_i y_i) . (x_j - x_i): travel in the plane along y_i [m]",
    "angle_first": "universal: alpha of E_i^T R_i^T R_j E_j = Rx(alpha) Ry(beta), about the first body's axis [rad]",
    "angle_second": "universal: beta of the same, about the second body's axis [rad]",
    "rotation_x": "spherical: x component of the rotation vector of E_i^T R_i^T R_j E_j, at most pi long [rad]",
    "rotation_y": "spherical: y component of the same [rad]",
    "rotation_z": "spherical: z component of the same [rad]",
    "length": "distance: |x_j - x_i| [m]",
}
TRAVEL = {"translation": Z, "x": X, "y": Y}  # coordinate -> axis of the first body's frame along which it is counted


@dataclass(frozen=True, eq=False)
class Angle:
    """The angle of a_j (on `second`) about n_i (on `first`), counted from a_i: how every joint angle is measured."""

    first: str
    second: str
    a_i: Array
    n_i: Array
    a_j: Array


def type_of(joint: Joint) -> JointType:
    """Its row."""
    return JOINTS.get(joint.type) or CONTACTS[joint.type]


def primitives(
    kind: str, p_i: Array, p_j: Array, E_i: Array, E_j: Array, *, offset: float = 0.0, motion: Motion | None = None
) -> tuple[Primitive, ...]:
    """The primitives of a joint type on given frames; offset and motion go to its O and D rows."""
    made = []
    for row in JOINTS[kind].rows:
        match row:
            case ("C",):
                made.append(Primitive("C", ("x", "y", "z"), p_i, p_j))
            case ("SO", a, b):
                label = f"SO({a}, {b})"
                made.append(Primitive("SO", (label,), a_i=E_i[:, _COLUMN[a]], a_j=E_j[:, _COLUMN[b]]))
            case ("O", a):
                made.append(Primitive("O", (f"O({a})",), p_i, p_j, E_i[:, _COLUMN[a]], offset=offset, motion=motion))
            case ("D",):
                made.append(Primitive("D", ("length",), p_i, p_j, offset=offset, motion=motion))
    return tuple(made)


def coordinates_of(kind: str, i: Body, j: Body) -> tuple[str, ...]:
    """Names of the coordinates of a joint type between two bodies: a ball joint of a point mass has none."""
    turns_free = kind == "spherical" and "point" in (i.kind, j.kind)
    return () if turns_free else JOINTS[kind].coordinates


def check_point_masses(owner: str, kind: str, i: Body, j: Body) -> None:
    """Point masses have no axes: they carry no direction of a primitive."""
    row = JOINTS[kind]
    refused = [b for b in (i, j) if b.kind == "point" and row.count("SO")]
    if i.kind == "point" and row.count("O"):
        refused.append(i)
    if refused:
        if row.count("SO"):
            role, fix = (
                "cannot take part in",
                "use a spherical joint (add_spherical) for a mass at a pin, a distance or point_on_... joint, or add_body",
            )
        else:
            role, fix = "can only be the second body of", "exchange the bodies"
        raise ModelError(f"{owner}: point mass {refused[0].name!r} has no axes and {role} a {kind} joint; {fix}")


def initial_values(owner: str, label: str, names: tuple[str, ...], value: object) -> tuple[float | None, ...]:
    """Initial coordinates or rates: a number for a joint with one coordinate, else one entry per coordinate."""
    if value is None:
        return (None,) * len(names)
    if len(names) == 1 and not isinstance(value, Sequence | np.ndarray):
        value = (value,)
    what = f"{len(names)} entries ({', '.join(names)}), None where free" if names else "none: it has no coordinates"
    entries = several(owner, label, value, (len(names),), what)
    return tuple(None if v is None else number(owner, f"{label} {n}", v) for n, v in zip(names, entries, strict=True))


def check_coordinate(owner: str, joint: Joint, component: object) -> str:
    """The name of a joint coordinate by its index; refused unless it is an angle or a translation, along which one driver or
    effort can act."""
    names = joint.coordinates
    if not names:
        raise ModelError(f"{owner}: {joint.type} joint {joint.name!r} has no coordinates; choose another joint")
    if isinstance(component, bool) or not isinstance(component, int) or not 0 <= component < len(names):
        listed = ", ".join(f"{k}: {name}" for k, name in enumerate(names))
        raise ModelError(f"{owner}: component is {shown(component)}; joint {joint.name!r} has {listed}")
    if angle_of(joint, component) is None and direction_of(joint, component) is None:
        fix = 'use add_torque, a rotation spring (law="rotation-vector"), or a revolute or universal joint'
        if names[component] == "length":
            fix = "the joint itself holds the length: give the motion to add_distance(length=...), or use add_spring_damper"
        which = f"coordinate {names[component]!r} of {joint.type} joint {joint.name!r}"
        raise ModelError(f"{owner}: {which} cannot be used alone; {fix}")
    return names[component]


def angle_of(joint: Joint, component: int) -> Angle | None:
    """How an angle coordinate is measured, or None if the coordinate is not an angle.

    `angle_second` is counted on the second body: beta = angle of x_i about -y_j, counted from x_j.
    """
    i, j, E_i, E_j = joint.first, joint.second, joint.E_i, joint.E_j
    match joint.coordinates[component]:
        case "angle":
            return Angle(i, j, E_i[:, X], E_i[:, Z], E_j[:, X])
        case "angle_first":
            return Angle(i, j, E_i[:, Y], E_i[:, X], E_j[:, Y])
        case "angle_second":
            return Angle(j, i, E_j[:, X], -E_j[:, Y], E_i[:, X])
    return None


def direction_of(joint: Joint, component: int) -> Array | None:
    """The direction in the first body along which a translation is counted, or None if it is not a translation."""
    column = TRAVEL.get(joint.coordinates[component])
    return None if column is None else joint.E_i[:, column]


def driver_primitive(owner: str, joint: Joint, component: int, motion: Motion) -> tuple[str, str, Primitive]:
    """First body, second body and rheonomic primitive that make a joint coordinate follow a motion."""
    coordinate = check_coordinate(owner, joint, component)
    angle, direction = angle_of(joint, component), direction_of(joint, component)
    if angle is not None:
        row = Primitive("A", (coordinate,), a_i=angle.a_i, a_j=angle.a_j, n_i=angle.n_i, motion=motion)
        return angle.first, angle.second, row
    assert direction is not None
    return joint.first, joint.second, Primitive("O", (coordinate,), joint.p_i, joint.p_j, direction, motion=motion)
