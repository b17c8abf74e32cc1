"""One integration in compiled chunks: what simulate drives and dense output reuses."""

from __future__ import annotations

import time
from copy import copy
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compiled_loops import compiled, entry
from dalembert.formulations.run import Run
from dalembert.integrators.integrator import Integrator
from dalembert.integrators.slopes import NEVER, Slopes
from dalembert.integrators.tableau import Tableau
from dalembert.kernels.base import tables as T
from dalembert.kernels.time.records import KEPT, STEPS_RECORD

VISITS = (T.VISIT_RATE, T.VISIT_RATE | T.VISIT_PROJECT, T.VISIT_ALL)  # what is done at stages, by `Run.stages`
# which words of a bundle these are: read there they take a tenth of the time that they take by name
_T, _ACCEPTED, _SAVED, _NEXT = (STEPS_RECORD.fields[label][1] for label in ("t", "accepted", "saved", "next"))
LOOKS = 2000  # looks at a user's functions of time in a run, at least: a force that acts longer than two of them is seen


def followed(run: Run, tableau: Tableau) -> dict[str, npt.NDArray[Any]]:
    """Room for what users' functions were asked at the stages of a step, `nodes` of these and which functions: none where every
    look takes an evaluation."""
    if not tableau.seen or not len(run.callbacks.kept) or run.lanes > 1 or run.plain is not run:
        return {}
    calls = np.zeros((18, run.callbacks.room + 1))
    calls[:, -1] = np.nan  # nothing was asked at any time
    return {"calls": calls, "nodes": tableau.nodes.copy(), "functions": run.callbacks.kept}


def _told(integrator: Integrator) -> Any:
    """What a method tells its time loop, whatever the run."""
    try:
        return _known(integrator)
    except TypeError:  # one of somebody else's, whose options may be of any kind
        return _bundle(integrator)


def _bundle(integrator: Integrator) -> Any:
    from dalembert.kernels.base.bundles import Bundle
    from dalembert.kernels.base.slots import address

    tableau = integrator.tableau
    solver, stage_tolerance = integrator.stage_settings
    left, right, free = integrator.rate_rows
    return Bundle(
        STEPS_RECORD,
        **{f"at_{label}": address(part) for label, part in integrator.compiled_parts().items()},
        last=tableau.stages,
        law=integrator.error_law,
        extra=tableau.extra,
        order=tableau.error_order,
        control=integrator.adaptive,
        trend=not integrator.implicit or integrator.error_law == 1,
        solver=solver,
        left=left,
        right=right,
        free=free,
        **{label: getattr(integrator, label) for label in ("rtol", "atol", "safety", "factor_min", "factor_max")},
        stage_tolerance=stage_tolerance,
        step=integrator.step or 0.0,
        gap=tableau.gap if integrator.adaptive else 1.0,
        h=integrator.step or integrator.first_step or 0.0,
        growth=integrator.factor_max,
        have_rate=integrator.by_formulation,
        solved_by=solver,
        h_smallest=np.inf,
        calls=np.zeros((0, 0)),
        nodes=np.zeros((0, 0)),
        functions=np.zeros((0, 4), dtype=np.int64),
        save_t=np.zeros(0),
        out_t=np.zeros(0),
        out_x=np.zeros((0, 0)),
        **{label: getattr(tableau, label) for label in "aced"},
    )


_known = lru_cache(maxsize=32)(_bundle)


@cache
def _inside() -> int:
    from dalembert.kernels.base.slots import address

    return int(address(compiled("inside_step")))


