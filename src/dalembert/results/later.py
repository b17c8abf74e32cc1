"""Attributes of a result that are made when they are first asked for: a short run costs no more than its states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

Value = TypeVar("Value")


class Later(Generic[Value]):
    """An attribute that may be set to a function without arguments, which is called when it is first asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._place = f"_{name}"

    def __get__(self, result: Any, owner: type) -> Value:
        kept = result.__dict__
        value = kept.get(self._place)  # None where it was never set
        if callable(value):
            value = kept[self._place] = value()
        return cast(Value, value)

    def __set__(self, result: Any, value: Value | Callable[[], Value]) -> None:
        result.__dict__[self._place] = value
