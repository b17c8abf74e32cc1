"""Relations of joint coordinates as traced rows: linear ones of a coupling, and those that a user writes.

A part says which coordinate it is and of which two of the primitive's bodies; ten numbers follow for each:

    "angle i j"         c, a_i, n_i, a_j:   s = phi + atan2(sin, cos)(alpha - phi),  alpha the angle of a_j about n_i from a_i
    "translation i j"   c, p_i, p_j, a_i:   s = (R_i a_i) . (x_j - x_i)

phi is what the state has counted, full turns included: a constant of the row, so that s is smooth all around.

    coupling            g = sum_k c_k s_k - offset
    a user's function   g = f(s_1, ..., s_n), and t if it takes that
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError
from dalembert.lagrangian.derivatives import jacobian
from dalembert.lagrangian.graph import Graph, Node, evaluate
from dalembert.lagrangian.laws import Data, TracedBody, cross
from dalembert.lagrangian.tracer import trace, warn_if_rough

NUMBERS = 10  # of one part


def coordinates(parts: Sequence[str], d: Data, bodies: Sequence[TracedBody]) -> list[Any]:
    """The joint coordinates of a primitive's parts."""
    found, turns = [], iter(d.turns)
    for k, part in enumerate(parts):
        kind, i, j = part.split()
        first, second = bodies[int(i)], bodies[int(j)]
        a, b, c = (d.numbers[NUMBERS * k + at : NUMBERS * k + at + 3] for at in (1, 4, 7))
        if kind == "angle":
            e, phi = first.R.T @ (second.R @ c), next(turns)
            x, y = a @ e, cross(b, a) @ e
            found.append(phi + np.arctan2(y * np.cos(phi) - x * np.sin(phi), x * np.cos(phi) + y * np.sin(phi)))
        else:
            found.append(first.direction(c) @ (second.point(b) - first.point(a)))
    return found


def coupling(parts: Sequence[str], d: Data, bodies: Sequence[TracedBody]) -> list[Any]:
    """sum_k c_k s_k - offset"""
    total = -d.offset
    for k, s in enumerate(coordinates(parts, d, bodies)):
        total = total + d.numbers[NUMBERS * k] * s
    return [total]


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
