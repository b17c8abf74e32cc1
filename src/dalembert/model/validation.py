"""Checks of what the user says, one function per kind of value; each returns the value in its normal form.

`owner` names the element in messages ("joint 'knee'"), `label` the argument ("axis").
"""

from __future__ import annotations

import difflib
import inspect
import math
import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, wraps
from itertools import islice
from traceback import walk_tb
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeGuard, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import DalembertError, ModelError
from dalembert.lagrangian.recorded import Number, is_recorded, root
from dalembert.model.guesses import CALLED, ELSEWHERE, NEEDED, OF_METHODS

SLACK = 1e-9  # relative slack for symmetry and the triangle inequality of inertias: rounded but honest data pass
ROUNDING = 8 * 2.0**-52  # a length this close to one counts as one, so that normalising twice changes nothing
MAX_NAME = 200
HUGE = 1e50  # products of a few numbers of a model stay finite
_UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")
_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# what others call the ground
_GROUND = ("world", "base", "earth", "floor", "frame", "fixed", "inertial", "origin", "wall", "none", "0")
PLANE: ContextVar[str] = ContextVar("PLANE", default="")  # of the model whose verb is asked
ABOUT_NORMAL = ("inertia", "angular_velocity", "torque")  # one number in a plane
_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
F = TypeVar("F", bound=Callable[..., Any])
PERPENDICULAR = 1e-6  # largest cosine between tabulated vectors that should be perpendicular


def by_name(function: F, called: str | None = None) -> F:
    """A function that says which names arguments need that were given without, or with another one."""
    parameters, name = inspect.signature(function).parameters, called or function.__name__
    plain = [key for key, parameter in parameters.items() if parameter.kind is not parameter.KEYWORD_ONLY]
    named, told = [key for key in parameters if key not in plain], [key for key in plain if key != "self"]
    needed = [key for key, one in parameters.items() if one.default is one.empty and one.kind not in _ANY_NUMBER]
    kinds = {parameter.kind for parameter in parameters.values()}
    passed_on, any_number = inspect.Parameter.VAR_KEYWORD in kinds, inspect.Parameter.VAR_POSITIONAL in kinds

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        if len(arguments) > len(plain) and not any_number:
            more = ", ".join(f"{key}={shown(value)}" for key, value in zip(named, arguments[len(plain) :], strict=False))
            fix = f", and all else by name: {more}" if more else "; several numbers for one of them go in brackets of their own"
            raise TypeError(f"{name} takes {', '.join(told)}{fix}")
        for key in options.keys() - parameters.keys() if not passed_on else ():
            if key in OF_METHODS and "integrator" in parameters:
                raise TypeError(f"{name} has no argument {key!r}; it is one of methods: integrator=da.{OF_METHODS[key]}")
            hint = ELSEWHERE.get(name, {}).get(key) or nearest(key, [*told, *named])
            raise TypeError(f"{name} has no argument {key!r}; {hint}")
        if missing := [key for key in needed if key not in options and key not in plain[: len(arguments)]]:
            fix = NEEDED.get((name, missing[0]), f"it takes {', '.join(told)}")
            raise TypeError(f"{name} got no {', '.join(missing)}; {fix}")
        try:
            return function(*arguments, **options)
        except DalembertError as problem:
            if _is_ours(problem.__traceback__):
                problem.__traceback__ = None  # what is shown above the message is the user's line, not the way from there
            raise

    return cast(F, checked)


def _is_ours(trace: TracebackType | None) -> bool:
    """Whether no function of the user's was called on the way to an error."""
    return all(frame.f_globals.get("__name__", "").partition(".")[0] == "dalembert" for frame, _ in walk_tb(trace))


def shown(value: object) -> str:
    """A value as it appears in a message: short, and the same for lists, tuples and arrays."""
    text = repr(value.tolist()) if isinstance(value, np.ndarray | np.generic) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def frozen(array: npt.ArrayLike) -> Array:
    """A float64 copy that cannot be written to; of recorded numbers one of these."""
    given: npt.NDArray[Any] = np.asarray(array)
    recorded = given.dtype == object and any(isinstance(entry, Number) for entry in given.ravel().tolist())
    out = np.array(given, dtype=object if recorded else np.float64)
    out.flags.writeable = False
    return out


def element_name(kind: str, name: object) -> str:
    """A non-empty string that a terminal can print."""
    if not isinstance(name, str) or not name.strip():
        raise ModelError(f"{kind}: the name is {shown(name)}; give a non-empty string as first argument")
    return printable(kind, name)


