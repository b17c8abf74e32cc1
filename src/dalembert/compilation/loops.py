"""Compiled loops, each for its one signature: the time loop, the steps it attempts, the loop over saved states."""

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
    """Explicit steps."""
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.base.view_types import SYSTEM
    from dalembert.kernels.time.runge_kutta import runge_kutta, step_error
    from dalembert.kernels.time.steps import STEPS

    compiled_combine()
    bind(step_error, types.float64(types.int64, STEPS, SYSTEM))
    return _bound(runge_kutta)


@once
def compiled_implicit_runge_kutta() -> Any:
    """Implicit steps, without what solves their stages."""
    from dalembert.kernels.time.implicit_runge_kutta import implicit_runge_kutta

    compiled_combine()
    return _bound(implicit_runge_kutta)


@once
def compiled_iterate() -> Any:
    """Implicit stages by functional iteration."""
    from dalembert.kernels.time.functional_iteration import iterate

    compiled_combine()
    return _bound(iterate)


@once
def compiled_iterate_newton() -> Any:
    """Implicit stages by Newton's method."""
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.time.simplified_newton import factorise, iterate_newton
    from dalembert.kernels.time.steps import STEPS

    bind(factorise, types.none(STEPS))
    _compiled_solve()
    return _bound(iterate_newton)


@once
def compiled_filtered_error() -> Any:
    """Errors of stages by Newton's method."""
    from dalembert.kernels.time.simplified_newton import filtered_error

    _compiled_solve()
    return _bound(filtered_error)


@once
def _compiled_solve() -> Any:
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.time.simplified_newton import solve
    from dalembert.kernels.time.steps import STEPS

    compiled_combine()
    return bind(solve, types.none(types.complex128, types.int64, STEPS))


@once
def compiled_own_steps() -> Any:
    """Steps of the formulation."""
    from dalembert.kernels.time.own_steps import own_steps

    return _bound(own_steps)


@once
def compiled_partitioned() -> Any:
    """Symplectic Euler and Stoermer-Verlet."""
    from dalembert.kernels.time.partitioned import partitioned

    return _bound(partitioned)


@once
def compiled_combine() -> Any:
    """Sums over stages, which steps call."""
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.time.stepping import combine
    from dalembert.kernels.time.steps import STEPS

    return bind(combine, types.none(types.float64[:, ::1], *[types.int64] * 3, types.float64[::1], STEPS))


@once
def compiled_march() -> Any:
    """The time loop."""
    from dalembert.kernels.time.stepping import march

    return _bound(march)


@once
def compiled_inside_step() -> Any:
    """What is done within steps where times are saved, forces of time looked at, or events watched."""
    from dalembert.kernels.time.saving import inside_step

    compiled_combine()
    return _bound(inside_step)


@once
def compiled_ensemble() -> Any:
    """The loop over runs around the time loop."""
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.base.view_types import SYSTEM
    from dalembert.kernels.time.ensemble import ensemble
    from dalembert.kernels.time.steps import RUNS, STEPS

    compiled_march()
    return bind(ensemble, types.none(types.int64, types.int64, RUNS, STEPS, SYSTEM))


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
def compiled_follow_poses() -> Any:
    """Poses of a driven mechanism, of the reference formulation alone."""
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.base.view_types import SYSTEM
    from dalembert.kernels.time.poses import follow_poses

    v, m = types.float64[::1], types.float64[:, ::1]
    return bind(follow_poses, types.int64(v, m, v, v, v, m, v, SYSTEM))


@once
def compiled_evaluate_forces() -> Any:
    """The loop over saved states that asks force elements what they do."""
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.base.view_types import SYSTEM
    from dalembert.kernels.time.outputs import evaluate_forces

    v, m = types.float64[::1], types.float64[:, ::1]
    return bind(evaluate_forces, types.int64(v, m, m, m, v, SYSTEM))


@once
def compiled_tree_states() -> Any:
    """Absolute states of relative ones."""
    from numba import types

    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.base.view_types import SYSTEM
    from dalembert.kernels.coordinates.tree_states import tree_states

    matrix = types.float64[:, ::1]
    return bind(tree_states, types.none(matrix, matrix, SYSTEM))


def _bound(kernel: Any) -> Any:
    from dalembert.kernels.base.compiler import bind
    from dalembert.kernels.time.steps import SIGNATURE

    return bind(kernel, SIGNATURE)
