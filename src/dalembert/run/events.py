"""Events: roots of a function of the state; record them, act, or stop there.

Every step is looked at on its dense output, at five times or more: so many that no body turns by more than half a radian
between two of them. Where values come as near to zero as they change, intervals are halved until the function is as straight
there as it is far from zero, or an interval is 1 / FINEST of the first ones. All sign changes found are located to rounding, in
order of time. What is not found: an even number of sign changes between two looks while the values there stay away from zero by
more than they change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations.run import Run
from dalembert.integrators.advance import Advance
from dalembert.model.model import Model
from dalembert.model.validation import shown
from dalembert.run.actions import Action, as_actions
from dalembert.run.steps import one_step

FINEST = 4096  # halvings of an interval stop at this part of it
TURN = 0.5  # angle by which a body turns between two looks [rad]
MOST = 4096  # looks at a step
LEFT = 1e-9  # part of its largest value by which the function of an event that acted must leave zero to count again
TOGETHER = 1e-12  # events so near to each other stop a run, or act, at the same time [s]


@dataclass(frozen=True)
class Event:
    """Where `function(state)` changes sign.

    function : of a `State` (state.time, state.position("slider"), state.coordinate("A"), ...; of a Lagrangian system
        state["x"], state["x'"]), returning a number; also of what a solution has: state.reaction("B").force, state.energy, ...
    direction : 0 any change, 1 only rising, -1 only falling;  stop : end the run there
    action : what happens there: `Lock`, `Unlock`, `Free`, `Close`, `Push`, a dict with new velocities by body, v or (v, w) in
        world axes (of a Lagrangian system by coordinate), a list of these, or a function of the state that returns them

    Looked for within every step, not only at its ends; a function that touches zero without changing its sign is no event.
    After an action velocities are made to fit all constraints, by impulses of their rows; what the energy changes by counts as
    external work.
    """

    function: Callable[[Any], float]
    name: str = "event"
    stop: bool = False
    direction: int = 0
    action: Action | Sequence[Action] | Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ModelError(f"event {self.name!r}: function is {self.function!r}; give a function of the state")
        if self.direction not in (-1, 0, 1):
            raise ModelError(f"event {self.name!r}: direction is {self.direction!r}; give -1, 0 or 1")
        if not callable(self.action):
            as_actions(f"event {self.name!r}: action", self.action)

    def check(self, model: object) -> None:
        """Refuse an action on what the model does not have."""
        for action in () if callable(self.action) else as_actions(f"event {self.name!r}: action", self.action):
            if isinstance(model, Model) and not isinstance(action, Mapping):
                action.check(f"event {self.name!r}", model)

    def actions(self, state: Any) -> tuple[Action, ...]:
        """What is to be done at a state."""
        owner = f"event {self.name!r}: action"
        if not callable(self.action):
            return as_actions(owner, self.action)
        try:
            given = self.action(state)
        except Exception as problem:
            raise SimulationError(f"{owner} raised {problem!r} at t = {state.time:.6g} s", time=state.time) from problem
        return as_actions(f"{owner}: what it returned", given)

    def value(self, state: Any) -> float:
        """The function at one state; what it raises is reported with the event's name and time."""
        t = state.time
        try:
            value = self.function(state)
        except Exception as problem:
            text = f"event {self.name!r}: its function raised {problem!r} at t = {t:.6g} s"
            raise SimulationError(text, time=t) from problem
        listed = isinstance(value, list | tuple)  # may have no shape
        if listed or np.ndim(value) > 0 or np.asarray(value).dtype.kind not in "iuf":
            text = f"event {self.name!r}: its function returned {shown(value)}" + (
                "" if listed else f", of shape {np.shape(value)}"
            )
            raise SimulationError(f"{text}; return a number that changes sign at the event; the time is state.time", time=t)
        value = float(value)
        if not np.isfinite(value):
            raise SimulationError(f"event {self.name!r}: its function returned {value} at t = {t:.6g} s", time=t)
        return value

    def wanted(self, before: float, after: float) -> bool:
        """True when a change of sign goes in the wanted direction."""
        return self.direction == 0 or (after > before) == (self.direction > 0)


