"""Compiled loops, each for its one signature: the time loop, the steps it attempts, the loop over saved states."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

# name : module of kernels/, signature in _signature, kernels that it calls and that must be there before
LOOPS: dict[str, tuple[str, ...]] = {
    "march": ("time.stepping", "step"),
    "inside_step": ("time.saving", "step"),
    "runge_kutta": ("time.runge_kutta", "step"),
    "implicit_runge_kutta": ("time.implicit_runge_kutta", "step"),
    "iterate": ("time.functional_iteration", "step"),
    "iterate_newton": ("time.simplified_newton", "step", "factorise", "newton_update"),
    "filtered_error": ("time.simplified_newton", "step", "solve"),
    "newton_update": ("time.simplified_newton", "newton_update", "solve"),
    "factorise": ("time.simplified_newton", "factorise"),
    "solve": ("time.simplified_newton", "solve"),
    "rate_columns": ("formulations.derivatives", "rate_columns"),
    "exact_slopes": ("time.slopes", "step", "rate_columns"),
    "exact_forces": ("formulations.variational_forces", "step"),
    "own_steps": ("time.own_steps", "step"),
    "partitioned": ("time.partitioned", "step"),
    "ensemble": ("time.ensemble", "ensemble", "march"),
    "evaluate_states": ("time.outputs", "evaluate_states"),
    "evaluate_forces": ("time.outputs", "evaluate_forces"),
    "follow_poses": ("time.poses", "follow_poses"),
    "tree_states": ("coordinates.tree_states", "tree_states"),
    "at_state": ("coordinates.at_state", "at_state"),
}


def compiled(name: str) -> Any:
    """A loop, compiled or loaded once, whichever thread comes first."""
    from dalembert.kernels.base.compiler import COMPILING

    with COMPILING:
        return _compiled(name)


@cache
def entry(name: str) -> Any:
    """A loop without Numba's look at the types of its arguments, which are known."""
    made = compiled(name)
    overloads = getattr(made, "overloads", {})
    return next(iter(overloads.values())).entry_point if overloads else made


@cache
def _compiled(name: str) -> Any:
    from dalembert.kernels.base.compiler import bind

    module, signature, *before = LOOPS[name]
    for other in before:
        _compiled(other)
    return bind(getattr(importlib.import_module(f"dalembert.kernels.{module}"), name), _signature(signature))


def _signature(name: str) -> Any:
    from numba import types

    from dalembert.kernels.base.view_types import SYSTEM
    from dalembert.kernels.time.steps import RUNS, SIGNATURE, STEPS

    i, v, m = types.int64, types.float64[::1], types.float64[:, ::1]
    signatures = {
        "step": SIGNATURE,
        "rate_columns": i(types.float64, v, types.int64[::1], types.int64[::1], v, v, m, v, SYSTEM),
        "newton_update": types.float64(STEPS),
        "factorise": types.none(STEPS),
        "solve": types.none(types.complex128, i, STEPS),
        "ensemble": types.none(i, i, RUNS, STEPS, SYSTEM),
        "evaluate_states": i(v, m, v, m, m, m, m, m, SYSTEM),
        "evaluate_forces": i(v, m, m, m, v, SYSTEM),
        "follow_poses": i(v, m, v, v, v, m, v, SYSTEM),
        "tree_states": types.none(m, m, SYSTEM),
        "at_state": i(i, types.float64, v, types.int64[::1], v, v),
    }
    return signatures[name]
