"""How everything that a solution has depends on parameters of its model.

    dy/dp = dy/dx S + dy/dp|_x,   S = dx/dp from the kernels (run/tangents.py)

Both terms are differences of the output itself. Along S they are extrapolated once: what remains is h^4 and rounding, about
1e-12 of the output. Between models built for p +- h they are those of its tables (simulation/parametrised.py), good to 1e-9.
Whatever a solution can say has a derivative so: reactions, efforts, energies, functions of the user.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.parts import connected_parts
from dalembert.errors import ModelError
from dalembert.model.validation import nearest, shown
from dalembert.results.later import Later
from dalembert.results.moving import Moving

STEP = 1e-3  # of what a number or a state is
LEVELS = (1.0, 0.5)
# of a derivative: what differences with h and h/2 may differ by before shorter steps are tried; how much shorter, how often;
# what a value is rounded by
_ROUGH, _SHORTER, _TRIES, _ROUNDING = 1e-5, 0.1, 5, 1e-13
_UNSURE, _MUCH_SHORTER, _AGREE, _AGREE_NOISE = 10, 1e-4, 1e-3, 10.0  # the same where nothing tells how small a system is


class Neighbours:
    """A model on both sides of a parameter's value: (h, at p + h, at p - h), with h and h/2, or with one small h alone."""

    pairs: Later[tuple[tuple[float, Any, Any], ...]] = Later()

    def __init__(self, pairs: Callable[[], tuple[tuple[float, Any, Any], ...]]) -> None:
        self.pairs = pairs

    def __getstate__(self) -> dict[str, Any]:
        return {"_pairs": self.pairs}

    def derivative(self, function: Callable[[Any], Array]) -> tuple[Array, Array]:
        """Of a function of what stands on both sides, and how far the last two extrapolations are apart."""
        return extrapolated([(function(above) - function(below)) / (2.0 * h) for h, above, below in self.pairs])


def extrapolated(differences: Sequence[Array]) -> tuple[Array, Array]:
    """Central differences with h, h/2, ... to h -> 0 by Richardson, and the size of the last correction."""
    column, before = list(differences), differences[-1]
    for factor in (4.0**k for k in range(1, len(differences))):
        before, column = column[-1], [(factor * b - a) / (factor - 1.0) for a, b in pairwise(column)]
    return column[0], np.abs(column[0] - before)


@dataclass(eq=False)
class Sensitivities:
    """parameters : all that the model was built with;  names : those with derivatives
    states : (nt, nx, p) dx/dp at the times of the solution;  neighbours : by name, compiled models beside the one that ran
    check : against runs with parameters a little beside: (relative difference, by what part parameters were changed)
    end : where an event stopped the run at the last of its times, rates of the states there and derivatives of that time
    again : the same run with other saved times;  largest : when outputs are largest, and what they are then
    """

    parameters: Mapping[str, Any]
    names: tuple[str, ...]
    states: Array
    neighbours: Mapping[str, Neighbours]
    check: Callable[[], tuple[float, float]] | None = None
    end: Callable[[], tuple[Array, Array]] | None = None
    again: Callable[[tuple[float, ...]], Any] | None = None
    largest: dict[Hashable, tuple[float, float]] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: the check is for who made the run."""
        return self.__dict__ | {"check": None, "again": None, "largest": {}, "end": self.end and partial(tuple, self.end())}

    def peaks(self) -> Any:
        """The run at times when outputs are largest, of those that were asked for; None for none."""
        times = tuple(sorted({t for t, _ in self.largest.values()}))
        return self.again(times) if self.again is not None and times else None

    def number(self, name: str) -> int:
        if name not in self.names:
            raise ModelError(f"the run has no sensitivities by {name!r}; {nearest(name, self.names)}")
        return self.names.index(name)

    def derivative(self, solution: Any, function: Callable[[Any], Array], name: str) -> Array:
        """Of what a function makes of a solution at each of its times, by a parameter."""
        S = self.states[:, :, self.number(name)]
        sizes = typical(solution.mechanism, solution.x)
        return total_derivative(solution.like, function, solution.mechanism, solution.x, S, self.neighbours[name], sizes)

    def slope(self, solution: Any, function: Callable[[Any], float], name: str) -> float:
        """Of one number that a function makes of a whole solution, by a parameter."""
        k, moving = self.number(name), np.zeros(len(solution.t))
        S, beside = self.states[:, :, k].copy(), self.neighbours[name]
        if self.end is not None:
            rate, moved = self.end()
            moving[-1] = moved[k]
            S[-1] += rate * moved[k]
        n, x, whole = len(S), solution.x, (solution.t, moving)
        if (run := self.peaks()) is not None:
            last = (run.t == solution.t[-1])[:, None]  # which moves
            peaks = (np.where(last, a[-1], b) for a, b in ((x, run.x), (S, run.sensitivities.states[:, :, k])))
            x, S = (np.vstack([a, b]) for a, b in zip((x, S), peaks, strict=True))

        def like(mechanism: Compiled, states: Array, *t: Array) -> Any:
            made = solution.like(mechanism, states[:n], *t)
            if run is not None:
                made.peaks = solution.like(mechanism, states[n:], np.where(last[:, 0], made.t[-1], run.t))
            return made

        return float(total_derivative(like, function, solution.mechanism, x, S, beside, typical(solution.mechanism, x), whole))


def typical(mechanism: Any, x: Array) -> Array:
    """(nt, nx) what changes of states are small against: 1 + |x|, but not more than the size of a connected part, and what
    it moves by in a second."""
    sizes = 1.0 + np.abs(x)
    for size, at, moves in _of_parts(mechanism) if isinstance(mechanism, Mechanism) else ():
        sizes[:, at] = np.minimum(sizes[:, at], size)
        sizes[:, moves] = np.minimum(sizes[:, moves], size + np.abs(x[:, moves]).max(axis=(0, 2), initial=0.0)[:, None])
    return sizes


def _of_parts(mechanism: Mechanism) -> list[tuple[float, npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Of each connected part its size at the start, and (bodies, 3 or 2) where positions and velocities are in a state."""
    known: list[Any] | None = mechanism.__dict__.get("_sizes_of_parts")
    if known is None:
        start, joints = mechanism.trajectory(np.zeros(1), mechanism.x_0[None]), mechanism.model.framed
        bodies = dict(zip(mechanism.body_names, mechanism.body_columns, strict=True))
        axes, known = np.arange(3 if mechanism.plane is None else 2), []
        for part in connected_parts(mechanism.model.structure):  # numbers of a variant are not looked at, if they need not be
            points = [start.position(name)[0] for name in part.bodies]
            points += [start.point(joint.first, joint.p_i)[0] for joint in joints if joint.name in part.elements]
            size = float(np.linalg.norm(np.ptp(np.array(points), axis=0))) or Moving(part, start).size or 1.0
            columns = np.array([bodies[name] for name in part.bodies], dtype=np.int64).reshape(-1, 3)
            known.append((size, columns[:, 1, None] + axes, mechanism.nq + columns[:, 2, None] + axes))
        mechanism.__dict__["_sizes_of_parts"] = known  # a run asks for every output and parameter
    return known


