"""Minimal: independent velocities in the tangent space of the constraints, no multipliers [QRContinuation]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from dalembert.arrays import Array, IntArray
from dalembert.compilation.callbacks import Callbacks
from dalembert.compilation.catalogue import Kernel
from dalembert.compilation.compiled import Compiled, Series
from dalembert.compilation.lagrangian import GeneratedCode, LagrangianMechanism
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import new_workspace
from dalembert.compilation.tree import Tree, make_tree
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations.base import Formulation, seams, set_tolerances
from dalembert.formulations.invariants import Invariants, check_invariants, invariant_functions, with_invariants
from dalembert.formulations.run import Run
from dalembert.integrators.integrator import Integrator
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import MARKS, MARKS_SIZE, MINIMAL, records
from dalembert.kernels.base.views import Marks
from dalembert.model.validation import check_literals

Tables = tuple[IntArray, Array, Array]  # I, F, W

NEARBY = 50.0  # condition beyond which rates carry rounding that implicit stages may stall at
_BASES = ("qr", "svd", "eigen")
_ORDERS = {"integrator": -1, 1: 1, 4: 4}
_IN_STATE = ("s", "s_dot", "basis", "carry", "guard", "marks")  # behind the mechanism's own state


@dataclass(frozen=True, kw_only=True)
class Minimal(Formulation):
    """Maggi's equations in a basis of the tangent space that is fixed during a step; positions corrected along Q1 after it.

    basis : how a basis is found from the constraint Jacobian: "qr" (pivoted), "svd", "eigen"
    continuation : carry the basis from step to step, so that the independent velocities s' are smooth; False: a new one
    order : of the continuation: "integrator" (Q2' = -A^+ A' Q2 integrated with the motion), 1 (exponential of the generator
        at the start of the step) or 4 (Munthe-Kaas)
    singular : "stop" refuses steps to or across a singular configuration, "pass" makes them on the branch it is on, and warns;
        what is smooth through it is interpolated from both sides (kernels/formulations/bridge.py)
    velocities : among which the independent ones are: of the "bodies" (absolute or planar coordinates), or of the "joints" of a
        spanning tree, whose loops are the constraints (a tree without loops has none: s' = u)
    cut : with "joints", those to keep as constraint rows; the others are cut where the tree would close a loop
    invariants : None, "energy" (T + U - external work stays constant) or functions f(t, q, u) that must stay constant: the end
        of a step is corrected within the constraints as in `Jet`, of joints as in `MovingFrame`
    tolerance, velocity_tolerance : residual left after each step [m or rad], [m/s or rad/s]; with "pass" only rounding is left
    invariant_tolerance : |f - f_0| left, relative to max(|f_0|, 1), for the energy see `Jet`
    max_newton : Newton iterations before a step is refused
    """

    basis: Literal["qr", "svd", "eigen"] = "qr"
    continuation: bool = True
    order: Literal["integrator", 1, 4] = "integrator"
    singular: Literal["stop", "pass"] = "stop"
    velocities: Literal["bodies", "joints"] = "bodies"
    cut: tuple[str, ...] = ()
    invariants: Invariants = None
    tolerance: float = 1e-11
    velocity_tolerance: float = 1e-11
    invariant_tolerance: float = 1e-13
    max_newton: int = 50

    coordinates: ClassVar[tuple[str, ...]] = ("absolute", "planar", "tree", "generalised")
    citations: ClassVar[tuple[str, ...]] = ("QRContinuation",)
    saves: ClassVar[tuple[str, ...]] = ("s", "s_dot", "basis", "jump")
    keeps_branch: ClassVar[str] = "Minimal(singular='pass')"
    differentiable: ClassVar[bool] = True
    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("minimal", "formulations.minimal", 3.2, "--formulation minimal"),
        Kernel("minimal_step", "formulations.minimal_step", 6.0, "--formulation minimal"),
        Kernel("minimal_across", "formulations.bridge", 3.2, "--singular pass"),
        Kernel("minimal_tree", "formulations.minimal_tree", 2.2, 'Minimal(velocities="joints")'),
        Kernel("minimal_tree_step", "formulations.minimal_tree", 3.2, 'Minimal(velocities="joints")'),
        Kernel("lagrangian_minimal", "formulations.lagrangian_minimal", 5.6, "LagrangianSystem, minimal"),
    )

    def __post_init__(self) -> None:
        self.check_cut(self.cut)
        check_literals(self)
        if not isinstance(self.continuation, bool):
            raise ModelError(f"Minimal: continuation is {self.continuation!r}; give True or False")
        if self.velocities == "joints" and self.singular == "pass":
            raise ModelError("Minimal: singular='pass' needs the velocities of bodies; give velocities='bodies'")
        if self.velocities == "joints":  # of a spanning tree, which is one of bodies in space
            object.__setattr__(self, "coordinates", tuple(kind for kind in self.coordinates if kind != "planar"))
        if self.velocities == "bodies" and self.cut:
            raise ModelError("Minimal: cut is for a spanning tree of joints; give velocities='joints' too")
        check_invariants("Minimal", self.invariants)
        self.check_positive("tolerance", "velocity_tolerance", "invariant_tolerance", "max_newton")

    def needs(self, mechanism: Compiled) -> set[str]:
        return set(self._names(mechanism)) | ({"tree_states"} if self._on_joints(mechanism) else set())

    def _on_joints(self, mechanism: Compiled) -> bool:
        return mechanism.coordinates == "tree" or (self.velocities == "joints" and mechanism.coordinates != "generalised")

    def _names(self, mechanism: Compiled) -> tuple[str, str, str]:
        """Kernels of the rates, of the end of a step and of what corrects invariants."""
        if mechanism.coordinates == "generalised":
            rates, step, correct = "lagrangian_minimal", "lagrangian_minimal", "correct_lagrangian"
        elif self._on_joints(mechanism):
            rates, step, correct = "minimal_tree", "minimal_tree_step", "correct_tree_invariants"
        else:
            rates = "minimal" if self.singular == "stop" else "minimal_across"
            step, correct = "minimal_step", "correct_invariants"
        return rates, step, correct if self.invariants is not None else "no_correction"

    def takes(self, integrator: Integrator) -> str | None:
        if self.singular == "pass" and not integrator.adaptive and super().takes(integrator) is None:
            better = type(integrator).__name__ if integrator.estimates_error else "DOP853"
            return (
                "Minimal(singular='pass') needs an integrator that chooses its steps: how near to a singular configuration a"
                f" fixed step ends is chance, and so is what rounding does there; give {better}() without a step"
            )
        return super().takes(integrator)

    def warnings(self, run: Run, x: Array, states: Series) -> tuple[str, ...]:
        """Singular configurations that were passed."""
        from dalembert.formulations.singular import passed

        assert isinstance(run, MinimalRun)
        return passed(run, x, states) if run.passed(x) else ()

    def prepare(self, mechanism: Compiled) -> Run:
        self.refuse_other_coordinates(mechanism)
        if isinstance(mechanism, LagrangianMechanism):
            return self._on_lagrangian(mechanism)
        assert isinstance(mechanism, Mechanism)
        return self._on_tree(mechanism) if self._on_joints(mechanism) else self._on_bodies(mechanism)

    def _on_bodies(self, mechanism: Mechanism) -> Run:
        a_size, nb6 = int(mechanism.I[T.W_Y] - mechanism.I[T.W_A]), 6 * (mechanism.nb + 1)
        used, columns = _velocities_in_use(mechanism), mechanism.degrees_of_freedom + 2
        f = mechanism.degrees_of_freedom
        given = mechanism.I, mechanism.F, new_workspace(mechanism.I)
        I, F, W = self._tables(given, f, used, _weights(mechanism), columns * nb6, a_size)
        functions = Callbacks(mechanism, invariant_functions(self.invariants), rows="turns")
        run = MinimalRun(mechanism, I, F, W, *seams(*self._names(mechanism)), 0, functions)
        return with_invariants(run, self.invariants)

    def _on_tree(self, mechanism: Mechanism) -> Run:
        if self.singular == "pass":
            raise ModelError("Minimal: singular='pass' needs the velocities of bodies: coordinates='absolute'")
        tree = make_tree(mechanism, self.cut)
        nu, m = tree.nu, int(tree.I[T.M])
        f = nu - m + int(tree.I[T.NIDLE])
        given = tree.I, tree.F, new_workspace(tree.I, dense=True)
        I, F, W = self._tables(given, f, range(nu), _joint_weights(tree), (f + 5) * nu, 6 * int(tree.I[T.NSIDE]) + 12)
        functions = Callbacks(mechanism, invariant_functions(self.invariants), rows="turns")
        run = MinimalRun(mechanism, I, F, W, *seams(*self._names(mechanism)), 0, functions, tree)
        return with_invariants(run, self.invariants)

    def _tables(self, given: Tables, f: int, used: Sequence[int], weights: Array, columns: int, rows: int) -> Tables:
        """I, F and W with what minimal coordinates need behind what is there.

        f : degrees of freedom;  used : the velocities that move something
        columns, rows : sizes of the sections `columns` and W_BEND
        """
        tables, constants, W = given
        n, nu, m = len(used), int(tables[T.NU]), int(tables[T.M])
        at = np.cumsum([int(tables[T.NX]), f, f, nu * f, nu * f, nu]).tolist()
        sizes = {
            "columns": max(columns, nu),
            "small": 36 * f * f + 4 * f,
            "dense": nu * f + max(n * m + 2 * n * n + 2 * n + m + n * f, 4 * nu * f),
            "bridge": 3 * (at[-1] + MARKS_SIZE),
        }
        values = {"dof": f, "kind": _BASES.index(self.basis), "nu": n, "passing": int(self.singular == "pass")}
        values |= {"order": _ORDERS[self.order] if self.continuation else 0, "weight": len(constants)}
        values |= dict(zip(_IN_STATE, at, strict=True))
        size = len(W)
        for label, more in sizes.items():
            values[label], size = size, size + more
        I = np.concatenate([tables, [values[label] for label in MINIMAL.fields], used]).astype(np.int64)
        F = np.concatenate([constants, weights])
        I[T.MINIMAL_I], I[T.W_BEND] = len(tables), size
        set_tolerances(self, I, F)
        if self.singular == "pass":  # a residual leaves an error larger by the condition, so none is left but rounding
            F[T.EPS_PIVOT], F[T.TOL_POSITION], F[T.TOL_VELOCITY] = 1e-14, 1e-15, 1e-15
        return I, F, np.concatenate([W, np.zeros(size + rows - len(W))])

    def _on_lagrangian(self, mechanism: LagrangianMechanism) -> Run:
        """The same on generalised coordinates, in dense algebra."""
        for label, only in (("singular", "stop"), ("velocities", "bodies")):
            if getattr(self, label) != only:
                raise ModelError(f"Minimal: {label}={getattr(self, label)!r} is for bodies; a Lagrangian system takes {only!r}")
        n, f = mechanism.nu, mechanism.degrees_of_freedom
        given = mechanism.I, mechanism.F, mechanism.workspace()
        I, F, W = self._tables(given, f, range(n), np.ones(n), (f + 5) * n, 0)
        functions, energy = invariant_functions(self.invariants), self.invariants is not None
        code = GeneratedCode(mechanism.model, functions, energy=energy, turning=True)
        run = MinimalRun(mechanism, I, F, W, *seams(*self._names(mechanism)), 0, code)
        return with_invariants(run, self.invariants)


@dataclass(frozen=True, eq=False)
class MinimalRun(Run):
    """Behind the mechanism's state: s, s', the basis (columns of nu numbers), what carries it, guard, marks."""

    @property
    def places(self) -> Any:
        """Where things lie in the state, see MINIMAL of layout.py."""
        return self.view.minimal

    def marks(self, x: Array) -> Any:
        """What a state of the run has noted, see MARKS of layout.py."""
        return Marks(x, int(self.places.marks))

    @property
    def passes(self) -> bool:
        return bool(self.places.passing)

    def failure(self, status: int, advance: Any) -> SimulationError | None:
        """A step that was refused before a singular configuration."""
        from dalembert.formulations.singular import refused

        return refused(self, advance) if status == T.NEAR_SINGULAR else None

    def stage_advice(self, condition: float) -> str:
        """Near a singular configuration rates carry rounding."""
        near = f"; near a singular configuration (condition {condition:.1e}) rounding may be larger than stage_tolerance: raise"
        return f"{near} that, or use an explicit or adaptive method" if condition > NEARBY else ""

    def restarts(self, x: Array) -> int:
        """How often the basis could not be continued up to this state."""
        return int(self.marks(x).restarts)

    def passed(self, x: Array) -> int:
        """How many singular configurations were passed up to this state."""
        return int(self.marks(x).passed)

    @property
    def state_size(self) -> int:
        """Number of all components of the state."""
        return int(self.places.marks) + MARKS_SIZE

    def from_absolute(self, x: Array, t: float = 0.0) -> Array:
        """The state of the run with a new basis there."""
        start = super().from_absolute(x)
        state = np.zeros(self.state_size)
        state[: len(start)] = start
        self.marks(state).time = np.nan
        if self.I[T.NCHOICE]:
            self.view.choice.count = 0.0  # rows that were chosen elsewhere may be dependent here
        status = self.project(T.PROJECT, t, state, np.zeros_like(state), self.view)
        state[: len(start)] = start
        if status == T.NEAR_SINGULAR:
            condition, joints = self.mechanism.locking(t, x)
            raise SimulationError(
                f"the configuration at t = {t:.6g} s is singular (condition {condition:.1e}): joints"
                f" {', '.join(map(repr, joints))} lock, and Minimal cannot tell which branch to follow; start beside it",
                time=t,
                joint=joints[0],
            )
        return state

    def beside(self, x: Array, near: Array) -> Array:
        """In the basis nearest to that of the other run: pivots choose among equals, and signs, by rounding. What is watched
        is no part of the motion."""
        f, nu, weight = int(self.places.dof), int(self.I[T.NU]), int(self.places.weight)
        s, s_dot, basis, carry, guard, _ = (int(getattr(self.places, label)) for label in _IN_STATE)
        here, there = (state[basis:carry].reshape(f, nu) for state in (x, near))
        U, _, V = np.linalg.svd((here * self.F[weight : weight + nu]) @ there.T)
        turn, x = (U @ V).T, x.copy()
        for begin, end, width in ((s, s_dot, 1), (s_dot, basis, 1), (basis, carry, nu), (carry, guard, nu)):
            x[begin:end] = (turn @ x[begin:end].reshape(f, width)).ravel()
        x[guard:] = near[guard:]
        return x

    def to_absolute(self, x: Array) -> Array:
        """(nt, nx) states of the mechanism for (nt, n) states of the run."""
        return super().to_absolute(x[:, : self.I[T.NX]])

    def more(self, x: Array) -> dict[str, Array]:
        """s, s', the basis (nt, nu, f) and the largest jump of s' within a step so far."""
        f, nu = int(self.places.dof), int(self.I[T.NU])
        s, s_dot, basis, carry, _, marks = (int(getattr(self.places, label)) for label in _IN_STATE)
        return {
            "s": x[:, s:s_dot].copy(),
            "s_dot": x[:, s_dot:basis].copy(),
            "basis": np.ascontiguousarray(np.swapaxes(x[:, basis:carry].reshape(len(x), f, nu), 1, 2)),
            "jump": x[:, marks + MARKS.fields["jump"][1]].copy(),
        }


def _velocities_in_use(mechanism: Mechanism) -> list[int]:
    """Numbers of the velocities without the idle angles of planar point masses."""
    if mechanism.coordinates != "planar":
        return list(range(mechanism.nu))
    idle = {3 * b + 2 for b, body in enumerate(mechanism.model.bodies) if body.kind == "point"}
    return [i for i in range(mechanism.nu) if i not in idle]


def _joint_weights(tree: Tree) -> Array:
    """(nu,) the same of joint velocities, Euclidean in angles: a radian weighs what it does in the metric of the bodies."""
    weights, J = np.ones(tree.nu), records(tree.mechanism.I, tree.mechanism.F, T.METRIC_F)["J"]
    for link in tree.links:
        weights[link.u : link.u + link.kind[1]] = 4.0 * J[link.body, 0]
    return weights


def _weights(mechanism: Mechanism) -> Array:
    """(nu,) what a unit of each velocity weighs in the metric of the projection."""
    weights: list[float] = []
    metrics = records(mechanism.I, mechanism.F, T.METRIC_F)[1:]
    for (kind, _, _), linear, angular in zip(mechanism.body_columns, metrics["m"], metrics["J"][:, 0], strict=True):
        weights += [linear] * (2 if kind == T.PLANAR else 3)
        weights += [angular] * {T.RIGID: 3, T.POINT: 0, T.PLANAR: 1}[kind]
    return np.array(weights)
