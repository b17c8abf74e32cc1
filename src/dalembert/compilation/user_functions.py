"""What a user's function is made of: its code and everything that the code refers to, helpers included.

Two functions with the same content compute the same, in this process and in the next, so compiled code is kept by content; a
closure value or a global that changes is other content.
"""

from __future__ import annotations

import builtins
import hashlib
from collections.abc import Callable
from copy import deepcopy
from dis import get_instructions
from functools import lru_cache, partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from dalembert.model.references import LIBRARIES, names_in, references
from dalembert.model.validation import plain_function


class _Unknown(Exception):
    """A value that only its identity tells from others."""


# kinds of values; unions written in place are made anew at every call
_PLAIN, _ARRAYS = (bool, int, float, complex, str, bytes), (np.ndarray, np.generic)
_NAMED, _COLLECTIONS = (type, BuiltinFunctionType, np.ufunc), (list, tuple, dict, set, frozenset)


def content(function: object, *, by_id: bool = False) -> str | None:
    """Hash of what a function does, or of a value; None where something in it is known by identity only, unless that does."""
    digest = hashlib.sha256()
    try:
        _feed(digest.update, function, {}, by_id)
    except _Unknown:
        return None
    return digest.hexdigest()


def _feed(add: Callable[[bytes], None], value: Any, seen: dict[int, tuple[int, Any]], by_id: bool = False) -> None:
    """Add a value to a hash: kind, size, contents.

    seen : number and value of what was added, by its id, which is its own as long as it is kept here
    by_id : what is known by identity only is told by that
    """
    if value is None or value is Ellipsis or isinstance(value, _PLAIN):
        text = repr(value)
        add(f"{type(value).__name__} {len(text)} {text}".encode())
        return
    if isinstance(value, _ARRAYS) and not value.dtype.hasobject:
        add(f"array {value.dtype} {value.shape} ".encode() + value.tobytes())
        return
    if isinstance(value, ModuleType):
        add(f"module {value.__name__} ".encode())
        return
    if isinstance(value, _NAMED) or str(getattr(value, "__module__", "")).startswith("numpy"):
        home = str(getattr(value, "__module__", None) or "builtins")
        if home.partition(".")[0] not in LIBRARIES:
            _by_id(add, value, by_id)
            return
        add(f"name {home}.{getattr(value, '__qualname__', getattr(value, '__name__', value))} ".encode())
        return
    if id(value) in seen:
        add(f"again {seen[id(value)][0]} ".encode())
        return
    seen[id(value)] = len(seen), value
    if isinstance(value, _COLLECTIONS):
        parts: list[Any] = list(value.items()) if isinstance(value, dict) else list(value)
        parts = sorted(parts, key=repr) if isinstance(value, set | frozenset) else parts
    elif isinstance(value, CodeType):
        parts = [_code(value)]
    elif isinstance(value, FunctionType):
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__]
        parts += [part for pair in references(value) for part in pair]
    elif isinstance(plain_function(value), FunctionType):
        parts = [sorted((name, repr(option)) for name, option in value.targetoptions.items()), value.py_func]
    else:
        _by_id(add, value, by_id)
        return
    add(f"{type(value).__name__} {len(parts)} {getattr(value, '_fields', '')} ".encode())  # those of a named tuple
    for part in parts:
        _feed(add, part, seen, by_id)


def _by_id(add: Callable[[bytes], None], value: Any, allowed: bool) -> None:
    if not allowed:
        raise _Unknown
    add(f"id {id(value)} ".encode())


@lru_cache(maxsize=1024)
def _code(code: CodeType) -> bytes:
    """Hash of what code does, which never changes."""
    digest = hashlib.sha256()
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    tables = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    _feed(digest.update, (code.co_code, code.co_exceptiontable, counts, tables, *code.co_consts), {})
    return digest.digest()


def identity(function: Callable[..., Any]) -> str:
    """Tells a function from others as long as it lives; a method is made anew by every look at it."""
    if isinstance(function, MethodType):
        return f"id {id(function.__self__)} {id(function.__func__)}"
    return f"id {id(function)}"


def fresh(function: Callable[..., Any], module: str) -> Any:
    """The function, and the compiled helpers it calls, as Numba functions of a module that have not been compiled yet.

    Numba keeps the values of globals that a function had when it was first compiled. Indices are checked against bounds.
    """
    import numba

    if not isinstance(plain_function(function), FunctionType):
        raise TypeError(f"it is a {type(function).__name__}, not a function")
    made: dict[int, Any] = {}

    def remade(value: Any, *, helper: bool = True) -> Any:
        plain = plain_function(value)
        if not isinstance(plain, FunctionType) or (helper and plain is value):
            return value
        if id(plain) in made:
            return made[id(plain)]
        space: dict[str, Any] = {"__name__": module, "__builtins__": builtins}
        cells = tuple(CellType() for _ in plain.__closure__ or ())
        copy = FunctionType(plain.__code__, space, plain.__name__, plain.__defaults__, cells or None)
        copy.__kwdefaults__, copy.__qualname__, copy.__module__ = plain.__kwdefaults__, plain.__qualname__, module
        options = {**getattr(value, "targetoptions", {}), "nopython": True, "boundscheck": True}
        made[id(plain)] = compiled = numba.jit(**options)(copy)
        for name in names_in(plain.__code__) & plain.__globals__.keys():
            space[name] = remade(plain.__globals__[name])
        for cell, given in zip(cells, plain.__closure__ or (), strict=True):
            cell.cell_contents = remade(given.cell_contents)
        return compiled

    return remade(function, helper=False)


