"""SymPy expressions in `dynamicsymbols` as nodes of the same graph; SymPy itself differentiates and simplifies nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dalembert.errors import ModelError
from dalembert.lagrangian.graph import BINARY, UNARY, Graph, Node
from dalembert.model.validation import nearest

_FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "exp": "exp", "log": "log", "Abs": "abs", "sign": "sign",
}  # fmt: skip


def is_expression(value: object) -> bool:
    """Whether a value comes from SymPy, found without importing it."""
    return any((base.__module__ or "").split(".")[0] == "sympy" for base in type(value).__mro__)


def symbol_name(value: Any) -> str:
    """Name of a dynamicsymbol x(t) or of a symbol."""
    return str(getattr(value.func, "__name__", value)) if getattr(value, "args", ()) else str(value)


def walk(owner: str, expression: Any, graph: Graph, inputs: Mapping[str, Node]) -> Node:
    """The node of an expression; inputs : nodes by "x", "x'", parameter name, "t"."""
    made: dict[Any, Node] = {}

    def unknown(name: str) -> ModelError:
        plain = [key for key in inputs if not key.endswith("'")]
        return ModelError(f"{owner}: {name!r} is neither a coordinate nor a parameter; {nearest(name, plain)}")

    def node(e: Any) -> Node:
        if e not in made:
            made[e] = make(e)
        return made[e]

    def make(e: Any) -> Node:
        if e.is_Number or e.is_NumberSymbol:
            return graph.constant(float(e))
        if e.is_Symbol:
            if str(e) not in inputs:
                raise unknown(str(e))
            return inputs[str(e)]
        if e.is_Derivative:
            name, order = symbol_name(e.expr), sum(int(count) for _, count in e.variable_count)
            if name not in inputs or order != 1:
                raise (
                    unknown(name) if name not in inputs else ModelError(f"{owner}: {e} is not a velocity; use first rates only")
                )
            return inputs[f"{name}'"]
        if e.is_Add or e.is_Mul:
            total = node(e.args[0])
            for part in e.args[1:]:
                total = total + node(part) if e.is_Add else total * node(part)
            return total
        if e.is_Pow:
            return (
                graph.power(node(e.base), float(e.exp)) if e.exp.is_Number else graph.make("power", node(e.base), node(e.exp))
            )
        name = type(e).__name__
        if name in _FUNCTIONS:
            op = _FUNCTIONS[name]
            assert op in UNARY or op in BINARY
            return graph.make(op, *(node(a) for a in e.args))
        if e.is_Function and len(e.args) == 1 and e.args[0].is_Symbol:
            if symbol_name(e) not in inputs:
                raise unknown(symbol_name(e))
            return inputs[symbol_name(e)]
        raise ModelError(f"{owner}: {name} of SymPy has no smooth formula here; use {', '.join(_FUNCTIONS)}, powers and sums")

    return node(expression)
