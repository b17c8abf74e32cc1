"""What a linear model can be driven by: the effort of a motor, the factor of a force or torque, one unit larger."""

from __future__ import annotations

from dataclasses import replace

from dalembert.compilation.compile import compile
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError
from dalembert.model.forces.loads import PointForce, Torque
from dalembert.model.forces.on_joints import JointMotor
from dalembert.model.motions import Constant, Motion
from dalembert.model.validation import nearest


def with_input(owner: str, mechanism: Mechanism, name: str) -> Mechanism:
    """The mechanism with an input one unit larger."""
    model = mechanism.model.copy()
    known = [force.name for force in model.forces if isinstance(force, JointMotor | PointForce | Torque)]
    found = next((force for force in model.forces if force.name == name), None)
    match found:
        case None:
            more = nearest(name, known) if known else "the model has no motor, force or torque: add_motor(..., 0.0) makes one"
            raise ModelError(f"{owner}: there is no motor, force or torque {name!r}; {more}")
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
