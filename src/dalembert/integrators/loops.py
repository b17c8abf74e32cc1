"""Compiled loops, each for its one signature: the time loops of the integrators, the loop over saved states."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any


def once(made: Callable[[], Any]) -> Callable[[], Any]:
    """Called once, whichever thread comes first."""
    kept = cache(made)

    @wraps(made)
    def made_once() -> Any:
        from dalembert.kernels.base.compiler import COMPILING

        with COMPILING:
            return kept()

    return made_once


@once
def compiled_runge_kutta() -> Any:
    """Explicit steps; work arrays: stages, dense output."""
    from numba import types

    from dalembert.kernels.time.runge_kutta import runge_kutta

    matrix = types.float64[:, ::1]
    return _time_loop(runge_kutta, (matrix, matrix))


@once
def compiled_implicit_runge_kutta() -> Any:
    """Implicit steps; work arrays: stages, dense output, Jacobian, factors, pivots, spectrum of the coefficients, blocks of N,
    memory of sweeps."""
    from numba import types

    from dalembert.kernels.time.implicit_runge_kutta import implicit_runge_kutta

    matrix, spectrum = types.float64[:, ::1], types.complex128[:, ::1]
    work = (matrix, matrix, matrix, types.complex128[:, :, ::1], types.int64[:, ::1], spectrum, types.int64[:, ::1], matrix)
    return _time_loop(implicit_runge_kutta, work)


@once
def compiled_own_steps() -> Any:
    """Steps of the formulation; work arrays: stages, dense output."""
    from numba import types

    from dalembert.kernels.time.own_steps import own_steps

    matrix = types.float64[:, ::1]
    return _time_loop(own_steps, (matrix, matrix))


@once
def compiled_partitioned() -> Any:
    """Symplectic Euler and Stoermer-Verlet; work arrays: rates, dense output."""
    from numba import types

    from dalembert.kernels.time.partitioned import partitioned

    matrix = types.float64[:, ::1]
    return _time_loop(partitioned, (matrix, matrix))


@once
def compiled_combine() -> Any:
    """Sums over stages, which every time loop calls."""
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.time.stepping import combine

    v, m = types.float64[::1], types.float64[:, ::1]
    return bind(combine, types.none(v, m, m, types.int64, types.int64, types.float64, v))


@once
def compiled_evaluate_states() -> Any:
    """The loop over saved states."""
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.base.view_types import SYSTEM
    from dalembert.kernels.time.outputs import evaluate_states

    v, m = types.float64[::1], types.float64[:, ::1]
    return bind(evaluate_states, types.int64(v, m, v, m, m, m, m, m, SYSTEM))


@once
def compiled_tree_states() -> Any:
    """Absolute states of relative ones."""
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.base.view_types import SYSTEM
    from dalembert.kernels.coordinates.tree_states import tree_states

    matrix = types.float64[:, ::1]
    return bind(tree_states, types.none(matrix, matrix, SYSTEM))


def compiled_ensemble(loop: Any, work: tuple[Any, ...]) -> Any:
    """The loop over runs around a time loop, for its work arrays."""
    from numba import types

    from dalembert.kernels.base.compiler import JIT, compile_for
    from dalembert.kernels.time.ensemble import ensemble

    if not JIT:
        return ensemble
    f8, i8, v, m, w = types.float64, types.int64, types.float64[::1], types.float64[:, ::1], types.int64[::1]
    inner = types.FunctionType(loop.nopython_signatures[0])
    before = (inner, i8, i8, f8, m, m, v, m, _type_of(work))
    after = (m, v, m, m, w, v, types.int64[:, ::1], m, v, v, types.float64[:, :, ::1], i8, w, w, w, m, w, m, v, m)
    return compile_for(ensemble, types.none(*before, *after))


def _type_of(work: tuple[Any, ...]) -> Any:
    from numba import from_dtype, types

    return types.BaseTuple.from_types(  # type: ignore[no-untyped-call]
        [types.Array(from_dtype(array.dtype), array.ndim, "C") for array in work]
    )


def _time_loop(kernel: Any, work: tuple[Any, ...]) -> Any:
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.base.view_types import SYSTEM

    compiled_combine()
    f8, i8, v, m, w = types.float64, types.int64, types.float64[::1], types.float64[:, ::1], types.int64[::1]
    before = (f8, v, v)
    after = (m, v, m, m, w, v, w, v, v, v, m, i8, SYSTEM)
    return bind(kernel, i8(*before, *work, *after))
