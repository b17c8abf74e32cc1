"""Minimal: independent velocities in the tangent space of the constraints, no multipliers [QRContinuation]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dalembert.callbacks import Callbacks
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations.run import Run
from dalembert.kernels import tables as T
from dalembert.mechanism import Compiled, Mechanism, new_workspace

Array = npt.NDArray[np.float64]

_BASES = ("qr", "svd", "eigen")
_ORDERS = {"integrator": -1, 1: 1, 4: 4}


@dataclass(frozen=True, kw_only=True)
class Minimal:
    """Maggi's equations in a basis of the tangent space that is fixed during a step; positions corrected along Q1 after it.

    basis : how a basis is found from the constraint Jacobian: "qr" (pivoted), "svd", "eigen"
    continuation : carry the basis from step to step, so that the independent velocities s' are smooth; False: a new one
    order : of the continuation: "integrator" (Q2' = -A^+ A' Q2 integrated with the motion), 1 (exponential of the generator
        at the start of the step) or 4 (Munthe-Kaas)
    singular : "stop" refuses steps to or across a singular configuration, "pass" makes them on the branch it is on, and warns;
        rounding is large there, so that "pass" wants rtol no smaller than about 5e-11
    tolerance, velocity_tolerance : residual left after each step [m or rad], [m/s or rad/s]; with "pass" only rounding is left
    max_newton : Newton iterations before a step is refused
    """

    basis: Literal["qr", "svd", "eigen"] = "qr"
    continuation: bool = True
    order: Literal["integrator", 1, 4] = "integrator"
    singular: Literal["stop", "pass"] = "stop"
    tolerance: float = 1e-11
    velocity_tolerance: float = 1e-11
    max_newton: int = 50

    coordinates: ClassVar[tuple[str, ...]] = ("absolute", "planar")
    citations: ClassVar[tuple[str, ...]] = ("QRContinuation",)

    def __post_init__(self) -> None:
        for label, allowed in {"basis": _BASES, "order": tuple(_ORDERS), "singular": ("stop", "pass")}.items():
            if getattr(self, label) not in allowed or isinstance(getattr(self, label), bool):
                names = ", ".join(map(str, allowed))
                raise ModelError(f"Minimal: {label} is {getattr(self, label)!r}; give one of {names}")
        if not isinstance(self.continuation, bool):
            raise ModelError(f"Minimal: continuation is {self.continuation!r}; give True or False")
        for label in ("tolerance", "velocity_tolerance", "max_newton"):
            if not getattr(self, label) > 0:
                raise ModelError(f"Minimal: {label} is {getattr(self, label)!r}; give a positive number")

    def prepare(self, mechanism: Compiled) -> Run:
        """Tables with this formulation's settings, a workspace, and compiled slots."""
        if not isinstance(mechanism, Mechanism):
            raise ModelError("Minimal takes models of bodies; simulate a LagrangianSystem with Jet")
        from dalembert.kernels.minimal_step import minimal_step
        from dalembert.kernels.slots import as_system, no_correction

        if self.singular == "pass":
            from dalembert.kernels.bridge import minimal_across as rates
        else:
            from dalembert.kernels.minimal import minimal as rates
        used = _velocities_in_use(mechanism)
        n, nu, m, f = len(used), mechanism.nu, mechanism.m, mechanism.degrees_of_freedom
        at = np.cumsum([len(mechanism.x_0), f, f, nu * f, nu * f, nu]).tolist()
        W = new_workspace(mechanism.I)
        a_size, nb6 = int(mechanism.I[T.W_Y] - mechanism.I[T.W_A]), 6 * (mechanism.nb + 1)
        sizes = {
            T.Z_COLUMNS: max((f + 2) * nb6, nu),
            T.Z_SMALL: 36 * f * f + 4 * f,
            T.Z_DENSE: nu * f + max(n * m + 2 * n * n + 2 * n + m + n * f, 4 * nu * f),
            T.Z_ROWS: a_size,
            T.Z_BRIDGE: 3 * (at[-1] + T.N_MARKS),
        }
        table = [0] * T.Z_LIST
        table[T.Z_DOF], table[T.Z_KIND], table[T.Z_NU] = f, _BASES.index(self.basis), n
        table[T.Z_ORDER], table[T.Z_PASS] = _ORDERS[self.order] if self.continuation else 0, int(self.singular == "pass")
        table[T.Z_WEIGHT] = len(mechanism.F)
        table[T.Z_S : T.Z_MARKS + 1] = at
        used_already = len(W)
        for entry, size in sizes.items():
            table[entry], used_already = used_already, used_already + size
        I = np.concatenate([mechanism.I, table, used]).astype(np.int64)
        F = np.concatenate([mechanism.F, _weights(mechanism)])
        I[T.MINIMAL_I], I[T.MAX_NEWTON], I[T.W_BEND] = len(mechanism.I), self.max_newton, table[T.Z_ROWS]
        F[T.TOL_POSITION], F[T.TOL_VELOCITY] = self.tolerance, self.velocity_tolerance
        if self.singular == "pass":  # a residual leaves an error larger by the condition, so none is left but rounding
            F[T.EPS_PIVOT], F[T.TOL_POSITION], F[T.TOL_VELOCITY] = 1e-14, 1e-15, 1e-15
        return MinimalRun(
            mechanism=mechanism,
            I=I,
            F=F,
            W=np.concatenate([W, np.zeros(used_already - len(W))]),
            system=as_system(rates),
            project=as_system(minimal_step),
            correct=as_system(no_correction),
            stages=0,
            callbacks=Callbacks(mechanism, bends=True),
        )


