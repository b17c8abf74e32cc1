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

What has no name is a function of the solution that gives one value for each of its times, alone or with a name, and a unit in
brackets: ("travel [m]", lambda s: s.signal("wheel.z") - s.signal("chassis.z")).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, ModelError
from dalembert.model.references import called
from dalembert.model.validation import shown
from dalembert.results.angles import body_acceleration, body_angle, body_rate
from dalembert.results.lagrangian import LagrangianResult
from dalembert.results.signal_names import ENERGIES, OVER_TIME, meant, spelt_out, words_of
from dalembert.results.solution import BodyResult

_TOLD = 8  # names that are left out, at most


@dataclass(frozen=True, eq=False)
class Signal:
    """label and unit for axes, "" where it is not known;  values : (nt,);  rates : makes its time derivative, where it is known
    exactly, of a sweep that by what was swept;  by : the unit of what it is over"""

    label: str
    unit: str
    values: Array
    rates: Callable[[], Array] | None = None
    by: str = "s"

    @property
    def rate(self) -> Array | None:
        return None if self.rates is None else self.rates()

    @property
    def title(self) -> str:
        """For an axis."""
        return with_unit(self.label, self.unit)


def with_unit(text: str, unit: str) -> str:
    return f"{text} [{unit}]".strip() if unit else text


def title_of(output: object) -> str:
    """What a column is called: a signal by its name, a function as it is called or named."""
    if isinstance(output, tuple) and output:
        return str(output[0])
    return called(output) if callable(output) else str(getattr(output, "name", output))


def label_and_unit(title: str) -> tuple[str, str]:
    """ "travel [m]" in two."""
    label, _, unit = title.removesuffix("]").rpartition(" [")
    return (label, unit) if label and title.endswith("]") else (title, "")


def signal(solution: BodyResult | LagrangianResult, name: object) -> Signal:
    """A signal by its name, or a function of the solution, see the module."""
    if callable(name) or isinstance(name, tuple):
        return _computed(solution, name)
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
    label, unit = words_of(model, kind, owner, part)
    return Signal(label, solution.per(unit), *_values(solution, kind, owner, part), solution.along[1])


def spelt_out_of(solution: BodyResult | LagrangianResult, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names spelt out, see `spelt_out`, and why those of a "*" are left out that this run cannot compute: a loaded one has not
    all functions, a sweep of bodies without mass no forces."""
    kept, left = list[str](), dict[str, list[str]]()
    for name in spelt_out(solution.mechanism.model, names):
        owner, _, kind = name.rpartition(".")
        try:
            if name not in names:
                signal(solution, owner if kind in OVER_TIME else name)
            kept.append(name)
        except DalembertError as problem:
            left.setdefault(str(problem), []).append(name)
    told = [f"left out: {', '.join(some[:_TOLD])}{', ...' * (len(some) > _TOLD)}: {why}" for why, some in left.items()]
    if told and not kept:
        raise ModelError("; ".join(told))
    return kept, told


def _computed(solution: BodyResult | LagrangianResult, output: object) -> Signal:
    """A function of a solution, alone or with its name: ("travel [m]", function)."""
    title = title_of(output)
    function = output[-1] if isinstance(output, tuple) and len(output) == 2 and isinstance(output[0], str) else output
    if not callable(function):
        raise ModelError(
            f"signal {shown(output)}: give a name, a function of the solution, or both:"
            ' ("travel [m]", lambda s: s.signal("wheel.z"))'
        )
    found = function(solution)
    try:
        values = np.asarray(found, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"signal {title!r}: its function gave {shown(found)}; give one number for each time") from None
    if values.shape != solution.t.shape:
        raise ModelError(
            f"signal {title!r}: the output has the shape {values.shape}; give one value for each of the {len(solution.t)} times"
            " of the solution that the function is given"
        )
    return Signal(*label_and_unit(title), values)


def _values(solution: BodyResult, kind: str, owner: str, part: str) -> tuple[Array, Callable[[], Array] | None]:
    """(nt,) what is meant, see `meant`, and what makes its rate, where that is known exactly."""
    model = solution.mechanism.model.structure
    match kind:
        case "coordinate" | "rate":
            k = next(joint for joint in model.joints if joint.name == owner).coordinates.index(part)

            def rate() -> Array:
                return _column(solution, solution.coordinate_rate(owner), k)

            if kind == "rate":
                return rate(), None
            return _column(solution, solution.coordinate(owner), k), None if part[:3] == "rot" else rate
        case "angle":
            return body_angle(solution, owner), lambda: body_rate(solution, owner)
        case "turning":
            return (body_rate if part == "rate" else body_acceleration)(solution, owner), None
        case "position":
            k = "xyz".index(part)
            return solution.position(owner)[:, k], lambda: solution.velocity(owner)[:, k]
        case "velocity":
            return _part(solution.velocity(owner), part), None
        case "acceleration":
            return _part(solution.acceleration(owner), part), None
        case "spin":
            return _part(solution.angular_velocity(owner), part), None
        case "spin rate":
            return _part(solution.angular_acceleration(owner), part), None
        case "effort":  # positive the way its coordinate grows; of a spring its tension
            value = solution.effort(owner).value
            assert value is not None
            return value, None
        case "power":
            return solution.effort(owner).power, None
    of_force = any(force.name == owner for force in model.forces)
    acting = solution.effort(owner) if of_force else solution.reaction(owner)
    return _part(acting.force if part[0] == "f" else acting.torque, part), None


def _part(values: Array, part: str) -> Array:
    """A component (nt,) of a vector (nt, 3) by the axis that a name ends with; its size, where it has but one letter."""
    return np.linalg.norm(values, axis=1) if len(part) == 1 else values[:, "xyz".index(part[1])]


def _column(solution: BodyResult, values: Array, k: int) -> Array:
    return np.reshape(values, (len(solution.t), -1))[:, k]
