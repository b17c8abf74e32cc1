"""Plain data of a Lagrangian system, checked as if a stranger wrote it: what passes is a graph of known operations."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from typing import Any

from dalembert.errors import ModelError
from dalembert.lagrangian.equations import Constraint, Equations
from dalembert.lagrangian.graph import CONSTANT, INPUT, Graph, Node
from dalembert.model.validation import printable, shown

MAX_NODES = 50_000  # those of the gallery have about a hundred, what compiles in minutes some thousands
_PARAMETER = re.compile(r"([^\[\]]+)(?:\[(\d{1,6}(?:,\d{1,6})*)\])?")


def read_equations(data: Mapping[str, Any]) -> Equations:
    """The equations in the dict of `LagrangianSystem.to_dict`."""
    names = tuple(_text("coordinates", name) for name in _list(data, "coordinates"))
    for name in names:
        if not name.isidentifier() or name == "t" or names.count(name) > 1:
            raise _bad("coordinates", name, "different names made of letters, digits and _")
    parameters = read_numbers(data, "parameters")
    _check_parameters(parameters, names)
    graph = Graph()
    q, v = (tuple(graph.input(f"{kind}:{name}") for name in names) for kind in "qv")
    t = graph.input("t")
    p = tuple(graph.input(f"p:{name}") for name in parameters)
    known = {str(node.value): node for node in (*q, *v, t, *p)}
    records = _list(data, "nodes")
    if len(records) > MAX_NODES:
        raise _bad("nodes", f"{len(records)} operations", f"at most {MAX_NODES}")
    nodes: list[Node] = []
    for record in records:
        nodes.append(_node(graph, nodes, known, record))

    def at(label: str, k: object) -> Node:
        return nodes[_index(label, k, len(nodes))]

    def group(kind: str) -> tuple[Constraint, ...]:
        made = []
        for item in _list(data, kind):
            if not isinstance(item, list) or len(item) != 2 or not isinstance(item[1], list) or not item[1]:
                raise _bad(kind, item, "[name, [rows]]")
            made.append(Constraint(_text(kind, item[0]), tuple(at(kind, k) for k in item[1])))
        return tuple(made)

    forces = tuple(at("forces", k) for k in _list(data, "forces"))
    if not names or len(forces) != len(names):
        raise _bad("forces", f"{len(forces)} values", f"one for each of the {len(names)} coordinates")
    lagrangian = at("lagrangian", data.get("lagrangian"))
    return Equations(graph, names, q, v, t, p, lagrangian, group("holonomic"), group("nonholonomic"), forces)


def read_numbers(data: Mapping[str, Any], key: str, names: tuple[str, ...] | None = None) -> dict[str, float]:
    """Finite numbers by name; names : the only ones allowed."""
    given = data.get(key)
    if not isinstance(given, Mapping):
        raise _bad(key, given, "numbers by name")
    for name in given:
        if not isinstance(name, str) or (names is not None and name not in names):
            raise _bad(key, name, "names of coordinates")
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
            raise _bad(f"{key} {name!r}", value, "finite numbers")
    return {name: float(value) for name, value in given.items()}


def _node(graph: Graph, nodes: list[Node], known: Mapping[str, Node], record: Any) -> Node:
    if not isinstance(record, list) or len(record) != 2 or not isinstance(record[0], str):
        raise _bad("nodes", record, "[operation, arguments]")
    op, content = record
    if op == CONSTANT:
        if isinstance(content, bool) or not isinstance(content, int | float) or not abs(content) <= sys.float_info.max:
            raise _bad("nodes", content, "finite numbers")
        return graph.constant(content)
    if op == INPUT:
        if not isinstance(content, str) or content not in known:
            raise _bad("nodes", content, "inputs q:, v:, p: of the system's own names, or t")
        return known[content]
    if not isinstance(content, list):
        raise _bad("nodes", record, "[operation, arguments]")
    made = graph.make(op, *(nodes[_index("nodes", k, len(nodes))] for k in content))
    if made.op == CONSTANT and not math.isfinite(made.value):
        raise _bad("nodes", made.value, "operations with finite values")
    return made


def _check_parameters(parameters: Mapping[str, float], names: tuple[str, ...]) -> None:
    """Arrays come entry by entry, "name[i,j]", and whole: an index says how large the array is made."""
    places: dict[str, list[tuple[int, ...]]] = {}
    for key in parameters:
        match = _PARAMETER.fullmatch(key)
        if match is None or match[1] in names or match[1] == "t":
            raise _bad("parameters", key, "names other than the coordinates', or name[i,j]")
        places.setdefault(match[1], []).append(tuple(int(k) for k in (match[2] or "").split(",") if k))
    for name, found in places.items():
        sizes = [k + 1 for k in max(found)]
        if len({len(place) for place in found}) > 1 or math.prod(sizes) != len(set(found)):
            raise _bad("parameters", name, "every entry of an array once")


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key)
    if not isinstance(value, list):
        raise _bad(key, value, "a list")
    return value


def _text(label: str, value: object) -> str:
    if not isinstance(value, str):
        raise _bad(label, value, "names")
    return printable(f"system data: {label}", value)


def _index(label: str, k: object, size: int) -> int:
    if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k < size:
        raise _bad(label, k, f"the number of an operation before it, 0 to {size - 1}")
    return k


def _bad(label: str, got: object, wanted: str) -> ModelError:
    return ModelError(f"system data: {label}: found {shown(got)}; expected {wanted}; give the dict of to_dict() unchanged")
