"""Expressions as a graph: every operation is a node, equal ones are the same node (hash-consing), constants are folded.

Nodes carry Python's operators and, as methods, NumPy's functions (`np.sin` of an object array calls `.sin()`), so that a plain
NumPy function run on nodes records itself. What cannot be recorded raises and says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError

CONSTANT, INPUT = "constant", "input"
_COMMUTE = ("+", "*")

# functions of one argument: the name is NumPy's, in the graph and in generated source
UNARY: dict[str, Callable[[float], float]] = {
    name: getattr(np, name)
    for name in (
        "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
        "exp", "expm1", "log", "log1p", "sqrt", "abs", "sign",
    )
}  # fmt: skip
BINARY: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "power": np.power,
    "arctan2": np.arctan2,
}


class TraceError(ModelError):
    """A function does something with its arguments that has no derivative or cannot be recorded."""


class Graph:
    """Nodes in the order of their making, which is an order of evaluation.

    smooth : what there is instead of `if`, in words
    """

    def __init__(self, smooth: str = "a smooth formula, np.abs, np.tanh, ...") -> None:
        self.smooth = smooth
        self.nodes: list[Node] = []
        self._known: dict[tuple[Any, ...], Node] = {}

    def input(self, name: str) -> Node:
        """The variable of this name."""
        return self._node(INPUT, (), name)

    def constant(self, value: float) -> Node:
        number = float(value)
        return self._node(CONSTANT, (), 0.0 if number == 0.0 else number)

    def _node(self, op: str, args: tuple[Node, ...], value: Any = None) -> Node:
        key = (op, value, *(a.index for a in args))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._made(op, args, value)
            self.nodes.append(found)
        return found

    def _made(self, op: str, args: tuple[Node, ...], value: Any) -> Node:
        return Node(self, len(self.nodes), op, args, value)

    def make(self, op: str, *args: Node) -> Node:
        """The node of an operation, simplified where that changes no value; it becomes source, so no other is let in."""
        function: Any = UNARY.get(op) if len(args) == 1 else BINARY.get(op) if len(args) == 2 else None
        if function is None:
            raise ModelError(
                f"there is no operation {op[:40]!r} of {len(args)} arguments; known: {', '.join((*UNARY, *BINARY))}"
            )
        if all(a.op == CONSTANT for a in args):
            with np.errstate(all="ignore"):
                return self.constant(function(*(np.float64(a.value) for a in args)))
        simpler = _simplified(self, op, args)
        if simpler is not None:
            return simpler
        if op in _COMMUTE and (args[0].op != CONSTANT, args[0].index) > (args[1].op != CONSTANT, args[1].index):
            args = (args[1], args[0])  # constants first, then in the order of making
        return self._node(op, args)

    def power(self, base: Node, exponent: float) -> Node:
        """base**exponent; small whole exponents by multiplication."""
        if exponent == 0.0:
            return self.constant(1.0)
        if exponent == 0.5:
            return self.make("sqrt", base)
        if float(exponent).is_integer() and abs(exponent) <= 64:
            n = int(abs(exponent))
            result: Node | None = None
            square = base
            while n:
                if n & 1:
                    result = square if result is None else result * square
                n >>= 1
                square = square * square if n else square
            assert result is not None
            return result if exponent > 0 else self.constant(1.0) / result
        return self.make("power", base, self.constant(exponent))


def _simplified(graph: Graph, op: str, args: tuple[Node, ...]) -> Node | None:
    """a + 0, a * 1, a - a and the like."""
    a, b = args[0], args[-1]
    if op == "+":
        if a.is_constant(0.0) or b.is_constant(0.0):
            return b if a.is_constant(0.0) else a
        if b.op == "*" and b.args[0].is_constant(-1.0):
            return graph.make("-", a, b.args[1])
        if a.op == "*" and a.args[0].is_constant(-1.0):
            return graph.make("-", b, a.args[1])
    elif op == "-":
        if b.is_constant(0.0):
            return a
        if a is b:
            return graph.constant(0.0)
        if a.is_constant(0.0):
            return graph.make("*", graph.constant(-1.0), b)
    elif op == "*":
        for one, other in ((a, b), (b, a)):
            if one.is_constant(0.0) or one.is_constant(1.0):
                return one if one.value == 0.0 else other
            if one.op == CONSTANT and other.op == "*" and other.args[0].op == CONSTANT:
                factors = one.value, other.args[0].value
                if any(abs(factor) in (1.0, 2.0, 0.5) for factor in factors):  # powers of two lose nothing
                    return graph.make("*", graph.constant(factors[0] * factors[1]), other.args[1])
    elif op == "/":
        if a.is_constant(0.0) or b.is_constant(1.0):
            return a
        if a is b:
            return graph.constant(1.0)
    return None


def _operator(op: str, *, swapped: bool = False) -> Callable[[Node, object], Any]:
    return lambda self, other: self._apply(op, other, swapped)


class Node:
    """One value in a graph: op and args, or a constant's or an input's value."""

    __slots__ = ("args", "graph", "index", "op", "value")
    __hash__ = None  # type: ignore[assignment]  # equality of values is not known before they are

    def __init__(self, graph: Graph, index: int, op: str, args: tuple[Node, ...], value: Any) -> None:
        self.graph = graph
        self.index = index
        self.op = op
        self.args = args
        self.value = value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy functions of a node and a number or an array: np.arctan2(1.0, x), np.array([1.0, 2.0]) * x."""
        by_method = ufunc.__name__ in ("arctan2", "hypot")  # NumPy asks the first argument for these, which must be a node then
        made = []
        for x in inputs:
            array = np.empty((), dtype=object) if isinstance(x, Node) else np.asarray(x).astype(object)
            if isinstance(x, Node):
                array[()] = x
            elif by_method:
                array = np.frompyfunc(lambda y: y if isinstance(y, Node) else self.graph.constant(y), 1, 1)(array)
                array = np.asarray(array, dtype=object)
            made.append(array)
        return getattr(ufunc, method)(*made, **options)

    def is_constant(self, value: float) -> bool:
        return self.op == CONSTANT and self.value == value

    def __repr__(self) -> str:
        return str(self.value) if not self.args else f"{self.op}({', '.join(a.op for a in self.args)})"

    def _other(self, other: object) -> Node | None:
        if isinstance(other, Node):
            return other
        if isinstance(other, int | float | np.number | np.bool_) and not isinstance(other, np.complexfloating):
            return self.graph.constant(float(other))
        return None

    def _apply(self, op: str, other: object, swapped: bool = False) -> Any:
        node = self._other(other)
        if node is None:
            return NotImplemented
        return self.graph.make(op, node, self) if swapped else self.graph.make(op, self, node)

    __add__, __radd__ = _operator("+"), _operator("+", swapped=True)
    __sub__, __rsub__ = _operator("-"), _operator("-", swapped=True)
    __mul__, __rmul__ = _operator("*"), _operator("*", swapped=True)
    __truediv__, __rtruediv__ = _operator("/"), _operator("/", swapped=True)

    def __neg__(self) -> Any:
        return self.graph.make("*", self.graph.constant(-1.0), self)

    def __pos__(self) -> Node:
        return self

    def __abs__(self) -> Any:
        return self.graph.make("abs", self)

    def __pow__(self, other: object) -> Any:
        node = self._other(other)
        if node is None:
            return NotImplemented
        return self.graph.power(self, node.value) if node.op == CONSTANT else self.graph.make("power", self, node)

    def __rpow__(self, other: object) -> Any:
        return self._apply("power", other, True)

    def arctan2(self, other: object) -> Any:
        return self._apply("arctan2", other)

    def hypot(self, other: object) -> Any:
        node = self._other(other)
        return NotImplemented if node is None else (self * self + node * node).sqrt()

    def square(self) -> Any:
        return self * self

    def cbrt(self) -> Any:
        return self.graph.make("sign", self) * self.graph.power(abs(self), 1.0 / 3.0)

    def radians(self) -> Any:
        return self * (math.pi / 180.0)

    def degrees(self) -> Any:
        return self * (180.0 / math.pi)

    def conjugate(self) -> Node:
        return self

    deg2rad, rad2deg = radians, degrees

    def __getattr__(self, name: str) -> Any:
        if name in UNARY:
            return lambda: self.graph.make(name, self)
        if name in ("log2", "log10", "exp2"):
            base = {"log2": 2.0, "log10": 10.0, "exp2": 2.0}[name]
            if name == "exp2":
                return lambda: self.__rpow__(base)
            return lambda: self.graph.make("log", self) / math.log(base)
        raise AttributeError(f"{name!r} of a coordinate, velocity, time or parameter is not known; use NumPy functions of it")

    def _refused(self, what: str) -> NoReturn:
        raise TraceError(what)

    def _compared(self, other: object) -> NoReturn:
        self._refused(
            "compares or branches on a value that changes during the run; write it without `if`, `max`, `where` or `==`"
            f" ({self.graph.smooth})"
        )

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _compared

    def __bool__(self) -> bool:
        self._compared(None)

    def _as_number(self) -> NoReturn:
        self._refused(
            "turns a coordinate, velocity, time or parameter into a plain number; use np.sin instead of math.sin and the like,"
            " and build arrays with np.array([...]) instead of filling np.zeros(n)"
        )

    def __float__(self) -> float:
        self._as_number()

    def __int__(self) -> int:
        self._as_number()

    def __index__(self) -> int:
        self._as_number()

    def __complex__(self) -> complex:
        self._as_number()


