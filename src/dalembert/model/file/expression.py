"""Arithmetic in model files: `2 * pi`, `-l / 2`, `sqrt(a**2 + b**2)`, with the file's own parameters and the coordinates of its
points, `B.x`. Nothing else.

The text is parsed, every part of its tree must be on the list below, and floats are computed with; no code is executed.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from itertools import islice

from dalembert.errors import ModelError
from dalembert.model.validation import nearest, shown

_WITH_UNIT = re.compile(r"([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(?![eE][-+]?$)([A-Za-z°%µ].*)")
_GAPS = re.compile(r"[-+]? ?[0-9][0-9 ]*(\.[0-9]+)?")
_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+")
_DASHES = "\u2212\u2010\u2011\u2012\u2013\u2014"  # a minus sign and dashes, as word processors write them
_SI = ("m", "kg", "s", "rad", "N", "m/s", "rad/s", "N/m", "Nm", "N m", "Nm/rad", "N s/m", "Ns/m", "kg m^2", "J", "W")
_FACTORS = {
    **dict.fromkeys(("rpm", "rev/min"), "pi / 30"),
    **dict.fromkeys(("deg", "degree", "degrees", "°", "deg/s", "°/s"), "pi / 180"),
    **dict.fromkeys(("mm", "mm/s", "g", "ms", "Nmm", "N mm"), "1e-3"),
    **dict.fromkeys(("kN", "kNm", "kN/m", "N/mm", "t"), "1e3"),
    **{"cm": "1e-2", "um": "1e-6", "µm": "1e-6", "min": "60", "Hz": "2 * pi", "in": "0.0254", "inch": "0.0254", "ft": "0.3048"},
}  # of units that newcomers write, to SI
OF_THE_MOTION = (
    "functions of the motion cannot stand in a file: a force along a joint against its rate is a joint_spring_damper with a"
    " table as damping, all else takes a Python file"
)
MAX_LENGTH = 200
MAX_EXPONENT = 100.0

CONSTANTS = {"pi": math.pi}
_OF_MATH = "sqrt sin cos tan asin acos atan atan2 hypot exp log radians degrees"
FUNCTIONS: dict[str, Callable[..., float]] = {name: getattr(math, name) for name in _OF_MATH.split()}
FUNCTIONS |= {"abs": abs, "min": min, "max": max}
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Names(dict[str, float]):
    """Values by name, and which of them were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.used = set[str]()

    def __getitem__(self, name: str) -> float:
        self.used.add(name)
        return super().__getitem__(name)


