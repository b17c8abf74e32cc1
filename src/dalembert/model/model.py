"""The model: what the user says about a mechanism. Verbs for bodies are here, the others are mixed in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace as _replaced
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.assembly import Assembly
from dalembert.model.cables import CableVerbs
from dalembert.model.cams import CamVerbs
from dalembert.model.constraint_verbs import ConstraintVerbs
from dalembert.model.driver_verbs import DriverVerbs
from dalembert.model.editing import remove, rename, replaced
from dalembert.model.elements import Body, Joint, Marker
from dalembert.model.forces import ForceVerbs
from dalembert.model.frames import own_point
from dalembert.model.gears import GearVerbs
from dalembert.model.joint_verbs import BodyRef
from dalembert.model.later import carried_out
from dalembert.model.plane import InPlane
from dalembert.model.rotation import Rotation, unit_quaternion
from dalembert.model.serialise import FORMAT, VERSION, content_hash, decode, encode
from dalembert.model.shape_records import shape_record
from dalembert.model.shapes import THIN, rod
from dalembert.model.store import SECTIONS, Element
from dalembert.model.validation import Hinted, frozen, inertia, number, printable, shown, size_of, vector

ZERO = (0.0, 0.0, 0.0)


class Model(GearVerbs, CableVerbs, CamVerbs, ConstraintVerbs, DriverVerbs, ForceVerbs, Hinted):
    """A mechanism: bodies, joints, drivers, forces, markers, by name. SI units; positions and velocities in world axes.

        model = Model(gravity=(0, 0, -9.81))
        arm = model.add_body("arm", **rod(1.0, 0.5).body(), position=(0.25, 0, 0))
        model.add_revolute("hinge", model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0))

    Each verb checks what it is given, adds one element and returns it; elements never change afterwards, but `replace`,
    `remove` and `rename` put others in their place.

    gravity : (3,) acceleration, world axes [m/s^2], default (0, 0, -9.81), in a plane (0, -9.81) of its axes
    plane : "xy", "xz" or "yz": points, forces and gravity may have two numbers, rotations, angular velocities, torques and
        inertias one, about the normal e1 x e2; hinges need no axis; runs are in planar coordinates unless said otherwise
    """

    _meant: ClassVar = {
        **{name: f"da.{name}(model) does that" for name in ("kinematics", "equilibrium", "linearise", "equations")},
        **dict.fromkeys(("modes", "frequencies"), "da.linearise(model) has them"),
        **dict.fromkeys(
            ("inverse_kinematics", "ik"), "add_point_driver moves a point, da.kinematics(model, t) finds the joints"
        ),
        **dict.fromkeys(("view", "plot", "show", "animate"), "da.simulate(model, t_end) is what is seen: .view(), .plot"),
        **dict.fromkeys(("add_mass", "add_particle"), "did you mean 'add_point_mass'?"),
        **dict.fromkeys(("simulate", "run", "solve"), "da.simulate(model, t_end) runs it"),
        **dict.fromkeys(
            ("set_initial", "set_state", "initial"),
            "da.simulate(model, t_end, initial=state) starts at a state, that of another run or an equilibrium",
        ),
    }

    def __init__(self, gravity: npt.ArrayLike | None = None, *, name: str = "", plane: str | None = None) -> None:
        super().__init__()
        if not isinstance(name, str):
            raise ModelError(f"model: name is {shown(name)}; give a string")
        printable("model", name)
        self._flat = None if plane is None else InPlane(plane)
        if self._flat is not None:
            gravity = self._flat.vector((0.0, -9.81) if gravity is None else gravity)
        self._flatten_verbs()
        with nullcontext() if self._flat is None else self._flat.words():
            self._gravity = vector("model", "gravity", (0.0, 0.0, -9.81) if gravity is None else gravity)
        self._name = name

    def _flatten_verbs(self) -> None:
        """Verbs take two numbers for a vector in the plane."""
        if self._flat is not None:
            for label, verb in _verbs():
                self.__dict__[label] = partial(self._flat.call, verb, self)

    @property
    def name(self) -> str:
        """What reports and files call the model."""
        return self._name

    @property
    def structure(self) -> Model:
        """A model with the same elements, by name and kind; their numbers may be others."""
        return self

    @property
    def framed(self) -> tuple[Joint, ...]:
        """Its joints: their bodies, coordinates and frames; what they are made of may be that of `structure`."""
        return self.joints

    @property
    def plane(self) -> str | None:
        """The plane in which it was written down, "xy" or so, or None."""
        return None if self._flat is None else self._flat.name

    @property
    def gravity(self) -> Array:
        """(3,) acceleration of gravity, world axes [m/s^2]."""
        return self._gravity

    def add_body(
        self,
        name: str,
        *,
        mass: float | None = None,
        inertia: npt.ArrayLike | None = None,
        position: npt.ArrayLike = ZERO,
        rotation: npt.ArrayLike | Rotation = (1.0, 0.0, 0.0, 0.0),
        velocity: npt.ArrayLike | None = None,
        angular_velocity: npt.ArrayLike | None = None,
        shape: dict[str, object] | None = None,
        fixed: bool = False,
    ) -> Body:
        """A rigid body. Its axes have their origin in the centre of mass.

        mass : [kg];  inertia : about the centre of mass in body axes, 3 values or 3x3 [kg m^2]; without both the model is
            one for `kinematics` alone
        position : of the centre of mass [m];  rotation : body -> world, a quaternion (scalar first), 3x3 matrix or `Rotation`
        velocity : of the centre of mass, world axes [m/s];  angular_velocity : world axes [rad/s]; what is not given is zero,
            unless joints, drivers, rates or velocities that are given imply another value; where these leave a choice, that of
            an impulse is taken, and reports say so
        fixed : assembly leaves its initial pose and velocities alone;  shape : how the viewer draws it
        """
        owner = self._new_name("body", name)
        none = mass is None and inertia is None
        if inertia is None and not none:
            fix = "a solid that has one, as in **da.rod(mass, length).body() or **da.box(mass, size).body()"
            wanted = "3 numbers" if self._flat is None else "one number, about the normal, three"
            raise ModelError(f"{owner}: inertia is None; give {wanted}, or {fix}")
        body = Body(
            name,
            "rigid",
            0.0 if none else number(owner, "mass", mass, above=0.0),
            frozen(np.zeros((3, 3))) if none else _inertia(owner, inertia),
            vector(owner, "position", position),
            unit_quaternion(owner, rotation),
            vector(owner, "velocity", ZERO if velocity is None else velocity),
            vector(owner, "angular_velocity", ZERO if angular_velocity is None else angular_velocity),
            _flag(owner, "fixed", fixed),
            shape_record(owner, shape),
            (velocity is not None, angular_velocity is not None),
        )
        return self._add(body)

    def add_link(
        self,
        name: str,
        start: npt.ArrayLike,
        end: npt.ArrayLike,
        *,
        mass: float | None = None,
        radius: float = 0.0,
        centre: npt.ArrayLike | None = None,
        inertia: float | None = None,
        velocity: npt.ArrayLike | None = None,
        angular_velocity: npt.ArrayLike | None = None,
        fixed: bool = False,
    ) -> Body:
        """A straight bar from one world point to another, a body whose x axis (in a plane yz its y axis) points along it;
        inertia as of `rod`, m l^2 / 12 about its middle without a radius.

        start : of that axis, world coordinates of the model pose [m];  end : of that axis, the same [m]
        mass : [kg], None for `kinematics` alone;  radius : [m], 0 for a thin bar, with 1e-4 of that inertia about its length
        centre : of mass, world coordinates of the model pose [m], default the middle of the bar; elsewhere it needs an inertia
        inertia : moment about the centre of mass across the bar, one number [kg m^2], default that of a homogeneous bar
        velocity : of the centre of mass, world axes [m/s];  angular_velocity : world axes [rad/s]
        fixed : assembly leaves its initial pose and velocities alone
        """
        owner = self._new_name("body", name)
        ends = vector(owner, "start", start), vector(owner, "end", end)
        if np.array_equal(*ends):
            raise ModelError(f"{owner}: start and end are both {shown(ends[0])}; give two different points")
        m = 1.0 if mass is None else number(owner, "mass", mass, above=0.0)
        thick = number(owner, "radius", radius, least=0.0)
        bar = (rod(m, radius=thick, between=ends) if self.plane is None else InPlane(self.plane).bar(m, thick, ends)).body()
        middle = vector(owner, "middle", bar["position"])
        place = middle if centre is None else vector(owner, "centre", centre)
        length = size_of(ends[1] - ends[0])
        shifted = centre is not None and size_of(place - middle) > 1e-12 * length
        if shifted and size_of(place - middle) > 1.5 * length:
            there = f"{shown(place)}, farther from the bar than it is long, {length:.4g} m"
            raise ModelError(f"{owner}: centre is {there}; give the world point of its centre of mass in the model pose")
        if shifted and mass is not None and inertia is None:
            like = f"about the centre of mass across the bar [kg m^2]; of a homogeneous bar it is {bar['inertia'][2]:.4g}"
            raise ModelError(f"{owner}: centre is not the middle of the bar, so no inertia follows; give inertia=, {like}")
        if inertia is not None:
            if mass is None:
                raise ModelError(f"{owner}: inertia is {shown(inertia)} without a mass; give both, or neither")
            across = number(owner, "inertia", inertia, above=0.0)
            along_x = bar["shape"]["axis"] == "x"
            axial = bar["inertia"][0 if along_x else 1] if radius else THIN * across
            bar["inertia"] = (axial, across, across) if along_x else (across, axial, across)
        if shifted:
            bar["position"] = tuple(place.tolist())
        made = self.add_body(name, **bar, velocity=velocity, angular_velocity=angular_velocity, fixed=fixed)
        if shifted:  # it is drawn where it is
            drawn = {**bar["shape"], "position": own_point(owner, made, None, middle)}
            made = self._add(_replaced(made, shape=shape_record(owner, drawn)))
        return made if mass is not None else self._add(_replaced(made, mass=0.0, inertia=frozen(np.zeros((3, 3)))))

    def add_point_mass(
        self,
        name: str,
        *,
        mass: float,
        position: npt.ArrayLike = ZERO,
        velocity: npt.ArrayLike | None = None,
        shape: dict[str, object] | None = None,
        fixed: bool = False,
    ) -> Body:
        """A particle: three coordinates, no rotation. Points on it are (0, 0, 0); it carries no axes.

        mass : [kg];  position : world [m];  velocity : world axes [m/s], if not given as in `add_body`
        fixed : assembly leaves both alone;  shape : how the viewer draws it
        """
        owner = self._new_name("point mass", name)
        body = Body(
            name,
            "point",
            number(owner, "mass", mass, above=0.0),
            frozen(np.zeros((3, 3))),
            vector(owner, "position", position),
            frozen([1.0, 0.0, 0.0, 0.0]),
            vector(owner, "velocity", ZERO if velocity is None else velocity),
            frozen(np.zeros(3)),
            _flag(owner, "fixed", fixed),
            shape_record(owner, shape),
            (velocity is not None, True),
        )
        return self._add(body)

    def add_marker(
        self, name: str, body: BodyRef, point: npt.ArrayLike | None = None, *, at: npt.ArrayLike | None = None
    ) -> Marker:
        """A named point of a body: `solution.position("foot")`, its path in viewer and plots, its columns in tables.

        point : in body axes [m], default the centre of mass;  at : instead, world coordinates of the model pose [m]
        """
        owner = self._new_name("marker", name)
        on = self._body(owner, body)
        return self._add(Marker(name, on.name, own_point(owner, on, point, at)))

    def replace(self, name: Element | str, **changes: Any) -> Element:
        """Make an element anew with other arguments of its verb, `model.replace("crank", mass=3)`; the others stay as they are.

        Joints keep their axes, and what refers to a body its points on the body, wherever that is placed now; wheels stay in
        mesh. Returns the new handle; the old one is not of this model any more.
        """
        return replaced(self, name, changes)

    def remove(self, name: Element | str) -> None:
        """Take an element out of the model; refused while others refer to it, with their names."""
        remove(self, name)

    def rename(self, name: Element | str, new: str) -> Element:
        """Give an element another name, in everything that refers to it, too. Returns the new handle."""
        return rename(self, name, new)

    def assemble(self) -> Assembly:
        """Consistent initial positions and velocities, and how far what was moved."""
        made: Assembly = carried_out("assemble", self)
        return made

    def copy(self) -> Model:
        """A model with the same elements that can be added to on its own; handles of either are good for both."""
        other = Model.__new__(Model)
        other.__dict__.update(self.__dict__, _elements=dict(self._elements))
        other._flatten_verbs()
        return other

    def to_dict(self) -> dict[str, Any]:
        """The whole model as dicts, lists, strings and numbers, exact through JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self._name,
            "gravity": encode(self._gravity),
            **({} if self.plane is None else {"plane": self.plane}),
            "elements": [encode(e) for section in SECTIONS for e in getattr(self, section)],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Model:
        """The model that `to_dict` described. User functions are not restored: calling one raises `ModelError`."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise ModelError(f"model data: got {shown(data)}; give the dict of Model.to_dict()")
        if data.get("version") != VERSION:
            raise ModelError(f"model data: version is {shown(data.get('version'))}; this release reads {VERSION}")
        model = cls(data.get("gravity", ZERO), name=data.get("name", ""), plane=data.get("plane"))
        records = data.get("elements")
        from dalembert.model.stored import check_element

        if not isinstance(records, list):
            raise ModelError(f"model data: elements is {shown(records)}; give the list of Model.to_dict()")
        for record in records:
            element: Element = decode(record)
            owner = model._new_name(type(element).__name__, element.name)
            for end in ("first", "second", "body"):
                if hasattr(element, end):
                    model._body(owner, getattr(element, end))
            for member in getattr(element, "members", ()):
                model._body(owner, member)
            if getattr(element, "joint", None) is not None:
                model._joint(owner, getattr(element, "joint", None))
            check_element(owner, element, model)
            model._elements[element.name] = element
        return model

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str], parameters: Mapping[str, float] | None = None) -> Model:
        """The model in a YAML file. What is wrong in it raises `ModelError`, all at once, with line and column.

        parameters : values instead of those under `parameters:` in the file
        """
        made: Model = carried_out("read_model", path, parameters).model
        return made

    def to_yaml(self, path: str | os.PathLike[str]) -> None:
        """Write a YAML file that `from_yaml` reads back bit for bit; user functions cannot be written and raise."""
        carried_out("write_model", self, path)

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON of `to_dict`: equal for equal models, in every process."""
        return content_hash(self.to_dict())

    def __repr__(self) -> str:
        counts = {section: len(getattr(self, section)) for section in SECTIONS}
        listed = ", ".join(f"{section} {n}" for section, n in counts.items() if n or section != "markers")
        return f"<Model {self._name!r}: {listed}>" if self._name else f"<Model: {listed}>"

    def _repr_html_(self) -> str:
        """For a notebook: a picture, the joints, the degrees of freedom."""
        return str(carried_out("model_html", self))

    def __str__(self) -> str:
        rows: list[tuple[str, str, str, str]] = [
            ("body", b.name, b.kind, f"{b.mass:g} kg" if b.mass else "no mass") for b in self.bodies
        ]
        rows += [
            ("joint", j.name, j.type, f"{' - '.join(j.bodies)}, {sum(len(p.labels) for p in j.primitives)} rows")
            for j in self.joints
        ]
        for d in self.drivers:
            what = f"joint {d.joint}" if d.joint else f"{d.first} - {d.second}"
            rows.append(("driver", d.name, type(d.primitive.motion).__name__, what))
        for f in self.forces:
            ends = [str(getattr(f, end)) for end in ("body", "joint", "first", "second") if hasattr(f, end)]
            rows.append(("force", f.name, type(f).__name__, " - ".join(ends)))
        rows += [("marker", m.name, "", f"on {m.body}") for m in self.markers]
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(4)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        gravity = ", ".join(f"{c:g}" for c in self._gravity)
        return "\n".join([f"{self!r}, gravity ({gravity}) m/s^2", *lines])


@cache
def _verbs() -> list[tuple[str, Callable[..., Any]]]:
    return [(name, getattr(Model, name)) for name in dir(Model) if name.startswith("add_")]


_inertia = inertia  # add_body has an argument of this name


def _flag(owner: str, label: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ModelError(f"{owner}: {label} is {shown(value)}; give True or False")
    return value