def reachable(outputs: Iterable[Node]) -> list[Node]:
    """The nodes that outputs need, in an order of evaluation."""
    needed: dict[int, Node] = {}
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node.index not in needed:
            needed[node.index] = node
            stack.extend(node.args)
    return [needed[k] for k in sorted(needed)]


def rebuild(graph: Graph, outputs: Sequence[Node], replace: dict[str, Node] | None = None) -> list[Node]:
    """The same expressions in another graph, with some inputs replaced."""
    made: dict[int, Node] = {}
    for node in reachable(outputs):
        if node.op == CONSTANT:
            made[node.index] = graph.constant(node.value)
        elif node.op == INPUT:
            other = (replace or {}).get(node.value)
            made[node.index] = graph.input(node.value) if other is None else other
        else:
            made[node.index] = graph.make(node.op, *(made[a.index] for a in node.args))
    return [made[node.index] for node in outputs]


def evaluate(outputs: Sequence[Node], values: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.float64]:
    """Numbers for numbers, (outputs, nt) for arrays (nt,), one operation at a time."""
    found: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for node in reachable(outputs):
            if not node.args:
                found[node.index] = np.asarray(node.value if node.op == CONSTANT else values[node.value], dtype=float)
            else:
                function: Any = UNARY[node.op] if len(node.args) == 1 else BINARY[node.op]
                found[node.index] = function(*(found[a.index] for a in node.args))
    return np.array(np.broadcast_arrays(*(found[node.index] for node in outputs)), dtype=float)