def printable(owner: str, name: str) -> str:
    """A name of at most 200 characters, without those that move the cursor or change what a terminal does."""
    if not (name.isascii() and name.isprintable()) and any(
        unicodedata.category(letter) in _UNPRINTABLE or letter in _BIDI for letter in name[:MAX_NAME]
    ):
        raise ModelError(f"{owner}: the name is {name[:60]!a}, with control characters; leave them out")
    if len(name) > MAX_NAME:
        raise ModelError(f"{owner}: the name {shown(name)} has {len(name)} characters; give at most {MAX_NAME}")
    return name


def check_listed(owner: str, told: Sequence[str], arguments: Sequence[str], count: int, what: str, option: str) -> None:
    """Refuse what is listed twice, and a function that takes more or fewer arguments than an option lists."""
    if twice := [name for k, name in enumerate(told) if name in told[:k]]:
        raise ModelError(f"{owner}: {twice[0]} is listed twice; give different {what}")
    if len(arguments) != count:
        raise ModelError(
            f"{owner}: its function takes {len(arguments)} {what} ({', '.join(arguments) or 'none'}), {option} lists"
            f" {count}; give a function of as many, t may follow"
        )


_REAL = (int, float, np.integer, np.floating, Number)  # a union would be made anew at every call


def as_float(value: Any) -> float:
    """A number as a float, infinite where it is an integer too large for one; a recorded one stays as it is."""
    if isinstance(value, Number):
        return value  # type: ignore[return-value]
    try:
        return float(value)
    except OverflowError:
        return math.inf


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a real number."""
    return isinstance(value, _REAL) and not isinstance(value, bool)


def number(owner: str, label: str, value: object, *, above: float | None = None, least: float | None = None) -> float:
    """A finite real number, greater than `above`, not less than `least`."""
    if not is_number(value):
        raise ModelError(f"{owner}: {label} is {shown(value)}; give a number")
    result = as_float(value)
    if not abs(result) <= HUGE:
        if not math.isfinite(result):
            raise ModelError(f"{owner}: {label} is {result}; give a finite number")
        raise ModelError(f"{owner}: {label} is {result:g}; give a number in SI units, of size below {HUGE:g}")
    if above is not None and not result > above:
        raise ModelError(f"{owner}: {label} is {result:g}; give a number greater than {above:g}")
    if least is not None and not result >= least:
        raise ModelError(f"{owner}: {label} is {result:g}; give a number not less than {least:g}")
    return result


def numbers(owner: str, label: str, value: object, shape: tuple[int, ...], *, of_model: bool = False) -> Array:
    """A finite array of the given shape, read-only; of_model : a vector for which fewer numbers do in a plane."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iuf" and not is_recorded(array):
            raise ValueError
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: {label} is {shown(value)}; give {_wanted(label, shape, (), of_model)}") from None
    if array.shape != shape:
        wanted = _wanted(label, shape, array.shape, of_model and owner.endswith(("model", "'")))
        raise ModelError(f"{owner}: {label} has shape {array.shape}, {shown(value)}; give {wanted}")
    fresh = isinstance(value, list | tuple) and array.dtype == np.float64
    made = array if fresh else frozen(array)
    made.flags.writeable = False
    if not all(-HUGE <= entry <= HUGE for entry in made.ravel().tolist()):
        wanted = f"numbers in SI units, of size below {HUGE:g}" if np.isfinite(made).all() else "finite numbers"
        raise ModelError(f"{owner}: {label} is {shown(array)}; give {wanted}")
    return made


def _wanted(label: str, shape: tuple[int, ...], got: tuple[int, ...], of_model: bool) -> str:
    turns = label in ABOUT_NORMAL
    if of_model and (plane := PLANE.get()):
        return ("one number, about the normal" if turns else f"two numbers ({', '.join(plane)})") + ", or three"
    if of_model and got == (2,) and not turns:
        return "3 numbers, or make the model in a plane, da.Model(plane='xz')"
    return f"{shape[0]} numbers" if len(shape) == 1 else "a " + "x".join(map(str, shape)) + " matrix"


def _in_plane(text: str) -> str:
    """What should be given, as it is said in a model in a plane."""
    axes = ", ".join(PLANE.get())
    return text.replace("3-vectors", f"vectors ({axes})").replace("3-vector", f"vector ({axes})") if axes else text


