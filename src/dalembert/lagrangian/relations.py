"""Relations of measures as a user writes them: joint coordinates that a function couples, the profile of a cam.

    coupling    f(s_1, ..., s_n), and t if it takes that
    cam         f = s_1 - F(s_2)            distance, and angle psi that the profile F is a function of

The generated code of a relation reads and leaves what kernels/mechanics/relations.py says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError
from dalembert.lagrangian.derivatives import along, jacobian
from dalembert.lagrangian.graph import Graph, Node, evaluate
from dalembert.lagrangian.source import Part
from dalembert.lagrangian.tracer import trace, warn_if_rough
from dalembert.model.elements import Primitive


def relation_part(owner: str, primitive: Primitive, count: int, timed: bool) -> tuple[Part, dict[str, int]]:
    """What the code of a written relation of so many measures leaves, and where its inputs are."""
    graph, n = Graph(), count
    s, s_dot = ([graph.input(f"{name}{k}") for k in range(n)] for name in ("s", "d"))
    t = graph.input("t")
    if primitive.law == "coupling":
        found = trace_relations(owner, primitive.function, s, t, graph, timed)
        rows = [row for k, row in enumerate(found, start=1) if str(k) in primitive.labels]
    else:
        rows = [s[0] - _profile(owner, primitive.function, s[1])]
    if len(rows) != len(primitive.labels):
        raise ModelError(f"{owner}: its function returned {len(rows)} residuals, and not the same number as before")
    one, zero = graph.constant(1.0), graph.constant(0.0)
    moving = [*zip(s, s_dot, strict=True), (t, one)]
    part: dict[int, Node] = {}
    for c, (row, line) in enumerate(zip(rows, jacobian(rows, s), strict=True)):
        at, slopes = 2 * n + c * (3 + 2 * n), [line.get(k, zero) for k in range(n)]
        f_t = along([row], [(t, one)])[0]
        values = [row, f_t, *along([f_t], moving), *slopes, *along(slopes, moving)]
        part |= {at + k: value for k, value in enumerate(values)}
    return part, {f"s{k}": k for k in range(n)} | {f"d{k}": n + k for k in range(n)}


def _profile(owner: str, function: Any, psi: Node) -> Node:
    def called(t: Any) -> Any:
        return function(psi)

    (f,) = trace(owner, called, {"t": psi}, psi.graph, function)
    return f


def trace_relations(owner: str, function: Any, s: Sequence[Any], t: Any, graph: Graph, timed: bool) -> list[Node]:
    """The residuals of a user's function of joint coordinates."""

    def called(t: Any) -> Any:
        return function(*s, t) if timed else function(*s)

    return trace(owner, called, {"t": t}, graph, function)


def _on_symbols(owner: str, function: Any, count: int, timed: bool) -> tuple[list[Node], list[Node]]:
    graph = Graph()
    s = [graph.input(f"s{k}") for k in range(count)]
    return trace_relations(owner, function, s, graph.input("t"), graph, timed), s


def count_relations(owner: str, function: Any, names: Sequence[str], timed: bool) -> int:
    """How many residuals a user's function of joint coordinates has; raises where it cannot be traced."""
    rows, s = _on_symbols(owner, function, len(names), timed)
    if not rows:
        raise ModelError(f"{owner}: its function returned nothing; return one or more residuals that must vanish")
    warn_if_rough(owner, rows)
    used: set[int] = set()
    for k, slopes in enumerate(jacobian(rows, s)):
        used |= slopes.keys()
        if not slopes:
            raise ModelError(f"{owner}: residual {k + 1} of its function depends on none of {', '.join(map(repr, names))}")
    if unused := [name for k, name in enumerate(names) if k not in used]:
        raise ModelError(f"{owner}: its function does not use {', '.join(map(repr, unused))}; leave it out of joints")
    return len(rows)


def slopes(function: Any, s: npt.NDArray[np.float64], t: npt.NDArray[np.float64], timed: bool) -> npt.NDArray[np.float64]:
    """(nt, rows, n) derivatives of a user's relations by the coordinates s (nt, n)."""
    rows, inputs = _on_symbols("coupling", function, s.shape[1], timed)
    lines = jacobian(rows, inputs)
    out = np.zeros((len(s), len(rows), s.shape[1]))
    for at, (here, time) in enumerate(zip(s.tolist(), t.tolist(), strict=True)):
        point = {f"s{k}": value for k, value in enumerate(here)} | {"t": time}
        for r, line in enumerate(lines):
            out[at, r, list(line)] = evaluate(list(line.values()), point)
    return out
