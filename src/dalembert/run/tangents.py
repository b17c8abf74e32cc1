"""A run whose states have their derivatives by parameters behind them, see kernels/time/tangents.py."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations import FORMULATIONS, Formulation
from dalembert.formulations.derivatives import aligned, derived, tables_for
from dalembert.formulations.run import Run
from dalembert.integrators.advance import Advance
from dalembert.integrators.explicit_rk import ExplicitRungeKutta
from dalembert.integrators.integrator import Integrator
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import COUNTERS


def check_covered(integrator: Integrator, formulation: Formulation) -> None:
    """Refuse what has no derivatives."""
    covered = ", ".join(cls.__name__ for cls in FORMULATIONS.values() if cls.differentiable)
    if not isinstance(integrator, ExplicitRungeKutta):
        raise ModelError(
            f"sensitivities with {type(integrator).__name__}: they go with explicit Runge-Kutta methods (DOP853, DormandPrince,"
            f" RungeKutta4, Midpoint, Euler) and with one of {covered}"
        )
    if not formulation.differentiable:
        raise ModelError(f"sensitivities with {type(formulation).__name__}: they go with one of {covered}")


@dataclass(frozen=True, eq=False)
class Carrier(Run):
    """dx : (n, p) derivatives of the first state;  dF : (len(F), p) of the table
    count : parameters of a block;  alive : what must live as long as the tables
    """

    dx: Array = field(default_factory=lambda: np.zeros((0, 0)))
    dF: Array = field(default_factory=lambda: np.zeros((0, 0)))
    count: int = 0
    base: Run | None = None
    alive: Any = None

    @property
    def plain(self) -> Run:
        assert self.base is not None
        return self.base

    @property
    def state_size(self) -> int:
        n, p = self.dx.shape
        return int(n * (1 + (1 + self.count) * -(-p // self.count)))

    @cached_property
    def moving(self) -> bool:
        """Whether times at which something breaks depend on parameters."""
        first = self.I[T.STOP_F]
        return bool(self.dF[first : first + self.I[T.NSTOP] + 2 * self.I[T.NAGAIN]].any())

    def from_absolute(self, x: Array, t: float = 0.0) -> Array:
        """A first state."""
        n, p = self.dx.shape
        start = np.zeros(self.state_size)
        start[:n] = self.plain.from_absolute(x, t)
        for k in range(p):
            self._derivatives(start, k)[...] = self.dx[:, k]
        return start

    def _derivatives(self, x: Array, k: int) -> Array:
        """(.., n) by parameter k in (.., size) states: a view of them."""
        block, place = divmod(k, self.count)
        one = 1 + self.count
        first = len(self.dx) * (1 + one * block)
        return x[..., first + 1 + place : first + one * len(self.dx) : one]

    def tangents(self, x: Array) -> Array:
        """(nt, n, p) derivatives in (nt, ..) states of the run."""
        (n, p), count = self.dx.shape, self.count
        blocks = x[:, n:].reshape(len(x), -(-p // count), n, 1 + count)[..., 1:]
        found = blocks.swapaxes(1, 2).reshape(len(x), n, -(-p // count) * count)[:, :, :p]
        if not np.isfinite(found).all():
            raise SimulationError("the run has no derivative by all parameters: a root or a norm vanishes in it")
        return found

    def to_absolute(self, x: Array) -> Array:
        return self.plain.to_absolute(x[:, : len(self.dx)])

    def more(self, x: Array) -> dict[str, Array]:
        return self.plain.more(x[:, : len(self.dx)])

    def restarts(self, x: Array) -> int:
        return self.plain.restarts(x[: len(self.dx)])

    def failure(self, status: int, advance: Advance) -> SimulationError | None:
        return self.plain.failure(status, advance)

    def pass_break(self, advance: Advance) -> None:
        """Where a step ended at a break that moves: S+ = S- + (f- - f+) dt/dp, with rates before and behind it; then what
        derivatives of rates are behind it."""
        from dalembert.kernels.time.tangents import BESIDE

        t, n = advance.t, len(self.dx)
        if not self.moving or t >= advance.t_end or not (dt := self._moves(t)).any():
            return
        x, f, rate, W = advance.x, np.zeros((2, n)), np.zeros(self.state_size), self.W.copy()
        earlier, later = (t + side * abs(t) for side in (-BESIDE, BESIDE))
        status = [self.plain.rate(at, x[:n].copy(), f_at) for at, f_at in zip((earlier, later), f, strict=True)]
        for k, dt_k in enumerate(dt):
            self._derivatives(x, k)[...] += (f[0] - f[1]) * dt_k
        if any([*status, self.rate(later, x, rate)]):
            raise SimulationError(f"the rates at t = {t:.6g} s cannot be evaluated", time=t)
        advance.bundle.stages[0, n:] = rate[n:]
        self.W[:] = W

    def _moves(self, t: float) -> Array:
        """(p,) derivatives of the time of a break, zero where t is none."""
        I, F, dF = self.I, self.F, self.dF
        first, count = I[T.STOP_F], I[T.NSTOP]
        dt = np.zeros(dF.shape[1])
        for k in range(first, first + count):
            if t == F[k]:
                dt = dF[k]
        for k in range(first + count, first + count + 2 * I[T.NAGAIN], 2):  # those of periodic motions
            turn = np.round((t - F[k]) / F[k + 1])
            if t == F[k] + F[k + 1] * turn:
                dt = dF[k] + turn * dF[k + 1]
        return dt


def carrier_of(run: Run, dx: Array, dF: Array, dW: Array) -> Carrier:
    """A run with derivatives. dx, dF : see `Carrier`;  dW : (len(W), p) of what the workspace has from the start"""
    from dalembert.kernels.base.compiler import JIT

    values = {f.name: getattr(run, f.name) for f in fields(Run)}
    return (_compiled if JIT else _in_plain_python)(run, values, dx, dF, dW)


def _compiled(run: Run, values: dict[str, Any], dx: Array, dF: Array, dW: Array) -> Carrier:
    from dalembert.kernels.base.dual_types import KINDS
    from dalembert.kernels.base.slots import as_system, no_correction
    from dalembert.kernels.base.view_types import system_type
    from dalembert.kernels.time import tangents

    n, p = dx.shape
    labels = dict(zip(KINDS, ("carried_many", "carried", "carried_four", "carried_few", "carried_one"), strict=True))
    kind = next((k for k in reversed(KINDS) if p < k.size), KINDS[0])
    system = as_system(getattr(tangents, labels[kind]))
    named, alive = tables_for(run, system_type(kind, kind))
    size, count = kind.size, kind.size - 1
    I, F, W = [run.I, run.I], [run.F], [run.W]
    for b, first in enumerate(range(0, p, count)):
        some = slice(first, first + count)
        I.append(named.copy())
        I[-1][[T.VALUES_I, T.SOLVED]] = -(1 + b) * len(named), b > 0
        for entry, parts, table, changes in ((T.VALUES_F, F, run.F, dF[:, some]), (T.VALUES_W, W, run.W, dW[:, some])):
            I[-1][entry] = -sum(map(len, parts))
            duals = np.zeros((len(table), size))
            duals[:, 0] = table
            duals[:, 1 : 1 + changes.shape[1]] = changes
            parts.append(duals.ravel())
    F.append(np.array([len(run.I), n], dtype=float))
    tables: dict[str, Any] = {"I": np.concatenate(I), "F": aligned(F), "W": aligned(W)}
    seams = {"system": system, "project": system, "correct": run.correct if run.correct is no_correction else system}
    base = replace(run, W=tables["W"][: len(run.W)])
    return Carrier(**values | tables | seams, dx=dx, dF=dF, count=count, base=base, alive=alive)


def _in_plain_python(run: Run, values: dict[str, Any], dx: Array, dF: Array, dW: Array) -> Carrier:
    """The same, all parameters in one block."""
    from dalembert.kernels.base.dual import Dual, value_of
    from dalembert.kernels.base.slots import no_correction
    from dalembert.kernels.base.views import System
    from dalembert.kernels.time.tangents import before_break

    (n, p), callback = dx.shape, run.callbacks.compiled_for(None)

    def duals(numbers: Array, changes: Array) -> Any:
        made = np.empty(len(numbers), dtype=object)
        for i, value in enumerate(numbers):
            made[i] = Dual(value, changes[i]) if changes[i].any() else value
        return made

    base = replace(run, W=run.W.copy())
    with_duals = System(run.I, duals(run.F, dF), duals(run.W, dW), callback, System(run.I, run.F, base.W, callback))

    def carry(kernel: Any) -> Any:
        def carried(mode: int, t: float, x: Array, dx: Array, system: Any) -> int:
            behind, before = x[n:].reshape(n, 1 + p)[:, 1:], before_break(t, base.view)
            first, last = (0, len(run.W)) if run.I[T.NCHOICE] else (run.I[T.W_STAT], run.I[T.W_STAT] + COUNTERS.width)
            with_duals.W[first:last] = list(base.W[first:last])
            state, rate = duals(x[:n], behind), duals(np.zeros(n), np.zeros((n, 1)))
            with np.errstate(all="ignore"):
                status = derived(run, kernel)(mode, before, state, rate, with_duals)
            moves = mode in (T.PROJECT, T.CORRECT)
            found, out = (state, x) if moves else (rate, dx)
            out[n:].reshape(n, 1 + p)[:, 1:] = [v.tangents if isinstance(v, Dual) else np.zeros(p) for v in found]
            if not moves:
                out[:n] = [value_of(v) for v in found]
                base.W[first:last] = [value_of(v) for v in with_duals.W[first:last]]
            if status in (T.OK, T.MOVED) and (moves or before != t):
                status = kernel(mode, t, x[:n], dx[:n], base.view)
            return int(status)

        return carried

    seams = {label: carry(getattr(run, label)) for label in ("system", "project")}
    seams["correct"] = run.correct if run.correct is no_correction else carry(run.correct)
    tables = {"I": run.I.copy(), "W": base.W}
    return Carrier(**values | tables | seams, dx=dx, dF=dF, count=p, base=base)
