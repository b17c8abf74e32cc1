"""What a linear model can be driven by: the effort of a motor, the factor of a force or torque, the motion of a driver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compile import compile
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError
from dalembert.model.forces.loads import PointForce, Torque
from dalembert.model.forces.on_joints import JointMotor
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Polynomial
from dalembert.model.validation import nearest
from dalembert.results.efforts import effort_of
from dalembert.results.signal_names import effort_kind

AXES = dict(zip("xyz", np.eye(3), strict=True))


def with_input(owner: str, mechanism: Mechanism, name: str, t: float, x: Array) -> Mechanism:
    """The mechanism with an input one unit larger at a state, where functions are replaced by what they give there."""
    model, at = mechanism.model.copy(), mechanism.trajectory(np.array([t]), x[None])
    forces = {force.name: force for force in model.forces}
    load, _, axis = ("", "", "") if name in forces else name.rpartition(".")
    found = forces.get(name) or (forces.get(load) if axis in AXES else None)
    match found:
        case None:
            known = [force.name for force in forces.values() if isinstance(force, JointMotor | PointForce | Torque)]
            known += [driver.name for driver in model.drivers]
            more = nearest(name, known) if known else "the model has none: a motor of effort 0 makes one"
            raise ModelError(f"{owner}: there is no motor, force, torque or driver {name!r}; {more}")
        case JointMotor() if not axis:
            value = effort_of(at, found).value
            assert value is not None
            model._add(replace(found, effort=Constant(float(value[0]) + 1.0), parameters=()))
        case PointForce() | Torque():
            effort = effort_of(at, found)
            value = (effort.force if isinstance(found, PointForce) else effort.torque)[0]
            value = at.rotation(found.body)[0].T @ value if found.frame == "body" else value
            change = AXES[axis] if axis else value if callable(found.value) else np.asarray(found.value)
            if not np.any(change):
                raise ModelError(
                    f"{owner}: {found.noun} {name!r} is zero at this state, and as an input, its factor, does nothing; give"
                    f" {name + '.x'!r}, '.y' or '.z', what is added along an axis"
                )
            model._add(replace(found, **{found.verb: value + change}, factor=None, parameters=()))
        case _:
            raise ModelError(
                f"{owner}: {found.noun} {found.name!r} cannot be the input {name!r}; put a motor of effort 0 beside"
                " it, or a force (0, 0, 0) with the input 'name.x'"
            )
    return compile(model, mechanism.coordinates)


def input_unit(model: Model, name: str) -> str:
    """Of an input; "" of a factor."""
    forces = {force.name: force for force in model.forces}
    load, _, axis = ("", "", "") if name in forces else name.rpartition(".")
    if axis in AXES and load in forces:
        return "N m" if isinstance(forces[load], Torque) else "N"
    driver = next((driver for driver in model.drivers if driver.name == name), None)
    if driver is not None:
        return "rad" if driver.primitive.kind == "A" else "m"
    return effort_kind(model, name)[1] if isinstance(forces.get(name), JointMotor) else ""


def with_motion(mechanism: Mechanism, name: str, t: float, change: tuple[float, float, float]) -> Mechanism:
    """The mechanism with the motion of a driver changed at time t: value, rate and second derivative; at the start by nothing,
    unless that is the time."""
    model = mechanism.model.copy()
    driver = next(driver for driver in model.drivers if driver.name == name)
    before = driver.primitive.motion
    assert before is not None
    coefficients: tuple[float, ...] = (change[0], change[1], 0.5 * change[2])
    if t != 0.0:
        k = np.arange(5)
        rows = [0.0**k, k * 0.0 ** np.maximum(k - 1, 0), 1.0**k, k / t, k * (k - 1) / t**2]
        coefficients = tuple(np.linalg.solve(np.array(rows), [0.0, 0.0, *change]) / t**k)
    moved = replace(driver, primitive=replace(driver.primitive, motion=before + Polynomial(tuple(map(float, coefficients)))))
    model._add(moved)
    return compile(model, mechanism.coordinates)
