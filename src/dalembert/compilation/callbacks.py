"""User functions behind one compiled slot: forces, torques, invariants.

Each is looked at once at the start and compiled by Numba, once per content; one that Numba cannot compile runs as plain Python,
slower by two orders of magnitude, and a warning says so. What a function raises is kept and raised again by `simulate`.
"""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.user_functions import content, fresh, identity
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.source import uses_time
from dalembert.model.elements import Force
from dalembert.model.serialise import MissingFunction
from dalembert.model.validation import argument_count, plain_function, shown

Array = npt.NDArray[np.float64]
FIRST_INVARIANT = 1000
UNFINISHED = 1e15  # and the number of a function, in the place of its value while it runs
_OF_STATE = "t, W[s : s + 3], W[s + 3 : s + 6], W[s + 6 : s + 15].reshape(3, 3), W[s + 15 : s + 18]"
_KEPT = 256
_not_compiled: OrderedDict[str, tuple[Callable[..., Any], str]] = OrderedDict()  # by key, and why
_raised = threading.local()  # .error : what a function raised in this thread


class SlowFunctionWarning(UserWarning):
    """A user function runs as plain Python."""


@dataclass(frozen=True, eq=False)
class _Entry:
    """A user function in the slot: its number there, its element, and where in W it finds its arguments and leaves its value.

    shape : of the value, (3,) or ();  at : first place of the value, counted from W[s]
    """

    number: int
    owner: str
    name: str
    function: Callable[..., Any]
    arguments: str
    shape: tuple[int, ...]
    at: int

    @property
    def key(self) -> str:
        return content(self.function) or identity(self.function)

    def checked(self, value: Any) -> Any:
        """What the function returned, refused where it has another shape or is no number."""
        array = np.asarray(value)
        if array.shape != self.shape or array.dtype.kind not in "iuf":
            what = "three numbers" if self.shape else "one number"
            raise ModelError(f"{self._its_function()} returned {shown(value)}, of shape {array.shape}; return {what}")
        return array

    def look(self, *arguments: Any) -> None:
        """Refuse a value of another shape, or one that is not finite, before anything is compiled for it."""
        with np.errstate(all="ignore"):
            try:
                value = plain_function(self.function)(*arguments)
            except Exception:  # the run will say so, with what was computed until then
                return
        if not np.isfinite(self.checked(value)).all():
            raise ModelError(f"{self._its_function()} returned {shown(value)} at the start; return finite numbers")

    def _its_function(self) -> str:
        name = getattr(plain_function(self.function), "__name__", type(self.function).__name__)
        return f"{self.owner}: its function {name!r}"

    def lines(self, name: str) -> list[str]:
        """Source of a call."""
        mark, call = f"W[s + {self.at}] = {UNFINISHED + self.number!r}", f"{name}({self.arguments})"
        if not self.shape:
            return [mark, f"W[s + {self.at}] = {call}", "return 0"]
        places = ", ".join(f"W[s + {self.at + k}]" for k in range(3))
        check = ["if len(f) != 3:", "    raise ValueError('did not return three numbers')"]
        return [mark, f"f = {call}", *check, f"{places} = f[0], f[1], f[2]", "return 0"]

    def plain(self) -> Callable[[int, float, Array, int], int]:
        """The same call as plain Python; what is raised is kept for `simulate`."""
        arguments = eval(f"lambda t, W, s: ({self.arguments},)")
        function = plain_function(self.function)

        def call(k: int, t: float, W: Array, s: int) -> int:
            try:
                value = self.checked(function(*arguments(t, W, s)))
            except (Exception, KeyboardInterrupt) as problem:
                _raised.error = (self.name, problem)
                return T.CALLBACK_FAILED
            W[s + self.at : s + self.at + value.size] = value
            return 0

        return call

    def why_not(self) -> str | None:
        """Why Numba cannot compile the function, None if it can."""
        from numba import types

        f8, v, m = types.float64, types.float64[::1], types.float64[:, ::1]
        of_state = (f8, v, v, m, v) if self.shape else (f8, v, v)
        try:
            fresh(self.function, __name__).compile((f8,) if self.arguments == "t" else of_state)
        except Exception as problem:  # numba has several kinds without a common base
            return str(problem).strip().partition("\n")[0]
        return None


