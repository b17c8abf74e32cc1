"""Exact derivatives of the rates x' = f(t, x) of a run, from the same kernels (kernels/base/dual.py)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from dalembert.arrays import Array, IntArray
from dalembert.compilation.compiled_loops import compiled
from dalembert.errors import SimulationError
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T


class Derivatives:
    """Derivatives of the rates of one run by the components of its state and by time.

    Kernels for numbers with derivatives are compiled when the first one is made, and kept on disk as all others.
    rates : f and derivatives into arrays, see `_Compiled`; status
    differenced : forces and torques whose functions do not take such numbers; theirs are extrapolated differences
    """

    def __init__(self, run: Run) -> None:
        from dalembert.kernels.base.compiler import JIT

        self.run = run
        self.rates = (_Compiled if JIT else _Plain)(run).rates
        self.differenced = tuple(run.callbacks.differenced)

    def jacobian(
        self, t: float, x: Array, columns: IntArray | None = None, places: IntArray | None = None
    ) -> tuple[Array, Array, Array]:
        """(f, f_x, f_t) at a state of the run: (n,), (n, n), (n,).

        columns : components of x by which to differentiate, instead of all of them
        places : entries of the workspace that the rates fill; their derivatives stand below those of the rates
        """
        n = len(x)
        chosen = np.arange(n) if columns is None else columns
        wanted, behind = np.append(chosen, n).astype(np.int64), np.zeros(0, dtype=np.int64) if places is None else places
        f, out = np.empty(n), np.empty((len(wanted), n + len(behind)))
        status = self.rates(float(t), np.array(x, dtype=float), wanted, behind, f, out, self.run.view)
        if status != T.OK:
            raise SimulationError(f"the rates at t = {t:.6g} s cannot be evaluated (status {status})", time=t)
        if not np.isfinite(out).all():
            raise SimulationError(f"the rates at t = {t:.6g} s have no derivative by all components of the state", time=t)
        return f, out[:-1].T, out[-1]


def aligned(parts: list[Array]) -> Array:
    """One behind the other, the second from the beginning of a line of the cache on."""
    n = sum(map(len, parts))
    room = np.zeros(n + 7)
    first = -(room.ctypes.data // 8 + len(parts[0])) % 8
    return np.concatenate(parts, out=room[first : first + n])


def derived(run: Run, kernel: Any) -> Any:
    """What takes numbers with derivatives in the place of a kernel of the run."""
    if kernel is not run.system or not run.derived:
        return kernel
    return getattr(import_module(f"dalembert.kernels.{run.derived}"), run.derived.rpartition(".")[2])


def tables_for(run: Run, system: Any, *, forces_only: bool = False) -> tuple[IntArray, list[Any]]:
    """A copy of I that names kernels for systems of this type, and what must live as long as it.

    forces_only : force elements at given poses are all that is asked of them
    """
    from dalembert.kernels.base import slots
    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.mechanics.forces import force_elements
    from dalembert.kernels.mechanics.traced_rows import forces_and_rows

    seams: Any = slots
    equations, forces, callback = (getattr(seams, f"{seam}_signature")(system) for seam in ("equations", "forces", "callback"))
    if not forces_only and run.I[T.NCHOICE] + run.I[T.NTRACED] > 0:  # kernels that the slot calls come first
        bind(force_elements, forces)
    if not forces_only and run.I[T.NCHOICE] > 0:
        bind(forces_and_rows, forces)
    filled = {
        T.AT_FORCES: (force_elements if forces_only else run.forces, forces),
        T.AT_LAWS: (run.laws, forces),
        T.AT_CALLBACK: (run.callbacks.compiled_for(callback), callback),
    }
    if not forces_only:
        filled[T.AT_EQUATIONS] = (derived(run, run.system), equations)
    if system.scalar("F") == system.scalar("W"):  # a run, not only its rates
        filled |= {T.AT_PROJECTION: (derived(run, run.project), equations), T.AT_CORRECTION: (run.correct, equations)}
    I, alive = run.I.copy(), []
    for entry, (function, signature) in filled.items():
        alive.append(bind(function, signature))
        I[entry] = seams.address(function, signature)
    return I, alive


def columns_for(run: Run, *, forces_only: bool = False) -> tuple[IntArray, Array, Array, list[Any]]:
    """For columns of a Jacobian: `tables_for` and a workspace, the run's own behind both, and places for x, x' and t."""
    from dalembert.kernels.base.dual_types import DUAL_SYSTEM, SIZE

    named, alive = tables_for(run, DUAL_SYSTEM, forces_only=forces_only)
    named[[T.VALUES_I, T.VALUES_W]] = len(named), SIZE * len(run.W)
    W, work = (aligned([np.zeros(0), np.zeros(n)]) for n in ((SIZE + 1) * len(run.W), SIZE * (2 * run.state_size + 1)))
    return np.concatenate([named, run.I]), W, work, alive


class _Compiled:
    """The kernels of a run for numbers with derivatives: tables that name them, a workspace."""

    def __init__(self, run: Run) -> None:
        self._I, self._W, self._work, self._alive = columns_for(run)
        self._columns = compiled("rate_columns")

    def rates(self, t: float, x: Array, columns: IntArray, places: IntArray, f: Array, out: Array, system: Any) -> int:
        """f <- x', out[k] <- its derivative and that of the places by component columns[k], by time behind them. Status."""
        from dalembert.kernels.base.views import System

        duals = System(self._I, system.F, self._W)
        return int(self._columns(t, x, columns, places, system.W, f, out, self._work, duals))


class _Plain:
    """The same in plain Python, all columns at once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._callback = run.callbacks.compiled_for(None)

    def rates(self, t: float, x: Array, columns: IntArray, places: IntArray, f: Array, out: Array, system: Any) -> int:
        from dalembert.kernels.base.dual import Dual, value_of
        from dalembert.kernels.base.views import System

        run, seeds = self._run, np.zeros((len(x) + 1, len(columns)))
        seeds[columns, np.arange(len(columns))] = 1.0
        state, rate, W = (np.empty(n, dtype=object) for n in (len(x), len(x), len(system.W)))
        state[:] = [Dual(value, seed) for value, seed in zip(x, seeds, strict=False)]
        rate[:], W[:] = list(np.zeros(len(x))), list(system.W)  # NumPy's own numbers, which may be divided by zero
        with np.errstate(all="ignore"):
            time = Dual(np.float64(t), seeds[-1])
            duals = System(run.I, system.F, W, self._callback, System(run.I, system.F, system.W.copy(), self._callback))
            status = int(derived(run, run.system)(T.RATE, time, state, rate, duals))
        f[:] = [value_of(v) for v in rate]
        for i, v in enumerate([*rate, *W[places]]):
            out[:, i] = v.tangents if isinstance(v, Dual) else 0.0
        return status
