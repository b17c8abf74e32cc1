"""What a linear model can be driven by: the effort of a motor, the factor of a force or torque, the motion of a driver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.compilation.compile import compile
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError
from dalembert.model.forces.loads import PointForce, Torque
from dalembert.model.forces.on_joints import JointMotor
from dalembert.model.motions import Constant, Motion, Polynomial
from dalembert.model.validation import nearest


def with_input(owner: str, mechanism: Mechanism, name: str) -> Mechanism:
    """The mechanism with an input one unit larger."""
    model = mechanism.model.copy()
    known = [force.name for force in model.forces if isinstance(force, JointMotor | PointForce | Torque)]
    found = next((force for force in model.forces if force.name == name), None)
    match found:
        case None:
            known += [driver.name for driver in model.drivers]
            more = nearest(name, known) if known else "the model has none: add_motor(..., 0.0) makes one"
            raise ModelError(f"{owner}: there is no motor, force, torque or driver {name!r}; {more}")
        case JointMotor() if isinstance(found.effort, Motion):
            model._add(replace(found, effort=found.effort + Constant(1.0)))
        case PointForce() | Torque() if not callable(found.value):
            factor = Constant(2.0) if found.factor is None else found.factor + Constant(1.0)
            model._add(replace(found, factor=factor))
        case _:
            raise ModelError(
                f"{owner}: {found.noun} {name!r} cannot be an input; give a motor whose effort is no function, or "
                f"a force or torque of three numbers: "
                f"{', '.join(map(repr, known)) or 'the model has none'}"
            )
    return compile(model, mechanism.coordinates)


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