class Callbacks:
    """The user functions of a mechanism and of a formulation as one callback for the kernels.

    rows : "bends" when traced constraints come with d(G u + g_t)/dq, "turns" with how their rows turn along the motion
    compiled : what is passed to the kernels;  slow : names of functions that run as plain Python
    of_time : whether something may depend on time in a way that nobody has declared
    """

    def __init__(
        self,
        mechanism: Mechanism,
        invariants: Sequence[Callable[..., Any]] = (),
        *,
        rows: Literal["", "bends", "turns"] = "",
    ) -> None:
        self.error = None
        self.slow: list[str] = []
        self._mechanism, self._elements = mechanism, mechanism.functions
        self._nq, self._nu = mechanism.nq, mechanism.nu
        self._invariants = list(invariants)
        self._entries = [_force(k, element, mechanism) for k, element in enumerate(self._elements)]
        self._entries += [_invariant(k, function, mechanism) for k, function in enumerate(invariants)]
        sources = {"": mechanism.row_source, "bends": mechanism.bend_source, "turns": mechanism.turn_source}
        self._row_source = sources[rows]
        self.of_time = bool(mechanism.functions) or uses_time(self._row_source)
        self.compiled = self._compile()

    @property
    def error(self) -> tuple[str, BaseException] | None:
        """What a function raised in this thread, with the element's name."""
        return getattr(_raised, "error", None)

    @error.setter
    def error(self, value: tuple[str, BaseException] | None) -> None:
        _raised.error = value

    def unfinished(self, I: npt.NDArray[np.int64], W: Array) -> str | None:
        """Name of the compiled user function that raised: what it raised does not say so."""
        places = W[I[T.W_CALL] :]
        return next((entry.name for entry in self._entries if places[entry.at] == UNFINISHED + entry.number), None)

    def forces_at(self, t: float, x: Array) -> dict[str, Array]:
        """What each force or torque function returns at a state, by name; NaN where it raises."""
        values = {}
        for entry, element in zip(self._entries, self._elements, strict=False):
            arguments = _arguments(entry, element, self._mechanism, t, x)
            with np.errstate(all="ignore"):
                try:
                    values[entry.name] = np.array(plain_function(entry.function)(*arguments), dtype=float)
                except Exception:  # the function is the user's
                    values[entry.name] = np.full(3, np.nan)
        return values

    def invariant(self, k: int, t: float, x: Array) -> float:
        """Value of the user's invariant k at one state."""
        return float(self._invariants[k](t, x[: self._nq], x[self._nq : self._nq + self._nu]))

    def _compile(self) -> Any:
        """One callback that chooses by number, the rows of traced constraints included."""
        from dalembert.kernels.base.compiler import COMPILING, JIT, generated
        from dalembert.kernels.base.slots import CALLBACK_SIGNATURE, as_callback, no_callback

        if not self._entries:
            if not self._row_source:
                return as_callback(no_callback)
            return as_callback(generated(self._row_source, "callback", CALLBACK_SIGNATURE))
        if not JIT:
            return self._chosen(["" for _ in self._entries], plain=True)
        keys = [entry.key for entry in self._entries]
        with COMPILING:
            try:
                made = self._chosen(keys)
            except Exception as problem:  # numba has several kinds without a common base
                self._find_slow(keys, problem)
                made = self._chosen(keys)
        for entry, key in zip(self._entries, keys, strict=True):
            if key in _not_compiled:
                self.slow.append(entry.name)
                reason = _not_compiled[key][1]
                text = f"{entry.name!r} could not be compiled ({reason}); it runs as plain Python, about a hundred times slower"
                warnings.warn(text, SlowFunctionWarning, stacklevel=2)
        return made

    def _find_slow(self, keys: Sequence[str], problem: Exception) -> None:
        reasons = [entry.why_not() for entry in self._entries]
        if not any(reasons):
            reasons = [str(problem).strip().partition("\n")[0]] * len(reasons)
        for entry, key, reason in zip(self._entries, keys, reasons, strict=True):
            if reason is not None:
                _not_compiled[key] = entry.function, reason
        while len(_not_compiled) > _KEPT:
            _not_compiled.popitem(last=False)

    def _chosen(self, keys: Sequence[str], *, plain: bool = False) -> Any:
        from numba import objmode

        from dalembert.kernels.base.compiler import generated
        from dalembert.kernels.base.slots import CALLBACK_SIGNATURE, as_callback

        lines, slow = ["def callback(k, t, W, s):"], []
        for i, (entry, key) in enumerate(zip(self._entries, keys, strict=True)):
            body = entry.lines(f"f{i}")
            if plain:
                body = [f"return f{i}(k, t, W, s)"]
            elif key in _not_compiled:
                body = ["with objmode(status='int64'):", f"    status = f{i}(k, t, W, s)", "return status"]
            slow.append(plain or key in _not_compiled)
            lines += [f"    if k == {entry.number}:", *(f"        {line}" for line in body)]
        lines.append("    return rows(k, t, W, s)" if self._row_source else "    return 0")

        def given(module: str) -> dict[str, Any]:
            names: dict[str, Any] = {"objmode": objmode, "functions": [entry.function for entry in self._entries]}
            for i, entry in enumerate(self._entries):
                names[f"f{i}"] = entry.plain() if slow[i] else fresh(entry.function, module)
            if self._row_source:
                names["rows"] = generated(self._row_source, "callback", CALLBACK_SIGNATURE)
            return names

        # a plain function is called as it is, so only its identity tells it from others
        told = [identity(entry.function) if slow[i] else keys[i] for i, entry in enumerate(self._entries)]
        known = not any(key.startswith("id ") for key in told)
        told.append(hashlib.sha256(self._row_source.encode()).hexdigest())
        source = "\n".join([*lines, ""])
        made = generated(source, "callback", CALLBACK_SIGNATURE, given=given, content="\n".join(told), on_disk=known)
        return as_callback(made)


