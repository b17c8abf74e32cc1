"""Variational: discrete Lagrange-d'Alembert integrators for Lagrangian systems and for bodies [Variational, 4-7]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from dalembert.arrays import Array, IntArray
from dalembert.compilation.callbacks import Callbacks
from dalembert.compilation.catalogue import Kernel
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.lagrangian import GeneratedCode, LagrangianMechanism, new_workspace
from dalembert.compilation.lagrangian_start import without_inertia
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import new_workspace as bodies_workspace
from dalembert.errors import ModelError
from dalembert.formulations.base import Formulation, seams
from dalembert.formulations.run import Run
from dalembert.integrators.collocation_tableau import gauss_tableau
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import BLOCKS, HEADER_I, records
from dalembert.lagrangian.discrete import CURVES, METHODS, QUADRATURES, DiscreteEquations
from dalembert.model.validation import argument_count, shown

_STAGES = 4  # of the constraint flow
ENOUGH = 40_000_000  # columns times bodies whose forces are worth no compiling: exact ones save 0.1 us each


@dataclass(frozen=True, kw_only=True)
class Variational(Formulation):
    """A curve between neighbouring points, a quadrature of L along it, and the principle of d'Alembert on the sums.

    curve : "symplectic-euler", "midpoint", "verlet" (straight lines), or the path of an explicit method as it is made longer:
        "euler", "heun", "explicit-midpoint", "rk4"
    quadrature : of L along the curve, None = the curve's own; "left", "right", "midpoint", "trapezoidal", "simpson",
        "gauss-2", "gauss-3", "gauss-4"
    constraint_curve : nonholonomic Lagrangian systems: None or "flow" (of a tangent field, to rounding), or a function
        phi(q, v, h) with the coordinates after h of a curve that obeys the constraints and starts with v
    max_newton : iterations before the run stops

    With holonomic constraints alone the new point is put on them exactly. Goes with `FixedStep`.

    Bodies take the straight lines: between two points they move with constant velocity and angular velocity. Their rows vanish
    in the mean along this curve, which puts the new point on the holonomic ones, and for rolling on a plane is the end of a
    curve that obeys the constraints throughout. Order 1 for "symplectic-euler", 2 for "midpoint" and "verlet"; compositions of
    these two have 4 and 6. A step costs O(n^3) in the number of bodies.
    """

    curve: str = "midpoint"
    quadrature: str | None = None
    constraint_curve: str | Callable[..., Any] | None = None
    max_newton: int = 30

    coordinates: ClassVar[tuple[str, ...]] = ("absolute", "planar", "generalised")
    citations: ClassVar[tuple[str, ...]] = ("Variational", "HairerLubichWanner2006")
    steps: ClassVar[Literal["any", "explicit", "own"]] = "own"
    largest_order: ClassVar[int | None] = 2
    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("variational", "formulations.variational", 6.4, "LagrangianSystem, --formulation variational"),
        Kernel("variational_bodies", "formulations.variational_bodies", 6.0, "--formulation variational"),
    )

    def __post_init__(self) -> None:
        for label, value, known in (("curve", self.curve, CURVES), ("quadrature", self.quadrature, (None, *QUADRATURES))):
            if not isinstance(value, str | None) or value not in known:
                raise ModelError(f"Variational: {label} is {shown(value)}; give one of {', '.join(filter(None, known))}")
        given = self.constraint_curve
        if not callable(given) and (not isinstance(given, str | None) or given not in (None, "flow")):
            raise ModelError(f"Variational: constraint_curve is {shown(given)}; give 'flow' or a function of q, v, h")
        if callable(self.constraint_curve) and argument_count(self.constraint_curve) < 2:
            raise ModelError("Variational: constraint_curve has too few arguments; choose them from q, v, h, p")
        self.check_positive("max_newton")

    def needs(self, mechanism: Compiled) -> set[str]:
        return {"variational" if mechanism.coordinates == "generalised" else "variational_bodies"}

    def prepare(self, mechanism: Compiled) -> Run:
        """Tables, the equations of a step, and compiled slots."""
        self.refuse_other_coordinates(mechanism)
        return self._of_bodies(mechanism) if isinstance(mechanism, Mechanism) else self._of_lagrangian(mechanism)

    def _of_bodies(self, mechanism: Mechanism) -> Run:
        from dalembert.kernels.formulations.variational_bodies import MEAN

        if self.curve in METHODS and self.curve != "euler":
            straight = ", ".join(curve for curve in CURVES if curve not in METHODS)
            raise ModelError(f"Variational: curve {self.curve!r} is for Lagrangian systems; bodies take {straight}")
        if self.constraint_curve is not None:
            raise ModelError("Variational: constraint_curve is for Lagrangian systems; bodies have their own, leave it out")
        I, F = mechanism.I.copy(), mechanism.F.copy()
        nodes, weights = QUADRATURES[self.quadrature or CURVES[self.curve]]
        table = gauss_tableau(MEAN)
        flags = np.zeros(mechanism.m)
        for row in mechanism.rows:
            if row.nonholonomic and row.index < mechanism.m:
                flags[row.index] = 1.0
        I[T.NODES], I[T.FLOW_F], I[T.MAX_NEWTON] = len(nodes), len(F), self.max_newton
        F[T.TOL_POSITION] = F[T.TOL_VELOCITY] = 1e-11
        columns = _columns(I)
        F = np.concatenate([F, nodes, weights, table.c[1 : MEAN + 1], table.a[MEAN + 1, 1 : MEAN + 1], flags, columns])
        I[T.W_BEND] = I[T.W_A]
        W = bodies_workspace(I)
        I[T.UNKNOWNS] = mechanism.nu + mechanism.m
        used = _place(len(W), ("node", "impulses"), I)
        W = np.concatenate([W, np.zeros(used - len(W))])
        callbacks, slopes = Callbacks(mechanism, rows="bends"), "exact_forces" if columns[0] > 0 else ""
        after = int(ENOUGH / max(1.0, columns[0] * I[T.NB]))
        kernels = seams("variational_bodies", "jet")
        return Run(mechanism, I, F, W, *kernels, 0, callbacks, own_slopes=slopes, slopes_after=after)

    def _of_lagrangian(self, mechanism: Compiled) -> Run:
        assert isinstance(mechanism, LagrangianMechanism)
        e = mechanism.model.equations
        if self.curve in METHODS and self.curve != "euler" and mechanism.F[T.AUGMENT] > 0:
            straight = ", ".join(curve for curve in CURVES if curve not in METHODS)
            raise ModelError(
                f"Variational: curve {self.curve!r} follows accelerations, and the velocity {without_inertia(mechanism)} has no"
                f" inertia of its own; give one of {straight}, euler"
            )
        closed = self.constraint_curve if callable(self.constraint_curve) else None
        discrete = DiscreteEquations(e, self.curve, self.quadrature or CURVES[self.curve], closed)
        I, F = mechanism.I.copy(), mechanism.F.copy()
        n, m = e.n, e.m
        if m == 0:
            I[T.FLOW] = T.NO_FLOW
        elif closed is not None:
            I[T.FLOW] = T.CLOSED_FORM
        else:
            I[T.FLOW] = T.TANGENT_FLOW if e.nonholonomic else T.HOLONOMIC_END
        for entry, offset in discrete.places.items():
            I[entry] = I[T.W_CALL] + offset
        I[T.UNKNOWNS] = 2 * n + m + (n if I[T.FLOW] >= T.TANGENT_FLOW else 0)
        I[T.W_SIZE] = _place(I[T.W_SIZE], ("node", "stages"), I)
        I[T.MAX_NEWTON], I[T.FLOW_F] = self.max_newton, len(F)
        F[T.TOL_POSITION] = F[T.TOL_VELOCITY] = 1e-11
        table = gauss_tableau(_STAGES)
        a, b = table.a[1 : _STAGES + 1, 1 : _STAGES + 1], table.a[_STAGES + 1, 1 : _STAGES + 1]
        upper = np.triu(b[:, None] * (a - b / 2), 1)
        F = np.concatenate([F, (upper - upper.T).ravel(), b, table.c[1 : _STAGES + 1]])
        code = GeneratedCode(mechanism.model, discrete=discrete)
        W = new_workspace(mechanism.model, I)
        return Run(mechanism, I, F, W, *seams("variational", "variational"), 0, code)


def _columns(I: IntArray) -> Array:
    """Bodies on which forces act in groups, of which no two share a force, nor have forces on one and the same third. For each
    velocity c of those in a group a column: how many; then of each c and per body, the ground first, whose it feels, or 0."""
    nb, table = int(I[T.NB]), records(I, I, T.FORCE_I)
    near: list[set[int]] = [set() for _ in range(nb + 1)]
    heads = np.flatnonzero(table["members"] > 0).tolist()
    for begin, end in pairwise([*heads, len(table)]):  # a force and its further records
        together = {*table["i"][begin:end].tolist(), *table["j"][begin:end].tolist()} - {0}
        for body in together:
            near[body] |= together
    groups: list[dict[int, int]] = []
    for body in range(1, nb + 1):
        felt = next((group for group in groups if not near[body] & group.keys()), None)
        if felt is None:
            groups.append(felt := {})
        felt |= dict.fromkeys(near[body], body)
    rigid = records(I, I, T.BODY_I)["kind"] == T.RIGID
    made = [(c, [group.get(body, 0) for body in range(nb + 1)]) for group in groups if group for c in range(6)]
    rows = [[c, *(b if b and (c < 3 or rigid[b]) else 0 for b in felt)] for c, felt in made]
    rows = [row for row in rows if any(row[1:])]
    return np.array([len(rows), *(number for row in rows for number in row)], dtype=float)


def _place(used: int, names: tuple[str, ...], I: IntArray) -> int:
    """Blocks of numbers behind what is used of a workspace; how much is used then."""
    for name in names:
        I[BLOCKS[name].entry] = used
        used += BLOCKS[name].length(**{size: I[HEADER_I[size]] for size in ("nb", "nq", "nu", "m", "unknowns")})
    return used
