"""The runs of an ensemble in compiled code: in blocks on several threads, trees several at a time side by side."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compiled_loops import compiled
from dalembert.errors import ModelError
from dalembert.formulations.run import Run
from dalembert.integrators.advance import Advance
from dalembert.integrators.integrator import Integrator
from dalembert.integrators.slopes import NEVER
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import COUNTERS, V_GUARD
from dalembert.kernels.time.records import KEPT, KEPT_FROM, RUNS_RECORD, STEPS_RECORD
from dalembert.run.progress import Progress
from dalembert.run.side_by_side import SAFETY, group_of, tables


class Work:
    """All runs in blocks, each block one call of compiled code in one of several threads.

    x : where every run ended;  start : where it began;  out : saved states;  errors : what user functions raised
    """

    def __init__(
        self,
        run: Run,
        tables: tuple[Array, Array],
        integrator: Integrator,
        starts: Array,
        t_end: float,
        save_at: Array,
        threads: int | None,
    ) -> None:
        """tables : constants and fresh workspaces, one row for all runs or one for each"""
        self.x, (self._F, self._W_0) = starts, tables
        count, n = self.x.shape
        self.advance = Advance(run, integrator, 0.0, self.x[0], t_end, save_at)
        self.advance.bundle.at_slopes = NEVER  # many short runs
        self.start = self.x.copy()
        self.kept = np.tile(self.advance.kept, (count, 1))
        self.out = np.full((count, len(save_at), n), np.nan)
        self.status = np.full(count, T.NOT_RUN, dtype=np.int64)
        self.counters = np.zeros((count, run.lanes * (COUNTERS.width + V_GUARD)))
        self.errors: dict[int, tuple[str, BaseException]] = {}
        self._save_at, self.t_end = save_at, t_end
        self._stop = np.zeros(1, dtype=np.int64)
        self._next = 0
        self._lock = threading.Lock()
        self._threads = min(_threads(threads), count)
        if run.callbacks.slow:
            self._threads = 1  # plain Python holds the interpreter

    @property
    def stopped(self) -> bool:
        """Whether Ctrl-C ended it."""
        return bool(self._stop[0])

    @property
    def accepted(self) -> npt.NDArray[np.int64]:
        """Steps of every run."""
        return self._column("accepted")

    @property
    def saved(self) -> npt.NDArray[np.int64]:
        """States that every run has saved."""
        return self._column("saved")

    def _column(self, label: str) -> npt.NDArray[np.int64]:
        return self.kept[:, STEPS_RECORD.fields[label][1] - KEPT_FROM]

    def go_side_by_side(self, bar: Progress) -> None:
        """Runs in groups whose members share their steps, where that can be done; a group that fails leaves them as they were.

        Groups follow from the order of the runs alone, so that results do not depend on threads.
        """
        advance, todo = self.advance, np.flatnonzero(self.status == T.NOT_RUN)
        group = group_of(advance.run, self._F, advance.integrator, len(todo))
        if group is None:
            return
        starts, integrator = group.gather(self.x[todo]), replace(advance.integrator, safety=SAFETY * advance.integrator.safety)
        members = todo[: group.lanes * len(starts)].reshape(-1, group.lanes)
        own = (group.F[None], group.W[None])
        if len(self._F) > 1:
            own = tables(self._F[members], np.broadcast_to(self._W_0, (len(self.x), self._W_0.shape[1]))[members])
        work = Work(group, own, integrator, starts, self.t_end, self._save_at, self._threads)
        work.go(bar)
        self._stop = work._stop
        done = work.status == T.OK
        for k in range(group.lanes):
            mine = members[done, k]
            for name in ("x", "start", "out"):
                getattr(self, name)[mine] = group.lane(getattr(work, name), k)[done]
            for name in ("kept", "status"):
                getattr(self, name)[mine] = getattr(work, name)[done]
            self.counters[mine] = np.split(work.counters[done], group.lanes, axis=1)[k]

    def go(self, bar: Progress) -> None:
        """Until all runs have ended, or Ctrl-C."""
        compiled("ensemble")
        run = self.advance.run
        with ThreadPoolExecutor(self._threads) as pool:
            waiting = {pool.submit(self._worker) for _ in range(self._threads)}
            try:
                while waiting:
                    done, waiting = wait(waiting, timeout=0.1)
                    bar.update(run.lanes * int(np.sum(self.status != T.NOT_RUN)), run.lanes * len(self.x))
                    for future in done:
                        future.result()
            except BaseException as problem:
                self._stop[0] = 1
                if not isinstance(problem, KeyboardInterrupt):
                    raise

    def _block(self) -> tuple[int, int]:
        """Runs that a thread takes next: fewer towards the end, so that no thread waits long for another."""
        with self._lock:
            first, left = self._next, len(self.x) - self._next
            size = 1 if self.advance.run.callbacks.slow else min(max(1, left // (8 * self._threads)), 64)
            self._next += min(size, left)
            return first, self._next

    def _worker(self) -> None:
        from dalembert.kernels.base.bundles import Bundle
        from dalembert.kernels.base.views import System

        advance, run, n = self.advance, self.advance.run, self.x.shape[1]
        kernel, callbacks, current = compiled("ensemble"), run.callbacks, np.zeros(1, dtype=np.int64)
        steps, system = advance.bundle.copy(), System(run.I, self._F[0], self._W_0[0].copy())
        steps.y, steps.out_t = np.zeros(n), np.zeros(len(self._save_at))
        for label, array in advance.integrator.workspace(run).items():
            setattr(steps, label, array)
        runs = Bundle(
            RUNS_RECORD,
            **{label: getattr(self, label) for label in ("x", "start", "kept", "status", "counters")},
            **{"out_x": self.out, "F": self._F, "W_0": self._W_0, "stop": self._stop, "current": current},
            spare=np.zeros((3, n)),
            max_steps=advance.integrator.max_steps,
        )
        while not self._stop[0]:
            k, last = first, _ = self._block()
            if first == last:
                return
            while k < last:
                try:
                    kernel(k, last, runs, steps, system)
                    if callbacks.error is not None:
                        self.errors[k], callbacks.error = callbacks.error, None
                    k = last
                except Exception as problem:  # kernels raise nothing: this comes from a compiled user function
                    name = callbacks.unfinished(system.W)
                    if name is None:
                        raise
                    k = int(current[0])
                    self.errors[k], self.kept[k] = (name, problem), steps.words[KEPT]
                    self.status[k] = T.CALLBACK_FAILED
                    k += 1


def _threads(wanted: int | None) -> int:
    """One per core that this process may use, unless told otherwise."""
    if wanted is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
        raise ModelError(f"threads is {wanted!r}; give a positive whole number")
    return wanted
