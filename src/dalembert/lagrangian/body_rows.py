"""Rows of traced constraints on bodies: residual, 6-vector rows per body and bias, all from one traced function.

    D f       derivative along the motion: r' = v, R' = R w_B^, t' = 1, velocities held
    d_b f     derivatives in quasi-displacements of body b: (dr, dphi_B) with dR = R dphi_B^
    U  g:     A = d_b g,  g_t = dg/dt,  zeta = D D g                    (holonomic)
    V  f:     A = df/d(v, w_B),  g_t = f - A u,  zeta = D f,  g = 0     (nonholonomic, linear in velocities)

The code of a primitive reads and leaves what kernels/mechanics/traced_rows.py says; for BENDS it leaves rows of
d(A u + g_t)/dq or, where asked for, of A' - A (0, w x .): the same for U, not for V.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import column, width
from dalembert.lagrangian.derivatives import along, jacobian
from dalembert.lagrangian.graph import Graph, Node, evaluate
from dalembert.lagrangian.laws import LAWS, Data, TracedBody
from dalembert.lagrangian.relations import relation_part
from dalembert.lagrangian.source import Part, write_source
from dalembert.lagrangian.tracer import trace, warn_if_rough
from dalembert.model.elements import MOST_ROWS, Primitive
from dalembert.model.serialise import MissingFunction

STATE: int = width(T.W_BODY)
DATA: int = width(T.PRIM_F)


@dataclass(frozen=True)
class Size:
    """How many bodies the code of a primitive reads, and so where what it leaves is."""

    bodies: int = 2

    @property
    def inputs(self) -> int:
        return STATE * self.bodies + DATA

    @property
    def rows(self) -> int:
        return self.inputs + 3 * MOST_ROWS

    @property
    def bends(self) -> int:
        return self.rows + 6 * MOST_ROWS * self.bodies

    @property
    def total(self) -> int:
        return self.bends + 6 * MOST_ROWS * self.bodies


class _Bodies:
    """The bodies and the primitive's numbers as inputs of a graph, in the order in which they lie in W."""

    def __init__(self, size: Size) -> None:
        self.size, self.sides = size, range(size.bodies)
        self.graph = Graph()
        self.names = [f"x{k}" for k in range(size.inputs)]
        self.nodes = [self.graph.input(name) for name in self.names]
        self.t = self.graph.input("t")

    def vector(self, at: int) -> Any:
        return _array(self.nodes[at : at + 3])

    def R(self, side: int) -> Any:
        at = STATE * side + column(T.W_BODY, "R")
        return _array(self.nodes[at : at + 9]).reshape(3, 3)

    def twist(self, side: int) -> list[Node]:
        at = STATE * side + column(T.W_BODY, "v")
        return self.nodes[at : at + 6]

    @property
    def twists(self) -> list[Node]:
        """Of all bodies, six after six."""
        return [node for side in self.sides for node in self.twist(side)]

    def body(self, name: str, side: int, moving: bool) -> TracedBody:
        at = STATE * side
        r, v, w = (self.vector(at + column(T.W_BODY, label)) for label in "rvw")
        return TracedBody(name, r, self.R(side), v, w) if moving else TracedBody(name, r, self.R(side))

    def data(self) -> Data:
        at = STATE * self.size.bodies
        vectors = {label: self.vector(at + column(T.PRIM_F, label)) for label in ("p_i", "p_j", "a_i", "a_j", "n_i")}
        return Data(**vectors, offset=self.nodes[at + column(T.PRIM_F, "offset")])

    def motion(self, side: int, v: Sequence[Any], w: Sequence[Any]) -> list[tuple[Node, Node]]:
        """Rates of a body's position and rotation for a twist (v, w_B)."""
        at = STATE * side
        zero = self.graph.constant(0.0)
        hat = _array([zero, -w[2], w[1], w[2], zero, -w[0], -w[1], w[0], zero]).reshape(3, 3)
        rates = [*v, *(self.R(side) @ hat).ravel()]
        return list(zip(self.nodes[at : at + 12], rates, strict=True))

    def quasi(self, values: Sequence[Node], side: int) -> list[list[Node]]:
        """Per value its six derivatives in quasi-displacements of one body."""
        zero, one = self.graph.constant(0.0), self.graph.constant(1.0)
        columns = []
        for k in range(6):
            unit = [one if k == i else zero for i in range(6)]
            columns.append(along(values, self.motion(side, unit[:3], unit[3:])))
        return [[column[i] for column in columns] for i in range(len(values))]

    def rate(self, values: Sequence[Node]) -> list[Node]:
        """D of each value."""
        moving = [pair for side in self.sides for pair in self.motion(side, self.twist(side)[:3], self.twist(side)[3:])]
        return along(values, [*moving, (self.t, self.graph.constant(1.0))])


