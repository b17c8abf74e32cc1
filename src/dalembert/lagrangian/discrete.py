"""Discrete Lagrange-d'Alembert equations as graphs: a curve, a quadrature, and what Newton's method needs of them.

    psi(s; q, u)      curve from q with parameter u;   E(q, u) = psi(h)                                  [Variational, 4, 6]
    L_h = sum_i h w_i L(psi(c_i h), psi'(c_i h), t + c_i h)                                              discrete Lagrangian
    Lam(q, u, pi) = L_h(q, u) - pi . E(q, u)
    p_k + Lam_q + f_q + A(q_k)^T lam = 0,   Lam_u + f_u = 0,   q_k+1 = E(q_k, u),   p_k+1 = pi

With q_k+1 = E the two lines are p_k = -D1 L_h and p_k+1 = D2 L_h: the discrete equations [Variational, (22), (33)] in
position-momentum form, for any curve, without inverting E. Forces Q enter by their virtual work along the curve,
f_q = sum_i h w_i (d psi/dq)^T Q, f_u likewise. Deviation: [Variational, (52), (60)] eliminates variations with a basis; the
multipliers do the same without one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import BLOCKS
from dalembert.lagrangian.derivatives import along, gradient, jacobian
from dalembert.lagrangian.equations import Equations, column, row_major
from dalembert.lagrangian.graph import Graph, Node, rebuild
from dalembert.lagrangian.source import Part
from dalembert.lagrangian.tracer import trace

# nodes and weights on [0, 1]
QUADRATURES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "left": ((0.0,), (1.0,)),
    "right": ((1.0,), (1.0,)),
    "midpoint": ((0.5,), (1.0,)),
    "trapezoidal": ((0.0, 1.0), (0.5, 0.5)),
    "simpson": ((0.0, 0.5, 1.0), (1 / 6, 2 / 3, 1 / 6)),
    "gauss-2": ((0.5 - 3**-0.5 / 2, 0.5 + 3**-0.5 / 2), (0.5, 0.5)),
    "gauss-3": ((0.5 - 0.6**0.5 / 2, 0.5, 0.5 + 0.6**0.5 / 2), (5 / 18, 4 / 9, 5 / 18)),
    "gauss-4": (
        (0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970263),
        (0.17392742256872692, 0.3260725774312731, 0.3260725774312731, 0.17392742256872692),
    ),
}
# explicit Runge-Kutta methods that generate curves: rows of a, then b
METHODS: dict[str, tuple[tuple[tuple[float, ...], ...], tuple[float, ...]]] = {
    "euler": ((), (1.0,)),
    "heun": (((1.0,),), (0.5, 0.5)),
    "explicit-midpoint": (((0.5,),), (0.0, 1.0)),
    "rk4": (((0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}
# curve -> quadrature that belongs to it. Measured orders: the smaller of the quadrature's and twice the curve's, because the
# action is stationary: 1, 2, 2 for the straight lines, 1, 4, 4, 8 for the explicit methods; 2 with constraints, and the curve's
# own order with forces, which are no part of the action
_STRAIGHT = {"symplectic-euler": "left", "midpoint": "midpoint", "verlet": "trapezoidal"}
CURVES: dict[str, str] = _STRAIGHT | {"euler": "left", "heun": "gauss-2", "explicit-midpoint": "gauss-2", "rk4": "gauss-4"}


@dataclass(frozen=True, eq=False)
class DiscreteEquations:
    """The parts of generated code that a variational step calls, and where their inputs and outputs lie in W."""

    equations: Equations
    curve: str
    quadrature: str
    closed_form: Callable[..., Any] | None = None

    @property
    def pi(self) -> list[Node]:
        return [self.equations.graph.input(f"pi:{name}") for name in self.equations.names]

    @property
    def lam(self) -> list[Node]:
        return [self.equations.graph.input(f"lam:{k}") for k in range(self.equations.m)]

    @property
    def h(self) -> Node:
        return self.equations.graph.input("h")

    @property
    def inputs(self) -> dict[str, int]:
        """Name -> offset from W[W_CALL]: those of the equations, then pi, lam, h behind their outputs."""
        first = self.places[T.W_PI]
        more = [str(node.value) for node in (*self.pi, *self.lam, self.h)]
        return {name: k for k, name in enumerate(self.equations.inputs)} | {name: first + k for k, name in enumerate(more)}

    @property
    def places(self) -> dict[int, int]:
        """Header entry -> offset from W[W_CALL]."""
        n, m = self.equations.n, self.equations.m
        at = self.equations.places[T.W_SIZE]
        made = {T.W_MOMENTUM: at}
        at += n
        for name in ("step", "discrete", "bend", "curve"):
            made[BLOCKS[name].entry] = at
            at += BLOCKS[name].length(nq=n, m=m)
        return made | {T.W_SIZE: at}

    def parts(self) -> dict[int, Part]:
        """Discrete equations with their Jacobian, momentum, derivatives for the constraint flow or its closed form."""
        e, at, n = self.equations, self.places, self.equations.n
        made: dict[int, Part] = {
            T.DISCRETE_PART: column(at[T.W_DISCRETE], self._discrete()),
            T.MOMENTUM_PART: column(at[T.W_MOMENTUM], e.L_v) | row_major(e.places[T.W_MASS], e.M, n),
        }
        virtual = e.graph.constant(0.0)
        for lam, row in zip(self.lam, e.f, strict=True):
            virtual = virtual + lam * row
        reactions = gradient(virtual, e.v)
        if self.closed_form is not None:
            made[T.CURVE_PART] = self._closed_curve(self.closed_form, at[T.W_CURVE])
        elif e.nonholonomic:
            bends = jacobian(reactions, e.q)
            rows = row_major(e.places[T.W_A], e.A, n) | column(e.places[T.W_GT], e.b)
            made[T.FLOW_PART] = (
                row_major(at[T.W_FLOW], bends, n)
                | row_major(at[T.W_FLOW] + BLOCKS["bend"].offset("rows", nq=n), jacobian(e.f, e.q), n)
                | rows
            )
        return made

    def _closed_curve(self, function: Callable[..., Any], at: int) -> Part:
        e = self.equations
        given = {name: self.h if name == "h" else e.given[name] for name in "qvhp"}
        end = trace("the constraint curve", function, given, e.graph)
        if len(end) != e.n:
            raise ModelError(f"the constraint curve returned {len(end)} values; return the {e.n} coordinates after h")
        return column(at, end) | row_major(at + e.n, jacobian(end, e.v), e.n)

    def _discrete(self) -> list[Node]:
        """E, Lam_q + f_q, Lam_u + f_u, their derivatives by (u, pi), work: in this order."""
        e, graph, n = self.equations, self.equations.graph, self.equations.n
        s, one = graph.input("s"), graph.constant(1.0)
        psi = self._curve(s)
        psi_dot = along(psi, [(s, one)])
        nodes, weights = QUADRATURES[self.quadrature]
        total, work = graph.constant(0.0), graph.constant(0.0)
        f_q, f_u = [graph.constant(0.0)] * n, [graph.constant(0.0)] * n
        power_of = along([e.lagrangian], [(e.t, one)])[0]
        for c, w in zip(nodes, weights, strict=True):
            here = {"s": self.h * c}
            point, velocity = rebuild(graph, psi, here), rebuild(graph, psi_dot, here)
            at = dict(zip([str(node.value) for node in (*e.q, *e.v)], [*point, *velocity], strict=True)) | {
                "t": e.t + self.h * c
            }
            share = self.h * w
            L, L_t, *Q = rebuild(graph, [e.lagrangian, power_of, *e.force], at)
            total = total + share * L
            work = work - share * L_t
            for value, slopes, rate in zip(Q, jacobian(point, (*e.q, *e.v)), velocity, strict=True):
                work = work + share * value * rate
                for k, slope in slopes.items():
                    target = f_q if k < n else f_u
                    target[k % n] = target[k % n] + share * value * slope
        end = rebuild(graph, psi, {"s": self.h})
        for pi, value in zip(self.pi, end, strict=True):
            total = total - pi * value
        zero = graph.constant(0.0)
        first = [slope + f for slope, f in zip(gradient(total, (*e.q, *e.v)), (*f_q, *f_u), strict=True)]
        bends = jacobian(first, (*e.v, *self.pi))
        return [*end, *first, *(row.get(k, zero) for row in bends for k in range(2 * n)), work]

    def _state(self, q: Sequence[Node], v: Sequence[Node]) -> dict[str, Node]:
        """What takes the place of coordinates and velocities."""
        e = self.equations
        return dict(zip([str(node.value) for node in (*e.q, *e.v)], [*q, *v], strict=True))

    def _curve(self, s: Node) -> list[Node]:
        """psi(s; q, u) with u in the place of v."""
        e = self.equations
        if self.curve not in METHODS or self.curve == "euler":
            return [q + s * u for q, u in zip(e.q, e.v, strict=True)]
        rows, weights = METHODS[self.curve]
        ends: list[tuple[list[Node], list[Node]]] = []
        acceleration = _solve(e.graph, e.M, e.h)
        for row in (*((),), *rows):
            q, v = _stage(e.q, e.v, row, ends, s)
            at = self._state(q, v) | {"t": e.t + s * sum(row)}
            ends.append((v, rebuild(e.graph, acceleration, at)))
        return _stage(e.q, e.v, weights, ends, s)[0]


def _stage(
    q: Sequence[Node], v: Sequence[Node], row: Sequence[float], ends: Sequence[tuple[list[Node], list[Node]]], s: Node
) -> tuple[list[Node], list[Node]]:
    """x + s sum_j a_j k_j"""
    at, rate = list(q), list(v)
    for a, (k_q, k_v) in zip(row, ends, strict=False):
        at = [x + (s * a) * k for x, k in zip(at, k_q, strict=True)]
        rate = [x + (s * a) * k for x, k in zip(rate, k_v, strict=True)]
    return at, rate


def _solve(graph: Graph, M: Sequence[dict[int, Node]], h: Sequence[Node]) -> list[Node]:
    """M^-1 h by elimination in the graph; zeros stay zeros."""
    n, zero = len(h), graph.constant(0.0)
    A = np.array([[row.get(k, zero) for k in range(n)] for row in M], dtype=object)
    b = np.array(list(h), dtype=object)
    for k in range(n):
        for i in range(k + 1, n):
            if A[i, k].is_constant(0.0):
                continue
            factor = A[i, k] / A[k, k]
            A[i, k:] = A[i, k:] - factor * A[k, k:]
            b[i] = b[i] - factor * b[k]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            b[i] = b[i] - A[i, j] * b[j]
        b[i] = b[i] / A[i, i]
    return list(b)
