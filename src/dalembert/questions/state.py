"""Where a question is asked: a compiled model with a time and a state of it."""

from __future__ import annotations

from dalembert.arrays import Array
from dalembert.compilation.compile import compile
from dalembert.compilation.compiled import Coordinates
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import ModelError
from dalembert.model.model import Model
from dalembert.model.validation import shown


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
