"""Rows of traced constraints on bodies: residual, 6-vector rows per body and bias, all from one traced function.

    D f       derivative along the motion: r' = v, R' = R w_B^, t' = 1, velocities held
    d_b f     derivatives in quasi-displacements of body b: (dr, dphi_B) with dR = R dphi_B^
    U  g:     A = d_b g,  g_t = dg/dt,  zeta = D D g                    (holonomic)
    V  f:     A = df/d(v, w_B),  g_t = f - A u,  zeta = D f,  g = 0     (nonholonomic, linear in velocities)

The code of a primitive reads the records of both bodies (W_BODY) and its own numbers (PRIM_F); it leaves g, g_t, zeta, A_i, A_j
or, as kernels/mechanics/traced_rows.py expects, rows of d(A u + g_t)/dq, or of A' - A (0, w x .): the same for U, not for V.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.derivatives import along, jacobian
from dalembert.lagrangian.graph import Graph, Node, evaluate
from dalembert.lagrangian.laws import LAWS, Data, TracedBody
from dalembert.lagrangian.source import Part, write_source
from dalembert.lagrangian.tracer import trace, warn_if_rough
from dalembert.model.elements import Primitive
from dalembert.model.serialise import MissingFunction

INPUTS = 2 * T.STATE_W + T.PRIM_F_W
MOST_ROWS = 3  # per primitive, as PRIM_I has places for
ROWS = INPUTS + 3 * MOST_ROWS
_BENDS = ROWS + 12 * MOST_ROWS


class _Bodies:
    """Both bodies and the primitive's numbers as inputs of a graph, in the order in which they lie in W."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.names = [f"x{k}" for k in range(INPUTS)]
        self.nodes = [self.graph.input(name) for name in self.names]
        self.t = self.graph.input("t")

    def vector(self, at: int) -> Any:
        return _array(self.nodes[at : at + 3])

    def R(self, side: int) -> Any:
        at = T.STATE_W * side + T.S_ROT
        return _array(self.nodes[at : at + 9]).reshape(3, 3)

    def twist(self, side: int) -> list[Node]:
        at = T.STATE_W * side + T.S_V
        return self.nodes[at : at + 6]

    def body(self, name: str, side: int, moving: bool) -> TracedBody:
        at = T.STATE_W * side
        r, R = self.vector(at + T.S_R), self.R(side)
        return TracedBody(name, r, R, self.vector(at + T.S_V), self.vector(at + T.S_W)) if moving else TracedBody(name, r, R)

    def data(self) -> Data:
        at = 2 * T.STATE_W
        places = (T.PF_PI, T.PF_PJ, T.PF_AI, T.PF_AJ, T.PF_NI)
        p_i, p_j, a_i, a_j, n_i = (self.vector(at + place) for place in places)
        return Data(p_i, p_j, a_i, a_j, n_i, self.nodes[at + T.PF_OFFSET])

    def motion(self, side: int, v: Sequence[Any], w: Sequence[Any]) -> list[tuple[Node, Node]]:
        """Rates of a body's position and rotation for a twist (v, w_B)."""
        at = T.STATE_W * side
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
        moving = [pair for side in (0, 1) for pair in self.motion(side, self.twist(side)[:3], self.twist(side)[3:])]
        return along(values, [*moving, (self.t, self.graph.constant(1.0))])


def _array(nodes: Sequence[Any]) -> Any:
    made = np.empty(len(nodes), dtype=object)
    made[:] = list(nodes)
    return made


@cache
def _law_part(law: str, moving: bool) -> tuple[Part, Part, Part]:
    bodies = _Bodies()
    first, second = bodies.body("first", 0, moving), bodies.body("second", 1, moving)
    return _with_bends(bodies, LAWS[law](bodies.data(), first, second), moving)


def _function_part(owner: str, names: Sequence[str], primitive: Primitive) -> tuple[Part, Part, Part]:
    bodies, moving = _Bodies(), primitive.kind == "V"
    rows = trace_function(owner, names, primitive.function, bodies, moving)
    values = [row for row, label in zip(rows, _labels(len(rows)), strict=True) if label in primitive.labels]
    return _with_bends(bodies, values, moving)


def _labels(count: int) -> list[str]:
    return [str(k + 1) for k in range(count)]


def trace_function(owner: str, names: Sequence[str], function: Any, bodies: _Bodies, moving: bool) -> list[Node]:
    """The residuals of a user's function of both bodies or of the second alone, and of t if it takes that."""
    if isinstance(function, MissingFunction):
        function()  # raises and names what the file could not hold
    arguments, timed = function_arguments(function)
    given = [bodies.body(name, side, moving) for side, name in enumerate(names)][2 - len(arguments) :]

    def called(t: Any) -> Any:
        return function(*given, t) if timed else function(*given)

    return trace(owner, called, {"t": bodies.t}, bodies.graph, function)


