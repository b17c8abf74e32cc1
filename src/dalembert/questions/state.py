"""Where a question is asked: a compiled model with a time and a state of it, how large it is, states as a `Solution`."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.between_mechanisms import told_by
from dalembert.compilation.compile import compile, usual_coordinates
from dalembert.compilation.compiled import Coordinates, OneState
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


def compiled(owner: str, model: object, coordinates: Coordinates | None = None) -> Mechanism:
    """A model of bodies in tables; one that is compiled already stays as it is, told in absolute or planar coordinates, unless
    the other ones are asked for.

    coordinates : default those that are usual for the model, absolute where something leaves its plane
    """
    if isinstance(model, Mechanism):
        told = model.as_told
        return told if coordinates in (None, told.coordinates) else compile(told.model, coordinates, t_start=told.given_at)
    if not isinstance(model, Model):
        raise ModelError(f"{owner}: the model is {shown(model)}; give a Model of bodies{_of_state(owner, model)}")
    try:
        return compile(model, coordinates)
    except ModelError:
        if coordinates is not None or usual_coordinates(model) == "absolute":
            raise
    return compile(model, "absolute")  # refuses it, too, where it is no matter of the plane


_STATES = {"linearise": "linearise(model, at=state)", "equations": "equations(model, state)"}


def _of_state(owner: str, given: object) -> str:
    """Where a state stands in the place of its model."""
    return f", and its state behind it: {_STATES[owner]}" if isinstance(given, OneState) and owner in _STATES else ""


def state_of(
    owner: str, model: object, state: object, coordinates: Coordinates | None = None
) -> tuple[Mechanism, float, Array]:
    """The mechanism, a time, and a state; the initial one where none is given.

    coordinates : default those of a state or of a compiled model, else those that are usual for the model
    """
    if state is None:
        mechanism = compiled(owner, model, coordinates)
        return mechanism, 0.0, mechanism.x_0.copy()
    if not isinstance(state, Trajectory) or len(state.t) != 1:
        raise ModelError(f"{owner}: state is {shown(state)}; give one of a solution, solution(t)")
    own = model.model if isinstance(model, Mechanism) else model
    if not isinstance(own, Model):
        compiled(owner, model)
    elif own.hash != state.mechanism.model.hash:
        raise ModelError(f"{owner}: the state belongs to another model; give the model that was simulated")
    t, x, given = float(state.t[0]), state.x[0].copy(), state.mechanism.as_told
    wanted = coordinates or (model.as_told if isinstance(model, Mechanism) else given).coordinates
    if wanted == given.coordinates:
        return given, t, x
    mechanism = compiled(owner, model, wanted)
    return mechanism, t, told_by(mechanism, given, x[None])[0]


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
