"""Signals of a solution by name, for plots and sweeps.

"A"           coordinate of a joint that has one           "A.angle"     one of several, see `joints.COORDINATES`
"A.rate"      its rate of change                            "C.angle.rate"
"slider.x"    position of a body or marker, world axes; y, z "slider.vx"  its velocity; vy, vz; "slider.v" its size
"B.fx"        reaction force of a joint or driver; fy, fz   "B.tx"        reaction torque; ty, tz; of force elements as well
"B.f"         the size of that force                        "B.t"         of that torque
"motor"       force or torque of a driver or force element along its coordinate: tension of a spring, torque of a motor
"motor.power" what a driver or force element gives to all bodies
"total_energy", "kinetic_energy", "potential_energy", "external_work"     of a Lagrangian system also "x", "x'"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.elements import Joint
from dalembert.model.forces.on_joints import JointLaw
from dalembert.model.model import Model
from dalembert.model.validation import nearest
from dalembert.results.lagrangian import LagrangianResult
from dalembert.results.solution import BodyResult

OVER_TIME: dict[str, tuple[str, Callable[..., Array]]] = {  # of a series that a sweep keeps
    "max": ("largest {}", np.max),
    "min": ("smallest {}", np.min),
    "peak": ("largest size of {}", lambda values, axis: np.abs(values).max(axis)),
    "range": ("range of {}", np.ptp),
}
_ENERGIES = {f"{name}_energy": name for name in ("total", "kinetic", "potential")} | {"external_work": "external_work"}


@dataclass(frozen=True, eq=False)
class Signal:
    """label and unit for axes;  values : (nt,);  rates : makes its time derivative, where it is known exactly"""

    label: str
    unit: str
    values: Array
    rates: Callable[[], Array] | None = None

    @property
    def rate(self) -> Array | None:
        return None if self.rates is None else self.rates()


def signal(solution: BodyResult | LagrangianResult, name: object) -> Signal:
    """A signal by its name, see the module."""
    text = str(getattr(name, "name", name))
    if text in _ENERGIES:
        return Signal(text.replace("_", " "), "J", getattr(solution.energy, _ENERGIES[text]))
    if isinstance(solution, LagrangianResult):
        return Signal(str(name), "as in the Lagrangian", solution[name])
    model = solution.mechanism.model.structure  # names alone
    joints = {joint.name: joint for joint in model.joints}
    owner, _, part = (text, "", "") if text in joints else text.rpartition(".")
    if owner in joints:
        coordinates = joints[owner].coordinates
        part = part or (coordinates[0] if len(coordinates) == 1 else "")
        if part in coordinates:
            return _coordinate(solution, owner, coordinates, part)
    if part == "rate" and (owner in joints or owner.rpartition(".")[0] in joints):
        item = signal(solution, owner)
        if (rate := item.rate) is not None:
            return Signal(f"rate of {item.label}", f"{item.unit}/s", rate)
    bodies = [body.name for body in model.bodies] + [marker.name for marker in model.markers]
    if owner in bodies and part in ("x", "y", "z"):
        k = "xyz".index(part)
        return Signal(f"{part} of {owner}", "m", solution.position(owner)[:, k], lambda: solution.velocity(owner)[:, k])
    if owner in bodies and part in ("v", "vx", "vy", "vz"):
        return _of_vector("speed" if part == "v" else "velocity", owner, part, "m/s", solution.velocity(owner))
    drivers, forces = [driver.name for driver in model.drivers], [force.name for force in model.forces]
    if text in (*drivers, *forces):
        return _effort(solution, text)
    elements = [*joints, *drivers, *forces]
    if owner in (*drivers, *forces) and part == "power":
        return Signal(f"power of {owner}", "W", solution.effort(owner).power)
    if owner in elements and part[:1] in ("f", "t") and part[1:] in ("", "x", "y", "z"):
        acting = solution.effort(owner) if owner in forces else solution.reaction(owner)
        values, what, unit = (acting.force, "force", "N") if part[0] == "f" else (acting.torque, "torque", "N m")
        return _of_vector(what if owner in forces else f"reaction {what}", owner, part, unit, values)
    if part in OVER_TIME and owner:
        mend = f"keep {owner!r} at many times (save_at=, --save-every), and the sweep has it: `dalembert plot SWEEP map {text}`"
        raise ModelError(f"{text!r} is of a whole run, no signal over time; {mend}")
    if part and owner in (*bodies, *elements):
        along = [*drivers, *(force.name for force in model.forces if force.coordinates == 1)]
        raise ModelError(f"there is no signal {text!r}; {_of_owner(owner, joints, bodies, along)}")
    known = [f"{j.name}.{c}" if len(j.coordinates) > 1 else j.name for j in model.joints for c in j.coordinates]
    known += [f"{body}.{part}" for body in bodies for part in ("x", "y", "z", "vx", "vy", "vz")]
    known += [f"{element}.{part}" for element in elements for part in ("fx", "fy", "fz", "tx", "ty", "tz")]
    known += [*drivers, *forces, *_ENERGIES]
    raise ModelError(f"there is no signal {text!r}; {nearest(text, known)}")


def _of_owner(owner: str, joints: Mapping[str, Joint], bodies: Sequence[str], along: Sequence[str]) -> str:
    """What there is of an element, to choose from; along : names of what acts along one coordinate."""
    acts = [f"{owner}.{kind}x, y, z ({what}), {owner}.{kind} (its size)" for kind, what in (("f", "force"), ("t", "torque"))]
    if owner in bodies:
        return f"{owner!r} has {owner}.x, y, z (position) and {owner}.vx, vy, vz (velocity), {owner}.v (its size)"
    names = [f"{owner} (along its coordinate)"] * (owner in along) + [f"{owner}.power"]
    if owner in joints:
        coordinates = joints[owner].coordinates
        several = len(coordinates) > 1
        names = [f"{owner}.{name}" if several else f"{owner} ({name}), {owner}.rate" for name in coordinates]
    return f"{owner!r} has {', '.join((*names, *acts))}"


def _of_vector(what: str, owner: str, part: str, unit: str, values: Array) -> Signal:
    """A component (nt,) of a vector (nt, 3) by the axis that a name ends with; its size, where it has but one letter."""
    if len(part) == 1:
        return Signal(f"{what} of {owner}", unit, np.linalg.norm(values, axis=1))
    return Signal(f"{what} {part[1]} of {owner}", unit, values[:, "xyz".index(part[1])])


def _effort(solution: BodyResult, name: str) -> Signal:
    """What a driver or a force element does along its coordinate, positive the way that grows; of a spring its tension."""
    model = solution.mechanism.model
    what, unit = effort_kind(model, name)
    value = solution.effort(name).value if what else None
    if value is None:
        noun = next(force.noun for force in model.forces if force.name == name)
        raise ModelError(f"{noun} {name!r} acts along no single coordinate; give '{name}.fx' or '{name}.tx', y or z")
    return Signal(f"{what} of {name}", unit, value)


def effort_kind(model: Model, name: str) -> tuple[str, str]:
    """What the effort of a driver or force element along its one coordinate is called, and its unit; "" where there is none."""
    turning, pushing = ("torque", "N m"), ("force", "N")
    for driver in model.drivers:
        if driver.name == name:
            return turning if driver.primitive.kind == "A" else pushing
    force = next((force for force in model.forces if force.name == name), None)
    if force is None or force.coordinates != 1:
        return "", "N or N m"
    joint, component = getattr(force, "joint", None), getattr(force, "component", 0)
    if isinstance(force, JointLaw):
        joint, component = force.joints[0], force.components[0]
    if joint is None:
        return "tension", "N"
    return turning if model.joint(joint).coordinates[component].startswith("angle") else pushing


def _coordinate(solution: BodyResult, joint: str, coordinates: tuple[str, ...], part: str) -> Signal:
    k = coordinates.index(part)

    def column(numbers: Array) -> Array:
        return np.reshape(numbers, (len(solution.t), -1))[:, k]

    rates = None if part[:3] == "rot" else lambda: column(solution.coordinate_rate(joint))
    unit = "rad" if part.startswith(("angle", "rotation")) else "m"
    return Signal(f"{part.replace('_', ' ')} of {joint}", unit, column(solution.coordinate(joint)), rates)