def brackets(value: Callable[[float], float], t: Array, values: Sequence[float]) -> list[tuple[float, float]]:
    """Intervals in which a function changes its sign, in order, from its values at some times.

    Where values come as near to zero as they change, what is curved is halved, down to 1 / FINEST of an interval.
    """
    if len(t) % 2 == 0:
        raise ValueError("an odd number of times is needed")
    found: list[tuple[float, float]] = []
    for k in range(0, len(t) - 2, 2):
        found += _within(value, tuple(t[k : k + 3]), tuple(values[k : k + 3]), (t[k + 2] - t[k]) / FINEST)
    return found


def _within(
    value: Callable[[float], float], t: tuple[float, ...], f: tuple[float, ...], finest: float
) -> list[tuple[float, float]]:
    """The same of three times, with two more between them."""
    changes = max(f) - min(f)
    if min(f) > changes or max(f) < -changes:
        return []
    between = 0.5 * (t[0] + t[1]), 0.5 * (t[1] + t[2])
    t = t[0], between[0], t[1], between[1], t[2]
    f = f[0], value(between[0]), f[1], value(between[1]), f[2]
    if not any(f):  # it stays on zero
        return []
    pairs = list(zip(t, t[1:], f, f[1:], strict=False))
    bend = max(abs(f[k] - 2.0 * f[k + 1] + f[k + 2]) for k in range(3))
    crossed = [(a, b) for a, b, f_a, f_b in pairs if f_a != 0.0 and f_a * f_b <= 0.0]
    clear = all((abs(f_b - f_a) if f_a * f_b < 0.0 else min(abs(f_a), abs(f_b))) > 2.0 * bend for _, _, f_a, f_b in pairs)
    if clear or t[4] - t[0] < finest:
        return crossed
    return _within(value, t[:3], f[:3], finest) + _within(value, t[2:], f[2:], finest)


def root(value: Callable[[float], float], a: float, b: float) -> float | None:
    """The root of a function in (a, b], to rounding, by Brent's method; None where it does not change its sign."""
    from scipy.optimize import brentq

    f_a, f_b = value(a), value(b)
    if f_b == 0.0:
        return b
    if f_a * f_b > 0.0:
        return None
    return float(brentq(value, a, b, xtol=1e-14 * max(1.0, abs(b)), rtol=1e-14))