class Advance:
    """The state of an integration between chunks.

    t, x : where it stands;  accepted : steps so far;  saved() : states stored since the last call
    kernel : the compiled time loop;  bundle : what it is told and keeps, see kernels/time/records.py
    save_at : increasing times to save at, or None to save every accepted step
    watched : takes steps beside the times of save_at, None for none
    """

    watched: Watched | None = None
    jacobians_before: int = 0  # of the run that this one goes on with
    cpu_time: float = 0.0  # spent in the compiled loop [s]

    def __init__(self, run: Run, integrator: Integrator, t_0: float, x_0: Array, t_end: float, save_at: Array | None) -> None:
        self.run, self.integrator, self.t_end, self._times = run, integrator, t_end, save_at
        self.kernel, self._given = entry("march"), 0
        span, of_time = t_end - t_0, run.callbacks.of_time
        self.bundle: Any = _told(integrator).copy(
            t_end=t_end,
            n=max(run.size, run.lanes),  # welded bodies have no coordinates: then the external work is watched
            lanes=run.lanes,
            every=save_at is None,
            visit=VISITS[run.stages],
            at_slopes=NEVER if run.stages or (integrator.by_formulation and not run.own_slopes) else 0,
            at_inside=_inside() if save_at is not None or of_time else 0,
            slopes_after=run.slopes_after,
            h_max=min(integrator.max_step, span),
            h_min=1e-14 * max(abs(t_0), abs(t_end)),
            start=t_0,
            look=max(span, abs(t_end)) / LOOKS if of_time else np.inf,
            t=t_0,
            x=x_0.copy(),
            y=x_0.copy(),
            **integrator.workspace(run),
            **(followed(run, integrator.tableau) if integrator.adaptive else {}),
            **({} if save_at is None else {"save_t": save_at}),
        )

    def ask_for_slopes(self) -> None:
        """From now on Jacobians of stages are exact."""
        self._slopes = Slopes(self.run)
        self.bundle.at_slopes = self._slopes.at
        for label, array in self._slopes.arrays.items():
            setattr(self.bundle, label, array)

    def at(self, run: Run, x: Array, kept: npt.NDArray[np.int64]) -> Advance:
        """The same integration of another run, as it stands."""
        other = copy(self)
        other.run, other.bundle = run, self.bundle.copy()
        other.bundle.x, other.bundle.words[KEPT] = x, kept
        return other

    @property
    def kept(self) -> npt.NDArray[np.int64]:
        """What it keeps from one call of the loop to the next."""
        return np.array(self.bundle.words[KEPT])

    @property
    def x(self) -> Array:
        """Where it stands, as a state of the run."""
        x: Array = self.bundle.arrays["x"]
        return x

    @property
    def x_old(self) -> Array:
        """Where the last accepted step began."""
        return np.asarray(self.bundle.y)

    @property
    def t(self) -> float:
        return float(self.bundle.reals.item(_T))

    @property
    def state(self) -> Array:
        """Where it stands, as a state of the mechanism."""
        return np.array(self.run.to_absolute(self.x[None])[0])

    @property
    def step_size(self) -> float:
        """The last accepted step [s]."""
        return float(self.bundle.h_done)

    @property
    def t_old(self) -> float:
        """Where the last accepted step began."""
        return float(self.bundle.t_old)

    def keep_interpolant(self) -> None:
        """From now on every step leaves its dense output for `inside`."""
        self.bundle.keep_dense, self.bundle.at_inside = True, _inside()

    def inside(self, t: float) -> Array:
        """The run's state at a time within the last step, by its dense output, as it is saved but not projected."""
        dense, theta = self.bundle.dense[:-1], (t - self.t_old) / self.step_size
        x = np.zeros_like(self.x)
        for k in range(len(dense) - 1, -1, -1):
            x = (x + dense[k]) * (theta if k % 2 == 0 else 1.0 - theta)
        return np.asarray(self.x_old + x)

    @property
    def accepted(self) -> int:
        return int(self.bundle.words.item(_ACCEPTED))

    def call(self, kernel: Any, *arguments: Any) -> Any:
        """What a kernel returns. Kernels raise nothing, so what they let through comes from a compiled user function."""
        try:
            return kernel(*arguments)
        except Exception as problem:
            name = self.run.callbacks.unfinished(np.append(self.run.W, self.bundle.arrays.get("slopes_W", ())))
            if name is None:
                raise
            self.run.callbacks.error = (name, problem)
            return T.CALLBACK_FAILED

    def steps(self, count: int) -> int:
        """Up to `count` accepted steps; status (TOO_MANY_STEPS: count reached)."""
        b = self.bundle
        waiting = b.words.item(_SAVED)
        room = waiting + count if self._times is None else len(self._times)
        if self.watched is not None:
            room += waiting + self.watched.room(count)
            b.watch = self.watched.stride
        if len(b.arrays["out_t"]) < room:
            t, x = np.empty(room), np.empty((room, len(b.arrays["x"])))
            if waiting:
                t[:waiting], x[:waiting] = b.out_t[:waiting], b.out_x[:waiting]
            b.out_t, b.out_x = t, x
        b.until = self.accepted + count
        begin = time.thread_time()
        status: int = self.call(self.kernel, b, self.run.view)
        if status == T.WANTS_SLOPES:
            self.ask_for_slopes()
            begin = time.thread_time()
            status = self.call(self.kernel, b, self.run.view)
        self.cpu_time += time.thread_time() - begin
        return status

    def to_the_end(self) -> int:
        """All steps, nothing saved; status."""
        status = T.TOO_MANY_STEPS
        while status == T.TOO_MANY_STEPS:
            status = self.steps(1000)
            self.saved()
        return status

    def forget_saved(self) -> None:
        """Give up the room for states that are saved."""
        if self.bundle.arrays["out_x"].size > SMALL:
            self.bundle.out_t, self.bundle.out_x = np.zeros(0), np.zeros((0, len(self.x)))

    def saved(self) -> tuple[Array, Array]:
        """Times and states of the run saved since the last call."""
        b = self.bundle
        k, b.saved = b.words.item(_SAVED), 0
        t, x = b.arrays["out_t"][:k], b.arrays["out_x"][:k]
        if self.watched is None or self._times is None:
            return t.copy(), x.copy()
        given, self._given = self._given, b.words.item(_NEXT)
        asked = self._times[given : self._given]
        places, kept = t.searchsorted(asked), np.zeros(k, dtype=bool)
        kept[places] = True
        beside = ~kept
        self.watched.add(t[beside], x[beside])
        return asked, x[places]


MOST = 1024
SMALL = 10_000  # numbers that may stay


class Watched:
    """Every `stride`-th accepted step, between MOST and MOST / 2 of them in a long run: all steps of a short one."""

    def __init__(self, run: Run, x_0: Array, t_0: float = 0.0) -> None:
        self.stride = 1
        self._run = run
        self._t, self._x = [np.array([t_0])], [x_0[None]]
        self._count = 1

    def room(self, count: int) -> int:
        """Room that the next `count` steps need; the stride grows where they are many."""
        while count > MOST * self.stride:
            self._thin()
        return count // self.stride + 1

    def add(self, t: Array, x: Array) -> None:
        """(k,) times and (k, n) states of the run."""
        self._t.append(t)
        self._x.append(x)
        self._count += len(t)
        while self._count > MOST:
            self._thin()

    def _thin(self) -> None:
        self.stride *= 2
        self._t, self._x = [np.concatenate(self._t)[::2]], [np.concatenate(self._x)[::2]]
        self._count = len(self._t[0])

    def result(self, end: float) -> tuple[Array, Array, dict[str, Array]]:
        """Times up to `end`, states of the mechanism, and what the formulation has beyond them, by name."""
        t, x = np.concatenate(self._t), np.concatenate(self._x)
        t, x = t[t <= end], x[t <= end]
        return t, self._run.to_absolute(x), self._run.more(x)
