"""Parameters of many runs: a table with one row per run, all combinations of values, or a sample of ranges."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError, UnknownParameter
from dalembert.model.validation import nearest, shown

if TYPE_CHECKING:
    import xarray

Array = npt.NDArray[Any]
Table = dict[str, Array]
RUN = "run"
METHODS = {"sobol": "Sobol", "halton": "Halton", "latin-hypercube": "LatinHypercube"}
_MOST = 2**30  # runs


def grid(**values: npt.ArrayLike) -> xarray.Dataset:
    """All combinations of values, for `simulate_many(..., parameters=grid(length=[...], mass=[...]))`; the last varies fastest.

    A Dataset with a coordinate for each; `sweep.unstack()` gives results over the same dimensions.
    """
    import xarray

    axes = {}
    for name, given in values.items():
        axes[name] = axis = np.atleast_1d(np.asarray(given))
        if axis.ndim != 1 or not len(axis) or len(np.unique(axis)) != len(axis):
            raise ModelError(f"grid: {name} is {shown(given)}; give one or more values, each once")
    return xarray.Dataset(coords=axes)


def sample(n: int, /, *, seed: int, method: str = "sobol", **ranges: Any) -> xarray.Dataset:
    """n runs that cover ranges evenly, by SciPy's quasi-random designs; the same seed gives the same sample.

    method : "sobol", "halton" or "latin-hypercube"
    ranges : by parameter (low, high), a frozen distribution of `scipy.stats`, or "seed" for a whole number per run that is
        independent of all others, for models that draw random numbers themselves
    """
    import xarray
    from scipy.stats import qmc

    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 0 < n < _MOST:
        raise ModelError(f"sample: n is {shown(n)}; give a positive whole number of runs")
    if method not in METHODS:
        raise ModelError(f"sample: there is no method {method!r}; {nearest(method, METHODS)}")
    drawn = [name for name, given in ranges.items() if not isinstance(given, str)]
    rng = np.random.default_rng(seed)
    points = np.zeros((n, 0))
    if drawn:
        with warnings.catch_warnings():  # of Sobol points that are no power of two
            warnings.simplefilter("ignore", UserWarning)
            points = getattr(qmc, METHODS[method])(len(drawn), seed=rng).random(n)
    columns: dict[str, Any] = {}
    for name, given in ranges.items():
        if isinstance(given, str):
            if given != "seed":
                raise ModelError(f'sample: {name} is {given!r}; give (low, high), a distribution, or "seed"')
            columns[name] = (RUN, np.random.SeedSequence(seed).generate_state(n, np.uint64) >> np.uint64(1))
        else:
            columns[name] = (RUN, _scaled(name, given, points[:, drawn.index(name)]))
    return xarray.Dataset(columns, attrs={"seed": seed, "method": method})


def _scaled(name: str, given: Any, unit: Array) -> Array:
    """Values of a range, or quantiles of a distribution, at numbers between 0 and 1."""
    if hasattr(given, "ppf"):
        return np.asarray(given.ppf(np.maximum(unit, np.finfo(float).tiny)), dtype=float)
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        raise ModelError(f'sample: {name} is {shown(given)}; give (low, high), a distribution, or "seed"') from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ModelError(f"sample: {name} goes from {low:g} to {high:g}; give finite numbers, the smaller one first")
    return np.asarray(low + (high - low) * unit)


def table_of(parameters: Any) -> tuple[Table, dict[str, int]]:
    """One value per run of each parameter, and the sizes of the dimensions that the runs are combinations of, if they are.

    Of a Dataset, data variables are parameters, and coordinates of dimensions other than "run"; runs go through its dimensions.
    """
    dims: dict[str, int] = {}
    if hasattr(parameters, "data_vars"):
        dims = {str(name): int(size) for name, size in parameters.sizes.items()}
        along = [name for name in dims if name in parameters.coords and name != RUN]
        order = dict.fromkeys(dims)
        for name in [*along, *parameters.data_vars]:
            if foreign := set(parameters[name].dims) - set(order):
                raise ModelError(f"parameters: {name} has the dimensions {sorted(map(str, foreign))}, which nothing else has")
        if math.prod(dims.values()) > _MOST:
            raise ModelError(f"parameters: {math.prod(dims.values()):.3g} combinations; give fewer values")
        shape = tuple(dims.values())
        parameters = {
            str(name): np.broadcast_to(_over(parameters[name], dims), shape).reshape(-1)
            for name in (*along, *parameters.data_vars)
        }
        dims = {} if list(dims) == [RUN] else dims
    if not isinstance(parameters, Mapping):
        raise ModelError(f"parameters are {shown(parameters)}; give a dict of arrays, grid(...), sample(...) or a Dataset")
    table = {str(name): np.asarray(values) for name, values in parameters.items()}
    lengths = {name: (len(values) if values.ndim else 0) for name, values in table.items()}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        raise ModelError(f"parameters: give one value per run for each name; got lengths {lengths or 'of nothing'}")
    for name, values in table.items():
        if values.dtype.kind not in "fiub":
            continue
        bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
        if len(bad):
            raise ModelError(f"parameters: {name} of run {bad[0]} is {values[bad[0]]}; give finite numbers")
    return table, dims


def run_named(run: int, values: Mapping[str, Any]) -> str:
    """A run by its number and parameters, for messages."""
    told = told_parameters(values)
    return f"run {run} ({told})" if told else f"run {run}"


def told_parameters(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {f'{value:.6g}' if isinstance(value, float) else value}" for name, value in values.items())


def _over(variable: Any, dims: Mapping[str, int]) -> Array:
    """A variable with an axis for each dimension, of length 1 where it does not depend on it."""
    order = [name for name in dims if name in variable.dims]
    values = variable.transpose(*order).values
    return np.asarray(values).reshape([dims[name] if name in order else 1 for name in dims])


def check_names(build: Any, table: Mapping[str, Any], called: str | None = None) -> None:
    """Refuse names that a function does not take, and arguments that nothing is given for."""
    try:
        arguments = inspect.signature(build).parameters
    except (TypeError, ValueError):
        return
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    known = [name for name, argument in arguments.items() if argument.kind in kinds]
    called = called or getattr(build, "__name__", "the function")
    if not any(argument.kind is inspect.Parameter.VAR_KEYWORD for argument in arguments.values()):
        for name in table:
            if name not in known:
                raise UnknownParameter(f"parameters: {called} takes no {name!r}; {nearest(name, known)}", name)
    missing = [name for name in known if name not in table and arguments[name].default is inspect.Parameter.empty]
    if missing:
        raise ModelError(f"parameters: {called} also needs {', '.join(missing)}; give one value per run, or a default")
