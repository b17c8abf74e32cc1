"""Numbers that remember what they were computed from: a function of parameters, run once on them, becomes formulas.

Each also has its value where the function was run. What is compared is compared there, and the outcome is recorded as a guard:
the formulas hold wherever all guards come out as they did. What needs a plain number, a name or a length of a list raises
`TraceError`; whoever records takes the function itself then.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.lagrangian.graph import BINARY, CONSTANT, INPUT, UNARY, Graph, Node, TraceError, evaluate, reachable

_COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
_PER_LINE = 20


class Recording(Graph):
    """A graph of `Number`s;  values : of its inputs, where it is recorded;  guards : what was compared, and how it came out

    refused : whether something was asked of a number that cannot be recorded, which the function may have caught
    """

    def __init__(self, values: Mapping[str, float]) -> None:
        super().__init__()
        self.values = values
        self.guards: dict[tuple[str, int, int], bool] = {}
        self.refused = False

    def _made(self, op: str, args: tuple[Node, ...], value: Any) -> Node:
        found = Number(self, len(self.nodes), op, args, value)
        if op in (CONSTANT, INPUT):
            found.at = float(value if op == CONSTANT else self.values[value])
        else:
            function: Any = UNARY[op] if len(args) == 1 else BINARY[op]
            with np.errstate(all="ignore"):
                found.at = float(function(*(np.float64(a.at) for a in args)))
        return found

    def decided(self, op: str, a: Any, b: Any) -> bool:
        """The outcome of a comparison."""
        outcome = bool(_COMPARED[op](a.at, b.at))
        if a.op != CONSTANT or b.op != CONSTANT:
            self.guards[op, a.index, b.index] = outcome
        return outcome


def _comparison(op: str) -> Callable[[Any, object], Any]:
    def compared(self: Number, other: object) -> Any:
        node = self._other(other)
        return NotImplemented if node is None else self.graph.decided(op, self, node)

    return compared


class Number(Node):
    """at : its value where it was recorded"""

    __slots__ = ("at",)
    graph: Recording
    at: float

    __lt__, __le__, __gt__ = _comparison("<"), _comparison("<="), _comparison(">")  # type: ignore[assignment]
    __ge__, __eq__, __ne__ = _comparison(">="), _comparison("=="), _comparison("!=")  # type: ignore[assignment]

    def _refused(self, what: str) -> NoReturn:
        self.graph.refused = True
        raise TraceError(what)

    def _only_plain(self, *_: object) -> Any:
        self._as_number()

    __hash__ = __round__ = __trunc__ = __mod__ = __floordiv__ = __divmod__ = _only_plain  # type: ignore[assignment]
    __rmod__ = __rfloordiv__ = __rdivmod__ = _only_plain

    def __getattr__(self, name: str) -> Any:
        if hasattr(float, name):  # which a function may look for
            self._as_number()
        return super().__getattr__(name)

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    def __float__(self) -> float:
        if self.op == CONSTANT:
            return float(self.value)
        self._as_number()

    def __repr__(self) -> str:
        if self.op == CONSTANT:
            return repr(self.value)
        self._refused("writes a parameter into a text")

    def __format__(self, spec: str) -> str:
        return format(float(self), spec)

    def __copy__(self) -> Number:
        return self

    def __deepcopy__(self, memo: object) -> Number:
        return self  # a copy of its graph would be another function

    def __reduce__(self) -> Any:
        self._refused("puts a parameter away, in a file or for another process")


def is_recorded(array: npt.NDArray[Any]) -> bool:
    """Whether an array has entries that are recorded."""
    return array.dtype == object and all(isinstance(v, Number | float | int) for v in array.ravel().tolist())


def root(x: Any) -> Any:
    """Square root of a number, plain or recorded."""
    return x.sqrt() if isinstance(x, Number) else math.sqrt(x)


_PLAIN = SimpleNamespace(sqrt=math.sqrt, **{name: (lambda x, f=f: float(f(x))) for name, f in UNARY.items() if name != "sqrt"})
_PLAIN.arctan2, _PLAIN.power = (lambda a, b, f=f: float(f(a, b)) for f in (np.arctan2, np.power))


class Formulas:
    """What was recorded as straight-line code: for one set of parameters, or for many at once.

    outputs : numbers, recorded ones among them;  names : inputs in the order in which `of` takes them
    """

    def __init__(self, graph: Recording, outputs: Sequence[Any], names: Sequence[str]) -> None:
        wanted = [(k, v) for k, v in enumerate(outputs) if isinstance(v, Number) and v.op != CONSTANT]
        self._base = np.array([v.at if isinstance(v, Number) else float(v) for v in outputs])
        self._places = np.array([k for k, _ in wanted], dtype=np.int64)
        nodes = graph.nodes
        guards = [((op, nodes[a], nodes[b]), outcome) for (op, a, b), outcome in graph.guards.items()]
        self._expected = [outcome for _, outcome in guards]
        needed = reachable([*(v for _, v in wanted), *(node for (_, *pair), _ in guards for node in pair)])
        text: dict[int, str] = {}
        lines = [f"def formulas(np, {', '.join(f'p_{k}' for k in range(len(names)))}):"]
        for node in needed:
            if node.op == CONSTANT:
                text[node.index] = f"({node.value!r})"
            elif node.op == INPUT:
                text[node.index] = f"p_{list(names).index(node.value)}"
            else:
                a = [text[arg.index] for arg in node.args]
                written = f"{a[0]} {node.op} {a[1]}" if len(node.op) == 1 else f"np.{node.op}({', '.join(a)})"
                text[node.index] = f"v{node.index}"
                lines.append(f"    v{node.index} = {written}")
        checks = [f"{text[a.index]} {op} {text[b.index]}" for (op, a, b), _ in guards]
        for label, entries in (("guards", checks), ("values", [text[v.index] for _, v in wanted])):
            rows = [", ".join(entries[k : k + _PER_LINE]) for k in range(0, len(entries), _PER_LINE)]
            lines += [f"    {label} = [", *(f"        {row}," for row in rows), "    ]"]
        made: dict[str, Any] = {}
        exec(compile("\n".join([*lines, "    return guards, values"]), "<formulas>", "exec"), made)
        self._code = made["formulas"]

    def of(self, values: Sequence[float]) -> Array | None:
        """The outputs for one value of each input; None where a guard comes out otherwise, or something is not finite."""
        try:
            guards, found = self._code(_PLAIN, *values)
        except (ValueError, ArithmeticError):  # Python's numbers have no NaN to go on with
            return None
        if guards != self._expected:
            return None
        made = self._base.copy()
        made[self._places] = found
        return made if math.isfinite(made.sum()) else None

    def of_many(self, table: Sequence[Array]) -> tuple[npt.NDArray[np.bool_], Array]:
        """Where all guards hold, (runs,), and (runs, outputs) for a column of values of each input."""
        runs = len(table[0])
        with np.errstate(all="ignore"):
            guards, found = self._code(np, *table)
            made = np.tile(self._base, (runs, 1))
            for place, column in zip(self._places.tolist(), found, strict=True):
                made[:, place] = column
            holds = np.isfinite(made.sum(axis=1))
        for outcome, expected in zip(guards, self._expected, strict=True):
            holds &= np.asarray(outcome) == expected
        return holds, made


def filled(record: Any, values: Mapping[str, float]) -> Any:
    """Plain data with recorded numbers in it, for values of the inputs."""
    found: dict[int, Node] = {}

    def collect(part: Any) -> None:
        if isinstance(part, Number):
            found[part.index] = part
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            collect(inner)

    def plain(part: Any) -> Any:
        if isinstance(part, Number):
            return at[part.index]
        if isinstance(part, dict):
            return {key: plain(inner) for key, inner in part.items()}
        return [plain(inner) for inner in part] if isinstance(part, list) else part

    collect(record)
    at = dict(zip(found, evaluate(list(found.values()), values).tolist(), strict=True)) if found else {}
    return plain(record)


__all__ = ["Formulas", "Number", "Recording", "TraceError", "filled", "is_recorded", "root"]
