"""What a model says of its bodies, joints and gravity, in words that a drawing can be compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.compilation.wrong_axes import shown_axis
from dalembert.model.elements import GROUND, Body, Joint
from dalembert.model.forces.on_joints import JointSpringDamper
from dalembert.model.forces.springs import SpringDamper
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.model.motions import Table
from dalembert.model.plane import InPlane
from dalembert.remarks.pins import links_of
from dalembert.remarks.wrong_units import extent, gravity_in_millimetres

UP, IN_MM = ", up in pictures", ": where lengths are in m it is 9.81 on earth"  # what gravity is told with if it may be wrong


@dataclass(frozen=True)
class BodyFacts:
    """mass [kg];  inertia : about its centre of mass [kg m^2], in a plane about the normal, else about its own x, y, z, of a
    body with products of inertia the principal ones; none of a point mass;  drawn : "bar", else the type of its shape, ""
    without one;  size : length of a bar, largest of another plain solid [m], 0 where it is not known"""

    name: str
    mass: float
    inertia: list[float]
    drawn: str
    size: float

    @property
    def shown(self) -> str:
        """ "bar of 0.3 m" """
        return self.drawn + (f" of {self.size:.4g} m" if self.size else "")


def body_facts(model: Model) -> list[BodyFacts]:
    links, found = links_of(model), []
    for body in model.bodies:
        link, shape = links[body.name], body.shape or {}
        drawn, size = ("bar", link.length) if link and link.bar else (str(shape.get("type", "")), extent(shape)[0])
        found.append(BodyFacts(body.name, body.mass, _inertia(model, body), drawn, float(size)))
    return found


def _inertia(model: Model, body: Body) -> list[float]:
    if body.kind != "rigid" or not body.mass:
        return []
    if model.plane is not None:
        normal = body.matrix.T @ InPlane(model.plane).normal
        return [float(normal @ body.inertia @ normal)]
    own = np.diag(body.inertia)
    return [*map(float, own if np.array_equal(np.diag(own), body.inertia) else np.linalg.eigvalsh(body.inertia))]


def joint_facts(model: Model, bodies: Sequence[Body]) -> Iterator[tuple[Joint, list[float]]]:
    """Joints between two bodies and where they are in the world [m], in a plane by two numbers; bodies : in their pose"""
    placed, kept = {body.name: body for body in bodies}, ["xyz".index(axis) for axis in model.plane or "xyz"]
    for joint in model.joints:
        if not (joint.coupled or joint.members):
            point = joint.p_i if joint.first == GROUND else world_point(placed[joint.first], joint.p_i)
            yield joint, [round(float(point[k]), 12) + 0.0 for k in kept]  # no sizes and signs of rounding


def spring_words(model: Model, bodies: Sequence[Body]) -> Iterator[tuple[str, str]]:
    """Springs by name, how stiff and how long, and what tables of rates of a joint end with; bodies : in their pose"""
    placed = {body.name: body for body in (model.ground, *bodies)}
    for force in (force for force in model.forces if isinstance(force, SpringDamper) and force.stiffness):
        ends = world_point(placed[force.second], force.p_j) - world_point(placed[force.first], force.p_i)
        long = f"{float(np.linalg.norm(ends)):.4g} m long at the start"
        yield force.name, f"{force.stiffness:.4g} N/m, slack at {force.length:.4g} m, {long}"
    for coil in (force for force in model.forces if isinstance(force, JointSpringDamper)):
        joint, gain = model.joint(coil.joint), coil.damping
        if isinstance(gain, Table) and joint.coordinates in (("angle",), ("translation",)):
            axis = shown_axis(placed[joint.first].matrix @ joint.E_i[:, 2])
            turns = joint.coordinates == ("angle",)
            unit, way = ("N m", f"turning about {axis}") if turns else ("N", f"motion along {axis}")
            yield coil.name, f"{gain.values[-1]:.4g} {unit} against {way}, {0.0 - gain.values[0]:.4g} {unit} the other way"


def gravity_words(model: Model) -> str:
    """ "9.81 m/s^2 along -z"; it is said where that is up in a plane as it is drawn, or seems to be in mm/s^2"""
    size = float(np.linalg.norm(model.gravity))
    if size == 0.0:
        return "none"
    along = model.gravity / size
    k = int(np.argmax(np.abs(along)))
    axis = f"{'-' if along[k] < 0 else '+'}{'xyz'[k]}" if np.count_nonzero(along) == 1 else shown_axis(along)
    up = UP if model.plane and along["xyz".index(model.plane[1])] > 0.5 else ""
    return f"{size:.6g} m/s^2 along {axis}{up}{IN_MM if gravity_in_millimetres(model) else ''}"
