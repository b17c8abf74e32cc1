"""The blocks of a sweep on their way: here, in other processes, or on a cluster, until all are stored.

A task is some blocks, about two seconds of work; it gets numbers and parameters, writes what it computed, and returns how long
it took. One that fails is tried again by itself. Where that fails too, halves of the block are tried until the run at fault is
found; the block is then computed without it.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
import warnings
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from dalembert.errors import ModelError, SimulationError, StoreError
from dalembert.io.sweep_store import SweepStore
from dalembert.kernels.base.told import LISTENERS
from dalembert.run.progress import Progress
from dalembert.simulation.parameters import Table, run_named
from dalembert.simulation.sweep_block import Job, run_blocks, try_runs, warm_up

SECONDS = 2.0  # of a task
_LOOK = 1.0  # seconds after which tasks are looked at, if none ended
_LAST = 10.0  # s, for tasks under way when a sweep ends early
TRIES, LAST_TRIES = 2, 3  # of a block before it is split; of a run before it is blamed
_DIED = "the process that computed it died each time: killed, out of memory, or a crash in compiled code"


@dataclass
class Task:
    """Blocks, with the runs of them that are left out;  failures : of it alone;  pool : number of the one it was given to
    searched : whether runs at fault were looked for
    """

    blocks: list[int]
    left_out: dict[int, str] = field(default_factory=dict)
    failures: int = 0
    pool: int = 0
    searched: bool = False


class Here(Executor):
    """Computes what it is given at once, in this thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **options))
        except Exception as problem:
            future.set_exception(problem)
        return future


def processes(count: int) -> ProcessPoolExecutor:
    """Processes of one thread each, that end with this one and leave Ctrl-C to it."""
    return ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _leave_with_parent)


def _leave_with_parent() -> None:
    import signal

    LISTENERS.append(lambda label: None)  # not each of them is to say that it compiles
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


class Crew:
    """Who computes: an executor, remade where a process of a pool dies."""

    def __init__(self, client: Any) -> None:
        self.client, self.pool = client, 0
        self.executor: Executor
        if client is None:
            self.executor, self.width = Here(), 1
        elif hasattr(client, "get_executor"):  # dask
            self._check_dask()
            threads = sum(client.nthreads().values())
            if not threads:
                warnings.warn("the cluster has no workers; the sweep waits until some come", RuntimeWarning, stacklevel=2)
            self.executor, self.width = client.get_executor(pure=False), max(1, threads)
        elif isinstance(client, Executor):
            self.executor, self.width = client, int(getattr(client, "_max_workers", 0) or os.cpu_count() or 1)
        else:
            raise ModelError(
                f"client is a {type(client).__name__}; give a dask Client or a concurrent.futures.Executor, or nothing to"
                " compute in this process"
            )

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            return self.executor.submit(function, *arguments)
        except BrokenExecutor as problem:
            failed: Future[Any] = Future()
            failed.set_exception(problem)
            return failed
        except RuntimeError as problem:  # shut down
            raise SimulationError(f"the client is gone ({problem})") from problem

    def renew(self, problem: BaseException) -> None:
        """Another pool in the place of one that lost a process."""
        old = self.executor
        if not isinstance(old, ProcessPoolExecutor):
            raise SimulationError(f"the client is gone ({problem})") from problem
        old.shutdown(cancel_futures=True)  # none of its processes writes any more
        made: Any = old
        self.executor = ProcessPoolExecutor(self.width, made._mp_context, made._initializer, made._initargs)
        self.pool += 1

    def check(self, problem: BaseException) -> None:
        """Raise where a task was given up because its client is."""
        if hasattr(self.client, "get_executor"):
            self._check_dask()
        elif isinstance(problem, CancelledError):
            raise SimulationError("the client is gone (it gave up its tasks)") from problem

    def _check_dask(self) -> None:
        if self.client.status != "running":
            raise SimulationError(f"the client is gone (it is {self.client.status})")

    def dismiss(self) -> None:
        if self.pool:
            self.executor.shutdown(wait=False, cancel_futures=True)