def evaluate(text: str, names: Mapping[str, float]) -> float:
    """The value of an expression; `names` are parameters and coordinates it may use, NaN where these are wrong: so is it."""
    if len(text) > MAX_LENGTH:
        raise ModelError(f"the expression has {len(text)} characters; give at most {MAX_LENGTH}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ModelError(_no_arithmetic(text.strip(), names)) from None
    if isinstance(tree.body, ast.Tuple):
        point = text.strip().replace(",", ".")
        fix = f"decimals have a point: {point}" if _COMMA.fullmatch(text.strip()) else "give one number"
        raise ModelError(f"{shown(text)} has a comma; {fix}")
    if any(math.isnan(names.get(_name(node), 0.0)) for node in ast.walk(tree)):
        return math.nan
    try:
        value = _value(tree.body, names)
    except ZeroDivisionError:
        raise ModelError(f"{shown(text)} divides by zero{_with(tree, names)}") from None
    except (OverflowError, ValueError, TypeError) as problem:
        raise ModelError(f"{shown(text)} has no value: {problem}{_with(tree, names)}") from None
    if not math.isfinite(value):
        raise ModelError(f"{shown(text)} is {value}; give a finite number")
    return value


def _no_arithmetic(text: str, names: Mapping[str, float]) -> str:
    """What is wrong with a text that is not one, and what to write."""
    unit = _WITH_UNIT.fullmatch(text)
    if unit and unit[2].split()[0] in (*names, *CONSTANTS):
        return f"between {unit[1]} and {unit[2]} something is missing: a comma for two entries, * or + for one"
    if unit:
        return f"{text!r} has a unit; units are SI and are not written: {_in_si(*unit.groups())}"
    if dash := next((sign for sign in text if sign in _DASHES), None):
        return f"{shown(text)} has the sign {dash!r}, which is no minus; write -"
    if _GAPS.fullmatch(text):
        return f"{shown(text)} is a number with gaps; write {text.replace(' ', '')}"
    return f"{shown(text)} is neither a number nor arithmetic such as 'l / 2'"


def _in_si(number: str, unit: str) -> str:
    """What to write for a number with a unit."""
    factor = _FACTORS.get(unit)
    if factor is None:
        return f"leave out {unit!r}" if unit in _SI else "write the number in m, kg, s, rad, N"
    if factor == "pi / 180":
        return f"write radians({number})"
    product = f"{number} * {factor}"
    return f"write {product}, which is {evaluate(product, {}):.9g}"


def _name(node: ast.AST) -> str:
    """That of a parameter or a coordinate, `crank` or `B.x`; "" for what else there is."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=axis):
            return f"{name}.{axis}"
    return ""


def _with(tree: ast.expr | ast.Expression, names: Mapping[str, float]) -> str:
    """The values of the parameters that an expression uses, for a message."""
    used = sorted((getattr(node, "col_offset", 0), _name(node)) for node in ast.walk(tree) if _name(node) in names)
    values = dict.fromkeys(f"{name} = {names[name]:g}" for _, name in used)
    return f", with {', '.join(values)}" if values else ""


def check_name(noun: str, name: str) -> None:
    """That of a parameter or a point: an identifier that means nothing else."""
    if not name.isidentifier() or not name.isascii():
        raise ModelError(f"{noun} {name!r}: give a name of letters, digits and _, not beginning with a digit")
    if name in CONSTANTS or name in FUNCTIONS:
        raise ModelError(f"{noun} {name!r}: this name has a meaning in expressions; choose another")


def _value(node: ast.expr, names: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name):
            if name in CONSTANTS:
                return CONSTANTS[name]
            if name not in names:
                if name == "t":
                    text = "a function of time is a motion: harmonic, polynomial, table, a sum or product of them"
                    raise ModelError(f"there is no parameter 't'; {text}; Python functions go with models built in Python")
                if name == "g":
                    raise ModelError("there is no parameter 'g'; for gravity write 9.81 in its place, for grams 1e-3")
                if name in _FACTORS and name not in FUNCTIONS:
                    raise ModelError(f"there is no parameter {name!r}, and units are SI; write {_FACTORS[name]} in its place")
                known = [*islice(names, 1000), *CONSTANTS, *(f"{function}()" for function in FUNCTIONS)]
                raise ModelError(f"there is no parameter {name!r}; {nearest(name, known)}")
            return names[name]
        case ast.Attribute() if _name(node) in names:
            return names[_name(node)]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, names)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _value(inner, names)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left, names), _value(right, names))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in FUNCTIONS and name in _FACTORS:
                given = ast.unparse(ast.Tuple(arguments)).replace(",)", ")")
                raise ModelError(f"there is no function {name!r}, and units are SI; write {given} * {_FACTORS[name]}")
            if name == "sign":
                raise ModelError(f"there is no function 'sign'; {OF_THE_MOTION}")
            if name not in FUNCTIONS:
                raise ModelError(f"there is no function {name!r}; {nearest(name, FUNCTIONS)}")
            return float(FUNCTIONS[name](*(_value(argument, names) for argument in arguments)))
    if isinstance(node, ast.Attribute) and _name(node)[-2:] in (".x", ".y", ".z"):
        known = [name for name in names if "." in name]
        told = nearest(_name(node), known) if known else "points have some"
        raise ModelError(f"there is no coordinate {_name(node)!r} before this; {told}")
    fix = "use numbers, parameters, + - * / **, ( ) and functions"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        fix = "a power is **"
    if isinstance(node, ast.Compare | ast.IfExp | ast.Attribute) and not ast.unparse(node).startswith(("np.", "math.")):
        fix += f"; {OF_THE_MOTION}"
    raise ModelError(f"{shown(ast.unparse(node))} is not allowed; {fix}")


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > MAX_EXPONENT:
        raise ModelError(f"the exponent {exponent:g} is too large; give at most {MAX_EXPONENT:g}")
    result = base**exponent
    if isinstance(result, complex):
        raise ModelError(f"{base:g} ** {exponent:g} is not real")
    return float(result)
