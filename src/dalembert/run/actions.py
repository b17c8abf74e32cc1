"""What an event does: locks and unlocks joints, frees and closes joints and drivers, changes numbers of forces, pushes bodies,
sets velocities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.phases import (
    Numbers,
    Phase,
    as_numbers,
    change,
    check_names,
    coordinates_of,
    parameters_of,
    with_velocities,
)
from dalembert.errors import ModelError
from dalembert.model.editing import arguments_of
from dalembert.model.elements import Driver, Force, Joint
from dalembert.model.model import Model
from dalembert.model.validation import shown, vector


@dataclass(frozen=True, init=False)
class _Named:
    """An action on joints or drivers, by name."""

    names: tuple[str, ...]

    def __init__(self, *names: object) -> None:
        object.__setattr__(self, "names", tuple(getattr(name, "name", name) for name in names))
        if not names:
            raise ModelError(f"{type(self).__name__}: got no name; give those of joints or drivers")

    def check(self, owner: str, model: Model) -> None:
        """Refuse names that the model does not have."""
        kinds = (Joint,) if isinstance(self, Lock | Unlock) else (Joint, Driver)
        check_names(f"{owner}: {type(self).__name__}", model, self.names, kinds)


class Lock(_Named):
    """Hold all coordinates of joints where they are, by drivers that are called "lock of NAME"."""

    def next(self, phase: Phase, mechanism: Mechanism, t: float, x: Array) -> Phase:
        """The phase that follows."""
        made = {name: coordinates_of(mechanism, name, t, x) for name in self.names if name not in phase.locked}
        for name in self.names:
            if name in phase.free:
                raise ModelError(f"Lock: joint {name!r} is free; close it before it is locked")
            if not mechanism.model.joint(name).coordinates:
                raise ModelError(f"Lock: joint {name!r} has no coordinates to hold; free and close it instead")
        return replace(phase, locked={**phase.locked, **made})


class Unlock(_Named):
    """Let go what `Lock` holds."""

    def next(self, phase: Phase, mechanism: Mechanism, t: float, x: Array) -> Phase:
        return replace(phase, locked={name: values for name, values in phase.locked.items() if name not in self.names})


class Free(_Named):
    """Take joints and drivers out of force; the coordinates of a joint go on being counted."""

    def next(self, phase: Phase, mechanism: Mechanism, t: float, x: Array) -> Phase:
        return replace(phase, free=phase.free | frozenset(self.names))


class Close(_Named):
    """Put joints and drivers that are free into force again, where they meet; velocities jump as their rows demand."""

    def next(self, phase: Phase, mechanism: Mechanism, t: float, x: Array) -> Phase:
        return replace(phase, free=phase.free - frozenset(self.names))


@dataclass(frozen=True, init=False)
class Change:
    """Other numbers of a force element from then on: `Change("spring", stiffness=80.0)`, by argument of its verb, or by name
    among the `parameters` of its law. What it stores changes with them; the report has the energy."""

    name: str
    numbers: Mapping[str, Numbers]

    def __init__(self, name: object, /, **numbers: object) -> None:
        object.__setattr__(self, "name", getattr(name, "name", name))
        owner = f"Change of {self.name!r}"
        if not numbers:
            raise ModelError(f"{owner}: got no numbers; give those of its verb, stiffness=80.0, or of its parameters")
        object.__setattr__(self, "numbers", {key: as_numbers(f"{owner}: {key}", value) for key, value in numbers.items()})

    def check(self, owner: str, model: Model) -> None:
        """Refuse an element that the model does not have, and numbers that it does not take."""
        check_names(f"{owner}: Change", model, (self.name,), (Force,))
        force = model._elements[self.name]
        assert isinstance(force, Force)
        for key in parameters_of(model, self.name):
            if key in self.numbers and key in arguments_of(force):
                raise ModelError(
                    f"{owner}: Change: {key!r} is an argument and a parameter of {self.name!r}; give the parameter another name"
                )
        try:
            change(model.copy(), self.name, self.numbers)
        except ModelError as problem:
            raise ModelError(f"{owner}: Change: {problem}") from None

    def next(self, phase: Phase, mechanism: Mechanism, t: float, x: Array) -> Phase:
        """The phase that follows."""
        own = {**phase.changed.get(self.name, {}), **self.numbers}
        return replace(phase, changed={**phase.changed, self.name: own})


@dataclass(frozen=True)
class Push:
    """An impulse [N s] on a body, world axes, at a point in its own axes, and an angular one [N m s], world axes."""

    body: str
    impulse: npt.ArrayLike = (0.0, 0.0, 0.0)
    point: npt.ArrayLike = (0.0, 0.0, 0.0)
    angular: npt.ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", getattr(self.body, "name", self.body))
        for label in ("impulse", "point", "angular"):
            object.__setattr__(self, label, vector("Push", label, getattr(self, label)))

    def check(self, owner: str, model: Model) -> None:
        """Refuse a body that the model does not have."""
        model._moving_body(f"{owner}: Push", self.body)

    def velocities(self, mechanism: Mechanism, t: float, x: Array) -> Mapping[str, Any]:
        """What the body would have without joints."""
        state, body = mechanism.state(t, x), mechanism.model.body(self.body)
        impulse, v = np.asarray(self.impulse, dtype=float), np.asarray(state.velocity(self.body))
        if body.kind == "point":
            return {self.body: v + impulse / body.mass}
        R: Any = state.rotation(self.body)
        w: Any = state.angular_velocity(self.body)
        arm = np.cross(R @ self.point, impulse) + self.angular
        return {self.body: (v + impulse / body.mass, w + R @ np.linalg.solve(body.inertia, R.T @ arm))}


Action = Lock | Unlock | Free | Close | Change | Push | Mapping[Any, Any]


def as_actions(owner: str, given: object) -> tuple[Action, ...]:
    """One action, several, or none, as they were given or returned."""
    if given is None:
        return ()
    listed = tuple(given) if isinstance(given, list | tuple) else (given,)
    for action in listed:
        if not isinstance(action, Lock | Unlock | Free | Close | Change | Push | Mapping):
            raise ModelError(
                f"{owner} is {shown(action)}; give Lock, Unlock, Free, Close, Change, Push, a dict of velocities by body, a"
                " list of these, or a function of the state that returns them"
            )
    return listed


def apply(
    owner: str, actions: tuple[Action, ...], phase: Phase, mechanism: Compiled, t: float, x: Array
) -> tuple[Phase, Array]:
    """The phase and the velocities after some actions, in their order; constraints are not looked at yet."""
    for action in actions:
        if isinstance(action, Mapping):
            x = with_velocities(mechanism, x, owner, action)
            continue
        if not isinstance(mechanism, Mechanism):
            raise ModelError(
                f"{owner}: {type(action).__name__} is for bodies; of a Lagrangian system give a dict of velocities"
            )
        if isinstance(action, Push):
            x = with_velocities(mechanism, x, owner, action.velocities(mechanism, t, x))
        else:
            phase = action.next(phase, mechanism, t, x)
    return phase, x
