"""Runs as JAX functions: calls to this library with their derivatives (`pure_callback`, `custom_jvp`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np

from dalembert.bridges.runs import SINGLE, OutputsOfRuns
from dalembert.errors import ModelError
from dalembert.questions.gradient import RunOptions


def jax_function(
    build: Any,
    outputs: Sequence[str | Callable[[Any], Any]] | Mapping[str, str | Callable[[Any], Any]],
    parameters: Mapping[str, float],
    *,
    t_end: float,
    **options: Unpack[RunOptions],
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A JAX function of a dict of parameters that returns outputs of a run by name; it can be jitted, differentiated, mapped.

    build : a function of the parameters that returns a Model, or a LagrangianSystem;  t_end : end of the run [s]
    outputs : signals over time by name ("slider.x"), and functions of a solution that return a number, or a value for each
        time; also as a dict by name
    parameters : values by name, at which a first run tells shapes and settles formulation and integrator for all others
    save_at : times of the run, default 401 from start to end;  other options : as in `simulate`

    `jax.vmap` makes one call of `simulate_many`; derivatives are those of `simulate(..., sensitivities=)`, run by run, and
    have no derivatives themselves. A run that fails raises. Switch to double precision first (jax_enable_x64).
    """
    try:
        import jax
    except ImportError:
        raise ModelError("jax_function needs JAX: pip install jax") from None
    import jax.numpy as jnp

    runs = OutputsOfRuns("jax_function", build, outputs, parameters, t_end, options)
    dtype = jnp.result_type(float)
    if dtype != np.float64:
        warnings.warn(f'JAX: {SINGLE}; call jax.config.update("jax_enable_x64", True) first', RuntimeWarning, stacklevel=2)
    shapes = tuple(jax.ShapeDtypeStruct(shape, dtype) for shape in runs.shapes.values())
    slopes = tuple(jax.ShapeDtypeStruct((*shape, len(runs.names)), dtype) for shape in runs.shapes.values())

    def called(host: Callable[[Any], Any], like: Any, x: Any) -> Any:
        def as_told(x: Any) -> Any:
            return jax.tree.map(lambda values: np.asarray(values, dtype=dtype), host(np.asarray(x)))

        return jax.pure_callback(as_told, like, x, vmap_method="broadcast_all")

    values = jax.custom_jvp(partial(called, runs.values, shapes))

    def derivative(primals: Any, tangents: Any) -> Any:
        y, dy = called(runs.with_derivatives, (shapes, slopes), primals[0])
        return y, tuple(by @ tangents[0] for by in dy)

    values.defjvp(derivative)

    def of_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
        given = [jnp.asarray(value, dtype=dtype) for value in runs.ordered(parameters)]
        if any(value.ndim for value in given):
            raise ModelError("jax_function: give one number for each parameter; jax.vmap takes arrays of them")
        return dict(zip(runs.shapes, values(jnp.stack(given)), strict=True))

    return of_parameters