_TRUSTED = (*LIBRARIES, "dalembert", "typing", "functools", "itertools", "collections")  # do not change, and keep nothing
# of what reads a file or asks somebody, the same call may give something else tomorrow
_ASKING = frozenset(
    ("open", "input", "eval", "exec", "globals", "load", "loads", "loadtxt", "genfromtxt", "fromfile", "memmap")
)
_ASKING |= {"from_yaml", "mesh", "read_text", "read_bytes", "read_csv", "environ", "getenv", "import_module", "__import__"}


@lru_cache(maxsize=1024)
def _imports(code: CodeType) -> bool:
    """Whether code imports something while it runs that may change."""
    names = [step.argval for step in get_instructions(code) if step.opname == "IMPORT_NAME"]
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return any(name.partition(".")[0] not in _TRUSTED for name in names) or any(map(_imports, inner))


class Surroundings:
    """What a function takes from outside itself, as it was: closure values, globals, helpers.

    known : whether that is all it can depend on, but for its arguments
    """

    def __init__(self, function: object) -> None:
        self._taken: list[tuple[Any, str, Any, Any]] = []
        self._given: list[tuple[Any, Any]] = []  # values that are the arguments of functions, and copies
        self._seen: set[int] = set()
        self.known = self._take(function)

    def unchanged(self) -> bool:
        """Whether all of it is still what it was."""
        return all(
            (space.cell_contents if name == "" else space.get(name)) is value and (copy is None or _alike(value, copy))
            for space, name, value, copy in self._taken
        ) and all(_alike(value, copy) for value, copy in self._given)

    def _take(self, value: Any) -> bool:
        """Whether a value is known, with all that it refers to."""
        if value is None or isinstance(value, _PLAIN) or id(value) in self._seen:
            return True
        self._seen.add(id(value))
        if isinstance(value, list | tuple | set | frozenset):
            return all(map(self._take, value))
        if isinstance(value, dict):
            return all(map(self._take, (*value.keys(), *value.values())))
        if isinstance(value, partial):
            return self._take(value.func) and self._arguments(value.args, value.keywords)
        home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or type(value).__module__
        if str(home).partition(".")[0] in _TRUSTED:
            frozen = getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False)
            made = isinstance(
                value, ModuleType | FunctionType | BuiltinFunctionType | type | np.ufunc | np.ndarray | np.generic
            )
            return made or frozen or str(home).startswith("numpy")
        if not isinstance(value, FunctionType):
            return False
        cells = [(cell, "", cell.cell_contents) for cell in value.__closure__ or ()]
        names, spaces = names_in(value.__code__), [value.__globals__]
        found: list[tuple[Any, str, Any]] = [*cells, *((vars(value), name, part) for name, part in vars(value).items())]
        while spaces:
            space = spaces.pop()
            for name in names & space.keys():
                part = space[name]
                if isinstance(part, ModuleType) and part.__name__.partition(".")[0] not in _TRUSTED:
                    spaces += [vars(part)] if id(part) not in self._seen else []
                    self._seen.add(id(part))
                found.append((space, name, part))
        told = (part for _, _, part in found if not isinstance(part, ModuleType))
        if names & _ASKING or _imports(value.__code__):
            return False
        if not self._arguments(value.__defaults__, value.__kwdefaults__) or not all(map(self._take, told)):
            return False
        copies = _copies([part for _, _, part in found])
        self._taken += [(*where, copy) for where, copy in zip(found, copies or (), strict=False)]
        return copies is not None

    def _arguments(self, given: tuple[Any, ...] | None, by_name: dict[str, Any] | None) -> bool:
        """Whether arguments are known that a function has without being given them."""
        values = [*(given or ()), *(by_name or {}).values()]
        if not all(map(self._take, values)) or (copies := _copies(values)) is None:
            return False
        self._given += [(value, copy) for value, copy in zip(values, copies, strict=True) if copy is not None]
        return True


def _copies(values: list[Any]) -> list[Any] | None:
    """Copies to compare with later; None where something cannot be copied, as lists of modules, locks, files."""
    try:
        return [_copied(value) for value in values]
    except Exception:
        return None


def _copied(value: Any) -> Any:
    """A copy of what can change without becoming another object."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    return deepcopy(value) if isinstance(value, list | dict | set | tuple) else None


def _alike(value: Any, copy: Any) -> bool:
    try:
        return bool((value.shape, value.tobytes()) == copy if isinstance(value, np.ndarray) else value == copy)
    except ValueError:  # arrays within lists
        return False