@dataclass(frozen=True, eq=False)
class MinimalRun(Run):
    """Behind the mechanism's state: s, s', the basis (columns of nu numbers), what carries it, guard, marks."""

    def _at(self, entry: int) -> int:
        return int(self.I[self.I[T.MINIMAL_I] + entry])

    def mark(self, x: Array, which: int) -> float:
        """One of the marks in a state of the run."""
        return float(x[self._at(T.Z_MARKS) + which])

    def restarts(self, x: Array) -> int:
        """How often the basis could not be continued up to this state."""
        return int(self.mark(x, T.Y_RESTARTS))

    def passed(self, x: Array) -> int:
        """How many singular configurations were passed up to this state."""
        return int(self.mark(x, T.Y_PASSED))

    @property
    def state_size(self) -> int:
        """Number of all components of the state."""
        return self._at(T.Z_MARKS) + T.N_MARKS

    def from_absolute(self, x: Array, t: float = 0.0) -> Array:
        """The state of the run with a new basis there."""
        nx = len(self.mechanism.x_0)
        state = np.zeros(self.state_size)
        state[:nx] = x
        state[self._at(T.Z_MARKS) + T.Y_TIME] = np.nan
        status = self.project(
            T.PROJECT, t, state, np.zeros_like(state), self.I, self.F, self.W, self.forces, self.callbacks.compiled
        )
        state[:nx] = x
        if status == T.NEAR_SINGULAR:
            condition, joints = self.mechanism.locking(t, x)
            raise SimulationError(
                f"the configuration at t = {t:.6g} s is singular (condition {condition:.1e}): joints"
                f" {', '.join(map(repr, joints))} lock, and Minimal cannot tell which branch to follow; start beside it",
                time=t,
                joint=joints[0],
            )
        return state

    def to_absolute(self, x: Array) -> Array:
        """(nt, nx) states of the mechanism for (nt, n) states of the run."""
        return x[:, : len(self.mechanism.x_0)]

    def more(self, x: Array) -> dict[str, Array]:
        """s, s', the basis (nt, nu, f) and the largest jump of s' within a step so far."""
        f, nu = self._at(T.Z_DOF), self.mechanism.nu
        s, s_dot, basis, carry, _, marks = (self._at(entry) for entry in range(T.Z_S, T.Z_MARKS + 1))
        return {
            "s": x[:, s:s_dot].copy(),
            "s_dot": x[:, s_dot:basis].copy(),
            "basis": np.ascontiguousarray(np.swapaxes(x[:, basis:carry].reshape(len(x), f, nu), 1, 2)),
            "jump": x[:, marks + T.Y_JUMP].copy(),
        }


def _velocities_in_use(mechanism: Mechanism) -> list[int]:
    """Numbers of the velocities without the idle angles of planar point masses."""
    if mechanism.coordinates != "planar":
        return list(range(mechanism.nu))
    idle = {3 * b + 2 for b, body in enumerate(mechanism.model.bodies) if body.kind == "point"}
    return [i for i in range(mechanism.nu) if i not in idle]


def _weights(mechanism: Mechanism) -> Array:
    """(nu,) what a unit of each velocity weighs in the metric of the projection."""
    weights: list[float] = []
    for b in range(1, mechanism.nb + 1):
        kind = int(mechanism.I[mechanism.I[T.BODY_I] + T.BODY_I_W * b])
        at = int(mechanism.I[T.METRIC_F]) + T.METRIC_W * b
        linear, angular = float(mechanism.F[at + T.MM]), float(mechanism.F[at + T.MJ])
        weights += [linear] * (2 if kind == T.PLANAR else 3)
        weights += [angular] * {T.RIGID: 3, T.POINT: 0, T.PLANAR: 1}[kind]
    return np.array(weights)
