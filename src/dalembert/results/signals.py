"""Signals of a solution by name, for plots and sweeps.

"A"           coordinate of a joint that has one           "A.angle"     one of several, see `joints.COORDINATES`
"slider.x"    position of a body, world axes; y, z          "slider.vx"   its velocity; vy, vz
"B.fx"        reaction force of a joint or driver; fy, fz   "B.tx"        reaction torque; ty, tz; of force elements as well
"motor"       force or torque of a driver or force element along its coordinate: tension of a spring, torque of a motor
"total_energy", "kinetic_energy", "potential_energy", "external_work"     of a Lagrangian system also "x", "x'"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.elements import Joint
from dalembert.model.validation import nearest
from dalembert.results.lagrangian import LagrangianResult
from dalembert.results.solution import BodyResult

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
    bodies = [body.name for body in model.bodies]
    if owner in bodies and part in ("x", "y", "z"):
        k = "xyz".index(part)
        return Signal(f"{part} of {owner}", "m", solution.position(owner)[:, k], lambda: solution.velocity(owner)[:, k])
    if owner in bodies and part in ("vx", "vy", "vz"):
        return Signal(f"velocity {part[1]} of {owner}", "m/s", solution.velocity(owner)[:, "xyz".index(part[1])])
    drivers, forces = [driver.name for driver in model.drivers], [force.name for force in model.forces]
    if text in (*drivers, *forces):
        return _effort(solution, text)
    elements = [*joints, *drivers, *forces]
    if owner in elements and part[:1] in ("f", "t") and part[1:] in ("x", "y", "z"):
        acting = solution.effort(owner) if owner in forces else solution.reaction(owner)
        values, what, unit = (acting.force, "force", "N") if part[0] == "f" else (acting.torque, "torque", "N m")
        what = what if owner in forces else f"reaction {what}"
        return Signal(f"{what} {part[1]} of {owner}", unit, values[:, "xyz".index(part[1])])
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
    acts = [f"{owner}.{kind}x, y, z ({what})" for kind, what in (("f", "force"), ("t", "torque"))]
    if owner in bodies:
        return f"{owner!r} has {owner}.x, y, z (position) and {owner}.vx, vy, vz (velocity)"
    names = [f"{owner} (along its coordinate)"] if owner in along else []
    if owner in joints:
        coordinates = joints[owner].coordinates
        names = [f"{owner}.{name}" if len(coordinates) > 1 else f"{owner} ({name})" for name in coordinates]
    return f"{owner!r} has {', '.join((*names, *acts))}"


def _effort(solution: BodyResult, name: str) -> Signal:
    """What a driver or a force element does along its coordinate, positive the way that grows; of a spring its tension."""
    model = solution.mechanism.model
    if driver := next((driver for driver in model.drivers if driver.name == name), None):
        reaction, row, turns = solution.reaction(name), driver.primitive, driver.primitive.kind == "A"
        along = solution.rotation(driver.first) @ (row.n_i if turns else row.a_i)
        if row.kind == "D":
            gap = solution.point(driver.second, row.p_j) - solution.point(driver.first, row.p_i)
            along = gap / np.linalg.norm(gap, axis=1, keepdims=True)
        values = np.sum((reaction.torque if turns else reaction.force) * along, axis=1)
        return Signal(f"{'torque' if turns else 'force'} of {name}", "N m" if turns else "N", values)
    force = next(force for force in model.forces if force.name == name)
    value = solution.effort(name).value if force.coordinates == 1 else None
    if value is None:
        raise ModelError(f"{force.noun} {name!r} acts along no single coordinate; give '{name}.fx' or '{name}.tx', y or z")
    if (joint := getattr(force, "joint", None)) is None:
        return Signal(f"tension of {name}", "N", value)
    turns = model.joint(joint).coordinates[getattr(force, "component", 0)].startswith("angle")
    return Signal(f"{'torque' if turns else 'force'} of {name}", "N m" if turns else "N", value)


def _coordinate(solution: BodyResult, joint: str, coordinates: tuple[str, ...], part: str) -> Signal:
    k = coordinates.index(part)

    def column(numbers: Array) -> Array:
        return np.reshape(numbers, (len(solution.t), -1))[:, k]

    rates = None if part[:3] == "rot" else lambda: column(solution.coordinate_rate(joint))
    unit = "rad" if part.startswith(("angle", "rotation")) else "m"
    return Signal(f"{part.replace('_', ' ')} of {joint}", unit, column(solution.coordinate(joint)), rates)
