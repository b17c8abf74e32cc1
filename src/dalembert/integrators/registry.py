"""Classes of options by name, open to those of others."""

from __future__ import annotations

import re
from dataclasses import is_dataclass
from typing import Any

from dalembert.errors import ModelError


def register(name: str, made: type[Any], base: type[Any], known: dict[str, Any]) -> None:
    """Enter a class of options under a name that no other has."""
    noun = base.__name__.lower()
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ModelError(f"the name of a {noun} is {name!r}; give words of small letters and digits, with '-' between")
    if not isinstance(made, type) or not issubclass(made, base) or not is_dataclass(made):
        raise ModelError(f"{noun} {name!r} is {made!r}; give a dataclass that inherits from {base.__name__}")
    for other, cls in known.items():
        same = (cls.__module__, cls.__qualname__) == (made.__module__, made.__qualname__)  # as where a module is run again
        if (other == name) != same or (cls.__name__ == made.__name__ and not same):
            raise ModelError(f"{noun} {name!r}: {cls.__name__} is registered as {other!r} already; choose another name")
    known[name] = made