def vector(owner: str, label: str, value: object) -> Array:
    """Three finite numbers."""
    return numbers(owner, label, value, (3,), of_model=True)


def unit_vector(owner: str, label: str, value: object) -> Array:
    """A direction: any non-zero 3-vector, returned with length one; one that has it up to rounding stays as it is."""
    array = vector(owner, label, value)
    if abs(root(array @ array) - 1.0) <= ROUNDING:
        return array
    largest = size_of(array)
    if largest == 0.0:
        raise ModelError(f"{owner}: {label} has length 0; give {_in_plane('a non-zero 3-vector')}")
    scaled = array / largest  # so that no square over- or underflows
    return frozen(scaled / np.linalg.norm(scaled))


def size_of(array: Array) -> float:
    """Largest component of a few; NumPy's own takes five times as long."""
    return max(map(abs, array.ravel().tolist()))


def count(value: Any) -> int:
    """How many entries a value has, 0 where it has none: a number, an array without dimensions."""
    return len(value) if hasattr(value, "__len__") and not (isinstance(value, np.ndarray) and value.ndim == 0) else 0


def file_path(owner: str, label: str, value: Any) -> str:
    """Where a file is."""
    if not isinstance(value, str | os.PathLike) or not isinstance(path := os.fspath(value), str):
        raise ModelError(f"{owner}: {label} is {shown(value)}; give a path")
    return path


