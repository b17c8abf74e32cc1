"""User functions behind one compiled slot: forces, torques, invariants.

Each function is compiled by Numba; one that Numba cannot compile runs as plain Python, slower by two orders of magnitude, and a
warning says so. What a plain function raises is kept and raised again by `simulate`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dalembert.kernels import tables as T
from dalembert.mechanism import Mechanism
from dalembert.model.elements import PointForce
from dalembert.model.serialise import MissingFunction
from dalembert.model.validation import argument_count

Array = npt.NDArray[np.float64]
FIRST_INVARIANT = 1000


class SlowFunctionWarning(UserWarning):
    """A user function runs as plain Python."""


class Callbacks:
    """The user functions of a mechanism and of a formulation as one callback for the kernels.

    rows : "bends" when traced constraints come with d(G u + g_t)/dq, "turns" with how their rows turn along the motion
    compiled : what is passed to the kernels;  error : the exception of a plain Python function, with the element's name
    """

    def __init__(
        self,
        mechanism: Mechanism,
        invariants: Sequence[Callable[..., Any]] = (),
        *,
        rows: Literal["", "bends", "turns"] = "",
    ) -> None:
        self.error: tuple[str, BaseException] | None = None
        self.slow: list[str] = []
        self._nq, self._nu = mechanism.nq, mechanism.nu
        self._nx = int(mechanism.I[T.NX])
        self._invariants = list(invariants)
        self._entries: list[tuple[int, str, Callable[..., Any]]] = []
        for k, force in enumerate(mechanism.functions):
            function = force.force if isinstance(force, PointForce) else force.torque
            assert callable(function)
            self._entries.append((k, force.name, self._force(force.name, function)))
        for k, function in enumerate(invariants):
            name = getattr(function, "__name__", f"invariant {k}")
            self._entries.append((FIRST_INVARIANT + k, name, self._invariant(name, function)))
        sources = {"": mechanism.row_source, "bends": mechanism.bend_source, "turns": mechanism.turn_source}
        self._row_source = sources[rows]
        self.compiled = self._ladder()

    @property
    def compiled_names(self) -> list[str]:
        """Names of the user functions that run compiled: what they raise does not say which of them it was."""
        return [name for _, name, _ in self._entries if name not in self.slow]

    def invariant(self, k: int, t: float, x: Array) -> float:
        """Value of the user's invariant k at one state."""
        return float(self._invariants[k](t, x[: self._nq], x[self._nq : self._nq + self._nu]))

    def _compile(self, name: str, function: Callable[..., Any], wrap: Callable[[Any], Any]) -> Any:
        """The wrapped function compiled for the slot, or a plain Python stand-in."""
        import numba

        from dalembert.kernels.compiler import JIT
        from dalembert.kernels.slots import CALLBACK_SIGNATURE

        if isinstance(function, MissingFunction):
            function()  # raises and names what the file could not hold
        if not JIT:
            return self._guarded(name, wrap(function))
        try:
            inner = function if hasattr(function, "py_func") else numba.njit(function)
            return numba.njit(CALLBACK_SIGNATURE, nogil=True, error_model="numpy")(wrap(inner))
        except Exception as problem:  # numba has several kinds without a common base
            reason = str(problem).strip().splitlines()[0]
            self.slow.append(name)
            warnings.warn(
                f"{name!r} could not be compiled ({reason}); it runs as plain Python, about a hundred times slower",
                SlowFunctionWarning,
                stacklevel=2,
            )
            plain = self._guarded(name, wrap(getattr(function, "py_func", function)))

            def call(k: int, t: float, W: Any, s: int) -> Any:
                with numba.objmode(status="int64"):
                    status = plain(k, t, W, s)
                return status

            return numba.njit(CALLBACK_SIGNATURE)(call)

    def _guarded(self, name: str, wrapped: Callable[..., int]) -> Callable[..., int]:
        def guarded(k: int, t: float, W: Array, s: int) -> int:
            try:
                return wrapped(k, t, W, s)
            except (Exception, KeyboardInterrupt) as problem:  # reported by simulate with the element's name
                self.error = (name, problem)
                return T.CALLBACK_FAILED

        return guarded

    def _force(self, name: str, function: Callable[..., Any]) -> Any:
        if argument_count(function) == 1:

            def wrap(inner: Any) -> Any:
                def of_time(k: int, t: float, W: Array, s: int) -> int:
                    f = inner(t)
                    W[s + 18], W[s + 19], W[s + 20] = f[0], f[1], f[2]
                    return 0

                return of_time
        else:

            def wrap(inner: Any) -> Any:
                def of_state(k: int, t: float, W: Array, s: int) -> int:
                    f = inner(t, W[s : s + 3], W[s + 3 : s + 6], W[s + 6 : s + 15].reshape(3, 3), W[s + 15 : s + 18])
                    W[s + 18], W[s + 19], W[s + 20] = f[0], f[1], f[2]
                    return 0

                return of_state

        return self._compile(name, function, wrap)

    def _invariant(self, name: str, function: Callable[..., Any]) -> Any:
        nq, nu, nx = self._nq, self._nu, self._nx

        def wrap(inner: Any) -> Any:
            def value(k: int, t: float, W: Array, s: int) -> int:
                W[s + nx] = inner(t, W[s : s + nq], W[s + nq : s + nq + nu])
                return 0

            return value

        return self._compile(name, function, wrap)

    def _ladder(self) -> Any:
        """One callback that chooses by number."""
        import numba

        from dalembert.kernels.compiler import JIT, generated
        from dalembert.kernels.slots import CALLBACK_SIGNATURE, as_callback, no_callback

        if not self._entries and not self._row_source:
            return as_callback(no_callback)
        chosen: Any = None
        if self._row_source:
            chosen = generated(self._row_source, "callback", CALLBACK_SIGNATURE)
            if not self._entries:
                return chosen
        for number, _, function in reversed(self._entries):
            chosen = _either(number, function, chosen)
            if JIT:
                chosen = numba.njit(CALLBACK_SIGNATURE, nogil=True)(chosen)
        return chosen


def _either(number: int, function: Any, otherwise: Any) -> Any:
    if otherwise is None:

        def last(k: int, t: float, W: Array, s: int) -> int:
            return int(function(k, t, W, s))

        return last

    def choose(k: int, t: float, W: Array, s: int) -> int:
        if k == number:
            return int(function(k, t, W, s))
        return int(otherwise(k, t, W, s))

    return choose