@dataclass
class Watch:
    """Looks for events within every step, on its dense output, and locates them by the integrator itself.

    seen : (t, x) -> what the functions of events are given, of (n,) states of the run
    largest : |value| of every event's function so far, of the pieces of the run before this one too
    resting : events that have just acted, by number, with the sign of their change: they are looked at again once their
        functions have left zero
    went_on : names of those that start from rest on zero and go on the same way: a ball stopped on the floor that falls on
    """

    run: Run
    events: tuple[Event, ...]
    seen: Callable[[float, Array], Any]
    largest: list[float] = field(default_factory=list)
    resting: dict[int, float] = field(default_factory=dict)
    went_on: list[str] = field(default_factory=list)
    found: list[tuple[str, float]] = field(default_factory=list)
    acting: list[Event] = field(default_factory=list)
    stopped: tuple[float, Array] = (np.nan, np.zeros(0))
    _before: list[float] = field(default_factory=list)
    _sides: dict[int, float] = field(default_factory=dict)

    def start(self, advance: Advance) -> None:
        if self.events:
            advance.keep_interpolant()
            state = self.seen(advance.t, advance.x)
            self._before = [event.value(state) for event in self.events]
            self.largest = [max(abs(v), far) for v, far in zip(self._before, self.largest or self._before, strict=True)]
            if self.resting:
                advance.steps(0)  # finds the size of the first step
            self._sides = {k: self._side(k, sign, advance) for k, sign in self.resting.items()}

    def check(self, advance: Advance) -> tuple[float, Array] | None:
        """Record events of the last step; (time, (n,) state of the run) when one of them stops the run or acts."""
        if not self.events:
            return None
        times = np.linspace(advance.t_old, advance.t, 1 + self._pieces(advance))
        inner = [self.seen(t, advance.inside(t)) for t in times[1:-1].tolist()]
        last = self.seen(advance.t, advance.x)
        recorded: list[tuple[float, int, float]] = []
        for k, event in enumerate(self.events):
            values = [self._before[k], *(event.value(state) for state in inner), event.value(last)]
            self._before[k] = values[-1]
            self.largest[k] = max(self.largest[k], *map(abs, values))
            first, back = self._left_zero(k, values)
            at = partial(self._value, event, advance, exact=False)
            looks, seen = times[first:], values[first:]
            if len(looks) % 2 == 0:  # one more, as intervals are looked at two by two
                between = 0.5 * (looks[0] + looks[1])
                looks, seen = np.insert(looks, 1, between), [seen[0], at(between), *seen[1:]]
            crossed = brackets(at, looks, seen)
            if back and not crossed:
                raise SimulationError(
                    f"event {event.name!r}: its function came back through zero so soon after its action that it could not"
                    " be seen; let the action bring what has become slow to rest (Lock, Close), or stop there"
                )
            for a, b in crossed:
                if event.wanted(at(a), at(b)):
                    recorded.append((self._located(event, advance, a, b), k, float(np.sign(at(b) - at(a)))))
        recorded.sort(key=lambda item: item[0])
        ending = (t for t, k, _ in recorded if self.events[k].stop or self.events[k].action is not None)
        t_stop = next(ending, None)
        together = np.inf if t_stop is None else t_stop + TOGETHER * max(1.0, abs(t_stop))
        self.found += [(self.events[k].name, t) for t, k, _ in recorded if t <= together]
        if t_stop is None:
            return None
        acting = [(k, sign) for t, k, sign in recorded if t_stop <= t <= together]
        self.acting = [self.events[k] for k, _ in acting]
        self.resting |= dict(acting)
        return t_stop, self._state(advance, t_stop, exact=True)

    def _left_zero(self, k: int, values: list[float]) -> tuple[int, bool]:
        """From which of the looks at a step on an event counts: one that has acted, where its function has left zero; and
        whether it has left zero to one side and come back to the other before that look."""
        if k not in self.resting:
            return 0, False
        away = next((i for i, value in enumerate(values) if abs(value) > LEFT * self.largest[k]), None)
        if away is None:
            return len(values) - 1, False
        del self.resting[k]
        if away == 0 or values[away] * self._sides.get(k, 0.0) >= 0.0:
            return away, False
        values[away - 1] = 0.0
        return away - 1, True

    def _side(self, k: int, sign: float, advance: Advance) -> float:
        """To which side of zero the function of an event that has just acted goes: its sign a moment later, 0 for neither."""
        moment, method = min(float(advance.bundle.h), 1e-3), advance.integrator
        half, later, soon, sooner = (
            self.events[k].value(self.seen(t, one_step(self.run, method, advance.t, advance.x, t))) - self._before[k]
            for t in (advance.t + part * moment for part in (0.5, 1.0, 1e-3, 5e-4))
        )
        change = 4.0 * sooner - soon  # by its rate alone: what grows with the square of time falls out
        side = float(np.sign(change)) if abs(change) > 1e-14 * self.largest[k] else 0.0
        if side * sign >= 0.0 and later * sign > 0.0 and abs(later) > 3.0 * abs(half):  # as t^2: it was brought to rest
            self.went_on.append(self.events[k].name)
        return side

    def _pieces(self, advance: Advance) -> int:
        """An even number of pieces of the step: at least four, and so many that nothing turns by more than TURN in one."""
        states = np.array([advance.state, self.run.to_absolute(advance.x_old[None])[0]])
        speed = self.run.mechanism.turning_speed(states)
        return 2 * int(np.clip(np.ceil(speed * (advance.t - advance.t_old) / (2.0 * TURN)), 2, MOST // 2))

    def _located(self, event: Event, advance: Advance, a: float, b: float) -> float:
        """The time of a sign change between a and b: of integrated states, or of the interpolant where only that has one."""
        for exact in (True, False):
            t = root(partial(self._value, event, advance, exact=exact), a, b)
            if t is not None:
                return t
        return b

    def _value(self, event: Event, advance: Advance, t: float, *, exact: bool) -> float:
        return event.value(self.seen(t, self._state(advance, t, exact=exact)))

    def _state(self, advance: Advance, t: float, *, exact: bool) -> Array:
        """The run's state at t within the last step; at its ends as it was accepted."""
        if t >= advance.t:
            return advance.x.copy()
        if t <= advance.t_old:
            return advance.x_old.copy()
        if not exact:
            return advance.inside(t)
        return one_step(self.run, advance.integrator, advance.t_old, advance.x_old, t)
