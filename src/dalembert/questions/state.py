"""Where a question is asked: a compiled model with a time and a state of it, how large it is, states as a `Solution`."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compile import compile
from dalembert.compilation.compiled import Coordinates
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.parts import spread
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import ModelError
from dalembert.formulations.evaluation import Evaluated
from dalembert.formulations.jet import Jet
from dalembert.integrators.explicit_rk import DOP853
from dalembert.model.model import Model
from dalembert.model.validation import shown
from dalembert.simulation.simulate import describe
from dalembert.simulation.solution import Solution


def compiled(owner: str, model: object, coordinates: Coordinates = "absolute") -> Mechanism:
    """A model of bodies in tables; one that is compiled already stays as it is, told in absolute or planar coordinates."""
    if isinstance(model, Mechanism):
        return model.as_told
    if not isinstance(model, Model):
        raise ModelError(f"{owner}: the model is {shown(model)}; give a Model of bodies")
    return compile(model, coordinates)


def state_of(owner: str, model: object, state: object, coordinates: Coordinates = "absolute") -> tuple[Mechanism, float, Array]:
    """The mechanism, a time, and a state; the initial one where none is given."""
    if state is None:
        mechanism = compiled(owner, model, coordinates)
        return mechanism, 0.0, mechanism.x_0.copy()
    if not isinstance(state, Trajectory) or len(state.t) != 1:
        raise ModelError(f"{owner}: state is {shown(state)}; give one of a solution, solution(t)")
    own = model.model if isinstance(model, Mechanism) else model
    if not isinstance(own, Model) or own.hash != state.mechanism.model.hash:
        raise ModelError(f"{owner}: the state belongs to another model; give the model that was simulated")
    if (state.mechanism.coordinates == "planar") != (coordinates == "planar"):
        raise ModelError(
            f"{owner}: the state is told in {state.mechanism.coordinates!r} coordinates, not {coordinates!r} ones; "
            f"simulate with coordinates={coordinates!r}"
        )
    assert isinstance(state.mechanism, Mechanism)
    return state.mechanism.as_told, float(state.t[0]), state.x[0].copy()


def size_of(mechanism: Mechanism, x: Array) -> float:
    """How far bodies, joints and ends of forces of a state are from each other [m]."""
    return spread(Trajectory(mechanism, np.zeros(1), x[None])) or 1.0


def closing(size: float) -> Jet:
    """What brings poses onto the constraints of a mechanism of a size [m], as far as double precision goes."""
    tolerance = 1e-13 * min(size, 1.0)
    return Jet(tolerance=tolerance, velocity_tolerance=tolerance)


def solution_of_states(
    mechanism: Mechanism, t: Array, x: Array, evaluated: Evaluated | None = None, told: dict[str, object] | None = None
) -> Solution:
    """(nt, nx) states at times t; told : settings that results should know."""
    settings = describe(Jet(), DOP853(), mechanism, float(t[-1])) | (told or {})
    return Solution(mechanism, t, x, settings=settings, evaluated=evaluated, formulation=Jet(), integrator=DOP853())
