"""Progress of anything longer than a second, on stderr and only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from inspect import signature
from types import TracebackType
from typing import Any

from dalembert.errors import ModelError
from dalembert.model.validation import shown

ProgressFunction = Callable[[float, float], None]


class Progress:
    """`update(t, t_end)` after every chunk; a bar appears after one second."""

    def __init__(
        self,
        show: bool | ProgressFunction | None,
        label: str = "simulating",
        where: str = "t = {task.completed:.4g} of {task.total:.4g} s",
    ) -> None:
        self._function = show if callable(show) else None
        if callable(show):
            try:
                signature(show).bind(0.0, 1.0)
            except TypeError:
                raise ModelError(f"progress is {shown(show)}; give a function of (t, t_end)") from None
            except ValueError:  # a builtin that does not tell its arguments
                pass
        self._show = show
        self._label, self._where = label, where
        self._start = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def update(self, t: float, t_end: float) -> None:
        """Report that the run has reached t of t_end."""
        if self._function is not None:
            self._function(t, t_end)
        elif self._bar is not None or (time.perf_counter() - self._start > 1.0 and self._wanted):
            if self._bar is None:
                self._open(t_end)
            self._bar.update(self._task, completed=t)

    @property
    def _wanted(self) -> bool:
        return self._show is True or (self._show is None and sys.stderr is not None and sys.stderr.isatty())

    def _open(self, t_end: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn(self._where),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self._label, total=t_end)

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()


class Clock:
    """Wall time by part."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.parts[name], self._last = now - self._last, now