def total_derivative(
    like: Callable[[Compiled, Array], Any],
    function: Callable[[Any], Any],
    mechanism: Any,
    x: Array,
    S: Array,
    neighbours: Neighbours,
    sizes: Array,
    whole: tuple[Array, Array] | None = None,
) -> Array:
    """d/dp function(like(mechanism(p), x(p))); like : states of a model as what the function takes

    sizes : (nt, nx) what changes of x are small against
    whole : times and their derivatives, for a function of all of them together that returns one number; else it returns
        something for each
    """
    size = np.max(np.abs(S) / sizes, axis=1, initial=0.0)[:, None]
    if whole:
        size = np.full_like(size, max(size.max(initial=0.0), _sooner(*whole)))
    reach = STEP / np.where(size > 0.0, size, 1.0)  # at each time its own

    def values(found: object) -> Array:
        return _number(found) if whole else _values(found, len(x))

    def ahead(s: float) -> Array:
        moved = () if whole is None else (whole[0] + s * reach[0, 0] * whole[1],)
        return values(function(like(mechanism, x + s * reach * S, *moved)))

    by_state = _by_step(ahead, sure=isinstance(mechanism, Mechanism))
    by_state = by_state / (reach[0, 0] if whole else reach.reshape(-1, *[1] * (by_state.ndim - 1)))
    by_model = neighbours.derivative(lambda other: values(function(like(other, x))))[0]
    return np.asarray(by_state + by_model)


def _by_step(ahead: Callable[[float], Array], *, sure: bool) -> Array:
    """d/ds at s = 0 by differences; where they bend, as outputs do of mechanisms much smaller than 1 m, with shorter steps.

    sure : whether steps are known to be small; far out of a small system differences may agree that are wrong, and a much
        shorter one tells
    """
    found, doubt = np.zeros(()), np.array(np.inf)
    for step in _SHORTER ** np.arange(_TRIES if sure else _UNSURE):
        ends = [(ahead(step * level), ahead(-step * level)) for level in LEVELS]
        new, change = extrapolated([(a - b) / (2.0 * step * level) for (a, b), level in zip(ends, LEVELS, strict=True)])
        better = (change < doubt) | np.isinf(doubt)
        found, doubt = np.where(better, new, found), np.where(better, change, doubt)
        scale = np.max(np.abs(found), axis=0, initial=0.0) if found.ndim else np.abs(found)
        noise = _ROUNDING * np.max(np.abs(ends[-1]), initial=0.0) / step
        if not np.any(doubt > _ROUGH * scale + noise):
            if sure:
                break
            short = _MUCH_SHORTER * step
            told = (ahead(short) - ahead(-short)) / (2.0 * short)
            if not np.any(np.abs(told - found) > _AGREE * scale + _AGREE_NOISE * noise / _MUCH_SHORTER):
                break
            doubt = np.full_like(doubt, np.inf)
    return found


def _sooner(t: Array, moving: Array) -> float:
    """How fast the last time moves, of what it may before it meets the one before it."""
    apart = 0.25 * (t[-1] - t[-2]) if len(t) > 1 else np.inf
    return float(STEP * abs(moving[-1]) / apart)


def _number(found: object) -> Array:
    value = np.asarray(found, dtype=float)
    if value.ndim:
        raise ModelError(f"the function of a solution returned {shown(found)}; let it return one number")
    return value


def _values(found: object, count: int) -> Array:
    values = np.asarray(found, dtype=float)
    if values.ndim < 1 or len(values) != count:
        raise ModelError(f"the output is {shown(found)}; give one value, or several, for each time of the solution")
    return values