def _force(number: int, element: Force, mechanism: Mechanism) -> _Entry:
    """The function of a force element, looked at."""
    function = element.function
    assert function is not None
    if isinstance(function, MissingFunction):
        function()  # raises and names what the file could not hold
    arguments = "t" if argument_count(function) == 1 else _OF_STATE
    entry = _Entry(number, f"{element.noun} {element.name!r}", element.name, function, arguments, (3,), 18)
    entry.look(*_arguments(entry, element, mechanism, 0.0, mechanism.x_0))
    return entry


def _arguments(entry: _Entry, element: Force, mechanism: Mechanism, t: float, x: Array) -> tuple[Any, ...]:
    """What the function of a force element is given at a state."""
    if entry.arguments == "t":
        return (t,)
    given = element.given(mechanism.trajectory(np.array([t]), x[None]))
    return t, *(np.ascontiguousarray(values[0]) for values in given)


def _invariant(number: int, function: Callable[..., Any], mechanism: Mechanism) -> _Entry:
    """An invariant, looked at."""
    name, nq, n = getattr(function, "__name__", f"invariant {number}"), mechanism.nq, mechanism.nq + mechanism.nu
    arguments = f"t, W[s : s + {nq}], W[s + {nq} : s + {n}]"
    entry = _Entry(FIRST_INVARIANT + number, f"invariant {name!r}", name, function, arguments, (), int(mechanism.I[T.NX]))
    entry.look(0.0, mechanism.x_0[:nq].copy(), mechanism.x_0[nq:n].copy())
    return entry