def _array(nodes: Sequence[Any]) -> Any:
    made = np.empty(len(nodes), dtype=object)
    made[:] = list(nodes)
    return made


@cache
def _law_part(law: str, size: Size, moving: bool) -> tuple[Part, Part, Part]:
    bodies = _Bodies(size)
    given = [bodies.body(str(side), side, moving) for side in bodies.sides]
    return _with_bends(bodies, LAWS[law](bodies.data(), *given), moving)


def _function_part(owner: str, names: Sequence[str], primitive: Primitive) -> tuple[Part, Part, Part]:
    bodies, moving = _Bodies(Size(len(names))), primitive.kind == "V"
    rows = trace_function(owner, names, primitive.function, bodies, moving)
    values = [row for k, row in enumerate(rows, start=1) if str(k) in primitive.labels]
    if len(values) != len(primitive.labels):
        raise ModelError(f"{owner}: its function returned {len(rows)} residuals, and not the same number as before")
    return _with_bends(bodies, values, moving)


def trace_function(owner: str, names: Sequence[str], function: Any, bodies: _Bodies, moving: bool) -> list[Node]:
    """The residuals of a user's function of all bodies or of the second of two alone, and of t if it takes that."""
    arguments, timed = function_arguments(_called(function))
    given = [bodies.body(name, side, moving) for side, name in enumerate(names)][len(names) - len(arguments) :]

    def called(t: Any) -> Any:
        return function(*given, t) if timed else function(*given)

    return trace(owner, called, {"t": bodies.t}, bodies.graph, function)


def _called(function: Any) -> Any:
    if isinstance(function, MissingFunction):
        function()  # raises and names what the file could not hold
    return function


def function_arguments(function: Any) -> tuple[list[str], bool]:
    """Names of the arguments that stand for bodies, and whether t follows."""
    names = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    timed = names[-1:] == ["t"]
    return (names[:-1], True) if timed else (names, False)


def count_rows(owner: str, names: Sequence[str], function: Any, moving: bool) -> int:
    """How many residuals a user's function has; raises where it cannot be traced or is not linear in velocities."""
    bodies = _Bodies(Size(len(names)))
    rows = trace_function(owner, names, function, bodies, moving)
    if not rows:
        raise ModelError(f"{owner}: its function returned nothing; return one or more residuals that must vanish")
    warn_if_rough(owner, rows)
    twists = bodies.twists
    rng = np.random.default_rng(0)
    for k, (row, slopes) in enumerate(zip(rows, jacobian(rows, twists), strict=True)):
        which = f"residual {k + 1} of its function"
        if moving:
            if not slopes:
                raise ModelError(f"{owner}: {which} contains no velocity; give it to add_constraint")
            bends = [bend for line in jacobian(list(slopes.values()), twists) for bend in line.values()]
            for _ in range(3):
                point = {name: rng.uniform(0.4, 1.4) for name in (*bodies.names, "t")}
                if bends and max(abs(value) for value in evaluate(bends, point)) > 1e-10:
                    raise ModelError(
                        f"{owner}: {which} is not linear in the velocities; the principle of d'Alembert covers constraints"
                        " A u + b = 0 only"
                    )
        elif not any(any(not v.is_constant(0.0) for v in bodies.quasi([row], side)[0]) for side in bodies.sides):
            raise ModelError(f"{owner}: {which} does not depend on the position of {' or '.join(map(repr, names))}")
    return len(rows)


def _part(bodies: _Bodies, values: Sequence[Node], moving: bool) -> tuple[Part, list[Node]]:
    """Where each value of a primitive's code goes, counted from W[s]; and A u + g_t."""
    zero = bodies.graph.constant(0.0)
    n = len(values)
    if moving:
        residual: list[Node] = [zero] * n
        velocity = list(values)
        slopes = jacobian(velocity, bodies.twists)
        rows = [[[line.get(6 * side + k, zero) for k in range(6)] for line in slopes] for side in bodies.sides]
        g_t = []
        for row, line in zip(velocity, slopes, strict=True):
            total = row
            for k, slope in line.items():
                total = total - slope * bodies.twists[k]
            g_t.append(total)
    else:
        residual, velocity = list(values), bodies.rate(values)
        rows = [bodies.quasi(values, side) for side in bodies.sides]
        g_t = along(values, [(bodies.t, bodies.graph.constant(1.0))])
    zeta = bodies.rate(velocity)
    part: dict[int, Node] = {}
    at = bodies.size.inputs
    for k in range(n):
        part |= {at + k: residual[k], at + MOST_ROWS + k: g_t[k], at + 2 * MOST_ROWS + k: zeta[k]}
    return part | _rows_at(bodies.size.rows, rows), velocity


