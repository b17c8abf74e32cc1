"""All named outputs of a solution as one xarray Dataset: named dimensions and labels, units and meanings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.joints import COORDINATES
from dalembert.model.serialise import MissingFunction
from dalembert.results.angles import body_angle
from dalembert.results.plain import encode
from dalembert.results.signal_names import effort_kind
from dalembert.results.signals import signal, title_of

if TYPE_CHECKING:
    import xarray

    from dalembert.results.lagrangian import LagrangianResult
    from dalembert.results.solution import BodyResult, Result

__all__ = ["signal_dataset", "system_dataset", "to_dataset"]

Variable = tuple[tuple[str, ...], Array, dict[str, str]]

_AXES = ("x", "y", "z")
_ANGLES = ("angle", "rotation")


def to_dataset(solution: BodyResult) -> xarray.Dataset:
    """Dimensions: time, body, axis, quaternion_component, joint (drivers included), joint_coordinate ("A.angle"), of a model
    with markers also marker, of a run with `Minimal` also independent (s and s_dot), of a model with force elements also
    force_element and effort_along (an element that acts along a length or a joint coordinate, "spring", or along several,
    "control[0]"). What a driver or force element does is there by the names of its signals, too: "motor", "motor.power".

    A joint coordinate's unit and meaning are the coordinates `coordinate_unit` and `coordinate_meaning`.
    """
    import xarray

    labels = [(joint.name, name) for joint in solution.mechanism.model.joints for name in joint.coordinates]
    coordinates: dict[str, Any] = {
        "time": ("time", solution.t, _along(solution)),
        "body": ("body", np.array(solution.mechanism.body_names, dtype=object)),
        "axis": ("axis", list(_AXES)),
        "quaternion_component": ("quaternion_component", ["w", *_AXES]),
        "joint": ("joint", np.array(_elements(solution), dtype=object)),
        "joint_coordinate": ("joint_coordinate", np.array([f"{joint}.{name}" for joint, name in labels], dtype=object)),
        "coordinate_unit": ("joint_coordinate", np.array([_unit(name) for _, name in labels], dtype=object)),
        "coordinate_meaning": ("joint_coordinate", np.array([COORDINATES[name] for _, name in labels], dtype=object)),
    }
    markers = [marker.name for marker in solution.mechanism.model.markers]
    if markers:
        coordinates["marker"] = ("marker", np.array(markers, dtype=object))
    variables: dict[str, Variable] = {
        **_body_outputs(solution),
        **_marker_outputs(solution, markers),
        **_joint_outputs(solution),
        **time_series(solution),
        **_minimal_outputs(solution),
    }
    if forces := solution.mechanism.model.forces:
        efforts, along = _efforts(solution)
        variables |= efforts
        coordinates["force_element"] = ("force_element", np.array([force.name for force in forces], dtype=object))
        coordinates["effort_along"] = ("effort_along", np.array(along, dtype=object))
    if "s" in variables:
        coordinates["independent"] = ("independent", np.arange(variables["s"][1].shape[1]))
    if not solution.settings.get("without_mass"):
        variables = _signals(solution) | variables  # an element that is called like an output gives way
        variables = {name: variable for name, variable in variables.items() if name not in coordinates}
    variables = {
        name: (over, values, told | {"units": solution.per(told["units"])}) for name, (over, values, told) in variables.items()
    }
    return xarray.Dataset(variables, coordinates, attributes(solution))


def signal_dataset(solution: BodyResult | LagrangianResult, names: Sequence[object]) -> xarray.Dataset:
    """Signals by their names, functions of the solution by theirs, over time, and nothing else."""
    import xarray

    along = _along(solution)
    taken: dict[str, object] = {title: title for title in ("time", along.get("signal")) if title}  # columns that there are
    variables = {}
    for name in (name for name in names if name != "time"):
        title = title_of(name)
        output = name if callable(name) or isinstance(name, tuple) else title
        if title in taken and not (output == title == taken[title] != "time"):
            raise ModelError(
                f"export: {_told(taken[title])} and {_told(output)} would both be the column {title!r};"
                ' give functions names of their own, ("travel [m]", function)'
            )
        taken[title], item = output, signal(solution, name)
        variables[title] = "time", item.values, about(item.unit, item.label)
    return xarray.Dataset(variables, {"time": ("time", solution.t, along)}, attributes(solution))


def _told(output: object) -> str:
    if isinstance(output, tuple):
        return f"a function called {output[0]!r}"
    return (
        f"the function {title_of(output)!r}" if callable(output) else "the time" if output == "time" else f"signal {output!r}"
    )


def _elements(solution: BodyResult) -> list[str]:
    """Joints and drivers: everything with a reaction, in the order of the model."""
    return list(dict.fromkeys(row.element for row in solution.mechanism.rows))


def _unit(coordinate: str) -> str:
    return "rad" if coordinate.startswith(_ANGLES) else "m"


def about(units: str, name: str) -> dict[str, str]:
    return {"units": units, "long_name": name}


def _along(solution: Result) -> dict[str, str]:
    """Of `time`: a sweep has there what was swept, and its signal heads the first column of tables."""
    name, unit = solution.along
    if "swept" not in solution.settings:
        return about("s", "time")
    return about(unit, solution.over.rpartition(" [")[0]) | {"signal": name}


def _stacked(names: Sequence[str], output: Callable[[str], Array], nt: int, width: int) -> Array:
    """(nt, names, width)"""
    return np.stack([output(name) for name in names], axis=1) if names else np.zeros((nt, 0, width))


def _body_outputs(solution: BodyResult) -> dict[str, Variable]:
    bodies, nt = solution.mechanism.body_names, len(solution.t)
    vectors = {
        "position": (solution.position, "m", "centre of mass, world axes"),
        "velocity": (solution.velocity, "m/s", "velocity of the centre of mass, world axes"),
        "acceleration": (solution.acceleration, "m/s^2", "acceleration of the centre of mass, world axes"),
        "angular_velocity": (solution.angular_velocity, "rad/s", "angular velocity, world axes"),
        "angular_acceleration": (solution.angular_acceleration, "rad/s^2", "angular acceleration, world axes"),
    }
    made: dict[str, Variable] = {
        name: (("time", "body", "axis"), _stacked(bodies, output, nt, 3), about(units, meaning))
        for name, (output, units, meaning) in vectors.items()
    }
    quaternion = _stacked(bodies, solution.quaternion, nt, 4)
    meaning = about("1", "unit quaternion body -> world, scalar first")
    made["quaternion"] = (("time", "body", "quaternion_component"), quaternion, meaning)
    return made | _angles(solution)


def _angles(solution: BodyResult) -> dict[str, Variable]:
    """Of a model in a plane, where no body leaves it; NaN for point masses."""
    model, nothing = solution.mechanism.model.structure, np.full(len(solution.t), np.nan)
    if model.plane is None:
        return {}
    try:
        each = [body_angle(solution, body.name) if body.kind == "rigid" else nothing for body in model.bodies]
    except ModelError:  # it has no angle
        return {}
    first = f"angle of the body's x axis (of a link from start to end) against {model.plane[0]}, turns counted"
    return {"angle": (("time", "body"), np.stack(each, axis=1), about("rad", first))}


def _marker_outputs(solution: BodyResult, markers: Sequence[str]) -> dict[str, Variable]:
    vectors = {
        "marker_position": (solution.position, "m", "marker, world axes"),
        "marker_velocity": (solution.velocity, "m/s", "velocity of the marker, world axes"),
        "marker_acceleration": (solution.acceleration, "m/s^2", "acceleration of the marker, world axes"),
    }
    return {
        name: (("time", "marker", "axis"), _stacked(markers, output, len(solution.t), 3), about(units, meaning))
        for name, (output, units, meaning) in (vectors.items() if markers else ())
    }


def _joint_outputs(solution: BodyResult) -> dict[str, Variable]:
    elements, nt = _elements(solution), len(solution.t)
    drifts = {name: solution.drift.by_joint(name) for name in elements}
    position = _stacked(elements, lambda name: drifts[name].position[:, None], nt, 1)[:, :, 0]
    velocity = _stacked(elements, lambda name: drifts[name].velocity[:, None], nt, 1)[:, :, 0]
    worst = "largest residual of the joint's rows"
    rate = "rate of the joint coordinate; of a spherical joint the relative angular velocity, second body's joint axes"
    made = {
        "coordinate": _by_coordinate(solution, solution.coordinate, "rad or m", "joint coordinate; angles count turns"),
        "coordinate_rate": _by_coordinate(solution, solution.coordinate_rate, "rad/s or m/s", rate),
        "joint_position_drift": (("time", "joint"), position, about("m or 1", f"{worst}, position level")),
        "joint_velocity_drift": (("time", "joint"), velocity, about("m/s or 1/s", f"{worst}, velocity level")),
    }
    return made if solution.settings.get("without_mass") else made | _reactions(solution, elements)


def _reactions(solution: BodyResult, elements: Sequence[str]) -> dict[str, Variable]:
    reactions, nt = {name: solution.reaction(name) for name in elements}, len(solution.t)
    force = _stacked(elements, lambda name: reactions[name].force, nt, 3)
    torque = _stacked(elements, lambda name: reactions[name].torque, nt, 3)
    on_second = "on the second body, world axes, at the joint point"
    return {
        "reaction_force": (("time", "joint", "axis"), force, about("N", f"joint force {on_second}")),
        "reaction_torque": (("time", "joint", "axis"), torque, about("N m", f"joint torque {on_second}")),
    }


def _efforts(solution: BodyResult) -> tuple[dict[str, Variable], list[str]]:
    """What force elements do, NaN where a run that was loaded has no function; and names of the coordinates they act along."""
    nt, made, labels = len(solution.t), [], []
    for force in solution.mechanism.model.forces:
        n = force.coordinates
        labels += [force.name] if n == 1 else [f"{force.name}[{k}]" for k in range(n)]
        if isinstance(force.function, MissingFunction):
            made.append((*np.full((2, nt, 3), np.nan), *np.full((2, nt), np.nan), *np.full((3, nt, n), np.nan)))
            continue
        effort = solution.effort(force.name)
        along = (
            np.reshape(np.zeros(0) if part is None else part, (nt, n))
            for part in (effort.coordinate, effort.rate, effort.value)
        )
        made.append((effort.force, effort.torque, effort.power, effort.energy, *along))
    force_, torque, power, energy, coordinate, rate, value = zip(*made, strict=True)
    on_second = "on the second (or only) body, world axes, at the point where it acts"
    vector, each, all_ = ("time", "force_element", "axis"), ("time", "force_element"), ("time", "effort_along")
    return {
        "effort_force": (vector, np.stack(force_, axis=1), about("N", f"force of the element {on_second}")),
        "effort_torque": (vector, np.stack(torque, axis=1), about("N m", f"torque of the element {on_second}")),
        "effort_power": (each, np.stack(power, axis=1), about("W", "power of the element on all bodies")),
        "effort_energy": (each, np.stack(energy, axis=1), about("J", "energy stored in the element")),
        "effort_coordinate": (
            all_,
            np.concatenate(coordinate, axis=1),
            about("m or rad", "length or coordinate it acts along"),
        ),
        "effort_rate": (all_, np.concatenate(rate, axis=1), about("m/s or rad/s", "its rate")),
        "effort": (all_, np.concatenate(value, axis=1), about("N or N m", "tension, or effort along the joint coordinate")),
    }, labels


def _signals(solution: BodyResult) -> dict[str, Variable]:
    """Effort and power of drivers, and of force elements whose function there is, by the names of signals."""
    model = solution.mechanism.model
    known = [force.name for force in model.forces if not isinstance(force.function, MissingFunction)]
    made: dict[str, Variable] = {}
    for name in (*(driver.name for driver in model.drivers), *known):
        effort, (what, unit) = solution.effort(name), effort_kind(model, name)
        if what and effort.value is not None:
            made[name] = ("time",), effort.value, about(unit, f"{what} of {name}")
        made[f"{name}.power"] = ("time",), effort.power, about("W", f"power of {name} on all bodies")
    return made


def _minimal_outputs(solution: BodyResult) -> dict[str, Variable]:
    """Of a run in minimal coordinates; the basis is in `solution.minimal`."""
    if "basis" not in solution.more:
        return {}
    minimal, along = solution.minimal, ("time", "independent")
    return {
        "s": (along, minimal.s, about("m or rad", "independent coordinates, integrals of s_dot")),
        "s_dot": (along, minimal.s_dot, about("m/s or rad/s", "independent velocities in the basis of the tangent space")),
        "s_dot_jump": (("time",), minimal.jump, about("m/s or rad/s", "largest change of an s_dot within one step so far")),
    }


def _by_coordinate(solution: BodyResult, output: Callable[[str], Array], units: str, meaning: str) -> Variable:
    """One column per coordinate of every joint; the number of coordinates differs from joint to joint."""
    nt = len(solution.t)
    joints = [joint.name for joint in solution.mechanism.model.joints if joint.coordinates]
    columns = [values if values.ndim > 1 else values[:, None] for values in map(output, joints)]
    return ("time", "joint_coordinate"), np.concatenate([np.zeros((nt, 0)), *columns], axis=1), about(units, meaning)


def time_series(solution: Result) -> dict[str, Variable]:
    drift = solution.drift
    series = {} if solution.settings.get("without_mass") else _energies(solution)
    series |= {
        "position_drift": (drift.position, "m or 1", "largest constraint residual, position level"),
        "velocity_drift": (drift.velocity, "m/s or 1/s", "largest constraint residual, velocity level"),
    }
    return {name: (("time",), values, about(units, meaning)) for name, (values, units, meaning) in series.items()}


def _energies(solution: Result) -> dict[str, tuple[Array, str, str]]:
    energy = solution.energy
    return {
        "kinetic_energy": (energy.kinetic, "J", "kinetic energy"),
        "potential_energy": (energy.potential, "J", "potential energy of gravity and springs"),
        "external_work": (energy.external_work, "J", "work of drivers and of forces without potential since t = 0"),
        "total_energy": (energy.total, "J", "kinetic + potential - external work, constant in an exact solution"),
    }


def attributes(solution: Result) -> dict[str, Any]:
    """What explains the numbers; dictionaries as JSON text, so that every format holds them."""
    mechanism = solution.mechanism
    return {
        "model": mechanism.model.name,
        "model_hash": mechanism.model.hash,
        "status": solution.status,
        "message": solution.message,
        "settings": json.dumps(encode(solution.settings)),
        "versions": json.dumps(solution.versions),
        "citations": ", ".join(solution.citations),
        "events": json.dumps(encode(solution.events)),
        "reactions_not_unique": ", ".join(mechanism.not_unique),
    }


def system_dataset(solution: LagrangianResult) -> xarray.Dataset:
    """Dimensions: time, coordinate, row ("rod.1"). Units are those of the user's Lagrangian."""
    import xarray

    mechanism = solution.mechanism
    coordinates: dict[str, Any] = {
        "time": ("time", solution.t, {"units": "s", "long_name": "time"}),
        "coordinate": ("coordinate", np.array(mechanism.model.coordinates, dtype=object)),
        "row": ("row", np.array([name.rstrip(".") for name in mechanism.row_names()], dtype=object)),
    }
    over = ("time", "coordinate")
    variables = {
        "q": (over, solution.q, about("as given", "coordinates")),
        "velocity": (over, solution.u, about("as given", "velocities")),
        "acceleration": (over, solution.evaluated.acceleration, about("as given", "accelerations")),
        "multiplier": (("time", "row"), solution.evaluated.lam, about("as given", "multipliers, M v' = h + A^T lam")),
        "residual": (("time", "row"), solution.evaluated.g_dot, about("as given", "residual of the rows, velocity level")),
        **time_series(solution),
    }
    return xarray.Dataset(variables, coordinates, attributes(solution))
