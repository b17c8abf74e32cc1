"""One user function in the callback slot: where in W it finds its arguments and leaves its value, as source and plain Python.

From W[s] on lie its inputs, its value, its parameters, one behind the other. A workspace that ends with KEEPS has room before
it for what every function of a force element was given and gave last, one function behind the other: see `foreseen` in
kernels/time/watch.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.user_functions import content, fresh, identity
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.model.calls import Call
from dalembert.model.validation import argument_names, plain_function, shown

KEEPS = 8.765432101234567e300
UNFINISHED = 1e15  # and the number of a function, in the place of its value while it runs
RAISED = threading.local()  # .error : what a function raised in this thread, with the element's name


def _place(at: int, shape: tuple[int, ...]) -> str:
    """Source of what lies at W[s + at]."""
    if not shape:
        return f"W[s + {at}]"
    text = f"W[s + {at} : s + {at + prod(shape)}]"
    return text if len(shape) == 1 else f"{text}.reshape{shape}"


@cache
def _caller(arguments: str) -> Any:
    """Plain Python that calls a function with what lies in W."""
    return eval(f"lambda function, t, W, s: function({arguments})")


@cache
def one_of() -> Any:
    """For Numba: the number that a function returned, alone or in an array or tuple of one."""
    from numba import types
    from numba.extending import overload

    def one(value: Any) -> Any:
        return value

    def first(value: Any) -> Any:
        if len(value) != 1:
            raise ValueError("did not return one number")
        return value[0]

    @overload(one)
    def chosen(value: Any) -> Any:
        return first if isinstance(value, types.Array | types.BaseTuple | types.List) else one

    return one


@dataclass(frozen=True, eq=False)
class Entry:
    """number : in the slot;  owner : how messages call its element, or itself;  name : of the element
    gap : numbers between its inputs and its value
    """

    number: int
    owner: str
    name: str
    call: Call
    gap: int = 0

    @property
    def function(self) -> Callable[..., Any]:
        return self.call.function

    @property
    def key(self) -> str:
        """By its content; else by itself and by what it refers to, which its compiled code keeps as it was."""
        known = content(self.function)
        return known or f"{identity(self.function)} {content(plain_function(self.function), by_id=True)}"

    @property
    def form(self) -> tuple[object, ...]:
        """All that the source of its call is made of."""
        call = self.call
        return self.number, self.gap, call.inputs, call.output, call.of_time, *((p.name, p.shape) for p in call.parameters)

    @cached_property
    def at(self) -> int:
        """First place of the value, counted from W[s]."""
        return sum(map(prod, self.call.inputs)) + self.gap

    @property
    def size(self) -> int:
        """Numbers that it is given and gives."""
        return self.at + prod(self.call.output) + len(self.call.numbers)

    @cached_property
    def arguments(self) -> str:
        """Source of its arguments."""
        parts, at = ["t"], 0
        for shape in self.call.inputs:
            parts += [] if self.call.of_time else [_place(at, shape)]
            at += prod(shape)
        at = self.at + prod(self.call.output)
        for parameter in self.call.parameters:
            parts.append(f"{parameter.name}={_place(at, parameter.shape)}")
            at += len(parameter.values)
        return ", ".join(parts)

    def checked(self, value: Any) -> Any:
        """What the function returned, refused where it has another shape or is no number."""
        return self.call.checked(self.owner, value)

    def look(self, t: float, W: Sequence[float] | Array, s: int) -> Array:
        """Its value. Refuse one of another shape, or that is not finite, before anything is compiled for it."""
        with np.errstate(all="ignore"):
            try:
                value = self.called(t, W, s)
            except Exception:  # the run will say so, with what was computed until then
                return np.zeros(0)
        checked: Array = self.checked(value)
        if not np.isfinite(checked).all():
            raise ModelError(f"{self.call.named(self.owner)} returned {shown(value)} at the start; return finite numbers")
        return checked.ravel()

    def called(self, t: float, W: Sequence[float] | Array, s: int) -> Any:
        """Its value, by plain Python."""
        return _caller(self.arguments)(plain_function(self.function), t, np.array(W[s : s + self.size]), 0)

    def lines(self, name: str) -> list[str]:
        """Source of a call."""
        mark, call = f"W[s + {self.at}] = {UNFINISHED + self.number!r}", f"{name}({self.arguments})"
        output = self.call.output
        if not output:
            return [mark, f"W[s + {self.at}] = {call}"]
        if output == (1,):
            return [mark, f"W[s + {self.at}] = one({call})"]
        index = [""] if len(output) == 1 else [f"[{k}]" for k in range(output[0])]
        lengths = [f"len(f) != {output[0]}"] + [f"len(f{k}) != {output[1]}" for k in index if k]
        check = [f"if {' or '.join(lengths)}:", f"    raise ValueError('did not return {self.call.wanted}')"]
        parts = [f"f{k}[{c}]" for k in index for c in range(output[-1])]
        return [mark, f"f = {call}", *check, *(f"W[s + {self.at + k}] = {part}" for k, part in enumerate(parts))]

    def plain(self) -> Callable[[int, float, Array, int], int]:
        """The same call as plain Python; what is raised is kept for `simulate`."""
        caller, function = _caller(self.arguments), plain_function(self.function)

        def call(k: int, t: float, W: Array, s: int) -> int:
            try:
                value = self.checked(caller(function, t, W, s))
            except (Exception, KeyboardInterrupt) as problem:
                RAISED.error = (self.name, problem)
                return T.CALLBACK_FAILED
            W[s + self.at : s + self.at + value.size] = value.ravel()
            return 0

        return call

    def why_not(self) -> str | None:
        """Why Numba cannot compile the function, None if it can."""
        from numba import types

        kinds = [types.float64, types.float64[::1], types.float64[:, ::1]]
        inputs = [kinds[0], *(kinds[len(shape)] for shape in (() if self.call.of_time else self.call.inputs))]
        named = {parameter.name: kinds[len(parameter.shape)] for parameter in self.call.parameters}
        positional = iter(inputs)
        try:
            order = inputs
            if named:
                order = [named[name] if name in named else next(positional) for name in argument_names(self.function)]
            fresh(self.function, __name__).compile(tuple(order))
        except Exception as problem:  # numba has several kinds without a common base
            return str(problem).strip().partition("\n")[0]
        return None
