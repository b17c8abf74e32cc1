"""Equations of motion from a Lagrangian: derivatives of graphs, and where their values lie in the workspace.

    M = L_vv,   h = L_q - D L_v + Q,   D = v . d/dq + d/dt           [Variational, (5), (10)]
    g' = D g = G v + g_t,   zeta = D D g                              (holonomic)
    f = Gamma v + gamma_t,  zeta_n = D f                              (nonholonomic, linear in v)
    T = 1/2 v . M v,   U = v . L_v - L - T                           (energy; its rate is Q . v - L_t - lam . b)

D holds v fixed. Deviation: L of any form in v is allowed, [Variational] has L = T - U with T quadratic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import BLOCKS, ENERGIES
from dalembert.lagrangian.derivatives import Sparse, along, gradient, jacobian
from dalembert.lagrangian.graph import Graph, Node, evaluate
from dalembert.lagrangian.source import Part
from dalembert.lagrangian.tracer import Named, shaped


@dataclass(frozen=True)
class Constraint:
    """A user's constraint: its name, and one graph node per row."""

    name: str
    rows: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Equations:
    """The graph of a system and all that is derived from it; q, v, p : input nodes;  force : Q by coordinate."""

    graph: Graph
    names: tuple[str, ...]
    q: tuple[Node, ...]
    v: tuple[Node, ...]
    t: Node
    p: tuple[Node, ...]
    lagrangian: Node
    holonomic: tuple[Constraint, ...]
    nonholonomic: tuple[Constraint, ...]
    force: tuple[Node, ...]

    @property
    def n(self) -> int:
        return len(self.q)

    @cached_property
    def g(self) -> list[Node]:
        return [row for constraint in self.holonomic for row in constraint.rows]

    @cached_property
    def f(self) -> list[Node]:
        """Velocity-level residuals of all rows, A v + b: holonomic rows first."""
        return self.rate(self.g) + [row for constraint in self.nonholonomic for row in constraint.rows]

    @property
    def m(self) -> int:
        return len(self.f)

    def rate(self, values: Sequence[Node]) -> list[Node]:
        """D of each value: along the motion, velocities held."""
        one = self.graph.constant(1.0)
        return along(values, [*zip(self.q, self.v, strict=True), (self.t, one)])

    @cached_property
    def A(self) -> list[Sparse]:
        """Rows of [G; Gamma]."""
        return jacobian(self.f, self.v)

    @cached_property
    def b(self) -> list[Node]:
        """[g_t; gamma_t]"""
        moving = [(self.t, self.graph.constant(1.0))]
        parts = along(self.g, moving)
        for row, slopes in zip(self.f[len(self.g) :], self.A[len(self.g) :], strict=True):
            total = row
            for k, slope in slopes.items():
                total = total - slope * self.v[k]
            parts.append(total)
        return parts

    @cached_property
    def L_v(self) -> list[Node]:
        return gradient(self.lagrangian, self.v)

    @cached_property
    def L_q(self) -> list[Node]:
        return gradient(self.lagrangian, self.q)

    @cached_property
    def M(self) -> list[Sparse]:
        return jacobian(self.L_v, self.v)

    @cached_property
    def h(self) -> list[Node]:
        return [a - b + Q for a, b, Q in zip(self.L_q, self.rate(self.L_v), self.force, strict=True)]

    @cached_property
    def power(self) -> Node:
        """Q . v - L_t"""
        total = -along([self.lagrangian], [(self.t, self.graph.constant(1.0))])[0]
        for Q, v in zip(self.force, self.v, strict=True):
            total = total + Q * v
        assert isinstance(total, Node)
        return total

    @cached_property
    def energies(self) -> tuple[Node, Node]:
        """T and U."""
        kinetic = total = self.graph.constant(0.0)
        for k, row in enumerate(self.M):
            for j, entry in row.items():
                kinetic = kinetic + 0.5 * (self.v[k] * (entry * self.v[j]))
        for v, momentum in zip(self.v, self.L_v, strict=True):
            total = total + v * momentum
        return kinetic, total - self.lagrangian - kinetic

    @property
    def given(self) -> dict[str, Any]:
        """What functions of the user take, by name."""
        q, v = (Named(kind, dict(zip(self.names, nodes, strict=True))) for kind, nodes in (("q", self.q), ("v", self.v)))
        p = Named("p", shaped({str(node.value).removeprefix("p:"): node for node in self.p}))
        return {"t": self.t, "q": q, "v": v, "p": p}

    @property
    def inputs(self) -> dict[str, int]:
        """Name of an input -> its offset from W[W_CALL]."""
        return {str(node.value): k for k, node in enumerate((*self.q, *self.v, *self.p))}

    @property
    def places(self) -> dict[int, int]:
        """Header entry -> offset of its section from W[W_CALL]; the end as W_SIZE."""
        n, m, at = self.n, self.m, len(self.inputs)
        sizes = {
            T.W_G: m, T.W_A: m * n, T.W_GT: m, T.W_MASS: n * n, T.W_H: n, T.W_BIAS: m,
            T.W_SCALARS: ENERGIES.width, T.W_INVARIANT: BLOCKS["invariant"].length(nq=n, m=m), T.W_TURN: m * n,
        }  # fmt: skip
        places = {}
        for entry, size in sizes.items():
            places[entry] = at
            at += size
        return places | {T.W_SIZE: at}

    def turn_part(self) -> Part:
        """The rate of A along the motion."""
        entries = [(i, j, value) for i, row in enumerate(self.A) for j, value in row.items()]
        rates = self.rate([value for *_, value in entries])
        at = self.places[T.W_TURN]
        return {at + self.n * i + j: rate for (i, j, _), rate in zip(entries, rates, strict=True)}

    def parts(self, invariants: Mapping[int, Node] | None = None) -> dict[int, Part]:
        """What each part of the generated code computes; invariants : nodes by their number."""
        at, n = self.places, self.n
        rows = row_major(at[T.W_A], self.A, n) | column(at[T.W_GT], self.b)
        mass = row_major(at[T.W_MASS], self.M, n) | column(at[T.W_H], self.h)
        rest = column(at[T.W_BIAS], self.rate(self.f)) | column(at[T.W_SCALARS], [self.power])
        made: dict[int, Part] = {
            T.ROWS_PART: column(at[T.W_G], self.g) | rows,
            T.MOTION_PART: mass | rows | rest,
            T.ENERGY_PART: column(at[T.W_SCALARS] + ENERGIES.fields["kinetic"][1], self.energies),
        }
        first, places = at[T.W_INVARIANT], BLOCKS["invariant"]
        for number, value in (invariants or {}).items():
            bend = row_major(first + places.offset("B", nq=n, m=self.m), jacobian(self.f, self.q), n)
            slopes = jacobian([value], (*self.q, *self.v))
            made[number] = {first: value} | row_major(first + places.offset("f_q"), slopes, 2 * n) | bend
        return made

    def check_linear(self) -> None:
        """Raise for a nonholonomic constraint that is not linear in the velocities, and for one without velocities."""
        rng = np.random.default_rng(0)
        for constraint in self.nonholonomic:
            for row in constraint.rows:
                slopes = jacobian([row], self.v)[0]
                if not slopes:
                    raise ModelError(
                        f"nonholonomic constraint {constraint.name!r} does not contain a velocity; give it as holonomic"
                    )
                bends = jacobian(list(slopes.values()), self.v)
                curved = [(k, j, bend) for k, line in zip(slopes, bends, strict=True) for j, bend in line.items()]
                if not curved:
                    continue
                found = np.zeros(len(curved))
                for _ in range(3):
                    point = {name: rng.uniform(0.4, 1.4) for name in (*self.inputs, "t")}
                    found = np.fmax(found, np.abs(evaluate([bend for *_, bend in curved], point)))
                culprits = [self.names[k] for (k, _, _), size in zip(curved, found, strict=True) if not size <= 1e-10]
                if culprits:
                    listed = ", ".join(f"{name}'" for name in dict.fromkeys(culprits))
                    raise ModelError(
                        f"nonholonomic constraint {constraint.name!r} is not linear in the velocities {listed};"
                        " the principle of d'Alembert covers a(q, t) . v + b(q, t) = 0 only"
                    )


def column(first: int, values: Sequence[Node]) -> dict[int, Node]:
    return {first + k: value for k, value in enumerate(values)}


def row_major(first: int, rows: Sequence[Sparse], width: int) -> dict[int, Node]:
    return {first + width * i + j: value for i, row in enumerate(rows) for j, value in row.items()}