class Drive:
    """A sweep on its way."""

    def __init__(self, job: Job, store: SweepStore, table: Table, client: Any, threads: int | None) -> None:
        self.job, self.store, self.table = job, store, table
        self.crew = Crew(client)
        if client is not None and threads is not None:
            raise ModelError("threads: the workers of a client compute with one thread each; leave it out")
        self.threads = threads if client is None else 1  # one of several workers: never threads inside threads
        done = store.done()
        self.stored = sum(last - first for first, last in map(store.rows, done))
        self._missing = (block for block in range(store.blocks) if block not in done)
        self._alone: deque[Task] = deque()  # to be computed with nothing else on its way
        self._waiting: dict[Future[Any], Task] = {}
        self._per_task = 1

    def go(self, bar: Progress) -> bool:
        """Until all blocks are stored; False where Ctrl-C ended it."""
        try:
            self._greet()
            bar.update(self.stored, self.store.runs)
            while self._fill():
                ended, _ = wait(self._waiting, _LOOK, return_when=FIRST_COMPLETED)
                for future in ended | {future for future in self._waiting if future.cancelled()}:  # of these, wait is not told
                    self._take(future, self._waiting.pop(future))
                bar.update(self.stored, self.store.runs)
            return True
        except KeyboardInterrupt:
            return False
        except (StoreError, SimulationError) as problem:
            wait([future for future in self._waiting if not future.cancel()], _LAST)  # what is under way may still be stored
            stored = sum(last - first for first, last in map(self.store.rows, self.store.done()))
            text = f"{problem}; {stored} of {self.store.runs} runs are stored, and the same call goes on with the others"
            raise type(problem)(text) from problem
        finally:
            for future in self._waiting:
                future.cancel()
            self.crew.dismiss()

    def _greet(self) -> None:
        """Whether the workers can do it at all; kernels are compiled on the way."""
        if isinstance(self.crew.executor, ProcessPoolExecutor):
            try:
                pickle.dumps(self.job)
            except Exception as problem:
                raise ModelError(
                    f"the model or an output cannot be sent to other processes ({problem}); define its functions at the top of"
                    " a module, or give a dask Client"
                ) from None
        if self.crew.client is None:
            return
        try:
            self.crew.submit(warm_up, self.job, self._rows(0, 1)).result()
        except BrokenExecutor as problem:
            text = (
                "they die when they get the first run; can they import the model's module? a script needs `if __name__ == ...`"
            )
            raise SimulationError(f"the workers cannot compute: {text}") from problem
        except CancelledError as problem:
            raise SimulationError("the client is gone (it gave up its tasks)") from problem

    def _fill(self) -> bool:
        """Give tasks to the crew, two per worker so that none waits, or the one that has to be alone."""
        most = 1 if self._alone or self.crew.client is None else 2 * self.crew.width
        while len(self._waiting) < most:
            task = self._alone.popleft() if self._alone else Task(list(islice(self._missing, self._per_task)))
            if not task.blocks:
                break
            self._give(task)
            most = 1 if self._alone else most
        return bool(self._waiting)

    def _give(self, task: Task) -> None:
        task.pool = self.crew.pool
        work = [(b, self._rows(*self.store.rows(b)), {r: t for r, t in task.left_out.items()}) for b in task.blocks]
        self._waiting[self.crew.submit(run_blocks, self.job, work, self.threads)] = task

    def _rows(self, first: int, last: int) -> Table:
        return {name: values[first:last] for name, values in self.table.items()}

    def _take(self, future: Future[Any], task: Task) -> None:
        """What became of a task."""
        try:
            runs, seconds = future.result()
        except StoreError:
            raise
        except (Exception, CancelledError) as problem:
            self.crew.check(problem)
            self._failed(task, problem)
        else:
            self.stored += runs
            self._per_task = max(1, min(64, int(SECONDS * len(task.blocks) / max(seconds, 1e-3))))

    def _failed(self, task: Task, problem: BaseException) -> None:
        """Try again, block by block; in the end without the runs at fault."""
        if isinstance(problem, BrokenExecutor) and task.pool == self.crew.pool:
            self.crew.renew(problem)
        if len(task.blocks) > 1 or (isinstance(problem, BrokenExecutor) and self._waiting):  # whose fault it is, is not known
            self._alone.extend(Task([block], task.left_out) for block in task.blocks)
            return
        task.failures += 1
        if task.failures < TRIES:
            self._alone.append(task)
            return
        first, last = self.store.rows(task.blocks[0])
        if task.searched:
            together = "" if task.left_out else " together, though each can alone"
            raise SimulationError(f"runs {first} to {last - 1} cannot be computed{together}: {problem!r}") from problem
        self._alone.append(Task(task.blocks, self._at_fault(first, last, known=True), searched=True))

    def _at_fault(self, first: int, last: int, known: bool = False) -> dict[int, str]:
        """Runs that cannot be computed, by halves;  known : that there is one"""
        alone = last - first == 1
        problem: BaseException | None = None
        for _ in range(0 if known and not alone else LAST_TRIES if alone else 1):
            try:
                self.crew.submit(try_runs, self.job, self._rows(first, last), first).result()
                return {}
            except StoreError:
                raise
            except (Exception, CancelledError) as found:
                self.crew.check(found)
                if isinstance(found, BrokenExecutor):
                    self.crew.renew(found)
                problem = found
        if alone:
            named = run_named(first, {name: values[first] for name, values in self.table.items() if name})
            died = isinstance(problem, BrokenExecutor) or type(problem).__name__ == "KilledWorker"
            return {first: f"{named}: {_DIED if died else repr(problem)}"}
        middle = (first + last) // 2
        return self._at_fault(first, middle) | self._at_fault(middle, last)