def function_arguments(function: Any) -> tuple[list[str], bool]:
    """Names of the arguments that stand for bodies, and whether t follows."""
    names = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    timed = names[-1:] == ["t"]
    return (names[:-1], True) if timed else (names, False)


def count_rows(owner: str, names: Sequence[str], function: Any, moving: bool) -> int:
    """How many residuals a user's function has; raises where it cannot be traced or is not linear in velocities."""
    bodies = _Bodies()
    rows = trace_function(owner, names, function, bodies, moving)
    if not rows:
        raise ModelError(f"{owner}: its function returned nothing; return one or more residuals that must vanish")
    warn_if_rough(owner, rows)
    twists = [*bodies.twist(0), *bodies.twist(1)]
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
        elif not any(any(not v.is_constant(0.0) for v in bodies.quasi([row], side)[0]) for side in (0, 1)):
            raise ModelError(f"{owner}: {which} does not depend on the position of {' or '.join(map(repr, names))}")
    return len(rows)


def _part(bodies: _Bodies, values: Sequence[Node], moving: bool) -> tuple[Part, list[Node]]:
    """Where each value of a primitive's code goes, counted from W[s]; and A u + g_t."""
    zero = bodies.graph.constant(0.0)
    n = len(values)
    if moving:
        residual: list[Node] = [zero] * n
        velocity = list(values)
        slopes = jacobian(velocity, [*bodies.twist(0), *bodies.twist(1)])
        rows = [[[line.get(6 * side + k, zero) for k in range(6)] for line in slopes] for side in (0, 1)]
        g_t = []
        for row, line in zip(velocity, slopes, strict=True):
            total = row
            for k, slope in line.items():
                total = total - slope * [*bodies.twist(0), *bodies.twist(1)][k]
            g_t.append(total)
    else:
        residual, velocity = list(values), bodies.rate(values)
        rows = [bodies.quasi(values, side) for side in (0, 1)]
        g_t = along(values, [(bodies.t, bodies.graph.constant(1.0))])
    zeta = bodies.rate(velocity)
    part: dict[int, Node] = {}
    for k in range(n):
        part |= {INPUTS + k: residual[k], INPUTS + MOST_ROWS + k: g_t[k], INPUTS + 2 * MOST_ROWS + k: zeta[k]}
    return part | _rows_at(ROWS, rows), velocity


def _rows_at(first: int, rows: Sequence[Sequence[Sequence[Node]]]) -> dict[int, Node]:
    """Rows of both bodies, six numbers each, from a place on."""
    return {
        first + 6 * MOST_ROWS * side + 6 * k + i: value
        for side in (0, 1)
        for k, row in enumerate(rows[side])
        for i, value in enumerate(row)
    }


def _with_bends(bodies: _Bodies, values: Sequence[Node], moving: bool) -> tuple[Part, Part, Part]:
    """Code of the rows, of d(A u + g_t)/dq, and of A' - A (0, w x .)."""
    part, velocity = _part(bodies, values, moving)
    bends = _rows_at(_BENDS, [bodies.quasi(velocity, side) for side in (0, 1)])
    return part, bends, _turns(bodies, part, len(values)) if moving else bends


def _turns(bodies: _Bodies, part: Part, n: int) -> Part:
    turned = []
    for side in (0, 1):
        lines = []
        for k in range(n):
            row = [part[ROWS + 6 * MOST_ROWS * side + 6 * k + i] for i in range(6)]
            spin = np.cross(_array(row[3:]), _array(bodies.twist(side)[3:]))
            rate = bodies.rate(row)
            lines.append([*rate[:3], *(a - b for a, b in zip(rate[3:], spin, strict=True))])
        turned.append(lines)
    return _rows_at(_BENDS, turned)


def row_source(
    primitives: Sequence[tuple[str, tuple[str, ...], Primitive]], others: Mapping[int, Part] | None = None
) -> tuple[str, str, str, list[int]]:
    """Code of the callback for (owner, body names, primitive) of traced kinds, the same with d(A u + g_t)/dq and with
    A' - A (0, w x .), which few runs need, and the number by which each primitive is called; others : more parts, in all."""
    rows: dict[int, Part] = {}
    bends: dict[int, Part] = {}
    turns: dict[int, Part] = {}
    numbers: list[int] = []
    known: dict[tuple[Any, ...], int] = {}
    for owner, names, primitive in primitives:
        law = primitive.law
        same = (law, primitive.kind, primitive.labels, primitive.function)  # one function may hold several pairs of bodies
        if same not in known:
            number = known[same] = T.FIRST_ROWS + len(rows)
            parts = _law_part(law, primitive.kind == "V") if law else _function_part(owner, names, primitive)
            rows[number], bends[T.BEND_CODE + number], turns[T.BEND_CODE + number] = parts
        numbers.append(known[same])
    inputs = {name: k for k, name in enumerate(_Bodies().names)}
    more = dict(others or {})
    sources = [write_source(rows | parts | more, inputs) for parts in ({}, bends, turns)]
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
