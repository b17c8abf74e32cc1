"""User functions behind one compiled slot: laws of force elements, invariants.

Each is looked at once at the start and compiled by Numba, once per content; one that Numba cannot compile runs as plain Python,
slower by two orders of magnitude, and a warning says so. What a function raises is kept and raised again by `simulate`.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import prod
from typing import Any, Literal

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.callback_derivatives import differentiated
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.one_element import ask_plainly
from dalembert.compilation.user_calls import KEEPS, RAISED, UNFINISHED, Entry, one_of
from dalembert.compilation.user_functions import fresh, identity
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.source import uses_time
from dalembert.model.calls import Call
from dalembert.model.elements import Force
from dalembert.model.serialise import MissingFunction

_KEPT = 256
_not_compiled: OrderedDict[str, tuple[Callable[..., Any], str]] = OrderedDict()  # by key, and why
_found_right: OrderedDict[str, None] = OrderedDict()  # by keys, tables and start
_made: OrderedDict[tuple[object, ...], Any] = OrderedDict()  # by what is in them


def _shorten(known: OrderedDict[Any, Any]) -> None:
    while len(known) > _KEPT:
        known.popitem(last=False)


class SlowFunctionWarning(UserWarning):
    """A user function runs as plain Python."""


class Callbacks:
    """The user functions of a mechanism and of a formulation as one callback for the kernels.

    rows : "bends" when traced constraints come with d(G u + g_t)/dq, "turns" with how their rows turn along the motion
    compiled : what is passed to the kernels;  traced : source of traced constraints and motions in it
    slow : names of functions that run as plain Python
    differenced : of those whose derivatives were asked for and are not exact
    of_time : whether something may depend on time in a way that nobody has declared
    kept : of every function of a force element its number, where its numbers begin in what a workspace keeps of them, how many
        it is given, how many it gives; none where looks at functions are not enough;  room : for all of these numbers
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
        self.differenced: list[str] = []
        self._mechanism, self._elements = mechanism, mechanism.functions
        self._nq, self._nu = mechanism.nq, mechanism.nu
        self._invariants = list(invariants)
        self._entries = [_force(k, element) for k, element in enumerate(self._elements)]
        keys = [entry.key for entry in self._entries]
        self._look_once(keys)
        self._entries += [_invariant(k, function, mechanism) for k, function in enumerate(invariants)]
        self._keys = [*keys, *(entry.key for entry in self._entries[len(keys) :])]
        sources = {"": mechanism.row_source, "bends": mechanism.bend_source, "turns": mechanism.turn_source}
        self.traced = sources[rows]
        *self._places, self.room = accumulate((entry.size for entry in self._entries[: len(self._elements)]), initial=0)
        rows_of_time = uses_time(self.traced)
        self.of_time = bool(mechanism.functions) or rows_of_time
        asked = [] if rows_of_time else zip(self._entries, self._places, strict=False)
        self.kept = np.array([(e.number, at, e.at, prod(e.call.output)) for e, at in asked], dtype=np.int64).reshape(-1, 4)
        self.compiled = self._compile()

    @property
    def current(self) -> bool:
        """Whether all functions are known by their content, run compiled, and are still what they were."""
        known = not any(key.startswith("id ") for key in self._keys)
        return known and not self.slow and [entry.key for entry in self._entries] == self._keys

    @property
    def error(self) -> tuple[str, BaseException] | None:
        """What a function raised in this thread, with the element's name."""
        return getattr(RAISED, "error", None)

    @error.setter
    def error(self, value: tuple[str, BaseException] | None) -> None:
        RAISED.error = value

    def with_room(self, W: Array) -> Array:
        """A workspace that keeps what functions of force elements were given and gave last."""
        if self.room == 0 or W[-1] == KEEPS:
            return W
        return np.concatenate([W, np.zeros(self.room), [KEEPS]])

    def unfinished(self, W: Array) -> str | None:
        """Name of the compiled user function that raised: what it raised does not say so."""
        return next((entry.name for entry in self._entries if UNFINISHED + entry.number in W), None)

    def forces_at(self, t: float, x: Array) -> dict[str, Array]:
        """What each function of a force element returns at a state, by name; NaN where it raises."""
        values = {}

        def keep(k: int, t: float, W: list[float], s: int) -> int:
            entry = self._entries[k]
            values[entry.name] = np.full(entry.call.output, np.nan)
            with np.errstate(all="ignore"):
                try:
                    values[entry.name] = np.asarray(entry.called(t, W, s), dtype=float).reshape(entry.call.output)
                except Exception:  # the function is the user's
                    return T.CALLBACK_FAILED
            return T.OK

        if self._elements:
            ask_plainly(self._mechanism, t, x, keep)
        return values

    def _look_once(self, keys: Sequence[str]) -> None:
        """Look at every function at the start, unless they were found right there before."""
        mechanism = self._mechanism
        tables = (mechanism.I, mechanism.F, mechanism.x_0, np.array(mechanism.t_0))
        same = "".join(keys) + hashlib.sha256(b"".join(table.tobytes() for table in tables)).hexdigest()
        if keys and same not in _found_right:
            ask_plainly(mechanism, mechanism.t_0, mechanism.x_0, self._look)
            if not any(key.startswith("id ") for key in keys):
                _found_right[same] = None
                _shorten(_found_right)

    def _look(self, k: int, t: float, W: list[float], s: int) -> int:
        """What a function gives at the start, refused where it is not what it should be."""
        entry = self._entries[k]
        value = entry.look(t, W, s)
        W[s + entry.at : s + entry.at + len(value)] = value.tolist()
        return T.OK

    def invariant(self, k: int, t: float, x: Array) -> float:
        """Value of the user's invariant k at one state."""
        return float(self._invariants[k](t, x[: self._nq], x[self._nq : self._nq + self._nu]))

    def compiled_for(self, signature: Any) -> Any:
        """The callback for numbers of any kind (kernels/base/slots.py), as rates ask it: without invariants.

        `differenced` <- functions whose derivatives are not exact
        """
        asked = self._entries[: len(self._elements)]
        if not asked:
            return row_callback(self.traced, signature)
        made, self.differenced = differentiated(asked, self.traced, self.compiled, signature)
        return made

    def _compile(self) -> Any:
        """One callback that chooses by number, the rows of traced constraints included."""
        from dalembert.kernels.base.compiler import COMPILING, JIT

        if not self._entries:
            return row_callback(self.traced)
        if not JIT:
            return self._chosen(["" for _ in self._entries], plain=True)
        keys = self._keys
        told = (*keys, self.traced, len(self._elements), *(entry.form for entry in self._entries))
        if told in _made:
            _made.move_to_end(told)
            return _made[told]
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
        if not self.slow and not any(key.startswith("id ") for key in keys):
            _made[told] = made
            _shorten(_made)
        return made

    def _find_slow(self, keys: Sequence[str], problem: Exception) -> None:
        reasons = [entry.why_not() for entry in self._entries]
        if not any(reasons):
            reasons = [str(problem).strip().partition("\n")[0]] * len(reasons)
        for entry, key, reason in zip(self._entries, keys, reasons, strict=True):
            if reason is not None:
                _not_compiled[key] = entry.function, reason
        _shorten(_not_compiled)

    def _chosen(self, keys: Sequence[str], *, plain: bool = False) -> Any:
        from numba import objmode

        from dalembert.kernels.base.compiler import generated
        from dalembert.kernels.base.slots import CALLBACK_SIGNATURE

        lines, slow, room = ["def callback(k, t, W, s):"], [], self.room + 1
        for i, (entry, key) in enumerate(zip(self._entries, keys, strict=True)):
            body = ["status = 0", *entry.lines(f"f{i}")]
            if plain:
                body = [f"status = f{i}(k, t, W, s)"]
            elif key in _not_compiled:
                body = ["with objmode(status='int64'):", f"    status = f{i}(k, t, W, s)"]
            if i < len(self._elements):
                kept = f"W[W.size + {self._places[i] - room} + i] = W[s + i]"
                body += [
                    f"if s < W.size - {room} and W[W.size - 1] == {KEEPS!r}:",
                    f"    for i in range({entry.size}):",
                    f"        {kept}",
                ]
            body.append("return status")
            slow.append(plain or key in _not_compiled)
            lines += [f"    if k == {entry.number}:", *(f"        {line}" for line in body)]
        lines.append("    return rows(k, t, W, s)" if self.traced else "    return 0")

        def given(module: str) -> dict[str, Any]:
            names: dict[str, Any] = {
                "objmode": objmode,
                "one": one_of(),
                "functions": [entry.function for entry in self._entries],
            }
            for i, entry in enumerate(self._entries):
                names[f"f{i}"] = entry.plain() if slow[i] else fresh(entry.function, module)
            if self.traced:
                names["rows"] = generated(self.traced, "callback", CALLBACK_SIGNATURE)
            return names

        # a plain function is called as it is, so only its identity tells it from others
        plainly = [f"{identity(entry.function)} {entry.at} {entry.arguments} {entry.call.output}" for entry in self._entries]
        told = [plainly[i] if slow[i] else key for i, key in enumerate(keys)]
        known = not any(key.startswith("id ") for key in told)
        told.append(hashlib.sha256(self.traced.encode()).hexdigest())
        source = "\n".join([*lines, ""])
        return generated(source, "callback", CALLBACK_SIGNATURE, given=given, content="\n".join(told), on_disk=known)


def row_callback(source: str, signature: Any = None) -> Any:
    """The callback of traced constraints and functions of time alone; source : "" for none."""
    from dalembert.kernels.base.compiler import bind, generated
    from dalembert.kernels.base.slots import CALLBACK_SIGNATURE, no_callback

    wanted = signature or CALLBACK_SIGNATURE
    return generated(source, "callback", wanted) if source else bind(no_callback, wanted)


def _force(number: int, element: Force) -> Entry:
    """The function of a force element."""
    call = element.call
    assert call is not None
    if isinstance(call.function, MissingFunction):
        call.function()  # raises and names what the file could not hold
    return Entry(number, f"{element.noun} {element.name!r}", element.name, call)


def _invariant(number: int, function: Callable[..., Any], mechanism: Mechanism) -> Entry:
    """An invariant, looked at."""
    name, nq, nu = getattr(function, "__name__", f"invariant {number}"), mechanism.nq, mechanism.nu
    rest = int(mechanism.I[T.NX]) - nq - nu
    entry = Entry(T.FIRST_INVARIANT + number, f"invariant {name!r}", name, Call(function, ((nq,), (nu,)), ()), rest)
    entry.look(mechanism.t_0, np.append(mechanism.x_0, 0.0), 0)
    return entry
