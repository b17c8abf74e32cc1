"""Signals of a solution by name, for plots and sweeps.

"A"           coordinate of a joint that has one           "A.angle"     one of several, see `joints.COORDINATES`
"A.rate"      its rate of change                            "C.angle.rate"
"slider.x"    position of a body or marker, world axes; y, z "slider.vx"  its velocity; vy, vz; "slider.v" its size
"slider.ax"   its acceleration; ay, az; "slider.a" its size
"crank.wx"    its angular velocity, world axes; wy, wz; "crank.w" its size; "crank.wx.rate" angular acceleration
"crank.angle" of a body of a model in a plane, see `angles`  "crank.angle.rate", "crank.angle.acceleration"
"B.fx"        reaction force of a joint or driver; fy, fz   "B.tx"        reaction torque; ty, tz; of force elements as well
"B.f"         the size of that force                        "B.t"         of that torque
"motor"       force or torque of a driver or force element along its coordinate: tension of a spring, torque of a motor
"motor.power" what a driver or force element gives to all bodies
"total_energy", "kinetic_energy", "potential_energy", "external_work"     of a Lagrangian system also "x", "x'"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.results.angles import body_acceleration, body_angle, body_rate
from dalembert.results.lagrangian import LagrangianResult
from dalembert.results.signal_names import ENERGIES, effort_kind, meant
from dalembert.results.solution import BodyResult


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
    if text in ENERGIES:
        if isinstance(solution, BodyResult):
            meant(solution.mechanism.model.structure, text)  # it may be an element, too
        elif text in solution.mechanism.model.coordinates:
            raise ModelError(f"signal {text!r} means two things, an energy and a coordinate; rename the coordinate")
        return Signal(text.replace("_", " "), "J", getattr(solution.energy, ENERGIES[text]))
    if isinstance(solution, LagrangianResult):
        return Signal(str(name), "as in the Lagrangian", solution[name])
    model = solution.mechanism.model.structure  # names alone
    kind, owner, part = meant(model, text)
    match kind:
        case "coordinate":
            return _coordinate(solution, owner, part)
        case "rate":
            item = _coordinate(solution, owner, part)
            assert item.rate is not None
            return Signal(f"rate of {item.label}", f"{item.unit}/s", item.rate)
        case "angle":
            return Signal(f"angle of {owner}", "rad", body_angle(solution, owner), lambda: body_rate(solution, owner))
        case "turning":
            output, unit = (body_rate, "rad/s") if part == "rate" else (body_acceleration, "rad/s^2")
            return Signal(f"{part} of angle of {owner}", unit, output(solution, owner))
        case "position":
            k = "xyz".index(part)
            return Signal(f"{part} of {owner}", "m", solution.position(owner)[:, k], lambda: solution.velocity(owner)[:, k])
        case "velocity":
            return _of_vector("speed" if part == "v" else "velocity", owner, part, "m/s", solution.velocity(owner))
        case "acceleration":
            return _of_vector("acceleration", owner, part, "m/s^2", solution.acceleration(owner))
        case "spin":
            return _of_vector("angular velocity", owner, part, "rad/s", solution.angular_velocity(owner))
        case "spin rate":
            return _of_vector("angular acceleration", owner, part, "rad/s^2", solution.angular_acceleration(owner))
        case "effort":
            return _effort(solution, owner)
        case "power":
            return Signal(f"power of {owner}", "W", solution.effort(owner).power)
    of_force = any(force.name == owner for force in model.forces)
    acting = solution.effort(owner) if of_force else solution.reaction(owner)
    values, what, unit = (acting.force, "force", "N") if part[0] == "f" else (acting.torque, "torque", "N m")
    return _of_vector(what if of_force else f"reaction {what}", owner, part, unit, values)


def _of_vector(what: str, owner: str, part: str, unit: str, values: Array) -> Signal:
    """A component (nt,) of a vector (nt, 3) by the axis that a name ends with; its size, where it has but one letter."""
    if len(part) == 1:
        return Signal(f"{what} of {owner}", unit, np.linalg.norm(values, axis=1))
    return Signal(f"{what} {part[1]} of {owner}", unit, values[:, "xyz".index(part[1])])


def _effort(solution: BodyResult, name: str) -> Signal:
    """What a driver or a force element does along its coordinate, positive the way that grows; of a spring its tension."""
    model = solution.mechanism.model
    what, unit = effort_kind(model, name)
    value = solution.effort(name).value
    assert value is not None
    return Signal(f"{what} of {name}", unit, value)


def _coordinate(solution: BodyResult, joint: str, part: str) -> Signal:
    joints = solution.mechanism.model.structure.joints
    k = next(each for each in joints if each.name == joint).coordinates.index(part)

    def column(numbers: Array) -> Array:
        return np.reshape(numbers, (len(solution.t), -1))[:, k]

    rates = None if part[:3] == "rot" else lambda: column(solution.coordinate_rate(joint))
    unit = "rad" if part.startswith(("angle", "rotation")) else "m"
    return Signal(f"{part.replace('_', ' ')} of {joint}", unit, column(solution.coordinate(joint)), rates)