def _rows_at(first: int, rows: Sequence[Sequence[Sequence[Node]]]) -> dict[int, Node]:
    """Rows of all bodies, six numbers each, from a place on."""
    return {
        first + 6 * MOST_ROWS * side + 6 * k + i: value
        for side, own in enumerate(rows)
        for k, row in enumerate(own)
        for i, value in enumerate(row)
    }


def _with_bends(bodies: _Bodies, values: Sequence[Node], moving: bool) -> tuple[Part, Part, Part]:
    """Code of the rows, of d(A u + g_t)/dq, and of A' - A (0, w x .)."""
    part, velocity = _part(bodies, values, moving)
    bends = _rows_at(bodies.size.bends, [bodies.quasi(velocity, side) for side in bodies.sides])
    return part, bends, _turns(bodies, part, len(values)) if moving else bends


def _turns(bodies: _Bodies, part: Part, n: int) -> Part:
    turned = []
    for side in bodies.sides:
        lines = []
        for k in range(n):
            row = [part[bodies.size.rows + 6 * MOST_ROWS * side + 6 * k + i] for i in range(6)]
            spin = np.cross(_array(row[3:]), _array(bodies.twist(side)[3:]))
            rate = bodies.rate(row)
            lines.append([*rate[:3], *(a - b for a, b in zip(rate[3:], spin, strict=True))])
        turned.append(lines)
    return _rows_at(bodies.size.bends, turned)


def row_source(
    primitives: Sequence[tuple[str, tuple[str, ...], Primitive]], others: Mapping[int, Part] | None = None
) -> tuple[str, str, str, list[int]]:
    """Code of the callback for (owner, body names, primitive) of traced kinds, the same with d(A u + g_t)/dq, then with
    A' - A (0, w x .) too, which few runs need, and the number by which each primitive is called; others : more parts."""
    rows: dict[int, Part] = {}
    bends: dict[int, Part] = {}
    turns: dict[int, Part] = {}
    numbers: list[int] = []
    known: dict[tuple[Any, ...], int] = {}
    inputs: dict[str, int] = {}
    for owner, names, primitive in primitives:
        law, size, moving = primitive.law, Size(len(names)), primitive.kind == "V"
        # one function may hold several sets of bodies
        same = (law, len(primitive.parts), size, primitive.kind, primitive.labels, primitive.function)
        if law and law not in LAWS and primitive.function is None:  # a relation without code
            numbers.append(T.FIRST_ROWS)
            continue
        if same not in known:
            number = known[same] = T.FIRST_ROWS + len(rows)
            if law and law not in LAWS:
                timed = function_arguments(_called(primitive.function))[1]
                rows[number], own = relation_part(owner, primitive, len(primitive.parts) or 2, timed)
                inputs |= own
            else:
                parts = _law_part(law, size, moving) if law else _function_part(owner, names, primitive)
                inputs |= {f"x{k}": k for k in range(size.inputs)}
                rows[number], bends[T.BEND_CODE + number], turns[T.TURN_CODE + number] = parts
        numbers.append(known[same])
    if not rows and not others:
        return "", "", "", numbers
    more = dict(others or {})
    sources = [write_source(rows | parts | more, inputs) for parts in ({}, bends, bends | turns)]
    return sources[0], sources[1], sources[2], numbers


def plain(source: str) -> Callable[[int, float, Any, int], int]:
    """The same code as plain Python, for assembly and rank analysis."""
    space: dict[str, Any] = {"np": np}
    exec(compile(source, "traced constraints", "exec"), space)
    made: Callable[[int, float, Any, int], int] = space["callback"]

    def called(k: int, t: float, W: Any, s: int) -> int:
        try:
            return made(k, t, W, s)
        except ArithmeticError:  # of Python's own numbers; those of NumPy give the NaN or infinity that compiled code gives
            values = np.array(W)
            with np.errstate(all="ignore"):
                status = made(k, np.float64(t), values, s)
            W[:] = values.tolist()
            return status

    return called
