"""Functions of the user: what they are given beside the state, and how they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dis import get_instructions
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.validation import plain_function, shown, user_function

UserFunction = Callable[..., object]
Parameters = Mapping[str, npt.ArrayLike]


@dataclass(frozen=True, eq=False)
class Parameter:
    """A number, vector or matrix that a user's function is given by name; `values` in the order of rows."""

    name: str
    shape: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def value(self) -> float | Array:
        """As it was given."""
        return np.reshape(self.values, self.shape) if self.shape else self.values[0]


@dataclass(frozen=True, eq=False)
class Call:
    """How a user's function is called: function(t, *inputs, **parameters); of_time : without the inputs.

    inputs, output : shapes of what it is given after t, and of what it returns
    """

    function: UserFunction
    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    parameters: tuple[Parameter, ...] = ()
    of_time: bool = False

    @property
    def numbers(self) -> tuple[float, ...]:
        """All parameters one behind the other."""
        return tuple(value for parameter in self.parameters for value in parameter.values)

    @property
    def reads_time(self) -> bool:
        """Whether its first argument is used, as far as its code tells."""
        code = getattr(plain_function(self.function), "__code__", None)
        if code is None:
            return True
        used = (op.argval if isinstance(op.argval, tuple) else (op.argval,) for op in get_instructions(code))
        return any(code.co_varnames[0] in names for names in used)

    @property
    def wanted(self) -> str:
        """What it should return, in words."""
        alone = {(): "one number", (1,): "one number", (3,): "three numbers", (2, 3): "force and torque, three numbers each"}
        return alone.get(self.output) or f"{self.output[0]} numbers"

    def __call__(self, t: float, *inputs: Array) -> object:
        """Its value, by plain Python."""
        given = {p.name: p.value for p in self.parameters}
        return plain_function(self.function)(t, *(() if self.of_time else inputs), **given)

    def named(self, owner: str) -> str:
        """The function in messages."""
        name = getattr(plain_function(self.function), "__name__", type(self.function).__name__)
        return f"{owner}: its function {name!r}"

    def checked(self, owner: str, value: Any, more: str = "") -> Any:
        """What it returned, a number as an array of one where that is asked for; refused where it has another shape or is no
        number; more : to say of what it should return."""
        try:
            array = np.asarray(value)
        except ValueError:  # parts of different lengths
            raise ModelError(f"{self.named(owner)} returned {shown(value)}; return {self.wanted}{more}") from None
        if self.output == (1,):
            array = np.atleast_1d(array)
        if array.shape != self.output or array.dtype.kind not in "iuf":
            got = f"{shown(value)}, of shape {np.shape(value)}"
            raise ModelError(f"{self.named(owner)} returned {got}; return {self.wanted}{more}")
        return array


def parameters_of(owner: str, function: object, forms: Mapping[int, str], parameters: object) -> tuple[Parameter, ...]:
    """Those of a function that is one of the forms, {number of arguments: text}, beside them."""
    given = user_function(owner, function, forms, parameters)
    return tuple(Parameter(name, array.shape, tuple(array.ravel().tolist())) for name, array in given.items())