def several(owner: str, label: str, value: object, counts: tuple[int, ...], what: str) -> Sequence[Any]:
    """A sequence with one of the given lengths; its entries are checked by the caller."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray) or count(value) not in counts:
        raise ModelError(f"{owner}: {label} is {shown(value)}; give {_in_plane(what)}")
    return value  # type: ignore[return-value]


def choice(owner: str, label: str, value: object, options: Iterable[str]) -> None:
    """One of a few words."""
    options = tuple(options)
    if not isinstance(value, str) or value not in options:
        raise ModelError(f"{owner}: {label} is {shown(value)}; give {' or '.join(map(repr, options))}")


def check_literals(options: Any) -> None:
    """Refuse values of a dataclass that the Literal types of its fields do not list."""
    for label, allowed in _literals(options.__class__).items():
        value = getattr(options, label)
        if isinstance(value, bool | np.ndarray) or value not in allowed:
            raise ModelError(f"{type(options).__name__}: {label} is {shown(value)}; give one of {', '.join(map(str, allowed))}")


@cache
def _literals(cls: type[Any]) -> dict[str, tuple[Any, ...]]:
    try:
        hints = get_type_hints(cls)
    except NameError:  # a class of one's own, with types that only a type checker knows
        return {}
    return {label: get_args(hint) for label, hint in hints.items() if get_origin(hint) is Literal}


def near(name: str, known: Iterable[str]) -> str | None:
    """The known name that was meant, if one is spelt much like it: the letters of a short name are in many a longer one."""
    known = tuple(islice(known, 1000))
    if same := next((other for other in known if other.lower() == name.lower()), None):
        return same
    if name.lower() in _GROUND and "ground" in known and not any(other.startswith(name) for other in known):
        return "ground"
    add = "add_" * name.startswith("add_")
    called = CALLED.get(name.removeprefix(add).removesuffix("_joint").lower(), ())
    if meant := next((add + other for other in called if add + other in known), None):
        return meant
    if len(name) > 3 and (longer := [other for other in known if other.startswith(name)]):
        return min(longer, key=len)
    for close in difflib.get_close_matches(name[:200], known, n=3, cutoff=0.55):
        if close.startswith(name) or abs(len(close) - len(name)) < max(2.0, len(name) / 2):
            return close
    return None


def nearest(name: object, known: Iterable[str]) -> str:
    """The second half of an "unknown name" message: the nearest known name, or all of them."""
    known = tuple(known)
    if close := near(str(name), known):
        return f"did you mean {close!r}?"
    if not known:
        return "there are none yet"
    return "known: " + ", ".join(map(repr, known[:12])) + (", ..." if len(known) > 12 else "")


class Hinted:
    """Says of an attribute that does not exist what was meant, or which is spelt like it, and of arguments of methods, see
    `by_name`;  _meant : what, by names of others"""

    _meant: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls) -> None:
        for name, method in list(vars(cls).items()):
            if inspect.isfunction(method) and not name.startswith("_"):
                setattr(cls, name, by_name(method))

    if not TYPE_CHECKING:  # a type checker must go on to refuse names that do not exist

        def __getattr__(self, name: str) -> Any:
            close = None if name.startswith("_") else near(name, (n for n in dir(type(self)) if not n.startswith("_")))
            hint = f"; {self._meant[name]}" if name in self._meant else f"; did you mean {close!r}?" if close else ""
            kind = type(self).__name__
            # obj=None: the interpreter adds no second hint of its own
            raise AttributeError(f"a{'n' * (kind[0] in 'AEIOU')} {kind} has no {name!r}{hint}", name=name, obj=None)


def inertia(owner: str, value: object) -> Array:
    """Inertia about the centre of mass in body axes, 3 values or 3x3, as a (3, 3) matrix that a real body can have.

    Symmetric; principal values I_1 <= I_2 <= I_3 positive with I_3 <= I_1 + I_2 (equality for a flat body).
    """
    full = isinstance(value, Sequence | np.ndarray) and count(value) == 3 and np.ndim(value[0]) > 0
    matrix = numbers(owner, "inertia", value, (3, 3)) if full else np.diag(vector(owner, "inertia", value))
    scale = size_of(matrix)
    if full:
        if size_of(matrix - matrix.T) > SLACK * scale:
            raise ModelError(f"{owner}: inertia is not symmetric, {shown(matrix)}; give a symmetric 3x3 matrix or 3 values")
        matrix = 0.5 * matrix + 0.5 * matrix.T
    diagonal = not full or all(v == 0.0 for v in matrix[np.triu_indices(3, 1)].tolist())
    low, middle, high = sorted(matrix.diagonal().tolist()) if diagonal else np.linalg.eigvalsh(matrix).tolist()
    if low > 1e-12 * scale and high <= (low + middle) * (1.0 + SLACK):
        return frozen(matrix)
    principal = f"principal values ({low:.6g}, {middle:.6g}, {high:.6g}) kg m^2"
    if low <= 1e-12 * scale:
        raise ModelError(
            f"{owner}: inertia has {principal}; a rigid body needs all three greater than 0: "
            "give a thin rod a small radius, or use add_point_mass for a body without rotation"
        )
    raise ModelError(
        f"{owner}: inertia has {principal}; no body has one greater than the sum of the other two: "
        "check units, and that it is taken about the centre of mass in body axes"
    )


def plain_function(function: object) -> Any:
    """The Python function behind a compiled one."""
    return getattr(function, "py_func", function)


def argument_count(function: object) -> int:
    """Number of positional parameters of a user function; -1 when it cannot be known."""
    try:
        parameters = inspect.signature(plain_function(function)).parameters.values()
    except (TypeError, ValueError):
        return -1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(p.kind not in positional for p in parameters):
        return -1
    return len(parameters)


def argument_names(function: object) -> tuple[str, ...]:
    """Names of the parameters of a user function; none when they cannot be known."""
    try:
        return tuple(inspect.signature(plain_function(function)).parameters)
    except (TypeError, ValueError):
        return ()


def user_function(owner: str, function: object, forms: Mapping[int, str], parameters: object) -> dict[str, Array]:
    """The parameters of a user's function that is one of the forms, {number of arguments: text}, beside them."""
    if not callable(function):
        raise ModelError(f"{owner}: the law is {shown(function)}; give a function {' or '.join(forms.values())}")
    if not isinstance(parameters, Mapping | None):
        raise ModelError(f"{owner}: parameters is {shown(parameters)}; give numbers or arrays by name, {{'k': 100.0}}")
    count, names = argument_count(function), argument_names(function)
    given = {}
    for name, value in (parameters or {}).items():
        if name not in names:
            raise ModelError(
                f"{owner}: parameters has {shown(name)}, which is no argument of its function; {nearest(name, names)}"
            )
        array = np.asarray(value) if not isinstance(value, str) else np.asarray(None)
        if array.dtype.kind not in "iuf" or array.ndim > 2:
            raise ModelError(f"{owner}: parameter {name!r} is {shown(value)}; give a number, a vector or a matrix")
        given[name] = numbers(owner, f"parameter {name!r}", value, array.shape)
    if count - len(given) not in forms:
        got = (
            "arguments that cannot be counted (*args, keyword-only)" if count < 0 else f"{count} arguments ({', '.join(names)})"
        )
        beside = f" besides {', '.join(given)}" if given else "; name those that are numbers in parameters={...}"
        raise ModelError(f"{owner}: the function has {got}; give {' or '.join(forms.values())}{beside}")
    return given
